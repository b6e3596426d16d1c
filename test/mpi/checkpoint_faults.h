// SPDX-License-Identifier: MIT
// What test_mpi_checkpoint does when it is started by itself, by scripts/check.sh mpi-faults: on a small
// disk, with a process that dies, with several workers in each process.
#pragma once

void a_full_disk_is_said( void );
void a_killed_process_is_noticed( void );
void workers_of_each_process_do_not_meet( void );
