// SPDX-License-Identifier: MIT
// The container of snapshots, recordings and checkpoints: whatever is written is read again, whatever else is
// read is refused with the place of the first fault.
#include "base/parts.h"
#include "support.h"

#include <stdlib.h>

enum
{
    KIND = BASE_TAG( 'T', 'E', 'S', 'T' ),
    NUMBERS = BASE_TAG( 'N', 'U', 'M', 'S' ),
    BYTES = BASE_TAG( 'B', 'Y', 'T', 'E' ),
    ROOM = 4096,
};

typedef struct sample
{
    uint32_t flags;
    uint32_t numbers[5];
    double doubles[3];
    char text[13];
} sample;

static const sample s_sample = { 0, { 1, 2, 0xFFFFFFFFu, 0x12345678u, 0 }, { 0.5, -1e300, 1.0 / 3 },
    "twelve bytes" };

static uint64_t write_sample( base_parts_writer* writer, const sample* from )
{
    clv_base_parts_begin( writer, KIND, 3, from->flags, 77 );
    clv_base_part_begin( writer, NUMBERS, sizeof( from->numbers ) + sizeof( from->doubles ) );
    clv_base_part_put_ordered( writer, from->numbers, 5, 4 );
    clv_base_part_put_ordered( writer, from->doubles, 3, 8 );
    clv_base_part_end( writer );
    clv_base_part_write( writer, BYTES, from->text, sizeof( from->text ), 1 );
    clv_base_part_write( writer, BYTES, NULL, 0, 1 );
    clv_base_parts_end( writer );
    return writer->offset;
}

static bool read_sample( base_parts_reader* reader, sample* to )
{
    return clv_base_parts_open( reader, KIND, 3 ) &&
        clv_base_part_expect( reader, NUMBERS, sizeof( to->numbers ) + sizeof( to->doubles ) ) &&
        clv_base_part_get_ordered( reader, to->numbers, 5, 4 ) &&
        clv_base_part_get_ordered( reader, to->doubles, 3, 8 ) && clv_base_part_close( reader ) &&
        clv_base_part_expect( reader, BYTES, sizeof( to->text ) ) &&
        clv_base_part_get( reader, to->text, sizeof( to->text ) ) && clv_base_part_close( reader ) &&
        clv_base_part_next( reader ) && clv_base_part_skip( reader, reader->length ) &&
        clv_base_part_close( reader ) && clv_base_part_next( reader ) && reader->tag == BASE_PART_END;
}

// The file of the sample, in memory of exactly its size, so that a sanitizer sees a read behind it.
static uint8_t* make_file( const sample* from, uint64_t* size )
{
    base_parts_writer counting = { 0 };
    *size = write_sample( &counting, from );
    uint8_t* bytes = malloc( (size_t)*size );
    CHECK( bytes != NULL );
    base_parts_writer writer = { .memory = bytes, .capacity = *size };
    CHECK_EQUAL( write_sample( &writer, from ), *size );
    CHECK( !writer.failed );
    return bytes;
}

static base_parts_reader reader_of( const uint8_t* bytes, uint64_t size )
{
    return ( base_parts_reader ){ .memory = bytes, .size = size };
}

static void what_was_written_is_read( void )
{
    for ( uint32_t flags = 0; flags <= BASE_PARTS_UNSUMMED; ++flags )
    {
        sample from = s_sample, to;
        from.flags = flags;
        memset( &to, 0, sizeof( to ) );
        uint64_t size;
        uint8_t* bytes = make_file( &from, &size );
        base_parts_reader reader = reader_of( bytes, size );
        CHECK( read_sample( &reader, &to ) );
        CHECK( memcmp( to.numbers, from.numbers, sizeof( to.numbers ) ) == 0 );
        CHECK( memcmp( to.doubles, from.doubles, sizeof( to.doubles ) ) == 0 );
        CHECK_TEXT( to.text, from.text );
        CHECK_EQUAL( reader.version, 3 );
        CHECK_EQUAL( reader.stamp, 77 );
        CHECK_EQUAL( reader.part_count, 4 );
        CHECK_EQUAL( size,
            BASE_PARTS_HEADER_BYTES + base_part_bytes( 44 ) + base_part_bytes( 13 ) +
                2 * base_part_bytes( 0 ) );
        free( bytes );
    }
}

