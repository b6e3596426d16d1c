// SPDX-License-Identifier: MIT
// A crowded cell that no grid divides, because sizes or distances in it differ too much: planes cut its
// entries in two, and those again, as a KD-tree is built, while a model says that the tests saved are worth
// more than the cut. Entries are sorted in place into those below a plane, those across it and those above:
// the first two parts lie together, and after they are searched so do the last two. As with cells, a box
// across a plane counts above it as one that began before, so each pair is reported once.
#include "engine/block.h"

#include "base/assertion.h"
#include "base/bits.h"

#include <float.h>
#include <math.h>

enum
{
    CUT_LEAST = 48, // entries
    CUT_SAMPLES = 64,
    CUT_SAMPLES_LEAST = 16,
    ENTRIES_PER_SAMPLE = 64, // between these two
    CUT_DEPTH = 96,
};

// A sample takes some 4 kB of the stack: not on every level of the recursion.
#if defined( __GNUC__ ) || defined( __clang__ )
#define CUT_NOT_INLINED __attribute__( ( noinline ) )
#else
#define CUT_NOT_INLINED
#endif

// In cycles, measured.
static const double COST_PAIR = 1.0 / 16; // n boxes against each other cost n * n of these
static const double COST_TIE = 6;         // and those that bytes do not tell apart so many
static const double COST_MOVE = 16;       // an entry looked at and sorted
static const double COST_COPY = 30;       // an entry that lies in both parts
static const double COST_PLANE = 3000;    // choosing it

// Entries between planes. Their names hold the slot and, above it, where they began before the cell itself.
typedef struct cut_part
{
    cell_entry* entries;
    uint32_t count;
    uint32_t depth;
    float low[3]; ///< planes that it lies above
} cut_part;

typedef struct cut_plane
{
    int axis;
    float at;
    double below, above; ///< parts of all boxes that begin below it, and that end at it or above
} cut_plane;

// Numbers in the order of faces: compilers make vectors of comparisons of integers, of floats they do not.
typedef struct cut_faces
{
    int32_t lowers[3][CUT_SAMPLES], uppers[3][CUT_SAMPLES];
} cut_faces;

// Some boxes of a part, and the scale that it would have as a leaf.
typedef struct cut_sample
{
    const clv_aabb* boxes[CUT_SAMPLES];
    cut_faces faces;
    uint32_t count;
    cell_grid grid;
} cut_sample;

static int32_t face_order( float face )
{
    return (int32_t)( base_float_order( face ) ^ 0x80000000u );
}

static float sample_lower( const cut_sample* sample, uint32_t i, int axis )
{
    return ( &sample->boxes[i]->lower.x )[axis];
}

static float sample_upper( const cut_sample* sample, uint32_t i, int axis )
{
    return ( &sample->boxes[i]->upper.x )[axis];
}

// A scale from where the first box ends to where the last begins, but for one each: beyond that all boxes
// meet along this axis.
static void scale_along( cut_sample* sample, int axis )
{
    uint32_t ends[2] = { 0, 0 }, begins[2] = { 0, 0 };
    const int32_t* lowers = sample->faces.lowers[axis];
    const int32_t* uppers = sample->faces.uppers[axis];
    for ( uint32_t i = 1; i < sample->count; ++i )
    {
        bool is_end = uppers[i]<uppers[ends[0]], is_begin = lowers[i]> lowers[begins[0]];
        ends[1] = is_end ? ends[0] : ends[1] == ends[0] || uppers[i] < uppers[ends[1]] ? i : ends[1];
        begins[1] = is_begin                                          ? begins[0]
            : begins[1] == begins[0] || lowers[i] > lowers[begins[1]] ? i
                                                                      : begins[1];
        ends[0] = is_end ? i : ends[0];
        begins[0] = is_begin ? i : begins[0];
    }
    double first = (double)sample_upper( sample, ends[1], axis ),
           last = (double)sample_lower( sample, begins[1], axis );
    double slack = ( last - first ) * 0.3, width = last - first + 2 * slack;
    // If all end behind where the last begins, they are told so by any scale on which the first end is far
    // from that.
    width = last < first ? first - last : width;
    double origin = last < first ? last : first - slack;
    bool is_finite = base_is_finite( first ) && base_is_finite( last ) && width > 0;
    double scale = is_finite ? CELL_STEPS / width : 1;
    origin = is_finite ? origin : 0;
    sample->grid.dims[axis] = 1;
    sample->grid.origin[axis] = (float)( origin > -FLT_MAX ? origin : -FLT_MAX );
    sample->grid.scale[axis] = (float)( scale < 1e30 ? scale : 1e30 );
}

