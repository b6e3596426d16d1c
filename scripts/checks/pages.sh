# shellcheck shell=bash disable=SC2154,SC2164 # check.sh sets root and folder, and set -e
# SPDX-License-Identifier: MIT
# What the pages of docs/ say, and pages that node makes or looks at: for scripts/check.sh. The latter are
# skipped where node, the packages of report/ or Chromium are missing.

# ---- what the pages say

wrong()
{
    echo "$where: $1" >>"$folder/wrong"
}

# try_link TARGET, of $page, in the folder that the pages' names begin in; `within`: a folder that
# it may not leave, or "".
try_link()
{
    file=${1%%#*}
    case $1 in *#*) anchor=${1#*#} ;; *) anchor="" ;; esac
    path=$(dirname "$page")/$file
    [ -n "$file" ] || path=$page
    [ -e "$path" ] || { wrong "links to $1, which is not there"; return 0; }
    if [ -n "$within" ]; then
        if [ -d "$path" ]; then place=$path; else place=$(dirname "$path"); fi
        case $(cd "$place" && pwd -P)/ in "$within"/*) ;; *) wrong "links to $1, which leads out of the folder" ;; esac
    fi
    case $path in *.md) ;; *) return 0 ;; esac
    [ -z "$anchor" ] || awk -f "$root/test/docs/extract.awk" "$path" | grep -q "^heading	[0-9]*	$anchor\$" ||
        wrong "links to $1, and no heading there is #$anchor"
}

finish()
{
    if [ -s "$folder/wrong" ]; then
        cat "$folder/wrong" >&2
        echo "check.sh docs: $(wc -l <"$folder/wrong") things on the pages are not so" >&2
        exit 1
    fi
    echo "check.sh docs: $(wc -l <"$folder/pages") pages$1"
}

try_folder()
{
    cd "$1"
    within=$(pwd -P)
    find . -name '*.md' | sort >"$folder/pages"
    [ -s "$folder/pages" ] || fail "--links $1: there is no page in it"
    tab=$(printf '\t')
    while IFS= read -r page; do
        page=${page#./}
        awk -f "$root/test/docs/extract.awk" "$page" >"$folder/found"
        while IFS="$tab" read -r kind line text; do
            where=$page:$line
            [ "$kind" != link ] || try_link "$text"
        done <"$folder/found"
    done <"$folder/pages"
    finish " under $1: every link leads to a file there"
}

help_of()
{
    [ -e "$folder/help.$1" ] || "$cleave" "$1" --help >"$folder/help.$1" 2>/dev/null || rm -f "$folder/help.$1"
    [ -e "$folder/help.$1" ]
}

# exception COMMAND: what the table says about it, or nothing.
exception()
{
    awk -v command="$1" '
        /^#/ || /^$/ { next }
        /^[^ ]/ { found = $0 == command; next }
        found { sub( /^ +/, "" ); print; exit }' "$exceptions"
}

# Words such as N, OUT.csv, FILE and "…" stand for something else.
is_placeholder()
{
    case $1 in *…* | *...* | '$'* | [A-Z] | [A-Z]* | '<'*) return 0 ;; esac
    return 1
}

# each_of LIST CHECK: CHECK for each of a,b,c.
each_of()
{
    for item in $(printf '%s\n' "$1" | tr ',' ' '); do
        is_placeholder "$item" || "$2" "$item"
    done
}

try_method()
{
    grep -q "^${1%@*} " "$folder/methods" || wrong "no method is called ${1%@*}"
}

try_parameter()
{
    case $1 in *=*) ;; *) return 0 ;; esac # another value of the one before
    grep -q "^${1%%=*} " "$folder/methods" || wrong "no parameter is called ${1%%=*}"
}

try_schedule()
{
    case $1 in
    *.json | mine.schedule) return 0 ;; # made by the page itself
    *.schedule) [ -e "$1" ] || wrong "there is no $1" ;;
    *) grep -q "^$1 " "$folder/schedules" || wrong "no schedule is called $1" ;;
    esac
}

try_flag()
{
    grep -qE -- "(^|[ ,])$1([ ,]|\$)" "$2" || [ "$1" = --help ] || wrong "$3 knows no $1"
}

try_make()
{
    shift
    for word in "$@"; do
        is_placeholder "$word" && case $word in *=*) ;; *) continue ;; esac
        case $word in
        *=*) [ "${word%%=*}" = V ] || grep -q "^${word%%=*} ?=" Makefile || wrong "make knows no variable ${word%%=*}" ;;
        *) grep -qx -- "$word" "$folder/targets" || wrong "make has no target $word" ;;
        esac
    done
}

try_cleave()
{
    shift
    case ${1:-help} in help | --version | --help) return 0 ;; esac
    is_placeholder "$1" && return 0
    help_of "$1" || { wrong "cleave has no command $1"; return 0; }
    command=$1
    shift
    flag=""
    for word in "$@"; do
        case $word in
        '>' | '>'*) break ;;
        --*) try_flag "$word" "$folder/help.$command" "cleave $command" ;;
        -[a-z]) try_flag "$word" "$folder/help.$command" "cleave $command" ;;
        *)
            case $command$flag in
            *-m | *--methods | *--without) each_of "$word" try_method ;;
            *--set | *--sweep) each_of "$word" try_parameter ;;
            run) is_placeholder "$word" || try_schedule "$word" ;;
            esac
            [ -z "$flag" ] || word=""
            ;;
        esac
        case $word in
        --resume | --restart | --list | --show | --dry-run | --counters | --quiet | -q | --json=*) flag="" ;;
        -*) flag=$word ;;
        *) flag="" ;;
        esac
    done
}

# A line of several commands is looked at one by one.
try_words()
{
    printf '%s\n' "$1" | sed -e 's/ && /\n/g' -e 's/; do /\n/g' -e 's/; done/\n/g' -e 's/ || /\n/g' -e 's/; /\n/g' >"$folder/parts"
    while IFS= read -r part; do
        set -f
        # shellcheck disable=SC2086 # words
        set -- $part
        set +f
        case ${1:-} in
        make | ./run) try_make "$@" ;;
        cleave | build/cleave) try_cleave "$@" ;;
        scripts/* | bench/*) [ -x "$1" ] || wrong "there is no program $1" ;;
        build/bench/*) [ -e "bench/${1##*/}.c" ] || wrong "there is no bench/${1##*/}.c to build $1 from" ;;
        esac
    done <"$folder/parts"
}

# `folder/file`: from here, from the page, or from where code and results lie.
try_path()
{
    for from in . "$(dirname "$page")" src src/core src/methods src/physics src/gpu src/kdop include bench report; do
        # shellcheck disable=SC2086 # may be a pattern
        ls -d "$from"/$1 >/dev/null 2>&1 && return 0
    done
    wrong "there is no $1"
}

# A name of ours, `clv_space_add` or `def.margin`: in the headers, or, if it is none of theirs, in the
# sources.
try_name()
{
    case $1 in *[!a-z0-9_.]* | *_) return 0 ;; esac # a pattern, or how names begin
    [ -e "$folder/names" ] || grep -rohIE '\b[a-z][a-z0-9_]*' include src lab bindings | sort -u >"$folder/names"
    for name in $(printf '%s\n' "$1" | tr . ' '); do
        grep -qx -- "$name" "$folder/names" || wrong "nothing is called $1"
    done
}

