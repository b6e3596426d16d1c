// SPDX-License-Identifier: MIT
#include "lab/scene/generator.h"

#include "lab/base/text.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const choice generator_families[] = { { "free", FAMILY_FREE }, { "packed", FAMILY_PACKED },
    { "broadmark", FAMILY_BROADMARK }, { "ray-kd", FAMILY_RAY_KD }, { "k-dop", FAMILY_K_DOP },
    { "hard", FAMILY_HARD }, { "worst", FAMILY_WORST }, { "odd", FAMILY_ODD }, { NULL, 0 } };

// Family by family. Everything that names scenes reads this table.
static const generator* const table[] = {
    &generator_brownian_free,
    &generator_rest_and_motion,
    &generator_mostly_rest,
    &generator_jitter,
    &generator_settling,
    &generator_freefall,
    &generator_brownian,
    &generator_gravity,
    &generator_ray_freefall,
    &generator_ray_particles,
    &generator_tower,
    &generator_giant,
    &generator_spot,
    &generator_city,
    &generator_crowd,
    &generator_swarm,
    &generator_churn,
    &generator_huge,
    &generator_equal,
    &generator_needles,
    &generator_lognormal,
    &generator_outlier,
    &generator_far,
    &generator_teleport,
    &generator_growing,
    &generator_cluster,
    &generator_flat,
    &generator_slab,
    &generator_line,
    &generator_diagonal,
    &generator_floors,
    &generator_staircase,
    &generator_shell,
    &generator_walled,
    &generator_endless,
    &generator_half_spaces,
    &generator_decades_4,
    &generator_decades_6,
    &generator_decades_12,
    &generator_denormal,
    &generator_crossing,
    &generator_two_sizes,
    &generator_row_flying,
    &generator_row_stretching,
    &generator_sheet_flying,
    &generator_self_similar,
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

char* generator_advice( const char* name, char buffer[GENERATOR_ADVICE_ROOM] )
{
    text_guess guess = text_guess_begin( name );
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        text_guess_try( &guess, table[index]->name );
    }
    int length = snprintf( buffer, GENERATOR_ADVICE_ROOM, "%sscenes are ", text_guess_say( &guess ) );
    for ( uint32_t index = 0; index < generator_count() && length < GENERATOR_ADVICE_ROOM; ++index )
    {
        const char* separator = index == 0 ? "" : index + 1 == generator_count() ? " and " : ", ";
        length += snprintf(
            buffer + length, GENERATOR_ADVICE_ROOM - (size_t)length, "%s%s", separator, table[index]->name );
    }
    return buffer;
}

uint32_t generator_object_count( const generator_def* def )
{
    return def->split ? def->body_count * BODY_SPLIT : def->body_count;
}

uint32_t generator_part_count( const generator_def* def )
{
    return def->part_count != 0 ? def->part_count : def->body_count;
}
