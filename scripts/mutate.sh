#!/bin/sh
# SPDX-License-Identifier: MIT
# Breaks a copy of the library in one chosen place after the other and runs the tests whose business that
# place is until one notices. A mutant that lives is a hole in the tests; a place that no longer exists is an
# error too. Usage: mutate.sh [FOLDER] [WORD]; with a word only mutants whose name contains it. mutate.sh
# --places builds nothing and only sees whether the places are still there. SHARD=2/3 takes every third mutant
# from the second on, in a folder of its own: three such runs at once are one whole run.
set -eu
places=no
[ "${1:-}" != --places ] || { places=yes; shift; }
root=$(cd "$(dirname "$0")/.." && pwd)
shard=${SHARD:-1/1}
shard_count=${shard#*/}
shard_index=$((${shard%/*} % shard_count))
folder=${1:-$root/build/mutate}
[ "$shard_count" = 1 ] || folder=$folder-$shard_index
wanted=${2:-}
jobs=${JOBS:-2}
if [ $places = yes ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT INT TERM
fi
rm -rf "$folder/source"
mkdir -p "$folder/source"
(cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$folder/source")

# configure BUILD LAB: with the lab (ON) or without.
configure()
{
    cmake -S "$folder/source" -B "$1" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1" -DCLEAVE_LAB="$2" -DCLEAVE_PEERS=OFF \
        -DCLEAVE_SHARED=OFF -DCLEAVE_INSTALL=OFF -DCLEAVE_WERROR=OFF >"$folder/log" 2>&1
}

[ $places = yes ] || configure "$folder/build" OFF
alive=""
gone=""
count=0
number=0

# home TEST: the build that it is in. Most need no lab; those that run a program of the lab have a build of
# their own, made when the first of them is asked for.
home()
{
    case $1 in
    mpi_program | mpi_resume | loopback | runner | scene_part | record | fuzz.replayed) echo "$folder/lab" ;;
    *) echo "$folder/build" ;;
    esac
}

# targets TEST: what builds its programs.
targets()
{
    case $1 in
    fuzz.replayed) echo fuzz-replay cleave ;;
    fuzz.*) echo fuzz-replay ;;
    mpi_faults) echo test_mpi_checkpoint ;;
    mpi_fuzz_again) echo fuzz_mpi ;;
    mpi_program | mpi_resume) echo cleave cleave-mpi plugin_forgets plugin_invents ;;
    *) echo "test_$1" ;;
    esac
}

# build TEST...: the programs of these tests.
build()
{
    for test in "$@"; do
        where=$(home "$test")
        [ -d "$where" ] || configure "$where" ON || return 1
        # shellcheck disable=SC2046 # a list of words
        cmake --build "$where" -j "$jobs" --target $(targets "$test") >"$folder/log" 2>&1 || {
            tail -20 "$folder/log" >&2
            return 1
        }
    done
}

# notice TEST...: the first that fails, in the given order. A test that never ends is one that failed.
notice()
{
    for test in "$@"; do
        status=0
        timeout 300 ctest --test-dir "$(home "$test")" -R "^$test\$" --no-tests=error >"$folder/test.log" 2>&1 || status=$?
        [ $status != 124 ] || test="$test, which did not end"
        if [ $status != 0 ]; then
            echo "$test"
            return 0
        fi
    done
    return 1
}

# Tests pass on the unchanged library; asked once for each, before the first mutant that needs it.
passing=""
pass_unchanged()
{
    for test in "$@"; do
        case " $passing " in
        *" $test "*) continue ;;
        esac
        build "$test" || exit 2
        if by=$(notice "$test"); then
            echo "mutate.sh: $by fails without any change; mend that first" >&2
            exit 2
        fi
        passing="$passing $test"
    done
}

# runs_here FILE: is it compiled for an instruction set that this machine has?
runs_here()
{
    case $1 in
    *avx512*) grep -q avx512_vbmi2 /proc/cpuinfo ;;
    *avx2*) grep -q avx2 /proc/cpuinfo ;;
    esac
}

# mutate NAME TESTS FILE SED: one change, which must change something and still compile.
mutate()
{
    case $1 in
    *"$wanted"*) ;;
    *) return 0 ;;
    esac
    number=$((number + 1))
    [ $((number % shard_count)) = $shard_index ] || return 0
    if [ $places = no ] && ! runs_here "$3"; then
        printf '  %-52s skipped: not the kernels of this machine\n' "$1"
        return 0
    fi
    # shellcheck disable=SC2086 # a list of words
    [ $places = yes ] || pass_unchanged $2
    cp "$folder/source/$3" "$folder/original"
    sed -i "$4" "$folder/source/$3"
    if cmp -s "$folder/original" "$folder/source/$3"; then
        echo "mutate.sh: $1: nothing in $3 matches $4; the code moved on, move this line too" >&2
        gone="$gone '$1'"
        return 0
    fi
    count=$((count + 1))
    if [ $places = yes ]; then
        cp "$folder/original" "$folder/source/$3"
        return 0
    fi
    # shellcheck disable=SC2086
    if ! build $2; then
        echo "mutate.sh: $1: does not compile" >&2
        gone="$gone '$1'"
    elif by=$(notice $2); then
        printf '  %-52s noticed by %s\n' "$1" "$by"
    else
        printf '  %-52s LIVES\n' "$1"
        alive="$alive '$1'"
    fi
    cp "$folder/original" "$folder/source/$3"
}

# Kernels, sorting, the space.
mutate "closed overlap made open (scalar)" "kernels box" src/core/simd/kernel_plain.h 's/lower\[axis\]\[a\] <= boxes/lower[axis][a] < boxes/'
mutate "closed overlap made open (AVX2)" "kernels box" src/core/simd/lanes_avx2.h 's/_mm256_and_ps( m, _mm256_cmp_ps( a, b, _CMP_LE_OQ/_mm256_and_ps( m, _mm256_cmp_ps( a, b, _CMP_LT_OQ/'
mutate "last lane of a step lost" "kernels" src/core/simd/kernel_body.h '/lanes_to(/,/^}/s/( 1u << ( end - base ) ) - 1/( 1u << ( end - base - 1 ) ) - 1/'
mutate "tail of a row skipped" "kernels" src/core/simd/kernel_body.h 's/for ( ; base < end; base += WIDE_LANES )/for ( ; base + WIDE_LANES <= end; base += WIDE_LANES )/'
mutate "sweep ends too early" "kernels" src/methods/simd/method_kernels_scalar.c 's/lower\[0\]\[\*column\] <= reach/lower[0][*column] < reach/'
mutate "sweep goes on from the wrong column" "kernels" src/methods/simd/method_body.h 's/\*column = base > first ? base : first;  /*column = base + 1 > first ? base + 1 : first;  /'
mutate "padding is not NaN" "kernels box" src/core/simd/box_lanes.c 's/lower\[axis\]\[i\] = NAN/lower[axis][i] = 0/'
mutate "radix sort off by one digit" "radix_sort" src/core/base/radix_sort.c 's/uint32_t shift = pass \* digit_bits;/uint32_t shift = pass * digit_bits + 1;/'
mutate "radix sort of pairs skips high digits" "radix_sort" src/core/base/radix_sort.c 's/shift < index_bits; shift += LARGE/shift + LARGE_DIGIT_BITS < index_bits; shift += LARGE/'
mutate "negative floats sorted upside down" "bits radix_sort" src/core/base/bits.h 's/( -(int32_t)( bits >> 31 ) )/( 0 )/'
mutate "generation not checked" "id" src/core/object/store.h 's/object_generations( store )\[id.index\] == id.generation/object_generations( store )[id.index] != 0/'
mutate "same id twice in a batch allowed" "batch id" src/core/object/store.c 's/stamps\[slot\] == stamp/false/'
mutate "the caller's modes not put back" "fp_mode door" src/core/base/fp_mode.h 's/if ( _mm_getcsr() != mode )/if ( 0 )/'
mutate "the caller's modes as they are" "fp_mode door" src/core/base/fp_mode.h 's/if ( ( mode \& ~flags ) != usual )/if ( 0 )/'
mutate "queries see the newcomer of a slot" "query" src/core/query/query_search.c 's/if ( scene->may_be_gone \&\& /if ( false \&\& /'
mutate "boxes of the update not kept" "query" src/core/query/query_state.c 's/if ( state->keeper != NULL \&\& !state->is_copied )/if ( false )/'
mutate "a ray passes what it grazes" "query" src/core/simd/query_body.h 's/bits = eight_bits( eight_le( near, far ) );/bits = eight_bits( eight_le( far, near ) );/'
mutate "a list forgets who comes last" "query" src/core/simd/query_body.h 's/while ( next < count )/while ( next + 1 < count )/'
mutate "of equal times the first that comes" "query" src/core/simd/query_body.h 's/near > reach || query_node_least( node ) > least/near >= reach/'
mutate "neighbours beyond the distance" "query" src/core/simd/query_body64.h 's/return square <= query->square;/return true;/'
mutate "neighbours beyond the distance, with AVX-512" "query" src/core/simd/kernels_avx512.c 's/_mm512_set1_pd( query->square )/_mm512_set1_pd( INFINITY )/'
mutate "pairs of a shared piece at its beginning" "query" src/core/space/space_query_pairs.c 's/hit_at( list->list, waiting, count ) : waiting;/hit_at( list->list, waiting, 0 ) : waiting;/'
mutate "equal times in any order" "query" src/core/query/query_search.c 's/a.t == b.t \&\& a.index < b.index/false/'
mutate "a callback shortens nothing" "query" src/core/query/query_search.c 's/shorten( s, reach > 0 ? reach : 0, UINT32_MAX );/shorten( s, s->reach, UINT32_MAX );/'
mutate "a tree without its newcomers" "query" src/core/query/query_state.c 's/return different != 0;/return false;/'
mutate "nodes of a part refitted from the front" "query" src/core/query/query_tree.c 's/up->visit( up->context, i - 1 );/up->visit( up->context, first + end - i );/'
mutate "wear: a tree is never worn" "query_wear" src/core/query/query_wear.c 's/return is_certain || wear->is_suspicion;/return false;/'
mutate "wear: another world is the same" "query_wear" src/core/query/query_wear.c 's/^        is_other_world( wear, \&s );/        false;/'
mutate "wear: who has gone keeps its node" "query_wear" src/core/query/query_wear.c 's/(uint64_t)tree->built_items \* 3;/0;/'
mutate "wear: builds in vain go on" "query_wear" src/core/query/query_wear.c 's/wear->last_wait = has_helped ? 0 : longer;/wear->last_wait = 0;/'
mutate "wear: a part is never worn" "query_wear" src/core/query/query_wear.c 's/WORN_GROUP = 2.5/WORN_GROUP = 250/'
mutate "wear: what is put in one by one is never built" "query_patch" src/core/query/query_wear.c 's/if ( tree->patch_count > tree->built_items \/ PATCH_SHARE )/if ( false )/'
mutate "one change: hulls end at the first node" "query_patch" src/core/query/query_patch.c 's/if ( is_same_lane( above, lane, \&box, least ) )/if ( true )/'
mutate "one change: equal boxes into one lane" "query_patch" src/core/query/query_patch.c 's/uint32_t lane = ( first + i ) % QUERY_LANES;/uint32_t lane = ( 0 * first + i ) % QUERY_LANES;/'
mutate "one change: a node handed down without its place" "query_patch" src/core/query/query_patch.c 's/tree->links.places\[items\[i\].slot\] = made;/(void)0;/'
mutate "one change: new nodes refitted last" "query_patch" src/core/query/query_tree.c 's/    visit_nodes( up, tree->built_nodes, tree->node_count );//'
mutate "one change: what changed after the copy is forgotten" "query_patch" src/core/query/query_state.c 's/changes->count -= changes->copied;/changes->count = 0;/'
mutate "one change: a removal is not noted" "query_patch" src/core/space/batch.c 's/query_note( \&space->query, ids\[i\].index );$/(void)0;/'
mutate "one change: another map is not noted" "query_patch" src/core/space/take.c 's/        query_note_all( \&space->query );//'
mutate "sign of groups turned round" "filter" src/core/object/filter_rule.h 's/( a->group > 0 )/( a->group < 0 )/'
mutate "only one side's mask asked" "filter" src/core/object/filter_rule.h 's/ \& ( ( b->category \& a->mask ) != 0 )//'
mutate "begun and ended swapped" "event" src/core/space/update.c 's/\&space->begun, \&space->ended/\&space->ended, \&space->begun/'
mutate "reused slots taken for the same object" "event" src/core/pair/difference.c 's/return before.generations\[pair.a\] == after.generations\[pair.a\] \&\&/return true ||/'
mutate "margin added to one side only" "margin" include/cleave/geom.h 's/box.lower.x -= margin;//'
mutate "swept faces rounded to the nearest" "motion" src/core/base/directed.h 's/return is_below ? base_float_above( nearest ) : nearest;/return nearest;/'
mutate "what a double loses of a sum forgotten" "motion" src/core/base/directed.h 's/ || ( (double)nearest == value \&\& rest > 0 );/;/'
mutate "motions never spent" "motion" src/core/object/store.c 's/store->motion_is_spent = store->motion_is_set;/(void)0;/'
mutate "a motion of another update survives a new one" "motion" src/core/space/columns.c 's/        clv_space_drop_motions( space );/        space->objects.motion_is_spent = false;/'
mutate "endless sides count as size" "motion" src/core/object/test_box.c 's/return base_is_finite( side ) \&\& side > longest/return side > longest/'
mutate "newcomers named by old pairs" "handle" src/core/object/store.c 's/( (uint8_t\*)store->columns\[OBJECT_RENEWED\] )\[slot\] = 1;/(void)0;/'
mutate "views of a dead list read" "handle" src/core/space/columns.c 's/ || view.number != own.number//'
mutate "ended events do not know what the removed carried" "handle" src/core/object/store.c 's/        last\[slot\] = values\[slot\];/        (void)values;/'
mutate "who came and went unseen passes for who was reported" "handle" src/core/object/store.c 's/ \&\& reported\[slot\] == object_generations( store )\[slot\] )/ )/'
mutate "objects added without their filters" "add_def" src/core/space/columns.c 's/\[slot\] = def->filters\[i\];/[slot] = clv_default_filter();/'
mutate "a newcomer inherits a pair's word" "pair_data" src/core/space/pair_data.c 's/bool is_same = !is_of_newcomers( \&space->objects, pair );/bool is_same = true;/'
mutate "a failed update loses the words" "pair_data" src/core/space/pair_data.c 's/if ( space->def.pair_data \&\& space->list_is_valid )/if ( space->def.pair_data )/'
mutate "refilter forgotten" "filter" src/core/space/columns.c 's/ask\[ids\[i\].index\] = 1;/ask[ids[i].index] = 0;/'
mutate "answers about a hub's pairs in one row" "filter" src/core/base/pair_key.h 's/return ( key ^ ( key >> 32 ) ) /return ( key ) /'
mutate "one pair too many allowed" "limit" src/core/space/update.c 's/count > space->def.max_pairs/count > space->def.max_pairs + 1/'
mutate "pairs kept beyond the limit" "bound" src/core/space/update.c 's/limit > 0 ? limit : UINT64_MAX );/limit > 0 ? UINT64_MAX : UINT64_MAX );/'
mutate "visited pairs kept" "bound" src/core/space/update.c 's/run_method( space, \&visiting.sink, 0 )/run_method( space, \&visiting.sink, UINT64_MAX )/'
mutate "mpi: a loaded object was where it is" "mpi_faults" src/mpi/mpi_load.c 's/c->befores.items\[slot\] = o.before;/c->befores.items[slot] = l->boxes[i];/'
mutate "mpi: loaded pairs stay with who read them" "mpi_faults" src/mpi/mpi_load.c '/^static int32_t home_of/,/^}/s/return clv_mpi_regions_home/return true ? l->space->rank : clv_mpi_regions_home/'
mutate "mpi: a pair that lost one goes to nowhere" "mpi_faults" src/mpi/mpi_save.c '/^static mpi_corner corner_of/,/^}/s/has_a ? c->befores.items\[a\].lower/false ? nowhere/'
mutate "mpi: a chunk whose sum is not compared" "mpi_faults" src/mpi/mpi_load.c 's/clv_base_part_close( reader );/reader->offset += 8;/'
mutate "mpi: a part of another save is taken" "mpi_faults" src/mpi/mpi_checkpoint.c 's/reader->stamp == kind->save + part ||/reader->stamp != 0 ||/'
mutate "mpi: where pairs were is forgotten with ghosts" "mpi_faults" src/mpi/mpi_save.c '/^bool clv_mpi_keep_corners/,/^}/s/space->pairs.keeps_corners = true;/space->pairs.keeps_corners = false;/'
mutate "mpi: the old checkpoint's parts written over" "mpi_faults" src/mpi/mpi_save.c 's/is_good ? 1 - old.generation : 0/is_good ? old.generation : 0/'
mutate "mpi: a part that failed stays" "mpi_faults" src/mpi/mpi_checkpoint.c '/^static bool abandon/,/^}/s/remove( file->beside );/(void)0;/'
mutate "mpi: a run that goes on forgets its hash" "mpi_resume" lab/mpi/mpi_bench.c 's/\*hash = note->hash;/*hash = 0;/'
mutate "mpi: numbers of batches meet old ones" "mpi_faults" src/mpi/mpi_objects.c '/^uint32_t clv_mpi_next_stamp/,/^}/s/space->columns.stamps.items\[slot\] = 0;/(void)slot;/'
mutate "mpi: a cut beside its part takes another's" "mpi" src/mpi/mpi_regions.c 's/\*upper = cut->at < \*upper ? cut->at : \*upper;/*upper = cut->at;/'
mutate "mpi: last records thrown away after a failure" "mpi" src/mpi/mpi_receive.c 's/if ( !space->modes.must_resend || record->full == NULL/if ( space->modes.must_resend || record->full == NULL/'
mutate "mpi: every process reports the pair" "mpi" src/mpi/mpi_pairs.c 's/return mpi_region_holds( \&space->partition.regions.bounds\[space->rank\], corner );/return true;/'
mutate "mpi: own objects in another order" "mpi" src/mpi/mpi_change.c 's/return different == 0;/return true;/'
mutate "mpi: a box that waited for memory is put in over a newer one" "mpi_fuzz_again" src/mpi/mpi_change.c 's/\&= ~(uint32_t)SLOT_MOVED; \/\/ a box/|= 0u; \/\/ a box/'
mutate "mpi: a box that left is taken to be inside" "mpi" src/mpi/mpi_change.c 's/outer += !mpi_box_encloses( &here, box ) | /outer += /'
mutate "mpi: boxes that were lent stay old" "mpi" src/mpi/mpi_objects.c 's/clv_space_get_box( space->inside, c->locals.items\[slot\], &c->boxes.items\[slot\] );/CLV_OK;/'
mutate "mpi: alone, ids as they come" "mpi" src/mpi/mpi_pairs.c 's/{ a < b ? a : b, a < b ? b : a, 0, 0 }/{ a, b, 0, 0 }/'
mutate "mpi: owners of a failed update stay" "mpi" src/mpi/mpi_update.c 's/space->columns.identities.items\[slot\].owner = space->rank;/(void)0;/'
mutate "mpi: all objects of a process weigh alike" "mpi_balance" src/mpi/mpi_update.c 's/weights\[i\] = WORK_OWN + (uint64_t)pair_counts\[space->slots.own.items\[i\]\] \*/weights[i] = WORK_OWN + 0 * (uint64_t)pair_counts[0] */'
mutate "mpi: a test weighs as much as a quarter of a box" "mpi_balance" src/mpi/mpi_update.c 's/WORK_TEST = 1,/WORK_TEST = 64,/'
mutate "mpi: a cut that did not help is made again" "mpi_balance" src/mpi/mpi_update.c 's/: space->partition.price \* 2;/: space->partition.price;/'
mutate "mpi: cuts turn for a hair" "mpi_balance" src/mpi/mpi_cut.c 's/return before >= 0 \&\& /return before >= 3 \&\& /'
mutate "mpi: places of a cut that failed are trusted" "mpi_memory" src/mpi/mpi_send.c 's/ \&\& !space->modes.must_resend;/;/'
mutate "mpi: anonymous ghosts though a filter is asked" "mpi" src/mpi/mpi_state.h 's/return !space->modes.has_history \&\& space->def.filter == NULL;/return !space->modes.has_history;/'
mutate "mpi: what left keeps its slot" "mpi" src/mpi/mpi_ids.c 's/log_slots( space, left, left_count, false );/(void)left;/'
mutate "mpi: slots that no ghost filled stay" "mpi" src/mpi/mpi_receive.c 's/clv_mpi_objects_drop_all( space, r.slots + r.front, r.back - r.front );/(void)0;/'
mutate "mpi: identities stay where their objects were" "mpi" src/mpi/mpi_objects.c '/^static void take_packed/,/^}/s/is_used( space, k ) \&\& /is_used( space, k ) \&\& s_columns[k].offset != offsetof( mpi_columns, identities ) \&\& /'
mutate "mpi: several answers of one object" "mpi_query" src/mpi/mpi_query.c 's/|| hit->id != q->hits/|| 1 + hit->id != q->hits/'
mutate "mpi: equally near, but the wrong ids" "mpi_query" src/mpi/mpi_query_round.c 's/count > k \&\& hits\[k\].t == hits\[k - 1\].t/count > k \&\& hits[k].t < hits[k - 1].t/'
mutate "mpi: no process is asked in the second round" "mpi_query" src/mpi/mpi_query.c 's/if ( q->limits.items\[query\] < 0 || !find_begin/if ( q->limits.items[query] < 0 || ( has_rounds \&\& !asking->is_first_round ) || !find_begin/'
mutate "mpi: questions about what has changed" "mpi_query" src/mpi/mpi_query.c 's/if ( !space->pairs.is_valid || space->pairs.objects_changed )/if ( !space->pairs.is_valid )/'
mutate "mpi: an add that failed leaves questions stale" "mpi_query" src/mpi/mpi_change.c 's/space->questions.must_refresh = true;/(void)0;/'
mutate "mpi: a setting that failed leaves its columns" "mpi_query" src/mpi/mpi_change.c 's/space->modes = before;/(void)before;/'
mutate "mpi: verify does not see what is missing" "mpi_program" lab/mpi/mpi_verify.c 's/if ( d.fault == VERDICT_FINE )/if ( d.fault != VERDICT_EXTRA )/'
mutate "mpi: ways end where boxes were before" "mpi_query" src/mpi/mpi_update.c 's/space->questions.has_bounds = false;/(void)0;/'
mutate "mpi: a way without an end asks every process" "mpi_query" src/mpi/mpi_query.c 's/p->end = last < 0 ? 0 : last;/(void)last;/'
mutate "mpi: a plan forgets who leaves" "mpi_program" lab/mpi/mpi_cost.c 's/bool is_owner = to == owner \&\& owner != sender;/bool is_owner = false;/'
mutate "runs inherit what loaders wrote to the environment" "runner" lab/run/run_child.c 's/s_environment != NULL ? s_environment : environ/environ/'
mutate "gpu: drivers are asked here" "gpu_driver runner" src/gpu/gpu_device.c 's/if ( !is_apart || !list_apart() )/if ( is_apart || !list_apart() )/'
mutate "gpu: a driver that died takes the others with it" "gpu_driver" src/gpu/gpu_device.c 's/s_icd_count < 2 )/s_icd_count < 99 )/'
mutate "gpu: a device is opened here first" "gpu_driver runner" src/gpu/gpu_device.c 's/    if ( is_new \&\& clv_gpu_look_is_here() )/    if ( is_new \&\& false )/'
mutate "gpu: a good device is tried again" "gpu_driver" src/gpu/gpu_device.c 's/    if ( keeps \&\& clv_gpu_cache_read(/    if ( false \&\& clv_gpu_cache_read(/'
mutate "gpu: a driver that hangs is waited for" "gpu_driver" src/gpu/gpu_look.c 's/if ( !was_killed \&\& now_ms > most_ms )/if ( now_ms > most_ms + 1e9 )/'
mutate "gpu: handlers of the program run in the child" "gpu_driver" src/gpu/gpu_look.c 's/^    atexit( leave_at_exit );/    (void)leave_at_exit;/'
mutate "gpu: signals of the program are caught in the child" "gpu_driver" src/gpu/gpu_look.c 's/^    reset_signals();/    (void)reset_signals;/'
mutate "gpu: the child prints" "gpu_driver" src/gpu/gpu_look.c 's/^    dup2( high, STDERR_FILENO );//'
mutate "mpi: a part of a scene begins at body 0" "scene_part" lab/scene/swarm.c 's/uint64_t first = loop->swarm->def.part_first,/uint64_t first = 0,/'
mutate "mpi: offsets of 32 bits" "scene_part" lab/frame/scene_file.c 's/SCENE_BOX_BYTES \* ( (uint64_t)object_count \* frame + object );/SCENE_BOX_BYTES * ( object_count * frame + object );/'
mutate "a cleared store: slots of a row used twice" "store" src/core/object/store.c '/^static void reuse_row/,/^}/s/\[first + count - 1\]/[first]/'
mutate "a cleared store: a gap taken for a row" "store" src/core/object/store.c 's/    store->free_is_row = store->free_count == store->slot_count;.*/    store->free_is_row = true;/'
mutate "the first list guesses nothing" "allocation" src/core/engine/search.c 's/sink->expected = expected_pairs(/(void)expected_pairs(/'
mutate "bad box in the last place taken" "batch" src/core/space/batch.c '/static BASE_COLD uint32_t find_bad_box/,/^}/s/return first;/return first + 1 < count ? first : count;/'
mutate "old list kept after a failed update" "limit" src/core/space/update.c '/^void clv_space_forget_list/,/^}/s/list_is_valid = false/list_is_valid = true/'
mutate "scratch of a failed shrink lost" "memory" src/core/base/memory.c '/^bool clv_base_memory_resize/,/^}/s/fresh == NULL \&\& capacity_wanted > 0/fresh == NULL \&\& capacity_wanted > 64/'

# Boxes in double.
mutate "doubles: what touches in floats alone is a pair" "double" src/core/space/filter.c 's/boxes64 != NULL \&\& !clv_aabb64_overlap/boxes64 == NULL \&\& !clv_aabb64_overlap/'
mutate "doubles: a list kept though boxes moved by less than floats show" "double" src/core/space/update.c 's/ \&\& !space->doubles_changed;/;/'
mutate "doubles: the last cell searched holds no object" "double" src/core/far/far_map.c '/^static uint32_t find_far_cell/,/^}/s/count -= half;/count = half;/'
mutate "doubles: a town mapped by distances" "double" src/core/far/far_fit.c 's/count_in_vain( map, sample ) <= FIT_PAIRS_IN_VAIN + allowance/true/'
mutate "doubles: margins not grown" "double" src/core/space/take.c 's/grown\[i\] = clv_object_store_test_box64( objects, ids\[i\].index, given\[i\] );/grown[i] = given[i];/'
mutate "doubles: swept boxes rounded inwards" "world_query" src/core/base/directed.h 's/return rest > 0 ? nextafter/return rest > 1e300 ? nextafter/'
mutate "flat: the third side counts" "world_query" src/core/object/test_box.c 's/return is_flat ? longest :/return is_flat \&\& longest < 0 ? longest :/'
mutate "doubles: spent motions stay in the boxes" "world_query" src/core/space/columns.c 's/        clv_space_renew_box( space, slot );//'
mutate "shift: rounding taken for none" "shift" src/core/space/shift.c 's/return sum == a \&\& error == 0;/return sum == a;/'
mutate "shift: the method not told" "shift" src/core/space/update.c 's/ \&\& !space->is_shifted ? objects->moved/ ? objects->moved/'
mutate "shift: a list kept though an object moved" "shift" src/core/space/shift.c 's/!space->objects.motion_is_set \&\& nothing_moved( \&space->objects );/!space->objects.motion_is_set;/'
mutate "shift: boxes change under those who ask" "shift" src/core/space/shift.c 's/clv_space_will_change( space, result == CLV_OK \&\& space->objects.live_count > 0 );//'
mutate "shift: a kept list hides where boxes are" "shift" src/core/space/update.c 's/clv_query_state_renew( \&space->query ); \/\/ the boxes are others.*//'
mutate "doubles: what the method sees shown to those who ask" "world_query" src/core/space/space_reader.c 's/if ( space_kind_of( space ) != kind )/if ( space_kind_of( space ) != kind \&\& false )/'
mutate "doubles: shapes seen from 0" "world_query" src/core/query/query_shape.h 's/box->lower.x - origin\[0\], /box->lower.x - 0 * origin[0], /'
mutate "doubles: hulls of a part from the front" "world_query" src/core/query/query_tree.c 's/up->visit( up->context, i - 1 );/up->visit( up->context, first + end - i );/'
mutate "doubles: squares that leave the doubles" "world_query" src/core/simd/query_lanes.h 's/return square > 1e-280 \&\& square < 1e280;/return square >= 0;/'
mutate "doubles: what is too far is among the nearest" "world_query" src/core/simd/query_body64.h 's/return \*near <= query->reach;/return true;/'
mutate "doubles: of equal times none counts" "world_query" src/core/simd/query_body64.h 's/( time == best ) \& ( slot < first )/false/'
mutate "doubles: faces of nodes moved inwards" "world_query" src/core/simd/query_lanes.h 's/low = from - ( fabs/low = from + 64 * ( fabs/'
mutate "doubles: what floats cannot tell overlaps" "world_query" src/core/simd/query_body.h 's/clv_aabb64_overlap( walk->far.boxes\[slot\], walk->far.box )/true/'
mutate "hits sorted but for their last digit" "world_query query" src/core/query/query_order.c 's/digit < DIGITS \&\& r.shift > 0; ++digit/digit < DIGITS \&\& r.shift > 6; ++digit/'
mutate "flat: a turn the other way" "world_query" src/core/query/query_probe.h 's/turn\[2\] = c < 0 ? length - c : s;/turn[2] = c < 0 ? length - c : -s;/'
mutate "queries: times that round to nothing lost" "world_query" src/core/query/query_form.c 's/: (double)FLT_TRUE_MIN;/: 0.0;/'
mutate "queries: long lines in plain doubles" "query_ends" src/core/query/query_shape.c 's/^static const double PLACE_NOISE =/static const double PLACE_NOISE = 0x1p-40 +/'
mutate "flat: a solid cell taken for a flat one" "engine" src/core/simd/cell_body.h 's/return ( different \& third ) == 0;/return true;/'
mutate "flat: a box that moved taken for one at rest" "flat" src/core/space/take.c 's/ | put_corner( &own->upper, upper, is_flat ) ) != 0/ ) != 0/'
mutate "moves: generations of ids in a group not compared" "batch" src/core/object/store.c 's/different |= generations\[ids\[i\].index\] ^ ids\[i\].generation;//'
mutate "moves: ids in a group may repeat" "batch" src/core/object/store.c 's/steps |= ids\[i\].index | ( ids\[i\].index - ids\[i - 1\].index - 1 );/steps |= ids[i].index;/'
mutate "moves: slots around a group of another generation" "store" src/core/object/store.c 's/different |= generations\[first + i\] ^ generation;//'
mutate "moves: ids of a close group in any order" "store" src/core/object/store.c 's/return steps >> 32 == 0 \&\& different == 0;/return different == 0;/'
mutate "moves: ids that end in another generation" "store" src/core/object/store.c 's/ids\[ID_GROUP - 1\].generation != generation/false/'
mutate "moves: marks in the second of two words are lost" "batch" src/core/object/store_boxes.c 's/moved\[( base >> 6 ) + ( wrapped != 0 )\] |= wrapped;//'
mutate "moves: slots far from each other marked as if they were near" "store" src/core/object/store_boxes.c 's/if ( ascend \&\& ids\[count - 1\].index - ids\[0\].index < 64 )/if ( true )/'
mutate "moves: slots far from each other stored as if they were near" "store" src/core/object/store_boxes.c 's/ || !ascend || wide >= 64 )/ || !ascend )/'
mutate "moves: ids with gaps taken for a row" "store" src/core/object/store_boxes.c 's/bool is_row = wide == OBJECT_RUN - 1;/bool is_row = true;/'
mutate "moves: padding taken for a face" "kd_kernels" src/core/simd/kernels_x86.h 's/0, 1, 2, 4, 5, 6, 7, 7 );/0, 1, 2, 3, 5, 6, 7, 7 );/'
mutate "moves: one of two padded boxes is not checked" "kd_kernels" src/core/simd/kernels_x86.h 's/_mm256_permute2f128_ps( one, other, 0x31 );/_mm256_permute2f128_ps( one, one, 0x31 );/'
mutate "moves: a margin of nothing turns minus zero" "batch" src/core/object/store_boxes.c 's/on = -( 0.0f - margin );/on = margin;/'
mutate "kernels: a face of the boxes in a step not compared" "kd_kernels" src/core/simd/kernel_body.h 's/0x1C71C71C71C7/0x1C71C71C71C3/'
mutate "doubles: the third axis of a group not checked" "batch" src/core/space/batch.c 's/good \&= (uint32_t)( space_double_at( lower, 2 ) <= space_double_at( upper, 2 ) );//'
mutate "doubles: faces beyond the floats taken as they are" "double" src/core/far/far_map.c 's/return infinite >> 31 == 0;/return true;/'
mutate "flat: the second axis not checked" "flat" src/core/space/take.c 's/ \& ( box->lower.y <= box->upper.y ) );/ );/'

# Regions of many axes.
mutate "match: an upper end before the lower ends it equals" "match" src/core/match/match_ranks.c 's/order_of_float( (float)value )/order_of_float( (float)value ) - is_upper/'
mutate "match: hosts across a segment tried one way round only" "match" src/core/match/match_search.c 's/result = result == CLV_OK ? match_axis( search, guests, across, all, axis - 1 ) : result;//'
mutate "match: hosts across the parent taken again" "match" src/core/match/match_search.c 's/return !was_across \&\& /return /'
mutate "match: zero and minus zero apart" "match" src/core/match/match_ranks.c 's/value = value == 0 ? 0 : value;//'

# The tree of src/methods/kd.
mutate "kd: leavers lost in the refit" "kd_motion" src/methods/kd/kd_refit.c '/^static void pass_marked/,/^}/s/pass->leavers++\] = slot/pass->leavers] = slot/'
mutate "kd: delayed offset in the wrong direction" "kd_figures" src/methods/kd/kd_refit.c 's/\.offset -= (int32_t)count/.offset += (int32_t)count/'
mutate "kd: the plane belongs to both sides" "kd_operators kd_motion" src/methods/kd/kd_tree.h 's/kd_upper( box, axis ) < plane/kd_upper( box, axis ) <= plane/'
mutate "kd: balance upside down" "kd_operators" src/methods/kd/kd_tree.c 's/!( cost > fewer/!( cost < fewer/'
mutate "kd: stale pairs of movers in the cache" "kd_motion" src/methods/kd/kd_rest.c 's/if ( rest->moving_count > 0 )/if ( false )/'
mutate "kd: pairs of the dead in the cache" "kd_modes" src/methods/kd/kd_rest.c 's/kept += base_bits_has_both( live, pair.a, pair.b );/kept += 1;/'
mutate "kd: a new pair at rest is not remembered" "kd_motion" src/methods/kd/kd_rest.c 's/rest->sure_count += sure;/(void)0;/'
mutate "kd: pairs that may end count as sure" "kd_rest" src/methods/kd/kd_rest.c 's/+ 2 \* rest->epsilon;/;/'
mutate "kd: a subtree at rest is not entered for what moves into it" "kd_rest" src/methods/kd/kd_search.c 's/|| frame.end > frame.begin;/;/'
mutate "kd: those a sample left out count as unmoved" "kd_motion random" src/methods/kd/kd_rest.c 's/moved = rest->was_cut_short ? NULL : moved;/(void)0;/'
mutate "kd: workers' subtrees are joined right before left" "threads" src/methods/kd/kd_crew.c 's/branch % 2 > 0 ? node->left : node->right/branch % 2 > 0 ? node->right : node->left/'
mutate "kd: who leaves a worker's subtree is lost" "threads" src/methods/kd/kd_refit.c 's/uint32_t leavers = branch->leavers;/uint32_t leavers = 0;/'
mutate "kd: a worker's piece leaves its counters behind" "threads" src/methods/kd/kd_crew.c 's/    add_counters( \&wish->search->counters, \&crew->workers\[i\].counters );/    (void)wish;/'
mutate "kd: a worker looks at the wrong side of a plane for externals" "threads" src/methods/kd/kd_crew.c 's/if ( node->left == index )/if ( node->left != index )/'
mutate "kd: two workers in a leaf leave a row out" "threads" src/methods/kd/kd_node_search.c 's/part_end( \&boxes, tests, job->part - 1, job->part_count ) : 0/1 + part_end( \&boxes, tests, job->part - 1, job->part_count ) : 0/'
mutate "kd: the first worker in a leaf has the externals, the last searches them" "threads" src/methods/kd/kd_crew.c 's/has_externals = piece->part + 1 == piece->part_count/has_externals = piece->part == 0/'
mutate "kd: workers put those that stay in a long block the other way round" "threads" src/methods/kd/kd_partition.c 's/stay\[-(ptrdiff_t)i\]/stay[(ptrdiff_t)i + 1 - (ptrdiff_t)p->write]/'
mutate "kd: the sums of all chunks are those of the first" "threads" src/methods/kd/kd_partition.c 's/are_several ? \&tree->block_sums.items\[chunk\]/are_several ? \&tree->block_sums.items[0]/'
mutate "kd-paper: a fresh plane is evaluated" "kd_paper" src/methods/kd/kd_partition.c 's/tree->flow == KD_FLOW_OURS ? choose_plane/true ? choose_plane/'
mutate "kd-paper: grown boxes are the answer" "kd_paper random" src/methods/kd/kd_search.h 's/    sink->count = 0;/    kept = (uint32_t)sink->count;\n    sink->count = 0;/'
mutate "kd-paper: speed is not looked at" "kd_paper" src/methods/kd/kd_rest.c 's/return !( square < still \* still );/return false;/'
mutate "kd-paper: the median side instead of the mean" "kd_paper" src/methods/kd/kd_engine.c 's/engine->rules.is_endless ? kd_world_measure_published( input ) : /false ? kd_world_measure_published( input ) : /'
mutate "kd-paper: the quick sort forgets a half" "radix_sort" src/methods/sweep/box_items.c 's/aside\[aside_count++\] = goes_left ? right : left;/aside[aside_count++] = left;/'
mutate "moved boxes not told to the method" "store random" src/core/object/store.c '/^void clv_object_store_set_box/,/^}/s/base_bits_add( store->moved.items, slot );/(void)0;/'

# The default engine: cells and blocks.
mutate "cells: pairs found in every cell both lie in" "engine" src/core/simd/cell_body.h 's/lanes->allowed\[cell_before( \&rows\[row\] )\];/lanes->allowed[0];/'
mutate "cells: the row's own lane taken for another" "engine" src/core/simd/cell_body.h 's/~(uint64_t)0 << step << ( step \* first );/~(uint64_t)0 << ( step * first );/'
mutate "cells: tail lanes hold the next cell's boxes" "engine" src/core/simd/cell_body.h 's/uint64_t valid = lane_count < 64 ? /uint64_t valid = lane_count < 1 ? /'
mutate "cells: ties taken for touching (SSE2)" "engine" src/core/simd/kernels_sse2.c 's/( equal \& 0x7700 ) == 0/equal < 0x10000/'
mutate "cells: ties taken for touching (AVX2)" "engine" src/core/simd/kernels_avx2.c 's/_mm256_castsi256_ps( none ) );/_mm256_castsi256_ps( none ) ) | 255u;/'
mutate "cells: a row's last lanes left out" "engine" src/core/simd/cell_body.h 's/k < lane_count; k += 16, bits/k + 16 < lane_count; k += 16, bits/'
mutate "cells: a long list of hits is cut off" "engine" src/core/simd/cell_body.h 's/} while ( row < end );/} while ( false );/'
mutate "cells: a register of a word's own rows passed over" "engine" src/core/simd/cell_body.h 's/( part_range ){ part, end }, 1, axes/( part_range ){ part + ( part > 0 ), end }, 1, axes/'
mutate "cells: ties taken for touching (AVX-512)" "engine" src/core/simd/kernels_avx512.c 's/plain = valid \& ~tied;/plain = valid;/'
mutate "cells: ties forgotten" "engine" src/core/simd/cell_body.h 's/search->tie_count += count - sure;/(void)0;/'
mutate "cells: the class of 16 boxes at once is forgotten (AVX-512)" "engine" src/core/simd/kernels_avx512.c 's/kinds = _mm512_mask_or_epi32( kinds, has_two, /kinds = _mm512_mask_or_epi32( kinds, 0, /'
mutate "cells: a long list of hits is cut off (AVX-512)" "engine" src/core/simd/kernels_avx512.c 's/if ( hit_count > 16 )/if ( hit_count > 64 )/'
mutate "cells: hits beyond the first few forgotten" "engine" src/core/simd/cell_body.h 's/for ( uint32_t first = 0; first < hit_count; first += HITS_AT_ONCE )/for ( uint32_t first = 0; first < hit_count \&\& first < HITS_AT_ONCE; first += HITS_AT_ONCE )/'
mutate "cells: last layer of a wide box left out" "engine" src/core/engine/count.c 's/z <= z1; ++z/z < z1 || z == z0; ++z/'
mutate "cells: a wide box does not say what it began before" "engine" src/core/engine/place.c 's/uint64_t before = cell > lower \/ CELL_STEPS;/uint64_t before = 0;/'
mutate "cells: within a crowded cell no box began before it" "engine" src/core/engine/search.c 's/    cell_layout layout = clv_engine_cell_lay_alone( \&job );/    for ( uint32_t i = 0; i < job.count; ++i ) inner.records[i].code \&= ~( (uint64_t)7 << 24 );\n    cell_layout layout = clv_engine_cell_lay_alone( \&job );/'
mutate "cells: the last ties of a search are not settled" "engine" src/core/engine/search.c '/^clv_result clv_engine_cell_search_block/,/^}/s/result = settle( job, \&search, result );/(void)0;/'
mutate "cells: rows before a word meet ever fewer of its lanes" "engine" src/core/simd/cell_body.h 's/const bool are_lanes = first == word;/const bool are_lanes = word + 1 > first;/'
mutate "cells: a box in two layers is placed in the first" "engine" src/core/engine/corner.h 's/c.corner\[kind\]\[c.count\[kind\]++\] = (uint8_t)corner;/c.corner[kind][c.count[kind]++] = (uint8_t)( corner \& 3 );/'
mutate "scale: negative values by their size" "engine" src/core/engine/axis_scale.c 's/return value < 0 ? -size : size;/return size;/'
mutate "scale: the gap squeezed past what lies behind it" "engine" src/core/engine/axis_scale.c 's/bits - ( gap - gap \/ SQUEEZE )/bits - gap/'
mutate "scale: four boxes at once without their signs" "engine" src/core/engine/axis_scale.c 's/( log | sign )/log/'
mutate "scale: ties decided on the scale of the cells" "engine" src/core/engine/search.c 's/cell_search ){ job->exact,/cell_search ){ job->boxes,/'
mutate "cut: above a plane all boxes begin" "engine_search" src/core/engine/cut.c 's/uint64_t before = names\[i\] >> 32 | bits_before( part, \&job->cut\[slots\[i\]\] );/uint64_t before = names[i] >> 32;/'
mutate "cut: a cell forgets what began before it" "engine_search" src/core/engine/cut.c 's/cell_name( cell_slot( \&entries\[i\] ), cell_before( \&entries\[i\] ) )/cell_name( cell_slot( \&entries[i] ), 0 )/'
mutate "cut: those across a plane are not above it" "engine_search" src/core/engine/cut.c 's/child.entries = part.entries + below;/below = choice.begun; child.entries = part.entries + below;/'
mutate "cut: never" "engine_search" src/core/engine/search.c 's/return count > CELL_OVERFULL || ( count >= least/return ( false \&\& count >= least/'
mutate "sharpen: cells forget who began before" "engine" src/core/engine/lay.c 's/before\[i\] = cell_before( \&records\[first + i\] );/before[i] = 0;/'
mutate "measure: a box with one endless face has no say" "engine" src/core/engine/plan.c 's/return has_lower || has_upper;/return has_lower \&\& has_upper;/'
mutate "grid: one cell for all" "engine" src/core/engine/cell_grid.c 's/if ( count > CELL_ALONE )/if ( count > UINT32_MAX - 1 )/'
mutate "slabs: who reaches in from the slab before is not counted" "engine threads" src/core/engine/count.c 's/first > row ? first - row : 0, last }/first, last }/'
mutate "slabs: a box goes to its first slab alone" "engine threads" src/core/engine/slab_scatter.c 's/more_count += is_wide | ( slab != last );/more_count += is_wide;/'
mutate "slabs: a wide box goes to the slabs of its first layer alone" "engine threads" src/core/engine/slab_scatter.c '/^static void scatter_wide/,/^}/s/z <= cell_field( span.last, 2 ); ++z/z <= cell_field( span.first, 2 ); ++z/'
mutate "slabs: a box does not go to the slabs of the next layer" "engine threads" src/core/engine/slab_scatter.c 's/for ( uint32_t corner = 2; corner < 8; corner += 2 )/for ( uint32_t corner = 2; corner < 4; corner += 2 )/'
mutate "slabs: the last box of a piece left out" "engine threads" src/core/engine/flat.c 's/.last = box_from( fill->input, ( (uint64_t)piece + 1 ) \* fill->piece_slots ),/.last = box_from( fill->input, ( (uint64_t)piece + 1 ) * fill->piece_slots - 1 ),/'
mutate "slabs: what outgrew its segment is not scattered again" "engine threads" src/core/engine/segments.c 's/            job->redo\[job->redo_count++\] = piece;/            (void)0;/'
mutate "slabs: a crowded cell in a grid that is trusted" "engine" src/core/engine/flat.c 's/return engine->flat.count \/ 2 < CELL_OVERFULL ? engine->flat.count \/ 2 : CELL_OVERFULL;/return CELL_OVERFULL;/'
mutate "slabs: records are put beyond their segment" "engine threads" src/core/engine/slab_scatter.c 's/    if ( place->next < place->end )/    if ( true )/'
mutate "blocks: seen pairs found in the next block again" "engine" src/core/engine/block_scatter.c 's/cell_slot( coarse ), corner << 24, true )/cell_slot( coarse ), 0, true )/'
mutate "blocks: a box goes to its first block alone" "engine" src/core/engine/block_scatter.c 's/bool is_inner = ( kind .*/bool is_inner = kind != CELL_WIDE;/'
mutate "blocks: a box goes to a block twice" "engine" src/core/engine/block_scatter.c 's/        uint32_t other = 0;/        uint32_t other = count;/'
mutate "blocks: what waits in the last trays stays there" "engine" src/core/engine/block_scatter.c 's/if ( work->trays.counts\[block\] > 0 )/if ( false )/'
mutate "blocks: a tray is emptied beyond its segment" "engine" src/core/engine/block_scatter.c 's/if ( room >= CELL_TRAY )/if ( true )/'
mutate "blocks: many search a block where its records lie" "engine" src/core/engine/engine.c 's/    if ( task_worker_count( engine->tasks ) == 1 )/    if ( segments->piece_count == 1 )/'
mutate "blocks: records of the last piece are left behind" "engine threads" src/core/engine/segments.c '/^uint32_t clv_engine_segments_bring/,/^}/s/piece < segments->piece_count; ++piece )/piece + 1 < segments->piece_count; ++piece )/'
mutate "blocks: the rest of a chunk left out" "threads engine" src/core/engine/engine.c 's/    pieces = ( input->live_count + job.chunk - 1 ) \/ job.chunk;/    pieces = input->live_count > job.chunk ? input->live_count \/ job.chunk : 1;/'

# The same engine, step by step.
mutate "engine: a sample says less than one in as many meets" "engine_plan" src/core/engine/cell_measure.c 's/return share > least ? share : least;/return share * share;/'
mutate "engine: more cells than boxes are worth" "engine_plan" src/core/engine/cell_grid.c 's/ <= cell_count_most( r->count );/ <= UINT32_MAX;/'
mutate "engine: cells along the height of one floor" "engine_plan" src/core/engine/cell_grid.c 's/axis_cells cells = { count, \(.*\), (double)share\[level\] };/axis_cells cells = { count, \1, 1.0 \/ ( 1u << level ) };/'
mutate "engine: a coarse cell is left off the map" "engine_plan" src/core/engine/plan.c 's/for ( uint32_t x = node->first\[0\]; x <= node->last\[0\]; ++x )\r*$/for ( uint32_t x = node->first[0] + ( node->first[0] > 0 ); x <= node->last[0]; ++x )/'
mutate "engine: its histogram asks boxes at equal distances" "engine_plan" src/core/engine/plan.c 's/base_sample_step( first, step, input->live_count )/first/'
mutate "engine: every step-th box speaks for itself alone" "engine_plan" src/core/engine/plan.c 's/histogram.items\[cell_words_key( \&words, \&s ).cell\] += step;/histogram.items[cell_words_key( \&words, \&s ).cell] += 1;/'
mutate "engine: a crowd in one cell stays there" "engine_lay" src/core/engine/lay.c 's/layout.fullest > count \/ 2;/false;/'
mutate "engine: too many entries are put up with" "engine_lay" src/core/engine/lay.c 's/return clv_engine_cell_grid_coarsen( grid, \&crew->extent );/return false;/'
mutate "engine: records made again forget what they began before" "engine_lay" src/core/engine/lay.c 's/records\[first + i\].code |= (uint64_t)before\[i\] << 24;/(void)before;/'
mutate "engine: in a second cell a box begins where it did in the first" "engine_lay" src/core/engine/place.c 's/( record->code \& kept ) | ended/record->code | ended/'
mutate "engine: pieces end in the middle of a chunk" "engine_lay" src/core/engine/slab_scatter.c 's/        count = clv_engine_cell_end_of_chunk( records, 0, count );/        (void)0;/'
mutate "engine: no grid within a crowded cell" "engine_search" src/core/engine/search.c 's/inner.depth < CELL_DEPTH )$/false )/'
mutate "engine: a box in three cells is taken for one in two" "engine_cells" src/core/simd/cells.h 's/is_wide = is_wide || size > 1;/is_wide = is_wide || size > 2;/'
mutate "engine: the reference settles ties one hit early" "engine_cells" src/core/simd/kernels_scalar.c 's/found++ % HITS_AT_ONCE == 0/found++ % ( HITS_AT_ONCE - 1 ) == 0/'
mutate "engine: a wide box of eight at once is not wide (AVX2)" "engine_cells" src/core/simd/kernels_avx2.c 's/_mm256_cmpgt_epi32( size, _mm256_set1_epi32( 1 ) )/_mm256_cmpgt_epi32( size, _mm256_set1_epi32( 2 ) )/'
mutate "engine: trays forget who began before (template)" "engine_cells" src/core/simd/cell_body.h 's/record.code |= tray->items\[i\].before;/(void)0;/'
mutate "engine: a tray by eights ends early (AVX2)" "engine_cells" src/core/simd/kernels_avx2.c 's/for ( uint32_t done = 0; done < count; done += 8 )/for ( uint32_t done = 0; done + 8 < count; done += 8 )/'
mutate "engine: its checker of cells looks at no sum" "engine_lay" src/core/engine/check.c 's/return sum != tally\[TALLY_SUM\]/return false/'
mutate "engine: its checker of cells looks at no code" "engine_lay" src/core/engine/check.c 's/if ( ( expected \& ~bits ) != /if ( false \&\& ( expected \& ~bits ) != /'
mutate "engine: its checker looks at no room" "engine_search" src/core/engine/check.c 's/if ( engine->starts.items\[cell + 1\] - engine->starts.items\[cell\] != counts\[cell\] )/if ( false )/'
mutate "engine: its checker looks at no home" "engine_search" src/core/engine/check.c 's/    if ( cell_before( record ) != before )/    if ( false )/'
mutate "engine: an outgrown plan is kept" "engine_search" src/core/engine/engine.c 's/return engine->plan_age > 0 \&\& /return false \&\& /'
mutate "engine: what lies beyond the grid has no grid within its cell" "engine_search" src/core/engine/flat.c 's/        low\[axis\] = -INFINITY;/        low[axis] = 0;/; s/        high\[axis\] = INFINITY;/        high[axis] = 1;/'

# Filters.
mutate "filter: classes of filters outlive a change" "filter" src/core/space/update.c 's/        filter_classes_forget( &space->filter_classes );/        (void)objects;/'
mutate "filter: a class for static and moving objects" "filter" src/core/space/filter_classes.c 's/if ( by.statics != NULL \&\& by.statics\[a\] != by.statics\[b\] )/if ( false )/; s/= by.statics != NULL ? by.statics\[slot\] : 0;/= 0;/'
mutate "filter: classes that lack a class" "filter" src/core/space/filter_classes.c 's/classes->count = ok ? count : 0;/classes->count = count;/'

# What rests in it.
mutate "rest: the wrong class after a refit" "rest" src/core/rest/refit.c 's/if ( !reclassify( world, slot, \&both, rest, fresh ) )/if ( !reclassify( world, slot, \&both, rest, rest ) )/'
mutate "rest: who leaves far behind keeps its pairs" "rest" src/core/rest/refit.c 's/else if ( !reclassify( world, slot, \&before.fat, rest, \&none ) ||/else if (/'
mutate "rest: who is refitted stays in its old cell" "rest" src/core/rest/loose_grid.c 's/if ( from == to )/if ( true )/'
mutate "rest: who is refitted is found where it was" "rest" src/core/rest/loose_grid.c 's/grid->entries.items\[to->first + grid->places.items\[slot\]\] = entry;/(void)entry;/'
mutate "rest: blocks of the grid are not given back" "checker" src/core/rest/loose_grid.c '/^static void give_block/,/^}/s/    \*head = first + 1;/    (void)head;/'
mutate "rest: what was entered in vain is soon entered again" "stats" src/core/rest/rest_mode.c 's/    LONGEST_WAIT = 4096,/    LONGEST_WAIT = 64,/'
mutate "rest: a new space waits for rest like an old one" "rest" src/core/rest/rest_mode.c 's/if ( mode->remembered > 0 \&\& promises_rest/if ( false \&\& promises_rest/'
mutate "rest: a core as large as its box" "rest" src/core/rest/margin.h 's/{ { box->lower\[0\] + e, /{ { box->lower[0], /'
mutate "rest: strays within twice their margin" "rest" src/core/simd/kernels_scalar.c '/^static uint64_t find_strays/,/^}/s/rest->margin )/2 * rest->margin )/'
mutate "rest: boxes without end get a margin" "rest" src/core/rest/margin.c 's/if ( !( size < FLT_MAX \/ 4 ) )/if ( false )/'
mutate "rest: marginal pairs tested of those who stray alone" "rest" src/core/rest/rest_world.c 's/candidates_at( world, input, word ), test_object_step/world->strays[i], test_object_step/'
mutate "rest: the last marginal pairs are not tested" "rest" src/core/rest/rest_world.c 's/base_bits_low( left < 64 ? (uint32_t)left : 64 )/base_bits_low( left < 64 ? 0 : 64 )/'
mutate "rest: who comes is not put in the grid" "rest rest_members" src/core/rest/refit.c '/^bool clv_rest_world_come/,/^}/s/clv_rest_grid_insert( \&world->grid, slot, \&zone.fat )/true/'
mutate "rest: who goes leaves its pairs" "rest_members" src/core/rest/refit.c 's/if ( !reclassify( world, slot, \&zone.fat, \&world->boxes.items\[slot\], \&none ) )/if ( false )/'

# Methods of Table I, and what joins their pairs.
mutate "grid: a pair belongs to every cell it is in" "random" src/methods/grid.c 's/if ( ( found\[i\].a \& found\[i\].b/if ( true || ( found[i].a \& found[i].b/'
mutate "grid: two groups of a cell never meet" "random" src/methods/grid.c 's/{ 2, 4, 6 }, { 3, 4, 5 }/{ 2, 4, 6 }, { 3, 4, 4 }/'
mutate "bvh: a box that left its grown box stays" "family random" src/methods/bvh.c 's/if ( has_leaf \&\& bvh_contains( /if ( has_leaf || bvh_contains( /'
mutate "isap: ends of the dead stay in the lists" "family random" src/methods/isap.c 's/if ( !input->members_changed || base_bits_has( self->live.items, slot ) )/if ( true )/'
mutate "segment tree: boxes end where they begin" "box random" src/methods/segment_tree.c 's/(double)( \&box->upper.x )/(double)( \&box->lower.x )/'
mutate "space: the time to clean is lost" "stats" src/core/space/update.c 's/space->stats.clean_ms = counters.clean_ms;/space->stats.clean_ms = 0;/'
mutate "gather: a piece goes one pair too far" "gather threads" src/core/task/gather.c 's/atomic_store( &marks\[piece\].place, place );/atomic_store( \&marks[piece].place, place + 1 );/'
mutate "gather: a piece's second chunk lost" "gather threads" src/core/task/gather.c 's/chunk_at( out->job, out->chunk )->next = chunk;/(void)0;/'
mutate "arrays: what is new is not zero" "memory" src/core/base/array.h 's/memset( (char\*)data + before \* item_size, 0, /memset( (char*)data + before * item_size, 1, /'

mutate "sweep: where most boxes are is asked at equal distances" "sweep_grid" src/methods/sweep/axis.c 's/base_sample_step( first, step, input->live_count )/first/'
mutate "sweep: a node's grid asks boxes at equal distances" "sweep_grid" src/methods/sweep/small_boxes.c 's/base_sample_step( i, stride, list->count )/i/'
mutate "sweep: a list's axis asks boxes at equal distances" "sweep_grid" src/methods/sweep/box_items.c 's/stride > 1 ? base_sample_step( i, stride, count ) : i/i/'
mutate "sweep: a few of a list that is too long to number" "sweep_grid" src/methods/sweep/box_items.c 's/ \&\& wanted->count <= NUMBERED//'

# Near points, snapshots, recordings, and what the engine does with few boxes.
mutate "near: what lies below a periodic cell moves the wrong way" "near" src/core/near/near_search.c 's/up\[k\] = code < 0 ? -shift\[k\] : shift\[k\];/up[k] = shift[k];/'
mutate "near: a kept list takes no account of rounding" "near" src/core/near/near_list.c 's/4 \* epsilon \* near->old_limit/0 * epsilon * near->old_limit/'
mutate "near: images meet images" "near" src/core/near/near_boxes.c 's/near->image_count > near->point_count ? ask_points/false ? ask_points/'
mutate "near: cells within reach one layer short" "near" src/core/near/near_grid.c 's/double layers = ceil( width \* most );/double layers = floor( width * most );/'
mutate "near: points of radii at the limit are no pair" "near" src/core/near/near_boxes.c 's/dx \* dx + dy \* dy + dz \* dz <= limit \* limit/dx * dx + dy * dy + dz * dz < limit * limit/'
mutate "near: points of one group meet" "near" src/core/near/near_search.c 's/groups\[a\] == groups\[b\] \&\& groups\[a\] != 0/false/'
mutate "near: a half list has a pair at both of its points" "near" src/core/near/near_search.c 's/uint32_t least = point + ( at->row_shift < 0 );/uint32_t least = 0;/'
mutate "near: a half list by point has what is below the point" "near" src/core/simd/near_lanes.h 's/return s->is_lesser ? id + s->least_step/return s->is_lesser ? id/'
mutate "near: cells searched together reach one cell short" "near" src/core/near/near_search.c 's/at->at\[0\] + at->wide - 1 : at->at\[k\]/at->at[0] : at->at[k]/'
mutate "near: columns within reach of the last row alone" "near" src/core/simd/near_body.h 's/NEAR_SUB( bounds\[0\], at )/NEAR_SUB( bounds[1], at )/'
mutate "near: a point is its own neighbour" "near" src/core/simd/near_lanes.h 's/return s->is_own \&\& column < .*/return s->column_count;/'
mutate "near: vectors to images that go down point elsewhere" "near" src/core/near/near_list.c 's/x = is_down ? q\[0\] - ( p\[0\] + u )/x = false ? q[0] - ( p[0] + u )/'
mutate "near: what is excluded later is in a kept list" "near" src/core/near/near.c '/^clv_result clv_near_exclude/,/^}/s/near->may_keep = false;//'
mutate "save: free slots are written in another order" "save" src/core/space/save.c 's/memcpy( \&slot, \&object_boxes( objects )\[slot\], sizeof( slot ) );/slot += 1;/'
mutate "save: groups of filters stay behind" "save" src/core/space/save_pass.c 's/(uint32_t)filter->group/0 * (uint32_t)filter->group/'
mutate "load: boxes upside down are taken" "save" src/core/space/save_pass.c 's/: clv_aabb_is_valid( ( (const clv_aabb\*)data )\[slot\] );/: true;/'
mutate "load: the number of objects is believed" "save" src/core/space/load.c 's/( live == l->walk.numbers\[SAVE_LIVE\] \&\&/( live >= 0 ||/'
mutate "load: pairs of slots that are not there are taken" "save" src/core/space/save_pass.c 's/ || pair.b >= walk->numbers\[SAVE_SLOTS\] || / || /'
mutate "parts: a damaged part is taken" "save parts" src/core/base/parts_reader.c 's/return base_get_u64( end + padding ) == sum/return true/'
mutate "record: half-spaces in double are played as seen from 0" "fuzz.replayed" lab/replay/recording.c 's/( clv_half_spaces64 ){ places\[i\], planes/( clv_half_spaces64 ){ { 0, 0, 0 }, planes/'
mutate "record: a full disk goes unnoticed" "record" src/core/record/recorder.c 's/if ( writer->failed )/if ( writer->failed \&\& false )/'
mutate "record: ids of other generations are a row" "record" src/core/record/record.c 's/return (uint64_t)id.generation << 32 | id.index;/return id.index;/'
mutate "record: two records at once" "record" src/core/record/recorder.c 's/clv_task_background_\(un\)\{0,1\}lock( &recorder->gate );/(void)0;/'
mutate "record: more bytes than the limit" "record" src/core/record/recorder.c 's/recorder->def.most_bytes > 0 \&\& /false \&\& /'
mutate "record: answers do not tell the order of pairs" "record" src/core/record/record.h 's/mixed \* ( 2 \* hash->count + 1 )/mixed/'
mutate "strip: sorted on one axis, searched on another" "engine engine_search" src/core/engine/strip.c 's/(uint32_t)engine->strip_axis, scratch->entries );/0 * (uint32_t)engine->strip_axis, scratch->entries );/'
mutate "cut: what began below a plane counts above it again" "engine_search" src/core/engine/cut.c 's/^    child.low\[choice.plane.axis\] = choice.plane.at;//'

# Checkers: one that is always content proves nothing.
mutate "a checker of cells looks at no order" "checker" src/methods/grid/grid_cells.c 's/if ( cells->entries.items\[i - 1\] >= cells->entries.items\[i\] )/if ( false )/'
mutate "a checker of rest takes any class" "checker" src/core/rest/rest_check.c 's/return class_of( world, pair ) == class ||/return true ||/'

# Shapes and simulations.
mutate "volumes rounded inwards" "volume" src/physics/narrow/bound.c 's/return -clv_narrow_round_up( -value );/return clv_narrow_round_up( value );/'
mutate "turned boxes are parted by faces alone" "volume" src/kdop/obb.c 's/if ( squared > PARALLEL \&\& /if ( false \&\& /'
mutate "turned boxes rounded inwards" "volume" src/kdop/obb.c 's/ + radius + lost );/ + radius - lost );/'
mutate "a 14-DOP has the axes of an 18-DOP" "volume" src/kdop/dop.c 's/return kind == CLV_DOP_14 \&\& index >= 3 ? index + 6 : index;/return index;/'
mutate "a failed frame of shapes leaves them moved" "refusal" src/kdop/shape_sim.c 's/^        move_back( sim );/        (void)0;/'
mutate "soft bodies lose volume" "soft_match" src/kdop/soft_match.c 's/double factor = 1.0 \/ cube_root( volume );/double factor = 1.0;/'
mutate "soft bodies: squares move the center" "soft_match" src/kdop/soft_match.c 's/        terms\[k\] -= soft->term_mean\[k\];/        terms[k] -= 0.0;/'
mutate "soft bodies never spring back" "soft_match" src/kdop/soft_match.c 's/rigid.modes\[k\], 1.0 - softness/rigid.modes[k], 1.0/'
mutate "a failed sweep has used up its turn" "refusal" src/kdop/volume_sweep.c 's/s->axis = axis, s->until_pca = until_pca;/(void)axis, (void)until_pca;/'
mutate "friction twice as strong" "rigid" src/physics/sim/rigid_solver.c 's/mu = math_lanes_set( friction );/mu = math_lanes_set( 2 * friction );/'
mutate "lean bodies do not look ahead" "rigid" src/physics/sim/rigid_contact.c 's/math_lanes_set( world->seconds )/math_lanes_set( 0.0f )/'
mutate "lean gains count one and a half times" "rigid" src/physics/sim/rigid_solver.c 's/sim_add( speed.velocity, sim_sub( motion->velocity, before->velocity ) )/sim_add_scaled( speed.velocity, 1.5f, sim_sub( motion->velocity, before->velocity ) )/'
mutate "a way counts on the wrong side" "box_manifold" src/physics/narrow/box_axes.c 's/math_lanes_if_greater( zero, along, way, math_lanes_negate( way ) )/math_lanes_if_greater( along, zero, way, math_lanes_negate( way ) )/'
mutate "four pairs: an edge is taken for its neighbour" "box_manifold" src/physics/narrow/box_axes.c 's/(float)( 3 \* i + j )/(float)( 3 * j + i )/'

# On a device: kernels are text that the build embeds, and PoCL runs.
mutate "gpu: rows above end a cell early" "gpu" src/gpu/kernels/grid.cl 's/uint to_x = last.x + 1;/uint to_x = last.x;/'
mutate "gpu: the row above in y is left out" "gpu" src/gpu/kernels/grid.cl 's/bool goes_y = last.y > own.y;/bool goes_y = false;/'
mutate "gpu: half rule off by a row" "gpu" src/gpu/kernels/grid.cl 's/bool has_below = goes_z \&\& own.y > 0;/bool has_below = false;/'
mutate "gpu: boxes in cells smaller than they are" "gpu" src/gpu/kernels/cells.cl 's/last.z <= own.z + 1;/last.z <= own.z + 3;/'
mutate "gpu: coarser levels not asked" "gpu" src/gpu/kernels/grid.cl 's/uint coarse = level; coarse < plan->level_count/uint coarse = level; coarse < 0/'
mutate "gpu: who left its cell stays in it" "gpu" src/gpu/kernels/cells.cl 's/return own.x <= first.x/return 1 || own.x <= first.x/'
mutate "gpu: who left downwards stays" "gpu" src/gpu/kernels/cells.cl 's/return own.x <= first.x \&\& own.y <= first.y \&\& own.z <= first.z \&\&/return/'
mutate "gpu: movers do not meet each other" "gpu" src/gpu/kernels/grid.cl 's/            if ( a < b )/            if ( a > mover_count )/'
mutate "gpu: movers found twice" "gpu" src/gpu/kernels/grid.cl 's/TEST_RECORD( j, l, IS_MOVER )/TEST_RECORD( j, l, 0u )/'
mutate "gpu: the last of five ranges forgotten" "gpu" src/gpu/kernels/grid.cl 's/            uint left = 4;/            uint left = 3;/'
mutate "gpu: a kept order without its slack" "gpu" src/gpu/kernels/cells.cl 's/upper.x + plan->slack_x, upper.y + plan->slack_y, upper.z + plan->slack_z/upper.x, upper.y, upper.z/;s/own.x <= first.x \&\& own.y <= first.y \&\& own.z <= first.z/1/'
mutate "gpu: blocks meet only themselves" "gpu_lists" src/gpu/gpu_chunks.c 's/            if ( b > a )/            if ( b > blocks )/'
mutate "gpu: pairs within a block told again" "gpu_lists" src/gpu/gpu_chunks.c 's/bool is_across = pair.a < border \&\& pair.b >= border;/bool is_across = pair.b >= border;/'
mutate "gpu: the list before goes with the memory that lacked" "gpu_events" src/gpu/gpu_state.c 's/    if ( gpu->events.has_before )/    if ( false )/'
mutate "gpu: memory that lacks closes the device" "gpu_events" src/gpu/gpu_frame.c 's/if ( result == CLV_DEVICE_FAILED || gpu->queue == NULL )/if ( result == CLV_DEVICE_FAILED || result == CLV_OUT_OF_MEMORY )/'
mutate "gpu: along a free direction the first axis is taken for granted" "gpu" src/gpu/kernels/sap.cl 's/( flags \& SAP_IS_FREE ) == 0 ||/true ||/'
mutate "gpu: intervals along a free direction too short" "gpu" src/gpu/kernels/sap.cl 's/\* 2e-6f + 1e-37f;/* -1e-2f;/'
mutate "gpu: records laid anew only once around" "gpu" src/gpu/kernels/grid.cl 's/k < end; k += get_global_size( 0 ) )/k < end; k = end )/'
mutate "gpu: pairs of who changed are carried over" "gpu_rest" src/gpu/kernels/rest.cl 's/~( ( changed_one | changed_other ) << k )/~( changed_one << k )/'
mutate "gpu: pairs of two that changed told twice" "gpu_rest" src/gpu/kernels/rest.cl 's/: index < other || !is_marked( bits, other ) )/: true )/'
mutate "gpu: two that left their cells do not meet" "gpu_rest" src/gpu/kernels/rest.cl 's/at < slice_end; at += REST_LANES/false; at += REST_LANES/'
mutate "gpu: who fits no level is not met by who changed" "gpu_rest" src/gpu/kernels/rest.cl 's/uint j = placed + lane; is_new \&\& slice == 0 \&\& j < count;/uint j = placed + lane; false;/'
mutate "gpu: a box at rest that left its cell asks none" "gpu_rest" src/gpu/kernels/rest.cl 's/if ( !has_left \&\& index != as_uint( lower.w ) )/if ( ( !has_left \&\& index != as_uint( lower.w ) ) || !is_new )/'
mutate "gpu: a wide box that left its cell asks none" "gpu_rest" src/gpu/kernels/rest.cl 's/at = lane; is_wide \&\& at < changed_count;/at = lane; false;/'
mutate "gpu: two that left are told by both" "gpu_rest" src/gpu/kernels/rest.cl 's/( index < other \&\& ( is_new/( ( is_new/'
mutate "gpu: those that left meet the first of them alone" "gpu_rest" src/gpu/kernels/rest.cl 's/? ( m - changed_count ) % slices : 0;/? 0 : 0;/'
mutate "gpu: a list that was cut is carried over" "gpu_rest" src/gpu/kernels/rest.cl 's/last\[SLOT_PAIRS + 1\] != 0 || source_count > source_room;/last[SLOT_PAIRS + 1] != 0;/'
mutate "gpu: a list that was not made is carried over" "gpu_rest" src/gpu/kernels/rest.cl 's/( last\[SLOT_WORK\] \& WORK_UNDONE ) != 0 ||/false ||/'
mutate "gpu: who left before is forgotten at rest" "gpu_rest" src/gpu/kernels/rest.cl 's/^    uint carry = .*/    uint carry = 0;/'
mutate "gpu: lists in pieces and lost ones are carried over" "gpu_rest" src/gpu/gpu_frame.c 's/^    clv_gpu_rest_forget( gpu );/    (void)0;/'
mutate "gpu: boxes that came are compared with none" "gpu_rest" src/gpu/gpu_rest.c 's/gpu->rest.slot == last_slot + 1 \&\& gpu->rest.count == frame->count;/gpu->rest.slot == last_slot + 1;/'
mutate "gpu: a list sent for before it was made counts" "gpu_rest" src/gpu/gpu_grid.c 's/^    gpu->ahead.count = 0;/    (void)0;/'
mutate "gpu: who left its cell is laid anew too late" "gpu_rest" src/gpu/gpu_rest.c 's/    rest->lays_anew = was_done .*/    rest->lays_anew = false;/'
mutate "gpu: a world at rest is laid anew for ever" "gpu_rest" src/gpu/gpu_rest.c 's/bool was_busy = !was_done || .*/bool was_busy = !was_done;/'
mutate "gpu: one box in a hundred is too many" "gpu_rest" src/gpu/gpu_rest.c 's/^    CHANGED_PART = 50,/    CHANGED_PART = 256,/'
mutate "gpu: many pairs are no reason not to carry them over" "gpu_rest" src/gpu/gpu_rest.c 's/^    PAIRS_PART = 5,/    PAIRS_PART = 0,/'
mutate "gpu: an order ends where every fourth frame is laid anew" "gpu_rest" src/gpu/gpu_grid.c 's/ \&\& counters->work > 0 ? 1 : 0;/ ? 1 : 0;/'
mutate "gpu: a world that moves again keeps the cells of one at rest" "gpu_rest" src/gpu/gpu_rest.c 's/gpu->grid.is_planned \&\& !gpu->rest.wants_order;/gpu->grid.is_planned;/'
mutate "gpu: events that were cut count as whole" "gpu_events" src/gpu/gpu_lists.c 's/if ( result == CLV_OK \&\& was_cut )/if ( false )/'
mutate "gpu: a failed update is the base of events" "gpu_events" src/gpu/gpu_lists.c 's/if ( !gpu->def.events || !gpu->has_list )/if ( !gpu->def.events )/'
mutate "gpu: a place in the table taken twice" "gpu_events" src/gpu/kernels/events.cl 's/while ( atomic_cmpxchg( table + at, EMPTY, i ) != EMPTY )/table[at] = i; while ( false )/'
mutate "gpu: no fix of -0 in keys" "gpu_kernels" src/gpu/kernels/common.cl 's/bits = bits == 0x80000000u ? 0u : bits;//;s/as_uint( value + 0.0f )/as_uint( value )/'
mutate "gpu: sort not stable" "gpu_kernels" src/gpu/kernels/sort.cl 's/keys\[4 \* item + k\];/keys[4 * item + 3 - k];/;s/values\[4 \* item + k\];/values[4 * item + 3 - k];/'
mutate "gpu: a list that is cut counts as whole" "gpu_lists" src/gpu/gpu_frame.c 's/gpu->counters.pair_count > gpu->pair_room )/false )/'
mutate "gpu: closed overlap made open" "gpu" src/gpu/kernels/tiles.cl 's/( l.z <= box.upper_z )/( l.z < box.upper_z )/'
mutate "gpu: large boxes miss each other" "gpu" src/gpu/kernels/grid.cl 's/uint large = max( placed, i + 1 );/uint large = i < placed ? placed : count;/'
mutate "gpu: the last place of a node skipped" "gpu" src/gpu/kernels/tree.cl 's/while ( place < count )/while ( place + 1 < count )/'
mutate "gpu: far-sighted boxes forgotten" "gpu" src/gpu/gpu_sap.c 's/frame->count <= PATIENCE )/true )/'
mutate "gpu: slots not cleared" "gpu" src/gpu/kernels/common.cl 's/if ( item < SLOT_WORDS )/if ( item < 0 )/'
mutate "gpu: other slabs of an 18-DOP never read" "gpu_bodies" src/kdop/kernels/volume.cl 's/axis < half_size \&\& is_hit; ++axis/axis < 3 \&\& is_hit; ++axis/'
mutate "gpu: volumes rounded to nearest" "gpu_bodies" src/kdop/kernels/volume.cl 's/if ( (double)rounded < value )/if ( false )/'
mutate "gpu: the floor before the pairs of its round" "gpu_sim" src/kdop/gpu_schedule.c 's/levels\[at++\] = last\[i\]++;/levels[at++] = 0;/'
mutate "gpu: bodies of another update are simulated" "gpu_sim" src/kdop/gpu_volume.c 's/^    bodies->owner = NULL;/    (void)0;/'
mutate "gpu: pairs apart are not searched when bodies moved" "gpu_sim" src/kdop/kernels/narrow.cl 's/record\[RECORD_MOVES_A\] == moves_a \&\&/true \&\&/;s/record\[RECORD_MOVES_B\] == moves_b )/true )/'
mutate "gpu: undecided contacts are taken as they are" "gpu_sim" src/kdop/gpu_sim.c 's/== STATE_UNDECIDED;/== 99u;/'
mutate "EPA keeps the first direction, not the best" "epa" src/core/solid/solid_epa.h 's/if ( depth < p->result->depth )/if ( p->result->depth > 1e300 )/'
mutate "gpu: a hull that is not there is taken" "gpu_bodies" src/kdop/gpu_volume.c 's/if ( hull >= hull_count )/if ( false )/'
mutate "gpu: a failed device is not closed" "gpu_failure" src/gpu/gpu_frame.c 's/^        clv_gpu_close( gpu );/        (void)0;/'
mutate "gpu: damaged binaries believed" "gpu_failure" src/gpu/gpu_program.c 's/hash_bytes( \*data, \*size ) == head.hash/true/'
mutate "gpu: a CPU chosen before a GPU" "gpu_failure" src/gpu/gpu_choice.c 's/device->is_cpu ? 1 :/device->is_cpu ? UINT64_C( 1 ) << 63 :/'
mutate "space: only a pair's second slot is looked at" "handed" src/core/space/handed.c 's/pairs\[i\].a < slot_count \&\& //'
mutate "space: the first slot that is not there is let in" "handed" src/core/space/handed.c 's/pairs\[i\].b < slot_count/pairs[i].b <= slot_count/'
mutate "space: a lent list is not looked at" "handed" src/core/space/update.c 's/is_plain = is_plain \&\& clv_space_check_handed( space, pairs, count ) == CLV_OK;//'
mutate "space: a method that goes on after it was told is believed" "handed" src/core/space/handed.c 's/return space->has_stray ?/return good < count ?/'
mutate "sim: what is below the floor is not lifted" "shape_match" src/kdop/shape_sim.c 's/ \&\& sim_is_below_floor( \&body->rest, \&body->pose ) )/ \&\& false )/'
mutate "sim: what touches the floor and cannot turn is moved twice" "shape_match" src/kdop/shape_sim.c 's/        body->unturned = math_make( 0, 0, 0 );//'
mutate "gpu: what is below the floor is not lifted" "gpu_sim" src/kdop/kernels/match.cl 's/if ( !is_pair \&\& sim_is_below_floor(/if ( false \&\& sim_is_below_floor(/'
mutate "server: every byte of a request puts its end off" "loopback" lab/base/loopback.c 's/    self->head_count += (size_t)got;/&\n    self->deadline = state->now + state->server->request_ms;/'
mutate "server: a reader that stopped is never cut" "loopback" lab/base/loopback.c 's/state->now + state->server->answer_ms/INT64_MAX/'
mutate "server: the newest makes room" "loopback" lab/base/loopback.c 's/self->number < choice->number/self->number > choice->number/'
mutate "server: who is being answered makes room" "loopback" lab/base/loopback.c 's/bool is_idle = self->stage != WRITES;/bool is_idle = true;/;s/choice != NULL \&\& choice->stage != WRITES;/choice != NULL;/'
mutate "server: a client with an end half closed is gone" "loopback" lab/base/loopback.c 's/if ( got < 0 || ( got == 0 \&\& self->head_count == 0 ) )/if ( got <= 0 )/'
mutate "server: names that begin like ours are ours" "loopback" lab/base/loopback.c 's/bool same = text.count == length;/bool same = text.count >= length;/'
mutate "server: several hosts" "loopback" lab/base/loopback.c 's/good \&\& host_count == 1/good \&\& host_count > 0/'
mutate "server: the page's file keeps its name" "loopback" lab/base/platform.c 's/^        unlink( path );/        (void)path;/'

[ -z "$gone" ] || { echo "mutate.sh: of $count mutants these have no place any more or do not compile:$gone" >&2; exit 1; }
[ $places = no ] || { echo "mutate.sh: $count places to break, each still there"; exit 0; }
[ -z "$alive" ] || { echo "mutate.sh: of $count mutants these live:$alive" >&2; exit 1; }
echo "mutate.sh: $count mutants, every one noticed"
