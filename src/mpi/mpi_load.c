// SPDX-License-Identifier: MIT
// A checkpoint is read by however many processes there are now. Each reads a range of the objects and of the
// pairs, in the files' order; space is cut by where objects were at the last good update of the saved space;
// each pair goes to the process whose region holds the lower corner of its overlap then. That is the state
// after an update that failed, from which the next one knows how to go on. Until every process has
// everything, the space is as it was.
#include "base/assertion.h"
#include "base/finite.h"
#include "base/fp_mode.h"
#include "mpi_checkpoint.h"

enum
{
    PAIR_WORDS = PAIR_RECORD_BYTES / 8
};

/// Of all records, in the order of the parts; or of those of one part.
typedef struct record_range
{
    uint64_t first, count;
} record_range;

/// What a load holds until it is good.
typedef struct loading
{
    clv_mpi_space* space;
    const char* base;
    uint8_t* manifest_bytes;
    uint64_t manifest_size;
    mpi_manifest manifest;
    record_range objects, pairs;
    uint8_t* records;
    uint64_t* ids;
    clv_aabb* boxes;
    uint8_t* pair_records;
    base_u64_array pairs_out, pairs_in; ///< PAIR_WORDS each
    mpi_found_list found;
    BASE_ARRAY( mpi_corner ) corners;
    mpi_regions regions;
} loading;

// ---- the manifest, which every process reads

// What the checkpoint holds and what the def of this space asks for.
static const char* misfit_of( const mpi_manifest* m, const clv_mpi_def* def )
{
    bool has_events = ( m->kind.flags & SAVES_EVENTS ) != 0;
    bool skips = ( m->kind.flags & SAVES_NO_STATICS ) != 0;
    return m->kind.payload_size != def->payload.size ? "was saved with a payload of another size"
        : def->space.events && !has_events           ? "was saved by a space without events"
        : def->space.events && skips != def->space.skip_static_pairs
        ? "was saved with another skip_static_pairs"
        : NULL;
}

static clv_result read_manifest( loading* l )
{
    char path[FILE_PATH_ROOM];
    clv_mpi_manifest_path( path, l->base );
    l->manifest_bytes = clv_mpi_manifest_fetch( l->space, l->base, &l->manifest_size );
    if ( l->manifest_bytes == NULL )
    {
        return l->space->error.code;
    }
    base_parts_reader reader = { .memory = l->manifest_bytes, .size = l->manifest_size };
    const char* misfit =
        clv_mpi_manifest_read( &reader, &l->manifest ) ? misfit_of( &l->manifest, &l->space->def ) : NULL;
    if ( misfit != NULL )
    {
        clv_base_parts_fault( &reader, MANIFEST_SETTINGS_AT, "%s", misfit );
    }
    return reader.failed ? clv_mpi_reader_error( l->space, path, &reader ) : CLV_OK;
}

// ---- ranges of parts

static uint64_t count_of( const mpi_part* part, bool is_pairs )
{
    return is_pairs ? part->pair_count : part->object_count;
}

// With as many processes as wrote, each gets back what it had. Otherwise all get as much, to one record.
static record_range range_of( const loading* l, bool is_pairs )
{
    uint64_t total = is_pairs ? l->manifest.pair_count : l->manifest.object_count;
    uint64_t n = (uint64_t)l->space->process_count, r = (uint64_t)l->space->rank;
    if ( l->manifest.part_count != n )
    {
        uint64_t first = total / n * r + ( total % n < r ? total % n : r );
        CLV_ASSERT( first + total / n + ( r < total % n ) <= total );
        return ( record_range ){ first, total / n + ( r < total % n ) };
    }
    record_range own = { 0, 0 };
    for ( uint32_t i = 0; i <= (uint32_t)r; ++i )
    {
        mpi_part part = clv_mpi_manifest_part( &l->manifest, i );
        own.first += own.count;
        own.count = count_of( &part, is_pairs );
    }
    CLV_ASSERT( own.first + own.count <= total ); // the manifest's sums were compared
    return own;
}

// A part whose size is as the manifest's counts say. To be closed after a failure too.
static bool open_part(
    loading* l, uint32_t number, mpi_file* file, base_parts_reader* reader, const mpi_part* part )
{
    const mpi_manifest* m = &l->manifest;
    uint64_t size = clv_mpi_section( &m->kind, part, true ).end + base_part_bytes( 0 );
    return clv_mpi_part_open( file, reader, l->base, &m->kind, m->generation, number ) &&
        ( reader->size == size ||
            clv_base_parts_fault( reader, reader->size,
                reader->size < size ? "is cut off: it ends before what the manifest counts,"
                                    : "is longer than what the manifest counts: it ends" ) );
}

