// SPDX-License-Identifier: MIT
// A recorder. Records are appended to a buffer; a full one is a part of the file and goes to the sink, by
// this thread or by the recorder's own. A record that is larger than a buffer is a part by itself and goes
// through in pieces, so that buffers stay small enough for a cache; without a thread its boxes go to the sink
// from where the caller has them. From the first failure on calls find the recorder closed and pass by.
#include "cleave/record.h"

#include "base/array.h"
#include "base/assertion.h"
#include "record/record.h"
#include "space/space_internal.h"
#include "space/space_query.h"
#include "task/background.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>

#define RECORDER_COOKIE 0x4EC04Du

enum
{
    BUFFER_BYTES = 1 << 18, // a buffer: a fourth of the cache that a core has for itself, as a rule
    BUFFER_COUNT = 16,      // of a thread: one being filled, the others on their way
    DIRECT_BYTES = 1 << 14, // from here on the sink reads from the caller's memory
    STAGE_BYTES = 1 << 12,  // what is no piece of memory is put together in so much
};

typedef struct piece_buffer
{
    uint8_t* bytes;
    uint64_t count;
    uint64_t part; ///< length of the part that begins with this piece; 0: a piece of the part before
} piece_buffer;

typedef BASE_ARRAY( uint8_t ) answer_array;

typedef BASE_ARRAY( clv_pair ) decided_array;

struct clv_recorder
{
    space_tap tap; ///< first: a tap is a recorder
    clv_space* space;
    base_memory memory;
    clv_recorder_def def;
    FILE* file;

    // Of the one that holds the gate, since queries come from any thread: a record is
    // whole before the next begins.
    task_background gate; ///< its lock alone
    piece_buffer buffers[BUFFER_COUNT];
    uint32_t buffer_count; ///< one without a thread
    uint32_t filling;      ///< which of them
    bool is_streaming;     ///< the record under way is a part by itself
    uint64_t left;         ///< bytes of it that are still to come
    uint64_t call_count;
    uint64_t byte_count; ///< of parts so far

    // Under the background's lock.
    task_background background;
    uint32_t first_full, full_count; ///< buffers that wait for the thread, in turn
    bool is_closing;

    base_parts_writer writer; ///< its bytes go to the sink
    atomic_bool is_over;      ///< something failed: nothing is recorded any more
    clv_result code;          ///< and what, under the lock
    const char* text;
    bool is_told; ///< the logger knows

    // The call under way.
    space_call open;
    bool is_open;
    uint64_t open_number;
    record_hash shown;
    decided_array decided;
    answer_array decided_yes;
};

static clv_recorder* recorder_of( space_tap* tap )
{
    return (clv_recorder*)tap;
}

clv_recorder_def clv_default_recorder_def( void )
{
    clv_recorder_def def;
    memset( &def, 0, sizeof( def ) );
    def.size = (uint32_t)sizeof( def );
    def.cookie = RECORDER_COOKIE;
    return def;
}

// ---- the end, whatever it came from

// The first reason stays.
static void give_up( clv_recorder* recorder, clv_result code, const char* text )
{
    clv_task_background_lock( &recorder->background );
    if ( !atomic_load_explicit( &recorder->is_over, memory_order_relaxed ) )
    {
        recorder->code = code;
        recorder->text = text;
        atomic_store_explicit( &recorder->is_over, true, memory_order_release );
    }
    clv_task_background_unlock( &recorder->background );
}

static bool is_over( const clv_recorder* recorder )
{
    return atomic_load_explicit( &recorder->is_over, memory_order_acquire );
}

// On a thread of the caller's, without the lock.
static void tell_end( clv_recorder* recorder )
{
    if ( is_over( recorder ) && !recorder->is_told )
    {
        char line[160];
        recorder->is_told = true;
        snprintf( line, sizeof( line ), "the recording ended after %llu calls: %s",
            (unsigned long long)recorder->call_count, recorder->text );
        clv_space_log( &recorder->def.logger, CLV_LOG_WARNING, line );
    }
}

// ---- bytes out

static bool put_to_sink( const void* bytes, uint64_t size, void* user )
{
    clv_recorder* recorder = user;
    return recorder->file != NULL ? fwrite( bytes, 1, (size_t)size, recorder->file ) == size
                                  : recorder->def.put( bytes, (size_t)size, recorder->def.put_user );
}

