// SPDX-License-Identifier: MIT
// Scene files: one statement per line, a word and its values; # starts a comment. docs/lab.md lists the words.
#include "lab/base/text.h"
#include "lab/scene/generator.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_ROOM 512
#define WORDS_MOST 12

typedef struct line_reader
{
    const char* path;
    uint32_t line;
    char text[LINE_ROOM];
    char* words[WORDS_MOST];
    uint32_t count;
    uint32_t next; ///< word to be read next
    lab_error* why;
} line_reader;

/// "FILE:LINE: what, what to do". Always false.
static bool fail_here( line_reader* line, const char* message )
{
    return lab_error_write( line->why, "%s:%u: %s", line->path, line->line, message );
}

static bool fail_word( line_reader* line, const char* word, const char* message )
{
    return lab_error_write( line->why, "%s:%u: '%s': %s", line->path, line->line, word, message );
}

static const char* next_word( line_reader* line )
{
    return line->next < line->count ? line->words[line->next++] : NULL;
}

/// Takes the next word if it is this one.
static bool take_word( line_reader* line, const char* word )
{
    if ( line->next < line->count && strcmp( line->words[line->next], word ) == 0 )
    {
        line->next += 1;
        return true;
    }
    return false;
}

static bool read_number( line_reader* line, double least, double most, double* value )
{
    const char* word = next_word( line );
    if ( word == NULL )
    {
        return fail_here( line, "a number is missing at the end of the line" );
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
        return fail_word( line, word, message );
    }
    *value = number;
    return true;
}

static bool read_whole( line_reader* line, double least, double most, uint64_t* value )
{
    const char* word = next_word( line );
    uint64_t size = 0;
    if ( word == NULL )
    {
        return fail_here( line, "a number is missing at the end of the line" );
    }
    if ( !text_parse_size( word, &size ) || (double)size < least || (double)size > most )
    {
        char message[96];
        snprintf( message, sizeof( message ),
            "a whole number from %g to %g such as 8000 or 8k is needed here", least, most );
        return fail_word( line, word, message );
    }
    *value = size;
    return true;
}

// ---- one function per word ---------------------------------------------------------------------------------------

static bool read_name( line_reader* line, recipe* scene )
{
    const char* word = next_word( line );
    if ( word == NULL || strlen( word ) >= RECIPE_NAME_ROOM )
    {
        return fail_here( line, "name needs one word of at most 63 characters" );
    }
    snprintf( scene->name, sizeof( scene->name ), "%s", word );
    return true;
}

static bool read_objects( line_reader* line, recipe* scene )
{
    uint64_t count = 0;
    if ( !read_whole( line, 1, 1e7, &count ) )
    {
        return false;
    }
    scene->body_count = (uint32_t)count;
    return true;
}

static bool read_seed( line_reader* line, recipe* scene )
{
    return read_whole( line, 0, 1.8e19, &scene->seed );
}

static bool read_world( line_reader* line, recipe* scene )
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
    return fail_here( line, "world needs 'density D' (bodies per cubic metre) or 'side METRES'" );
}

static bool read_origin( line_reader* line, recipe* scene )
{
    return read_number( line, -1e9, 1e9, &scene->origin[0] ) &&
        read_number( line, -1e9, 1e9, &scene->origin[1] ) &&
        read_number( line, -1e9, 1e9, &scene->origin[2] );
}

static bool read_frame( line_reader* line, recipe* scene )
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

static bool read_start( line_reader* line, recipe* scene )
{
    if ( take_word( line, "ball" ) )
    {
        scene->region = RECIPE_BALL;
        return read_number( line, 0.0, 0.5, &scene->reach );
    }
    if ( take_word( line, "cube" ) )
    {
        scene->region = RECIPE_CUBE;
        return read_number( line, 0.0, 0.5, &scene->reach );
    }
    if ( take_word( line, "slab" ) )
    {
        scene->region = RECIPE_SLAB;
        return read_number( line, 0.0, 1.0, &scene->reach );
    }
    return fail_here( line, "start needs 'ball R', 'cube R' or 'slab H', each a share of the world's side" );
}

