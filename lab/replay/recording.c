// SPDX-License-Identifier: MIT
#include "lab/replay/recording.h"

#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// More objects that calls name in one row of ids than were ever added: a row is told by its first id, so its
// count is bounded by nothing else in the file.
#define IDS_BEYOND 65536

// What is being read.
typedef struct record_cursor
{
    const char* path;
    const uint8_t* begin; // of the file
    const uint8_t* at;
    const uint8_t* end; // of the record's body
    uint64_t added;     // objects, by the calls so far
    lab_error* why;
} record_cursor;

static bool fail_at( const record_cursor* cursor, const uint8_t* at, const char* what )
{
    return lab_error_write(
        cursor->why, "%s: at byte %" PRIu64 ": %s", cursor->path, (uint64_t)( at - cursor->begin ), what );
}

void* recording_take( recording* held, uint64_t count, size_t size )
{
    void* block = lab_take( count, size );
    *lab_list_next( held->blocks, held->block_count ) = block;
    return block;
}

void recording_free( recording* held )
{
    for ( uint64_t i = 0; i < held->block_count; ++i )
    {
        free( held->blocks[i] );
    }
    for ( uint64_t i = 0; i < held->call_count; ++i )
    {
        free( held->calls[i].counted );
    }
    free( held->blocks );
    free( held->calls );
    memset( held, 0, sizeof( *held ) );
}

// ---- numbers of a body

static uint64_t bytes_left( const record_cursor* cursor )
{
    return (uint64_t)( cursor->end - cursor->at );
}

static uint64_t take_word( record_cursor* cursor )
{
    uint64_t word = base_get_u64( cursor->at );
    cursor->at += 8;
    return word;
}

