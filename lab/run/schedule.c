// SPDX-License-Identifier: MIT
#include "lab/run/schedule.h"

#include "lab/base/output_file.h"
#include "lab/frame/scene_list.h"
#include "lab/run/run_child.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

run_terms run_terms_default( void )
{
    run_terms terms = { .frame_count = ARGS_UNSET,
        .warmup = 1,
        .repeat = 3,
        .rounds = 1,
        .time_limit_s = 600,
        .seed = 1,
        .pin = "no" };
    return terms;
}

// ---- Schedules: one statement per line, a word and its values; # starts a comment.
// docs/lab.md lists the words.

static bool takes_one( const text_line* line, const char* problem )
{
    return line->words.count == 1 || text_line_fail( line, NULL, problem );
}

// ---- values

static bool read_whole( text_line* line, uint64_t least, uint64_t most, uint64_t* value )
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
        return text_line_fail( line, line->words.items[0], problem );
    }
    return true;
}

static bool read_seconds( text_line* line, double* seconds )
{
    if ( !takes_one( line, "one number of seconds is needed here" ) )
    {
        return false;
    }
    char* end = NULL;
    *seconds = strtod( line->words.items[0], &end );
    bool is_good = end != line->words.items[0] && *end == '\0' && *seconds >= 0 && *seconds <= 1e9;
    return is_good ||
        text_line_fail( line, line->words.items[0], "a number of seconds, 0 for none, is needed here" );
}

static bool read_switch( text_line* line, bool* value )
{
    const char* word = line->words.count == 1 ? line->words.items[0] : "";
    *value = strcmp( word, "yes" ) == 0;
    return *value || strcmp( word, "no" ) == 0 || text_line_fail( line, NULL, "yes or no is needed here" );
}

static bool read_texts( text_line* line, text_list* list )
{
    text_list_add_all( list, &line->words );
    return line->words.count > 0 || text_line_fail( line, NULL, "values are missing at the end of the line" );
}

static bool read_sizes( text_line* line, size_list* list, double most )
{
    number_list numbers = { 0 };
    char problem[128] = "";
    bool good =
        line->words.count > 0 || text_line_fail( line, NULL, "sizes are missing at the end of the line" );
    for ( uint32_t index = 0; good && index < line->words.count; ++index )
    {
        good = range_add( &numbers, line->words.items[index], problem, sizeof( problem ) ) ||
            text_line_fail( line, line->words.items[index], problem );
    }
    for ( uint32_t index = 0; good && index < numbers.count; ++index )
    {
        double value = numbers.items[index];
        snprintf( problem, sizeof( problem ), "%.12g is out of range; use whole numbers from 1 to %.12g",
            value, most );
        good = ( value >= 1 && value <= most && value == (double)(uint64_t)value ) ||
            text_line_fail( line, NULL, problem );
        if ( good )
        {
            size_list_add( list, (uint64_t)value );
        }
    }
    number_list_free( &numbers );
    return good;
}

// ---- what is checked beyond its kind

static bool check_scenes( const text_line* line )
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
    return true;
}

static bool check_types( const text_line* line )
{
    for ( uint32_t index = 0; index < line->words.count; ++index )
    {
        body_type type;
        if ( !body_type_from_name( line->words.items[index], &type ) )
        {
            return lab_error_write( line->why, "%s:%u: '%.100s': no type of objects; %s", line->path,
                line->number, line->words.items[index],
                choice_advice( body_types, line->words.items[index] ).text );
        }
    }
    return true;
}

static bool check_window( const text_line* line )
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
        return text_line_fail( line, line->words.items[0], "no window; write FROM+FRAMES, such as 150+60" );
    }
    scene_spec_free( &spec );
    return true;
}

static bool check_pin( const text_line* line )
{
    pin_wish pin;
    if ( !takes_one( line, "yes, no or cores such as 2,3 are needed here" ) )
    {
        return false;
    }
    const char* word = line->words.items[0];
    return ( strlen( word ) < SCHEDULE_NAME_ROOM && pin_parse( word, &pin ) ) ||
        text_line_fail( line, word, PIN_FORM );
}

