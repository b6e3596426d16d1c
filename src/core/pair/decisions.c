// SPDX-License-Identifier: MIT
#include "pair/decisions.h"

#include "base/assertion.h"

bool clv_pair_decisions_put( pair_keys* decisions, base_memory* memory, clv_pair pair, bool answer )
{
    if ( !clv_pair_keys_make_room( decisions, memory ) )
    {
        return false;
    }
    uint64_t key = base_pair_key( pair ), at = pair_keys_find( decisions, key );
    CLV_ASSERT( decisions->places[at] == 0 );
    decisions->places[at] = key | ( answer ? PAIR_KEY_BIT : 0 );
    decisions->count += 1;
    return true;
}

bool clv_pair_decisions_get( const pair_keys* decisions, clv_pair pair, bool* answer )
{
    if ( decisions->count == 0 )
    {
        return false;
    }
    uint64_t entry = decisions->places[pair_keys_find( decisions, base_pair_key( pair ) )];
    *answer = ( entry & PAIR_KEY_BIT ) != 0;
    return entry != 0;
}

// ---- written down

static void write_decisions( pair_keys* decisions, base_parts_writer* writer, uint32_t tag )
{
    clv_base_part_begin( writer, tag, decisions->count * sizeof( uint64_t ) );
    for ( uint64_t i = 0; i < decisions->capacity; ++i )
    {
        if ( decisions->places[i] != 0 )
        {
            clv_base_part_put_ordered( writer, &decisions->places[i], 1, sizeof( uint64_t ) );
        }
    }
    clv_base_part_end( writer );
}

static bool read_decision( pair_keys* decisions, base_pass* pass, uint32_t slot_count )
{
    uint64_t entry = 0, offset = pass->reader->offset;
    bool known;
    if ( !clv_base_part_get_ordered( pass->reader, &entry, 1, sizeof( entry ) ) )
    {
        return false;
    }
    uint64_t key = entry & ~PAIR_KEY_BIT;
    clv_pair pair = { (uint32_t)( key >> 32 ), (uint32_t)key };
    if ( pair.a >= pair.b || pair.b >= slot_count || clv_pair_decisions_get( decisions, pair, &known ) )
    {
        return clv_base_parts_fault( pass->reader, offset, "has an answer about no pair, or one twice" );
    }
    if ( !clv_pair_decisions_put( decisions, pass->memory, pair, ( entry & PAIR_KEY_BIT ) != 0 ) )
    {
        pass->is_out_of_memory = true;
        return false;
    }
    return true;
}

void clv_pair_decisions_pass( pair_keys* decisions, base_pass* pass, uint32_t tag, uint32_t slot_count )
{
    if ( !base_pass_reads( pass ) )
    {
        write_decisions( decisions, pass->writer, tag );
        return;
    }
    bool ok = base_pass_is_good( pass ) && clv_base_part_expect( pass->reader, tag, UINT64_MAX );
    for ( uint64_t i = 0; ok && i < pass->reader->length / sizeof( uint64_t ); ++i )
    {
        ok = read_decision( decisions, pass, slot_count );
    }
    if ( ok )
    {
        clv_base_part_close( pass->reader );
    }
}

void clv_pair_decisions_pass_table( pair_keys* decisions, base_pass* pass, uint32_t tag )
{
    uint64_t places = decisions->capacity;
    clv_base_pass_items(
        pass, tag, &decisions->places, &decisions->capacity, &places, sizeof( uint64_t ), 8 );
    if ( ( places & ( places - 1 ) ) != 0 || decisions->count > places / 2 )
    {
        clv_base_parts_fault( pass->reader, pass->reader->payload_offset, "has a table of another size" );
    }
}
