// SPDX-License-Identifier: MIT
#include "lab/scene/generator.h"

#include "lab/base/text.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const generator* const table[] = {
    &generator_brownian_free,   // without contacts
    &generator_rest_and_motion, //
    &generator_mostly_rest,     //
    &generator_jitter,          // packed and at rest
    &generator_settling,        //
    &generator_freefall,        // Broadmark's three
    &generator_brownian,        //
    &generator_gravity,         //
    &generator_ray_freefall,    // of the RAY KD-tree paper
    &generator_ray_particles,   //
    &generator_tower,           // of the paper on k-DOPs
    &generator_giant,           // scenes that hurt
    &generator_spot,            //
    &generator_city,            //
    &generator_crowd,           //
    &generator_swarm,           //
    &generator_churn,           //
    &generator_huge,            // the same without physics
    &generator_equal,           //
    &generator_needles,         //
    &generator_lognormal,       //
    &generator_outlier,         //
    &generator_far,             //
    &generator_teleport,        //
    &generator_growing,         //
    &generator_cluster,         //
    &generator_flat,            // worlds that are no cube
    &generator_slab,            //
    &generator_line,            //
    &generator_diagonal,        //
    &generator_floors,          //
    &generator_staircase,       //
    &generator_shell,           //
    &generator_walled,          //
    &generator_endless,         //
    &generator_half_spaces,     //
    &generator_decades_6,       //
    &generator_decades_12,      //
    &generator_denormal,        //
    &generator_crossing,        //
};

uint32_t generator_count( void )
{
    return (uint32_t)( sizeof( table ) / sizeof( table[0] ) );
}

const generator* generator_at( uint32_t index )
{
    return table[index];
}

const generator* generator_find( const char* name )
{
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        if ( strcmp( name, table[index]->name ) == 0 )
        {
            return table[index];
        }
    }
    return NULL;
}

const char* generator_closest( const char* name )
{
    const char* names[sizeof( table ) / sizeof( table[0] )];
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        names[index] = table[index]->name;
    }
    return text_closest( name, names, generator_count() );
}

const char* generator_names( void )
{
    static char names[1024];
    size_t length = 0;
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        const char* separator = index == 0 ? "" : index + 1 == generator_count() ? " and " : ", ";
        int written =
            snprintf( names + length, sizeof( names ) - length, "%s%s", separator, table[index]->name );
        length += written > 0 && (size_t)written < sizeof( names ) - length ? (size_t)written : 0;
    }
    return names;
}

uint32_t generator_object_count( const generator_def* def )
{
    return def->split ? def->body_count * BODY_SPLIT : def->body_count;
}

uint32_t generator_part_count( const generator_def* def )
{
    return def->part_count != 0 ? def->part_count : def->body_count;
}
