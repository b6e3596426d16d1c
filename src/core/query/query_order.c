// SPDX-License-Identifier: MIT
// Two orders: of a long list before it is asked, and of the hits of one query.
#include "query/query_search.h"

#include "base/assertion.h"
#include "base/bits.h"

// ---- a list along a curve
//
// By all workers: each counts the buckets of its part of the list, then puts its part where it belongs, then
// the buckets are sorted each for itself.

enum
{
    PARTS = 16,      // of the list
    BUCKETS = 256,   // by the highest bits of the key
    BUCKET_BIT = 19, // the lowest of them
    CELLS = 512,     // along each axis: 27 bits of key
};

typedef struct order_job
{
    const query_list* list;
    base_keyed *items, *more;
    float lower[3], scale[3];
    uint32_t places[PARTS][BUCKETS]; // first how many, then where the next one goes
    uint32_t ends[BUCKETS];
} order_job;

// Every third bit.
static uint32_t spread_bits( uint32_t value )
{
    value = ( value | value << 16 ) & 0x030000FFu;
    value = ( value | value << 8 ) & 0x0300F00Fu;
    value = ( value | value << 4 ) & 0x030C30C3u;
    return ( value | value << 2 ) & 0x09249249u;
}

static uint32_t place_key( const order_job* job, const double place[3] )
{
    uint32_t key = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float at = ( (float)place[axis] - job->lower[axis] ) * job->scale[axis];
        uint32_t cell = at >= CELLS - 1 ? CELLS - 1 : at > 0 ? (uint32_t)at : 0;
        key |= spread_bits( cell ) << axis;
    }
    return key;
}

static void part_range( const order_job* job, uint32_t part, uint32_t* first, uint32_t* end )
{
    *first = (uint32_t)( (uint64_t)job->list->count * part / PARTS );
    *end = (uint32_t)( (uint64_t)job->list->count * ( part + 1 ) / PARTS );
    CLV_ASSERT( *first <= *end && *end <= job->list->count );
}

static void count_part( uint32_t part, uint32_t worker, void* context )
{
    (void)worker;
    order_job* job = context;
    uint32_t first, end;
    part_range( job, part, &first, &end );
    uint32_t* counts = job->places[part];
    memset( counts, 0, sizeof( job->places[part] ) );
    for ( uint32_t i = first; i < end; ++i )
    {
        query_probe p;
        query_probe_read( &p, job->list->kind, job->list->items, i );
        uint32_t key = place_key( job, p.a );
        CLV_ASSERT( key >> BUCKET_BIT < BUCKETS );
        job->items[i] = ( base_keyed ){ key, i };
        counts[key >> BUCKET_BIT] += 1;
    }
}

static void place_order_part( uint32_t part, uint32_t worker, void* context )
{
    (void)worker;
    order_job* job = context;
    uint32_t first, end;
    part_range( job, part, &first, &end );
    uint32_t* places = job->places[part];
    for ( uint32_t i = first; i < end; ++i )
    {
        base_keyed item = job->items[i];
        CLV_ASSERT( places[item.key >> BUCKET_BIT] < job->ends[item.key >> BUCKET_BIT] );
        job->more[places[item.key >> BUCKET_BIT]++] = item;
    }
}

static void sort_bucket( uint32_t bucket, uint32_t worker, void* context )
{
    (void)worker;
    const order_job* job = context;
    uint32_t first = bucket > 0 ? job->ends[bucket - 1] : 0, count = job->ends[bucket] - first;
    CLV_ASSERT( job->places[PARTS - 1][bucket] == job->ends[bucket] ); // all parts have put theirs
    base_keyed* sorted = clv_base_sort_keyed( job->more + first, job->items + first, count );
    if ( count > 0 && sorted != job->more + first )
    {
        memcpy( job->more + first, sorted, (size_t)count * sizeof( base_keyed ) );
    }
}

// From how many to where: bucket after bucket, and in each part after part.
static void find_places( order_job* job )
{
    uint32_t next = 0;
    for ( uint32_t bucket = 0; bucket < BUCKETS; ++bucket )
    {
        for ( uint32_t part = 0; part < PARTS; ++part )
        {
            uint32_t count = job->places[part][bucket];
            job->places[part][bucket] = next;
            next += count;
        }
        job->ends[bucket] = next;
    }
}

const base_keyed* clv_query_order( const query_list* list, const query_scene* scene, base_keyed* items,
    base_keyed* more, task_runner* tasks )
{
    order_job job;
    CLV_ASSERT( query_has_order( list->kind ) && scene->tree->node_count > 0 );
    job.list = list;
    job.items = items;
    job.more = more;
    query_node root_bound;
    scene->kernels->bound( scene->tree->nodes, &root_bound, 0 );
    for ( int axis = 0; axis < 3; ++axis )
    {
        job.lower[axis] = root_bound.lower[axis][0];
        float side = root_bound.upper[axis][0] - job.lower[axis];
        job.scale[axis] = side > 0 && side - side == 0 ? CELLS / side : 0.0f;
    }
    clv_task_run( tasks, count_part, PARTS, &job );
    find_places( &job );
    CLV_ASSERT( job.ends[BUCKETS - 1] == list->count );
    clv_task_run( tasks, place_order_part, PARTS, &job );
    clv_task_run( tasks, sort_bucket, BUCKETS, &job );
    return more;
}

