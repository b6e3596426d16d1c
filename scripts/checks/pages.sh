# shellcheck shell=bash disable=SC2154,SC2164 # check.sh sets root and folder, and set -e
# SPDX-License-Identifier: MIT
# Pages that node makes or looks at: for scripts/check.sh. Skipped where node, the packages of report/
# or Chromium are missing.

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
