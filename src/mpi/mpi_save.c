// SPDX-License-Identifier: MIT
// A checkpoint is written. New parts have other names than those of the checkpoint that is there, which stays
// whole until the new manifest takes the place of the old one: that one rename is when the new checkpoint is
// in force.
#include "base/assertion.h"
#include "base/fp_mode.h"
#include "mpi_checkpoint.h"

/// What all processes of a save know.
typedef struct save_plan
{
    mpi_save_kind kind;
    uint32_t generation;
    uint32_t old_part_count; ///< of the checkpoint that is there; 0: none
} save_plan;

// Where a record of a section is put together; its chunk is written when the last one is there.
static uint8_t* begin_record( const mpi_section* s, uint64_t number, uint8_t* chunk )
{
    uint8_t* record = chunk + number % s->chunk_records * s->record_size;
    memset( record, 0, (size_t)s->record_size );
    return record;
}

static void end_record( base_parts_writer* w, const mpi_section* s, uint64_t number, const uint8_t* chunk )
{
    uint64_t count = number % s->chunk_records + 1;
    if ( count == clv_mpi_chunk_count( s, number + 1 - count ) )
    {
        clv_base_part_write( w, s->tag, chunk, count * s->record_size, 1 );
    }
}

// ---- objects

// Columns that this process does not keep have what they would begin with.
static mpi_saved_object object_of( const clv_mpi_space* space, uint32_t slot )
{
    const mpi_columns* c = &space->columns;
    mpi_saved_object o = { .id = c->ids.items[slot],
        .box = c->boxes.items[slot],
        .flags = c->flags.items[slot] & ( SLOT_OLD | SLOT_STATIC | SLOT_WAS_STATIC ),
        .before = c->boxes.items[slot],
        .filter = clv_default_filter(),
        .filter_before = clv_default_filter() };
    if ( space->modes.has_margins )
    {
        o.box = c->givens.items[slot];
        o.rule = c->rules.items[slot];
        o.motion = c->motions.items[slot];
    }
    if ( space->modes.has_history )
    {
        o.before = c->befores.items[slot];
        o.filter = c->filters.items[slot];
        o.filter_before = c->filters_before.items[slot];
    }
    return o;
}

static void write_objects( clv_mpi_space* space, base_parts_writer* w, const mpi_save_kind* kind,
    const mpi_part* part, uint8_t* chunk )
{
    mpi_section section = clv_mpi_section( kind, part, false );
    for ( uint64_t i = 0; i < section.count && !w->failed; ++i )
    {
        mpi_saved_object object = object_of( space, space->slots.own.items[i] );
        uint8_t* payload = clv_mpi_code_object( begin_record( &section, i, chunk ), true, kind, &object );
        if ( kind->payload_size > 0 )
        {
            space->def.payload.pack( object.id, payload, space->def.payload.user );
        }
        end_record( w, &section, i, chunk );
    }
}

// ---- pairs, and where they were

// Where an object is now: mostly where it was when the pair was found.
static uint32_t slot_of( const clv_mpi_space* space, uint64_t id, uint32_t guess )
{
    bool is_same = guess < space->slots.end && space->columns.ids.items[guess] == id &&
        ( space->columns.flags.items[guess] & SLOT_LIVE ) != 0;
    return is_same ? guess : clv_mpi_ids_find( &space->lookup.table, id );
}

// A pair that lost one of its objects has ended; the process that knew the other one's box knows its owner.
static mpi_corner corner_of( const clv_mpi_space* space, const mpi_found* pair )
{
    const mpi_columns* c = &space->columns;
    uint32_t a = slot_of( space, pair->a, pair->slot_a ), b = slot_of( space, pair->b, pair->slot_b );
    bool has_a = a != SLOT_NONE && ( c->flags.items[a] & SLOT_OLD ) != 0;
    bool has_b = b != SLOT_NONE && ( c->flags.items[b] & SLOT_OLD ) != 0;
    if ( has_a && has_b )
    {
        return ( mpi_corner ){ mpi_overlap_corner( &c->befores.items[a], &c->befores.items[b] ), false };
    }
    const clv_vec3 nowhere = { 0, 0, 0 };
    return ( mpi_corner ){ has_a ? c->befores.items[a].lower
            : has_b              ? c->befores.items[b].lower
                                 : nowhere,
        true };
}

bool clv_mpi_keep_corners( clv_mpi_space* space )
{
    if ( space->pairs.keeps_corners || !space->def.space.events )
    {
        return true;
    }
    if ( !base_array_renew( &space->pairs.corners, &space->memory, space->pairs.found_before.count ) )
    {
        return false;
    }
    for ( uint64_t i = 0; i < space->pairs.found_before.count; ++i )
    {
        space->pairs.corners.items[i] = corner_of( space, &space->pairs.found_before.items[i] );
    }
    space->pairs.keeps_corners = true;
    return true;
}