// A part's hash is that of one scene.
static bool check_known( const text_line* line )
{
    const char* word = line->words.count == 1 ? line->words.items[0] : "";
    bool is_hash =
        strlen( word ) == 18 && strncmp( word, "0x", 2 ) == 0 && strspn( word + 2, "0123456789abcdef" ) == 16;
    return is_hash || text_line_fail( line, NULL, "one pairs_hash, 0x and 16 hex digits, is needed here" );
}

// ---- The settings of a part: words of schedules, flags of `bench` and `run`, and of
// `worker` for those of one run.

typedef struct run_setting
{
    const char* word; ///< in a schedule; NULL: in none
    const char* flag; ///< NULL: there is none
    char letter;
    args_kind kind;
    size_t offset;          ///< of its value in a part
    const char* value_name; ///< this and below as in args_flag
    const char* help;
    uint64_t least, most;
    const char* commands; ///< letters of those that take the flag: bench and run, verify, worker
    const char* none;     ///< word that stands for an empty list in a schedule; NULL: nothing does
    bool ( *check )( const text_line* line );
} run_setting;

#define IN_PART( member ) offsetof( schedule_part, member )
#define SECONDS_MOST 1000000000

static const run_setting settings[] = {
    { "scenes", NULL, 0, ARGS_TEXTS, IN_PART( scenes ), NULL, NULL, 0, 0, NULL, NULL, check_scenes },
    { "sizes", "--objects", 'n', ARGS_SIZES, IN_PART( sizes ), "N,…",
        "sizes of scenes that name none (default 8k)", 1, GENERATOR_BODIES_MOST, "bvw", NULL, NULL },
    { "types", NULL, 0, ARGS_TEXTS, IN_PART( types ), NULL, NULL, 0, 0, NULL, NULL, check_types },
    { "window", NULL, 0, ARGS_NAME, IN_PART( window ), NULL, NULL, 0, 0, NULL, NULL, check_window },
    { "known", NULL, 0, ARGS_TEXTS, IN_PART( known ), NULL, NULL, 0, 0, NULL, NULL, check_known },
    { "methods", "--methods", 'm', ARGS_TEXTS, IN_PART( wish.names ), "METHOD,…",
        "methods (default every one)", 0, 0, "bv", "all", NULL },
    { "without", "--without", 0, ARGS_TEXTS, IN_PART( wish.without ), "METHOD,…", "methods to leave out", 0,
        0, "b", NULL, NULL },
    { "threads", "--threads", 0, ARGS_COUNTS, IN_PART( wish.threads ), "T,…",
        "threads; methods without them run on 1", 1, CLV_MAX_WORKERS, "bvw", NULL, NULL },
    { "isa", "--isa", 0, ARGS_TEXTS, IN_PART( wish.isas ), "I,…", "scalar, sse2, avx2, avx512, neon or all",
        0, 0, "bvw", "best", NULL },
    { NULL, "--device", 0, ARGS_TEXT, IN_PART( wish.device ), "NAME|N",
        "device of methods on a GPU (default the fastest)", 0, 0, "bv", NULL, NULL },
    { "set", "--set", 0, ARGS_TEXTS, IN_PART( wish.settings ), "P=V,…",
        "parameters of methods, such as kd.leaf=256", 0, 0, "bvw", NULL, NULL },
    { "sweep", "--sweep", 0, ARGS_TEXTS, IN_PART( wish.sweeps ), "P=A..B",
        "a run per value: kd.leaf=32..4096, grid.cell=8,24", 0, 0, "b", NULL, NULL },
    { "fat", "--fat", 0, ARGS_SWITCH, IN_PART( wish.fat ), NULL,
        "methods that keep grown boxes report what these say, unfiltered", 0, 0, "bw", NULL, NULL },
    { "frames", "--frames", 0, ARGS_COUNT, IN_PART( terms.frame_count ), "F", "use the first F frames", 1,
        BAKE_FRAMES_MOST, "bvw", NULL, NULL },
    { "warmup", "--warmup", 0, ARGS_COUNT, IN_PART( terms.warmup ), "W", "untimed passes over the frames", 0,
        1000, "bw", NULL, NULL },
    { "repeat", "--repeat", 0, ARGS_COUNT, IN_PART( terms.repeat ), "R",
        "timed passes, each from a fresh space", 1, 100000, "bw", NULL, NULL },
    { "rounds", "--rounds", 0, ARGS_COUNT, IN_PART( terms.rounds ), "R",
        "go through all methods R times, in turn", 1, 1000, "b", NULL, NULL },
    { "sorted", "--sorted", 0, ARGS_SWITCH, IN_PART( terms.switches.sorted ), NULL, "time a sorted list", 0,
        0, "bw", NULL, NULL },
    { "events", "--events", 0, ARGS_SWITCH, IN_PART( terms.switches.events ), NULL,
        "begun and ended pairs too", 0, 0, "bvw", NULL, NULL },
    { "changed", "--changed", 0, ARGS_SWITCH, IN_PART( terms.switches.changed ), NULL,
        "hand over only the boxes that changed since the frame before", 0, 0, "bw", NULL, NULL },
    { "spin", "--spin", 0, ARGS_SWITCH, IN_PART( terms.switches.spin ), NULL,
        "workers look for the next frame for up to 20 ms instead of going to sleep", 0, 0, "bw", NULL, NULL },
    { "thread-time", "--thread-time", 0, ARGS_SWITCH, IN_PART( terms.switches.thread_time ), NULL,
        "time the calling thread's processor, not the wall: for one thread on a busy machine", 0, 0, "bw",
        NULL, NULL },
    { "time-limit", "--time-limit", 0, ARGS_SECONDS, IN_PART( terms.time_limit_s ), "S",
        "end a run after S seconds; 0: never", 0, SECONDS_MOST, "bw", NULL, NULL },
    { "memory-limit", "--memory-limit", 0, ARGS_COUNT, IN_PART( terms.memory_limit_mib ), "MIB",
        "end a run beyond this memory; 0: never", 0, UINT64_C( 1 ) << 30, "bw", NULL, NULL },
    { "ladder", "--ladder", 0, ARGS_SECONDS, IN_PART( terms.ladder_s ), "S",
        "no larger sizes after a mean above S seconds; 0: all", 0, SECONDS_MOST, "b", NULL, NULL },
    { "seed", "--seed", 0, ARGS_SEED, IN_PART( terms.seed ), "S", "seed of scenes", 0, UINT64_MAX, "bvw",
        NULL, NULL },
    { "pin", "--pin", 0, ARGS_NAME, IN_PART( terms.pin ), "CORES", "pin runs to cores: yes, no, or 2,3", 0, 0,
        "bw", NULL, check_pin },
};

