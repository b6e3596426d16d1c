// SPDX-License-Identifier: MIT
// Every box against every other. The judge of all other methods, so it stays plain: no bounds, no order, no
// cleverness beyond keeping a tile of columns in the first-level cache.
#include "method/method.h"

#include "base/assertion.h"
#include "simd/box_lanes.h"
#include "task/gather.h"

enum
{
    TILE = 1024,     // columns: 24 KiB of bounds, and a multiple of every kernel's width
    BAND = 256,      // least rows of a piece
    BANDS_MOST = 64, // per tile
};

typedef struct brute
{
    const method_context* context;
    const simd_kernels* kernels;
    simd_box_lanes lanes;
    task_gather gather;
    uint32_t count;
    uint32_t band_rows; // rows of a piece; a multiple of TILE or a divisor of it
} brute;

static bool begin_brute( void* state, int variant )
{
    (void)variant;
    brute* self = state;
    self->kernels = clv_simd_kernels_for( self->context->isa );
    return true;
}

static void shrink_brute( void* state )
{
    brute* self = state;
    clv_task_gather_release( &self->gather, self->context->memory );
    clv_simd_box_lanes_release( &self->lanes, self->context->memory );
}

METHOD_CREATE( create_brute, brute, begin_brute, shrink_brute, 0 )
METHOD_DESTROY( destroy_brute, brute, shrink_brute )

static void load_boxes( brute* self, const clv_method_input* input )
{
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        CLV_ASSERT( slot < input->slot_count );
        simd_box_lanes_set( &self->lanes.boxes, i, &input->boxes[slot], slot, 0 );
    }
    clv_simd_box_lanes_finish( &self->lanes, input->live_count );
}

// Pieces are numbered tile by tile, and in a tile band by band: the bands of tile t cover the rows before its
// end.
static uint64_t bands_before( uint32_t tile, uint32_t band_rows )
{
    if ( band_rows <= TILE )
    {
        return (uint64_t)( TILE / band_rows ) * tile * ( tile + 1 ) / 2;
    }
    uint64_t tiles_per_band = band_rows / TILE;
    uint64_t whole = tile / tiles_per_band;
    return tiles_per_band * whole * ( whole + 1 ) / 2 + ( tile - whole * tiles_per_band ) * ( whole + 1 );
}

// The tile a piece lies in: the last one that does not begin behind it.
static uint32_t tile_of( uint64_t piece, uint32_t tile_count, uint32_t band_rows )
{
    uint32_t low = 0;
    uint32_t high = tile_count;
    while ( high - low > 1 )
    {
        uint32_t middle = low + ( high - low ) / 2;
        if ( bands_before( middle, band_rows ) <= piece )
        {
            low = middle;
        }
        else
        {
            high = middle;
        }
    }
    CLV_ASSERT( bands_before( low, band_rows ) <= piece && piece < bands_before( low + 1, band_rows ) );
    return low;
}

static uint32_t least( uint64_t a, uint64_t b )
{
    return (uint32_t)( a < b ? a : b );
}

// Columns of one tile against a band of rows.
static clv_result search_band(
    uint32_t piece, uint32_t worker, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    (void)worker;
    (void)test_count; // known beforehand
    brute* self = context;
    const simd_kernels* kernels = self->kernels;
    uint32_t tile_count = ( self->count + TILE - 1 ) / TILE;
    uint32_t tile = tile_of( piece, tile_count, self->band_rows );
    uint64_t band = piece - bands_before( tile, self->band_rows );
    uint32_t column_begin = tile * TILE;
    uint32_t column_end = least( (uint64_t)column_begin + TILE, self->count );
    uint32_t row_end = least( ( band + 1 ) * self->band_rows, column_end );
    simd_cursor cursor = { least( band * self->band_rows, row_end ), 0 };
    CLV_ASSERT( column_begin < column_end && row_end <= column_end );
    clv_result result = CLV_OK;
    PAIR_SINK_DRIVE( result, sink,
        kernels->test_block( &self->lanes.boxes, row_end, column_begin, column_end, &cursor, sink ) )
    return result;
}

// Enough pieces for many workers, few enough to be worth numbering.
static uint32_t choose_band_rows( uint32_t count )
{
    uint64_t rows = BAND;
    while ( rows * BANDS_MOST < count )
    {
        rows *= 2;
    }
    CLV_ASSERT( TILE % rows == 0 || rows % TILE == 0 );
    return (uint32_t)rows;
}

static clv_result update_brute(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    brute* self = state;
    const method_context* context = self->context;
    method_stopwatch watch = method_stopwatch_start( context );
    uint32_t count = input->live_count;
    if ( !clv_simd_box_lanes_reserve( &self->lanes, context->memory, count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    load_boxes( self, input );
    self->count = count;
    self->band_rows = choose_band_rows( count );
    counters->update_ms = method_stopwatch_lap( &watch );

    uint32_t tile_count = ( count + TILE - 1 ) / TILE;
    uint32_t piece_count = (uint32_t)bands_before( tile_count, self->band_rows );
    clv_result result = clv_task_gather_run( &self->gather, context->memory, context->tasks, piece_count,
        search_band, self, sink, &counters->test_count );
    counters->search_ms = method_stopwatch_lap( &watch );
    counters->test_count = count > 0 ? (uint64_t)count * ( count - 1 ) / 2 : 0;
    return result;
}

const clv_method clv_method_brute = {
    METHOD_OWN,
    .name = "brute",
    .family = "brute force",
    .source = "own",
    .time_cost = "O(n^2)",
    .space_cost = "O(n)",
    .remarks = "naive: each against all that follow",
    .has_isa = true,
    .has_threads = true,
    .create = create_brute,
    .destroy = destroy_brute,
    .update = update_brute,
    .shrink = shrink_brute,
};
