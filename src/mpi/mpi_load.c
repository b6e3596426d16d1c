// SPDX-License-Identifier: MIT
// A checkpoint is read by however many processes there are now. Each reads its share of the objects and of the pairs, in the files'
// order; space is cut by where objects were at the last good update of the saved space; each pair goes to the process whose region holds the
// lower corner of its overlap then. That is the state after an update that failed, which the next one knows how to go on from.
// Until every process has everything, the space is as it was.
#include "base/assertion.h"
#include "base/finite.h"
#include "base/fp_mode.h"
#include "mpi_checkpoint.h"

enum
{
    PAIR_WORDS = PAIR_RECORD_BYTES / 8
};

/// What a load holds until it is good.
typedef struct loading
{
    clv_mpi_space* space;
    mpi_parts parts;
    mpi_range objects, pairs;
    uint8_t* records;
    uint64_t* ids;
    clv_aabb* boxes;
    uint8_t* pair_records;
    base_u64_array pairs_out, pairs_in; ///< PAIR_WORDS each
    mpi_found_list found;
    BASE_ARRAY( mpi_corner ) corners;
    mpi_regions regions;
} loading;

static clv_result no_memory( loading* l, const char* what )
{
    return clv_mpi_fail( l->space, CLV_OUT_OF_MEMORY, "no memory for the %s of a checkpoint", what );
}

// ---- the manifest, on all processes

static clv_result spread_manifest( loading* l )
{
    clv_mpi_space* space = l->space;
    if ( space->rank == 0 )
    {
        l->parts.manifest_bytes = clv_mpi_manifest_fetch( space, l->parts.base, &l->parts.manifest_size );
    }
    clv_result result = clv_mpi_agree(
        space, space->rank == 0 && l->parts.manifest_bytes == NULL ? space->error.code : CLV_OK );
    if ( result != CLV_OK )
    {
        return result;
    }
    space->net.wire.own[0] = l->parts.manifest_size;
    if ( !clv_mpi_broadcast( space, space->net.wire.own, sizeof( uint64_t ), 0 ) )
    {
        return CLV_LOST;
    }
    l->parts.manifest_size = space->net.wire.own[0];
    if ( space->rank != 0 )
    {
        l->parts.manifest_bytes = clv_base_memory_take( &space->memory, l->parts.manifest_size, 1 );
    }
    result = clv_mpi_agree( space, l->parts.manifest_bytes != NULL ? CLV_OK : no_memory( l, "manifest" ) );
    if ( result == CLV_OK && !clv_mpi_broadcast( space, l->parts.manifest_bytes, l->parts.manifest_size, 0 ) )
    {
        return CLV_LOST;
    }
    return result;
}

// What the checkpoint holds and what the def of this space asks for.
static const char* misfit_of( const mpi_manifest* m, const clv_mpi_def* def )
{
    bool has_events = ( m->kind.flags & SAVES_EVENTS ) != 0;
    bool skips = ( m->kind.flags & SAVES_NO_STATICS ) != 0;
    return m->kind.payload_size != def->payload.size ? "was saved with a payload of another size,"
        : def->space.events && !has_events           ? "was saved by a space without events,"
        : def->space.events && skips != def->space.skip_static_pairs
        ? "was saved with another skip_static_pairs,"
        : NULL;
}

static clv_result read_manifest( loading* l )
{
    char path[FILE_PATH_ROOM];
    clv_mpi_manifest_path( path, l->parts.base );
    uint64_t offset = 0;
    const char* fault =
        clv_mpi_manifest_read( l->parts.manifest_bytes, l->parts.manifest_size, &l->parts.manifest, &offset );
    if ( fault == NULL )
    {
        fault = misfit_of( &l->parts.manifest, &l->space->def );
        offset = 12;
    }
    return fault == NULL ? CLV_OK : clv_mpi_file_error_at( l->space, path, fault, offset );
}

// ---- what is in the parts

/// An object as its record has it.
typedef struct record
{
    uint32_t flags;
    clv_aabb before;
    clv_filter filter, filter_before;
    clv_margin_rule rule;
    clv_vec3 motion;
    const uint8_t* payload;
} record;

static const uint8_t* get_filter( const uint8_t* at, clv_filter* filter )
{
    *filter = ( clv_filter ){ mpi_get_u64( at ), mpi_get_u64( at + 8 ), (int32_t)mpi_get_u32( at + 16 ) };
    return at + 20;
}