static double real_of( uint64_t bits )
{
    double value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

// A copy in this machine's order, at a good alignment; NULL, with the sentence, if the body has not as many.
static void* take_numbers( record_cursor* cursor, recording* out, uint64_t count, uint32_t unit )
{
    if ( count > bytes_left( cursor ) / unit )
    {
        fail_at( cursor, cursor->at, "the record is too short for what it should hold" );
        return NULL;
    }
    void* numbers = recording_take( out, count, unit );
    clv_base_copy_ordered( numbers, cursor->at, count, unit );
    cursor->at += count * unit;
    return numbers;
}

static clv_filter* take_filters( record_cursor* cursor, recording* out, uint64_t count )
{
    if ( count > bytes_left( cursor ) / 24 )
    {
        fail_at( cursor, cursor->at, "the record is too short for its filters" );
        return NULL;
    }
    clv_filter* filters = recording_take( out, count, sizeof( clv_filter ) );
    for ( uint64_t i = 0; i < count; ++i )
    {
        filters[i].category = take_word( cursor );
        filters[i].mask = take_word( cursor );
        uint32_t group = (uint32_t)take_word( cursor );
        memcpy( &filters[i].group, &group, sizeof( group ) );
    }
    return filters;
}

// A bool is 0 or 1, whatever the byte was.
static const bool* take_bools( record_cursor* cursor, recording* out, uint64_t count )
{
    const uint8_t* bytes = take_numbers( cursor, out, count, 1 );
    bool* bools = bytes != NULL ? recording_take( out, count, sizeof( bool ) ) : NULL;
    for ( uint64_t i = 0; i < count && bools != NULL; ++i )
    {
        bools[i] = bytes[i] != 0;
    }
    return bools;
}

// ---- calls

static bool read_ids( record_cursor* cursor, recording* out, recorded_call* made, uint32_t bits )
{
    uint32_t count = made->call.count;
    bool is_row = ( bits & RECORD_ROW ) != 0;
    if ( is_row && count > cursor->added + IDS_BEYOND )
    {
        return fail_at( cursor, cursor->at, "a row of ids is longer than there are objects" );
    }
    uint32_t* numbers = take_numbers( cursor, out, is_row ? 2 : 2 * (uint64_t)count, 4 );
    if ( numbers == NULL )
    {
        return false;
    }
    clv_id* ids = recording_take( out, count, sizeof( clv_id ) );
    for ( uint32_t i = 0; i < count; ++i )
    {
        ids[i] = is_row ? ( clv_id ){ numbers[0] + i, numbers[1] }
                        : ( clv_id ){ numbers[2 * (size_t)i], numbers[2 * (size_t)i + 1] };
    }
    made->call.ids = ids;
    return true;
}

// Which columns a kind of call reads: those that it names, and of clv_space_add_with all.
static bool columns_fit( const recorded_call* made, const record_kind* kind, uint32_t bits )
{
    if ( made->call.count == 0 )
    {
        return ( bits & ( ( 1u << SPACE_COLUMN_COUNT ) - 1 ) ) == 0;
    }
    bool is_with = made->call.kind == SPACE_CALL_ADD_WITH, fits = true;
    uint32_t boxes = 0;
    for ( uint32_t i = 0; i < SPACE_COLUMN_COUNT; ++i )
    {
        char member[48];
        snprintf( member, sizeof( member ), "with.%s,", clv_record_columns[i].name );
        bool is_named = strstr( kind->call, member ) != NULL, is_there = ( bits >> i & 1 ) != 0;
        fits = fits && ( is_with || is_named == is_there );
        boxes += i <= SPACE_COLUMN_boxes64 && is_there;
    }
    return fits && ( !is_with || boxes == 1 );
}

static bool read_batch(
    record_cursor* cursor, recording* out, recorded_call* made, const record_kind* kind, uint32_t bits )
{
    space_call* call = &made->call;
    bool has_ids = ( bits & RECORD_IDS ) != 0,
         needs_ids = kind->form == SPACE_ABOUT_OBJECTS && call->count > 0;
    made->wants_ids = ( bits & RECORD_MADE ) != 0;
    if ( has_ids != needs_ids || !columns_fit( made, kind, bits ) )
    {
        return fail_at( cursor, cursor->at, "the columns are not those of this call" );
    }
    if ( has_ids && !read_ids( cursor, out, made, bits ) )
    {
        return false;
    }
    cursor->added += kind->form == SPACE_ABOUT_NEW ? call->count : 0;
    call->with = clv_default_add_def();
    for ( uint32_t i = 0; i < SPACE_COLUMN_COUNT; ++i )
    {
        const record_column* row = &clv_record_columns[i];
        if ( ( bits >> i & 1 ) == 0 )
        {
            continue;
        }
        const void* data = i == SPACE_COLUMN_filters ? (const void*)take_filters( cursor, out, call->count )
            : i == SPACE_COLUMN_is_static
            ? (const void*)take_bools( cursor, out, call->count )
            : take_numbers( cursor, out, (uint64_t)call->count * row->units, row->unit );
        if ( data == NULL )
        {
            return false;
        }
        record_set_column( &call->with, i, data );
    }
    if ( call->kind == SPACE_CALL_SHIFT_ORIGIN )
    {
        const double* origin = take_numbers( cursor, out, 3, 8 );
        if ( origin == NULL )
        {
            return false;
        }
        call->origin = ( clv_vec64 ){ origin[0], origin[1], origin[2] };
    }
    return true;
}

static void* read_planes(
    record_cursor* cursor, recording* out, record_items items, uint32_t count, uint64_t total )
{
    const uint32_t* counts = take_numbers( cursor, out, count, 4 );
    if ( counts == NULL || total > bytes_left( cursor ) / items.unit / items.units )
    {
        fail_at( cursor, cursor->at, "the record is too short for its planes" );
        return NULL;
    }
    const clv_vec64* places = items.has_places ? take_numbers( cursor, out, 3 * (uint64_t)count, 8 ) : NULL;
    const char* numbers = items.has_places && places == NULL
        ? NULL
        : take_numbers( cursor, out, total * items.units, items.unit );
    if ( numbers == NULL )
    {
        return NULL;
    }
    // Those in float and flat ones have the same members.
    clv_half_spaces* regions = recording_take( out, items.has_places ? 0 : count, sizeof( clv_half_spaces ) );
    clv_half_spaces64* wide =
        recording_take( out, items.has_places ? count : 0, sizeof( clv_half_spaces64 ) );
    uint64_t used = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( counts[i] > total - used )
        {
            fail_at( cursor, cursor->at, "more planes than the record has" );
            return NULL;
        }
        const void* planes = numbers + used * items.units * items.unit;
        if ( items.has_places )
        {
            wide[i] = ( clv_half_spaces64 ){ places[i], planes, counts[i] };
        }
        else
        {
            regions[i] = ( clv_half_spaces ){ planes, counts[i] };
        }
        used += counts[i];
    }
    return items.has_places ? (void*)wide : (void*)regions;
}