/// A trailing `world` makes an amount a multiple of the world's side.
static bool read_amount( line_reader* line, double* amount, bool* by_world )
{
    if ( !read_number( line, 0.0, 1e6, amount ) )
    {
        return false;
    }
    *by_world = take_word( line, "world" );
    return true;
}

static bool read_speed( line_reader* line, recipe* scene )
{
    if ( take_word( line, "ball" ) )
    {
        scene->speed_law = RECIPE_SPEED_BALL;
    }
    else if ( take_word( line, "range" ) )
    {
        scene->speed_law = RECIPE_SPEED_RANGE;
    }
    else
    {
        return fail_here(
            line, "speed needs 'ball V' or 'range V', and 'world' after V for sides per second" );
    }
    return read_amount( line, &scene->speed, &scene->speed_by_world );
}

static bool read_gravity( line_reader* line, recipe* scene )
{
    if ( take_word( line, "none" ) )
    {
        scene->gravity = RECIPE_NO_GRAVITY;
        return true;
    }
    if ( take_word( line, "down" ) )
    {
        scene->gravity = RECIPE_DOWN;
        return read_amount( line, &scene->gravity_amount, &scene->gravity_by_world );
    }
    if ( take_word( line, "turning" ) )
    {
        scene->gravity = RECIPE_TURNING;
        return read_amount( line, &scene->gravity_amount, &scene->gravity_by_world ) &&
            ( !take_word( line, "period" ) || read_number( line, 1e-2, 1e6, &scene->gravity_period ) );
    }
    return fail_here( line, "gravity needs 'none', 'down G' or 'turning G period SECONDS'" );
}

static bool read_kick( line_reader* line, recipe* scene )
{
    return read_number( line, 0.0, 1.0, &scene->kick_share );
}

static bool read_teleport( line_reader* line, recipe* scene )
{
    return read_number( line, 0.0, 1.0, &scene->teleport_share );
}

static bool read_churn( line_reader* line, recipe* scene )
{
    return read_number( line, 0.0, 1.0, &scene->churn_share );
}

static bool read_contacts( line_reader* line, recipe* scene )
{
    uint64_t frame = 0;
    if ( take_word( line, "never" ) )
    {
        frame = UINT32_MAX;
    }
    else if ( !take_word( line, "from" ) )
    {
        return fail_here( line, "contacts needs 'from FRAME' or 'never'" );
    }
    else if ( !read_whole( line, 0, 1e6, &frame ) )
    {
        return false;
    }
    scene->contacts_from = (uint32_t)frame;
    return true;
}

static bool read_friction( line_reader* line, recipe* scene )
{
    return read_number( line, 0.0, 1e3, &scene->friction );
}

static bool read_restitution( line_reader* line, recipe* scene )
{
    return read_number( line, 0.0, 1.0, &scene->restitution );
}

static bool read_sleep( line_reader* line, recipe* scene )
{
    scene->sleep = take_word( line, "on" );
    return scene->sleep || take_word( line, "off" ) || fail_here( line, "sleep needs 'on' or 'off'" );
}

static bool read_solver( line_reader* line, recipe* scene )
{
    scene->lean = take_word( line, "lean" );
    return scene->lean || take_word( line, "full" ) || fail_here( line, "solver needs 'full' or 'lean'" );
}

/// A share as 25%, a number of bodies, or `rest`.
static bool read_group_size( line_reader* line, recipe_group* group )
{
    const char* word = next_word( line );
    uint64_t count = 0;
    if ( word == NULL )
    {
        return fail_here( line, "bodies needs a share such as 25%, a number, or rest" );
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
    return fail_word( line, word, "bodies needs a share such as 25%, a number, or rest" );
}

static bool read_sides( line_reader* line, recipe_group* group, uint32_t count )
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

static bool read_shape( line_reader* line, recipe_group* group )
{
    if ( take_word( line, "assorted" ) )
    {
        group->shape = RECIPE_ASSORTED;
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
                fail_here( line, "random needs its smaller side first" ) );
    }
    return fail_here(
        line, "after the number of bodies say 'cube S', 'box X Y Z', 'random LEAST MOST' or 'assorted'" );
}

