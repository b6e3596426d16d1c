// SPDX-License-Identifier: MIT
#include "lab/floors/floors.h"

#include "lab/base/bytes.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADINGS "row,scene,type,objects,isa,rival,floor"
#define COLUMNS 7

static const char* const rule_lines[] = {
    "# How many times as fast as the fastest of the others `cleave` must stay, row by row.",
    "# Floors only rise: `make speed-raise` writes them, and never lowers one.",
};

// ---- rows

static floor_row* add_floor_row( floor_file* file, const char* part, const char* scene, const char* type,
    uint32_t object_count, const char* variant, const char* rival )
{
    floor_row* row = lab_list_next( file->rows, file->count );
    *row = ( floor_row ){ .part = text_copy( part ),
        .scene = text_copy( scene ),
        .type = text_copy( type ),
        .object_count = object_count,
        .variant = text_copy( variant ),
        .rival = text_copy( rival ) };
    return row;
}

// The row of that run, or NULL.
static floor_row* floor_file_find( floor_file* file, const char* part, const run_result* run )
{
    for ( uint32_t index = 0; index < file->count; ++index )
    {
        floor_row* row = &file->rows[index];
        if ( row->object_count == run->object_count && strcmp( row->part, part ) == 0 &&
            strcmp( row->scene, run->scene ) == 0 && strcmp( row->type, run->type ) == 0 &&
            strcmp( row->variant, run->variant ) == 0 )
        {
            return row;
        }
    }
    return NULL;
}

void floor_file_free( floor_file* file )
{
    for ( uint32_t index = 0; index < file->count; ++index )
    {
        floor_row* row = &file->rows[index];
        char* const texts[] = { row->part, row->scene, row->type, row->variant, row->rival };
        for ( size_t text = 0; text < sizeof( texts ) / sizeof( texts[0] ); ++text )
        {
            free( texts[text] );
        }
    }
    free( file->rows );
    text_list_free( &file->comments );
    *file = ( floor_file ){ 0 };
}

// ---- reading

// Cuts a line at its commas, in place. False unless there are as many cells as headings.
static bool cut( char* line, char* cells[COLUMNS] )
{
    uint32_t count = 0;
    for ( char* cell = line; cell != NULL; ++count )
    {
        char* comma = strchr( cell, ',' );
        if ( count < COLUMNS )
        {
            cells[count] = cell;
        }
        if ( comma != NULL )
        {
            *comma++ = '\0';
        }
        cell = comma;
    }
    return count == COLUMNS;
}

static bool read_row( floor_file* file, char* line, const char* where, lab_error* why )
{
    char* cells[COLUMNS];
    char* end = NULL;
    uint64_t objects = 0;
    if ( !cut( line, cells ) )
    {
        return lab_error_write( why, "%s: must have %d cells: " HEADINGS, where, COLUMNS );
    }
    if ( !text_parse_size( cells[3], &objects ) || objects > UINT32_MAX )
    {
        return lab_error_write( why, "%s: objects '%.40s' must be a whole number", where, cells[3] );
    }
    double floor = strtod( cells[6], &end );
    if ( end == cells[6] || *end != '\0' || !( floor >= 0 && floor < 1e9 ) )
    {
        return lab_error_write( why, "%s: floor '%.40s' must be a number of 0 and above", where, cells[6] );
    }
    add_floor_row( file, cells[0], cells[1], cells[2], (uint32_t)objects, cells[4], cells[5] )->floor = floor;
    return true;
}

static bool read_line( floor_file* file, char* line, const char* where, bool* has_headings, lab_error* why )
{
    if ( line[0] == '#' )
    {
        text_list_add( &file->comments, line );
        return true;
    }
    if ( line[0] == '\0' )
    {
        return true;
    }
    if ( !*has_headings )
    {
        *has_headings = strcmp( line, HEADINGS ) == 0;
        return *has_headings || lab_error_write( why, "%s: expected the headings " HEADINGS, where );
    }
    return read_row( file, line, where, why );
}

static bool read_lines( char* text, const char* path, floor_file* file, lab_error* why )
{
    bool good = true, has_headings = false;
    uint32_t number = 0;
    for ( char* line = text; good && *line != '\0'; )
    {
        char* end = line + strcspn( line, "\n" );
        char* next = end + ( *end == '\n' ? 1 : 0 );
        char* where = text_format( "%s:%" PRIu32, path, ++number );
        *end = '\0';
        line[strcspn( line, "\r" )] = '\0';
        good = read_line( file, line, where, &has_headings, why );
        free( where );
        line = next;
    }
    return good &&
        ( has_headings || lab_error_write( why, "%s: holds no headings; expected " HEADINGS, path ) );
}

bool floor_file_read( const char* path, bool may_be_missing, floor_file* file, lab_error* why )
{
    *file = ( floor_file ){ 0 };
    if ( may_be_missing && platform_look( path ).kind == PLATFORM_MISSING )
    {
        for ( size_t index = 0; index < sizeof( rule_lines ) / sizeof( rule_lines[0] ); ++index )
        {
            text_list_add( &file->comments, rule_lines[index] );
        }
        return true;
    }
    char* text = text_file_read( path, "a file of floors", why );
    bool good = text != NULL && read_lines( text, path, file, why );
    free( text );
    if ( !good )
    {
        floor_file_free( file );
    }
    return good;
}