static bool read_queries( record_cursor* cursor, recording* out, recorded_call* made, uint32_t bits )
{
    space_call* call = &made->call;
    if ( bytes_left( cursor ) < RECORD_QUERY_BYTES )
    {
        return fail_at( cursor, cursor->at, "the record is too short for queries" );
    }
    uint32_t kind = base_get_u32( cursor->at ), count = call->count;
    call->k = base_get_u32( cursor->at + 4 );
    cursor->at += 8;
    uint64_t planes = take_word( cursor );
    call->max_distance = real_of( take_word( cursor ) );
    call->capacity = take_word( cursor );
    record_items items;
    bool is_known = clv_record_items( kind, &items );
    if ( !is_known && count > 0 )
    {
        return fail_at( cursor, cursor->at, "no such kind of query" );
    }
    const void* data = !is_known ? NULL
        : items.has_planes       ? read_planes( cursor, out, items, count, planes )
                                 : take_numbers( cursor, out, (uint64_t)count * items.units, items.unit );
    if ( is_known && data == NULL )
    {
        return false;
    }
    bool has_filters = ( bits & RECORD_FILTERS ) != 0, each = ( bits & RECORD_FILTER_EACH ) != 0;
    const clv_filter* filters = has_filters ? take_filters( cursor, out, each ? count : 1 ) : NULL;
    if ( has_filters && filters == NULL )
    {
        return false;
    }
    made->bits = bits;
    call->queries = clv_query_list( (clv_query_kind)kind, count );
    call->queries64 = clv_query_list64( (clv_query_kind)kind, count );
    call->queries.points = data;
    call->queries64.points = data;
    call->queries.filters = call->queries64.filters = filters;
    call->queries.filter_each = call->queries64.filter_each = each;
    call->queries.as_given = call->queries64.as_given = ( bits & RECORD_AS_GIVEN ) != 0;
    return true;
}

static bool read_call( record_cursor* cursor, recording* out, const uint8_t* head )
{
    const record_kind* kind = clv_record_kind( head[9] );
    uint32_t bits = (uint32_t)head[10] | (uint32_t)head[11] << 8;
    if ( kind == NULL )
    {
        return fail_at( cursor, head + 9, "no such kind of call" );
    }
    recorded_call* made = lab_list_next( out->calls, out->call_count );
    memset( made, 0, sizeof( *made ) );
    made->offset = (uint64_t)( head - cursor->begin );
    made->call.kind = head[9];
    made->call.count = base_get_u32( head + 12 );
    if ( kind->form == SPACE_ABOUT_QUERIES )
    {
        return read_queries( cursor, out, made, bits );
    }
    if ( kind->form == SPACE_ABOUT_SPACES )
    {
        if ( bytes_left( cursor ) < 16 )
        {
            return fail_at( cursor, cursor->at, "the record is too short for its call" );
        }
        made->call.as_given = take_word( cursor ) != 0;
        made->call.capacity = take_word( cursor );
        return true;
    }
    return read_batch( cursor, out, made, kind, bits );
}

// The call that a record belongs to.
static recorded_call* call_named( record_cursor* cursor, recording* out )
{
    uint64_t number = bytes_left( cursor ) >= 8 ? take_word( cursor ) : UINT64_MAX;
    if ( number >= out->call_count || out->calls[number].has_answer )
    {
        fail_at( cursor, cursor->at, "the record belongs to no open call" );
        return NULL;
    }
    return &out->calls[number];
}

static bool read_decided( record_cursor* cursor, recording* out, const uint8_t* head )
{
    recorded_call* made = call_named( cursor, out );
    uint64_t count = base_get_u32( head + 12 );
    if ( made == NULL || made->decided != NULL )
    {
        return made != NULL ? fail_at( cursor, head, "a second record of the same answers" ) : false;
    }
    const uint32_t* pairs = take_numbers( cursor, out, 2 * count, 4 );
    const uint8_t* yes = pairs != NULL ? take_numbers( cursor, out, count, 1 ) : NULL;
    made->decided = (const clv_pair*)(const void*)pairs;
    made->decided_yes = yes;
    made->decided_count = yes != NULL ? count : 0;
    return yes != NULL;
}