// ---- hits by slot: an American flag sort by the slots' digits, by insertion where there are few

enum
{
    FEW_HITS = 24,  // are put in order one by one
    DIGIT_BITS = 6, // of a slot, at a time
    DIGITS = 1 << DIGIT_BITS,
    MOST_SLOT_DIGITS = 6, // 31 bits of a slot
};

typedef struct hit_range
{
    uint64_t first, end;
    uint32_t shift; // of its digit
} hit_range;

// The functions below are compiled once for each size of a hit, a constant then: of clv_hit or clv_hit64,
// which begin with the slot.
typedef struct hit_bytes
{
    uint32_t index;
    char rest[sizeof( clv_hit64 ) - sizeof( uint32_t )];
} hit_bytes;

static inline hit_bytes load_hit( const char* hits, uint64_t at, size_t size )
{
    hit_bytes hit;
    memcpy( &hit, hits + at * size, size );
    return hit;
}

static inline void store_hit( char* hits, uint64_t at, const hit_bytes* hit, size_t size )
{
    memcpy( hits + at * size, hit, size );
}

static inline uint32_t slot_at( const char* hits, uint64_t at, size_t size )
{
    uint32_t index;
    memcpy( &index, hits + at * size, sizeof( index ) );
    return index;
}

static inline void insert_hits( char* hits, uint64_t count, size_t size )
{
    for ( uint64_t i = 1; i < count; ++i )
    {
        hit_bytes hit = load_hit( hits, i, size );
        uint64_t at = i;
        for ( ; at > 0 && slot_at( hits, at - 1, size ) > hit.index; --at )
        {
            memcpy( hits + at * size, hits + ( at - 1 ) * size, size );
        }
        store_hit( hits, at, &hit, size );
    }
}

// Hits of one range to their digits' places, each where the one that was there has to go next (P. M. McIlroy
// et al., "Engineering radix sort", 1993). `ends` are where digits end.
static inline void place_digits( char* hits, uint32_t shift, const uint32_t counts[DIGITS], uint64_t first,
    uint64_t ends[DIGITS], size_t size )
{
    uint64_t next[DIGITS];
    for ( uint32_t digit = 0; digit < DIGITS; ++digit )
    {
        next[digit] = first;
        first += counts[digit];
        ends[digit] = first;
    }
    for ( uint32_t digit = 0; digit < DIGITS; ++digit )
    {
        while ( next[digit] < ends[digit] )
        {
            hit_bytes hit = load_hit( hits, next[digit], size );
            uint32_t to = hit.index >> shift & ( DIGITS - 1 );
            while ( to != digit )
            {
                CLV_ASSERT( next[to] < ends[to] );
                hit_bytes other = load_hit( hits, next[to], size );
                store_hit( hits, next[to]++, &hit, size );
                hit = other;
                to = hit.index >> shift & ( DIGITS - 1 );
            }
            store_hit( hits, next[digit]++, &hit, size );
        }
    }
}

static inline void sort_slots( char* hits, uint64_t count, size_t size )
{
    hit_range waiting[MOST_SLOT_DIGITS * ( DIGITS - 1 ) + 1];
    uint32_t all = 1;
    for ( uint64_t i = 0; i < count && count > FEW_HITS; ++i )
    {
        all |= slot_at( hits, i, size );
    }
    waiting[0] = ( hit_range ){ 0, count, ( base_bit_width( all ) - 1 ) / DIGIT_BITS * DIGIT_BITS };
    uint32_t top = 1;
    while ( top > 0 )
    {
        hit_range r = waiting[--top];
        CLV_ASSERT( r.first <= r.end && r.end <= count );
        if ( r.end - r.first <= FEW_HITS )
        {
            insert_hits( hits + r.first * size, r.end - r.first, size );
            continue;
        }
        uint32_t counts[DIGITS] = { 0 };
        uint64_t ends[DIGITS];
        for ( uint64_t i = r.first; i < r.end; ++i )
        {
            counts[slot_at( hits, i, size ) >> r.shift & ( DIGITS - 1 )] += 1;
        }
        place_digits( hits, r.shift, counts, r.first, ends, size );
        CLV_ASSERT( ends[DIGITS - 1] == r.end );
        for ( uint32_t digit = 0; digit < DIGITS && r.shift > 0; ++digit )
        {
            if ( counts[digit] > 1 )
            {
                CLV_ASSERT( top < MOST_SLOT_DIGITS * ( DIGITS - 1 ) + 1 );
                waiting[top++] =
                    ( hit_range ){ ends[digit] - counts[digit], ends[digit], r.shift - DIGIT_BITS };
            }
        }
    }
}

void clv_query_hits_sort( void* hits, uint64_t count, size_t hit_size )
{
    if ( hit_size == sizeof( clv_hit ) )
    {
        sort_slots( hits, count, sizeof( clv_hit ) );
    }
    else
    {
        sort_slots( hits, count, sizeof( clv_hit64 ) );
    }
}