// `wanted` is counted from the part's first record. Every chunk that has one of these is read whole and its
// sum compared, so that between them the processes check every byte.
static bool read_records( base_parts_reader* reader, const mpi_section* s, record_range wanted, uint8_t* to )
{
    uint64_t first = wanted.first / s->chunk_records * s->chunk_records, end = wanted.first + wanted.count;
    CLV_ASSERT( wanted.count > 0 && end <= s->count );
    clv_base_part_seek(
        reader, clv_mpi_chunk_offset( s, first ), s->first_chunk + (uint32_t)( first / s->chunk_records ) );
    for ( uint64_t at = wanted.first; at < end && !reader->failed; )
    {
        uint64_t count = clv_mpi_chunk_count( s, first ), last = end < first + count ? end : first + count;
        uint64_t size = ( last - at ) * s->record_size;
        if ( clv_base_part_expect( reader, s->tag, count * s->record_size ) &&
            clv_base_part_skip( reader, ( at - first ) * s->record_size ) &&
            clv_base_part_get( reader, to, size ) && clv_base_part_skip( reader, reader->left ) )
        {
            clv_base_part_close( reader );
        }
        to += size;
        at = last;
        first += count;
    }
    return !reader->failed;
}

static clv_result read_range( loading* l, bool is_pairs, record_range all, uint8_t* to )
{
    clv_result result = CLV_OK;
    uint64_t begin = 0;
    for ( uint32_t i = 0; result == CLV_OK && i < l->manifest.part_count; ++i )
    {
        mpi_part part = clv_mpi_manifest_part( &l->manifest, i );
        uint64_t end = begin + count_of( &part, is_pairs );
        uint64_t first = all.first > begin ? all.first : begin;
        uint64_t last = all.first + all.count < end ? all.first + all.count : end;
        if ( first < last )
        {
            mpi_file file;
            base_parts_reader reader;
            mpi_section s = clv_mpi_section( &l->manifest.kind, &part, is_pairs );
            record_range wanted = { first - begin, last - first };
            bool ok = open_part( l, i, &file, &reader, &part ) &&
                read_records( &reader, &s, wanted, to + ( first - all.first ) * s.record_size );
            clv_mpi_file_close( &file );
            result = ok ? CLV_OK : clv_mpi_file_reader_error( l->space, &file, &reader );
        }
        begin = end;
    }
    CLV_ASSERT( result != CLV_OK || all.first + all.count <= begin );
    return result;
}

// Empty parts must be there too: each part is opened, and its end looked at, by one process.
static clv_result check_all_parts( loading* l )
{
    clv_result result = CLV_OK;
    uint64_t step = (uint64_t)l->space->process_count;
    for ( uint64_t i = (uint64_t)l->space->rank; result == CLV_OK && i < l->manifest.part_count; i += step )
    {
        mpi_file file;
        base_parts_reader reader;
        mpi_part part = clv_mpi_manifest_part( &l->manifest, (uint32_t)i );
        mpi_section s = clv_mpi_section( &l->manifest.kind, &part, true );
        uint64_t chunks = ( s.count + s.chunk_records - 1 ) / s.chunk_records;
        bool ok = open_part( l, (uint32_t)i, &file, &reader, &part );
        if ( ok )
        {
            clv_base_part_seek( &reader, s.end, s.first_chunk + (uint32_t)chunks );
            ok = clv_base_part_expect( &reader, BASE_PART_END, 0 );
        }
        clv_mpi_file_close( &file );
        result = ok ? CLV_OK : clv_mpi_file_reader_error( l->space, &file, &reader );
    }
    return result;
}

// An error about a record, by its number among all.
static clv_result record_error( loading* l, bool is_pairs, uint64_t record, const char* reason )
{
    uint32_t number = 0;
    mpi_part part = clv_mpi_manifest_part( &l->manifest, 0 );
    while ( record >= count_of( &part, is_pairs ) )
    {
        record -= count_of( &part, is_pairs );
        part = clv_mpi_manifest_part( &l->manifest, ++number );
    }
    char path[FILE_PATH_ROOM];
    base_parts_reader reader = { 0 };
    mpi_section s = clv_mpi_section( &l->manifest.kind, &part, is_pairs );
    clv_mpi_part_path( path, l->base, l->manifest.generation, number );
    clv_base_parts_fault( &reader, clv_mpi_record_offset( &s, record ), "%s", reason );
    return clv_mpi_reader_error( l->space, path, &reader );
}