static bool read_counted( record_cursor* cursor, recording* out )
{
    recorded_call* made = call_named( cursor, out );
    if ( made == NULL || bytes_left( cursor ) != RECORD_COUNTED_BYTES - 8 )
    {
        return made != NULL ? fail_at( cursor, cursor->at, "the record has another length than an answer" )
                            : false;
    }
    space_counted* next = lab_list_next( made->counted, made->counted_count );
    next->query = base_get_u32( cursor->at );
    next->slot = base_get_u32( cursor->at + 4 );
    cursor->at += 8;
    next->reach = real_of( take_word( cursor ) );
    next->counts = take_word( cursor ) != 0;
    return true;
}

static bool read_answer( record_cursor* cursor, recording* out, const uint8_t* head )
{
    recorded_call* made = call_named( cursor, out );
    uint32_t count = (uint32_t)head[10] | (uint32_t)head[11] << 8;
    if ( made == NULL || count > RECORD_MOST_WORDS || bytes_left( cursor ) != 8 * (uint64_t)count )
    {
        return made != NULL ? fail_at( cursor, cursor->at, "the answer has another length than it says" )
                            : false;
    }
    made->has_answer = true;
    made->answer.result = (clv_result)head[9];
    made->answer.position = base_get_u32( head + 12 );
    made->answer.word_count = count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        made->answer.words[i] = take_word( cursor );
    }
    return true;
}

static bool read_records( record_cursor* cursor, recording* out, const uint8_t* bytes, uint64_t size )
{
    const uint8_t* end = bytes + size;
    while ( bytes < end )
    {
        const uint8_t* head = bytes;
        if ( (uint64_t)( end - head ) < RECORD_HEAD_BYTES ||
            base_get_u64( head ) > (uint64_t)( end - head ) - RECORD_HEAD_BYTES )
        {
            return fail_at( cursor, head, "a record is longer than the part it is in" );
        }
        cursor->at = head + RECORD_HEAD_BYTES;
        cursor->end = bytes = cursor->at + base_get_u64( head );
        bool good = head[8] == RECORD_CALL ? read_call( cursor, out, head )
            : head[8] == RECORD_DECIDED    ? read_decided( cursor, out, head )
            : head[8] == RECORD_COUNTED    ? read_counted( cursor, out )
            : head[8] == RECORD_ANSWER     ? read_answer( cursor, out, head )
                                           : fail_at( cursor, head + 8, "no such type of record" );
        if ( !good || cursor->at != cursor->end )
        {
            return good ? fail_at( cursor, cursor->at, "the record is longer than its call" ) : false;
        }
    }
    return true;
}

// ---- settings

static bool take_text( record_cursor* cursor, char* text, size_t room )
{
    const uint8_t* end = memchr( cursor->at, 0, (size_t)bytes_left( cursor ) );
    if ( end == NULL || (size_t)( end - cursor->at ) >= room )
    {
        return fail_at( cursor, cursor->at, "a text has no end" );
    }
    memcpy( text, cursor->at, (size_t)( end - cursor->at ) + 1 );
    cursor->at = end + 1;
    return true;
}

// Numbers of a def may be anything: what cannot be meant is left to clv_space_create, which refuses it.
static bool read_def( record_cursor* cursor, recording* out )
{
    if ( bytes_left( cursor ) < 8 * RECORD_DEF_WORDS )
    {
        return fail_at( cursor, cursor->at, "the settings are too short" );
    }
    const uint8_t* words = cursor->at;
    out->def = clv_default_space_def();
#define field_of_WHOLE( type, word ) ( (type)( word ) )
#define field_of_REAL( type, word ) ( (type)real_of( word ) )
#define FIELD( name, type, sort ) out->def.name = field_of_##sort( type, take_word( cursor ) );
    RECORD_FIELDS( FIELD )
#undef FIELD
    out->has_filter = take_word( cursor ) != 0;
    out->has_order = take_word( cursor ) != 0;
    // Reserved memory is no part of an answer.
    out->def.capacity = 0;
    out->def.pair_capacity = 0;
    if ( !( (double)out->def.margin >= 0 ) || (int)out->def.isa < 0 || out->def.isa >= CLV_ISA_COUNT ||
        out->def.worker_count < 1 || out->def.worker_count > CLV_MAX_WORKERS )
    {
        return fail_at( cursor, words, "settings that no space can have" );
    }
    return take_text( cursor, out->method, sizeof( out->method ) ) &&
        take_text( cursor, out->settings, sizeof( out->settings ) );
}