static void cut_sample_take( const cell_job* job, const cut_part* part, cut_sample* sample )
{
    uint32_t wanted = part->count / ENTRIES_PER_SAMPLE;
    wanted = wanted < CUT_SAMPLES_LEAST ? CUT_SAMPLES_LEAST : wanted < CUT_SAMPLES ? wanted : CUT_SAMPLES;
    sample->count = part->count < wanted ? part->count : wanted;
    for ( uint32_t i = 0; i < sample->count; ++i )
    {
        uint32_t slot = cell_slot( &part->entries[base_sample( i, sample->count, part->count )] );
        sample->boxes[i] = &job->cut[slot];
        for ( int axis = 0; axis < 3; ++axis )
        {
            sample->faces.lowers[axis][i] = face_order( sample_lower( sample, i, axis ) );
            sample->faces.uppers[axis][i] = face_order( sample_upper( sample, i, axis ) );
        }
    }
    CLV_ASSERT( sample->count > 1 && sample->count <= CUT_SAMPLES );
    for ( int axis = 0; axis < 3; ++axis )
    {
        scale_along( sample, axis );
    }
}

// Each with each, twice, and with itself; without a branch, so that the compiler makes vectors of it.
static uint32_t count_meeting( const cut_faces* faces, uint32_t count )
{
    // cppcheck-suppress uninitvar ; there are at least two samples
    const int32_t *x = faces->lowers[0], *y = faces->lowers[1], *z = faces->lowers[2];
    const int32_t *x_end = faces->uppers[0], *y_end = faces->uppers[1], *z_end = faces->uppers[2];
    uint32_t met = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        for ( uint32_t j = 0; j < count; ++j )
        {
            met += (uint32_t)( ( x[i] <= x_end[j] ) & ( x[j] <= x_end[i] ) & ( y[i] <= y_end[j] ) &
                ( y[j] <= y_end[i] ) & ( z[i] <= z_end[j] ) & ( z[j] <= z_end[i] ) );
        }
    }
    return met;
}

// Of all pairs, the part that a leaf's bytes take to touch and floats do not.
static double blur_of( const cut_sample* sample )
{
    const scaling s = scaling_of( &sample->grid );
    uint32_t count = sample->count;
    cut_faces bytes;
    for ( int axis = 0; axis < 3; ++axis )
    {
        for ( uint32_t i = 0; i < count; ++i )
        {
            bytes.lowers[axis][i] = cell_word_of( sample_lower( sample, i, axis ), &s, axis );
            bytes.uppers[axis][i] = cell_word_of( sample_upper( sample, i, axis ), &s, axis );
        }
    }
    uint32_t blurred = count_meeting( &bytes, count ) - count_meeting( &sample->faces, count );
    return blurred / ( count * ( count - 1.0 ) );
}

// What a plane leaves of the tests, as a part of them.
static double tests_left( const cut_plane* plane )
{
    return plane->below * plane->below + plane->above * plane->above;
}

// The best plane where a sampled box begins. All are counted against each other, without a branch: that is
// quicker than to sort them.
static void choose_along( const cut_sample* sample, int axis, cut_plane* best )
{
    const int32_t* lowers = sample->faces.lowers[axis];
    const int32_t* uppers = sample->faces.uppers[axis];
    for ( uint32_t i = 0; i < sample->count; ++i )
    {
        uint32_t begun = 0, ended = 0;
        for ( uint32_t j = 0; j < sample->count; ++j )
        {
            begun += (uint32_t)( lowers[j] < lowers[i] );
            ended += (uint32_t)( uppers[j] < lowers[i] );
        }
        double all = sample->count;
        cut_plane plane = { axis, sample_lower( sample, i, axis ), begun / all, ( all - ended ) / all };
        if ( begun > 0 && tests_left( &plane ) < tests_left( best ) )
        {
            *best = plane;
        }
    }
}

// Is a plane worth more than it costs?
static bool choose_plane( const cut_sample* sample, double n, cut_plane* plane )
{
    *plane = ( cut_plane ){ 0, 0, 1, 1 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        choose_along( sample, axis, plane );
    }
    double copies = plane->below + plane->above - 1, saved = n * n * ( 1 - tests_left( plane ) );
    double cost = n * ( ( 1 + plane->below ) * COST_MOVE + copies * COST_COPY ) + COST_PLANE;
    return saved * COST_PAIR > cost || saved * ( COST_PAIR + COST_TIE * blur_of( sample ) ) > cost;
}

// ---- sorting