try_span()
{
    case $(exception "$1") in word:*)
        echo "$1" >>"$folder/used"
        return 0
        ;;
    esac
    case $1 in
    clv_[a-z]* | def.[a-z]*) try_name "$1" ;;
    make' '* | ./run' '* | cleave' '[a-z]* | build/cleave' '*) try_words "$1" ;;
    --[a-z]*) try_flag "${1%%[ =]*}" "$folder/flags" "no command of cleave" ;;
    '-m '*) each_of "${1#-m }" try_method ;;
    build/* | *' '* | *[!A-Za-z0-9_./*-]*) ;;
    scripts/* | docs/* | lab/* | test/* | peers/* | cmake/* | include/* | src/* | bench/*) try_path "$1" ;;
    [a-z]*/*.[ch] | [a-z]*/*.md) try_path "$1" ;;
    esac
}

# A tree like this one, with a build of its own.
make_tree()
{
    mkdir -p "$1/build/bench"
    for entry in "$root"/*; do
        [ "$entry" = "$root/build" ] || ln -s "$entry" "$1/"
    done
    ln -s "$root/test/docs/small-cleave.sh" "$1/build/cleave"
    [ ! -x "$build/cleave-mpi" ] || ln -s "$build/cleave-mpi" "$1/build/cleave-mpi"
}

run_page()
{
    make_tree "$folder/tree"
    (cd "$folder/tree" && SMALL_CLEAVE=$cleave timeout 500 sh -eu "$folder/steps") >"$folder/said" 2>&1 </dev/null || {
        where="$page: $(sed -n 's/^== //p' "$folder/said" | tail -n 1)"
        wrong "fails when it is run: $(tail -n 3 "$folder/said" | tr '\n' ' ')"
    }
    rm -rf "$folder/tree"
}

# Targets of make are looked up; what is long belongs to another run.
take_command()
{
    what=$(exception "$1")
    [ -z "$what" ] || echo "$1" >>"$folder/used"
    case $what in
    '=> '*) instead=${what#=> } ;;
    'needs: '*)
        instead=$1
        command -v "${what#needs: }" >/dev/null 2>&1 || {
            echo "check.sh docs: left out, there is no ${what#needs: } here: $1"
            return 0
        }
        ;;
    'not: '* | 'elsewhere: '*) return 0 ;;
    'long: '*)
        [ "$mode" != --long ] || echo "$1" | sed "s|build/bench|$build/bench|; s|--build build|--build $build|" >>"$folder/long"
        return 0
        ;;
    '') instead=$1 ;;
    *)
        wrong "test/docs/exceptions.txt: what is '$what'?"
        return 0
        ;;
    esac
    case $1 in
    make | make' '* | ./run' '*) ;;
    *) printf "echo '== %s'\n%s\n" "$(printf '%s' "$1" | tr -d "'")" "$instead" >>"$folder/steps" ;;
    esac
}

look_at()
{
    : >"$folder/steps"
    awk -f test/docs/extract.awk "$page" >"$folder/found"
    tab=$(printf '\t')
    while IFS="$tab" read -r kind line text; do
        where=$page:$line
        case $kind in
        command)
            case $(exception "$text") in elsewhere:*) ;; *) try_words "$text" ;; esac
            take_command "$text"
            ;;
        bare) wrong "looks like a command, in a block that is not marked sh: $text" ;;
        span) try_span "$text" ;;
        link) try_link "$text" ;;
        esac
    done <"$folder/found"
    [ ! -s "$folder/steps" ] || [ "$mode" = --long ] || run_page
}

# Tries what the pages say. Every command of a block marked sh is run, page by page, in a folder that looks
# like this one, with small numbers (test/docs/small-cleave.sh); test/docs/exceptions.txt has those that are
# run otherwise or not at all. Targets of make are looked up, not made. In the text, every `make target`,
# `cleave command --flag`, `--flag`, `folder/file` and link must be there. Usage: check.sh docs CLEAVE [--long
# | PAGE...]; --long runs what is marked long, alone.
#        check.sh docs --links FOLDER: of the pages under FOLDER, such as those that were installed, the links
#        alone; each must lead to a
#        file under that folder.
check_docs()
{
    [ $# -ge 1 ] || misused "CLEAVE [--long | PAGE...], or check.sh docs --links FOLDER"
    touch "$folder/wrong" "$folder/used"
    if [ "${1:-}" = --links ]; then
        [ $# -eq 2 ] || misused "--links FOLDER"
        [ -d "$2" ] || { echo "check.sh docs: --links $2: no such folder" >&2; exit 2; }
        try_folder "$2"
        exit 0
    fi

    cleave=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
    build=$(dirname "$cleave")
    mode=quick
    shift
    if [ "${1:-}" = --long ]; then
        mode=--long
        shift
    fi
    cd "$root"
    within=""
    exceptions=$root/test/docs/exceptions.txt
    export CLEAVE_CACHE="${CLEAVE_CACHE:-$build/test/cache}"
    # Open MPI asks twice before it starts anything for root; more processes than cores take turns.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1

    "$cleave" methods >"$folder/methods"
    "$cleave" run --list >"$folder/schedules"
    make -pnq help 2>/dev/null | sed -n 's/^\.PHONY: //p' | tr ' ' '\n' >"$folder/targets"

    for command in $("$cleave" help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
        [ "$command" = help ] || help_of "$command" || fail "cleave $command has no help"
    done
    "$cleave" help | cat - "$folder"/help.* >"$folder/flags"
    # cleave-mpi's too, whether it was built or not.
    sed -n 's/^ *{ "\(-[-a-zA-Z]*\)", .*/ \1 /p' lab/mpi/mpi_job.c >>"$folder/flags"
    # And those of the benchmark of bench/gpu.md.
    sed -n 's/^ *{ "\(--[-a-z]*\)", .*/ \1 /p' bench/gpu_frames.c >>"$folder/flags"

    # CHANGELOG.md tells of what was.
    if [ $# -gt 0 ]; then
        printf '%s\n' "$@"
    else
        find . -name '*.md' ! -path './build*' ! -path '*/node_modules/*' ! -name CHANGELOG.md | sort
    fi >"$folder/pages"
    while IFS= read -r page; do
        page=${page#./}
        look_at
    done <"$folder/pages"

    # Papers have names; their numbers are those of our files.
    while IFS= read -r page; do
        where=$page
        numbers=$(grep -noiE '\bpapers? 00[0-9]|\[00[0-9]\]' "$page" | head -n 1 || true)
        [ -z "$numbers" ] || wrong "calls a paper by its number: $numbers"
    done <"$folder/pages"

    # A scene that its page does not tell of.
    for scene in $("$cleave" scenes | awk 'NR > 1 { print $1 }'); do
        where=docs/lab.md
        grep -qF "\`$scene\`" docs/lab.md || wrong "says nothing of the scene $scene"
    done

    # An example that is not told of, or that does not say what it prints.
    for example in examples/*/; do
        name=$(basename "$example")
        where=examples/$name
        for file in README.md expected.txt; do
            [ -s "$example$file" ] || wrong "has no $file"
        done
        grep -qF "[$name]($name/" examples/README.md || wrong "has no row in examples/README.md"
    done

    where=test/docs/exceptions.txt
    [ $# -gt 0 ] || grep '^[^# ]' "$exceptions" | while IFS= read -r command; do
        grep -qxF -- "$command" "$folder/used" || wrong "no page says: $command"
    done

    if [ "$mode" = --long ]; then
        cmake --build "$build" --target space_moments >"$folder/said" 2>&1 || wrong "space_moments cannot be built"
        while IFS= read -r command; do
            where=long
            small=$(echo "$command" | sed 's/ 10000000$/ 1000/')
            sh -eu -c "$small" >"$folder/said" 2>&1 || wrong "$small fails: $(tail -n 3 "$folder/said" | tr '\n' ' ')"
        done <"$folder/long"
    fi

    finish ": what they name is there, and their commands run"
}

# ---- pages that node makes

# need_node PURPOSE: of scripts/setup.sh.
need_node()
{
    need node "$1"
    [ "$(node -p 'parseInt(process.versions.node)')" -ge 18 ] || skip "node is older than 18"
}

# need_package NAME: of report/package.json.
need_package()
{
    [ -d "$root/report/node_modules/$1" ] || skip "report/node_modules is not there (scripts/setup.sh report installs it)"
}

need_chromium()
{
    CHROMIUM=$(command -v "${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome) ||
        skip "Chromium is not installed (scripts/setup.sh report installs it)"
    export CHROMIUM
}

# The page of `cleave report`. Usage: check.sh report model|bundle|page CLEAVE
check_report()
{
    [ $# -ge 2 ] || misused "model|bundle|page CLEAVE"
    need_node report
    export CLEAVE=$2
    cd "$root/report"
    case $1 in
    model) node --test test/model.test.mjs ;;
    bundle)
        need_package esbuild
        node build.mjs --check
        ;;
    page)
        need_package playwright-core
        need_chromium
        node --test test/page.test.mjs
        ;;
    *) misused "model|bundle|page CLEAVE" ;;
    esac
}

# The pages in view/. Usage: check.sh view model|bundle|page|smoke CLEAVE; smoke takes
# seconds and needs no packages.
check_view()
{
    [ $# -ge 2 ] || misused "model|bundle|page|smoke CLEAVE"
    need_node report
    export CLEAVE=$2
    cd "$root/view"
    case $1 in
    model) node --test test/codec.test.mjs test/near.test.mjs test/laps.test.mjs test/engine.test.mjs ;;
    bundle)
        need_package esbuild
        node build.mjs --check
        ;;
    page)
        need_package playwright-core
        need_chromium
        node --test --test-concurrency=1 test/page.test.mjs test/playground.test.mjs
        ;;
    smoke)
        need_chromium
        "$CLEAVE" view freefall:200@60+10 --bodies -q -o "$folder/view.html" >/dev/null
        node test/smoke.mjs "$folder/view.html" "$PWD/playground.html"
        ;;
    *) misused "model|bundle|page|smoke CLEAVE" ;;
    esac
}

# `make site` in Chromium, wide and at 390 pixels, light and dark. Usage: check.sh site-page
check_site_page()
{
    need python3 single
    need_node report
    need_package playwright-core
    need_chromium
    python3 -B "$root/site/build.py" "$folder/site" >"$folder/said" 2>&1 || fail "make site failed"
    SITE=$folder/site node --test "$root/site/test/site.test.mjs"
}

# `make papers`. Usage: check.sh papers CLEAVE
check_papers()
{
    [ $# -ge 1 ] || misused "CLEAVE"
    need_node papers
    "$1" methods --json >/dev/null 2>&1 || skip "the program was built without JSON"
    CLEAVE=$1 node --test "$root/scripts/papers/papers.test.mjs"
}

# `make studies`. Usage: check.sh studies CLEAVE
check_studies()
{
    [ $# -ge 1 ] || misused "CLEAVE"
    need_node papers
    CLEAVE=$1 node --test "$root/scripts/studies/studies.test.mjs"
}
