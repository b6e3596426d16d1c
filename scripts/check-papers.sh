#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of `make papers`. Usage: check-papers.sh PROGRAM. Ends with 77, which ctest shows as skipped, where node is missing or
# the program writes no JSON.
set -eu
cleave=${1:?usage: check-papers.sh PROGRAM}

skip()
{
    echo "check-papers.sh: skipped: $1"
    exit 77
}

command -v node >/dev/null 2>&1 || skip "node is not installed (scripts/setup.sh papers installs it)"
[ "$(node -p 'parseInt(process.versions.node)')" -ge 18 ] || skip "node is older than 18"
"$cleave" methods --json >/dev/null 2>&1 || skip "the program was built without JSON"
CLEAVE=$cleave exec node --test "$(dirname "$0")/papers/papers.test.mjs"
