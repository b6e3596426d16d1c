#!/bin/sh
# SPDX-License-Identifier: MIT
# Jobs over processes.
#   mpi.sh hashes BUILD [WHAT...]       the hash of a scene's pairs on 1, 2, 3, 4, 7, 8 and 16 processes
#                                       beside that of one core, as a table; without WHAT the scenes of
#                                       `cleave run demo`. COUNTS="1 2 3" asks for other numbers of processes,
#                                       FRAMES=4 for fewer frames. Exit 1 where two differ.
#   mpi.sh bundle FOLDER PROGRAM...     programs together with the Open MPI they were built for, in one folder
#                                       that runs on a bare machine of the same architecture whose glibc is
#                                       not older. There: FOLDER/mpi -n 4 FOLDER/PROGRAM ... For Debian's Open
#                                       MPI; of its plugins only those that processes of one machine need.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

hash_of()
{
    sed -n 's/.*"pairs_hash"[^0]*\(0x[0-9a-f]*\).*/\1/p' "$1"
}

hashes()
{
    build=$(cd "${1:?usage: mpi.sh hashes BUILD [WHAT...]}" && pwd)
    shift
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 130' INT TERM
    counts=${COUNTS:-1 2 3 4 7 8 16}
    frames=${FRAMES:+--frames $FRAMES}
    if [ $# = 0 ]; then
        window=$(sed -n 's/^window *//p' "$root/lab/schedules/demo.schedule")
        for scene in $(sed -n 's/^scenes *//p' "$root/lab/schedules/demo.schedule"); do
            set -- "$@" "$scene:8k@$window"
        done
    fi

    echo "| scene | one core | processes | agree |"
    echo "| --- | --- | --- | --- |"
    status=0
    for what in "$@"; do
        # shellcheck disable=SC2086 # none, or two words
        "$build/cleave" bench "$what" -m cleave --warmup 0 --repeat 1 -q $frames --json "$folder/one.json" >/dev/null
        one=$(hash_of "$folder/one.json")
        agree=yes
        for count in $counts; do
            # shellcheck disable=SC2086
            "$root/scripts/check.sh" mpi "$build/cleave-mpi" "$count" bench "$what" --warmup 0 --repeat 1 $frames --json "$folder/many.json" >/dev/null
            many=$(hash_of "$folder/many.json")
            [ -n "$one" ] && [ "$many" = "$one" ] || { agree="no: $many on $count"; status=1; }
        done
        echo "| $what | \`$one\` | $(echo "$counts" | sed 's/ /, /g') | $agree |"
    done
    exit $status
}

bundle()
{
    folder=${1:?usage: mpi.sh bundle FOLDER PROGRAM...}
    shift
    [ $# -gt 0 ] || { echo 'usage: mpi.sh bundle FOLDER PROGRAM...' >&2; exit 2; }
    launcher=$(readlink -f "$(command -v mpirun)") || { echo "mpi.sh bundle: no mpirun here (Debian: openmpi-bin)" >&2; exit 2; }
    libraries=$(ldd "$launcher" | sed -n 's/.*libopen-rte[^ ]* => \([^ ]*\) .*/\1/p')
    libraries=$(dirname "$(readlink -f "$libraries")")
    plugins=$(find "$libraries" -type d -name 'openmpi3' | head -n 1)
    pmix=$(find /usr/lib -type d -path '*/pmix2/lib/pmix' | head -n 1)
    [ -n "$plugins" ] || { echo "mpi.sh bundle: no plugins of Open MPI below $libraries" >&2; exit 2; }

    bundle="$folder/root"
    # Where OPAL_PREFIX looks, since Debian's prefix is /usr.
    inside="$bundle${plugins#/usr}"
    mkdir -p "$bundle/bin" "$bundle/lib" "$inside" "$bundle/share/openmpi"
    for plugin in "$plugins"/mca_*.so; do
        case $(basename "$plugin") in
            *ofi*|*ucx*|*psm*|*openib*|*monitoring*|*flux*|*slurm*|*jsm*|*gridengine*|*simulator*|*treematch*) ;;
            *memheap*|*scoll*|*spml*|*sshmem*|*atomic*|*romio*|*fcoll*|*sharedfp*|*osc_*|*adapt*|*_han.so) ;;
            *) cp "$plugin" "$inside/" ;;
        esac
    done
    if [ -n "$pmix" ]; then
        mkdir -p "$bundle/pmix2/lib/pmix"
        cp "$pmix"/*.so "$bundle/pmix2/lib/pmix/" 2>/dev/null || true
        # An example of a path where pmix looks for words: without them its complaints are mute, no more.
        [ ! -d "${pmix%/lib/pmix}/share" ] || cp -r "${pmix%/lib/pmix}/share" "$bundle/pmix2/"
    fi
    cp /usr/share/openmpi/help-*.txt "$bundle/share/openmpi/" 2>/dev/null || true
    cp "$launcher" "$bundle/bin/mpirun"
    cp "$(readlink -f "$(command -v orted)")" "$bundle/bin/orted"
    for program in "$@"; do
        cp "$program" "$folder/"
    done
    # What they load; glibc is the machine's own.
    for file in "$bundle"/bin/* "$inside"/*.so "$bundle"/pmix2/lib/pmix/*.so "$@"; do
        [ -f "$file" ] || continue
        ldd "$file" 2>/dev/null | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p'
    done | sort -u | while read -r library; do
        case $(basename "$library") in
            libc.so*|libm.so*|libdl.so*|libpthread.so*|librt.so*|ld-linux*) ;;
            *) cp -L "$library" "$bundle/lib/" ;;
        esac
    done
    strip "$bundle"/bin/* "$bundle"/lib/* "$inside"/*.so 2>/dev/null || true
    for program in "$@"; do
        strip "$folder/$(basename "$program")" 2>/dev/null || true
    done
    cat >"$folder/mpi" <<'EOF'
#!/bin/sh
# mpirun of this folder.
here=$(cd "$(dirname "$0")" && pwd)
export OPAL_PREFIX="$here/root" PMIX_INSTALL_PREFIX="$here/root/pmix2" LD_LIBRARY_PATH="$here/root/lib" PATH="$here/root/bin:$PATH"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl=self,vader OMPI_MCA_plm_rsh_agent=sh OMPI_MCA_plm=isolated PMIX_MCA_pcompress_base_silence_warning=1
# hwloc would load OpenCL's drivers, of which one may abort.
export HWLOC_COMPONENTS="${HWLOC_COMPONENTS:--opencl}"
exec "$here/root/bin/mpirun" "$@"
EOF
    chmod +x "$folder/mpi"
}

case ${1:-} in
hashes | bundle) "$@" ;;
*)
    echo "mpi.sh: unknown step '${1:-}'; use hashes or bundle" >&2
    exit 2
    ;;
esac