static record get_record( const loading* l, uint64_t i )
{
    const uint8_t* at = l->records + i * l->parts.manifest.kind.record_size;
    record r = { .flags = mpi_get_u32( at + 32 ),
        .before = l->boxes[i],
        .filter = clv_default_filter(),
        .filter_before = clv_default_filter() };
    at += 40;
    if ( ( l->parts.manifest.kind.flags & SAVES_FILTERS ) != 0 )
    {
        r.before = mpi_get_box( at );
        at = get_filter( at + 24, &r.filter );
        at = get_filter( at, &r.filter_before );
    }
    if ( ( l->parts.manifest.kind.flags & SAVES_MARGINS ) != 0 )
    {
        r.rule = ( clv_margin_rule ){ mpi_get_float( at ), mpi_get_float( at + 4 ), mpi_get_float( at + 8 ) };
        r.motion = mpi_get_point( at + 12 );
        at += 24;
    }
    r.payload = at;
    return r;
}

// A sum that fits says that the bytes are those that were written, not that a space wrote them.
static clv_result check_records( loading* l )
{
    for ( uint64_t i = 0; i < l->objects.count; ++i )
    {
        const uint8_t* at = l->records + i * l->parts.manifest.kind.record_size;
        l->ids[i] = mpi_get_u64( at );
        l->boxes[i] = mpi_get_box( at + 8 );
        record r = get_record( l, i );
        const char* fault = !clv_aabb_is_valid( l->boxes[i] ) || !clv_aabb_is_valid( r.before )
            ? "has a box with a NaN, or its lower corner above its upper,"
            : ( r.flags & ~(uint32_t)( SLOT_OLD | SLOT_STATIC | SLOT_WAS_STATIC ) ) != 0
            ? "has an object with flags that no version 1 writes,"
            : !mpi_is_margin_rule( &r.rule )    ? "has a margin that is negative or not finite,"
            : !base_is_finite_point( r.motion ) ? "has a motion that is not finite,"
                                                : NULL;
        if ( fault != NULL )
        {
            return clv_mpi_parts_error( &l->parts, false, l->objects.first + i, fault );
        }
    }
    return CLV_OK;
}

static clv_result read_objects( loading* l )
{
    base_memory* memory = &l->space->memory;
    uint64_t count = l->objects.count;
    const mpi_save_kind* kind = &l->parts.manifest.kind;
    if ( count > CLV_MAX_OBJECTS )
    {
        return clv_mpi_fail( l->space, CLV_TOO_MANY_OBJECTS,
            "%llu objects for one process; more processes can load it", (unsigned long long)count );
    }
    if ( !clv_mpi_parts_check( &l->parts ) ) // before room is made for what a manifest only says
    {
        return l->space->error.code;
    }
    l->parts.chunk_room = clv_mpi_chunk_room( kind );
    l->parts.block = clv_base_memory_take( memory, l->parts.chunk_room, 1 );
    l->records = clv_base_memory_take( memory, count * kind->record_size, 1 );
    l->ids = clv_base_memory_take( memory, count, sizeof( uint64_t ) );
    l->boxes = clv_base_memory_take( memory, count, sizeof( clv_aabb ) );
    if ( l->parts.block == NULL ||
        ( count > 0 && ( l->records == NULL || l->ids == NULL || l->boxes == NULL ) ) )
    {
        return no_memory( l, "objects" );
    }
    return clv_mpi_parts_read( &l->parts, false, l->objects, l->records ) ? check_records( l )
                                                                          : l->space->error.code;
}

static clv_result read_pairs( loading* l )
{
    uint64_t count = l->pairs.count;
    if ( count > INT32_MAX )
    {
        return clv_mpi_fail( l->space, CLV_TOO_MANY_PAIRS,
            "%llu pairs for one process; more processes can load it", (unsigned long long)count );
    }
    l->pair_records = clv_base_memory_take( &l->space->memory, count, PAIR_RECORD_BYTES );
    if ( count > 0 && l->pair_records == NULL )
    {
        return no_memory( l, "pairs" );
    }
    if ( !clv_mpi_parts_read( &l->parts, true, l->pairs, l->pair_records ) )
    {
        return l->space->error.code;
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        const uint8_t* at = l->pair_records + i * PAIR_RECORD_BYTES;
        clv_vec3 corner = mpi_get_point( at + 16 );
        if ( mpi_get_u64( at ) >= mpi_get_u64( at + 8 ) || isnan( corner.x ) || isnan( corner.y ) ||
            isnan( corner.z ) || mpi_get_u32( at + 28 ) > 1 )
        {
            return clv_mpi_parts_error( &l->parts, true, l->pairs.first + i, "has a pair that is none," );
        }
    }
    return CLV_OK;
}

// ---- space is cut

