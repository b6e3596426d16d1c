// SPDX-License-Identifier: MIT
#include "object/store.h"

#include "base/assertion.h"
#include "base/bit_set.h"
#include "object/test_box.h"

#include <assert.h>
#include <string.h>

static const size_t s_item_sizes[OBJECT_COLUMN_COUNT] = {
    [OBJECT_BOX] = sizeof( clv_aabb ),
    [OBJECT_GENERATION] = sizeof( uint32_t ),
    [OBJECT_GIVEN_BOX] = sizeof( clv_aabb ),
    [OBJECT_BOX64] = sizeof( clv_aabb64 ),
    [OBJECT_GIVEN_BOX64] = sizeof( clv_aabb64 ),
    [OBJECT_MARGIN] = sizeof( float ),
    [OBJECT_MARGIN_BY] = sizeof( object_margin_by ),
    [OBJECT_MOTION] = sizeof( clv_vec3 ),
    [OBJECT_USER_DATA] = sizeof( uint64_t ),
    [OBJECT_LAST_DATA] = sizeof( uint64_t ),
    [OBJECT_FILTER] = sizeof( clv_filter ),
    [OBJECT_STATIC] = sizeof( uint8_t ),
    [OBJECT_STAMP] = sizeof( uint32_t ),
    [OBJECT_REPORTED] = sizeof( uint32_t ),
    [OBJECT_RENEWED] = sizeof( uint8_t ),
    [OBJECT_ASK] = sizeof( uint8_t ),
};

enum
{
    LEAST_SLOTS = 16
};

#define NO_SLOT UINT32_MAX

// Free slots form a stack threaded through the boxes they no longer need, so that removing never takes
// memory.
static void push_free( object_store* store, uint32_t slot )
{
    CLV_ASSERT( slot < store->slot_count && store->free_count < store->slot_count );
    memcpy( &object_boxes( store )[slot], &store->first_free, sizeof( uint32_t ) );
    store->first_free = slot;
    store->free_count += 1;
    store->free_is_row = false;
}

static uint32_t pop_free( object_store* store )
{
    uint32_t slot = store->first_free;
    CLV_ASSERT( store->free_count > 0 && slot < store->slot_count );
    memcpy( &store->first_free, &object_boxes( store )[slot], sizeof( uint32_t ) );
    store->free_count -= 1;
    store->free_is_row = store->free_count == 0;
    return slot;
}

object_store clv_object_store_make( base_memory* memory, clv_margin_rule default_margin )
{
    return ( object_store ){ .memory = memory,
        .kernels = clv_simd_kernels_for( CLV_ISA_SCALAR ),
        .default_margin = default_margin,
        .first_free = NO_SLOT,
        .free_is_row = true };
}

BASE_COLD void clv_object_store_free( object_store* store )
{
    for ( int column = 0; column < OBJECT_COLUMN_COUNT; ++column )
    {
        clv_base_memory_give(
            store->memory, store->columns[column], store->capacities[column], s_item_sizes[column] );
    }
    base_array_free( &store->live, store->memory );
    base_array_free( &store->moved, store->memory );
    *store = clv_object_store_make( store->memory, store->default_margin );
}

static bool reserve_column( object_store* store, int column, uint64_t count )
{
    return clv_base_memory_reserve( store->memory, &store->columns[column], &store->capacities[column],
        store->slot_count, count, s_item_sizes[column] );
}

bool clv_object_store_reserve( object_store* store, uint64_t count )
{
    uint64_t wanted = count > LEAST_SLOTS ? count : LEAST_SLOTS;
    for ( int column = 0; column < OBJECT_COLUMN_COUNT; ++column )
    {
        bool wants = column <= OBJECT_GENERATION || store->columns[column] != NULL;
        if ( wants && !reserve_column( store, column, wanted ) )
        {
            return false;
        }
    }
    return true;
}

#define FILL( type, ... )                                                                                    \
    for ( uint32_t i = first; i < first + count; ++i )                                                       \
    {                                                                                                        \
        ( (type*)store->columns[column] )[i] = __VA_ARGS__;                                                  \
    }