// ---- the file

static bool read_part( base_parts_reader* reader, record_cursor* cursor, recording* out )
{
    uint64_t length = reader->length;
    uint32_t tag = reader->tag, number = reader->part_count;
    const uint8_t* payload = clv_base_part_view( reader, length );
    if ( payload == NULL || !clv_base_part_close( reader ) )
    {
        return false;
    }
    bool is_first = number == 1;
    if ( is_first != ( tag == RECORD_PART_DEF ) || ( !is_first && tag != RECORD_PART_CALLS ) )
    {
        return fail_at( cursor, payload, "a part that does not belong here" );
    }
    cursor->at = payload;
    cursor->end = payload + length;
    return is_first ? read_def( cursor, out ) : read_records( cursor, out, payload, length );
}

// A file that ends early, as that of a program that crashed, is good up to there.
static bool is_cut( const base_parts_reader* reader )
{
    return reader->failed && reader->part_count >= 1 &&
        ( strcmp( reader->fault, "ends too early" ) == 0 ||
            strncmp( reader->fault, "ends within", 11 ) == 0 );
}

bool recording_parse( const char* path, const void* bytes, uint64_t size, recording* out, lab_error* why )
{
    static const uint8_t nothing[1];
    record_cursor cursor = { .path = path, .begin = bytes != NULL ? bytes : nothing, .why = why };
    base_parts_reader reader = { .memory = cursor.begin, .size = size };
    memset( out, 0, sizeof( *out ) );
    why->text[0] = '\0';
    bool good = clv_base_parts_open( &reader, RECORD_FILE, RECORD_VERSION );
    while ( good && ( good = clv_base_part_next( &reader ) ) && reader.tag != BASE_PART_END )
    {
        good = read_part( &reader, &cursor, out );
    }
    if ( !good && why->text[0] == '\0' && is_cut( &reader ) && out->method[0] != '\0' )
    {
        out->is_cut = true;
        out->cut_offset = reader.fault_offset;
        return true;
    }
    if ( !good && why->text[0] == '\0' )
    {
        lab_error_write(
            why, "%s: at byte %" PRIu64 ": the file %s", path, reader.fault_offset, reader.fault );
    }
    if ( good && out->method[0] == '\0' )
    {
        good = lab_error_write( why, "%s: the recording has no settings", path );
    }
    if ( !good )
    {
        recording_free( out );
    }
    return good;
}

bool recording_read( const char* path, recording* out, lab_error* why )
{
    memset( out, 0, sizeof( *out ) );
    errno = 0;
    bool is_file = platform_look( path ).kind == PLATFORM_FILE;
    if ( !is_file && errno == 0 )
    {
        return lab_error_write( why, "%s: not a file", path );
    }
    char* bytes = NULL;
    uint64_t size = 0;
    bool good = ( ( is_file && platform_read( path, &bytes, &size ) ) ||
                    lab_error_write( why, "%s: %s", path, system_reason() ) ) &&
        recording_parse( path, bytes, size, out, why );
    free( bytes ); // all that a call needs was copied
    return good;
}

bool recording_is_one( const char* path )
{
    uint8_t header[BASE_PARTS_HEADER_BYTES];
    FILE* stream = platform_look( path ).kind == PLATFORM_FILE ? fopen( path, "rb" ) : NULL;
    bool is = stream != NULL && fread( header, 1, sizeof( header ), stream ) == sizeof( header );
    base_parts_reader reader = { .memory = header, .size = sizeof( header ) };
    is = is && clv_base_parts_open( &reader, RECORD_FILE, UINT32_MAX );
    if ( stream != NULL )
    {
        fclose( stream );
    }
    return is;
}