// Entries whose lower or upper face lies below the plane to the front; returns how many. Every entry is
// exchanged, often with itself: a branch would be mispredicted half of the time.
static uint32_t sort_by_plane(
    const cell_job* job, cell_entry* entries, uint32_t count, const cut_plane* plane, bool by_upper )
{
    const float* faces = &job->cut[0].lower.x + ( by_upper ? 3 : 0 ) + plane->axis;
    uint32_t below = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        cell_entry entry = entries[i];
        bool is_below = faces[(size_t)cell_slot( &entry ) * 6] < plane->at;
        entries[i] = entries[below];
        entries[below] = entry;
        below += is_below;
    }
    return below;
}

// ---- leaves

static uint32_t bits_before( const cut_part* part, const clv_aabb* box )
{
    return (uint32_t)( box->lower.x < part->low[0] ) | (uint32_t)( box->lower.y < part->low[1] ) << 1 |
        (uint32_t)( box->lower.z < part->low[2] ) << 2;
}

// Codes on the leaf's own scale; the names stay.
static void make_codes( const cell_job* job, const cut_part* part, const scaling* s )
{
    for ( uint32_t first = 0; first < part->count; first += CELL_PART )
    {
        uint32_t slots[CELL_PART];
        uint64_t names[CELL_PART];
        cell_entry* entries = part->entries + first;
        uint32_t here = part->count - first < CELL_PART ? part->count - first : CELL_PART;
        for ( uint32_t i = 0; i < here; ++i )
        {
            slots[i] = cell_slot( &entries[i] );
            names[i] = entries[i].name;
        }
        cell_boxes some = { job->cut, slots, 0, here };
        job->kernels->make_records( &some, s, entries );
        for ( uint32_t i = 0; i < here; ++i )
        {
            uint64_t before = names[i] >> 32 | bits_before( part, &job->cut[slots[i]] );
            entries[i] = ( cell_entry ){ entries[i].code | before << 24, names[i] };
        }
    }
}

static CUT_NOT_INLINED clv_result search_leaf(
    const cell_job* job, cell_search* search, const cut_part* part, const cell_grid* grid )
{
    const scaling s = scaling_of( grid );
    make_codes( job, part, &s );
    return clv_engine_cell_search_entries( job, search, part->entries, part->count );
}

// ---- cutting

// Where a part is cut, and what it is as a leaf.
typedef struct cut_choice
{
    cut_plane plane;
    uint32_t below, begun; ///< entries that end below the plane, and that begin there
    cell_grid grid;
} cut_choice;

// Sort a part's entries into those below a plane, across it and above it. False if it is better not cut: then
// it is a leaf.
static CUT_NOT_INLINED bool divide( const cell_job* job, const cut_part* part, cut_choice* choice )
{
    cut_sample sample;
    cut_sample_take( job, part, &sample );
    choice->grid = sample.grid;
    if ( part->count < CUT_LEAST || part->depth == CUT_DEPTH ||
        !choose_plane( &sample, part->count, &choice->plane ) )
    {
        return false;
    }
    choice->begun = sort_by_plane( job, part->entries, part->count, &choice->plane, false );
    choice->below = sort_by_plane( job, part->entries, choice->begun, &choice->plane, true );
    CLV_ASSERT( choice->below <= choice->begun && choice->begun <= part->count );
    bool is_cut = choice->below > 0 && choice->begun < part->count; // or it is not as the sample had it
    return is_cut;
}

static clv_result search_part( const cell_job* job, cell_search* search, cut_part part )
{
    cut_choice choice;
    if ( part.count < 2 )
    {
        return CLV_OK;
    }
    if ( !divide( job, &part, &choice ) )
    {
        return search_leaf( job, search, &part, &choice.grid );
    }
    cut_part child = part;
    child.depth += 1;
    child.count = choice.begun;
    clv_result result = search_part( job, search, child );
    if ( result != CLV_OK )
    {
        return result;
    }
    // The search has mixed those below the plane with those across it.
    uint32_t below = sort_by_plane( job, part.entries, choice.begun, &choice.plane, true );
    CLV_ASSERT( below == choice.below );
    child.entries = part.entries + below;
    child.count = part.count - below;
    child.low[choice.plane.axis] = choice.plane.at;
    return search_part( job, search, child );
}

clv_result clv_engine_cell_cut(
    const cell_job* job, cell_search* search, cell_entry* entries, uint32_t count )
{
    CLV_ASSERT( count > 1 );
    for ( uint32_t i = 0; i < count; ++i )
    {
        entries[i].name = cell_name( cell_slot( &entries[i] ), cell_before( &entries[i] ) );
    }
    cut_part root = { entries, count, 0, { -INFINITY, -INFINITY, -INFINITY } };
    return search_part( job, search, root );
}
