# shellcheck shell=bash disable=SC2154,SC2164 # check.sh sets root and folder, and set -e
# SPDX-License-Identifier: MIT
# Kernels, devices and drivers: for scripts/check.sh.

# Are the kernels OpenCL C 1.2 without a warning? By clang, which PoCL and several drivers are made
# of. Usage: check.sh kernels
check_kernels()
{
    cd "$root/src"
    clang=${CLANG:-clang}
    command -v "$clang" >/dev/null 2>&1 || skip "no $clang here"
    status=0
    solid=core/solid # headers that are OpenCL C too
    kdop=kdop/kernels
    for program in gpu/kernels/*.cl $kdop/*.cl; do
        shared=
        case $program in # as gpu_program.c and gpu_guest.c have it
            */common.cl | */solid.cl | */cells.cl | */core.cl) continue ;;
            */volume.cl) shared="kdop/gpu_body_layout.h $solid/solid_math.h $kdop/solid.cl" ;;
            */match.cl) shared="kdop/gpu_body_layout.h $solid/solid_math.h $kdop/solid.cl $solid/solid_polar.h $solid/solid_match.h" ;;
            */narrow.cl) shared="kdop/gpu_body_layout.h $solid/solid_math.h $kdop/solid.cl $kdop/core.cl $solid/solid_gjk.h $solid/solid_epa.h" ;;
            */grid.cl | */rest.cl | */near.cl) shared=gpu/kernels/cells.cl ;;
        esac
        # shellcheck disable=SC2086 # a list of files
        cat gpu/gpu_layout.h gpu/kernels/common.cl $shared "$program" | "$clang" -x cl -cl-std=CL1.2 -DGROUP=256 -DQUEUE=2048 -fsyntax-only -Xclang \
            -finclude-default-header -Wall -Wextra -Werror - || { echo "check.sh kernels: $program (lines count from gpu_layout.h)" >&2; status=1; }
    done
    # Every kernel of the files is in the tables of gpu_state.h and gpu_bodies.h, and the other way round.
    sed -n 's/^__kernel void \([a-z_]*\)(.*/\1/p' gpu/kernels/*.cl $kdop/*.cl | sort >"$folder/kernels"
    sed -n 's/^    KERNEL( \([a-z_]*\),.*/\1/p' gpu/gpu_state.h kdop/gpu_bodies.h | sort >"$folder/table"
    diff "$folder/kernels" "$folder/table" || { echo "check.sh kernels: '<' is in the files, '>' in the tables" >&2; status=1; }
    exit $status
}

# Small worlds through every kernel under Oclgrind, which knows each byte that a work item touches: no access
# outside a buffer, no race, no call that OpenCL refuses. Usage: check.sh oclgrind TEST...
check_oclgrind()
{
    need oclgrind test
    # Debian keeps its library beside the loader of drivers, and the program loads what CLEAVE_OPENCL names.
    library=""
    for place in /usr/lib/oclgrind /usr/lib/*/oclgrind /usr/local/lib; do
        [ ! -e "$place/liboclgrind-rt.so" ] || library=$place/liboclgrind-rt.so
    done
    [ -n "$library" ] || skip "oclgrind is here, and its liboclgrind-rt.so is not"
    # Its count of local memory is that of all kernels of a file together, which no device would ask for. No
    # --log: every context would begin that file anew.
    for program in "$@"; do
        status=0
        CLEAVE_OPENCL=$library XDG_CACHE_HOME=$folder oclgrind --data-races --check-api --local-mem-size 131072 --max-errors 20 \
            "$program" small_ >"$folder/said" 2>&1 || status=$?
        grep -q 'RUN.*small_' "$folder/said" || fail "$program: nothing was run"
        if [ $status -ne 0 ] || grep -qE 'data race|Invalid|Oclgrind -|divergence' "$folder/said"; then
            cat "$folder/said"
            fail "$program: status $status, and what is said above"
        fi
        grep PASSED "$folder/said"
    done
}

# The program of docs/gpu.md prints what the page says behind it, and without OpenCL says why it does not.
# Usage: check.sh gpu-docs CC LIBRARY...: the libraries to link, in their order. Skipped
# where there is no device.
check_gpu_docs()
{
    [ $# -ge 1 ] || misused "CC LIBRARY..."
    cc=$1
    shift

    # The first block of C, and what is said to be printed behind it.
    awk -v folder="$folder" '
        /^```c$/ && !count { count = 1; inside = 1; next }
        /^```$/ { inside = 0; next }
        inside { print > ( folder "/gpu.c" ) }
        count && !inside && /^prints `/ { sub( /^prints `/, "" ); sub( /`.*/, "" ); print > ( folder "/page" ); exit }
    ' "$root/docs/gpu.md"
    grep -q 'int main' "$folder/gpu.c" || fail "the page begins with no program"
    "$cc" -std=c17 -Wall -Wextra -Werror -I"$root/include" -o "$folder/gpu" "$folder/gpu.c" "$@" -lm -lpthread -ldl
    status=0
    CLEAVE_OPENCL=none "$folder/gpu" >"$folder/printed" 2>"$folder/why" || status=$?
    [ $status = 1 ] || fail "exit $status without OpenCL"
    grep -q 'CLEAVE_OPENCL=none' "$folder/why" || fail "no reason without OpenCL"
    "$folder/gpu" >"$folder/printed" 2>"$folder/why" || {
        grep -q -i 'no OpenCL\|no device\|is left out' "$folder/why" || fail "$(cat "$folder/why")"
        skip "$(cat "$folder/why")"
    }
    diff "$folder/page" "$folder/printed" >&2 || fail "not what docs/gpu.md says"
    echo "docs/gpu.md: its program prints what it says"
}

