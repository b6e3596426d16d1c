// SPDX-License-Identifier: MIT
// Scene files: one statement per line, a word and its values; # starts a comment.
// docs/lab.md lists the words.
#include "lab/base/text.h"
#include "lab/scene/generator.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Takes the next word if it is this one.
static bool take_word( text_line* line, const char* word )
{
    bool is_it = line->next < line->words.count && strcmp( line->words.items[line->next], word ) == 0;
    line->next += is_it ? 1 : 0;
    return is_it;
}

/// The next word as one of a list; *value is untouched if it is none of them, or missing.
static bool take_choice( text_line* line, const choice* list, int* value )
{
    bool is_one = line->next < line->words.count && choice_find( list, line->words.items[line->next], value );
    line->next += is_one ? 1 : 0;
    return is_one;
}

static bool read_number( text_line* line, double least, double most, double* value )
{
    const char* word = text_line_next( line );
    if ( word == NULL )
    {
        return text_line_fail( line, NULL, "a number is missing at the end of the line" );
    }
    char* end;
    double number = strtod( word, &end );
    // Fractions such as 1/30 are how people write frame times.
    if ( *end == '/' )
    {
        char* fraction = end + 1;
        double divisor = strtod( fraction, &end );
        number = end == fraction || divisor == 0 ? NAN : number / divisor;
    }
    if ( end == word || *end != '\0' || !( number >= least && number <= most ) )
    {
        char message[96];
        snprintf( message, sizeof( message ), "a number from %g to %g is needed here", least, most );
        return text_line_fail( line, word, message );
    }
    *value = number;
    return true;
}

static bool read_whole( text_line* line, double least, double most, uint64_t* value )
{
    const char* word = text_line_next( line );
    uint64_t size = 0;
    if ( word == NULL )
    {
        return text_line_fail( line, NULL, "a number is missing at the end of the line" );
    }
    if ( !text_parse_size( word, &size ) || (double)size < least || (double)size > most )
    {
        char message[96];
        snprintf( message, sizeof( message ),
            "a whole number from %g to %g such as 8000 or 8k is needed here", least, most );
        return text_line_fail( line, word, message );
    }
    *value = size;
    return true;
}

// ---- one function per word

static bool read_name( text_line* line, recipe* scene )
{
    const char* word = text_line_next( line );
    if ( word == NULL || strlen( word ) >= RECIPE_NAME_ROOM )
    {
        return text_line_fail( line, NULL, "name needs one word of at most 63 characters" );
    }
    snprintf( scene->name, sizeof( scene->name ), "%s", word );
    return true;
}

static bool read_objects( text_line* line, recipe* scene )
{
    uint64_t count = 0;
    if ( !read_whole( line, 1, 1e7, &count ) )
    {
        return false;
    }
    scene->body_count = (uint32_t)count;
    return true;
}

static bool read_seed( text_line* line, recipe* scene )
{
    return read_whole( line, 0, 1.8e19, &scene->seed );
}

static bool read_world( text_line* line, recipe* scene )
{
    if ( take_word( line, "density" ) )
    {
        return read_number( line, 1e-9, 1.0, &scene->density );
    }
    if ( take_word( line, "side" ) )
    {
        scene->density = 0;
        return read_number( line, 1e-3, 1e6, &scene->side );
    }
    return text_line_fail( line, NULL, "world needs 'density D' (bodies per cubic metre) or 'side METRES'" );
}

static bool read_origin( text_line* line, recipe* scene )
{
    return read_number( line, -1e9, 1e9, &scene->origin[0] ) &&
        read_number( line, -1e9, 1e9, &scene->origin[1] ) &&
        read_number( line, -1e9, 1e9, &scene->origin[2] );
}

static bool read_frame( text_line* line, recipe* scene )
{
    uint64_t substeps = scene->substeps;
    if ( !read_number( line, 1e-6, 1.0, &scene->frame_seconds ) )
    {
        return false;
    }
    if ( take_word( line, "substeps" ) && !read_whole( line, 1, 1000, &substeps ) )
    {
        return false;
    }
    scene->substeps = (uint32_t)substeps;
    return true;
}

static bool read_start( text_line* line, recipe* scene )
{
    static const choice regions[] = { { "ball", RECIPE_BALL }, { "cube", RECIPE_CUBE },
        { "slab", RECIPE_SLAB }, { NULL, 0 } };
    int region = 0;
    if ( !take_choice( line, regions, &region ) )
    {
        return text_line_fail(
            line, NULL, "start needs 'ball R', 'cube R' or 'slab H', each a share of the world's side" );
    }
    scene->region = (recipe_region)region;
    return read_number( line, 0.0, region == RECIPE_SLAB ? 1.0 : 0.5, &scene->reach );
}

