#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs together with the Open MPI they were built for, in one folder that runs on a bare machine of the same architecture whose
# glibc is not older: mpi-bundle.sh FOLDER PROGRAM... Then, there: FOLDER/mpi -n 4 FOLDER/PROGRAM ...
# For Debian's Open MPI; of its plugins only those that processes of one machine need.
set -eu
folder=${1:?usage: mpi-bundle.sh FOLDER PROGRAM...}
shift
[ $# -gt 0 ] || { echo 'usage: mpi-bundle.sh FOLDER PROGRAM...' >&2; exit 2; }
launcher=$(readlink -f "$(command -v mpirun)") || { echo "mpi-bundle.sh: no mpirun here (Debian: openmpi-bin)" >&2; exit 2; }
libraries=$(ldd "$launcher" | sed -n 's/.*libopen-rte[^ ]* => \([^ ]*\) .*/\1/p')
libraries=$(dirname "$(readlink -f "$libraries")")
plugins=$(find "$libraries" -type d -name 'openmpi3' | head -n 1)
pmix=$(find /usr/lib -type d -path '*/pmix2/lib/pmix' | head -n 1)
[ -n "$plugins" ] || { echo "mpi-bundle.sh: no plugins of Open MPI below $libraries" >&2; exit 2; }

root="$folder/root"
# Where OPAL_PREFIX looks, since Debian's prefix is /usr.
inside="$root${plugins#/usr}"
mkdir -p "$root/bin" "$root/lib" "$inside" "$root/share/openmpi"
for plugin in "$plugins"/mca_*.so; do
    case $(basename "$plugin") in
        *ofi*|*ucx*|*psm*|*openib*|*monitoring*|*flux*|*slurm*|*jsm*|*gridengine*|*simulator*|*treematch*) ;;
        *memheap*|*scoll*|*spml*|*sshmem*|*atomic*|*romio*|*fcoll*|*sharedfp*|*osc_*|*adapt*|*_han.so) ;;
        *) cp "$plugin" "$inside/" ;;
    esac
done
if [ -n "$pmix" ]; then
    mkdir -p "$root/pmix2/lib/pmix"
    cp "$pmix"/*.so "$root/pmix2/lib/pmix/" 2>/dev/null || true
    # An example of a path where pmix looks for words: without them its complaints are mute, no more.
    [ ! -d "${pmix%/lib/pmix}/share" ] || cp -r "${pmix%/lib/pmix}/share" "$root/pmix2/"
fi
cp /usr/share/openmpi/help-*.txt "$root/share/openmpi/" 2>/dev/null || true
cp "$launcher" "$root/bin/mpirun"
cp "$(readlink -f "$(command -v orted)")" "$root/bin/orted"
for program in "$@"; do
    cp "$program" "$folder/"
done
# What they load; glibc is the machine's own.
for file in "$root"/bin/* "$inside"/*.so "$root"/pmix2/lib/pmix/*.so "$@"; do
    [ -f "$file" ] || continue
    ldd "$file" 2>/dev/null | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p'
done | sort -u | while read -r library; do
    case $(basename "$library") in
        libc.so*|libm.so*|libdl.so*|libpthread.so*|librt.so*|ld-linux*) ;;
        *) cp -L "$library" "$root/lib/" ;;
    esac
done
strip "$root"/bin/* "$root"/lib/* "$inside"/*.so 2>/dev/null || true
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