static void sink_failed( clv_recorder* recorder )
{
    give_up( recorder, CLV_FILE_FAILED, "the file or sink took no more bytes" );
}

// By the one that writes, without a lock of the thread's.
static void write_piece( clv_recorder* recorder, uint64_t part, const void* bytes, uint64_t size )
{
    base_parts_writer* writer = &recorder->writer;
    if ( writer->failed || size == 0 )
    {
        return;
    }
    if ( part > 0 )
    {
        clv_base_part_begin( writer, RECORD_PART_CALLS, part );
    }
    clv_base_part_put( writer, bytes, size );
    if ( writer->left == 0 )
    {
        clv_base_part_end( writer );
    }
    if ( recorder->file != NULL && recorder->def.writes_each )
    {
        writer->failed |= fflush( recorder->file ) != 0;
    }
    if ( writer->failed )
    {
        sink_failed( recorder );
    }
}

static void write_buffer( clv_recorder* recorder, piece_buffer* buffer )
{
    write_piece( recorder, buffer->part, buffer->bytes, buffer->count );
    buffer->count = buffer->part = 0;
}

// The recorder's thread.
static void write_in_turn( void* context )
{
    clv_recorder* recorder = context;
    task_background* background = &recorder->background;
    clv_task_background_lock( background );
    while ( recorder->full_count > 0 || !recorder->is_closing )
    {
        if ( recorder->full_count == 0 )
        {
            clv_task_background_wait( background );
            continue;
        }
        piece_buffer* buffer = &recorder->buffers[recorder->first_full];
        CLV_ASSERT( buffer->count > 0 && recorder->full_count <= BUFFER_COUNT );
        clv_task_background_unlock( background );
        write_buffer( recorder, buffer );
        clv_task_background_lock( background );
        recorder->first_full = ( recorder->first_full + 1 ) % BUFFER_COUNT;
        recorder->full_count -= 1;
        clv_task_background_signal( background );
    }
    clv_task_background_unlock( background );
}

// With the gate held, as all that follows: what is in the buffer goes on its way.
static void pass_piece_on( clv_recorder* recorder )
{
    piece_buffer* buffer = &recorder->buffers[recorder->filling];
    if ( buffer->count == 0 )
    {
        return;
    }
    if ( !recorder->background.is_running )
    {
        write_buffer( recorder, buffer );
        return;
    }
    clv_task_background_lock( &recorder->background );
    recorder->full_count += 1;
    // It is woken for half of all buffers at once: to wake a thread costs a system call and a switch.
    if ( recorder->full_count >= BUFFER_COUNT / 2 || recorder->def.writes_each )
    {
        clv_task_background_signal( &recorder->background );
    }
    while ( recorder->full_count == BUFFER_COUNT )
    {
        clv_task_background_wait( &recorder->background );
    }
    clv_task_background_unlock( &recorder->background );
    recorder->filling = ( recorder->filling + 1 ) % BUFFER_COUNT;
    CLV_ASSERT( recorder->buffers[recorder->filling].count == 0 );
}

// The next piece begins a part of that length. False: there would be too many bytes.
static bool begin_part( clv_recorder* recorder, uint64_t length )
{
    uint64_t after = recorder->byte_count + base_part_bytes( length );
    if ( recorder->def.most_bytes > 0 && after > recorder->def.most_bytes )
    {
        give_up( recorder, CLV_FILE_FAILED, "it reached def.most_bytes" );
        return false;
    }
    recorder->byte_count = after;
    recorder->buffers[recorder->filling].part = length;
    return true;
}

// The records in the buffer, as a part.
static void pass_on( clv_recorder* recorder )
{
    piece_buffer* buffer = &recorder->buffers[recorder->filling];
    if ( buffer->count > 0 && begin_part( recorder, buffer->count ) )
    {
        pass_piece_on( recorder );
    }
    else
    {
        buffer->count = 0;
    }
}

// ---- records

static void put_in_turn( clv_recorder* recorder, const void* bytes, uint64_t size )
{
    const uint8_t* from = bytes;
    CLV_ASSERT( size <= recorder->left );
    recorder->left -= size;
    if ( recorder->is_streaming && !recorder->background.is_running && size >= DIRECT_BYTES )
    {
        pass_piece_on( recorder );
        write_piece( recorder, 0, from, size );
        return;
    }
    while ( size > 0 )
    {
        piece_buffer* buffer = &recorder->buffers[recorder->filling];
        uint64_t room = BUFFER_BYTES - buffer->count, piece = size < room ? size : room;
        memcpy( buffer->bytes + buffer->count, from, (size_t)piece );
        buffer->count += piece;
        from += piece;
        size -= piece;
        CLV_ASSERT( size == 0 || recorder->is_streaming );
        if ( buffer->count == BUFFER_BYTES && recorder->is_streaming )
        {
            pass_piece_on( recorder );
        }
    }
}

