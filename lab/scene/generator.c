// SPDX-License-Identifier: MIT
#include "lab/scene/generator.h"

#include "lab/base/text.h"

#include <stddef.h>
#include <string.h>

const choice generator_families[] = { { "free", FAMILY_FREE }, { "packed", FAMILY_PACKED },
    { "broadmark", FAMILY_BROADMARK }, { "ray-kd", FAMILY_RAY_KD }, { "k-dop", FAMILY_K_DOP },
    { "hard", FAMILY_HARD }, { "worst", FAMILY_WORST }, { "odd", FAMILY_ODD }, { NULL, 0 } };

static const generator_rows* const parts[] = { &generator_moving, &generator_simulated, &generator_hard };

#define PART_COUNT ( sizeof( parts ) / sizeof( parts[0] ) )

uint32_t generator_count( void )
{
    uint32_t count = 0;
    for ( size_t part = 0; part < PART_COUNT; ++part )
    {
        count += parts[part]->count;
    }
    return count;
}

const generator* generator_at( uint32_t index )
{
    size_t part = 0;
    while ( index >= parts[part]->count )
    {
        index -= parts[part++]->count;
    }
    return &parts[part]->items[index];
}

const generator* generator_find( const char* name )
{
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        if ( strcmp( name, generator_at( index )->name ) == 0 )
        {
            return generator_at( index );
        }
    }
    return NULL;
}

const char* generator_name( uint32_t index )
{
    return index < generator_count() ? generator_at( index )->name : NULL;
}

text_long generator_advice( const char* name )
{
    return text_advice( name, text_list_of( generator_name ), "scenes are", " and " );
}

uint32_t generator_object_count( const generator_def* def )
{
    return def->split ? def->body_count * BODY_SPLIT : def->body_count;
}

uint32_t generator_part_count( const generator_def* def )
{
    return def->part_count != 0 ? def->part_count : def->body_count;
}