static bool read_bodies( line_reader* line, recipe* scene )
{
    if ( scene->group_count == RECIPE_GROUPS_MOST )
    {
        return fail_here( line, "more than 16 groups of bodies; join some" );
    }
    recipe_group* group = &scene->groups[scene->group_count];
    memset( group, 0, sizeof( *group ) );
    if ( !read_group_size( line, group ) || !read_shape( line, group ) )
    {
        return false;
    }
    while ( line->next < line->count )
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
            return fail_word(
                line, line->words[line->next], "only 'static', 'center' and 'street' may follow" );
        }
    }
    scene->group_count += 1;
    return true;
}

typedef struct statement
{
    const char* word;
    bool ( *read )( line_reader* line, recipe* scene );
} statement;

static const statement statements[] = {
    { "name", read_name },
    { "objects", read_objects },
    { "seed", read_seed },
    { "world", read_world },
    { "origin", read_origin },
    { "frame", read_frame },
    { "start", read_start },
    { "speed", read_speed },
    { "gravity", read_gravity },
    { "kick", read_kick },
    { "teleport", read_teleport },
    { "churn", read_churn },
    { "contacts", read_contacts },
    { "friction", read_friction },
    { "restitution", read_restitution },
    { "sleep", read_sleep },
    { "solver", read_solver },
    { "bodies", read_bodies },
};

#define STATEMENT_COUNT ( sizeof( statements ) / sizeof( statements[0] ) )

static bool split_words( line_reader* line )
{
    line->count = 0;
    line->next = 0;
    char* comment = strchr( line->text, '#' );
    if ( comment != NULL )
    {
        *comment = '\0';
    }
    for ( char* word = strtok( line->text, " \t\r\n" ); word != NULL; word = strtok( NULL, " \t\r\n" ) )
    {
        if ( line->count == WORDS_MOST )
        {
            return fail_word( line, word, "is one word too many; remove it" );
        }
        line->words[line->count++] = word;
    }
    return true;
}

static bool read_line( line_reader* line, recipe* scene )
{
    if ( !split_words( line ) )
    {
        return false;
    }
    if ( line->count == 0 )
    {
        return true;
    }
    const char* word = next_word( line );
    for ( size_t i = 0; i < STATEMENT_COUNT; ++i )
    {
        if ( strcmp( word, statements[i].word ) == 0 )
        {
            return statements[i].read( line, scene ) &&
                ( line->next == line->count ||
                    fail_word( line, line->words[line->next], "is one word too many; remove it" ) );
        }
    }
    text_guess guess = text_guess_begin( word );
    for ( size_t i = 0; i < STATEMENT_COUNT; ++i )
    {
        text_guess_try( &guess, statements[i].word );
    }
    char message[160];
    snprintf(
        message, sizeof( message ), "no such statement; %sdocs/lab.md lists them", text_guess_say( &guess ) );
    return fail_word( line, word, message );
}

static bool read_lines( FILE* stream, line_reader* line, recipe* scene )
{
    while ( fgets( line->text, sizeof( line->text ), stream ) != NULL )
    {
        line->line += 1;
        size_t length = strlen( line->text );
        if ( length + 1 == sizeof( line->text ) && line->text[length - 1] != '\n' )
        {
            return fail_here( line, "the line is longer than 510 characters; break it up" );
        }
        if ( !read_line( line, scene ) )
        {
            return false;
        }
    }
    return ferror( stream ) == 0 ||
        lab_error_write( line->why, "%s: cannot be read beyond line %u", line->path, line->line );
}

bool recipe_read( const char* path, recipe* result, lab_error* why )
{
    FILE* stream = fopen( path, "rb" );
    if ( stream == NULL )
    {
        return lab_error_write( why, "%s: cannot be opened: %s; check the name", path, strerror( errno ) );
    }
    *result = recipe_default( "scene" );
    line_reader line = { .path = path, .why = why };
    bool good = read_lines( stream, &line, result );
    fclose( stream );
    return good;
}
