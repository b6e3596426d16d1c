// SPDX-License-Identifier: MIT
// The program `cleave-mpi`, started by mpirun: scenes on many processes.
#include "cleave/methods.h"
#include "lab/base/args.h"
#include "lab/base/interrupt.h"
#include "lab/base/progress.h"
#include "lab/measure/plugin.h"
#include "lab/mpi_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char s_help[] =
    "Usage: mpirun -n P cleave-mpi [--plugin FILE]... COMMAND WHAT [flags]\n"
    "\n"
    "Scenes on many processes, with one answer. More processes than cores: mpirun --oversubscribe -n P.\n"
    "\n"
    "  bench WHAT        time frames on P processes; the slowest counts\n"
    "  verify WHAT       compare them, frame by frame, with one process\n"
    "  gen SCENE -o F    bake a contact-free scene, each process its part of the file\n"
    "  net               what messages between processes cost\n"
    "  plan WHAT -P N    cut WHAT for N processes and count what they would send, without running them\n"
    "\n"
    "WHAT is a .aabbs file or a scene such as brownian-free:8m, as `cleave bench` takes it. Of a file every process reads its range,\n"
    "of a contact-free scene it makes its part; other scenes process 0 bakes and deals out.\n"
    "\n"
    "  --frames F        frames after the initial one (default: all, at most 60; plan: 1, and the last is counted)\n"
    "  --seed S          seed of the scene (default 1)\n"
    "  --threads T       threads of each process (default 1)\n"
    "  --json OUT        bench, net, plan: write the result as JSON; - is standard output\n"
    "  -q, --quiet       no progress\n"
    "bench and verify:\n"
    "  -m METHOD         of the space in each process: cleave (default), sap@avx2, any of our own; --plugin FILE, before the command, loads more\n"
    "  --set P=V,...     parameters of that method\n"
    "  --device NAME|N   device of a method on a GPU, such as -m gpu (default the fastest of each process's machine)\n"
    "  --cutter C        who cuts space: zoltan (default where it was built in) or bisection, our own\n"
    "  --borrowed        objects stay where they were added; only ghosts travel\n"
    "  --by-time         balance by measured time, not by counters\n"
    "bench:\n"
    "  --warmup W        untimed passes (default 1)\n"
    "  --repeat R        timed passes, each from a fresh space; of net too (default 3)\n"
    "  --scattered       begin with objects shared out by number; else each begins where it lies\n"
    "  --alone           every process a world of its own at the same time: what the machine gives without any exchange\n"
    "  --checkpoint PATH  one pass, saved to PATH.manifest and parts beside it, with PATH.bench, every N frames and at the end\n"
    "  --every N         frames between checkpoints (default 10)\n"
    "  --resume PATH     go on from a checkpoint of the same WHAT, on any number of processes: one pass, and the hash of a run in one go\n"
    "gen:\n"
    "  -n N              bodies (default 8k)\n"
    "  --type TYPE       cubes or assorted (default cubes)\n"
    "  --from F0         frame of the run to begin with\n"
    "  --split           cut each body in 8: objects = 8 N\n"
    "plan:\n"
    "  -P N              processes to plan for\n"
    "  --sample S        of a contact-free scene, only S bodies are made, and each stands for as many as it takes\n"
    "\n"
    "--help prints this, --version the version.\n"
    "A frame is timed from handing over the boxes to the list. Exit 1 where verify finds a difference, 2 for bad input.\n"
    "\n"
    "Examples:\n"
    "  mpirun -n 4 cleave-mpi verify brownian-free:8k --frames 10\n"
    "  mpirun -n 4 cleave-mpi bench brownian-free:1m --frames 10 --json many.json\n"
    "  mpirun -n 2 cleave-mpi gen brownian-free -n 1m --frames 10 -o free.aabbs\n"
    "  mpirun -n 2 cleave-mpi net\n"
    "  cleave-mpi plan brownian-free:1000m --sample 100k -P 4096\n";

static lab_status run( int argc, char** argv, int rank, int process_count )
{
    job_options o = { 0 };
    job j = { .o = &o, .rank = rank, .process_count = process_count };
    j.why.status = LAB_BAD_INPUT;
    // Words are alike on all processes, but files need not be.
    bool ok = job_agree( &j, plugin_load_words( &argc, &argv, &j.why ) ) &&
        job_parse( argc, argv, &o, &j.why ) && job_agree( &j, job_find_method( &j ) );
    progress_set_quiet( o.is_quiet || rank != 0 );
    j.comm = o.is_alone ? MPI_COMM_SELF : MPI_COMM_WORLD;
    j.share = o.is_alone ? 0 : rank;
    j.share_count = o.is_alone ? 1 : process_count;
    ok = ok &&
        ( o.command == 'b'         ? job_bench( &j )
                : o.command == 'v' ? job_verify( &j )
                : o.command == 'g' ? job_gen( &j )
                : o.command == 'n' ? job_net( &j )
                                   : job_plan( &j ) );
    if ( !ok && rank == 0 )
    {
        progress_clear_line();
        fprintf( stderr, "cleave-mpi: %s\n", j.why.text );
    }
    run_spec_list_free( &j.methods );
    return ok ? LAB_DONE : j.why.status;
}

static bool asks_for_help( int argc, char** argv )
{
    bool asks = argc > 1 && strcmp( argv[1], "help" ) == 0;
    for ( int i = 1; i < argc; ++i )
    {
        asks = asks || args_is_help( argv[i] );
    }
    return asks;
}

int main( int argc, char** argv )
{
    int given = 0, rank = 0, process_count = 0;
    MPI_Init_thread( &argc, &argv, MPI_THREAD_FUNNELED, &given );
    MPI_Comm_rank( MPI_COMM_WORLD, &rank );
    MPI_Comm_size( MPI_COMM_WORLD, &process_count );
    interrupt_install();
    clv_methods_register();
    lab_status status = LAB_DONE;
    if ( asks_for_help( argc, argv ) )
    {
        fputs( rank == 0 ? s_help : "", stdout );
    }
    else if ( argc > 1 && ( strcmp( argv[1], "--version" ) == 0 || strcmp( argv[1], "-V" ) == 0 ) )
    {
        printf( "%s%s%s", rank == 0 ? "cleave-mpi " : "", rank == 0 ? clv_version_text() : "",
            rank == 0 ? "\n" : "" );
    }
    else
    {
        status = run( argc, argv, rank, process_count );
    }
    // A full disk behind `cleave-mpi … > file` must not look like success.
    if ( fflush( stdout ) != 0 || ferror( stdout ) )
    {
        fputs( "cleave-mpi: standard output: cannot be written\n", stderr );
        status = status != LAB_DONE ? status : LAB_BAD_INPUT;
    }
    MPI_Finalize();
    return (int)status;
}
