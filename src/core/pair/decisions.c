// SPDX-License-Identifier: MIT
#include "pair/decisions.h"

#include "base/assertion.h"
#include "base/pair_key.h"

#include <string.h>

#define NO_DECISION UINT64_MAX // would be a pair of two equal slots
#define ANSWER ( (uint64_t)1 << 63 )

// Position of the key, or of the hole where it belongs.
static uint64_t find_decision( const pair_decisions* decisions, uint64_t key )
{
    uint64_t mask = decisions->capacity - 1;
    uint64_t at = base_pair_home( key, decisions->capacity );
    while ( decisions->entries[at] != NO_DECISION && ( decisions->entries[at] & ~ANSWER ) != key )
    {
        at = ( at + 1 ) & mask;
    }
    return at;
}

void clv_pair_decisions_free( pair_decisions* decisions, base_memory* memory )
{
    clv_base_memory_give( memory, decisions->entries, decisions->capacity, sizeof( uint64_t ) );
    *decisions = ( pair_decisions ){ 0 };
}

void clv_pair_decisions_clear( pair_decisions* decisions )
{
    if ( decisions->capacity > 0 )
    {
        memset( decisions->entries, 0xFF, (size_t)decisions->capacity * sizeof( uint64_t ) );
    }
    decisions->count = 0;
}

static bool grow_decisions( pair_decisions* decisions, base_memory* memory )
{
    pair_decisions larger = { 0 };
    larger.capacity = decisions->capacity > 0 ? decisions->capacity * 2 : BASE_LEAST_PLACES;
    larger.entries = clv_base_memory_take( memory, larger.capacity, sizeof( uint64_t ) );
    if ( larger.entries == NULL )
    {
        return false;
    }
    clv_pair_decisions_clear( &larger );
    for ( uint64_t i = 0; i < decisions->capacity; ++i )
    {
        uint64_t entry = decisions->entries[i];
        if ( entry != NO_DECISION )
        {
            larger.entries[find_decision( &larger, entry & ~ANSWER )] = entry;
        }
    }
    larger.count = decisions->count;
    clv_pair_decisions_free( decisions, memory );
    *decisions = larger;
    return true;
}

bool clv_pair_decisions_put( pair_decisions* decisions, base_memory* memory, clv_pair pair, bool answer )
{
    if ( decisions->count >= decisions->capacity / 2 && !grow_decisions( decisions, memory ) )
    {
        return false;
    }
    uint64_t at = find_decision( decisions, base_pair_key( pair ) );
    CLV_ASSERT( decisions->entries[at] == NO_DECISION );
    decisions->entries[at] = base_pair_key( pair ) | ( answer ? ANSWER : 0 );
    decisions->count += 1;
    return true;
}

bool clv_pair_decisions_get( const pair_decisions* decisions, clv_pair pair, bool* answer )
{
    if ( decisions->count == 0 )
    {
        return false;
    }
    uint64_t entry = decisions->entries[find_decision( decisions, base_pair_key( pair ) )];
    *answer = ( entry & ANSWER ) != 0;
    return entry != NO_DECISION;
}

// ---- written down

static void write_decisions( pair_decisions* decisions, base_parts_writer* writer, uint32_t tag )
{
    clv_base_part_begin( writer, tag, decisions->count * sizeof( uint64_t ) );
    for ( uint64_t i = 0; i < decisions->capacity; ++i )
    {
        if ( decisions->entries[i] != NO_DECISION )
        {
            clv_base_part_put_ordered( writer, &decisions->entries[i], 1, sizeof( uint64_t ) );
        }
    }
    clv_base_part_end( writer );
}

static bool read_decision( pair_decisions* decisions, base_pass* pass, uint32_t slot_count )
{
    uint64_t entry = 0, offset = pass->reader->offset;
    bool known;
    if ( !clv_base_part_get_ordered( pass->reader, &entry, 1, sizeof( entry ) ) )
    {
        return false;
    }
    uint64_t key = entry & ~ANSWER;
    clv_pair pair = { (uint32_t)( key >> 32 ), (uint32_t)key };
    if ( pair.a >= pair.b || pair.b >= slot_count || clv_pair_decisions_get( decisions, pair, &known ) )
    {
        return clv_base_parts_fault( pass->reader, offset, "has an answer about no pair, or one twice" );
    }
    if ( !clv_pair_decisions_put( decisions, pass->memory, pair, ( entry & ANSWER ) != 0 ) )
    {
        pass->is_out_of_memory = true;
        return false;
    }
    return true;
}

void clv_pair_decisions_pass( pair_decisions* decisions, base_pass* pass, uint32_t tag, uint32_t slot_count )
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

void clv_pair_decisions_pass_table( pair_decisions* decisions, base_pass* pass, uint32_t tag )
{
    uint64_t places = decisions->capacity;
    clv_base_pass_items(
        pass, tag, &decisions->entries, &decisions->capacity, &places, sizeof( uint64_t ), 8 );
    if ( ( places & ( places - 1 ) ) != 0 || decisions->count > places / 2 )
    {
        clv_base_parts_fault( pass->reader, pass->reader->payload_offset, "has a table of another size" );
    }
}
