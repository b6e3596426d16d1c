// SPDX-License-Identifier: MIT
// Any bytes as a snapshot from disk. Checksums are made right first, so that what is behind them is reached:
// it is refused with a place and a sentence, or it is a space that lives on, with every checker.
#include "cleave/cleave.h"
#include "cleave/method.h"
#include "fuzz_bytes.h"
#include "fuzz_parts.h"
#include "fuzz_target.h"
#include "space/space_internal.h"

#include <stdlib.h>
#include <string.h>

enum
{
    MOST_SLOTS = 4096, // of a space that is searched
};

static bool allow_odd( const clv_space* space, clv_pair pair, void* user )
{
    (void)space, (void)user;
    return ( ( pair.a + pair.b ) & 1 ) != 0;
}

static void expect( bool holds )
{
    if ( !holds )
    {
        abort();
    }
}

static void check_method( clv_space* space )
{
    char text[200];
    const clv_method* row = clv_method_find( space->method->name );
    expect( row->check == NULL || row->check( space->method_state, text, sizeof( text ) ) );
}

// It lives on: updated, changed, written down again.
static void live_on( clv_space* space )
{
    clv_stats stats = clv_space_stats( space );
    for ( uint32_t i = 0; i < 3 && stats.slot_count <= MOST_SLOTS; ++i )
    {
        clv_result result = clv_space_update( space );
        expect( result == CLV_OK || result == CLV_TOO_MANY_PAIRS );
        check_method( space );
        clv_id id;
        clv_aabb box = { { 0, 0, 0 }, { 1, 1, 1 } };
        if ( clv_space_add_one( space, box, &id ) == CLV_OK && i == 1 )
        {
            expect( clv_space_remove_one( space, id ) == CLV_OK );
        }
    }
    size_t size = 0, room = clv_space_save_size( space, CLV_SAVE_MEMORY );
    uint8_t* bytes = malloc( room );
    expect( bytes != NULL && clv_space_save( space, CLV_SAVE_MEMORY, bytes, room, &size ) == CLV_OK &&
        size == room );
    clv_space_def def = clv_default_space_def();
    def.filter = space->def.filter;
    clv_space* again = NULL;
    expect( clv_space_load( &def, bytes, size, &again, NULL ) == CLV_OK );
    clv_space_destroy( again );
    free( bytes );
}

void fuzz_save( const uint8_t* data, size_t size )
{
    uint8_t* bytes = malloc( size > 0 ? size : 1 );
    if ( bytes == NULL )
    {
        return;
    }
    if ( size > 0 )
    {
        memcpy( bytes, data, size );
    }
    fuzz_mend_parts( bytes, size, "SNAP" ); // the other form is for bytes that are trusted
    for ( int with_filter = 0; with_filter < 2; ++with_filter )
    {
        clv_space_def def = clv_default_space_def();
        def.filter = with_filter ? allow_odd : NULL;
        clv_space* space = NULL;
        clv_load_error error;
        clv_result result = clv_space_load( &def, bytes, size, &space, &error );
        expect( ( result == CLV_OK ) == ( space != NULL ) );
        expect( result == CLV_OK || error.text[0] != '\0' );
        expect( result != CLV_FILE_FAILED || error.offset <= size );
        if ( space != NULL )
        {
            live_on( space );
            clv_space_destroy( space );
        }
    }
    free( bytes );
}
