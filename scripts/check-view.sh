#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the pages in view/. Usage: check-view.sh model|bundle|page|smoke PROGRAM. Ends with 77, which ctest shows as skipped, and
# names what is missing, where node, the packages of report/ or Chromium are not there; make setup FOR=report installs them.
set -eu
step=${1:?usage: check-view.sh model|bundle|page|smoke PROGRAM}
cleave=${2:?usage: check-view.sh model|bundle|page|smoke PROGRAM}
cd "$(dirname "$0")/../view"

skip()
{
    echo "check-view.sh: skipped: $1 (scripts/setup.sh report installs it)"
    exit 77
}

command -v node >/dev/null 2>&1 || skip "node is not installed"
[ "$(node -p 'parseInt(process.versions.node)')" -ge 18 ] || skip "node is older than 18"
case $step in
model) CLEAVE=$cleave exec node --test test/codec.test.mjs test/near.test.mjs test/laps.test.mjs test/engine.test.mjs ;;
bundle)
    [ -d ../report/node_modules/esbuild ] || skip "report/node_modules is not there"
    exec node build.mjs --check
    ;;
page)
    [ -d ../report/node_modules/playwright-core ] || skip "report/node_modules is not there"
    CHROMIUM=$(command -v "${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome) || skip "Chromium is not installed"
    CLEAVE=$cleave CHROMIUM=$CHROMIUM exec node --test --test-concurrency=1 test/page.test.mjs test/playground.test.mjs
    ;;
smoke)
    # Seconds, and without npm: for `make test`.
    CHROMIUM=$(command -v "${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome) || skip "Chromium is not installed"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    "$cleave" view freefall:200@60+10 --bodies -q -o "$work/view.html" >/dev/null
    status=0
    CHROMIUM=$CHROMIUM node test/smoke.mjs "$work/view.html" "$PWD/playground.html" || status=$?
    exit "$status"
    ;;
*)
    echo "check-view.sh: unknown step '$step'; use model, bundle, page or smoke" >&2
    exit 2
    ;;
esac
