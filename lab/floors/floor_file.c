// SPDX-License-Identifier: MIT
#include "lab/floors/floor_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HEADINGS "row,scene,type,objects,isa,rival,floor"
#define COLUMNS 7
#define LINE_ROOM 1024

static const char* const rule_lines[] = {
    "# How many times as fast as the fastest of the others `cleave` must stay, row by row.",
    "# Floors only rise: `make speed-raise` writes them, and never lowers one.",
};

// ---- rows

static floor_row* add_row( floor_file* file )
{
    floor_row* row = lab_list_next( file->rows, file->count );
    *row = ( floor_row ){ 0 };
    return row;
}

floor_row* floor_file_add( floor_file* file, const char* part, const run_result* run )
{
    floor_row* row = add_row( file );
    row->part = text_copy( part );
    row->scene = text_copy( run->scene );
    row->type = text_copy( run->type );
    row->object_count = run->object_count;
    row->variant = text_copy( run->variant );
    row->rival = text_copy( "" );
    return row;
}

floor_row* floor_file_find( floor_file* file, const char* part, const run_result* run )
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
    floor_row* row = add_row( file );
    row->part = text_copy( cells[0] );
    row->scene = text_copy( cells[1] );
    row->type = text_copy( cells[2] );
    row->object_count = (uint32_t)objects;
    row->variant = text_copy( cells[4] );
    row->rival = text_copy( cells[5] );
    row->floor = floor;
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

static bool read_lines( FILE* stream, const char* path, floor_file* file, lab_error* why )
{
    char line[LINE_ROOM];
    bool good = true, has_headings = false;
    for ( uint32_t number = 1; good && fgets( line, sizeof( line ), stream ) != NULL; ++number )
    {
        char* where = text_format( "%s:%" PRIu32, path, number );
        size_t length = strcspn( line, "\r\n" );
        good = length + 1 < sizeof( line ) ||
            lab_error_write( why, "%s: the line is longer than %d characters", where, LINE_ROOM - 2 );
        line[length] = '\0';
        good = good && read_line( file, line, where, &has_headings, why );
        free( where );
    }
    if ( good && ferror( stream ) )
    {
        return lab_error_write( why, "%s: cannot be read", path );
    }
    return good &&
        ( has_headings || lab_error_write( why, "%s: holds no headings; expected " HEADINGS, path ) );
}

bool floor_file_read( const char* path, bool may_be_missing, floor_file* file, lab_error* why )
{
    *file = ( floor_file ){ 0 };
    errno = 0;
    FILE* stream = fopen( path, "rb" );
    if ( stream == NULL && errno == ENOENT && may_be_missing )
    {
        for ( size_t index = 0; index < sizeof( rule_lines ) / sizeof( rule_lines[0] ); ++index )
        {
            text_list_add( &file->comments, rule_lines[index] );
        }
        return true;
    }
    if ( stream == NULL )
    {
        return lab_error_write( why, "%s: cannot be opened: %s", path, strerror( errno ) );
    }
    bool good = read_lines( stream, path, file, why );
    fclose( stream );
    if ( !good )
    {
        floor_file_free( file );
    }
    return good;
}

// ---- writing

static bool write_line( output_file* out, char* line, lab_error* why )
{
    bool good = output_file_write( out, line, strlen( line ), why );
    free( line );
    return good;
}

bool floor_file_write( const char* path, const floor_file* file, lab_error* why )
{
    output_file out;
    if ( !output_file_open( &out, path, why ) )
    {
        return false;
    }
    bool good = true;
    for ( uint32_t index = 0; good && index < file->comments.count; ++index )
    {
        good = write_line( &out, text_format( "%s\n", file->comments.items[index] ), why );
    }
    good = good && write_line( &out, text_format( HEADINGS "\n" ), why );
    for ( uint32_t index = 0; good && index < file->count; ++index )
    {
        const floor_row* row = &file->rows[index];
        good = write_line( &out,
            text_format( "%s,%s,%s,%" PRIu32 ",%s,%s,%g\n", row->part, row->scene, row->type,
                row->object_count, row->variant, row->rival, row->floor ),
            why );
    }
    good = good && output_file_commit( &out, why );
    output_file_abandon( &out );
    return good;
}