#define SETTING_COUNT ( sizeof( settings ) / sizeof( settings[0] ) )

// A copy of the other part's value in place of its own.
static void take_value( const run_setting* setting, schedule_part* part, const schedule_part* other )
{
    void* value = (char*)part + setting->offset;
    const void* from = (const char*)other + setting->offset;
    args_free_value( setting->kind, value );
    switch ( setting->kind )
    {
    case ARGS_TEXTS: text_list_add_all( value, from ); break;
    case ARGS_SIZES:
    case ARGS_COUNTS: size_list_add_all( value, from ); break;
    case ARGS_NAME: memcpy( value, from, ARGS_NAME_ROOM ); break;
    case ARGS_TEXT: *(const char**)value = *(const char* const*)from; break;
    case ARGS_SWITCH: *(bool*)value = *(const bool*)from; break;
    default: memcpy( value, from, sizeof( uint64_t ) ); break; // a number, whole or not
    }
}

uint32_t schedule_flags( schedule_part* part, char command, args_flag flags[SCHEDULE_FLAGS_MOST] )
{
    uint32_t count = 0;
    for ( size_t index = 0; index < SETTING_COUNT; ++index )
    {
        const run_setting* setting = &settings[index];
        if ( setting->flag != NULL && strchr( setting->commands, command ) != NULL )
        {
            flags[count++] =
                ( args_flag ){ setting->flag, setting->letter, setting->kind, (char*)part + setting->offset,
                    setting->value_name, setting->help, setting->least, setting->most, NULL };
        }
    }
    return count;
}

void schedule_part_replace( schedule_part* part, const schedule_part* said, const bool* given )
{
    for ( size_t index = 0; index < SETTING_COUNT; ++index )
    {
        if ( settings[index].flag != NULL && *given++ )
        {
            take_value( &settings[index], part, said );
        }
    }
}