// A column's values in fresh slots.
static BASE_COLD void fill_column( object_store* store, int column, uint32_t first, uint32_t count )
{
    const clv_margin_rule* margin = &store->default_margin;
    switch ( column )
    {
    case OBJECT_GIVEN_BOX: FILL( clv_aabb, object_boxes( store )[i] ) break;
    case OBJECT_GIVEN_BOX64: FILL( clv_aabb64, object_boxes64( store )[i] ) break;
    case OBJECT_MARGIN: FILL( float, margin->fixed ) break;
    case OBJECT_MARGIN_BY:
        FILL( object_margin_by, ( object_margin_by ){ margin->by_size, margin->by_speed } ) break;
    case OBJECT_MOTION: FILL( clv_vec3, ( clv_vec3 ){ 0, 0, 0 } ) break;
    case OBJECT_USER_DATA: FILL( uint64_t, 0 ) break;
    case OBJECT_FILTER: FILL( clv_filter, clv_default_filter() ) break;
    case OBJECT_STATIC: FILL( uint8_t, 0 ) break;
    case OBJECT_ASK: FILL( uint8_t, 1 ) break;
    default: break;
    }
}

#undef FILL

BASE_COLD bool clv_object_store_use( object_store* store, object_column column )
{
    if ( store->columns[column] != NULL )
    {
        return true;
    }
    uint64_t capacity = store->capacities[OBJECT_GENERATION];
    uint64_t wanted = capacity > LEAST_SLOTS ? capacity : LEAST_SLOTS;
    void* data = clv_base_memory_take( store->memory, wanted, s_item_sizes[column] );
    if ( data == NULL )
    {
        return false;
    }
    store->columns[column] = data;
    store->capacities[column] = wanted;
    bool is_zero = column == OBJECT_STAMP || column == OBJECT_REPORTED || column == OBJECT_RENEWED ||
        column == OBJECT_LAST_DATA;
    if ( is_zero )
    {
        memset( data, 0, (size_t)wanted * s_item_sizes[column] );
        return true;
    }
    fill_column( store, (int)column, 0, store->slot_count );
    return true;
}

static void drop_column( object_store* store, object_column column )
{
    clv_base_memory_give(
        store->memory, store->columns[column], store->capacities[column], s_item_sizes[column] );
    store->columns[column] = NULL;
    store->capacities[column] = 0;
}

// The columns of a set, a bit each: all, or none more than before. Those of no use would make moves slower.
static BASE_COLD bool use_all( object_store* store, uint32_t set )
{
    uint32_t made = 0;
    for ( uint32_t left = set; left != 0; left &= left - 1 )
    {
        object_column column = (object_column)base_lowest_bit( left );
        bool is_new = !object_store_uses( store, column );
        if ( !clv_object_store_use( store, column ) )
        {
            for ( ; made != 0; made &= made - 1 )
            {
                drop_column( store, (object_column)base_lowest_bit( made ) );
            }
            return false;
        }
        made |= (uint32_t)is_new << column;
    }
    return true;
}

// With the box as given that margins and motions are applied to: of floats, or of doubles as the boxes are.
static bool use_with_given( object_store* store, uint32_t set )
{
    return use_all(
        store, set | 1u << ( object_boxes64( store ) != NULL ? OBJECT_GIVEN_BOX64 : OBJECT_GIVEN_BOX ) );
}

bool clv_object_store_use_margins( object_store* store )
{
    return use_with_given( store, 1u << OBJECT_MARGIN );
}

bool clv_object_store_use_margins_by( object_store* store )
{
    return use_with_given( store, 1u << OBJECT_MARGIN | 1u << OBJECT_MARGIN_BY );
}

bool clv_object_store_use_motions( object_store* store )
{
    return use_with_given( store, 1u << OBJECT_MOTION );
}

bool clv_object_store_use_data( object_store* store )
{
    bool has_events = object_store_uses( store, OBJECT_REPORTED );
    return use_all( store, 1u << OBJECT_USER_DATA | ( has_events ? 1u << OBJECT_LAST_DATA : 0 ) );
}

enum
{
    ID_GROUP = 32, // ids checked at once
    ID_WINDOW = 64 // slots, of which one or two such windows hold a group that lies close together
};

static_assert( CLV_MAX_OBJECTS <= INT32_MAX, "a step down shows in the highest bit" );