static clv_result cut_for( loading* l )
{
    clv_mpi_space* space = l->space;
    mpi_points points;
    bool fits = clv_mpi_points_open( &points, &space->memory, l->objects.count );
    fits &= clv_mpi_regions_open( &l->regions, &space->memory, space->process_count );
    for ( uint64_t i = 0; fits && i < points.count; ++i )
    {
        record r = get_record( l, i );
        clv_mpi_points_set( &points, i, ( r.flags & SLOT_OLD ) != 0 ? &r.before : &l->boxes[i] );
    }
    clv_result result = clv_mpi_agree( space, fits ? CLV_OK : no_memory( l, "regions" ) );
    if ( result == CLV_OK && space->process_count > 1 )
    {
        result = clv_mpi_cut_points( space, &points, &l->regions );
    }
    if ( !space->is_lost )
    {
        clv_mpi_points_close( &points, &space->memory );
    }
    return result;
}

// ---- pairs go to where they were

static int32_t home_of( const void* user, const void* pair )
{
    const loading* l = user;
    return clv_mpi_regions_home( &l->regions, mpi_get_point( (const uint8_t*)pair + 16 ) );
}

static clv_result send_pairs_home( loading* l )
{
    clv_mpi_space* space = l->space;
    base_memory* memory = &space->memory;
    bool fits = base_array_renew( &l->pairs_out, memory, l->pairs.count * PAIR_WORDS );
    if ( fits )
    {
        clv_mpi_sort_by_rank(
            space, l->pair_records, l->pairs.count, PAIR_RECORD_BYTES, home_of, l, l->pairs_out.items );
    }
    clv_result mine = fits ? CLV_OK : no_memory( l, "pairs" );
    clv_result result = clv_mpi_deliver( space, mine, l->pairs_out.items, &l->pairs_in, PAIR_WORDS, "pairs" );
    uint64_t total = l->pairs_in.count / PAIR_WORDS;
    if ( result == CLV_OK )
    {
        fits = base_array_renew( &l->found, memory, total ) && base_array_renew( &l->corners, memory, total );
        result = clv_mpi_agree( space, fits ? CLV_OK : no_memory( l, "pairs" ) );
    }
    l->found.count = result == CLV_OK ? total : 0;
    return result;
}

// In order, with their corners beside them: while they are sorted a slot of each says where it was.
static clv_result sort_pairs( loading* l )
{
    for ( uint64_t i = 0; i < l->found.count; ++i )
    {
        const uint8_t* at = (const uint8_t*)( l->pairs_in.items + i * PAIR_WORDS );
        l->found.items[i] = ( mpi_found ){ mpi_get_u64( at ), mpi_get_u64( at + 8 ), (uint32_t)i, 0 };
    }
    clv_result result = clv_mpi_sort_found( l->space, &l->found );
    for ( uint64_t i = 0; result == CLV_OK && i < l->found.count; ++i )
    {
        const mpi_found* pair = &l->found.items[i];
        CLV_ASSERT( pair->slot_a < l->found.count && i < l->corners.capacity );
        if ( i > 0 && pair->a == pair[-1].a && pair->b == pair[-1].b )
        {
            char path[FILE_PATH_ROOM];
            clv_mpi_manifest_path( path, l->parts.base );
            return clv_mpi_file_error( l->space, path, "its parts have a pair twice" );
        }
        const uint8_t* at = (const uint8_t*)( l->pairs_in.items + (uint64_t)pair->slot_a * PAIR_WORDS );
        l->corners.items[i] = ( mpi_corner ){ mpi_get_point( at + 16 ), mpi_get_u32( at + 28 ) != 0 };
    }
    return result;
}

static clv_result load_pairs( loading* l )
{
    clv_result result = send_pairs_home( l );
    return result == CLV_OK ? clv_mpi_agree( l->space, sort_pairs( l ) ) : result;
}

// ---- into the space

// From here on nothing fails.
static void take_over( loading* l )
{
    clv_mpi_space* space = l->space;
    mpi_columns* c = &space->columns;
    for ( uint64_t i = 0; i < l->objects.count; ++i )
    {
        uint32_t slot = clv_mpi_ids_find( &space->lookup.table, l->ids[i] );
        CLV_ASSERT( slot != SLOT_NONE && ( c->flags.items[slot] & SLOT_OWN ) != 0 ); // add_objects took it
        record r = get_record( l, i );
        c->flags.items[slot] |= r.flags | SLOT_CHANGED;
        if ( space->modes.has_history )
        {
            c->befores.items[slot] = r.before;
            c->filters.items[slot] = r.filter;
            c->filters_before.items[slot] = r.filter_before;
        }
        if ( space->modes.has_margins )
        {
            c->rules.items[slot] = r.rule;
            c->motions.items[slot] = r.motion;
        }
        if ( space->def.payload.size > 0 )
        {
            space->def.payload.unpack( l->ids[i], r.payload, space->def.payload.user );
        }
    }
    mpi_found_list found = space->pairs.found_before;
    space->pairs.found_before = l->found;
    l->found = found;
    base_array_free( &space->pairs.corners, &space->memory );
    space->pairs.corners.items = l->corners.items;
    space->pairs.corners.capacity = l->corners.capacity;
    l->corners.items = NULL;
    l->corners.capacity = 0;
    CLV_ASSERT( space->pairs.found_before.count <= space->pairs.corners.capacity );
    space->pairs.keeps_corners = space->modes.must_resend = true;
    clv_mpi_regions_copy( &space->partition.regions, &l->regions );
    clv_mpi_regions_copy( &space->partition.regions_before, &l->regions );
    memset( space->net.sends_to, 0, (size_t)space->process_count );
    space->partition.cut_is_due = false;
    clv_mpi_reset_balance( space );
    space->pairs.is_valid = false;
    space->stats = ( clv_mpi_stats ){ .update_count = l->parts.manifest.update_count };
}

