#!/bin/sh
# SPDX-License-Identifier: MIT
# Breaks a copy of the library in one chosen place after the other and runs tests until one notices. A mutant that lives is
# a hole in the tests; a place that no longer exists is an error too. Usage: mutate.sh [FOLDER]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/build/mutate}
jobs=${JOBS:-2}
tests=${TESTS:-"fp_mode|bits|radix_sort|kernels|hub|box|id|batch|stream|filter|margin|event|limit|visit|stats|def|order|allocation|out_of_memory|fuzz.space"}
rm -rf "$folder/source"
mkdir -p "$folder/source"
(cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$folder/source")
cmake -S "$folder/source" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1" -DCLEAVE_LAB=OFF \
    -DCLEAVE_SHARED=OFF -DCLEAVE_INSTALL=OFF -DCLEAVE_WERROR=OFF >"$folder/log" 2>&1
alive=""
count=0

# Stops at the first test that fails, in the given order.
notice()
{
    for test in $(echo "$tests" | tr '|' ' '); do
        if ! timeout 120 ctest --test-dir "$folder/build" -R "^$test\$" >"$folder/test.log" 2>&1; then
            echo "$test"
            return 0
        fi
    done
    return 1
}

build()
{
    cmake --build "$folder/build" -j "$jobs" >"$folder/log" 2>&1
}

# mutate NAME FILE SED: one change, which must change something and still compile.
mutate()
{
    cp "$folder/source/$2" "$folder/original"
    sed -i "$3" "$folder/source/$2"
    if cmp -s "$folder/original" "$folder/source/$2"; then
        echo "mutate.sh: $1: nothing in $2 matches $3; the code moved on, move this line too" >&2
        exit 2
    fi
    if ! build; then
        tail -20 "$folder/log" >&2
        echo "mutate.sh: $1: does not compile" >&2
        exit 2
    fi
    count=$((count + 1))
    if by=$(notice); then
        printf '  %-44s noticed by %s\n' "$1" "$by"
    else
        printf '  %-44s LIVES\n' "$1"
        alive="$alive '$1'"
    fi
    cp "$folder/original" "$folder/source/$2"
}

build || { tail -20 "$folder/log" >&2; exit 2; }
if by=$(notice); then
    echo "mutate.sh: $by fails without any change; mend that first" >&2
    exit 2
fi
echo "unchanged: all tests pass"

mutate "closed overlap made open (scalar)" src/simd/kernels_scalar.c 's/lower\[axis\]\[a\] <= boxes/lower[axis][a] < boxes/'
mutate "closed overlap made open (AVX2)" src/simd/kernels_avx2.c 's/_mm256_and_ps( m, _mm256_cmp_ps( a, b, _CMP_LE_OQ/_mm256_and_ps( m, _mm256_cmp_ps( a, b, _CMP_LT_OQ/'
mutate "last lane of a step lost" src/simd/kernel_body.h '/lanes_to(/,/^}/s/( 1u << ( end - base ) ) - 1/( 1u << ( end - base - 1 ) ) - 1/'
mutate "tail of a row skipped" src/simd/kernel_body.h 's/for ( ; base < end; base += WIDE_LANES )/for ( ; base + WIDE_LANES <= end; base += WIDE_LANES )/'
mutate "sweep ends too early" src/simd/kernels_scalar.c 's/lower\[0\]\[column\] <= reach/lower[0][column] < reach/'
mutate "sweep goes on from the wrong column" src/simd/kernel_body.h 's/\*column = base > first ? base : first;  /*column = base + 1 > first ? base + 1 : first;  /'
mutate "padding is not NaN" src/simd/box_lanes.c 's/lower\[axis\]\[i\] = NAN/lower[axis][i] = 0/'
mutate "radix sort off by one digit" src/base/radix_sort.c 's/uint32_t shift = pass \* digit_bits;/uint32_t shift = pass * digit_bits + 1;/'
mutate "radix sort of pairs skips high digits" src/base/radix_sort.c 's/shift < index_bits; shift += LARGE/shift + LARGE_DIGIT_BITS < index_bits; shift += LARGE/'
mutate "negative floats sorted upside down" src/base/bits.h 's/( -(int32_t)( bits >> 31 ) )/( 0 )/'
mutate "generation not checked" src/object/store.h 's/object_generations( store )\[id.index\] == id.generation/object_generations( store )[id.index] != 0/'
mutate "same id twice in a batch allowed" src/object/store.c 's/stamps\[ids\[i\].index\] == store->stamp/false/'
mutate "sign of groups turned round" src/space/filter.c 's/return a->group > 0;/return a->group < 0;/'
mutate "only one side's mask asked" src/space/filter.c 's/ \&\& ( b->category \& a->mask ) != 0//'
mutate "begun and ended swapped" src/space/update.c 's/\&space->begun, \&space->ended/\&space->ended, \&space->begun/'
mutate "reused slots taken for the same object" src/pair/difference.c 's/return before.generations\[pair.a\] == after.generations\[pair.a\] \&\&/return true ||/'
mutate "floating-point modes left to the caller" src/base/fp_mode.h 's/    _mm_setcsr( 0x1F80 );/    (void)0;/'
mutate "margin added to one side only" include/cleave/geom.h 's/box.lower.x -= margin, //'
mutate "refilter forgotten" src/space/carry.c 's/ask\[ids\[i\].index\] = 1;/ask[ids[i].index] = 0;/'
mutate "one pair too many allowed" src/space/update.c 's/count > space->def.max_pairs/count > space->def.max_pairs + 1/'
mutate "bad box in the last place taken" src/space/batch.c '/static uint32_t find_bad_box/,/^}/s/i < count; ++i/i + 1 < count; ++i/'
mutate "old list kept after a failed update" src/space/update.c '/static void forget_list/,/^}/s/list_is_valid = false/list_is_valid = true/'
mutate "scratch of a failed shrink lost" src/base/memory.c '/^bool base_memory_resize/,/^}/s/fresh == NULL \&\& capacity_wanted > 0/fresh == NULL \&\& capacity_wanted > 64/'

[ -z "$alive" ] || { echo "mutate.sh: of $count mutants these live:$alive" >&2; exit 1; }
echo "mutate.sh: $count mutants, every one noticed"
