#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the report's page. Usage: check-report.sh model|bundle|page PROGRAM. Ends with 77, which ctest shows as skipped, and
# names what is missing, where node, the packages of report/ or Chromium are not there; make setup FOR=report installs them.
set -eu
step=${1:?usage: check-report.sh model|bundle|page PROGRAM}
cleave=${2:?usage: check-report.sh model|bundle|page PROGRAM}
cd "$(dirname "$0")/../report"

skip()
{
    echo "check-report.sh: skipped: $1 (scripts/setup.sh report installs it)"
    exit 77
}

command -v node >/dev/null 2>&1 || skip "node is not installed"
[ "$(node -p 'parseInt(process.versions.node)')" -ge 18 ] || skip "node is older than 18"
case $step in
model) exec node --test test/model.test.mjs ;;
bundle)
    [ -d node_modules/esbuild ] || skip "report/node_modules is not there"
    exec node build.mjs --check
    ;;
page)
    [ -d node_modules/playwright-core ] || skip "report/node_modules is not there"
    CHROMIUM=$(command -v "${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome) || skip "Chromium is not installed"
    CLEAVE=$cleave CHROMIUM=$CHROMIUM exec node --test test/page.test.mjs
    ;;
*)
    echo "check-report.sh: unknown step '$step'; use model, bundle or page" >&2
    exit 2
    ;;
esac
