// SPDX-License-Identifier: MIT
#include "engine/segments.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    SEGMENT_SLACK = 24,
    UPDATES_AHEAD = 4 // updates that a segment should last, should it grow
};

static const uint64_t NO_ROOM = UINT32_MAX; // more than there can be records: none is left

// A fill while it is under way.
typedef struct segments_job
{
    engine_segments* segments;
    segments_put* put;
    void* context;
    bool is_again; ///< counted once in this update
    uint32_t redo_count;
    uint32_t redo[SEGMENTS_PIECES]; ///< pieces to redo
} segments_job;

// Records in a segment if it goes on growing as it did, or by an eighth of what it has: another grid makes it
// jump once.
static uint32_t count_after( const cell_segment* segment, uint32_t updates )
{
    uint32_t growth = segment->count > segment->last_count ? segment->count - segment->last_count : 0;
    uint32_t most = segment->count / 8;
    return segment->count + ( growth < most ? growth : most ) * updates;
}

// Segments begin with a line.
static uint32_t whole_lines( uint32_t count )
{
    const uint32_t line = BASE_ALIGNMENT / sizeof( cell_record );
    return ( count + line - 1 ) / line * line;
}

static uint64_t segment_count( const engine_segments* segments )
{
    return (uint64_t)segments->target_count * segments->piece_count;
}

// Segments for other targets or pieces than the last ones: empty, so that the first pass only counts.
static bool reserve_items( engine_segments* segments, base_memory* memory, uint32_t targets, uint32_t pieces )
{
    if ( segments->target_count == targets && segments->piece_count == pieces )
    {
        return true;
    }
    segments->target_count = 0;
    if ( !base_array_reserve( &segments->list, memory, (uint64_t)targets * pieces ) )
    {
        return false;
    }
    memset( segments->list.items, 0, (size_t)targets * pieces * sizeof( cell_segment ) );
    memset( segments->is_tight, 0, sizeof( segments->is_tight ) );
    segments->target_count = targets;
    segments->piece_count = pieces;
    segments->room = NO_ROOM;
    return true;
}

// Will every segment be wide enough, as things are going?
static bool segments_fit( const engine_segments* segments )
{
    bool all = true;
    for ( uint32_t piece = 0; piece < segments->piece_count; ++piece )
    {
        all = all && !segments->is_tight[piece];
    }
    return all;
}

// Room for what will be in each segment, and a few more; and for some segments to move. False if out of
// memory.
static bool widen_all( engine_segments* segments, base_memory* memory )
{
    uint32_t ahead = segments->room == NO_ROOM ? 0 : UPDATES_AHEAD; // the first time growth is not known
    uint64_t sum = 0;
    for ( uint64_t i = 0; i < segment_count( segments ); ++i )
    {
        cell_segment* segment = &segments->list.items[i];
        segment->first = (uint32_t)sum;
        segment->capacity = whole_lines( count_after( segment, ahead ) + segment->count / 8 + SEGMENT_SLACK );
        sum += segment->capacity;
    }
    bool ok = sum <= UINT32_MAX / 2 && base_array_renew( &segments->records, memory, sum + sum / 16 );
    segments->target_count = ok ? segments->target_count : 0;
    segments->room = sum;
    segments->layout_number += 1;
    CLV_ASSERT( !ok || segments->records.capacity >= sum );
    return ok;
}

// Wider segments for one piece, where too much came for them, behind all others. False if there is no room.
static bool widen_piece( engine_segments* segments, uint32_t piece )
{
    cell_segment* items = segments->list.items + (size_t)piece * segments->target_count;
    uint64_t sum = segments->room;
    segments->layout_number += 1;
    for ( uint32_t target = 0; target < segments->target_count; ++target )
    {
        cell_segment* segment = &items[target];
        if ( segment->count > segment->capacity )
        {
            segment->first = (uint32_t)sum;
            segment->capacity =
                whole_lines( count_after( segment, UPDATES_AHEAD ) + segment->count / 4 + SEGMENT_SLACK );
            sum += segment->capacity;
        }
        if ( sum > segments->records.capacity )
        {
            return false;
        }
    }
    segments->room = sum;
    return true;
}

