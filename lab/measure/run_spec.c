// SPDX-License-Identifier: MIT
#include "lab/measure/run_spec.h"

#include "lab/base/text.h"
#include "lab/measure/plugin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- range

static void number_list_add( number_list* list, double value )
{
    *lab_list_next( list->items, list->count ) = value;
}

void number_list_free( number_list* list )
{
    free( list->items );
    *list = ( number_list ){ 0 };
}

text_short range_text( double value )
{
    text_short shown;
    snprintf( shown.text, sizeof( shown.text ), "%.12g", value );
    return shown;
}

// A size such as 8k, or a plain number such as 0.25.
static bool read_number( const char* text, double* value )
{
    uint64_t size = 0;
    if ( text_parse_size( text, &size ) )
    {
        *value = (double)size;
        return true;
    }
    char* end = NULL;
    *value = strtod( text, &end );
    return end != text && *end == '\0' && *value - *value == 0;
}

// "x10" or "+0.1"; without a step the numbers double.
static bool read_step( const char* text, bool* multiplies, double* step )
{
    if ( text == NULL )
    {
        *multiplies = true;
        *step = 2;
        return true;
    }
    *multiplies = text[0] == 'x';
    bool is_step = ( *multiplies || text[0] == '+' ) && read_number( text + 1, step );
    return is_step && ( *multiplies ? *step > 1 : *step > 0 );
}

static bool add_steps( number_list* list, double low, double high, bool multiplies, double step )
{
    // A hair of room, so that ten steps of 0.1 arrive at 1.
    double end = high + 1e-9 * fabs( high );
    for ( uint32_t index = 0; index < RANGE_MOST; ++index )
    {
        double value = multiplies ? low * pow( step, index ) : low + step * index;
        if ( value > end )
        {
            return true;
        }
        number_list_add( list, value );
    }
    return false;
}

static bool add_range( number_list* list, char* low_text, char* dots, char* message, size_t message_size )
{
    double low = 0, high = 0, step = 0;
    bool multiplies = false;
    char* colon = strchr( dots, ':' );
    *dots = '\0';
    if ( colon != NULL )
    {
        *colon++ = '\0';
    }
    if ( !read_number( low_text, &low ) || !read_number( dots + 2, &high ) )
    {
        snprintf( message, message_size, "both ends must be numbers, such as 32..4096" );
        return false;
    }
    if ( !read_step( colon, &multiplies, &step ) )
    {
        snprintf( message, message_size, "the step '%s' must be such as x4 or +100", colon );
        return false;
    }
    if ( high < low || ( multiplies && low <= 0 ) )
    {
        snprintf( message, message_size, "a range goes upwards%s", multiplies ? " from above zero" : "" );
        return false;
    }
    if ( !add_steps( list, low, high, multiplies, step ) )
    {
        snprintf( message, message_size, "these are more than %d values; take larger steps", RANGE_MOST );
        return false;
    }
    return true;
}

bool range_add( number_list* list, const char* word, char* message, size_t message_size )
{
    char* text = text_copy( word );
    char* dots = strstr( text, ".." );
    double value = 0;
    bool good = true;
    if ( dots != NULL )
    {
        good = add_range( list, text, dots, message, message_size );
    }
    else if ( read_number( text, &value ) )
    {
        number_list_add( list, value );
    }
    else
    {
        snprintf(
            message, message_size, "a number, or a range such as 32..4096, 10..1000:x10 or 0.1..0.5:+0.1" );
        good = false;
    }
    free( text );
    return good;
}

// ---- run spec

const char* run_spec_variant( const run_spec* spec )
{
    if ( !spec->row->has_isa )
    {
        return "plain";
    }
    clv_isa isa = spec->isa;
    const char* wish = getenv( "CLEAVE_ISA" );
    if ( isa == CLV_ISA_AUTO && wish != NULL )
    {
        clv_isa_from_name( wish, &isa );
    }
    return clv_isa_name( isa == CLV_ISA_AUTO ? clv_isa_best() : isa );
}

bool run_spec_is_available( const run_spec* spec, char* reason, size_t reason_size )
{
    if ( spec->row->missing != NULL )
    {
        snprintf( reason, reason_size, "%s", spec->row->missing );
        return false;
    }
    if ( device_is_of( spec->row ) && !device_is_usable( spec->settings, reason, reason_size ) )
    {
        return false;
    }
    if ( !clv_isa_is_supported( spec->isa ) )
    {
        snprintf( reason, reason_size, "this build or CPU has no %s", clv_isa_name( spec->isa ) );
        return false;
    }
    return true;
}