// The bytes are these on every machine and in every version: files outlive both.
static void the_bytes_of_a_file_never_change( void )
{
    static const uint8_t expected[] = { 0x89, 'C', 'L', 'V', '\r', '\n', 0x1A, '\n', 'T', 'E', 'S', 'T', 3, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 77, 0, 0, 0, 0, 0, 0, 0 };
    uint64_t size;
    uint8_t* bytes = make_file( &s_sample, &size );
    CHECK( memcmp( bytes, expected, sizeof( expected ) ) == 0 );
    CHECK_EQUAL( base_get_u32( bytes + 40 ), NUMBERS );
    CHECK_EQUAL( base_get_u64( bytes + 48 ), 44 );
    CHECK_EQUAL( bytes[64 + 12], 0x78 ); // the fourth number, its lowest byte first
    CHECK_EQUAL( bytes[64 + 15], 0x12 );
    CHECK_EQUAL( base_get_u64( bytes + 64 + 20 ), 0x3FE0000000000000u );
    CHECK_EQUAL( clv_base_sum_of( 0, 0, bytes, size ), 6035401527228675977u );
    free( bytes );
}

static void any_flipped_byte_is_noticed( void )
{
    uint64_t size;
    uint8_t* bytes = make_file( &s_sample, &size );
    for ( uint64_t i = 0; i < size; ++i )
    {
        for ( uint32_t bit = 0; bit < 8; ++bit )
        {
            sample to;
            bytes[i] ^= (uint8_t)( 1u << bit );
            base_parts_reader reader = reader_of( bytes, size );
            test_where.seed = i;
            CHECK( !read_sample( &reader, &to ) );
            CHECK( reader.failed && reader.fault[0] != '\0' );
            CHECK( reader.fault_offset < size );
            CHECK( reader.fault_offset + 64 > i ); // told at the part, or within it
            bytes[i] ^= (uint8_t)( 1u << bit );
        }
    }
    free( bytes );
}

static void a_file_cut_anywhere_is_refused( void )
{
    uint64_t size;
    uint8_t* bytes = make_file( &s_sample, &size );
    for ( uint64_t cut = 0; cut < size; ++cut )
    {
        sample to;
        uint8_t* part = malloc( cut > 0 ? (size_t)cut : 1 );
        CHECK( part != NULL );
        memcpy( part, bytes, (size_t)cut );
        base_parts_reader reader = reader_of( part, cut );
        test_where.seed = cut;
        CHECK( !read_sample( &reader, &to ) );
        CHECK( reader.fault_offset <= cut );
        free( part );
    }
    uint8_t* more = calloc( 1, (size_t)size + 8 );
    CHECK( more != NULL );
    memcpy( more, bytes, (size_t)size );
    sample to;
    base_parts_reader reader = reader_of( more, size + 8 );
    CHECK( !read_sample( &reader, &to ) );
    CHECK_TEXT( reader.fault, "goes on behind its end" );
    CHECK_EQUAL( reader.fault_offset, size );
    free( more );
    free( bytes );
}

// An opponent computes sums as well as we do: lengths that the file has no room for are refused all the same.
static void lengths_that_lie_are_refused( void )
{
    static const uint64_t lies[] = { 45, 43, 0, 200, ROOM, UINT32_MAX, INT64_MAX, UINT64_MAX - 30,
        UINT64_MAX - 7, UINT64_MAX };
    uint64_t size;
    uint8_t* bytes = make_file( &s_sample, &size );
    for ( size_t i = 0; i < TEST_COUNT( lies ); ++i )
    {
        sample to;
        base_put_u64( bytes + 48, lies[i] );
        base_put_u64( bytes + 56, clv_base_sum_of( 77, 0, bytes + 40, 16 ) );
        base_parts_reader reader = reader_of( bytes, size );
        test_where.seed = i;
        CHECK( !read_sample( &reader, &to ) );
        CHECK_EQUAL( reader.fault_offset, 48 );
    }
    free( bytes );
}

static void set_header( uint8_t* bytes, uint32_t at, uint32_t value )
{
    base_put_u32( bytes + at, value );
    base_put_u64( bytes + 32, clv_base_sum_of( 0, 0, bytes, 32 ) );
}

