# shellcheck shell=bash disable=SC2154,SC2164 # check.sh sets root and folder, and set -e
# SPDX-License-Identifier: MIT
# What the programs and scripts say about themselves and their results: for scripts/check.sh.

# As a line without the spaces that a formatter adds.
joined()
{
    tr '\n' ' ' | tr -s ' '
}

# show PAGE: its text, from man or groff; status 77 where neither is. Minimized systems have
# a man that shows nothing.
show()
{
    if man --version >/dev/null 2>&1; then
        man --warnings --no-hyphenation --no-justification -l "$1" 2>"$folder/warnings"
    elif command -v groff >/dev/null 2>&1; then
        groff -man -ww -Tutf8 -P-c "$1" 2>"$folder/warnings"
    else
        return 77
    fi
}

# What stands in the help must stand in the page: names of flags, their sentences, the example.
compare_page()
{
    page=$1
    help=$2
    [ -s "$page" ] || fail "$page was not written"
    LC_ALL=C grep -n '[^ -~]' "$page" && fail "$page: is not ASCII"
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'SEE ALSO'; do
        grep -qx "\.SH $section" "$page" || fail "$page: has no section $section"
    done
    grep -q '^\.TH "CLEAVE[A-Z-]*" 1 ' "$page" || fail "$page: has no .TH line"
    status=0
    show "$page" >"$folder/text" || status=$?
    if [ $status = 77 ]; then
        formats=no
        return 0
    fi
    [ $status = 0 ] || fail "$page: cannot be shown"
    [ ! -s "$folder/warnings" ] || fail "$page: $(cat "$folder/warnings")"
    joined <"$folder/text" >"$folder/line"
    sed -n -e 's/…/.../g' -e 's/`//g' -e '/^Flags:/,/^$/s/^ *\(-.*[^ ]\)   *\([^ ].*\)$/\2/p' -e '/^Example/,$s/^  //p' "$help" >"$folder/said"
    [ -s "$folder/said" ] || fail "$help: no flag and no example found"
    while IFS= read -r text; do
        grep -qF -- "$(printf '%s' "$text" | joined)" "$folder/line" || fail "$page: does not say: $text"
    done <"$folder/said"
}