// The head of a record; what follows are the bytes of its body, then end_record. False if the recording is
// over.
static bool begin_record(
    clv_recorder* recorder, record_type type, uint32_t kind, uint32_t bits, uint32_t count, uint64_t body )
{
    uint8_t head[RECORD_HEAD_BYTES];
    CLV_ASSERT( kind <= UINT8_MAX && bits <= UINT16_MAX );
    if ( recorder->buffers[recorder->filling].count + sizeof( head ) + body > BUFFER_BYTES )
    {
        pass_on( recorder );
    }
    recorder->is_streaming = sizeof( head ) + body > BUFFER_BYTES;
    if ( is_over( recorder ) || ( recorder->is_streaming && !begin_part( recorder, sizeof( head ) + body ) ) )
    {
        return false;
    }
    base_put_u64( head, body );
    head[8] = (uint8_t)type;
    head[9] = (uint8_t)kind;
    head[10] = (uint8_t)bits;
    head[11] = (uint8_t)( bits >> 8 );
    base_put_u32( head + 12, count );
    recorder->left = sizeof( head ) + body;
    put_in_turn( recorder, head, sizeof( head ) );
    return true;
}

static void end_record( clv_recorder* recorder )
{
    CLV_ASSERT( recorder->left == 0 );
    if ( recorder->is_streaming )
    {
        recorder->is_streaming = false;
        pass_piece_on( recorder );
    }
    else if ( recorder->def.writes_each )
    {
        pass_on( recorder );
    }
}

static void put_numbers( clv_recorder* recorder, const void* numbers, uint64_t count, uint32_t unit )
{
    if ( unit == 1 || base_is_little_endian() )
    {
        put_in_turn( recorder, numbers, count * unit );
        return;
    }
    uint8_t turned[STAGE_BYTES];
    const uint8_t* from = numbers;
    for ( uint64_t most = STAGE_BYTES / unit; count > 0; )
    {
        uint64_t piece = count < most ? count : most;
        clv_base_copy_ordered( turned, from, piece, unit );
        put_in_turn( recorder, turned, piece * unit );
        from += piece * unit;
        count -= piece;
    }
}

static uint8_t* put_word( uint8_t* to, uint64_t word )
{
    base_put_u64( to, word );
    return to + 8;
}

static uint64_t bits_of( double value )
{
    uint64_t bits;
    memcpy( &bits, &value, sizeof( bits ) );
    return bits;
}

// Member by member: what lies between them is anything.
static void put_filters( clv_recorder* recorder, const clv_filter* filters, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint8_t bytes[24];
        put_word(
            put_word( put_word( bytes, filters[i].category ), filters[i].mask ), (uint32_t)filters[i].group );
        put_in_turn( recorder, bytes, sizeof( bytes ) );
    }
}

static void put_stream( clv_recorder* recorder, const space_stream* stream, uint32_t count, uint32_t unit )
{
    size_t corner = space_corner_bytes( stream->kind ), box = 2 * corner;
    CLV_ASSERT( stream->lower != NULL && corner % unit == 0 );
    if ( space_are_records( stream ) )
    {
        put_numbers( recorder, stream->lower, count * (uint64_t)box / unit, unit );
        return;
    }
    uint8_t boxes[STAGE_BYTES];
    uint32_t staged = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        uint8_t* to = boxes + box * staged++;
        memcpy( to, (const char*)stream->lower + stream->stride * i, corner );
        memcpy( to + corner, (const char*)stream->upper + stream->stride * i, corner );
        if ( staged == STAGE_BYTES / box || i + 1 == count )
        {
            put_numbers( recorder, boxes, staged * (uint64_t)box / unit, unit );
            staged = 0;
        }
    }
}

// Columns of boxes come in the order of their kinds.
static_assert( (int)SPACE_COLUMN_boxes == SPACE_FLOATS && (int)SPACE_COLUMN_boxes2 == SPACE_FLAT &&
        (int)SPACE_COLUMN_boxes64 == SPACE_DOUBLES,
    "columns in the order of space_kind" );