static void write_pairs( const clv_mpi_space* space, base_parts_writer* w, const mpi_save_kind* kind,
    const mpi_part* part, uint8_t* chunk )
{
    mpi_section section = clv_mpi_section( kind, part, true );
    CLV_ASSERT( !space->pairs.keeps_corners || section.count <= space->pairs.corners.capacity );
    for ( uint64_t i = 0; i < section.count && !w->failed; ++i )
    {
        const mpi_found* pair = &space->pairs.found_before.items[i];
        mpi_corner corner =
            space->pairs.keeps_corners ? space->pairs.corners.items[i] : corner_of( space, pair );
        mpi_saved_pair saved = { pair->a, pair->b, corner.at, corner.is_gone };
        clv_mpi_code_pair( begin_record( &section, i, chunk ), true, &saved );
        end_record( w, &section, i, chunk );
    }
}

// ---- a part

static bool write_part( clv_mpi_space* space, const mpi_save_kind* kind, mpi_file* file, const char* path,
    uint8_t* chunk, const mpi_part* part )
{
    base_parts_writer writer;
    if ( !clv_mpi_file_create( file, &writer, path, CHECKPOINT_PART, kind->save + (uint32_t)space->rank ) )
    {
        return false;
    }
    write_objects( space, &writer, kind, part, chunk );
    write_pairs( space, &writer, kind, part, chunk );
    return clv_mpi_file_finish( file, &writer );
}

static clv_result save_part( clv_mpi_space* space, const char* base, const save_plan* plan, mpi_part* part )
{
    mpi_file file;
    char path[FILE_PATH_ROOM];
    clv_mpi_part_path( path, base, plan->generation, (uint32_t)space->rank );
    uint64_t objects = plan->kind.record_size * plan->kind.chunk_records,
             pairs = (uint64_t)PAIR_RECORD_BYTES * CHUNK_RECORDS, room = objects > pairs ? objects : pairs;
    uint8_t* chunk = clv_base_memory_take( &space->memory, room, 1 );
    if ( chunk == NULL ||
        !base_array_renew( &space->exchange.scratch, &space->memory, (uint64_t)space->process_count * 2 ) )
    {
        clv_base_memory_give( &space->memory, chunk, chunk != NULL ? room : 0, 1 );
        return clv_mpi_reserved( space, false, "a chunk of a file" );
    }
    bool has_pairs = ( plan->kind.flags & SAVES_EVENTS ) != 0;
    *part = ( mpi_part ){ space->slots.own.count, has_pairs ? space->pairs.found_before.count : 0 };
    bool ok = write_part( space, &plan->kind, &file, path, chunk, part );
    clv_base_memory_give( &space->memory, chunk, room, 1 );
    return ok ? CLV_OK : clv_mpi_file_error( space, path, file.reason );
}

// ---- the manifest

static clv_result write_manifest( clv_mpi_space* space, const char* base, const save_plan* plan )
{
    mpi_manifest manifest = { .kind = plan->kind,
        .part_count = (uint32_t)space->process_count,
        .generation = plan->generation,
        .update_count = space->stats.update_count };
    mpi_file file;
    base_parts_writer writer;
    char path[FILE_PATH_ROOM];
    clv_mpi_manifest_path( path, base );
    bool ok = clv_mpi_file_create( &file, &writer, path, CHECKPOINT_MANIFEST, plan->kind.save );
    if ( ok )
    {
        clv_mpi_manifest_write( &writer, &manifest, space->exchange.scratch.items );
        ok = clv_mpi_file_finish( &file, &writer );
    }
    return ok ? CLV_OK : clv_mpi_file_error( space, path, file.reason );
}

static bool gather_parts( clv_mpi_space* space, const mpi_part* part )
{
    const uint64_t row[2] = { part->object_count, part->pair_count };
    CLV_ASSERT( (uint64_t)space->process_count * 2 <= space->exchange.scratch.capacity );
    memcpy( space->net.wire.own, row, sizeof( row ) );
    return clv_mpi_gather_all( space, space->net.wire.own, space->exchange.scratch.items, 2, MPI_UINT64_T );
}

// ---- all of it

// Which names are free: those that the checkpoint there, if any, does not have. What has no header of our
// manifests is not overwritten; one that is damaged behind it names nothing that could be kept.
static clv_result read_old_manifest( clv_mpi_space* space, const char* base, save_plan* plan )
{
    char path[FILE_PATH_ROOM];
    clv_mpi_manifest_path( path, base );
    if ( clv_mpi_file_is_missing( path ) )
    {
        return CLV_OK;
    }
    base_parts_reader reader = { 0 };
    uint8_t* bytes = clv_mpi_manifest_fetch( space, base, &reader.size );
    if ( bytes == NULL )
    {
        return space->error.code;
    }
    mpi_manifest old;
    reader.memory = bytes;
    bool is_good = clv_mpi_manifest_read( &reader, &old );
    clv_base_memory_give( &space->memory, bytes, reader.size, 1 );
    if ( !is_good && reader.fault_offset < BASE_PARTS_HEADER_BYTES )
    {
        return clv_mpi_reader_error( space, path, &reader );
    }
    plan->generation = is_good ? 1 - old.generation : 0;
    plan->old_part_count = is_good ? old.part_count : 0;
    return CLV_OK;
}

