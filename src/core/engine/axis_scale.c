// SPDX-License-Identifier: MIT
// The scale on which boxes are sorted into cells.
//
// Worlds over many orders of magnitude: a galaxy and the pebbles of one planet. However a grid of equal cells
// is laid there, most boxes crowd into one cell. On the scale of the floats' own bits they do not: as an
// integer, a float grows with its logarithm (and with itself where it is denormal). So on an axis where a
// sample is told apart much better that way, boxes are copied to that scale, and everything that sorts them
// into cells sees the copies. Likewise in worlds so small that their cells per metre are no float any more,
// which are magnified. The maps are monotonic, so boxes that touch still touch; ties are decided by the boxes
// as given.
#include "engine/engine_internal.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <string.h>

enum
{
    AXES_LIFE = 8, // updates between two looks
    PIECE = 1 << 14,
    READ_SLACK = 8, // boxes that a kernel may read past the last
    EXPONENT = 1 << 23,
    SQUEEZE = 16,
};

static const float CROWDED = 0.2f;         // part of all tests that cells along an axis leave to be done
static const float GAIN = 3;               // and so many times less on the other scale
static const float WIDTH_LEAST = 2.6e-28f; // narrower worlds have no scale that is a float

// A float's bits without its sign: they grow with the value.
static inline uint32_t size_bits( float value )
{
    uint32_t bits;
    memcpy( &bits, &value, sizeof( bits ) );
    return bits & 0x7FFFFFFF;
}

// There are as many bits between 0 and the smallest value of a world as between that and its largest, or
// more.
static inline uint32_t squeeze( uint32_t bits, uint32_t gap )
{
    return bits < gap ? bits / SQUEEZE : bits - ( gap - gap / SQUEEZE );
}

// Monotonic in the value; -0 and +0 both become 0.
static inline float log_scale( float value, uint32_t gap )
{
    float size = (float)(int32_t)squeeze( size_bits( value ), gap );
    return value < 0 ? -size : size;
}

// value * 2^100, without arithmetic on denormals, which takes some processors a hundred cycles. What
// overflows is at infinity.
static inline float magnify( float value )
{
    uint32_t size = size_bits( value );
    float small = (float)size * 0x1p-49f; // a denormal is so many times 2^-149
    uint32_t small_bits;
    memcpy( &small_bits, &small, sizeof( small_bits ) );
    uint32_t large = size < EXPONENT * 155 ? size + EXPONENT * 100 : EXPONENT * 255;
    uint32_t bits = size < EXPONENT ? small_bits : large;
    float magnified;
    memcpy( &magnified, &bits, sizeof( bits ) );
    return value < 0 ? -magnified : magnified;
}

// Monotonic on every scale: what becomes equal is a tie.
static inline float scaled( float value, engine_scale scale )
{
    return scale.kind == ENGINE_PLAIN ? value
        : scale.kind == ENGINE_LOG    ? log_scale( value, scale.gap )
                                      : magnify( value );
}

// Some boxes along one axis.
typedef struct axis_sample
{
    float values[BLOCK_SAMPLES]; ///< lower faces, or the upper ones of boxes that have no lower
    float uppers[BLOCK_SAMPLES];
    uint32_t count;
} axis_sample;

static axis_sample sample_axis( const clv_method_input* input, int axis )
{
    axis_sample sample;
    sample.count = 0;
    uint32_t wanted = input->live_count < BLOCK_SAMPLES ? input->live_count : BLOCK_SAMPLES;
    for ( uint32_t i = 0; i < wanted; ++i )
    {
        const clv_aabb* box =
            &input->boxes[clv_method_live_slot( input, base_sample( i, wanted, input->live_count ) )];
        float lower = ( &box->lower.x )[axis], upper = ( &box->upper.x )[axis];
        float value = base_is_finite( (double)lower ) ? lower : upper;
        sample.values[sample.count] = value;
        sample.uppers[sample.count] = upper;
        sample.count += base_is_finite( (double)value );
    }
    return sample;
}

// What cells leave to be tested on a scale, and the width of the world there.
static float rest_of( const axis_sample* sample, engine_scale scale, float* width )
{
    float values[BLOCK_SAMPLES] = { 0 }, sizes[BLOCK_SAMPLES] = { 0 }, low, high, sum = 0;
    for ( uint32_t i = 0; i < sample->count; ++i )
    {
        values[i] = scaled( sample->values[i], scale );
        sizes[i] = scaled( sample->uppers[i], scale ) - values[i];
    }
    clv_engine_block_window( values, sample->count, &low, &high );
    *width = high - low;
    for ( uint32_t i = 0; i < sample->count; ++i )
    {
        sum += sizes[i] < *width ? sizes[i] : *width;
    }
    return clv_engine_cell_measure_rest( values, sample->count, low, high, sum / (float)sample->count );
}

// Below it lies a sixteenth of the sample.
static uint32_t gap_of( const axis_sample* sample )
{
    float sizes[BLOCK_SAMPLES];
    for ( uint32_t i = 0; i < sample->count; ++i )
    {
        sizes[i] = sample->values[i] < 0 ? -sample->values[i] : sample->values[i];
    }
    return size_bits( clv_engine_block_select( sizes, sample->count, sample->count / 16 ) );
}

static BASE_COLD engine_scale choose_scale( const clv_method_input* input, int axis )
{
    const engine_scale plain = { ENGINE_PLAIN, 0 };
    axis_sample sample = sample_axis( input, axis );
    if ( sample.count == 0 )
    {
        return plain;
    }
    float width, log_width;
    float rest = rest_of( &sample, plain, &width );
    if ( rest > CROWDED )
    {
        engine_scale log = { ENGINE_LOG, gap_of( &sample ) };
        if ( rest_of( &sample, log, &log_width ) * GAIN < rest )
        {
            return log;
        }
    }
    return width > 0 && width < WIDTH_LEAST ? ( engine_scale ){ ENGINE_MAGNIFIED, 0 } : plain;
}