void run_spec_apply( const run_spec* spec, clv_space_def* def )
{
    def->method = spec->row->name;
    def->isa = spec->isa;
    def->settings = spec->settings;
    def->worker_count = spec->thread_count;
}

static void add( run_spec_list* list, const clv_method* row, clv_isa isa, uint32_t thread_count )
{
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        const run_spec* known = &list->items[index];
        if ( known->row == row && known->isa == isa && known->thread_count == thread_count )
        {
            return;
        }
    }
    *lab_list_next( list->items, list->count ) = ( run_spec ){ row, isa, thread_count, NULL, false };
}

static void add_threads( run_spec_list* list, const clv_method* row, clv_isa isa, const size_list* threads )
{
    if ( !row->has_threads || threads->count == 0 )
    {
        add( list, row, isa, 1 );
        return;
    }
    for ( uint32_t index = 0; index < threads->count; ++index )
    {
        add( list, row, isa, (uint32_t)threads->items[index] );
    }
}

// ---- instruction sets

const char* run_isa_name( uint32_t index )
{
    uint32_t count = CLV_ISA_COUNT - CLV_ISA_SCALAR;
    return index < count ? clv_isa_name( (clv_isa)( CLV_ISA_SCALAR + index ) )
        : index == count ? "all"
                         : NULL;
}

bool run_isa_check( const char* name, bool may_be_all, lab_error* why )
{
    uint32_t count = CLV_ISA_COUNT - CLV_ISA_SCALAR + ( may_be_all ? 1 : 0 );
    text_list known = { 0 };
    for ( uint32_t index = 0; index < count; ++index )
    {
        text_list_add( &known, run_isa_name( index ) );
    }
    bool is_known = text_list_has( &known, name );
    text_long advice = text_advice( name, known, "use", " or " );
    return is_known || lab_error_write( why, "unknown instruction set '%.60s'; %s", name, advice.text );
}

static void add_every_isa( run_spec_list* list, const clv_method* row, const size_list* threads )
{
    for ( int isa = CLV_ISA_SCALAR; isa < CLV_ISA_COUNT; ++isa )
    {
        if ( clv_isa_is_supported( (clv_isa)isa ) )
        {
            add_threads( list, row, (clv_isa)isa, threads );
        }
    }
}

static bool add_isas(
    run_spec_list* list, const clv_method* row, const run_wish* wish, bool every_isa, lab_error* why )
{
    if ( !row->has_isa || ( wish->isas.count == 0 && !every_isa ) )
    {
        add_threads( list, row, CLV_ISA_AUTO, &wish->threads );
        return true;
    }
    if ( wish->isas.count == 0 )
    {
        add_every_isa( list, row, &wish->threads );
    }
    for ( uint32_t index = 0; index < wish->isas.count; ++index )
    {
        clv_isa isa = CLV_ISA_AUTO;
        if ( !run_isa_check( wish->isas.items[index], true, why ) )
        {
            return false;
        }
        if ( clv_isa_from_name( wish->isas.items[index], &isa ) )
        {
            add_threads( list, row, isa, &wish->threads );
        }
        else
        {
            add_every_isa( list, row, &wish->threads );
        }
    }
    return true;
}

// ---- names

text_guess run_method_guess( const char* name )
{
    text_guess guess = text_guess_begin( name );
    for ( uint32_t index = 0; index < clv_method_count(); ++index )
    {
        text_guess_try( &guess, clv_method_at( index )->name );
    }
    return guess;
}

static bool fail_method( const char* flag, const char* name, lab_error* why )
{
    text_guess guess = run_method_guess( name );
    return lab_error_write( why, "%s: unknown method '%.60s'; %s`cleave methods` lists all", flag, name,
        text_guess_say( &guess ) );
}

static bool add_variant(
    run_spec_list* list, const clv_method* row, const char* isa_name, const run_wish* wish, lab_error* why )
{
    clv_isa isa = CLV_ISA_AUTO;
    if ( !row->has_isa )
    {
        return lab_error_write(
            why, "-m: %s has no variants by instruction set; write %s alone", row->name, row->name );
    }
    lab_error reason;
    if ( !run_isa_check( isa_name, false, &reason ) )
    {
        return lab_error_write( why, "-m: %s@%.60s: %s", row->name, isa_name, reason.text );
    }
    clv_isa_from_name( isa_name, &isa );
    add_threads( list, row, isa, &wish->threads );
    return true;
}