// Of a group of ids, whether all are alive and ascend from `next` on. Without a branch: which of them is not
// is found afterwards. The order first, in vectors: then the last index says whether all slots are there.
static bool are_ascending( const object_store* store, const clv_id* ids, uint64_t next )
{
    const uint32_t* generations = object_generations( store );
    uint32_t steps = ids[0].index, different = 0, odd = 1;
    for ( uint32_t i = 1; i < ID_GROUP; ++i )
    {
        steps |= ids[i].index | ( ids[i].index - ids[i - 1].index - 1 );
    }
    if ( steps >> 31 != 0 || ids[0].index < next || ids[ID_GROUP - 1].index >= store->slot_count )
    {
        return false;
    }
    BASE_UNROLL( 4 ) // unrolled whole it would be vectors made number by number
    for ( uint32_t i = 0; i < ID_GROUP; ++i )
    {
        different |= generations[ids[i].index] ^ ids[i].generation;
        odd &= ids[i].generation;
    }
    return different == 0 && odd != 0;
}

static inline uint64_t id_number( clv_id id )
{
    return (uint64_t)id.generation << 32 | id.index;
}

// The same, if they lie close together and all slots there are of one generation. As one number an id has its
// generation above its index: ids that go up in small steps, and end in the generation
// they began with, keep it.
static bool are_close_kin( const object_store* store, const clv_id* ids, uint64_t next )
{
    uint32_t last = ids[ID_GROUP - 1].index, generation = ids[0].generation, different = ~generation & 1;
    uint64_t wide = (uint64_t)last - ids[0].index, steps = 0;
    uint32_t window = wide < ID_WINDOW ? ID_WINDOW : 2 * ID_WINDOW;
    if ( ids[0].index < next || last >= store->slot_count || wide >= window || store->slot_count < window ||
        ids[ID_GROUP - 1].generation != generation )
    {
        return false;
    }
    for ( uint32_t i = 1; i < ID_GROUP; ++i )
    {
        steps |= id_number( ids[i] ) - id_number( ids[i - 1] ) - 1;
    }
    const uint32_t* generations = object_generations( store ) + ( last < window ? 0 : last + 1 - window );
    for ( uint32_t first = 0; first < window; first += ID_WINDOW )
    {
        for ( uint32_t i = 0; i < ID_WINDOW; ++i )
        {
            different |= generations[first + i] ^ generation;
        }
    }
    return steps >> 32 == 0 && different == 0;
}

// Ids in any order: each slot remembers the number of the batch that named it.
static clv_result check_unordered(
    object_store* store, const clv_id* ids, uint32_t count, uint32_t* position )
{
    if ( store->columns[OBJECT_STAMP] == NULL && !clv_object_store_use( store, OBJECT_STAMP ) )
    {
        *position = 0;
        return CLV_OUT_OF_MEMORY;
    }
    uint32_t* stamps = store->columns[OBJECT_STAMP];
    store->stamp += 1;
    if ( store->stamp == 0 )
    {
        memset( stamps, 0, store->slot_count * sizeof( uint32_t ) );
        store->stamp = 1;
    }
    const uint32_t* generations = object_generations( store );
    uint32_t slot_count = store->slot_count, stamp = store->stamp; // once: a stamp stored might be either
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint32_t slot = ids[i].index, generation = ids[i].generation;
        bool live = slot < slot_count && ( generation & 1 ) != 0 && generations[slot] == generation;
        if ( !live || stamps[slot] == stamp )
        {
            *position = i;
            return live ? CLV_DUPLICATE_ID : CLV_BAD_ID;
        }
        stamps[slot] = stamp;
    }
    *position = 0;
    return CLV_OK;
}

clv_result clv_object_store_check_ids(
    object_store* store, const clv_id* ids, uint32_t count, uint32_t* position )
{
    uint32_t i = 0;
    bool may_be_kin = true; // as long as all groups were
    for ( uint64_t next = 0; i < count; next = (uint64_t)ids[i - 1].index + 1 )
    {
        if ( count - i >= ID_GROUP )
        {
            may_be_kin = may_be_kin && are_close_kin( store, ids + i, next );
            if ( may_be_kin || are_ascending( store, ids + i, next ) )
            {
                i += ID_GROUP;
                continue;
            }
        }
        for ( uint32_t end = count - i < ID_GROUP ? count : i + ID_GROUP; i < end; ++i )
        {
            if ( !object_is_live( store, ids[i] ) )
            {
                *position = i;
                return CLV_BAD_ID;
            }
            if ( ids[i].index < next ) // ascending indices cannot repeat, others can
            {
                return check_unordered( store, ids, count, position );
            }
            next = (uint64_t)ids[i].index + 1;
        }
    }
    *position = count;
    return CLV_OK;
}