static void foreign_files_are_refused_with_a_reason( void )
{
    static const struct
    {
        uint32_t at, value;
        const char* fault;
    } rows[] = {
        { 8, BASE_TAG( 'O', 'T', 'H', 'E' ), "is a file of another kind" },
        { 12, 4, "has version 4 of its kind; this library reads 1 to 3" },
        { 12, 0, "has version 0 of its kind; this library reads 1 to 3" },
        { 16, 2, "has unknown flags" },
        { 20, 1, "has unknown flags" },
        { 24, 78, "checksum mismatch of a part's head" },
    };
    for ( size_t i = 0; i < TEST_COUNT( rows ); ++i )
    {
        uint64_t size;
        sample to;
        uint8_t* bytes = make_file( &s_sample, &size );
        set_header( bytes, rows[i].at, rows[i].value );
        base_parts_reader reader = reader_of( bytes, size );
        CHECK( !read_sample( &reader, &to ) );
        CHECK_TEXT( reader.fault, rows[i].fault );
        free( bytes );
    }
    sample to;
    static const uint8_t text[] = "A text of at least forty bytes, as files mostly are";
    base_parts_reader reader = reader_of( text, sizeof( text ) );
    CHECK( !read_sample( &reader, &to ) );
    CHECK_TEXT( reader.fault, "was not written by Cleave" );
    CHECK_EQUAL( reader.fault_offset, 0 );
    base_parts_reader nothing = reader_of( NULL, 0 );
    CHECK( !read_sample( &nothing, &to ) );
    CHECK_TEXT( nothing.fault, "ends too early" );
}

static void parts_out_of_place_are_refused( void )
{
    uint64_t size;
    sample to;
    uint8_t *bytes = make_file( &s_sample, &size ), swap[32];
    uint8_t* last = bytes + size - 64; // two empty parts
    memcpy( swap, last, 32 );
    memcpy( last, last + 32, 32 );
    memcpy( last + 32, swap, 32 );
    base_parts_reader reader = reader_of( bytes, size );
    CHECK( !read_sample( &reader, &to ) );
    CHECK_EQUAL( reader.fault_offset, size - 64 );
    free( bytes );
}

// More is asked of a part than it has, or less: the file is not as the reader thinks.
static void a_reader_that_expects_otherwise_is_told( void )
{
    uint64_t size;
    sample to;
    uint8_t* bytes = make_file( &s_sample, &size );
    base_parts_reader reader = reader_of( bytes, size );
    CHECK( clv_base_parts_open( &reader, KIND, 9 ) && clv_base_part_next( &reader ) );
    CHECK( clv_base_part_get_ordered( &reader, to.numbers, 5, 4 ) );
    CHECK( !clv_base_part_close( &reader ) );
    CHECK_TEXT( reader.fault, "has a part with 24 bytes too many" );
    CHECK_EQUAL( reader.fault_offset, 84 );
    CHECK( !clv_base_parts_fault( &reader, 5, "later" ) );
    CHECK_EQUAL( reader.fault_offset, 84 ); // the first one stays

    reader = reader_of( bytes, size );
    uint8_t much[48];
    CHECK( clv_base_parts_open( &reader, KIND, 9 ) && clv_base_part_next( &reader ) );
    CHECK( !clv_base_part_get( &reader, much, sizeof( much ) ) );
    CHECK_EQUAL( reader.fault_offset, 64 + 44 );
    CHECK( !clv_base_part_next( &reader ) );

    reader = reader_of( bytes, size );
    CHECK( clv_base_parts_open( &reader, KIND, 9 ) && !clv_base_part_expect( &reader, BYTES, 44 ) );
    CHECK_TEXT( reader.fault, "has another part where BYTE is expected" );

    reader = reader_of( bytes, size );
    CHECK( clv_base_parts_open( &reader, KIND, 9 ) );
    clv_base_part_seek( &reader, 40 + base_part_bytes( 44 ), 1 );
    CHECK( clv_base_part_expect( &reader, BYTES, 13 ) );
    const uint8_t* text = clv_base_part_view( &reader, 13 );
    CHECK( text != NULL && clv_base_part_close( &reader ) );
    CHECK_TEXT( (const char*)text, s_sample.text );
    clv_base_part_seek( &reader, size + 1, 1 );
    CHECK( !clv_base_part_next( &reader ) );
    free( bytes );
}

// ---- other places than memory

typedef struct place
{
    uint8_t bytes[ROOM];
    uint64_t size, most; ///< fails rather than go past this
    uint32_t calls_after;
} place;

static bool put_in( const void* bytes, uint64_t size, void* user )
{
    place* p = user;
    p->calls_after += p->size == UINT64_MAX;
    if ( size > p->most - p->size )
    {
        p->size = UINT64_MAX;
        return false;
    }
    memcpy( p->bytes + p->size, bytes, (size_t)size );
    p->size += size;
    return true;
}

static bool get_from( uint64_t offset, void* bytes, uint64_t size, void* user )
{
    const place* p = user;
    if ( offset + size > p->most )
    {
        return false;
    }
    memcpy( bytes, p->bytes + offset, (size_t)size );
    return true;
}

