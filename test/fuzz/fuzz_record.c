// SPDX-License-Identifier: MIT
// Any bytes as a recording from a stranger. Checksums are made right first: it is refused with a place and a
// sentence, or it is calls, which are made on the default method with every checker.
#include "cleave/method.h"
#include "fuzz_bytes.h"
#include "fuzz_parts.h"
#include "fuzz_target.h"
#include "lab/replay/player.h"
#include "space/space_internal.h"

#include <stdlib.h>
#include <string.h>

enum
{
    MOST_SLOTS = 2000, // of a space that is searched or asked
    MOST_HITS = 20000, // asked for by one call
    MOST_CALLS = 60,
};

// What a call may take is the caller's to say: the fuzzer has no time for all of it.
static bool is_small( const clv_space* space, const recorded_call* call )
{
    uint64_t asked = (uint64_t)call->call.count * ( call->call.k + 1u );
    return clv_space_stats( space ).slot_count <= MOST_SLOTS && asked <= MOST_HITS;
}

static void play( const recording* source )
{
    char text[200];
    replay_player player;
    lab_error why;
    clv_space_def as = clv_default_space_def();
    if ( !player_begin( &player, source, &as, false, &why ) )
    {
        FUZZ_CHECK( why.text[0] != '\0', "a space is refused without a word" );
        return;
    }
    for ( uint64_t i = 0; i < source->call_count && i < MOST_CALLS; ++i )
    {
        const recorded_call* call = &source->calls[i];
        record_answer answer;
        if ( !is_small( player.space, call ) || !player_can_play( call ) )
        {
            continue;
        }
        if ( !player_play( &player, call, &answer, &why ) )
        {
            FUZZ_CHECK( why.text[0] != '\0', "call %llu is not made, without a word", (unsigned long long)i );
            continue;
        }
        char what[256] = "";
        bool differs =
            call->has_answer && answers_differ( call, &call->answer, &answer, false, what, sizeof( what ) );
        FUZZ_CHECK( !differs || what[0] != '\0', "call %llu differs in nothing", (unsigned long long)i );
    }
    const clv_method* row = clv_method_find( player.space->method->name );
    FUZZ_CHECK(
        row->check == NULL || row->check( player.space->method_state, text, sizeof( text ) ), "%s", text );
    player_end( &player );
}

void fuzz_record( const uint8_t* data, size_t size )
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
    fuzz_mend_parts( bytes, size, "RECO" );
    recording source;
    lab_error why;
    if ( recording_parse( "bytes", bytes, size, &source, &why ) )
    {
        play( &source );
        recording_free( &source );
    }
    else
    {
        FUZZ_CHECK( why.text[0] != '\0', "refused without a word" );
    }
    free( bytes );
}
