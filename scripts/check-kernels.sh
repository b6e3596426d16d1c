#!/bin/sh
# SPDX-License-Identifier: MIT
# Are the kernels OpenCL C 1.2 without a warning? By clang, which PoCL and several drivers are made of. Status 77: there is none.
set -eu
cd "$(dirname "$0")/../src/gpu/kernels"
clang=${CLANG:-clang}
command -v "$clang" >/dev/null 2>&1 || { echo "skipped: no clang here"; exit 77; }
status=0
solid=../../core/solid # headers that are OpenCL C too
for program in *.cl; do
    shared=
    case $program in # as gpu_program.c has it
        common.cl | solid.cl | cells.cl | core.cl) continue ;;
        volume.cl) shared="$solid/solid_math.h solid.cl" ;;
        match.cl) shared="$solid/solid_math.h solid.cl $solid/solid_polar.h $solid/solid_match.h" ;;
        narrow.cl) shared="$solid/solid_math.h solid.cl core.cl $solid/solid_gjk.h $solid/solid_epa.h" ;;
        grid.cl | rest.cl) shared=cells.cl ;;
    esac
    cat common.cl $shared "$program" | "$clang" -x cl -cl-std=CL1.2 -DGROUP=256 -DQUEUE=2048 -fsyntax-only -Xclang \
        -finclude-default-header -Wall -Wextra -Werror - || { echo "check-kernels.sh: $program (lines count from common.cl)" >&2; status=1; }
done
# Every kernel of the files is in the table of gpu_state.h, and the other way round.
sed -n 's/^__kernel void \([a-z_]*\)(.*/\1/p' ./*.cl | sort >/tmp/kernels.$$
sed -n 's/^    KERNEL( \([a-z_]*\),.*/\1/p' ../gpu_state.h | sort >/tmp/table.$$
diff /tmp/kernels.$$ /tmp/table.$$ || { echo "check-kernels.sh: '<' is in the files, '>' in the table" >&2; status=1; }
rm -f /tmp/kernels.$$ /tmp/table.$$
exit $status