// ---- objects and pairs

static mpi_saved_object get_object( const loading* l, uint64_t i, const uint8_t** payload )
{
    const mpi_save_kind* kind = &l->manifest.kind;
    mpi_saved_object o = { .filter = clv_default_filter(), .filter_before = clv_default_filter() };
    *payload = clv_mpi_code_object( l->records + i * kind->record_size, false, kind, &o );
    o.before = ( kind->flags & SAVES_FILTERS ) != 0 ? o.before : o.box;
    return o;
}

// A sum that fits says that the bytes are those that were written, not that a space wrote them.
static clv_result check_objects( loading* l )
{
    for ( uint64_t i = 0; i < l->objects.count; ++i )
    {
        const uint8_t* payload;
        mpi_saved_object o = get_object( l, i, &payload );
        l->ids[i] = o.id;
        l->boxes[i] = o.box;
        const char* fault = !clv_aabb_is_valid( o.box ) || !clv_aabb_is_valid( o.before )
            ? "has a box with a NaN, or its lower corner above its upper,"
            : ( o.flags & ~(uint32_t)( SLOT_OLD | SLOT_STATIC | SLOT_WAS_STATIC ) ) != 0
            ? "has an object with unknown flags"
            : !mpi_is_margin_rule( &o.rule )    ? "has a margin that is negative or not finite,"
            : !base_is_finite_point( o.motion ) ? "has a motion that is not finite,"
                                                : NULL;
        if ( fault != NULL )
        {
            return record_error( l, false, l->objects.first + i, fault );
        }
    }
    return CLV_OK;
}

static clv_result read_objects( loading* l )
{
    base_memory* memory = &l->space->memory;
    uint64_t count = l->objects.count;
    const mpi_save_kind* kind = &l->manifest.kind;
    if ( count > CLV_MAX_OBJECTS )
    {
        return clv_mpi_fail( l->space, CLV_TOO_MANY_OBJECTS,
            "%llu objects for one process: load it with more", (unsigned long long)count );
    }
    clv_result result = check_all_parts( l ); // before room is made for what a manifest only says
    if ( result != CLV_OK )
    {
        return result;
    }
    l->records = clv_base_memory_take( memory, count * kind->record_size, 1 );
    l->ids = clv_base_memory_take( memory, count, sizeof( uint64_t ) );
    l->boxes = clv_base_memory_take( memory, count, sizeof( clv_aabb ) );
    if ( count > 0 && ( l->records == NULL || l->ids == NULL || l->boxes == NULL ) )
    {
        return clv_mpi_reserved( l->space, false, "the objects of a checkpoint" );
    }
    result = read_range( l, false, l->objects, l->records );
    return result == CLV_OK ? check_objects( l ) : result;
}

static clv_result read_pairs( loading* l )
{
    uint64_t count = l->pairs.count;
    if ( count > INT32_MAX )
    {
        return clv_mpi_fail( l->space, CLV_TOO_MANY_PAIRS, "%llu pairs for one process: load it with more",
            (unsigned long long)count );
    }
    l->pair_records = clv_base_memory_take( &l->space->memory, count, PAIR_RECORD_BYTES );
    if ( count > 0 && l->pair_records == NULL )
    {
        return clv_mpi_reserved( l->space, false, "the pairs of a checkpoint" );
    }
    clv_result result = read_range( l, true, l->pairs, l->pair_records );
    for ( uint64_t i = 0; result == CLV_OK && i < count; ++i )
    {
        mpi_saved_pair pair = { 0 };
        clv_mpi_code_pair( l->pair_records + i * PAIR_RECORD_BYTES, false, &pair );
        if ( pair.a >= pair.b || isnan( pair.corner.x ) || isnan( pair.corner.y ) || isnan( pair.corner.z ) ||
            pair.is_gone > 1 )
        {
            result = record_error( l, true, l->pairs.first + i, "has an invalid pair" );
        }
    }
    return result;
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
        const uint8_t* payload;
        mpi_saved_object o = get_object( l, i, &payload );
        clv_mpi_points_set( &points, i, ( o.flags & SLOT_OLD ) != 0 ? &o.before : &o.box );
    }
    clv_result result = clv_mpi_agree_reserved( space, fits, "regions" );
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

// ---- pairs to the processes that reported them

static mpi_saved_pair pair_at( const void* words )
{
    mpi_saved_pair pair = { 0 };
    clv_mpi_code_pair( (uint8_t*)(uintptr_t)words, false, &pair );
    return pair;
}