void run_terms_words( const run_terms* terms, text_list* words )
{
    for ( size_t index = 0; index < SETTING_COUNT; ++index )
    {
        const run_setting* setting = &settings[index];
        bool is_of_worker = setting->flag != NULL && strchr( setting->commands, 'w' ) != NULL;
        if ( !is_of_worker || setting->offset < IN_PART( terms ) )
        {
            continue;
        }
        const void* value = (const char*)terms + ( setting->offset - IN_PART( terms ) );
        bool is_switch = setting->kind == ARGS_SWITCH;
        if ( is_switch ? *(const bool*)value
                       : setting->kind != ARGS_COUNT || *(const uint64_t*)value != ARGS_UNSET )
        {
            char* text = is_switch              ? NULL
                : setting->kind == ARGS_NAME    ? text_copy( value )
                : setting->kind == ARGS_SECONDS ? text_format( "%.17g", *(const double*)value )
                                                : text_format( "%" PRIu64, *(const uint64_t*)value );
            text_list_add( words, setting->flag );
            if ( text != NULL )
            {
                text_list_add( words, text );
            }
            free( text );
        }
    }
}

schedule_part* schedule_add_part( schedule* plan, const schedule_part* from, const char* name )
{
    // `from` may be one of the parts that move.
    schedule_part made = { .terms = run_terms_default() };
    if ( from != NULL )
    {
        for ( size_t index = 0; index < SETTING_COUNT; ++index )
        {
            take_value( &settings[index], &made, from );
        }
    }
    schedule_part* part = lab_list_next( plan->parts, plan->part_count );
    *part = made;
    snprintf( part->name, sizeof( part->name ), "%s", name );
    return part;
}

void schedule_part_free( schedule_part* part )
{
    for ( size_t index = 0; index < SETTING_COUNT; ++index )
    {
        args_free_value( settings[index].kind, (char*)part + settings[index].offset );
    }
}

void schedule_free( schedule* plan )
{
    for ( uint32_t index = 0; index < plan->part_count; ++index )
    {
        schedule_part_free( &plan->parts[index] );
    }
    free( plan->parts );
    *plan = ( schedule ){ 0 };
}

// ---- statements

static bool fail_unknown( const text_line* line, const char* word )
{
    text_guess guess = text_guess_begin( word );
    text_guess_try( &guess, "about" );
    text_guess_try( &guess, "part" );
    for ( size_t index = 0; index < SETTING_COUNT; ++index )
    {
        text_guess_try( &guess, settings[index].word != NULL ? settings[index].word : "" );
    }
    char problem[192];
    snprintf(
        problem, sizeof( problem ), "unknown word; %sdocs/lab.md lists them", text_guess_say( &guess ) );
    return text_line_fail( line, word, problem );
}

static bool read_value( text_line* line, const run_setting* setting, void* value )
{
    switch ( setting->kind )
    {
    case ARGS_TEXTS: return read_texts( line, value );
    case ARGS_SIZES:
    case ARGS_COUNTS: return read_sizes( line, value, (double)setting->most );
    case ARGS_NAME: return snprintf( value, ARGS_NAME_ROOM, "%s", line->words.items[0] ) >= 0;
    case ARGS_SECONDS: return read_seconds( line, value );
    case ARGS_SWITCH: return read_switch( line, value );
    default: return read_whole( line, setting->least, setting->most, value );
    }
}

typedef struct schedule_reader
{
    schedule* plan;
    schedule_part above; ///< what stands above all parts
    uint64_t said;       ///< bit per setting: it occurred in this part already
} schedule_reader;

// The first line of a list in a part replaces what stood above all parts; further ones add to it.
static bool read_setting( text_line* line, const run_setting* setting, schedule_part* part, bool is_again )
{
    void* value = (char*)part + setting->offset;
    bool is_list = setting->kind == ARGS_TEXTS || setting->kind == ARGS_SIZES || setting->kind == ARGS_COUNTS;
    if ( is_again && !is_list )
    {
        return text_line_fail( line, setting->word, "is said twice in this part; leave one" );
    }
    if ( !is_again )
    {
        args_free_value( setting->kind, value );
    }
    bool is_none =
        setting->none != NULL && line->words.count == 1 && strcmp( line->words.items[0], setting->none ) == 0;
    return is_none ||
        ( ( setting->check == NULL || setting->check( line ) ) && read_value( line, setting, value ) );
}

