// SPDX-License-Identifier: MIT
// Schedules: one statement per line, a word and its values; # starts a comment. docs/schedules.md lists the words.
#include "lab/frame/scene_spec.h"
#include "lab/measure/range.h"
#include "lab/run/pin.h"
#include "lab/run/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct schedule_line
{
    const char* path;
    uint32_t number;
    text_list words;     ///< behind the first
    schedule_part* part; ///< that the line belongs to
    uint64_t* said;      ///< bit per word of the table: it occurred in this part already
    lab_error* why;
} schedule_line;

static bool fail_here( const schedule_line* line, const char* problem )
{
    return lab_error_write( line->why, "%s:%u: %s", line->path, line->number, problem );
}

static bool fail_word( const schedule_line* line, const char* word, const char* problem )
{
    return lab_error_write( line->why, "%s:%u: '%s': %s", line->path, line->number, word, problem );
}

static bool takes_one( const schedule_line* line, const char* problem )
{
    return line->words.count == 1 || fail_here( line, problem );
}

// ---- values

static bool read_whole( schedule_line* line, uint64_t least, uint64_t most, uint64_t* value )
{
    if ( !takes_one( line, "one whole number is needed here" ) )
    {
        return false;
    }
    if ( !text_parse_size( line->words.items[0], value ) || *value < least || *value > most )
    {
        char problem[96];
        snprintf( problem, sizeof( problem ), "a whole number from %llu to %llu is needed here",
            (unsigned long long)least, (unsigned long long)most );
        return fail_word( line, line->words.items[0], problem );
    }
    return true;
}

static bool read_seconds( schedule_line* line, double* seconds )
{
    if ( !takes_one( line, "one number of seconds is needed here" ) )
    {
        return false;
    }
    char* end = NULL;
    *seconds = strtod( line->words.items[0], &end );
    bool is_good = end != line->words.items[0] && *end == '\0' && *seconds >= 0 && *seconds <= 1e9;
    return is_good ||
        fail_word( line, line->words.items[0], "a number of seconds, 0 for none, is needed here" );
}

static bool read_switch( schedule_line* line, bool* value )
{
    const char* word = line->words.count == 1 ? line->words.items[0] : "";
    *value = strcmp( word, "yes" ) == 0;
    return *value || strcmp( word, "no" ) == 0 || fail_here( line, "yes or no is needed here" );
}

static bool read_texts( schedule_line* line, text_list* list )
{
    for ( uint32_t index = 0; index < line->words.count; ++index )
    {
        text_list_add( list, line->words.items[index] );
    }
    return line->words.count > 0 || fail_here( line, "values are missing at the end of the line" );
}

static bool read_sizes( schedule_line* line, size_list* list, double most )
{
    number_list numbers = { 0 };
    char problem[128] = "";
    bool good = line->words.count > 0 || fail_here( line, "sizes are missing at the end of the line" );
    for ( uint32_t index = 0; good && index < line->words.count; ++index )
    {
        good = range_add( &numbers, line->words.items[index], problem, sizeof( problem ) ) ||
            fail_word( line, line->words.items[index], problem );
    }
    for ( uint32_t index = 0; good && index < numbers.count; ++index )
    {
        double value = numbers.items[index];
        snprintf( problem, sizeof( problem ), "%.12g is out of range; use whole numbers from 1 to %.12g",
            value, most );
        good =
            ( value >= 1 && value <= most && value == (double)(uint64_t)value ) || fail_here( line, problem );
        if ( good )
        {
            size_list_add( list, (uint64_t)value );
        }
    }
    number_list_free( &numbers );
    return good;
}

// ---- one function per word

static bool read_scenes( schedule_line* line )
{
    for ( uint32_t index = 0; index < line->words.count; ++index )
    {
        scene_spec spec;
        lab_error why;
        if ( !scene_spec_parse( line->words.items[index], &spec, &why ) )
        {
            return lab_error_write( line->why, "%s:%u: %.800s", line->path, line->number, why.text );
        }
        scene_spec_free( &spec );
    }
    return read_texts( line, &line->part->scenes );
}

