// SPDX-License-Identifier: MIT
#include "lab/json.h"

#include "lab/text.h"

#include <stdlib.h>

#if defined( LAB_HAS_CJSON )

#include <cjson/cJSON.h>

bool json_is_here( complaint* why )
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
        complaint_out_of_memory();
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

#else

bool json_is_here( complaint* why )
{
    return complaint_write( why,
        "--json: this cleave was built without JSON; install cJSON (Debian: libcjson-dev), configure and build again" );
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

#endif

void json_put_count( json_value* parent, const char* key, uint64_t value )
{
    json_put_number( parent, key, (double)value );
}