# The man pages that the programs make of their help: one per command, every flag and example of the help
# in it, and nothing that a reader of man pages stumbles over (`man --warnings`, where man is). Usage:
# check.sh man CLEAVE [CLEAVE-MPI]
check_man()
{
    [ $# -ge 1 ] || misused "CLEAVE [CLEAVE-MPI]"
    cleave=$1
    mpi=${2:-}
    export CLEAVE_OPENCL=none CLEAVE_PEERS=none LC_ALL=C.UTF-8 MANWIDTH=78

    formats=yes
    count=0
    "$cleave" help --man -o "$folder/man1"
    "$cleave" help >"$folder/help"
    compare_page "$folder/man1/cleave.1" "$folder/help"
    for command in $(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p' "$folder/help"); do
        "$cleave" "$command" --help >"$folder/help.$command"
        compare_page "$folder/man1/cleave-$command.1" "$folder/help.$command"
        "$cleave" help --man "$command" | cmp -s - "$folder/man1/cleave-$command.1" || fail "help --man $command differs from its file"
        count=$((count + 1))
    done
    [ $count -ge 15 ] || fail "only $count commands were found in the help"
    [ "$(find "$folder/man1" -name '*.1' | wc -l)" = $((count + 1)) ] || fail "there are pages of no command"
    if [ -n "$mpi" ]; then
        "$mpi" help --man -o "$folder/man1"
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$mpi" --help >"$folder/help.mpi"
        compare_page "$folder/man1/cleave-mpi.1" "$folder/help.mpi"
    fi
    # A folder that cannot be is said, and no page of nothing.
    status=0
    "$cleave" help --man -o /dev/null/x 2>"$folder/said" || status=$?
    [ $status = 2 ] || fail "help --man -o /dev/null/x: exit $status"
    [ $formats = yes ] || echo "check.sh man: neither man nor groff is here: only the structure was looked at"
    echo "check.sh man: $count commands have a page that says what their help says"
}

# completes "WORDS…" "LINE": what COMPREPLY holds for that line, cut as bash cuts it, at = : and @ too;
# "+word" must be among others.
completes()
{
    local line=$2 word
    line=${line//=/ = }
    line=${line//:/ : }
    line=${line//@/ @ }
    read -ra COMP_WORDS <<<"$line"
    [[ $line != *' ' ]] || COMP_WORDS+=( '' )
    COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
    COMPREPLY=()
    _cleave cleave "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>"$folder/errors"
    [ ! -s "$folder/errors" ] || fail "$2: $(cat "$folder/errors")"
    if [[ $1 == +* ]]; then
        for word in ${1#+}; do
            [[ " ${COMPREPLY[*]} " == *" $word "* ]] || fail "'$2' offers '${COMPREPLY[*]}', and no $word"
        done
    else
        [ "${COMPREPLY[*]}" = "$1" ] || fail "'$2' offers '${COMPREPLY[*]}', not '$1'"
    fi
}

# What bash completes with the script of `cleave completion bash`, word by word; and whether zsh and fish can
# read theirs, where they are. Usage: check.sh completion CLEAVE
check_completion()
{
    [ $# -ge 1 ] || misused "CLEAVE"
    set +e # what the scripts return is no failure
    cleave=$1
    export CLEAVE_OPENCL=none CLEAVE_PEERS=none

    "$cleave" completion bash >"$folder/cleave.bash" || fail "no script for bash"
    # shellcheck disable=SC1091 # made above
    source "$folder/cleave.bash" || fail "bash cannot read its script"
    [ "$(complete -p cleave)" = "complete -F _cleave cleave" ] || fail "bash does not call _cleave for cleave"

    # Commands and the program's flags.
    completes 'bench' 'cleave be'
    completes '+methods scenes gen bench verify completion help' 'cleave '
    completes '--version' 'cleave --v'
    completes 'auto always' 'cleave --ansi a'
    completes 'bench' 'cleave --ansi never be'
    completes 'bench' 'cleave --plugin=my.so be'
    # Flags.
    completes '--frames' 'cleave bench --fr'
    completes '--overlay' 'cleave render x --ov'
    completes '+--isa --set --json --help' 'cleave bench --'
    # Methods, instruction sets, parameters, words of a flag; after = and behind commas.
    completes 'sap segment-tree' 'cleave bench -m s'
    completes 'sap,grid sap,grid-sap' 'cleave bench --methods sap,gr'
    completes '+kd bullet-dbvt-f gpu' 'cleave verify --judge '
    completes 'avx2 avx512' 'cleave bench --isa av'
    completes 'avx2 avx512' 'cleave bench --isa=av'
    completes '+scalar all' 'cleave bench --isa='
    completes 'sse2,avx2 sse2,avx512' 'cleave bench --isa sse2,av'
    completes 'avx2 avx512' 'cleave bench -m sap@av'
    completes 'kd.leaf=' 'cleave bench --set kd.l'
    completes '' 'cleave bench --set kd.leaf=2'
    completes 'static speed size' 'cleave render x --colour s'
    completes 'pairs,tree' 'cleave render x --overlay pairs,t'
    completes 'rays' 'cleave verify --queries r'
    # Scenes, their types, schedules, experiments, commands, shells; files.
    completes 'gravity' 'cleave bench grav'
    completes 'gravity growing' 'cleave gen gr'
    completes 'gravity' 'cleave info grav'
    completes 'assorted' 'cleave bench gravity:8k:a'
    completes 'gravity' 'cleave run full --scenes grav'
    completes 'quick' 'cleave run qu'
    completes 'tower' 'cleave sim t'
    completes 'replay report render' 'cleave help re'
    completes 'fish' 'cleave completion f'
    touch "$folder/results.json"
    completes "$folder/results.json" "cleave report $folder/res"
    completes "$folder/results.json" "cleave bench --json $folder/res"
    touch "$folder/with space.json"
    COMP_WORDS=( cleave report "$folder/with" ) COMP_CWORD=2
    _cleave
    [ "${#COMPREPLY[@]} ${COMPREPLY[0]}" = "1 $folder/with space.json" ] || fail "a file with a space is '${COMPREPLY[*]}'"
    # Nothing where nothing is known.
    completes '' 'cleave methods x'
    completes '' 'cleave bench --frames 1'
    completes '' 'cleave nonsense --x'

    # Every command and flag of the help is in each script.
    for shell in bash zsh fish; do
        "$cleave" completion $shell -o "$folder/script.$shell" || fail "no script for $shell"
        for command in $("$cleave" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p'); do
            grep -q -- "$command" "$folder/script.$shell" || fail "$shell: no $command"
            for flag in $("$cleave" "$command" --help | sed -n '/^Flags:/,/^$/s/^  \(-., \|    \)--\([a-z-]*\).*/\2/p'); do
                grep -q -- "$flag" "$folder/script.$shell" || fail "$shell: no --$flag of $command"
            done
        done
    done
    bash -n "$folder/script.bash" || fail "bash cannot read its script"
    for shell in zsh fish; do
        if command -v $shell >/dev/null 2>&1; then
            $shell -n "$folder/script.$shell" || fail "$shell cannot read its script"
        else
            echo "check.sh completion: $shell is not here: its script was not read"
        fi
    done
    if command -v fish >/dev/null 2>&1; then
        said=$(HOME=$folder fish -c "source $folder/script.fish; complete -C 'cleave bench --isa=sse2,avx5'" | cut -f1)
        [ "$said" = "--isa=sse2,avx512" ] || fail "fish offers '$said'"
    fi
    echo "check.sh completion: commands, flags and names are completed"
}

# demo_row SCENE OBJECTS METHOD MS [STATUS REASON]
demo_row()
{
    echo "\"$1\",\"cubes\",$2,$3,$4,${5:-ok},\"${6:-}\""
}

# has COUNT PATTERN: so many lines of the table.
has()
{
    [ "$(grep -c -e "$2" "$folder/said")" = "$1" ] || fail "expected $1 lines with '$2' in the above"
}

# Tests of the demo's table, on results made up here: 80 columns, one line per method, and what is missing
# once per library. Usage: check.sh demo
check_demo()
{
    {
        echo "scene,type,objects,method,ms_median,status,reason"
        for scene in freefall brownian gravity; do
            for size in 1000 8000; do
                demo_row $scene $size cleave 0.25
                demo_row $scene $size bullet-axissweep 1234.567
                for method in ode-hash ode-sap; do
                    demo_row $scene $size $method "" unavailable "not built (needs a C++ compiler, and Debian's libode-dev)"
                done
                demo_row $scene $size fcl "" unavailable "not built (needs a C++ compiler, and Debian's libfcl-dev)"
            done
            demo_row $scene 1000 brute 3
        done
        demo_row gravity 8000 tracy "" failed "it fell, and broke"
    } >"$folder/results.csv"
    "$root/scripts/demo.sh" --table "$folder/results.csv" >"$folder/said"

    has 0 '.\{81\}'
    has 1 'freefall:8k  *brownian:8k  *gravity:8k'
    has 1 '^  cleave  *0.250    1.0x .*0.250    1.0x$'
    has 1 '^  bullet-axissweep  *1234.567 4938.3x'
    has 1 '^  brute  *-  *-  *-'
    has 1 '^  libode-dev  *ode-hash, ode-sap$'
    has 1 '^  libfcl-dev  *fcl$'
    has 1 'PEERS=yes'
    has 1 'failed: tracy on 8000 of gravity: it fell, and broke$'
    echo "check.sh demo: short, and nothing left out"
}

# counts NAME ROW...: a file of `make instructions`.
counts()
{
    name=$1
    shift
    { echo "$headings"; printf '%s\n' "$@"; } >"$folder/$name"
}

# compares STATUS TEXT: of the files stored and now.
compares()
{
    expect "$1" "$2" "$root/scripts/speed.sh" compare "$folder/stored" "$folder/now"
}

# Tests of what `make instructions` compares, on files made up here. Usage: check.sh instructions
check_instructions()
{
    headings="scene,objects,frames,isa,compiler,instructions"

    counts stored a,8000,10,avx2,gcc,100.00 b,100,60,avx2,gcc,50.00
    counts now a,8000,10,avx2,gcc,103.00 b,100,60,avx2,gcc,50.00
    compares 0 '100.00 ->    103.00    +3.00 %'
    counts now a,8000,10,avx2,gcc,103.20 b,100,60,avx2,gcc,50.00
    compares 1 'MORE'
    compares 1 '1 scenes take over 3 % more'
    BOUND=5 compares 0 '+3.20 %'
    counts now a,8000,10,avx2,gcc,90.00 b,100,60,avx2,gcc,50.00
    compares 0 'fewer: store it'
    counts now a,8000,10,avx2,clang,900.00 b,100,60,avx2,gcc,50.00
    compares 0 'not compared: stored with gcc'
    counts now a,8000,10,avx2,gcc,100.00
    compares 1 'b,100,60,avx2: stored, and not counted now'
    counts now a,8000,10,avx2,gcc,100.00 b,100,60,avx2,gcc,50.00 c,1,1,avx2,gcc,1
    compares 0 'not stored yet'
    counts now a,8000,10,avx2,gcc
    compares 2 'now:2: expected six cells'
    counts now a,8000,10,avx2,gcc,many
    compares 2 'now:2: expected six cells'
    echo hello >"$folder/now"
    compares 2 'expected the headings'
    rm "$folder/now"
    compares 2 'cannot be read'
    expect 2 'unknown step' "$root/scripts/speed.sh" nonsense
    echo "speed.sh compares as it should"
}

# worst_row SCENE OBJECTS METHOD MS PAIRS [STATUS]
worst_row()
{
    echo "\"$1\",\"cubes\",$2,5,$3,avx2,1,\"\",0,0,99,99,$4,99,0,0,$5,0x00000000000000aa,0,0,${6:-ok},\"a, b\""
}

ordinary()
{
    echo "$headings"
    worst_row brownian-free 32000 cleave 1 5000
    worst_row freefall 32000 cleave 2 105000 # a pair more costs 10 ns
    worst_row brownian-free 1000 cleave 0.1 100
}

# tells STATUS TEXT: the table of the results on stdin.
tells()
{
    cat >"$folder/results.csv"
    expect "$1" "$2" "$root/scripts/speed.sh" table "$folder/results.csv"
}

# Tests of the table that `make worst` prints, on results made up here. Usage: check.sh worst
check_worst()
{
    headings="scene,type,objects,frames,method,variant,threads,settings,sorted,events,ms_median,ms_mean,ms_min,ms_p99,update_ms,search_ms,pairs_last,pairs_hash,tests,memory_bytes,status,reason"

    { ordinary; worst_row huge 1000 cleave 0.29 100; worst_row huge 1000 kd 7 100; } |
        tells 0 '| huge cubes | 1000 | 0.1 | 0.290 | 0.100 | 2.90 | kd |'
    { ordinary; worst_row huge 1000 cleave 0.31 100; } | tells 1 '3.10 **over**'
    { ordinary; worst_row crossing 1000 cleave 0.31 100; } | tells 0 '| 3.10 |' # has no goal
    { ordinary; worst_row huge 1000 cleave 0.31 100; } | LIMIT=4 tells 0 '| 3.10 |'
    { ordinary; worst_row huge 1000 cleave 2.2 100100; } | tells 0 '| 1.100 | 2.00 |' # pairs count
    { ordinary; worst_row huge 1000 cleave 0.2 0; } | tells 0 '| 0.100 | 2.00 |'      # fewer pairs are no excuse, nor a burden
    { ordinary; worst_row huge 1000 cleave 0.1 100 timeout; } | tells 1 'huge of 1000: cleave ended with timeout'
    { ordinary; worst_row huge 2000 cleave 0.1 100; } | tells 2 'no brownian-free of 2000 boxes'
    { echo "$headings"; worst_row huge 1000 cleave 0.1 100; } | tells 2 'needs cleave on brownian-free and on freefall'
    rm "$folder/results.csv"
    expect 2 'cannot be read' "$root/scripts/speed.sh" table "$folder/results.csv"
    echo "speed.sh tells what is over"
}

# `cleave run suite`: its hashes are as known, brute force's too, and one that is not is noticed.
# Usage: check.sh suite CLEAVE
check_suite()
{
    [ $# -eq 1 ] || misused "CLEAVE"
    cleave=$1
    expect 0 "all 3 hashes are as known" "$cleave" run suite --only flying-1k --json "$folder/suite.json" --repeat 1
    [ "$(grep -c '"known_hash"' "$folder/suite.json")" = 3 ] || fail "suite.json has no known_hash in each run"
    expect 0 "all 3 hashes are as known" "$cleave" run suite --only falling-4k,gravity-4k,huge-8k -m brute --warmup 0 --repeat 1
    expect 0 "3 runs, all that can be compared agree" "$cleave" run suite --only flying-1k --seed 2 --repeat 1
    ! grep -q 'as known' "$folder/said" || fail "another seed's hash is compared with a known one"
    "$cleave" run suite --show | sed '/^part *flying-1k/,/^known/s/0x..../0x0123/' >"$folder/wrong.schedule"
    expect 1 "3 of 3 hashes are not as known" "$cleave" run "$folder/wrong.schedule" --only flying-1k --repeat 1
    expect 1 "NOT AS KNOWN: brownian-free" "$cleave" run "$folder/wrong.schedule" --only flying-1k --repeat 1 -q
    printf 'scenes freefall gravity\nsizes 1k\nknown 0x0123456789abcdef\n' >"$folder/two.schedule"
    expect 2 "a known hash is that of one scene" "$cleave" run "$folder/two.schedule"
    printf 'known 0x12\n' >"$folder/short.schedule"
    expect 2 "short.schedule:1: one pairs_hash, 0x and 16 hex digits" "$cleave" run "$folder/short.schedule"
}

# build_copy: the program, the library and the fuzzers, from the copy in $story/source.
build_copy()
{
    cmake -S "$story/source" -B "$story/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" -DCLEAVE_PEERS=OFF \
        -DCLEAVE_SHARED=OFF -DCLEAVE_INSTALL=OFF -DCLEAVE_WERROR=OFF -DCLEAVE_TESTS=ON >"$folder/said" 2>&1 &&
        cmake --build "$story/build" -j "${JOBS:-2}" --target cleave fuzz-replay >"$folder/said" 2>&1 || fail "the copy does not build"
    : >"$folder/said"
}

# compile_small: the C program against the public headers and the library.
compile_small()
{
    "${CC:-cc}" -I "$story/source/include" "$story/small.c" "$story/build/libcleave.a" -lm -pthread -o "$story/small" ||
        fail "the C program does not compile"
}

# differs REASON COMMAND...: it ends with status 1, or the check fails for that reason. What it prints is
# shown: docs/replay.md tells it.
differs()
{
    local status=0 reason=$1
    shift
    "$@" || status=$?
    [ $status = 1 ] || fail "$reason"
}

# few_boxes FILE.c: at most ten are left in it.
few_boxes()
{
    local boxes
    boxes=$(sed -n '/static const clv_aabb boxes/,/};/p' "$1" | grep -c '{ {') || true
    [ "$boxes" -ge 1 ] && [ "$boxes" -le 10 ] || fail "$boxes boxes are left"
}

# A fault is planted by hand in a copy of the engine, found by `cleave verify` and by a fuzzer, written as a
# recording, shrunk and turned into a failing C program, by commands alone; without the fault the same program
# is fine. docs/replay.md tells it with what it prints. Usage: check.sh story [FOLDER], which keeps the files;
# build/story if none is named
check_story()
{
    story=${1:-$root/build/story}
    rm -rf "$story/source"
    mkdir -p "$story/source"
    (cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$story/source" 2>/dev/null) || true
    # The fault: pairs whose boxes tie in the cells' rough numbers are forgotten before
    # they are looked at closely.
    file=$story/source/src/core/simd/cell_body.h
    cp "$file" "$story/right"
    sed -i 's/search->tie_count += count - sure;/(void)0;/' "$file"
    ! cmp -s "$file" "$story/right" || fail "the place of the fault is gone"
    build_copy
    cleave=$story/build/cleave

    differs "verify did not notice" "$cleave" verify brownian-free:500 -m cleave --frames 20 --record "$story/found.clvrec" -q
    differs "replay did not notice" "$cleave" replay "$story/found.clvrec" --shrink "$story/small.clvrec" --c "$story/small.c" -q
    differs "the shrunk recording is fine" "$cleave" replay "$story/small.clvrec" -q
    few_boxes "$story/small.c"
    compile_small
    differs "the C program does not fail" "$story/small"

    rm -f "$story/stopped.clvrec"
    ! (cd "$story" && build/test/fuzz/fuzz-replay space --random 0 60) || fail "the fuzzer did not notice"
    differs "replay did not notice what the fuzzer found" "$cleave" replay "$story/stopped.clvrec" --judge \
        --shrink "$story/fuzzed.clvrec" --c "$story/fuzzed.c" -q
    few_boxes "$story/fuzzed.c"

    cp "$story/right" "$file"
    build_copy
    compile_small
    "$story/small" || fail "without the fault the C program still fails"
    "$cleave" replay "$story/small.clvrec" -q || fail "without the fault the recording still differs"
    "$cleave" replay "$story/fuzzed.clvrec" --judge -q || fail "without the fault the fuzzer's recording still differs"
}

# Random lives with questions of every kind are recorded. Played, they give every answer as it was, and brute
# force agrees. Usage: check.sh lives-replayed FUZZ_REPLAY CLEAVE
check_lives_replayed()
{
    [ $# -eq 2 ] || misused "FUZZ_REPLAY CLEAVE"
    local kind seed file count=0
    for kind in world query; do
        for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
            rm -f "$folder"/life*
            CLEAVE_RECORD=$folder/life "$1" $kind --random $seed 1 >"$folder/said" 2>&1 || fail "$kind $seed stopped"
            for file in "$folder"/life*; do
                [ -s "$file" ] || fail "$kind $seed left no recording"
                "$2" replay "$file" --judge --quiet >"$folder/said" 2>&1 || fail "$kind $seed is not played as it was"
                count=$((count + 1))
            done
        done
    done
    echo "check.sh lives-replayed: $count recordings, every answer as recorded"
}