// Boxes of a door are in its stream, whatever its def had.
static bool has_column( const space_call* call, space_column column )
{
    bool is_box = column <= SPACE_COLUMN_boxes64;
    return is_box ? call->boxes != NULL && call->count > 0 && (int)column == (int)call->boxes->kind
                  : call->count > 0 && record_column_of( &call->with, column ) != NULL;
}

static void put_column( clv_recorder* recorder, const space_call* call, space_column column )
{
    const record_column* row = &clv_record_columns[column];
    const void* data = record_column_of( &call->with, column );
    if ( column <= SPACE_COLUMN_boxes64 )
    {
        put_stream( recorder, call->boxes, call->count, row->unit );
    }
    else if ( column == SPACE_COLUMN_filters )
    {
        put_filters( recorder, data, call->count );
    }
    else
    {
        put_numbers( recorder, data, (uint64_t)call->count * row->units, row->unit );
    }
}

static void put_batch( clv_recorder* recorder, const space_call* call )
{
    uint32_t bits = call->made != NULL ? RECORD_MADE : 0;
    uint64_t body = call->kind == SPACE_CALL_SHIFT_ORIGIN ? sizeof( clv_vec64 ) : 0;
    bool has_ids = call->ids != NULL && call->count > 0;
    if ( has_ids )
    {
        bool row = clv_record_is_row( call->ids, call->count );
        bits |= RECORD_IDS | ( row ? RECORD_ROW : 0 );
        body += row ? sizeof( clv_id ) : sizeof( clv_id ) * (uint64_t)call->count;
    }
    for ( space_column i = 0; i < SPACE_COLUMN_COUNT; ++i )
    {
        if ( has_column( call, i ) )
        {
            bits |= 1u << i;
            body += (uint64_t)call->count * clv_record_columns[i].unit * clv_record_columns[i].units;
        }
    }
    if ( !begin_record( recorder, RECORD_CALL, call->kind, bits, call->count, body ) )
    {
        return;
    }
    if ( has_ids )
    {
        put_numbers( recorder, call->ids, ( bits & RECORD_ROW ) != 0 ? 2 : 2 * (uint64_t)call->count, 4 );
    }
    for ( space_column i = 0; i < SPACE_COLUMN_COUNT; ++i )
    {
        if ( has_column( call, i ) )
        {
            put_column( recorder, call, i );
        }
    }
    if ( call->kind == SPACE_CALL_SHIFT_ORIGIN )
    {
        put_numbers( recorder, &call->origin, 3, 8 );
    }
    end_record( recorder );
}

static void put_answer( clv_recorder* recorder, uint64_t number, const record_answer* answer )
{
    CLV_ASSERT( number < recorder->call_count && answer->word_count <= RECORD_MOST_WORDS );
    if ( begin_record( recorder, RECORD_ANSWER, (uint32_t)answer->result, answer->word_count,
             answer->position, 8 + 8 * (uint64_t)answer->word_count ) )
    {
        put_numbers( recorder, &number, 1, 8 );
        put_numbers( recorder, answer->words, answer->word_count, 8 );
        end_record( recorder );
    }
}

static void put_decided( clv_recorder* recorder )
{
    uint64_t count = recorder->decided.count;
    CLV_ASSERT( recorder->decided_yes.count == count );
    for ( uint64_t first = 0; first < count; )
    {
        uint64_t some = count - first < UINT32_MAX ? count - first : UINT32_MAX;
        if ( !begin_record( recorder, RECORD_DECIDED, 0, 0, (uint32_t)some, 8 + 9 * some ) )
        {
            break;
        }
        put_numbers( recorder, &recorder->open_number, 1, 8 );
        put_numbers( recorder, recorder->decided.items + first, 2 * some, 4 );
        put_numbers( recorder, recorder->decided_yes.items + first, some, 1 );
        end_record( recorder );
        first += some;
    }
    recorder->decided.count = recorder->decided_yes.count = 0;
}

// ---- what the space tells

// Is there anything to read? Batches beyond a space are refused before a box is looked at, and so here.
static bool is_readable( const clv_space* space, const space_call* call )
{
    const space_stream* boxes = call->boxes;
    if ( call->count == 0 )
    {
        return true;
    }
    return ( clv_record_kind( call->kind )->form != SPACE_ABOUT_NEW ||
               clv_object_store_fits( &space->objects, call->count ) ) &&
        ( clv_record_kind( call->kind )->form != SPACE_ABOUT_OBJECTS || call->ids != NULL ) &&
        ( boxes == NULL ||
            ( boxes->lower != NULL && boxes->upper != NULL &&
                boxes->stride >= space_corner_bytes( boxes->kind ) ) );
}