static bool read_part( schedule_reader* reader, const text_line* line )
{
    if ( line->words.count != 1 || strlen( line->words.items[0] ) >= SCHEDULE_NAME_ROOM )
    {
        return text_line_fail( line, NULL, "part needs one word as its name, of at most 63 characters" );
    }
    for ( uint32_t index = 0; index < reader->plan->part_count; ++index )
    {
        if ( strcmp( reader->plan->parts[index].name, line->words.items[0] ) == 0 )
        {
            return text_line_fail( line, line->words.items[0], "there is a part of this name above" );
        }
    }
    schedule_add_part( reader->plan, &reader->above, line->words.items[0] );
    reader->said = 0;
    return true;
}

static bool read_line( text_line* line, void* user )
{
    schedule_reader* reader = user;
    schedule* plan = reader->plan;
    if ( strcmp( line->word, "about" ) == 0 )
    {
        return snprintf( plan->about, sizeof( plan->about ), "%s", line->rest ) >= 0;
    }
    if ( strcmp( line->word, "part" ) == 0 )
    {
        return read_part( reader, line );
    }
    schedule_part* part = plan->part_count > 0 ? &plan->parts[plan->part_count - 1] : &reader->above;
    for ( size_t index = 0; index < SETTING_COUNT; ++index )
    {
        if ( settings[index].word != NULL && strcmp( line->word, settings[index].word ) == 0 )
        {
            bool is_again = ( reader->said >> index & 1 ) != 0;
            reader->said |= UINT64_C( 1 ) << index;
            return read_setting( line, &settings[index], part, is_again );
        }
    }
    return fail_unknown( line, line->word );
}

// "lab/schedules/quick.schedule" is called quick.
static void name_plan( schedule* plan, const char* path )
{
    const char* name = text_base_name( path );
    int length =
        (int)( strlen( name ) - ( text_ends_with( name, ".schedule" ) ? strlen( ".schedule" ) : 0 ) );
    snprintf( plan->name, sizeof( plan->name ), "%.*s", length, name );
}

bool schedule_parse( const char* name, const char* text, schedule* plan, lab_error* why )
{
    *plan = ( schedule ){ 0 };
    name_plan( plan, name );
    schedule_reader reader = { .plan = plan, .above = { .terms = run_terms_default() } };
    bool good = text_lines_read( name, text, read_line, &reader, why );
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

// ---- Where schedules come from: those of lab/schedules are carried by the program, so that they are found
// whatever folder it runs in; anything else is a file.

// By index; a row without a name beyond the last.
static const carried_file* carried_at( uint32_t index )
{
    const carried_file* file = carried_files;
    while ( file->name != NULL && ( !text_ends_with( file->name, ".schedule" ) || index-- > 0 ) )
    {
        ++file;
    }
    return file;
}

const char* schedule_carried_name( uint32_t index )
{
    return carried_at( index )->word;
}

const char* schedule_carried_text( const char* name, lab_error* why )
{
    for ( uint32_t index = 0; schedule_carried_name( index ) != NULL; ++index )
    {
        if ( strcmp( name, schedule_carried_name( index ) ) == 0 )
        {
            return carried_at( index )->text;
        }
    }
    lab_error_write( why, "run: no schedule '%.200s'; %s, or name a .schedule file", name,
        text_advice( name, text_list_of( schedule_carried_name ), "there are", ", " ).text );
    return NULL;
}

bool schedule_open( const char* name, schedule* plan, lab_error* why )
{
    *plan = ( schedule ){ 0 };
    if ( !file_kind_check( name, ".schedule", why ) )
    {
        return false;
    }
    bool is_path = strpbrk( name, "/\\" ) != NULL || text_ends_with( name, ".schedule" );
    if ( is_path )
    {
        char* text = text_file_read( name, "a schedule", why );
        bool good = text != NULL && schedule_parse( name, text, plan, why );
        free( text );
        return good;
    }
    const char* carried = schedule_carried_text( name, why );
    return carried != NULL && schedule_parse( name, carried, plan, why );
}