/// A trailing `world` makes an amount a multiple of the world's side.
static bool read_amount( text_line* line, double* amount, bool* by_world )
{
    if ( !read_number( line, 0.0, 1e6, amount ) )
    {
        return false;
    }
    *by_world = take_word( line, "world" );
    return true;
}

static bool read_speed( text_line* line, recipe* scene )
{
    static const choice laws[] = { { "ball", RECIPE_SPEED_BALL }, { "range", RECIPE_SPEED_RANGE },
        { NULL, 0 } };
    int law = 0;
    if ( !take_choice( line, laws, &law ) )
    {
        return text_line_fail(
            line, NULL, "speed needs 'ball V' or 'range V', and 'world' after V for sides per second" );
    }
    scene->speed_law = (recipe_speed)law;
    return read_amount( line, &scene->speed, &scene->speed_by_world );
}

static bool read_gravity( text_line* line, recipe* scene )
{
    static const choice kinds[] = { { "none", RECIPE_NO_GRAVITY }, { "down", RECIPE_DOWN },
        { "turning", RECIPE_TURNING }, { NULL, 0 } };
    int kind = 0;
    if ( !take_choice( line, kinds, &kind ) )
    {
        return text_line_fail( line, NULL, "gravity needs 'none', 'down G' or 'turning G period SECONDS'" );
    }
    scene->gravity = (recipe_gravity)kind;
    return kind == RECIPE_NO_GRAVITY ||
        ( read_amount( line, &scene->gravity_amount, &scene->gravity_by_world ) &&
            ( kind != RECIPE_TURNING || !take_word( line, "period" ) ||
                read_number( line, 1e-2, 1e6, &scene->gravity_period ) ) );
}

static bool read_contacts( text_line* line, recipe* scene )
{
    uint64_t frame = 0;
    if ( take_word( line, "never" ) )
    {
        frame = UINT32_MAX;
    }
    else if ( !take_word( line, "from" ) )
    {
        return text_line_fail( line, NULL, "contacts needs 'from FRAME' or 'never'" );
    }
    else if ( !read_whole( line, 0, 1e6, &frame ) )
    {
        return false;
    }
    scene->contacts_from = (uint32_t)frame;
    return true;
}

static bool read_sleep( text_line* line, recipe* scene )
{
    scene->sleep = take_word( line, "on" );
    return scene->sleep || take_word( line, "off" ) ||
        text_line_fail( line, NULL, "sleep needs 'on' or 'off'" );
}

static bool read_solver( text_line* line, recipe* scene )
{
    scene->lean = take_word( line, "lean" );
    return scene->lean || take_word( line, "full" ) ||
        text_line_fail( line, NULL, "solver needs 'full' or 'lean'" );
}

/// A share as 25%, a number of bodies, or `rest`.
static bool read_group_size( text_line* line, recipe_group* group )
{
    const char* word = text_line_next( line );
    uint64_t count = 0;
    if ( word == NULL )
    {
        return text_line_fail( line, NULL, "bodies needs a share such as 25%, a number, or rest" );
    }
    if ( strcmp( word, "rest" ) == 0 )
    {
        group->share = -1;
        return true;
    }
    char* end;
    double percent = strtod( word, &end );
    if ( end != word && strcmp( end, "%" ) == 0 && percent > 0 && percent <= 100 )
    {
        group->share = percent / 100;
        return true;
    }
    if ( text_parse_size( word, &count ) && count >= 1 && count <= 10000000 )
    {
        group->count = (uint32_t)count;
        return true;
    }
    return text_line_fail( line, word, "bodies needs a share such as 25%, a number, or rest" );
}

static bool read_sides( text_line* line, recipe_group* group, uint32_t count )
{
    for ( uint32_t i = 0; i < count; ++i )
    {
        if ( !read_number( line, 1e-4, 1e6, &group->sides[i] ) )
        {
            return false;
        }
    }
    for ( uint32_t i = count; i < 3; ++i )
    {
        group->sides[i] = group->sides[count - 1];
    }
    group->sides_by_world = take_word( line, "world" );
    return true;
}

