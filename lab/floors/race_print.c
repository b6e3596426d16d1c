// SPDX-License-Identifier: MIT
#include "lab/base/text_table.h"
#include "lab/floors/race.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void add_row( text_table* table, const race_row* row )
{
    char size[TEXT_SIZE_ROOM];
    text_table_add( table, "%s", race_verdict_name( row->verdict ) );
    text_table_style( table, style_of( row->verdict ) );
    text_table_add( table, "%.60s", row->part );
    text_table_add( table, "%.100s %.60s", row->ours->scene, row->ours->type );
    text_table_add( table, "%s", text_size( row->ours->object_count, size ) );
    text_table_add( table, "%.20s", row->ours->variant );
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
        char size[TEXT_SIZE_ROOM];
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
            text_size( run->object_count, size ), run->scene, run->type, run->reason );
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
        add_row( &table, &all->rows[index] );
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