static void begin_call( space_tap* tap, const clv_space* space, const space_call* call )
{
    clv_recorder* recorder = recorder_of( tap );
    recorder->is_open = !is_over( recorder ) && is_readable( space, call );
    if ( !recorder->is_open )
    {
        return;
    }
    clv_task_background_lock( &recorder->gate );
    put_batch( recorder, call );
    recorder->open = *call;
    recorder->open_number = recorder->call_count;
    recorder->call_count += 1;
    recorder->shown = ( record_hash ){ 0 };
    clv_task_background_unlock( &recorder->gate );
}

static void end_call( space_tap* tap, const clv_space* space, clv_result result )
{
    clv_recorder* recorder = recorder_of( tap );
    if ( recorder->is_open )
    {
        recorder->is_open = false;
        CLV_ASSERT( recorder->space == space );
        record_answer answer = clv_record_answer( space, &recorder->open, result, &recorder->shown );
        clv_task_background_lock( &recorder->gate );
        put_decided( recorder );
        put_answer( recorder, recorder->open_number, &answer );
        clv_task_background_unlock( &recorder->gate );
    }
    tell_end( recorder );
}

static void decide( space_tap* tap, clv_pair pair, bool allowed )
{
    clv_recorder* recorder = recorder_of( tap );
    uint64_t count = recorder->decided.count;
    if ( !recorder->is_open || is_over( recorder ) )
    {
        return;
    }
    clv_task_background_lock( &recorder->gate );
    if ( base_array_reserve( &recorder->decided, &recorder->memory, count + 1 ) &&
        base_array_reserve( &recorder->decided_yes, &recorder->memory, count + 1 ) )
    {
        recorder->decided.items[count] = pair;
        recorder->decided_yes.items[count] = allowed;
        recorder->decided.count = recorder->decided_yes.count = count + 1;
    }
    else
    {
        give_up( recorder, CLV_OUT_OF_MEMORY, "out of memory for the answers of a callback" );
    }
    clv_task_background_unlock( &recorder->gate );
}

static void show_visited( space_tap* tap, const clv_pair* pairs, uint64_t count, bool wants_more )
{
    clv_recorder* recorder = recorder_of( tap );
    (void)wants_more;
    clv_record_hash_pairs( &recorder->shown, pairs, count );
}

// ---- queries

// Those in float and flat ones have the same members, and no place.
static clv_half_spaces64 region_at( const query_list* list, record_items items, uint32_t index )
{
    const clv_half_spaces* spaces = (const clv_half_spaces*)list->items + index;
    return items.has_places ? ( (const clv_half_spaces64*)list->items )[index]
                            : ( clv_half_spaces64 ){ { 0, 0, 0 },
                                  (const clv_plane64*)(const void*)spaces->planes, spaces->count };
}

static uint64_t plane_total( const query_list* list, record_items items )
{
    uint64_t total = 0;
    for ( uint32_t i = 0; i < list->count; ++i )
    {
        total += region_at( list, items, i ).count;
    }
    return total;
}

static void put_planes( clv_recorder* recorder, const query_list* list, record_items items )
{
    for ( uint32_t i = 0; i < list->count; ++i )
    {
        clv_half_spaces64 spaces = region_at( list, items, i );
        put_numbers( recorder, &spaces.count, 1, 4 );
    }
    for ( uint32_t i = 0; i < list->count && items.has_places; ++i )
    {
        clv_half_spaces64 spaces = region_at( list, items, i );
        put_numbers( recorder, &spaces.origin, 3, 8 );
    }
    for ( uint32_t i = 0; i < list->count; ++i )
    {
        clv_half_spaces64 spaces = region_at( list, items, i );
        put_numbers( recorder, spaces.planes, (uint64_t)spaces.count * items.units, items.unit );
    }
}