// Slots there would be after adding `count` objects.
static uint64_t slots_after( const object_store* store, uint32_t count )
{
    uint32_t reused = count < store->free_count ? count : store->free_count;
    return (uint64_t)store->slot_count + ( count - reused );
}

bool clv_object_store_fits( const object_store* store, uint32_t count )
{
    return slots_after( store, count ) <= CLV_MAX_OBJECTS;
}

clv_result clv_object_store_prepare_add( object_store* store, uint32_t count )
{
    if ( !clv_object_store_fits( store, count ) )
    {
        return CLV_TOO_MANY_OBJECTS;
    }
    // Without free slots no slot is used again, and no note of it is needed.
    bool ok = store->free_count == 0 || clv_object_store_use( store, OBJECT_RENEWED );
    return ok && clv_object_store_reserve( store, slots_after( store, count ) ) ? CLV_OK : CLV_OUT_OF_MEMORY;
}

// Of these columns a fresh slot has zeros; a slot that is used again keeps them.
static void zero_columns( object_store* store, uint32_t first, uint32_t count )
{
    static const object_column columns[] = { OBJECT_STAMP, OBJECT_REPORTED, OBJECT_RENEWED };
    for ( size_t i = 0; i < sizeof( columns ) / sizeof( columns[0] ); ++i )
    {
        size_t size = s_item_sizes[columns[i]];
        char* column = store->columns[columns[i]];
        if ( column != NULL )
        {
            memset( column + first * size, 0, count * size );
        }
    }
}

static BASE_NOINLINE void note_new( object_store* store, uint32_t first, uint32_t count )
{
    for ( int column = OBJECT_MARGIN; column < OBJECT_COLUMN_COUNT; ++column )
    {
        if ( store->columns[column] != NULL )
        {
            fill_column( store, column, first, count );
        }
    }
    store->moved_is_known = false;
    store->live_count += count;
    store->live_is_current = false;
    store->members_changed = true;
}

// Of a row of free slots the first `count`.
static void reuse_row( object_store* store, uint32_t count )
{
    uint32_t first = store->first_free;
    CLV_ASSERT( store->free_is_row && count > 0 && count <= store->free_count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        object_generations( store )[first + i] += 1;
    }
    memcpy( &store->first_free, &object_boxes( store )[first + count - 1], sizeof( uint32_t ) );
    store->free_count -= count;
    memset( (uint8_t*)store->columns[OBJECT_RENEWED] + first, 1, count );
    store->is_renewed = true;
}

uint32_t clv_object_store_add_row( object_store* store, uint32_t count )
{
    uint32_t reused = count < store->free_count ? count : store->free_count, fresh = count - reused;
    uint32_t first = reused > 0 ? store->first_free : store->slot_count;
    CLV_ASSERT( store->free_is_row && ( reused == 0 || first + store->free_count == store->slot_count ) );
    if ( reused > 0 )
    {
        reuse_row( store, reused );
    }
    for ( uint32_t i = 0; i < fresh; ++i )
    {
        object_generations( store )[store->slot_count + i] = 1;
    }
    zero_columns( store, store->slot_count, fresh );
    store->slot_count += fresh;
    CLV_ASSERT( store->slot_count <= store->capacities[OBJECT_GENERATION] );
    note_new( store, first, count );
    return first;
}

clv_id clv_object_store_add( object_store* store, clv_aabb box )
{
    uint32_t slot;
    if ( store->free_is_row )
    {
        slot = clv_object_store_add_row( store, 1 );
    }
    else
    {
        slot = pop_free( store );
        object_generations( store )[slot] += 1;
        ( (uint8_t*)store->columns[OBJECT_RENEWED] )[slot] = 1;
        store->is_renewed = true;
        note_new( store, slot, 1 );
    }
    CLV_ASSERT( ( object_generations( store )[slot] & 1 ) != 0 );
    clv_object_store_set_box( store, slot, box );
    return ( clv_id ){ slot, object_generations( store )[slot] };
}