static bool read_object_counts( schedule_line* line )
{
    return read_sizes( line, &line->part->sizes, GENERATOR_BODIES_MOST );
}

static bool read_types( schedule_line* line )
{
    for ( uint32_t index = 0; index < line->words.count; ++index )
    {
        body_type type;
        if ( !body_type_from_name( line->words.items[index], &type ) )
        {
            return fail_word( line, line->words.items[index], "no type of objects; use cubes or assorted" );
        }
    }
    return read_texts( line, &line->part->types );
}

static bool read_window( schedule_line* line )
{
    if ( !takes_one( line, "a window such as 150+60 is needed here" ) )
    {
        return false;
    }
    scene_spec spec;
    lab_error why;
    char* scene = text_format( "brownian-free@%s", line->words.items[0] );
    bool good = scene_spec_parse( scene, &spec, &why );
    free( scene );
    if ( !good )
    {
        return fail_word( line, line->words.items[0], "no window; write FROM+FRAMES, such as 150+60" );
    }
    scene_spec_free( &spec );
    snprintf( line->part->window, sizeof( line->part->window ), "%s", line->words.items[0] );
    return true;
}

static bool read_methods( schedule_line* line )
{
    bool is_all = line->words.count == 1 && strcmp( line->words.items[0], "all" ) == 0;
    return is_all || read_texts( line, &line->part->wish.names );
}

static bool read_without( schedule_line* line )
{
    return read_texts( line, &line->part->wish.without );
}

static bool read_threads( schedule_line* line )
{
    return read_sizes( line, &line->part->wish.threads, CLV_MAX_WORKERS );
}

static bool read_isa( schedule_line* line )
{
    bool is_best = line->words.count == 1 && strcmp( line->words.items[0], "best" ) == 0;
    return is_best || read_texts( line, &line->part->wish.isas );
}

static bool read_set( schedule_line* line )
{
    return read_texts( line, &line->part->wish.settings );
}

static bool read_sweep( schedule_line* line )
{
    return read_texts( line, &line->part->wish.sweeps );
}

static bool read_fat( schedule_line* line )
{
    return read_switch( line, &line->part->wish.fat );
}

static bool read_frames( schedule_line* line )
{
    return read_whole( line, 1, BAKE_FRAMES_MOST, &line->part->terms.frame_count );
}

static bool read_warmup( schedule_line* line )
{
    return read_whole( line, 0, 1000, &line->part->terms.warmup );
}

static bool read_repeat( schedule_line* line )
{
    return read_whole( line, 1, 100000, &line->part->terms.repeat );
}

static bool read_rounds( schedule_line* line )
{
    return read_whole( line, 1, 1000, &line->part->terms.rounds );
}

static bool read_sorted( schedule_line* line )
{
    return read_switch( line, &line->part->terms.sorted );
}

static bool read_events( schedule_line* line )
{
    return read_switch( line, &line->part->terms.events );
}

static bool read_thread_time( schedule_line* line )
{
    return read_switch( line, &line->part->terms.thread_time );
}

static bool read_time_limit( schedule_line* line )
{
    return read_seconds( line, &line->part->terms.time_limit_s );
}

static bool read_memory_limit( schedule_line* line )
{
    return read_whole( line, 0, UINT64_C( 1 ) << 30, &line->part->terms.memory_limit_mib );
}

static bool read_ladder( schedule_line* line )
{
    return read_seconds( line, &line->part->terms.ladder_s );
}

static bool read_seed( schedule_line* line )
{
    return read_whole( line, 0, UINT64_MAX, &line->part->terms.seed );
}