uint32_t clv_engine_scaled_axes( const clv_engine* engine )
{
    const engine_axes* axes = &engine->axes;
    uint32_t count = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        count += axes->scales[axis].kind != ENGINE_PLAIN;
    }
    return count;
}

const clv_aabb* clv_engine_cut_boxes( const clv_engine* engine )
{
    const engine_scale* scales = engine->axes.scales;
    bool is_magnified = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        is_magnified = is_magnified || scales[axis].kind == ENGINE_MAGNIFIED;
    }
    return is_magnified ? engine->boxes : engine->exact;
}

// Look now and then.
static BASE_COLD void choose_axes( clv_engine* engine, const clv_method_input* input )
{
    engine_axes* axes = &engine->axes;
    bool any_other = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        engine_scale scale = choose_scale( input, axis );
        // Two samples of the same boxes differ a little; their scale need not.
        bool is_other = scale.kind != axes->scales[axis].kind;
        axes->scales[axis] = is_other ? scale : axes->scales[axis];
        any_other = any_other || is_other;
    }
    axes->age = 0;
    axes->count = input->live_count;
    axes->is_new = axes->is_new || any_other;
    engine->reasons |= any_other ? CLV_REASON_SCALE : 0;
}

// Boxes [first, last), all of them alive: where no axis is magnified, six faces of four boxes at a time and
// without a branch, so that the compiler makes vectors of them. An axis with a plain scale keeps its values.
static void copy_whole(
    const engine_axes* axes, const clv_aabb* from, clv_aabb* to, uint32_t first, uint32_t last )
{
    enum
    {
        BOXES = 4,
        FACES = 6 * BOXES
    };
    uint32_t gaps[FACES], plain[FACES];
    for ( uint32_t i = 0; i < FACES; ++i )
    {
        gaps[i] = axes->scales[i % 3].gap;
        plain[i] = axes->scales[i % 3].kind == ENGINE_PLAIN ? UINT32_MAX : 0;
    }
    for ( uint32_t box = first; box + BOXES <= last; box += BOXES )
    {
        uint32_t bits[FACES];
        memcpy( bits, &from[box], sizeof( bits ) );
        for ( uint32_t i = 0; i < FACES; ++i )
        {
            uint32_t size = bits[i] & 0x7FFFFFFF, sign = bits[i] & 0x80000000u;
            float squeezed = (float)(int32_t)squeeze( size, gaps[i] );
            uint32_t log;
            memcpy( &log, &squeezed, sizeof( log ) );
            bits[i] = ( plain[i] & bits[i] ) | ( ~plain[i] & ( log | sign ) );
        }
        memcpy( &to[box], bits, sizeof( bits ) );
    }
}

typedef struct copy_job
{
    const clv_method_input* input;
    engine_axes* axes;
} copy_job;

static void copy_scaled( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const copy_job* job = context;
    const clv_method_input* input = job->input;
    const engine_scale* scales = job->axes->scales;
    uint32_t first = piece * PIECE, left = input->live_count - first;
    uint32_t last = first + ( left < PIECE ? left : PIECE );
    CLV_ASSERT( first < last && last <= input->live_count );
    bool is_magnified = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        is_magnified = is_magnified || scales[axis].kind == ENGINE_MAGNIFIED;
    }
    if ( input->live == NULL && !is_magnified )
    {
        copy_whole( job->axes, input->boxes, job->axes->boxes.items, first, last );
        first = last - ( last - first ) % 4;
    }
    for ( uint32_t i = first; i < last; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        float faces[6];
        memcpy( faces, &input->boxes[slot], sizeof( faces ) );
        for ( int face = 0; face < 6; ++face )
        {
            faces[face] = scaled( faces[face], scales[face % 3] );
        }
        memcpy( &job->axes->boxes.items[slot], faces, sizeof( faces ) );
    }
}

static bool make_copies( clv_engine* engine, const clv_method_input* input )
{
    engine_axes* axes = &engine->axes;
    CLV_ASSERT( input->live_count > 0 );
    uint64_t slots = (uint64_t)clv_method_live_slot( input, input->live_count - 1 ) + 1;
    if ( !base_array_renew( &axes->boxes, engine->memory, slots + READ_SLACK ) )
    {
        return false;
    }
    copy_job job = { input, axes };
    uint32_t pieces = ( input->live_count + PIECE - 1 ) / PIECE;
    clv_task_run( clv_engine_tasks_for( engine, input->live_count ), copy_scaled, pieces, &job );
    return true;
}

bool clv_engine_axes_apply( clv_engine* engine, clv_method_input* input )
{
    engine_axes* axes = &engine->axes;
    uint32_t then = axes->count, count = input->live_count;
    bool is_alike = count <= then + then / 4 && count >= then - then / 4;
    // Few are searched sooner than looked at, unless the last search had trouble with them.
    bool is_worth = count > CELL_ALONE || axes->sharp_left > 0;
    if ( is_worth && ( !is_alike || axes->age >= AXES_LIFE ) )
    {
        choose_axes( engine, input );
    }
    axes->age += 1;
    axes->count_now = count;
    if ( axes->is_new ) // grids and plans of another scale are worth nothing
    {
        axes->is_new = false;
        engine->grid_count = 0;
        engine->plan.block_count = 0;
    }
    if ( clv_engine_scaled_axes( engine ) == 0 )
    {
        return true;
    }
    bool ok = make_copies( engine, input );
    input->boxes = ok ? axes->boxes.items : input->boxes;
    return ok;
}
