// SPDX-License-Identifier: MIT
#include "lab/base/json.h"

#include "lab/base/text.h"

#include <math.h>
#include <stdlib.h>

#if defined( LAB_HAS_CJSON )

#include <cjson/cJSON.h>

bool json_is_here( lab_error* why )
{
    (void)why;
    return true;
}

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

char* json_text( json_value* value )
{
    char* printed = cJSON_Print( value );
    cJSON_Delete( value );
    char* text = printed != NULL ? text_format( "%s\n", printed ) : NULL;
    cJSON_free( printed );
    return text;
}

char* json_line( json_value* value )
{
    char* printed = cJSON_PrintUnformatted( value );
    cJSON_Delete( value );
    char* text = printed != NULL ? text_copy( printed ) : NULL;
    cJSON_free( printed );
    return text;
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

#else

bool json_is_here( lab_error* why )
{
    return lab_error_write( why,
        "this cleave was built without JSON; install cJSON (Debian: libcjson-dev), configure and build again" );
}

json_value* json_object( void )
{
    return NULL;
}

json_value* json_array( void )
{
    return NULL;
}

void json_put( json_value* parent, const char* key, json_value* child )
{
    (void)parent, (void)key, (void)child;
}

void json_put_text( json_value* parent, const char* key, const char* text )
{
    (void)parent, (void)key, (void)text;
}

void json_put_bool( json_value* parent, const char* key, bool value )
{
    (void)parent, (void)key, (void)value;
}

void json_put_number( json_value* parent, const char* key, double value )
{
    (void)parent, (void)key, (void)value;
}

char* json_text( json_value* value )
{
    (void)value;
    return NULL;
}

char* json_line( json_value* value )
{
    (void)value;
    return NULL;
}

json_value* json_parse( const char* text, size_t size, size_t* bad_offset )
{
    (void)text, (void)size;
    *bad_offset = 0;
    return NULL;
}

void json_free( json_value* value )
{
    (void)value;
}

json_value* json_copy( const json_value* value )
{
    (void)value;
    return NULL;
}

void json_replace( json_value* object, const char* key, json_value* child )
{
    (void)object, (void)key, (void)child;
}

bool json_is_object( const json_value* value )
{
    (void)value;
    return false;
}

bool json_is_array( const json_value* value )
{
    (void)value;
    return false;
}

bool json_is_null( const json_value* value )
{
    return value == NULL;
}

const json_value* json_get( const json_value* object, const char* key )
{
    (void)object, (void)key;
    return NULL;
}

const json_value* json_first( const json_value* parent )
{
    return parent;
}

const json_value* json_next( const json_value* child )
{
    (void)child;
    return NULL;
}

const char* json_key( const json_value* member )
{
    (void)member;
    return NULL;
}

const char* json_as_text( const json_value* value )
{
    (void)value;
    return NULL;
}

double json_as_number( const json_value* value )
{
    (void)value;
    return NAN;
}

bool json_as_bool( const json_value* value )
{
    (void)value;
    return false;
}

#endif

void json_put_count( json_value* parent, const char* key, uint64_t value )
{
    json_put_number( parent, key, (double)value );
}