bool floor_file_write( const char* path, const floor_file* file, lab_error* why )
{
    byte_buffer out = { 0 };
    for ( uint32_t index = 0; index < file->comments.count; ++index )
    {
        byte_buffer_print( &out, "%s\n", file->comments.items[index] );
    }
    byte_buffer_print( &out, HEADINGS "\n" );
    for ( uint32_t index = 0; index < file->count; ++index )
    {
        const floor_row* row = &file->rows[index];
        byte_buffer_print( &out, "%s,%s,%s,%" PRIu32 ",%s,%s,%g\n", row->part, row->scene, row->type,
            row->object_count, row->variant, row->rival, row->floor );
    }
    bool good = output_file_put( path, out.bytes, out.count, why );
    byte_buffer_free( &out );
    return good;
}

// ---- race

// "above", "BELOW", …
static const char* race_verdict_name( race_verdict verdict )
{
    static const char* const names[] = { "above", "BELOW", "no floor yet", "no rival", "OTHER PAIRS",
        "FAILED" };
    return names[verdict];
}

// The first part of the schedule that asked for it; bench knows none.
static const char* part_of( const run_result* run )
{
    const char* part = json_as_text( json_first( json_get( run->json, "parts" ) ) );
    return part != NULL ? part : "bench";
}

// Same boxes, same terms, same part: parts may look at different windows of one scene.
static bool is_same_row( const run_result* a, const run_result* b )
{
    return run_is_like( a, b ) && strcmp( part_of( a ), part_of( b ) ) == 0;
}

// Half the frames took at most that. Not the mean: a space that comes to rest searches for
// some frames before it does.
static double time_of( const run_result* run )
{
    if ( run->frame_ms == NULL || run->frame_count == 0 )
    {
        return run->ms_median;
    }
    double* least = lab_take( run->frame_count, sizeof( double ) );
    memcpy( least, run->frame_ms, run->frame_count * sizeof( double ) );
    double median = run_median( least, run->frame_count );
    free( least );
    return median;
}

// ---- the fastest

// True if all that ended found the pairs of ours.
static bool find_rival( race_row* row, const run_results* results )
{
    bool agree = true;
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* other = &results->items[index];
        if ( text_is_same( other->method, row->ours->method ) || other->status != RUN_OK ||
            !is_same_row( row->ours, other ) )
        {
            continue;
        }
        agree = agree && ( other->fat || other->pairs_hash == row->ours->pairs_hash );
        double ms = time_of( other );
        if ( row->rival == NULL || ms < row->rival_ms )
        {
            row->rival = other;
            row->rival_ms = ms;
        }
    }
    return agree;
}

static race_verdict judge( race_row* row, const run_results* results, floor_file* floors )
{
    const floor_row* stored = floor_file_find( floors, row->part, row->ours );
    row->floor = stored != NULL ? stored->floor : 0;
    if ( row->ours->status != RUN_OK )
    {
        return RACE_FAILED;
    }
    row->ours_ms = time_of( row->ours );
    bool agree = find_rival( row, results );
    if ( row->rival == NULL )
    {
        return RACE_NO_RIVAL;
    }
    // A measured time of 0 must not be divided by.
    row->ratio = row->rival_ms / ( row->ours_ms > 1e-9 ? row->ours_ms : 1e-9 );
    return !agree                 ? RACE_OTHER_PAIRS
        : row->floor <= 0         ? RACE_NO_FLOOR
        : row->ratio < row->floor ? RACE_BELOW
                                  : RACE_ABOVE;
}

void race_make( race* all, const run_results* results, const char* name, floor_file* floors )
{
    *all = ( race ){ 0 };
    all->rows = lab_take( results->count, sizeof( race_row ) );
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        if ( text_is_same( run->method, name ) )
        {
            race_row* row = &all->rows[all->count++];
            row->part = part_of( run );
            row->ours = run;
            row->verdict = judge( row, results, floors );
            all->counts[row->verdict] += 1;
        }
    }
}

void race_free( race* all )
{
    free( all->rows );
    *all = ( race ){ 0 };
}

bool race_is_bad( const race* all )
{
    return all->counts[RACE_BELOW] + all->counts[RACE_OTHER_PAIRS] + all->counts[RACE_FAILED] > 0;
}

// ---- raising

// Two digits are all a noisy machine knows; downwards, so that the same run passes.
static double round_down( double value )
{
    double unit = 0.01;
    while ( value >= 100 * unit )
    {
        unit *= 10;
    }
    double units = floor( value / unit * ( 1 + 1e-12 ) );
    return unit < 1 ? units / floor( 1 / unit + 0.5 ) : units * unit; // 0.29, not 0.28999999999999998
}

