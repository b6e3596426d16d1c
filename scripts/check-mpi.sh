#!/bin/sh
# SPDX-License-Identifier: MIT
# A test over processes: check-mpi.sh PROGRAM COUNTS [ARGUMENT...], with each number of processes in turn, on however few cores.
# By $MPIRUN, which must be that of the MPI the program was linked with, or mpirun; exit 77 where there is none.
set -eu
program=${1:?usage: check-mpi.sh PROGRAM COUNTS [ARGUMENT...]}
counts=${2:?usage: check-mpi.sh PROGRAM COUNTS [ARGUMENT...]}
shift 2
mpirun=${MPIRUN:-mpirun}
command -v "$mpirun" >/dev/null || { echo "check-mpi.sh: SKIPPED: no $mpirun here (Debian: openmpi-bin)"; exit 77; }
# Open MPI asks twice before it starts anything for root, as in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# One machine, with or without a network; more processes than cores take turns.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
for count in $counts; do
    timeout -k 10 "${MPI_SECONDS:-300}" "$mpirun" -n "$count" "$program" "$@"
done