// All processes follow process 0's plan, and what one process keeps all write.
static clv_result make_plan( clv_mpi_space* space, const char* base, save_plan* plan )
{
    *plan = ( save_plan ){ .generation = 0 };
    clv_result mine = clv_mpi_check_path( space, base );
    mine = mine == CLV_OK && space->rank == 0 ? read_old_manifest( space, base, plan ) : mine;
    mine = mine == CLV_OK ? clv_mpi_reserved( space, clv_mpi_objects_list_own( space ), "a list of objects" )
                          : mine;
    clv_result result = clv_mpi_agree( space, mine );
    if ( result != CLV_OK )
    {
        return result;
    }
    uint64_t *own = space->net.wire.own, *all = space->net.wire.sums;
    own[0] = space->rank == 0 ? clv_mpi_file_unique() : 0;
    own[1] = plan->generation;
    own[2] = plan->old_part_count;
    own[3] = space->modes.has_history;
    own[4] = space->modes.has_margins;
    // By bits: MPICH 4.0.2 takes unsigned numbers for signed ones where the largest is asked for (its issue
    // 6083).
    if ( !clv_mpi_reduce( space, own, all, 5, MPI_UINT64_T, MPI_BOR ) )
    {
        return CLV_LOST;
    }
    uint32_t flags = ( space->def.space.events ? SAVES_EVENTS : 0u ) | ( all[3] != 0 ? SAVES_FILTERS : 0u ) |
        ( all[4] != 0 ? SAVES_MARGINS : 0u ) | ( space->def.space.skip_static_pairs ? SAVES_NO_STATICS : 0u );
    plan->kind = clv_mpi_save_kind( all[0], flags, space->def.payload.size );
    plan->generation = (uint32_t)all[1];
    plan->old_part_count = (uint32_t)all[2];
    return CLV_OK;
}

// Parts that no manifest names: those of the last checkpoint, or those of one that failed.
static void remove_parts( const clv_mpi_space* space, const char* base, uint32_t generation, uint32_t count )
{
    char path[FILE_PATH_ROOM];
    for ( uint64_t i = (uint64_t)space->rank; i < count; i += (uint64_t)space->process_count )
    {
        clv_mpi_part_path( path, base, generation, (uint32_t)i );
        remove( path );
    }
}

// Is the next process's part there? Parts on separate disks could never be loaded together.
static clv_result check_next_part( clv_mpi_space* space, const char* base, const save_plan* plan )
{
    mpi_file file;
    base_parts_reader reader;
    uint32_t next = ( (uint32_t)space->rank + 1 ) % (uint32_t)space->process_count;
    bool ok = clv_mpi_part_open( &file, &reader, base, &plan->kind, plan->generation, next );
    clv_mpi_file_close( &file );
    return ok
        ? CLV_OK
        : clv_mpi_file_error( space, file.path,
              "was written by another process and is not there for this one: the path must be one folder for all" );
}

static clv_result save_now( clv_mpi_space* space, const char* base )
{
    if ( space->is_lost )
    {
        return CLV_LOST;
    }
    save_plan plan;
    mpi_part part = { 0 };
    clv_mpi_boxes_fetch( space );
    clv_result result = make_plan( space, base, &plan );
    if ( result != CLV_OK )
    {
        return result;
    }
    result = clv_mpi_agree( space, save_part( space, base, &plan, &part ) );
    result = result == CLV_OK ? clv_mpi_agree( space, check_next_part( space, base, &plan ) ) : result;
    if ( result == CLV_OK )
    {
        clv_result mine = !gather_parts( space, &part ) ? CLV_LOST
            : space->rank == 0                          ? write_manifest( space, base, &plan )
                                                        : CLV_OK;
        result = clv_mpi_agree( space, mine );
    }
    // After a loss it is not known which manifest is in force: all parts stay.
    if ( result == CLV_OK )
    {
        remove_parts( space, base, 1 - plan.generation, plan.old_part_count );
    }
    else if ( result != CLV_LOST )
    {
        remove_parts( space, base, plan.generation, (uint32_t)space->process_count );
    }
    return result;
}

clv_result clv_mpi_space_save( clv_mpi_space* space, const char* path )
{
    base_fp_mode mode = base_fp_enter();
    clv_result result = save_now( space, path );
    base_fp_leave( mode );
    return result;
}