static bool read_pin( schedule_line* line )
{
    pin_wish pin;
    if ( !takes_one( line, "yes, no or cores such as 2,3 are needed here" ) )
    {
        return false;
    }
    const char* word = line->words.items[0];
    if ( strlen( word ) >= sizeof( line->part->terms.pin ) || !pin_parse( word, &pin ) )
    {
        return fail_word( line, word, PIN_FORM );
    }
    snprintf( line->part->terms.pin, sizeof( line->part->terms.pin ), "%s", word );
    return true;
}

// ---- lists that a part says anew

static void clear_scenes( schedule_part* part )
{
    text_list_free( &part->scenes );
}

static void clear_sizes( schedule_part* part )
{
    size_list_free( &part->sizes );
}

static void clear_types( schedule_part* part )
{
    text_list_free( &part->types );
}

static void clear_methods( schedule_part* part )
{
    text_list_free( &part->wish.names );
}

static void clear_without( schedule_part* part )
{
    text_list_free( &part->wish.without );
}

static void clear_threads( schedule_part* part )
{
    size_list_free( &part->wish.threads );
}

static void clear_isa( schedule_part* part )
{
    text_list_free( &part->wish.isas );
}

static void clear_set( schedule_part* part )
{
    text_list_free( &part->wish.settings );
}

static void clear_sweep( schedule_part* part )
{
    text_list_free( &part->wish.sweeps );
}

typedef struct schedule_word
{
    const char* name;
    bool ( *read )( schedule_line* line );
    void ( *clear )(
        schedule_part* part ); ///< empties a list; NULL for words whose line sets the whole value
} schedule_word;

static const schedule_word words[] = {
    { "scenes", read_scenes, clear_scenes },
    { "sizes", read_object_counts, clear_sizes },
    { "types", read_types, clear_types },
    { "window", read_window, NULL },
    { "methods", read_methods, clear_methods },
    { "without", read_without, clear_without },
    { "threads", read_threads, clear_threads },
    { "isa", read_isa, clear_isa },
    { "set", read_set, clear_set },
    { "sweep", read_sweep, clear_sweep },
    { "fat", read_fat, NULL },
    { "frames", read_frames, NULL },
    { "warmup", read_warmup, NULL },
    { "repeat", read_repeat, NULL },
    { "rounds", read_rounds, NULL },
    { "sorted", read_sorted, NULL },
    { "events", read_events, NULL },
    { "thread-time", read_thread_time, NULL },
    { "time-limit", read_time_limit, NULL },
    { "memory-limit", read_memory_limit, NULL },
    { "ladder", read_ladder, NULL },
    { "seed", read_seed, NULL },
    { "pin", read_pin, NULL },
};

#define WORD_COUNT ( sizeof( words ) / sizeof( words[0] ) )

static bool fail_unknown( const schedule_line* line, const char* word )
{
    const char* names[WORD_COUNT + 2] = { "about", "part" };
    for ( size_t index = 0; index < WORD_COUNT; ++index )
    {
        names[index + 2] = words[index].name;
    }
    const char* closest = text_closest( word, names, WORD_COUNT + 2 );
    char problem[128];
    snprintf( problem, sizeof( problem ), "unknown word; %s%s%s", closest != NULL ? "did you mean " : "",
        closest != NULL ? closest : "`cleave run --help` lists them", closest != NULL ? "?" : "" );
    return fail_word( line, word, problem );
}

// The first line of a list in a part replaces what stood above all parts; further ones add to it.
static bool read_statement( schedule_line* line, const char* word )
{
    for ( size_t index = 0; index < WORD_COUNT; ++index )
    {
        if ( strcmp( word, words[index].name ) != 0 )
        {
            continue;
        }
        bool is_again = ( *line->said >> index & 1 ) != 0;
        if ( is_again && words[index].clear == NULL )
        {
            return fail_word( line, word, "is said twice in this part; leave one" );
        }
        if ( !is_again && words[index].clear != NULL )
        {
            words[index].clear( line->part );
        }
        *line->said |= UINT64_C( 1 ) << index;
        return words[index].read( line );
    }
    return fail_unknown( line, word );
}