static void put_queries( clv_recorder* recorder, const space_call* call )
{
    const query_job* job = call->job;
    const query_list* list = job->list;
    record_items items = { 0 };
    uint32_t count = clv_record_items( (uint32_t)list->kind, &items ) ? list->count : 0;
    uint64_t filters = list->filters == NULL ? 0 : list->filter_each ? count : 1;
    uint64_t planes = items.has_planes ? plane_total( list, items ) : 0;
    uint64_t numbers = items.has_planes ? planes * items.units : (uint64_t)count * items.units;
    CLV_ASSERT( count == 0 || list->items != NULL );
    uint64_t body = RECORD_QUERY_BYTES + numbers * items.unit +
        ( items.has_planes ? 4 * (uint64_t)count : 0 ) + ( items.has_places ? 24 * (uint64_t)count : 0 ) +
        filters * 24;
    uint32_t bits = ( filters > 0 ? RECORD_FILTERS : 0 ) | ( list->filter_each ? RECORD_FILTER_EACH : 0 ) |
        ( list->as_given ? RECORD_AS_GIVEN : 0 ) | ( query_calls( list ) ? RECORD_CALLBACK : 0 ) |
        ( job->offsets != NULL ? RECORD_OFFSETS : 0 );
    if ( !begin_record( recorder, RECORD_CALL, call->kind, bits, count, body ) )
    {
        return;
    }
    uint8_t head[RECORD_QUERY_BYTES];
    base_put_u32( head, (uint32_t)list->kind );
    base_put_u32( head + 4, job->k );
    put_word( put_word( put_word( head + 8, planes ), bits_of( job->max_distance ) ), job->capacity );
    put_in_turn( recorder, head, sizeof( head ) );
    if ( items.has_planes )
    {
        put_planes( recorder, list, items );
    }
    else
    {
        put_numbers( recorder, list->items, numbers, items.unit );
    }
    put_filters( recorder, list->filters, filters );
    end_record( recorder );
}

static uint64_t ask_call( space_tap* tap, const clv_space* space, const space_call* call )
{
    clv_recorder* recorder = recorder_of( tap );
    uint64_t number = UINT64_MAX;
    (void)space;
    if ( is_over( recorder ) )
    {
        return number;
    }
    clv_task_background_lock( &recorder->gate );
    number = recorder->call_count;
    recorder->call_count += 1;
    if ( call->kind == SPACE_CALL_QUERY_PAIRS )
    {
        const uint64_t words[2] = { call->as_given, call->capacity };
        if ( begin_record( recorder, RECORD_CALL, call->kind, 0, 0, sizeof( words ) ) )
        {
            put_numbers( recorder, words, 2, 8 );
            end_record( recorder );
        }
    }
    else
    {
        put_queries( recorder, call );
    }
    clv_task_background_unlock( &recorder->gate );
    return number;
}

static void count_hit( space_tap* tap, uint64_t ticket, const space_counted* counted )
{
    clv_recorder* recorder = recorder_of( tap );
    if ( is_over( recorder ) || ticket == UINT64_MAX )
    {
        return;
    }
    clv_task_background_lock( &recorder->gate );
    if ( begin_record( recorder, RECORD_COUNTED, 0, 0, 1, RECORD_COUNTED_BYTES ) )
    {
        uint8_t body[RECORD_COUNTED_BYTES];
        put_word( body, ticket );
        base_put_u32( body + 8, counted->query );
        base_put_u32( body + 12, counted->slot );
        put_word( put_word( body + 16, bits_of( counted->reach ) ), counted->counts );
        put_in_turn( recorder, body, sizeof( body ) );
        end_record( recorder );
    }
    clv_task_background_unlock( &recorder->gate );
}

static void see_hits(
    space_tap* tap, query_job* job, uint32_t query, const void* hits, uint64_t count, bool wants_more )
{
    (void)tap;
    (void)wants_more;
    clv_record_see( job, query, hits, count );
}

static void answer_call( space_tap* tap, const space_call* call, uint64_t ticket, clv_result result )
{
    clv_recorder* recorder = recorder_of( tap );
    if ( ticket == UINT64_MAX || is_over( recorder ) )
    {
        return;
    }
    record_answer answer = clv_record_query_answer( call, result );
    clv_task_background_lock( &recorder->gate );
    put_answer( recorder, ticket, &answer );
    clv_task_background_unlock( &recorder->gate );
}

static void leave_space( space_tap* tap )
{
    clv_recorder* recorder = recorder_of( tap );
    CLV_ASSERT( recorder->space != NULL && recorder->space->tap == tap );
    recorder->space->tap = NULL;
    recorder->space = NULL;
}

// ---- birth and death