# refuses WORD COMMAND...: status 2, and one line on stderr that has the word.
refuses()
{
    word=$1
    shift
    status=0
    timeout 60 "$@" >"$folder/printed" 2>"$folder/said" || status=$?
    [ $status = 2 ] || fail "$*: exit $status"
    [ "$(wc -l <"$folder/said")" = 1 ] && grep -q -e "$word" "$folder/said" || fail "$*: $(cat "$folder/said")"
}

# What bench/gpu_frames and scripts/papers/bare.sh towers refuse: words that they do not know, and files that
# cannot be written, before anything is measured. Usage: check.sh gpu-bench BUILD
check_gpu_bench()
{
    [ $# -ge 1 ] || misused "BUILD"
    build=$(cd "$1" && pwd)

    frames=$build/bench/gpu_frames
    "$frames" --help | grep -q 'Scenes: tiles-512' || fail "no help"
    refuses 'nonsense: no such flag' "$frames" --nonsense
    refuses 'scene: needs a value' "$frames" --scene
    refuses 'nonsense: no scene' "$frames" --scene nonsense
    refuses 'threads: needs a number' "$frames" --threads x
    refuses 'none/gpu.csv: cannot be written: No such file' "$frames" --csv "$folder/none/gpu.csv"
    refuses nonsense "$root/scripts/papers/bare.sh" towers "$build/cleave" nonsense "$folder/towers"
    [ ! -e "$folder/towers/machine.txt" ] || fail "a device that is not there is in machine.txt"
    refuses usage "$root/scripts/papers/bare.sh" towers "$build/cleave"
    if [ -w /dev/full ] && "$build/cleave" methods | grep -q '^Devices'; then
        refuses 'CSV file could not be written' "$frames" --scene tiles-512 --csv /dev/full
    fi
    echo "gpu_frames and bare.sh towers: clear refusals"
}

without_sys()
{
    unshare $flags sh -c "$hide" sh "$cleave" "$@" >"$folder/said" 2>"$folder/errors" ||
        fail "cleave $* ended with status $?: $(tail -n 1 "$folder/errors")"
}

# PoCL aborts where /sys is empty, as in some containers and chroots. In such a place, made here by a mount
# namespace, `cleave methods` must name the driver and list everything else, and a method on the CPU must run.
# Usage: check.sh no-sys CLEAVE
check_no_sys()
{
    [ $# -ge 1 ] || misused "CLEAVE"
    cleave=$1
    "$cleave" methods | grep -q 'Portable Computing Language' || skip "no PoCL here"
    hide='mount -t tmpfs none /sys && exec "$@"'
    if unshare -m sh -c "$hide" sh true 2>/dev/null; then
        flags=-m
    elif unshare -Urm sh -c "$hide" sh true 2>/dev/null; then
        flags=-Urm
    else
        skip "no mount namespace may be made here"
    fi

    without_sys methods
    grep -q '^cleave ' "$folder/said" || fail "methods are not listed"
    grep 'No device .*pocl.*is left out: .* died of SIGABRT' "$folder/said" ||
        fail "PoCL is not named as a driver that died; did it learn to live without /sys?"
    [ ! -s "$folder/errors" ] || fail "a driver's words came through: $(cat "$folder/errors")"
    without_sys verify brownian-free:500 -m sap --frames 2 -q
    echo "without /sys: PoCL is named and left out, and the rest runs"
}
