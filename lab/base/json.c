// SPDX-License-Identifier: MIT
#include "lab/base/json.h"

#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined( LAB_HAS_CJSON )

#include <cjson/cJSON.h>

bool json_is_here( lab_error* why )
{
    (void)why;
    return true;
}

#else

// Without it every value is NULL, and nothing is added to it: the functions below do nothing.
struct cJSON
{
    struct cJSON *next, *child;
    char *string, *valuestring;
    double valuedouble;
};

#define NOTHING_OF( a ) ( (void)( a ), NULL )
#define FALSE_OF( a ) ( (void)( a ), false )
#define cJSON_CreateObject() NULL
#define cJSON_CreateArray() NULL
#define cJSON_CreateNull() NULL
#define cJSON_CreateString( text ) NOTHING_OF( text )
#define cJSON_CreateBool( value ) NOTHING_OF( value )
#define cJSON_CreateNumber( value ) NOTHING_OF( value )
#define cJSON_AddItemToObject( parent, key, child ) ( (void)( parent ), (void)( key ), true )
#define cJSON_AddItemToArray( parent, child ) ( (void)( parent ), true )
#define cJSON_DeleteItemFromObjectCaseSensitive( object, key ) ( (void)( object ), (void)( key ) )
#define cJSON_Delete( value ) ( (void)( value ) )
#define cJSON_Duplicate( value, deep ) NOTHING_OF( value )
#define cJSON_Print( value ) NOTHING_OF( value )
#define cJSON_PrintUnformatted( value ) NOTHING_OF( value )
#define cJSON_free( text ) ( (void)( text ) )
#define cJSON_ParseWithLengthOpts( text, size, end, whole ) ( (void)( size ), NULL )
#define cJSON_GetObjectItemCaseSensitive( object, key ) ( (void)( object ), NOTHING_OF( key ) )
#define cJSON_IsObject( value ) FALSE_OF( value )
#define cJSON_IsArray( value ) FALSE_OF( value )
#define cJSON_IsNull( value ) FALSE_OF( value )
#define cJSON_IsString( value ) FALSE_OF( value )
#define cJSON_IsNumber( value ) FALSE_OF( value )
#define cJSON_IsTrue( value ) FALSE_OF( value )

bool json_is_here( lab_error* why )
{
    return lab_error_write( why,
        "this cleave was built without JSON; install cJSON (Debian: libcjson-dev), configure and build again" );
}

#endif

json_value* json_object( void )
{
    return cJSON_CreateObject();
}

json_value* json_array( void )
{
    return cJSON_CreateArray();
}

void json_put( json_value* parent, const char* key, json_value* child )
{
    bool added =
        key != NULL ? cJSON_AddItemToObject( parent, key, child ) : cJSON_AddItemToArray( parent, child );
    if ( !added )
    {
        cJSON_Delete( child );
        lab_out_of_memory();
    }
}

void json_put_text( json_value* parent, const char* key, const char* text )
{
    json_put( parent, key, text != NULL ? cJSON_CreateString( text ) : cJSON_CreateNull() );
}

void json_put_bool( json_value* parent, const char* key, bool value )
{
    json_put( parent, key, cJSON_CreateBool( value ) );
}

void json_put_number( json_value* parent, const char* key, double value )
{
    json_put( parent, key, value - value == 0 ? cJSON_CreateNumber( value ) : cJSON_CreateNull() );
}

// Takes both over.
static char* take_printed( json_value* value, char* printed, const char* end )
{
    cJSON_Delete( value );
    if ( printed == NULL )
    {
        lab_out_of_memory();
    }
    char* text = text_format( "%s%s", printed, end );
    cJSON_free( printed );
    return text;
}

char* json_text( json_value* value )
{
    return take_printed( value, cJSON_Print( value ), "\n" );
}

char* json_line( json_value* value )
{
    return take_printed( value, cJSON_PrintUnformatted( value ), "" );
}

json_value* json_parse( const char* text, size_t size, size_t* bad_offset )
{
    // cJSON asks for the zero behind the text to know that nothing follows it.
    const char* end = text;
    json_value* value = cJSON_ParseWithLengthOpts( text, size + 1, &end, true );
    *bad_offset = value == NULL && end != NULL ? (size_t)( end - text ) : 0;
    return value;
}