static uint64_t field_word_WHOLE( uint64_t value )
{
    return value;
}

static uint64_t field_word_REAL( float value )
{
    return bits_of( (double)value );
}

// The parameters of the method, as its settings.
static void print_settings( const clv_space* space, char* text, size_t size )
{
    size_t used = 0;
    text[0] = '\0';
    for ( uint32_t i = 0; i < space->method->param_count && used < size; ++i )
    {
        double value = space->context.params[i];
        if ( value != space->method->params[i].value )
        {
            used += (size_t)snprintf( text + used, size - used, "%s%s=%.17g", used > 0 ? "," : "",
                space->method->params[i].name, value );
        }
    }
}

static void write_def(
    clv_recorder* recorder, const clv_space* space, const char* method, const char* settings )
{
    uint8_t bytes[8 * RECORD_DEF_WORDS + 64 + 1024];
    uint8_t* to = bytes;
#define RECORD_FIELD_WORD( name, type, sort ) to = put_word( to, field_word_##sort( (type)space->def.name ) );
    RECORD_FIELDS( RECORD_FIELD_WORD )
#undef RECORD_FIELD_WORD
    to = put_word( to, space->def.filter != NULL );
    to = put_word( to, method == NULL );
    char own[1024];
    print_settings( space, own, sizeof( own ) );
    settings = method != NULL ? settings : own;
    method = method != NULL ? method : space->method->name;
    size_t name = strlen( method ) + 1, text = strlen( settings ) + 1;
    CLV_ASSERT( name <= 64 && text <= sizeof( own ) );
    memcpy( to, method, name );
    memcpy( to + name, settings, text );
    base_parts_writer* writer = &recorder->writer;
    writer->put = put_to_sink;
    writer->user = recorder;
    clv_base_parts_begin( writer, RECORD_FILE, RECORD_VERSION, 0, 0 );
    clv_base_part_write( writer, RECORD_PART_DEF, bytes, (uint64_t)( to - bytes ) + name + text, 1 );
    recorder->byte_count = writer->offset;
}

static void free_recorder( clv_recorder* recorder )
{
    for ( uint32_t i = 0; i < recorder->buffer_count; ++i )
    {
        clv_base_memory_give( &recorder->memory, recorder->buffers[i].bytes, 1, BUFFER_BYTES );
    }
    base_array_free( &recorder->decided, &recorder->memory );
    base_array_free( &recorder->decided_yes, &recorder->memory );
    clv_task_background_done( &recorder->background );
    clv_task_background_done( &recorder->gate );
    base_memory memory = recorder->memory;
    clv_base_memory_give( &memory, recorder, 1, sizeof( clv_recorder ) );
}

static clv_result check_recorder_def( const clv_recorder_def* def, const clv_space* space )
{
    if ( def->cookie != RECORDER_COOKIE || def->size != sizeof( clv_recorder_def ) )
    {
        return CLV_BAD_DEF;
    }
    const char* line = ( def->path != NULL ) == ( def->put != NULL )
        ? "a recorder def needs a path or a put, and not both"
        : ( def->allocator.allocate == NULL ) != ( def->allocator.release == NULL )
        ? "a recorder def needs both allocate and release, or neither"
        : NULL;
    if ( line != NULL )
    {
        clv_space_log( &def->logger, CLV_LOG_ERROR, line );
        return CLV_BAD_DEF;
    }
    line = space->tap != NULL           ? "the space has a recorder already"
        : space->is_busy                ? "a recorder cannot be made from inside a call on the space"
        : space->objects.slot_count > 0 ? "a recording begins with a space that never had an object"
        : space->stats.update_count > 0 ? "a recording begins before the first update of a space"
                                        : NULL;
    if ( line != NULL )
    {
        clv_space_log( &def->logger, CLV_LOG_ERROR, line );
        return CLV_UNSUPPORTED;
    }
    return CLV_OK;
}