clv_margin_rule clv_object_store_margin( const object_store* store, uint32_t slot )
{
    clv_margin_rule rule = store->default_margin;
    if ( store->columns[OBJECT_MARGIN] != NULL )
    {
        rule = ( clv_margin_rule ){ ( (const float*)store->columns[OBJECT_MARGIN] )[slot], 0, 0 };
    }
    if ( store->columns[OBJECT_MARGIN_BY] != NULL )
    {
        object_margin_by by = ( (const object_margin_by*)store->columns[OBJECT_MARGIN_BY] )[slot];
        rule.by_size = by.size;
        rule.by_speed = by.speed;
    }
    return rule;
}

clv_vec3 clv_object_store_motion( const object_store* store, uint32_t slot )
{
    CLV_ASSERT( slot < store->capacities[OBJECT_GENERATION] );
    const clv_vec3* motions = store->columns[OBJECT_MOTION];
    return motions != NULL && !store->motion_is_spent ? motions[slot] : ( clv_vec3 ){ 0, 0, 0 };
}

clv_aabb clv_object_store_test_box( const object_store* store, uint32_t slot )
{
    clv_aabb given = clv_object_store_given_box( store, slot );
    const float* margins = store->columns[OBJECT_MARGIN];
    if ( object_store_grows_plainly( store ) )
    {
        return clv_aabb_grow( given, margins[slot] ); // what most have, quickly
    }
    return object_test_box( given, store->is_flat, clv_object_store_margin( store, slot ),
        clv_object_store_motion( store, slot ) );
}

clv_aabb64 clv_object_store_test_box64( const object_store* store, uint32_t slot, clv_aabb64 given )
{
    const float* margins = store->columns[OBJECT_MARGIN];
    if ( object_store_grows_plainly( store ) )
    {
        return clv_aabb64_grow( given, (double)margins[slot] );
    }
    return object_test_box64(
        given, clv_object_store_margin( store, slot ), clv_object_store_motion( store, slot ) );
}

void clv_object_store_forget_motion( object_store* store, uint32_t slot )
{
    if ( store->motion_is_spent ) // dropped on the way, and the box need not be made twice
    {
        ( (clv_vec3*)store->columns[OBJECT_MOTION] )[slot] = ( clv_vec3 ){ 0, 0, 0 };
    }
}

void clv_object_store_set_box( object_store* store, uint32_t slot, clv_aabb box )
{
    if ( store->columns[OBJECT_GIVEN_BOX] != NULL )
    {
        ( (clv_aabb*)store->columns[OBJECT_GIVEN_BOX] )[slot] = box;
        clv_object_store_forget_motion( store, slot );
        box = clv_object_store_test_box( store, slot );
    }
    object_boxes( store )[slot] = box;
    if ( store->moved_is_known )
    {
        base_bits_add( store->moved.items, slot );
    }
}

void clv_object_store_note_margin( object_store* store, uint32_t slot, clv_margin_rule rule )
{
    ( (float*)store->columns[OBJECT_MARGIN] )[slot] = rule.fixed;
    if ( store->columns[OBJECT_MARGIN_BY] != NULL )
    {
        ( (object_margin_by*)store->columns[OBJECT_MARGIN_BY] )[slot] =
            ( object_margin_by ){ rule.by_size, rule.by_speed };
    }
}

void clv_object_store_note_motion( object_store* store, uint32_t slot, clv_vec3 motion )
{
    CLV_ASSERT( !store->motion_is_spent );
    motion.z = store->is_flat ? 0 : motion.z;
    ( (clv_vec3*)store->columns[OBJECT_MOTION] )[slot] = motion;
    store->motion_is_set = true;
}

void clv_object_store_settle( object_store* store )
{
    CLV_ASSERT( !store->is_renewed || store->columns[OBJECT_RENEWED] != NULL );
    if ( store->is_renewed )
    {
        memset( store->columns[OBJECT_RENEWED], 0, store->slot_count );
        store->is_renewed = false;
    }
}