static int32_t home_of( const void* user, const void* pair )
{
    const loading* l = user;
    return clv_mpi_regions_home( &l->regions, pair_at( pair ).corner );
}

static clv_result send_pairs( loading* l )
{
    clv_mpi_space* space = l->space;
    base_memory* memory = &space->memory;
    bool fits = base_array_renew( &l->pairs_out, memory, l->pairs.count * PAIR_WORDS );
    if ( fits )
    {
        clv_mpi_sort_by_rank(
            space, l->pair_records, l->pairs.count, PAIR_RECORD_BYTES, home_of, l, l->pairs_out.items );
    }
    clv_result mine = clv_mpi_reserved( space, fits, "the pairs of a checkpoint" );
    clv_result result = clv_mpi_deliver( space, mine, l->pairs_out.items, &l->pairs_in, PAIR_WORDS, "pairs" );
    uint64_t total = l->pairs_in.count / PAIR_WORDS;
    if ( result == CLV_OK )
    {
        fits = base_array_renew( &l->found, memory, total ) && base_array_renew( &l->corners, memory, total );
        result = clv_mpi_agree_reserved( space, fits, "the pairs of a checkpoint" );
    }
    l->found.count = result == CLV_OK ? total : 0;
    return result;
}

// In order, with their corners beside them: while they are sorted slot_a is the place in pairs_in.
static clv_result sort_pairs( loading* l )
{
    for ( uint64_t i = 0; i < l->found.count; ++i )
    {
        mpi_saved_pair pair = pair_at( l->pairs_in.items + i * PAIR_WORDS );
        l->found.items[i] = ( mpi_found ){ pair.a, pair.b, (uint32_t)i, 0 };
    }
    clv_result result = clv_mpi_sort_found( l->space, &l->found );
    for ( uint64_t i = 0; result == CLV_OK && i < l->found.count; ++i )
    {
        const mpi_found* found = &l->found.items[i];
        CLV_ASSERT( found->slot_a < l->found.count && i < l->corners.capacity );
        if ( i > 0 && found->a == found[-1].a && found->b == found[-1].b )
        {
            char path[FILE_PATH_ROOM];
            clv_mpi_manifest_path( path, l->base );
            return clv_mpi_file_error( l->space, path, "its parts have a pair twice" );
        }
        mpi_saved_pair pair = pair_at( l->pairs_in.items + (uint64_t)found->slot_a * PAIR_WORDS );
        l->corners.items[i] = ( mpi_corner ){ pair.corner, pair.is_gone != 0 };
    }
    return result;
}

static clv_result load_pairs( loading* l )
{
    clv_result result = send_pairs( l );
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
        const uint8_t* payload;
        mpi_saved_object o = get_object( l, i, &payload );
        c->flags.items[slot] |= o.flags | SLOT_CHANGED;
        if ( space->modes.has_history )
        {
            c->befores.items[slot] = o.before;
            c->filters.items[slot] = o.filter;
            c->filters_before.items[slot] = o.filter_before;
        }
        if ( space->modes.has_margins )
        {
            c->rules.items[slot] = o.rule;
            c->motions.items[slot] = o.motion;
        }
        if ( space->def.payload.size > 0 )
        {
            space->def.payload.unpack( l->ids[i], payload, space->def.payload.user );
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
    space->stats = ( clv_mpi_stats ){ .update_count = l->manifest.update_count };
}

static clv_result add_objects( loading* l )
{
    clv_mpi_space* space = l->space;
    bool has_filters = ( l->manifest.kind.flags & SAVES_FILTERS ) != 0;
    bool has_margins = ( l->manifest.kind.flags & SAVES_MARGINS ) != 0;
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
        clv_mpi_manifest_path( path, l->base );
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
    clv_result result = clv_mpi_agree( space, check_empty( space, l->base ) );
    result = result == CLV_OK ? clv_mpi_agree( space, read_manifest( l ) ) : result;
    if ( result != CLV_OK )
    {
        return result;
    }
    l->objects = range_of( l, false );
    bool has_pairs = space->def.space.events;
    l->pairs = has_pairs ? range_of( l, true ) : ( record_range ){ 0, 0 };
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
    clv_base_memory_give( memory, l->manifest_bytes, l->manifest_size, 1 );
    clv_base_memory_give( memory, l->records, count * l->manifest.kind.record_size, 1 );
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
    loading l = { .space = space, .base = path };
    clv_result result = load_steps( &l );
    if ( result == CLV_OK )
    {
        take_over( &l );
    }
    if ( !space->is_lost ) // messages under way may still be read and written
    {
        end_loading( &l );
    }
    base_fp_leave( mode );
    return result;
}