static bool add_named(
    run_spec_list* list, const char* text, const run_wish* wish, bool every_isa, lab_error* why )
{
    char* name = text_copy( text );
    char* isa_name = strchr( name, '@' );
    if ( isa_name != NULL )
    {
        *isa_name++ = '\0';
    }
    const clv_method* row = clv_method_find( name );
    bool good = false;
    if ( row == NULL )
    {
        good = fail_method( "-m", name, why );
    }
    else if ( isa_name != NULL )
    {
        good = add_variant( list, row, isa_name, wish, why );
    }
    else
    {
        good = add_isas( list, row, wish, every_isa, why );
    }
    free( name );
    return good;
}

// ---- settings

bool run_spec_knows( const run_spec* spec, const char* name, size_t name_length )
{
    const clv_method* row = spec->row;
    for ( uint32_t index = 0; index < row->param_count; ++index )
    {
        const char* known = row->params[index].name;
        if ( strlen( known ) == name_length && strncmp( known, name, name_length ) == 0 )
        {
            return true;
        }
    }
    return false;
}

// Some method that has it, though it was not chosen.
static const clv_method* find_owner( const char* name )
{
    for ( uint32_t index = 0; index < clv_method_count(); ++index )
    {
        run_spec spec = { .row = clv_method_at( index ) };
        if ( run_spec_knows( &spec, name, strlen( name ) ) )
        {
            return spec.row;
        }
    }
    return NULL;
}

// What to say of a parameter that no method of a list has. Always false.
static bool run_param_fail( const char* flag, const char* name, const run_spec_list* list, lab_error* why )
{
    const clv_method* owner = find_owner( name );
    text_guess guess = text_guess_begin( name );
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        const clv_method* row = list->items[index].row;
        for ( uint32_t param = 0; param < row->param_count; ++param )
        {
            text_guess_try( &guess, row->params[param].name );
        }
    }
    return owner != NULL
        ? lab_error_write( why,
              "%s: '%.60s' is a parameter of %s, which is not among the methods chosen; add it to -m", flag,
              name, owner->name )
        : lab_error_write( why,
              "%s: no method among those chosen knows '%.60s'; %s`cleave methods` lists the parameters", flag,
              name, text_guess_say( &guess ) );
}

// Puts "name=value" behind the settings.
static void run_spec_add_setting( run_spec* spec, const char* setting )
{
    char* joined =
        spec->settings != NULL ? text_format( "%s,%s", spec->settings, setting ) : text_copy( setting );
    free( spec->settings );
    spec->settings = joined;
}

static bool apply_setting( run_spec_list* list, const char* setting, lab_error* why )
{
    size_t name_length = strcspn( setting, "=" );
    if ( setting[name_length] != '=' || name_length == 0 )
    {
        return lab_error_write(
            why, "--set: '%s' is no setting; write name=value, such as kd.leaf=256", setting );
    }
    bool is_known = false;
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        if ( run_spec_knows( &list->items[index], setting, name_length ) )
        {
            run_spec_add_setting( &list->items[index], setting );
            is_known = true;
        }
    }
    char* name = text_format( "%.*s", (int)name_length, setting );
    bool good = is_known || run_param_fail( "--set", name, list, why );
    free( name );
    return good;
}

// --device: every method that runs on one runs on that one.
static bool apply_device( run_spec_list* list, const char* device, lab_error* why )
{
    char* setting = device_setting( device, why );
    for ( uint32_t index = 0; setting != NULL && index < list->count; ++index )
    {
        if ( device_is_of( list->items[index].row ) )
        {
            run_spec_add_setting( &list->items[index], setting );
        }
    }
    bool good = setting != NULL;
    free( setting );
    return good;
}

static const char* fat_param( const clv_method* row )
{
    for ( uint32_t index = 0; index < row->param_count; ++index )
    {
        const char* name = row->params[index].name;
        size_t length = strlen( name );
        if ( length > 4 && strcmp( name + length - 4, ".fat" ) == 0 )
        {
            return name;
        }
    }
    return NULL;
}