static bool has_ended( const run_results* results, const race_row* row, const char* name )
{
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        if ( run->status == RUN_OK && text_is_same( run->method, name ) && is_same_row( row->ours, run ) )
        {
            return true;
        }
    }
    return false;
}

static bool raise_row( const race_row* row, const run_results* results, double share, floor_file* floors )
{
    double floor = round_down( share * row->ratio );
    floor_row* stored = floor_file_find( floors, row->part, row->ours );
    bool is_like_before =
        stored == NULL || stored->rival[0] == '\0' || has_ended( results, row, stored->rival );
    if ( floor <= row->floor || !is_like_before )
    {
        return false;
    }
    const run_result* ours = row->ours;
    stored = stored != NULL
        ? stored
        : add_floor_row( floors, row->part, ours->scene, ours->type, ours->object_count, ours->variant, "" );
    free( stored->rival );
    stored->rival = text_copy( row->rival->method );
    stored->floor = floor;
    return true;
}

uint32_t race_raise( const race* all, const run_results* results, double share, floor_file* floors )
{
    uint32_t raised = 0;
    for ( uint32_t index = 0; index < all->count; ++index )
    {
        const race_row* row = &all->rows[index];
        bool is_good = row->verdict == RACE_ABOVE || row->verdict == RACE_NO_FLOOR;
        raised += is_good && raise_row( row, results, share, floors ) ? 1 : 0;
    }
    return raised;
}

// ---- race print

static void add_number( text_table* table, bool is_there, double value, int digits )
{
    if ( is_there )
    {
        text_table_add( table, "%.*f", digits, value );
        return;
    }
    text_table_add( table, "-" );
}

static int ms_digits( double ms )
{
    return ms < 0.1 ? 5 : ms < 10 ? 3 : 1;
}

static terminal_style style_of( race_verdict verdict )
{
    switch ( verdict )
    {
    case RACE_ABOVE: return TERMINAL_GOOD;
    case RACE_BELOW:
    case RACE_OTHER_PAIRS:
    case RACE_FAILED: return TERMINAL_BAD;
    default: return TERMINAL_PLAIN;
    }
}

static void add_printed_row( text_table* table, const race_row* row )
{
    text_table_add( table, "%s", race_verdict_name( row->verdict ) );
    text_table_style( table, style_of( row->verdict ) );
    text_table_add_cells( table, "%.60s\t%.100s %.60s\t%s\t%.20s", row->part, row->ours->scene,
        row->ours->type, text_size( row->ours->object_count ).text, row->ours->variant );
    add_number( table, row->ours->status == RUN_OK, row->ours_ms, ms_digits( row->ours_ms ) );
    text_table_add( table, "%.60s", row->rival != NULL ? row->rival->method : "-" );
    add_number( table, row->rival != NULL, row->rival_ms, ms_digits( row->rival_ms ) );
    add_number( table, row->rival != NULL, row->ratio, row->ratio < 10 ? 2 : 1 );
    add_number( table, row->floor > 0, row->floor, row->floor < 10 ? 2 : 0 );
}

static bool is_told( const run_results* results, uint32_t last )
{
    for ( uint32_t index = 0; index < last; ++index )
    {
        if ( results->items[index].status == RUN_UNAVAILABLE &&
            strcmp( results->items[index].method, results->items[last].method ) == 0 )
        {
            return true;
        }
    }
    return false;
}

// A method that cannot run here at all is named once; one that gave up, on every row.
static void print_missing( const run_results* results, const char* name )
{
    for ( uint32_t index = 0; index < results->count; ++index )
    {
        const run_result* run = &results->items[index];
        if ( run->status == RUN_OK )
        {
            continue;
        }
        if ( run->status == RUN_UNAVAILABLE && strcmp( run->method, name ) != 0 )
        {
            if ( !is_told( results, index ) )
            {
                printf( "not here: %s: %s\n", run->method, run->reason );
            }
            continue;
        }
        printf( "%s: %s@%s on %s of %s %s: %s\n", run_status_name( run->status ), run->method, run->variant,
            text_size( run->object_count ).text, run->scene, run->type, run->reason );
    }
}

void race_print( const race* all, const run_results* results, const char* name )
{
    text_table table;
    char* headings = text_format(
        "floor is|row|scene|>objects|isa|>%s ms|fastest other|>its ms|>times as fast|>floor", name );
    text_table_begin( &table, headings );
    text_table_leave_out( &table, "its ms|isa|row" );
    for ( uint32_t index = 0; index < all->count; ++index )
    {
        add_printed_row( &table, &all->rows[index] );
    }
    text_table_print( &table, stdout );
    printf( "\n" );
    free( headings );
    print_missing( results, name );
    printf( "%" PRIu32 " rows:", all->count );
    for ( int verdict = 0; verdict < RACE_VERDICTS; ++verdict )
    {
        if ( all->counts[verdict] > 0 )
        {
            printf( " %" PRIu32 " %s;", all->counts[verdict], race_verdict_name( (race_verdict)verdict ) );
        }
    }
    printf( " of each frame the least over all passes counts, on both sides\n" );
}