// The pieces of which too much came for some segment, and wider segments for these, behind all others. False
// if there is no room for them.
static bool widen_some( segments_job* job )
{
    engine_segments* segments = job->segments;
    job->redo_count = 0;
    for ( uint32_t piece = 0; piece < segments->piece_count; ++piece )
    {
        if ( segments->is_over[piece] )
        {
            job->redo[job->redo_count++] = piece;
            if ( !widen_piece( segments, piece ) )
            {
                return false;
            }
        }
    }
    return true;
}

static void put_piece( uint32_t piece, uint32_t worker, void* context )
{
    const segments_job* job = context;
    engine_segments* segments = job->segments;
    cell_segment* items = segments->list.items + (size_t)piece * segments->target_count;
    for ( uint32_t target = 0; target < segments->target_count; ++target )
    {
        items[target].last_count = job->is_again ? items[target].last_count : items[target].count;
        items[target].count = 0;
    }
    job->put( piece, worker, items, segments->records.items, job->context );
    // Here, where they were counted: the calling thread would ask for the lines of all workers.
    bool is_over = false, is_tight = false;
    for ( uint32_t target = 0; target < segments->target_count; ++target )
    {
        is_over |= items[target].count > items[target].capacity;
        is_tight |= count_after( &items[target], 1 ) > items[target].capacity;
    }
    segments->is_over[piece] = is_over;
    segments->is_tight[piece] = is_tight;
}

static void put_again( uint32_t index, uint32_t worker, void* context )
{
    const segments_job* job = context;
    CLV_ASSERT( job->is_again && index < job->redo_count );
    put_piece( job->redo[index], worker, context );
}

#if !defined( NDEBUG ) && defined( CLV_VALIDATE_ENABLED )
static bool has_room( const engine_segments* segments )
{
    bool has = true;
    for ( uint64_t i = 0; i < segment_count( segments ); ++i )
    {
        has = has && segments->list.items[i].count <= segments->list.items[i].capacity;
    }
    return has;
}
#endif

bool clv_engine_segments_fill( engine_segments* segments, base_memory* memory, task_runner* tasks,
    uint32_t target_count, uint32_t piece_count, segments_put* put, void* context )
{
    CLV_ASSERT( piece_count <= SEGMENTS_PIECES );
    if ( !reserve_items( segments, memory, target_count, piece_count ) ||
        ( !segments_fit( segments ) && !widen_all( segments, memory ) ) )
    {
        return false;
    }
    segments_job job;
    job.segments = segments;
    job.put = put;
    job.context = context;
    job.is_again = false;
    clv_task_run( tasks, put_piece, piece_count, &job );
    job.is_again = true;
    if ( widen_some( &job ) )
    {
        clv_task_run( tasks, put_again, job.redo_count, &job );
        CLV_VALIDATE( has_room( segments ) );
        return true;
    }
    if ( !widen_all( segments, memory ) )
    {
        return false;
    }
    clv_task_run( tasks, put_piece, piece_count, &job );
    CLV_VALIDATE( has_room( segments ) );
    return true;
}

uint32_t clv_engine_segments_count( const engine_segments* segments, uint32_t target )
{
    CLV_ASSERT( target < segments->target_count );
    uint32_t sum = 0;
    for ( uint32_t piece = 0; piece < segments->piece_count; ++piece )
    {
        sum += segments->list.items[(size_t)piece * segments->target_count + target].count;
    }
    return sum;
}

// A copy, since it asks for many lines of other workers' at once, where the loops that count and place ask
// for one after the other; and what is placed together then depends on slots alone, not on pieces.
uint32_t clv_engine_segments_bring( const engine_segments* segments, uint32_t target, cell_record* records )
{
    CLV_ASSERT( target < segments->target_count );
    cell_segment near[SEGMENTS_PIECES]; // all are asked for before the first one has come
    for ( uint32_t piece = 0; piece < segments->piece_count; ++piece )
    {
        near[piece] = segments->list.items[(size_t)piece * segments->target_count + target];
    }
    uint32_t count = 0;
    for ( uint32_t piece = 0; piece < segments->piece_count; ++piece )
    {
        CLV_ASSERT( near[piece].count <= near[piece].capacity );
        memcpy( records + count, segments->records.items + near[piece].first,
            near[piece].count * sizeof( cell_record ) );
        count += near[piece].count;
    }
    return count;
}

void clv_engine_segments_release( engine_segments* segments, base_memory* memory )
{
    base_array_free( &segments->list, memory );
    base_array_free( &segments->records, memory );
    *segments = ( engine_segments ){ 0 };
}