// --fat: every method that keeps grown boxes reports what they say.
static void apply_fat( run_spec_list* list )
{
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        const char* name = fat_param( list->items[index].row );
        if ( name != NULL )
        {
            char* setting = text_format( "%s=1", name );
            run_spec_add_setting( &list->items[index], setting );
            free( setting );
            list->items[index].fat = true;
        }
    }
}

static bool check_settings( const run_spec_list* list, lab_error* why )
{
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        const run_spec* spec = &list->items[index];
        double values[CLV_METHOD_PARAMS];
        char text[256] = "";
        if ( spec->settings != NULL &&
            !clv_method_parse_settings( spec->row, spec->settings, values, text, sizeof( text ) ) )
        {
            return lab_error_write( why, "--set: %s: %s", spec->row->name, text );
        }
    }
    return true;
}

// ---- names left out

static bool leave_out( run_spec_list* list, const char* name, lab_error* why )
{
    if ( clv_method_find( name ) == NULL )
    {
        return fail_method( "--without", name, why );
    }
    uint32_t kept = 0;
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        if ( strcmp( list->items[index].row->name, name ) == 0 )
        {
            free( list->items[index].settings );
            continue;
        }
        list->items[kept++] = list->items[index];
    }
    list->count = kept;
    return true;
}

// ---- asked for by name

// A schedule may name what is not installed everywhere; a user who names it wants to know at once.
static bool check_available( const run_spec_list* list, const run_wish* wish, lab_error* why )
{
    char reason[512];
    bool some_run = false;
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        const run_spec* spec = &list->items[index];
        bool runs = run_spec_is_available( spec, reason, sizeof( reason ) );
        some_run = some_run || runs;
        if ( !runs && wish->names.count > 0 )
        {
            return lab_error_write( why, "-m: %s%s%s cannot run here: %s", spec->row->name,
                spec->row->has_isa ? "@" : "", spec->row->has_isa ? run_spec_variant( spec ) : "", reason );
        }
    }
    return some_run || list->count == 0 ||
        lab_error_write( why, "no method can run as asked: %.400s", reason );
}

// ---- all together

// Multiplies the specs: each whose method knows a swept parameter appears once per value, with that value
// behind its settings; the others stay. An item without '=' goes on with the values of the one before, since
// flags are split at commas. False for what is no sweep, and for parameters that no method among them knows.
static bool sweep_expand( run_spec_list* list, const text_list* sweeps, lab_error* why );

static bool fill( run_spec_list* list, const run_wish* wish, bool every_isa, lab_error* why )
{
    for ( uint32_t index = 0; index < wish->names.count; ++index )
    {
        if ( !add_named( list, wish->names.items[index], wish, every_isa, why ) )
        {
            return false;
        }
    }
    for ( uint32_t index = 0; wish->names.count == 0 && index < clv_method_count(); ++index )
    {
        if ( device_is_of( clv_method_at( index ) ) && wish->device == NULL && !device_runs_unasked() )
        {
            continue;
        }
        if ( !add_isas( list, clv_method_at( index ), wish, every_isa, why ) )
        {
            return false;
        }
    }
    for ( uint32_t index = 0; index < wish->without.count; ++index )
    {
        if ( !leave_out( list, wish->without.items[index], why ) )
        {
            return false;
        }
    }
    for ( uint32_t index = 0; index < wish->settings.count; ++index )
    {
        if ( !apply_setting( list, wish->settings.items[index], why ) )
        {
            return false;
        }
    }
    if ( wish->device != NULL && !apply_device( list, wish->device, why ) )
    {
        return false;
    }
    if ( wish->fat )
    {
        apply_fat( list );
    }
    return sweep_expand( list, &wish->sweeps, why ) && check_settings( list, why ) &&
        ( !wish->must_run || check_available( list, wish, why ) );
}

bool run_spec_list_make( run_spec_list* list, const run_wish* wish, bool every_isa, lab_error* why )
{
    *list = ( run_spec_list ){ 0 };
    bool good = fill( list, wish, every_isa, why );
    if ( !good )
    {
        run_spec_list_free( list );
    }
    return good;
}