static clv_result start_recorder(
    clv_recorder* recorder, const clv_space* space, const char* method, const char* settings )
{
    const clv_recorder_def* def = &recorder->def;
    char line[192];
    if ( def->path != NULL )
    {
        recorder->file = fopen( def->path, "wb" );
        if ( recorder->file == NULL )
        {
            snprintf( line, sizeof( line ), "%.140s cannot be made", def->path );
            clv_space_log( &def->logger, CLV_LOG_ERROR, line );
            return CLV_FILE_FAILED;
        }
    }
    write_def( recorder, space, method, settings );
    if ( recorder->writer.failed )
    {
        clv_space_log( &def->logger, CLV_LOG_ERROR, "the file or sink took no bytes" );
        return CLV_FILE_FAILED;
    }
    bool has_all = true;
    for ( uint32_t count = def->has_thread ? BUFFER_COUNT : 1; has_all && recorder->buffer_count < count; )
    {
        uint8_t* bytes = clv_base_memory_take( &recorder->memory, 1, BUFFER_BYTES );
        has_all = bytes != NULL;
        recorder->buffers[recorder->buffer_count].bytes = bytes;
        recorder->buffer_count += has_all;
    }
    if ( !has_all ||
        ( def->has_thread && !clv_task_background_start( &recorder->background, write_in_turn, recorder ) ) )
    {
        clv_space_log( &def->logger, CLV_LOG_ERROR, "out of memory, or of threads, for a recorder" );
        return CLV_OUT_OF_MEMORY;
    }
    return CLV_OK;
}

clv_result clv_record_create_as( const clv_recorder_def* def, clv_space* space, const char* method,
    const char* settings, clv_recorder** out )
{
    CLV_ASSERT( def != NULL && space != NULL && out != NULL );
    *out = NULL;
    clv_result result = check_recorder_def( def, space );
    if ( result != CLV_OK )
    {
        return result;
    }
    base_memory memory = clv_base_memory_make( def->allocator );
    clv_recorder* recorder = clv_base_memory_take( &memory, 1, sizeof( clv_recorder ) );
    if ( recorder == NULL )
    {
        clv_space_log( &def->logger, CLV_LOG_ERROR, "out of memory for a recorder" );
        return CLV_OUT_OF_MEMORY;
    }
    memset( recorder, 0, sizeof( *recorder ) );
    recorder->memory = memory;
    recorder->def = *def;
    recorder->text = "";
    atomic_init( &recorder->is_over, false );
    clv_task_background_init( &recorder->background );
    clv_task_background_init( &recorder->gate );
    recorder->tap = ( space_tap ){ begin_call, end_call, decide, show_visited, ask_call, count_hit, see_hits,
        answer_call, leave_space };
    result = start_recorder( recorder, space, method, settings );
    if ( result != CLV_OK )
    {
        if ( recorder->file != NULL )
        {
            fclose( recorder->file );
        }
        free_recorder( recorder );
        return result;
    }
    CLV_ASSERT( recorder->call_count == 0 && recorder->buffers[recorder->filling].count == 0 );
    recorder->def.path = NULL; // the caller's string may go away
    recorder->space = space;
    space->tap = &recorder->tap;
    *out = recorder;
    return CLV_OK;
}

clv_result clv_recorder_create( const clv_recorder_def* def, clv_space* space, clv_recorder** recorder )
{
    return clv_record_create_as( def, space, NULL, NULL, recorder );
}

clv_recorder_state clv_recorder_status( const clv_recorder* recorder )
{
    clv_recorder_state state = { .code = CLV_OK, .text = "" };
    if ( is_over( recorder ) ) // code and text were written before, and stay
    {
        state.code = recorder->code;
        state.text = recorder->text;
    }
    state.call_count = recorder->call_count;
    state.byte_count = recorder->byte_count + recorder->buffers[recorder->filling].count;
    return state;
}

clv_result clv_recorder_close( clv_recorder* recorder )
{
    if ( recorder == NULL )
    {
        return CLV_OK;
    }
    if ( recorder->space != NULL )
    {
        recorder->space->tap = NULL;
    }
    if ( !is_over( recorder ) )
    {
        pass_on( recorder );
    }
    clv_task_background_lock( &recorder->background );
    recorder->is_closing = true;
    clv_task_background_signal( &recorder->background );
    clv_task_background_unlock( &recorder->background );
    clv_task_background_join( &recorder->background );
    CLV_ASSERT( recorder->full_count == 0 && !recorder->background.is_running );
    // A recording that ended early has no last part: what is there can be played even so.
    bool is_whole = !is_over( recorder ) && clv_base_parts_end( &recorder->writer );
    is_whole = ( recorder->file == NULL || fclose( recorder->file ) == 0 ) && is_whole;
    if ( !is_whole )
    {
        sink_failed( recorder );
    }
    tell_end( recorder );
    clv_result result = recorder->code;
    free_recorder( recorder );
    return result;
}