static bool read_shape( text_line* line, recipe_group* group )
{
    if ( take_word( line, "type" ) || take_word( line, "assorted" ) )
    {
        bool is_type = strcmp( line->words.items[line->next - 1], "type" ) == 0;
        group->shape = is_type ? RECIPE_TYPE : RECIPE_ASSORTED;
        return true;
    }
    if ( take_word( line, "cube" ) )
    {
        group->shape = RECIPE_BOX;
        return read_sides( line, group, 1 );
    }
    if ( take_word( line, "box" ) )
    {
        group->shape = RECIPE_BOX;
        return read_sides( line, group, 3 );
    }
    if ( take_word( line, "random" ) )
    {
        group->shape = RECIPE_RANDOM;
        return read_sides( line, group, 2 ) &&
            ( group->sides[0] <= group->sides[1] ||
                text_line_fail( line, NULL, "random needs its smaller side first" ) );
    }
    return text_line_fail( line, NULL,
        "after the number of bodies say 'cube S', 'box X Y Z', 'random LEAST MOST', 'assorted' or 'type'" );
}

static bool read_bodies( text_line* line, recipe* scene )
{
    if ( scene->group_count == RECIPE_GROUPS_MOST )
    {
        return text_line_fail( line, NULL, "more than 16 groups of bodies; join some" );
    }
    recipe_group* group = &scene->groups[scene->group_count];
    memset( group, 0, sizeof( *group ) );
    if ( !read_group_size( line, group ) || !read_shape( line, group ) )
    {
        return false;
    }
    while ( line->next < line->words.count )
    {
        if ( take_word( line, "static" ) )
        {
            group->is_static = true;
        }
        else if ( take_word( line, "center" ) )
        {
            group->place = RECIPE_CENTER;
        }
        else if ( take_word( line, "street" ) )
        {
            group->place = RECIPE_STREET;
        }
        else
        {
            return text_line_fail(
                line, line->words.items[line->next], "only 'static', 'center' and 'street' may follow" );
        }
    }
    scene->group_count += 1;
    return true;
}

typedef struct statement
{
    const char* word;
    bool ( *read )( text_line* line, recipe* scene ); ///< NULL: one number
    size_t offset;                                    ///< of the number in a recipe
    double least, most;
} statement;

static const statement statements[] = {
    { "name", read_name, 0, 0, 0 },
    { "objects", read_objects, 0, 0, 0 },
    { "seed", read_seed, 0, 0, 0 },
    { "world", read_world, 0, 0, 0 },
    { "origin", read_origin, 0, 0, 0 },
    { "frame", read_frame, 0, 0, 0 },
    { "start", read_start, 0, 0, 0 },
    { "speed", read_speed, 0, 0, 0 },
    { "gravity", read_gravity, 0, 0, 0 },
    { "kick", NULL, offsetof( recipe, kick_share ), 0, 1 },
    { "teleport", NULL, offsetof( recipe, teleport_share ), 0, 1 },
    { "churn", NULL, offsetof( recipe, churn_share ), 0, 1 },
    { "contacts", read_contacts, 0, 0, 0 },
    { "friction", NULL, offsetof( recipe, friction ), 0, 1e3 },
    { "restitution", NULL, offsetof( recipe, restitution ), 0, 1 },
    { "sleep", read_sleep, 0, 0, 0 },
    { "solver", read_solver, 0, 0, 0 },
    { "bodies", read_bodies, 0, 0, 0 },
};

#define STATEMENT_COUNT ( sizeof( statements ) / sizeof( statements[0] ) )

static bool read_line( text_line* line, void* user )
{
    recipe* scene = user;
    text_guess guess = text_guess_begin( line->word );
    for ( size_t i = 0; i < STATEMENT_COUNT; ++i )
    {
        const statement* known = &statements[i];
        if ( strcmp( line->word, known->word ) == 0 )
        {
            void* number = (char*)scene + known->offset;
            bool good = known->read != NULL ? known->read( line, scene )
                                            : read_number( line, known->least, known->most, number );
            return good &&
                ( line->next == line->words.count ||
                    text_line_fail(
                        line, line->words.items[line->next], "is one word too many; remove it" ) );
        }
        text_guess_try( &guess, known->word );
    }
    char message[160];
    snprintf(
        message, sizeof( message ), "no such statement; %sdocs/lab.md lists them", text_guess_say( &guess ) );
    return text_line_fail( line, line->word, message );
}

bool recipe_parse( const char* name, const char* text, recipe* result, lab_error* why )
{
    *result = recipe_default( "scene" );
    return text_lines_read( name, text, read_line, result, why );
}

bool recipe_read( const char* path, recipe* result, lab_error* why )
{
    char* text = text_file_read( path, "a scene file", why );
    bool good = text != NULL && recipe_parse( path, text, result, why );
    free( text );
    return good;
}