bool run_spec_tree(
    run_spec_list* list, const char* command, const char* method, const text_list* settings, lab_error* why )
{
    run_wish wish = { 0 };
    char reason[512];
    text_list_add( &wish.names, method );
    text_list_add_all( &wish.settings, settings );
    bool good = run_spec_list_make( list, &wish, false, why );
    run_wish_free( &wish );
    if ( good && !run_spec_is_available( &list->items[0], reason, sizeof( reason ) ) )
    {
        return lab_error_write( why, "%s: %s cannot run here: %s", command, method, reason );
    }
    return good &&
        ( list->items[0].row->dump != NULL ||
            lab_error_write( why,
                "%s: %s keeps no tree that can be shown; use kd, kd-complete, kd-incremental, kd-rebuilt, the "
                "same of kd-paper, or ray-kd",
                command, method ) );
}

void run_spec_list_free( run_spec_list* list )
{
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        free( list->items[index].settings );
    }
    free( list->items );
    *list = ( run_spec_list ){ 0 };
}

void run_wish_free( run_wish* wish )
{
    text_list_free( &wish->names );
    text_list_free( &wish->isas );
    size_list_free( &wish->threads );
    text_list_free( &wish->settings );
    text_list_free( &wish->sweeps );
    text_list_free( &wish->without );
}

// ---- sweep

typedef struct sweep
{
    char* name;
    number_list values;
} sweep;

static void append( run_spec_list* list, const run_spec* spec, const char* name, double value )
{
    run_spec* made = lab_list_next( list->items, list->count );
    *made = *spec;
    made->settings = spec->settings != NULL ? text_copy( spec->settings ) : NULL;
    if ( name != NULL )
    {
        char* setting = text_format( "%s=%s", name, range_text( value ).text );
        run_spec_add_setting( made, setting );
        free( setting );
    }
}

static bool multiply( run_spec_list* list, const sweep* parameter, lab_error* why )
{
    run_spec_list wider = { 0 };
    bool is_known = false;
    for ( uint32_t index = 0; index < list->count; ++index )
    {
        const run_spec* spec = &list->items[index];
        if ( !run_spec_knows( spec, parameter->name, strlen( parameter->name ) ) )
        {
            append( &wider, spec, NULL, 0 );
            continue;
        }
        is_known = true;
        for ( uint32_t value = 0; value < parameter->values.count; ++value )
        {
            append( &wider, spec, parameter->name, parameter->values.items[value] );
        }
    }
    if ( !is_known )
    {
        run_spec_list_free( &wider );
        return run_param_fail( "sweep", parameter->name, list, why );
    }
    run_spec_list_free( list );
    *list = wider;
    return true;
}

// The values of one item; `values` may be "32..4096" or, from a schedule, "32,64".
static bool add_values( sweep* parameter, const char* item, const char* values, lab_error* why )
{
    text_list words = { 0 };
    char reason[128] = "there must be values between the commas";
    bool good = text_list_add_split( &words, values );
    for ( uint32_t index = 0; good && index < words.count; ++index )
    {
        good = range_add( &parameter->values, words.items[index], reason, sizeof( reason ) );
    }
    text_list_free( &words );
    return good || lab_error_write( why, "sweep: '%s': %s", item, reason );
}

// Reads items from *next on, up to the next one that begins a sweep of its own.
static bool read_sweep( sweep* parameter, const text_list* items, uint32_t* next, lab_error* why )
{
    const char* item = items->items[*next];
    const char* equals = strchr( item, '=' );
    if ( equals == NULL || equals == item )
    {
        return lab_error_write( why,
            "sweep: '%s' is not name=values; write name=values, such as kd.leaf=32..4096 or kd.leaf=64,256",
            item );
    }
    parameter->name = text_copy( item );
    parameter->name[equals - item] = '\0';
    bool good = add_values( parameter, item, equals + 1, why );
    for ( *next += 1; good && *next < items->count && strchr( items->items[*next], '=' ) == NULL; *next += 1 )
    {
        good = add_values( parameter, items->items[*next], items->items[*next], why );
    }
    return good;
}

static bool sweep_expand( run_spec_list* list, const text_list* sweeps, lab_error* why )
{
    bool good = true;
    for ( uint32_t next = 0; good && next < sweeps->count; )
    {
        sweep parameter = { 0 };
        good = read_sweep( &parameter, sweeps, &next, why ) && parameter.name != NULL &&
            multiply( list, &parameter, why );
        number_list_free( &parameter.values );
        free( parameter.name );
    }
    return good;
}