static clv_result add_objects( loading* l )
{
    clv_mpi_space* space = l->space;
    bool has_filters = ( l->parts.manifest.kind.flags & SAVES_FILTERS ) != 0;
    bool has_margins = ( l->parts.manifest.kind.flags & SAVES_MARGINS ) != 0;
    mpi_modes before = space->modes;
    clv_result mine = has_filters ? clv_mpi_objects_keep_history( space ) : CLV_OK;
    mine = mine == CLV_OK && has_margins ? clv_mpi_objects_keep_margins( space ) : mine;
    clv_result result = clv_mpi_agree( space, mine );
    if ( result == CLV_OK )
    {
        CLV_ASSERT( l->objects.count <= CLV_MAX_OBJECTS );
        result = clv_mpi_space_add( space, l->ids, l->boxes, (uint32_t)l->objects.count );
    }
    if ( result != CLV_OK )
    {
        space->modes = before;
    }
    if ( result == CLV_DUPLICATE_ID )
    {
        char path[FILE_PATH_ROOM], text[64];
        int32_t rank = space->error.rank;
        uint64_t id = space->error.id;
        clv_mpi_manifest_path( path, l->parts.base );
        snprintf( text, sizeof( text ), "its parts have object %llu twice", (unsigned long long)id );
        result = clv_mpi_file_error( space, path, text );
        space->error.rank = rank;
        space->error.id = id;
    }
    return result;
}

// ---- all of it

static clv_result check_empty( clv_mpi_space* space, const char* base )
{
    clv_result result = clv_mpi_check_path( space, base );
    return result != CLV_OK || space->slots.own.count == 0
        ? result
        : clv_mpi_fail( space, CLV_BAD_ARGUMENT,
              "a checkpoint is loaded into an empty space; process %d has objects", space->rank );
}

static clv_result load_steps( loading* l )
{
    clv_mpi_space* space = l->space;
    clv_result result = clv_mpi_agree( space, check_empty( space, l->parts.base ) );
    result = result == CLV_OK ? spread_manifest( l ) : result;
    result = result == CLV_OK ? clv_mpi_agree( space, read_manifest( l ) ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    l->objects = clv_mpi_parts_range( &l->parts, false );
    bool has_pairs = space->def.space.events;
    l->pairs = has_pairs ? clv_mpi_parts_range( &l->parts, true ) : ( mpi_range ){ 0, 0 };
    clv_result mine = read_objects( l );
    result = clv_mpi_agree( space, mine == CLV_OK ? read_pairs( l ) : mine );
    result = result == CLV_OK ? cut_for( l ) : result;
    result = result == CLV_OK && has_pairs ? load_pairs( l ) : result;
    return result == CLV_OK ? add_objects( l ) : result;
}

static void end_loading( loading* l )
{
    base_memory* memory = &l->space->memory;
    uint64_t count = l->objects.count;
    clv_base_memory_give( memory, l->parts.manifest_bytes, l->parts.manifest_size, 1 );
    clv_base_memory_give( memory, l->parts.block, l->parts.chunk_room, 1 );
    clv_base_memory_give( memory, l->records, count * l->parts.manifest.kind.record_size, 1 );
    clv_base_memory_give( memory, l->ids, count, sizeof( uint64_t ) );
    clv_base_memory_give( memory, l->boxes, count, sizeof( clv_aabb ) );
    clv_base_memory_give( memory, l->pair_records, l->pairs.count, PAIR_RECORD_BYTES );
    base_array_free( &l->pairs_out, memory );
    base_array_free( &l->pairs_in, memory );
    base_array_free( &l->found, memory );
    base_array_free( &l->corners, memory );
    clv_mpi_regions_close( &l->regions, memory );
}

clv_result clv_mpi_space_load( clv_mpi_space* space, const char* path )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    base_fp_mode mode = base_fp_enter();
    loading l = { .space = space, .parts = { .space = space, .base = path } };
    clv_result result = load_steps( &l );
    if ( result == CLV_OK )
    {
        take_over( &l );
    }
    if ( !space->is_lost ) // what is on its way may still be read and written
    {
        end_loading( &l );
    }
    base_fp_leave( mode );
    return result;
}