void clv_object_store_spend_motions( object_store* store )
{
    store->motion_is_spent = store->motion_is_set;
}

uint32_t clv_object_store_drop_motion( object_store* store, uint32_t slot )
{
    clv_vec3* motions = store->columns[OBJECT_MOTION];
    const uint32_t* generations = object_generations( store );
    for ( ; store->motion_is_spent && slot < store->slot_count; ++slot )
    {
        bool is_live = ( generations[slot] & 1 ) != 0;
        if ( is_live && ( motions[slot].x != 0 || motions[slot].y != 0 || motions[slot].z != 0 ) )
        {
            motions[slot] = ( clv_vec3 ){ 0, 0, 0 };
            return slot;
        }
    }
    store->motion_is_set = store->motion_is_set && !store->motion_is_spent;
    store->motion_is_spent = false;
    return store->slot_count;
}

clv_aabb clv_object_store_given_box( const object_store* store, uint32_t slot )
{
    const clv_aabb* given = store->columns[OBJECT_GIVEN_BOX];
    return given != NULL ? given[slot] : object_boxes( store )[slot];
}

// Only for objects of the last good update: events name no others.
static void keep_last_data( object_store* store, uint32_t slot )
{
    const uint32_t* reported = store->columns[OBJECT_REPORTED];
    uint64_t* last = store->columns[OBJECT_LAST_DATA];
    const uint64_t* values = store->columns[OBJECT_USER_DATA];
    if ( last != NULL && values != NULL && reported[slot] == object_generations( store )[slot] )
    {
        last[slot] = values[slot];
    }
}

void clv_object_store_remove( object_store* store, uint32_t slot )
{
    uint32_t* generations = object_generations( store );
    CLV_ASSERT( slot < store->slot_count && ( generations[slot] & 1 ) != 0 );
    keep_last_data( store, slot );
    generations[slot] += 1;
    if ( generations[slot] != 0 ) // a generation that wrapped retires its slot: no id may ever come twice
    {
        push_free( store, slot );
    }
    store->live_count -= 1;
    store->moved_is_known = false;
    store->live_is_current = false;
    store->members_changed = true;
}

void clv_object_store_clear( object_store* store )
{
    uint32_t* generations = object_generations( store );
    for ( uint32_t slot = 0; slot < store->slot_count; ++slot )
    {
        if ( ( generations[slot] & 1 ) != 0 )
        {
            clv_object_store_remove( store, slot );
        }
    }
    // Lowest slots last, so that they are taken first.
    store->free_count = 0;
    store->first_free = NO_SLOT;
    for ( uint32_t slot = store->slot_count; slot > 0; --slot )
    {
        if ( generations[slot - 1] != 0 )
        {
            push_free( store, slot - 1 );
        }
    }
    store->free_is_row = store->free_count == store->slot_count; // none is retired
}

bool clv_object_store_list_live( object_store* store )
{
    if ( store->live_is_current || store->live_count == store->slot_count )
    {
        return true;
    }
    store->live.count = 0;
    if ( !base_array_reserve( &store->live, store->memory, store->live_count ) )
    {
        return false;
    }
    const uint32_t* generations = object_generations( store );
    uint32_t count = 0;
    for ( uint32_t slot = 0; slot < store->slot_count; ++slot )
    {
        if ( ( generations[slot] & 1 ) != 0 )
        {
            store->live.items[count++] = slot;
        }
    }
    CLV_ASSERT( count == store->live_count );
    store->live.count = count;
    store->live_is_current = true;
    return true;
}

bool clv_object_store_shrink( object_store* store )
{
    uint64_t wanted = store->slot_count > LEAST_SLOTS ? store->slot_count : LEAST_SLOTS;
    for ( int column = 0; column < OBJECT_COLUMN_COUNT; ++column )
    {
        if ( store->columns[column] != NULL && wanted < store->capacities[column] &&
            !clv_base_memory_resize( store->memory, &store->columns[column], &store->capacities[column],
                store->slot_count, wanted, s_item_sizes[column] ) )
        {
            return false;
        }
    }
    store->live.count = store->live_is_current ? store->live.count : 0;
    return base_array_shrink( &store->live, store->memory );
}