void json_free( json_value* value )
{
    cJSON_Delete( value );
}

json_value* json_copy( const json_value* value )
{
    json_value* copy = cJSON_Duplicate( value, true );
    if ( copy == NULL && value != NULL )
    {
        lab_out_of_memory();
    }
    return copy;
}

void json_replace( json_value* object, const char* key, json_value* child )
{
    cJSON_DeleteItemFromObjectCaseSensitive( object, key );
    json_put( object, key, child );
}

bool json_is_object( const json_value* value )
{
    return cJSON_IsObject( value );
}

bool json_is_array( const json_value* value )
{
    return cJSON_IsArray( value );
}

bool json_is_null( const json_value* value )
{
    return value == NULL || cJSON_IsNull( value );
}

const json_value* json_get( const json_value* object, const char* key )
{
    return cJSON_GetObjectItemCaseSensitive( object, key );
}

const json_value* json_first( const json_value* parent )
{
    return parent != NULL ? parent->child : NULL;
}

const json_value* json_next( const json_value* child )
{
    return child->next;
}

const char* json_key( const json_value* member )
{
    return member->string;
}

const char* json_as_text( const json_value* value )
{
    return cJSON_IsString( value ) ? value->valuestring : NULL;
}

double json_as_number( const json_value* value )
{
    return cJSON_IsNumber( value ) ? value->valuedouble : NAN;
}

bool json_as_bool( const json_value* value )
{
    return cJSON_IsTrue( value );
}

bool json_print( json_value* value, lab_error* why )
{
    if ( !json_is_here( why ) )
    {
        return false;
    }
    char* text = json_text( value );
    fputs( text, stdout );
    free( text );
    return true;
}

void json_put_count( json_value* parent, const char* key, uint64_t value )
{
    json_put_number( parent, key, (double)value );
}

// ---- json file

// Some hundred thousand runs; more is another kind of file given by mistake.
#define JSON_FILE_MOST ( (uint64_t)1 << 30 )

static bool is_readable( const char* path, platform_entry entry, lab_error* why )
{
    switch ( entry.kind )
    {
    case PLATFORM_MISSING:
        return lab_error_write(
            why, "%s: cannot be read: %s", path, strerror( errno != 0 ? errno : ENOENT ) );
    case PLATFORM_FOLDER: return lab_error_write( why, "%s: is a folder; name a file", path );
    case PLATFORM_OTHER:
        return lab_error_write( why, "%s: is a pipe or device; save it to a file first", path );
    case PLATFORM_FILE: break;
    }
    if ( entry.size > JSON_FILE_MOST )
    {
        return lab_error_write( why, "%s: is larger than 1 GiB; name a JSON file", path );
    }
    return entry.size > 0 || lab_error_write( why, "%s: at byte 0: is empty, not JSON", path );
}

json_value* json_file_read( const char* path, lab_error* why )
{
    errno = 0;
    platform_entry entry = platform_look( path );
    if ( !json_is_here( why ) || !is_readable( path, entry, why ) )
    {
        return NULL;
    }
    char* text = NULL;
    uint64_t size = 0;
    size_t bad_offset = 0;
    json_value* value = NULL;
    bool is_whole = platform_read( path, &text, &size ) && size == entry.size;
    if ( text == NULL )
    {
        lab_error_write( why, "%s: cannot be read: %s", path, strerror( errno ) );
    }
    else if ( !is_whole )
    {
        lab_error_write( why,
            "%s: cannot be read beyond byte %" PRIu64 "; check the disk, or whether it is being written",
            path, size );
    }
    else
    {
        value = json_parse( text, (size_t)size, &bad_offset );
    }
    if ( is_whole && value == NULL && file_kind_check( path, ".json", why ) )
    {
        lab_error_write( why, "%s: at byte %" PRIu64 ": is not JSON; it may be cut off or damaged", path,
            (uint64_t)bad_offset );
    }
    free( text );
    return value;
}
