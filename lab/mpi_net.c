// SPDX-License-Identifier: MIT
// `cleave-mpi net`: what a message costs between two processes, one pair at a time and all pairs at once, and what a small reduction
// over all costs. A message of b bytes takes about alpha + b / beta (R. W. Hockney, The communication challenge for MPP, Parallel
// Computing 20, 1994); docs/mpi.md uses both.
#include "lab/mpi_job.h"
#include "lab/result/output.h"
#include "lab/result/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
    SIZES = 11,
    REDUCTIONS = 2000
};

static const uint32_t s_sizes[SIZES] = { 8, 64, 512, 4096, 16384, 65536, 262144, 1048576, 2097152, 4194304,
    8388608 };

typedef struct net
{
    char* buffer;
    double one_us[SIZES], all_us[SIZES]; ///< from one process to the other
    double reduce_us;
} net;

static uint32_t rounds_for( uint32_t bytes )
{
    return bytes <= 4096 ? 1000 : bytes <= 262144 ? 100 : 20;
}

// There and back, in microseconds for one way. `partner` < 0: looks on.
static double ping( net* n, int partner, bool is_first, uint32_t bytes )
{
    uint32_t rounds = rounds_for( bytes );
    double start = MPI_Wtime();
    for ( uint32_t i = 0; partner >= 0 && i < rounds; ++i )
    {
        if ( is_first )
        {
            MPI_Send( n->buffer, (int)bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD );
            MPI_Recv( n->buffer, (int)bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE );
        }
        else
        {
            MPI_Recv( n->buffer, (int)bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE );
            MPI_Send( n->buffer, (int)bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD );
        }
    }
    return partner >= 0 ? ( MPI_Wtime() - start ) * 1e6 / ( 2.0 * rounds ) : 0;
}

// The slowest pair's time, the least of the repeats.
static double measure( net* n, const job* j, int partner, bool is_first, uint32_t bytes )
{
    double best = INFINITY;
    for ( uint64_t repeat = 0; repeat < j->o->repeat; ++repeat )
    {
        MPI_Barrier( MPI_COMM_WORLD );
        double mine = ping( n, partner, is_first, bytes ), slowest = 0;
        MPI_Allreduce( &mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD );
        best = slowest < best ? slowest : best;
    }
    return best;
}

static double measure_reductions( const job* j )
{
    double best = INFINITY;
    for ( uint64_t repeat = 0; repeat < j->o->repeat; ++repeat )
    {
        MPI_Barrier( MPI_COMM_WORLD );
        double start = MPI_Wtime();
        for ( int i = 0; i < REDUCTIONS; ++i )
        {
            int mine = i, all = 0;
            MPI_Allreduce( &mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD );
        }
        double mine = ( MPI_Wtime() - start ) * 1e6 / REDUCTIONS, slowest = 0;
        MPI_Allreduce( &mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD );
        best = slowest < best ? slowest : best;
    }
    return best;
}

// Bytes per microsecond beyond the smallest message.
static double beta_of( const double* us )
{
    return ( s_sizes[SIZES - 1] - s_sizes[5] ) / ( us[SIZES - 1] - us[5] );
}

static json_value* times_value( const double* us )
{
    json_value* list = json_array();
    for ( int i = 0; i < SIZES; ++i )
    {
        json_value* point = json_object();
        json_put_count( point, "bytes", s_sizes[i] );
        json_put_number( point, "us", floor( us[i] * 1e3 + 0.5 ) / 1e3 );
        json_put( list, NULL, point );
    }
    return list;
}

static json_value* net_document( const net* n, const job* j )
{
    json_value* value = json_object();
    json_put_count( value, "processes", (uint64_t)j->process_count );
    json_put_number( value, "alpha_us", floor( n->one_us[0] * 1e3 + 0.5 ) / 1e3 );
    json_put_number( value, "beta_gb_s", floor( beta_of( n->one_us ) ) / 1e3 );
    json_put_number( value, "beta_all_gb_s", floor( beta_of( n->all_us ) ) / 1e3 );
    json_put_number( value, "reduce_us", floor( n->reduce_us * 1e3 + 0.5 ) / 1e3 );
    json_put( value, "one_pair", times_value( n->one_us ) );
    json_put( value, "all_pairs", times_value( n->all_us ) );
    json_value* document = results_document( json_array(), NULL );
    json_put( document, "net", value );
    return document;
}

static bool report( const net* n, job* j, text_output* output )
{
    if ( !text_output_is_stdout( output ) )
    {
        printf( "%10s %12s %12s\n", "bytes", "one pair us", "all pairs us" );
        for ( int i = 0; i < SIZES; ++i )
        {
            printf( "%10u %12.2f %12.2f\n", s_sizes[i], n->one_us[i], n->all_us[i] );
        }
        printf( "alpha %.2f us, beta %.2f GB/s (%.2f with all pairs at once), a reduction over %d processes "
                "%.2f us\n",
            n->one_us[0], beta_of( n->one_us ) / 1e3, beta_of( n->all_us ) / 1e3, j->process_count,
            n->reduce_us );
    }
    return output->path == NULL || text_output_write_json( output, net_document( n, j ), &j->why );
}

static bool measure_all( job* j, text_output* output )
{
    net n = { .buffer = calloc( s_sizes[SIZES - 1], 1 ) };
    if ( !job_agree( j, n.buffer != NULL || lab_error_write( &j->why, "out of memory for a message" ) ) )
    {
        free( n.buffer );
        return false;
    }
    // Process 0 and the last; then every process with the one half the number of processes away.
    int last = j->process_count - 1, half = j->process_count / 2;
    int one = j->rank == 0 ? last : j->rank == last ? 0 : -1;
    int all = j->rank < half ? j->rank + half : j->rank < 2 * half ? j->rank - half : -1;
    for ( int i = 0; i < SIZES; ++i )
    {
        n.one_us[i] = measure( &n, j, one, j->rank == 0, s_sizes[i] );
        n.all_us[i] = measure( &n, j, all, j->rank < half, s_sizes[i] );
    }
    n.reduce_us = measure_reductions( j );
    free( n.buffer );
    return job_agree( j, j->rank != 0 || report( &n, j, output ) );
}

bool job_net( job* j )
{
    if ( j->process_count < 2 )
    {
        return lab_error_write( &j->why, "net needs two processes or more: mpirun -n 2" );
    }
    text_output output = { 0 };
    bool ok = job_agree( j, j->rank != 0 || text_output_open_json( &output, j->o->json, &j->why ) ) &&
        measure_all( j, &output );
    text_output_close( &output );
    return ok;
}
