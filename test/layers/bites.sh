#!/bin/sh
# SPDX-License-Identifier: MIT
# Does scripts/check.sh layers notice? A small tree whose includes point one way, then one fault of
# each kind. Usage: bites.sh
set -eu
check=$(cd "$(dirname "$0")/../.." && pwd)/scripts/check.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# put FILE LINE...: into the small tree.
put()
{
    mkdir -p "$(dirname "$folder/tree/$1")"
    file=$folder/tree/$1
    shift
    printf '%s\n' "$@" >"$file"
}

tree()
{
    rm -rf "$folder/tree"
    put include/cleave/cleave.h '#include "cleave/types.h"'
    put include/cleave/types.h ''
    put src/core/base/memory.h '#include "cleave/types.h"'
    put src/core/space/space.c '#include "base/memory.h"'
    put src/core/space/space.h ''
    put src/methods/kd/kd.h '#include "space/space.h"'
    put src/physics/sim/sim.c '#include "sim/sim.h"' '#include "base/memory.h"'
    put src/physics/sim/sim.h ''
    put peers/peer.c '#include "space/space.h"'
    put lab/base/text.c '#include "lab/base/text.h"' '#include "made_by_the_build.h"'
    put lab/base/text.h ''
    put lab/run/run.h '  #  include "lab/base/text.h"'
    put lab/main.c '#include "lab/run/run.h"' '#include "kd/kd.h"'
    put src/LAYERS 'core src/core:' '    base' '    space' 'methods src/methods: core' '    kd' 'physics src/physics: core' '    sim' \
        'peers peers: core' 'lab lab: core methods physics' '    base' '    run'
    put src/README.md 'core/' '   base/    memory' '   space/   the door' '' 'methods/' '   kd/   a tree' '' 'physics/' '   sim/   bodies'
    put lab/README.md 'lab/' '   base/   text' '   run/   runs'
}

# expect STATUS TEXT: of the tree as it is now; the next one is whole again.
expect()
{
    status=0
    "$check" layers "$folder/tree" >"$folder/said" 2>&1 || status=$?
    if [ "$status" != "$1" ] || ! grep -qF -- "$2" "$folder/said"; then
        echo "bites.sh: expected status $1 and '$2', got $status and:" >&2
        cat "$folder/said" >&2
        exit 1
    fi
    tree
}

tree
expect 0 'includes point one way through 6 folders'
put src/core/base/memory.h '#include "space/space.h"'
expect 1 'src/core/base/memory.h:1: core/base may not include core/space, which comes after it'
put src/core/space/space.c '#include "base/memory.h"' '#include "kd/kd.h"'
expect 1 'src/core/space/space.c:2: core/space may not include methods/kd: core does not stand on methods'
put src/physics/sim/sim.c '#include "kd/kd.h"'
expect 1 'physics/sim may not include methods/kd'
put src/methods/kd/kd.h '#include "lab/base/text.h"'
expect 1 'methods/kd may not include lab/base'
put lab/base/text.c '  # include "lab/run/run.h"'
expect 1 'lab/base may not include lab/run'
put lab/main.h ''
put lab/run/run.h '#include "lab/main.h"'
expect 1 'lab/run may not include lab/, which comes after it'
put include/cleave/types.h '#include "base/memory.h"'
expect 1 'a public header includes what is not public'
put src/core/query/ray.c ''
expect 1 'core/query: this folder is not in src/LAYERS'
rm -r "$folder/tree/lab/run"
put lab/main.c ''
expect 1 'src/LAYERS names lab/run, and there is no such folder'
put src/physics/base/memory.h ''
expect 1 'base/memory.h may mean src/core/base/memory.h or src/physics/base/memory.h'
put src/README.md 'core/' '   space/   the door' '   base/    memory' '' 'methods/' '   kd/   a tree' '' 'physics/' '   sim/   bodies'
expect 1 'src/README.md shows another order'
put lab/README.md 'lab/' '   base/   text'
expect 1 'lab/README.md shows another order'
put src/core/space/space.c '#include "kd/kd.h"'
echo 'except core/space methods/kd' >>"$folder/tree/src/LAYERS"
expect 0 'includes point one way'
echo 'except core/space methods/kd' >>"$folder/tree/src/LAYERS"
expect 0 'core/space no longer includes methods/kd; delete the exception'
rm "$folder/tree/src/LAYERS"
expect 2 'src/LAYERS: cannot be read'
echo "bites.sh: what points the wrong way is noticed"
