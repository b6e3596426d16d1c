#!/bin/sh
# SPDX-License-Identifier: MIT
# How many instructions the default method takes per object and frame: a figure that a busy machine does not change.
#   instructions.sh count CLEAVE FOLDER           run the scenes under callgrind, write FOLDER/instructions.csv
#   instructions.sh compare STORED.csv NOW.csv    print before and now; exit 1 where one rose by more than 3 %
# Valgrind knows no AVX-512, so it is the AVX2 code that is counted: clv_space_move and clv_space_update, nothing else of
# the program. The same build and scene give the same count to the last digit; another compiler does not.
set -eu

headings="scene,objects,frames,isa,compiler,instructions"

complain()
{
    echo "instructions.sh: $1" >&2
    exit 2
}

# count_scene NAME WHAT OBJECTS FRAMES: adds a row to $out. One untimed and one timed pass are counted, which differ by a
# few clock reads.
count_scene()
{
    passes=2
    "$cleave" info "$2" >/dev/null # bakes it, so that valgrind need not
    valgrind --tool=callgrind --callgrind-out-file="$folder/$1.callgrind" --toggle-collect=clv_space_move \
        --toggle-collect=clv_space_update "$cleave" bench "$2" -m cleave --isa avx2 --warmup 0 --repeat 1 \
        --json "$folder/$1.json" >"$folder/$1.log" 2>&1 ||
        complain "$1: the run under valgrind failed; see $folder/$1.log"
    total=$(sed -n 's/^totals: //p' "$folder/$1.callgrind")
    [ "${total:-0}" -gt 0 ] || complain "$1: nothing was counted; is $cleave stripped of its symbols?"
    compiler=$(sed -n 's/.*"compiler":[[:space:]]*"\([^"]*\)".*/\1/p' "$folder/$1.json" | tr ',' ' ')
    awk -v total="$total" -v name="$1" -v objects="$3" -v frames="$4" -v passes=$passes -v compiler="$compiler" \
        'BEGIN { printf "%s,%d,%d,avx2,%s,%.2f\n", name, objects, frames, compiler,
                 total / objects / frames / passes }' >>"$out"
    tail -n 1 "$out"
}

count()
{
    cleave=$1
    folder=$2
    command -v valgrind >/dev/null 2>&1 || complain "valgrind is missing (Debian: valgrind)"
    "$cleave" methods --json >/dev/null 2>&1 || complain "$cleave was built without JSON (Debian: libcjson-dev)"
    mkdir -p "$folder"
    out="$folder/instructions.csv"
    echo "$headings" >"$out"
    count_scene flying brownian-free:32k@0+10 32000 10
    count_scene whirling gravity:8k@90+10 8000 10
    count_scene trembling jitter:32k@0+40 32000 40
    count_scene few brownian-free:100@0+60 100 60
}

compare()
{
    for file in "$1" "$2"; do
        [ -r "$file" ] || complain "$file: cannot be read; \`make instructions-store\` writes the stored one"
        [ "$(grep -v '^#' "$file" | head -n 1)" = "$headings" ] || complain "$file: expected the headings $headings"
    done
    awk -F, -v bound="${BOUND:-3}" '
        /^#/ { next }
        $1 == "scene" { file += 1; next }
        NF != 6 || $6 + 0 <= 0 {
            printf "instructions.sh: %s:%d: expected six cells and a count above 0\n", FILENAME, FNR >"/dev/stderr"
            broken = 1
            exit 2
        }
        { key = $1 "," $2 "," $3 "," $4 }
        file == 1 { stored[key] = $6; compiler[key] = $5; next }
        !( key in stored ) { printf "%-12s %-28s %10s -> %9.2f  not stored yet\n", $1, $5, "-", $6; next }
        compiler[key] != $5 {
            printf "%-12s %-28s %10.2f -> %9.2f  not compared: stored with %s\n", $1, $5, stored[key], $6, compiler[key]
            seen[key] = 1
            next
        }
        {
            seen[key] = 1
            change = 100 * ( $6 / stored[key] - 1 )
            more = change > bound + 1e-9
            verdict = more ? "MORE" : change < -bound ? "fewer: store it" : ""
            worse += more
            printf "%-12s %-28s %10.2f -> %9.2f  %+7.2f %%  %s\n", $1, $5, stored[key], $6, change, verdict
        }
        END {
            if ( broken ) exit 2
            for ( key in stored ) if ( !( key in seen ) ) { printf "%s: stored, and not counted now\n", key; worse += 1 }
            if ( worse ) { printf "%d scenes take over %g %% more instructions per object and frame, or are missing\n", worse, bound; exit 1 }
        }' "$1" "$2"
}

case "${1:-}" in
count) count "${2:?usage: instructions.sh count CLEAVE FOLDER}" "${3:?usage: instructions.sh count CLEAVE FOLDER}" ;;
compare) compare "${2:?usage: instructions.sh compare STORED NOW}" "${3:?usage: instructions.sh compare STORED NOW}" ;;
*) complain "unknown step '${1:-}'; use count or compare" ;;
esac