static void functions_take_and_give_the_same_bytes( void )
{
    uint64_t size;
    uint8_t* bytes = make_file( &s_sample, &size );
    place p = { .most = ROOM };
    base_parts_writer writer = { .put = put_in, .user = &p };
    CHECK_EQUAL( write_sample( &writer, &s_sample ), size );
    CHECK( !writer.failed && p.size == size && memcmp( p.bytes, bytes, (size_t)size ) == 0 );
    for ( p.most = 0; p.most <= size; ++p.most )
    {
        sample to;
        base_parts_reader reader = { .get = get_from, .user = &p, .size = size };
        CHECK_EQUAL( read_sample( &reader, &to ), p.most == size );
        CHECK( p.most == size || reader.fault_offset <= p.most );
    }
    free( bytes );
}

static void a_place_too_small_is_told_with_the_size_needed( void )
{
    base_parts_writer counting = { 0 };
    uint64_t size = write_sample( &counting, &s_sample );
    for ( uint64_t room = 0; room < size; ++room )
    {
        uint8_t* bytes = malloc( room > 0 ? (size_t)room : 1 );
        base_parts_writer writer = { .memory = bytes, .capacity = room };
        CHECK_EQUAL( write_sample( &writer, &s_sample ), size );
        CHECK( writer.failed );
        free( bytes );
        place p = { .most = room };
        base_parts_writer sink = { .put = put_in, .user = &p };
        CHECK_EQUAL( write_sample( &sink, &s_sample ), size );
        CHECK( sink.failed && p.calls_after == 0 );
    }
}

static void sums_do_not_depend_on_how_bytes_are_cut( void )
{
    uint8_t bytes[1000];
    test_random random = test_random_make( 5 );
    for ( size_t i = 0; i < sizeof( bytes ); ++i )
    {
        bytes[i] = (uint8_t)test_random_next( &random );
    }
    for ( uint32_t round = 0; round < 500; ++round )
    {
        uint64_t size = test_random_below( &random, sizeof( bytes ) );
        base_sum sum;
        clv_base_sum_begin( &sum, 3, 4 );
        for ( uint64_t at = 0; at < size; )
        {
            uint64_t piece = test_random_below( &random, 150 );
            piece = piece < size - at ? piece : size - at;
            clv_base_sum_add( &sum, bytes + at, piece );
            at += piece;
        }
        uint64_t whole = clv_base_sum_of( 3, 4, bytes, size );
        CHECK_EQUAL( clv_base_sum_end( &sum ), whole );
        CHECK(
            whole != clv_base_sum_of( 3, 5, bytes, size ) && whole != clv_base_sum_of( 4, 4, bytes, size ) );
        CHECK( whole != clv_base_sum_of( 3, 4, bytes, size + 1 ) );
    }
}

static void garbage_is_refused( void )
{
    test_random random = test_random_make( 9 );
    uint64_t size;
    uint8_t *file = make_file( &s_sample, &size ), bytes[ROOM];
    for ( uint32_t round = 0; round < test_scaled( 20000 ); ++round )
    {
        sample to;
        memcpy( bytes, file, (size_t)size );
        uint32_t changes = 1 + test_random_below( &random, 8 );
        for ( uint32_t i = 0; i < changes; ++i )
        {
            bytes[test_random_below( &random, (uint32_t)size )] = (uint8_t)test_random_next( &random );
        }
        base_parts_reader reader = reader_of( bytes, size );
        test_where.seed = round;
        CHECK_EQUAL( read_sample( &reader, &to ), memcmp( bytes, file, (size_t)size ) == 0 );
    }
    free( file );
}

int main( int argc, char** argv )
{
    const test_case cases[] = {
        TEST_CASE( what_was_written_is_read ),
        TEST_CASE( the_bytes_of_a_file_never_change ),
        TEST_CASE( any_flipped_byte_is_noticed ),
        TEST_CASE( a_file_cut_anywhere_is_refused ),
        TEST_CASE( lengths_that_lie_are_refused ),
        TEST_CASE( foreign_files_are_refused_with_a_reason ),
        TEST_CASE( parts_out_of_place_are_refused ),
        TEST_CASE( a_reader_that_expects_otherwise_is_told ),
        TEST_CASE( functions_take_and_give_the_same_bytes ),
        TEST_CASE( a_place_too_small_is_told_with_the_size_needed ),
        TEST_CASE( sums_do_not_depend_on_how_bytes_are_cut ),
        TEST_CASE( garbage_is_refused ),
    };
    return test_run( "parts", cases, TEST_COUNT( cases ), argc, argv );
}
