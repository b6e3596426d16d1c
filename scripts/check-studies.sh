#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of `make studies`. Usage: check-studies.sh PROGRAM. Ends with 77, which ctest shows as skipped, where node is missing.
set -eu
cleave=${1:?usage: check-studies.sh PROGRAM}

skip()
{
    echo "check-studies.sh: skipped: $1"
    exit 77
}

command -v node >/dev/null 2>&1 || skip "node is not installed (scripts/setup.sh papers installs it)"
[ "$(node -p 'parseInt(process.versions.node)')" -ge 18 ] || skip "node is older than 18"
CLEAVE=$cleave exec node --test "$(dirname "$0")/studies/studies.test.mjs"
