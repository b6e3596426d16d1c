// SPDX-License-Identifier: MIT
// JSON read back: values, kinds, where a text stops being JSON, files that are none. Without cJSON the
// program says so and ends with 77: skipped.
#include "lab/base/json.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_value* parse( const char* text )
{
    size_t bad_offset = 99;
    json_value* value = json_parse( text, strlen( text ), &bad_offset );
    CHECK( value != NULL );
    CHECK_EQUAL( bad_offset, 0 );
    return value;
}

static void members_are_found_by_their_very_key( void )
{
    json_value* value = parse( "{\"a\":1.5,\"A\":\"x\",\"b\":true,\"c\":null,\"d\":[1,2,3]}" );
    CHECK( json_is_object( value ) && !json_is_array( value ) );
    CHECK( json_as_number( json_get( value, "a" ) ) == 1.5 );
    CHECK_TEXT( json_as_text( json_get( value, "A" ) ), "x" );
    CHECK( json_as_bool( json_get( value, "b" ) ) );
    CHECK( json_is_null( json_get( value, "c" ) ) && json_get( value, "c" ) != NULL );
    CHECK( json_get( value, "e" ) == NULL && json_is_null( NULL ) );
    CHECK( json_is_array( json_get( value, "d" ) ) );
    json_free( value );
}

static void children_come_in_their_order( void )
{
    json_value* value = parse( "{\"list\":[3,1,2],\"none\":[]}" );
    const double expected[] = { 3, 1, 2 };
    uint32_t count = 0;
    for ( const json_value* item = json_first( json_get( value, "list" ) ); item != NULL;
          item = json_next( item ) )
    {
        CHECK( count < 3 && json_as_number( item ) == expected[count] );
        CHECK( json_key( item ) == NULL );
        ++count;
    }
    CHECK_EQUAL( count, 3 );
    CHECK( json_first( json_get( value, "none" ) ) == NULL && json_first( NULL ) == NULL );
    CHECK_TEXT( json_key( json_first( value ) ), "list" );
    json_free( value );
}

static void a_value_of_another_kind_has_no_text_and_no_number( void )
{
    json_value* value = parse( "[\"1\",2,null]" );
    CHECK( isnan( json_as_number( json_first( value ) ) ) );
    CHECK( json_as_text( json_next( json_first( value ) ) ) == NULL );
    CHECK( isnan( json_as_number( NULL ) ) && json_as_text( NULL ) == NULL && !json_as_bool( NULL ) );
    json_free( value );
}

static void invalid_json_is_refused_with_its_place( void )
{
    const struct
    {
        const char* text;
        size_t offset;
    } rows[] = { { "{\"a\":1,}", 7 }, { "[1,2", 4 }, { "{} x", 3 }, { "[1] [2]", 4 }, { "nul", 0 },
        { "\"abc", 0 } };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        size_t offset = 99;
        test_where.note = rows[row].text;
        CHECK( json_parse( rows[row].text, strlen( rows[row].text ), &offset ) == NULL );
        // cJSON points at the token or just before it.
        CHECK( offset <= rows[row].offset + 1 && offset + 1 >= rows[row].offset );
    }
}

static void deep_nesting_is_refused_not_followed( void )
{
    enum
    {
        DEPTH = 200000
    };
    char* text = malloc( DEPTH + 1 );
    CHECK( text != NULL );
    memset( text, '[', DEPTH );
    text[DEPTH] = '\0';
    size_t offset = 0;
    CHECK( json_parse( text, DEPTH, &offset ) == NULL );
    CHECK( offset > 0 && offset < DEPTH );
    free( text );
}

static void a_line_is_written_as_strict_json( void )
{
    char* line = json_line( parse( " { \"a\" : [ 01, 1e999, -2.50 ],\n\"b\":\"tab\tend\" } " ) );
    CHECK_TEXT( line, "{\"a\":[1,null,-2.5],\"b\":\"tab\\tend\"}" );
    free( line );
}

static void write_file( const char* path, const char* text )
{
    FILE* stream = fopen( path, "wb" );
    CHECK( stream != NULL );
    CHECK( fputs( text, stream ) >= 0 );
    CHECK( fclose( stream ) == 0 );
}

static void files_are_read_or_named( void )
{
    const char* path = "test_json.tmp";
    lab_error why = { 0 };
    write_file( path, "{\"a\":7}\n" );
    json_value* value = json_file_read( path, &why );
    CHECK( json_as_number( json_get( value, "a" ) ) == 7 );
    json_free( value );

    const char* bad[] = { "", "{\"a\":7", "<html>" };
    for ( size_t row = 0; row < TEST_COUNT( bad ); ++row )
    {
        test_where.note = bad[row];
        write_file( path, bad[row] );
        why = ( lab_error ){ 0 };
        CHECK( json_file_read( path, &why ) == NULL );
        CHECK( why.status == LAB_BAD_INPUT );
        CHECK( strstr( why.text, path ) != NULL && strstr( why.text, "at byte " ) != NULL );
    }
    CHECK( remove( path ) == 0 );
    CHECK( json_file_read( path, &why ) == NULL && strstr( why.text, path ) != NULL );
    CHECK( json_file_read( ".", &why ) == NULL && strstr( why.text, "folder" ) != NULL );
}

int main( int argc, char** argv )
{
    lab_error why;
    if ( !json_is_here( &why ) )
    {
        printf( "%s\n", why.text );
        return 77;
    }
    const test_case cases[] = {
        TEST_CASE( members_are_found_by_their_very_key ),
        TEST_CASE( children_come_in_their_order ),
        TEST_CASE( a_value_of_another_kind_has_no_text_and_no_number ),
        TEST_CASE( invalid_json_is_refused_with_its_place ),
        TEST_CASE( deep_nesting_is_refused_not_followed ),
        TEST_CASE( a_line_is_written_as_strict_json ),
        TEST_CASE( files_are_read_or_named ),
    };
    return test_run( "json", cases, TEST_COUNT( cases ), argc, argv );
}