// ---- lines

typedef struct schedule_reader
{
    schedule* plan;
    schedule_part above; ///< what stands above all parts
    uint64_t said;
} schedule_reader;

static bool read_part( schedule_reader* reader, schedule_line* line )
{
    if ( line->words.count != 1 || strlen( line->words.items[0] ) >= SCHEDULE_NAME_ROOM )
    {
        return fail_here( line, "part needs one word as its name, of at most 63 characters" );
    }
    for ( uint32_t index = 0; index < reader->plan->part_count; ++index )
    {
        if ( strcmp( reader->plan->parts[index].name, line->words.items[0] ) == 0 )
        {
            return fail_word( line, line->words.items[0], "there is a part of this name above" );
        }
    }
    schedule_add_part( reader->plan, &reader->above, line->words.items[0] );
    reader->said = 0;
    return true;
}

static bool read_line( schedule_reader* reader, schedule_line* line, char* text )
{
    text[strcspn( text, "#" )] = '\0';
    char* position = text + strspn( text, " \t\r" );
    size_t length = strcspn( position, " \t\r" );
    if ( length == 0 )
    {
        return true;
    }
    char* rest = position + length;
    rest += *rest != '\0' ? 1 : 0;
    position[length] = '\0';
    if ( strcmp( position, "about" ) == 0 )
    {
        rest += strspn( rest, " \t" );
        size_t end = strlen( rest );
        end -= end > 0 && rest[end - 1] == '\r' ? 1 : 0;
        snprintf( reader->plan->about, sizeof( reader->plan->about ), "%.*s", (int)end, rest );
        return true;
    }
    for ( char* word = strtok( rest, " \t\r" ); word != NULL; word = strtok( NULL, " \t\r" ) )
    {
        text_list_add( &line->words, word );
    }
    if ( strcmp( position, "part" ) == 0 )
    {
        return read_part( reader, line );
    }
    uint32_t count = reader->plan->part_count;
    line->part = count > 0 ? &reader->plan->parts[count - 1] : &reader->above;
    line->said = &reader->said;
    return read_statement( line, position );
}

static bool read_lines( schedule_reader* reader, const char* path, const char* text, lab_error* why )
{
    bool good = true;
    uint32_t number = 1;
    for ( const char* start = text; good && *start != '\0'; ++number )
    {
        size_t length = strcspn( start, "\n" );
        char* copy = text_format( "%.*s", (int)length, start );
        schedule_line line = { .path = path, .number = number, .why = why };
        good = read_line( reader, &line, copy );
        text_list_free( &line.words );
        free( copy );
        start += length + ( start[length] == '\n' ? 1 : 0 );
    }
    return good;
}

// "lab/schedules/quick.schedule" is called quick.
static void name_plan( schedule* plan, const char* path )
{
    const char* name = path;
    for ( const char* c = path; *c != '\0'; ++c )
    {
        name = ( *c == '/' || *c == '\\' ) && c[1] != '\0' ? c + 1 : name;
    }
    int length =
        (int)( strlen( name ) - ( text_ends_with( name, ".schedule" ) ? strlen( ".schedule" ) : 0 ) );
    snprintf( plan->name, sizeof( plan->name ), "%.*s", length, name );
}

bool schedule_parse( const char* name, const char* text, schedule* plan, lab_error* why )
{
    *plan = ( schedule ){ 0 };
    name_plan( plan, name );
    schedule_reader reader = { .plan = plan, .above = { .terms = run_terms_default() } };
    bool good = read_lines( &reader, name, text, why );
    if ( good && plan->part_count == 0 )
    {
        schedule_add_part( plan, &reader.above, plan->name );
    }
    schedule_part_free( &reader.above );
    if ( !good )
    {
        schedule_free( plan );
    }
    return good;
}
