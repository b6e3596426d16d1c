// SPDX-License-Identifier: MIT
#include "space/filter_classes.h"

enum
{
    HOMES = 256, // of a table of classes: four for each
};

static bool is_alike( filter_columns by, uint32_t a, uint32_t b )
{
    if ( by.statics != NULL && by.statics[a] != by.statics[b] )
    {
        return false;
    }
    if ( by.filters == NULL )
    {
        return true;
    }
    const clv_filter *one = &by.filters[a], *other = &by.filters[b];
    return one->category == other->category && one->mask == other->mask && one->group == other->group;
}

static uint32_t home_of( filter_columns by, uint32_t slot )
{
    uint64_t mixed = by.statics != NULL ? by.statics[slot] : 0;
    if ( by.filters != NULL )
    {
        const clv_filter* filter = &by.filters[slot];
        mixed += filter->category + 3 * filter->mask + 7 * (uint64_t)filter->group;
    }
    return (uint32_t)( mixed * 0x9E3779B97F4A7C15u >> 56 );
}

// The table's home of the slot's filter: its class plus one, or 0 where there is none yet.
static uint32_t find_home( filter_columns by, uint32_t slot, const uint8_t* table, const uint32_t* first )
{
    uint32_t home = home_of( by, slot );
    while ( table[home] != 0 && !is_alike( by, first[table[home] - 1], slot ) )
    {
        home = ( home + 1 ) % HOMES;
    }
    return home;
}

bool clv_space_make_classes(
    filter_classes* classes, base_memory* memory, filter_columns by, uint32_t slot_count )
{
    uint8_t table[HOMES] = { 0 };
    uint32_t first[FILTER_CLASSES_MOST], count = 0; // a slot of each class
    bool ok = base_array_reserve( &classes->of_slot, memory, slot_count );
    for ( uint32_t slot = 0; ok && slot < slot_count; ++slot )
    {
        uint32_t home = find_home( by, slot, table, first );
        if ( table[home] == 0 )
        {
            ok = count < FILTER_CLASSES_MOST;
            first[ok ? count : 0] = slot;
            count += ok;
            table[home] = (uint8_t)count;
        }
        classes->of_slot.items[slot] = (uint8_t)( table[home] - 1 );
    }
    classes->are_many = !ok;
    classes->count = ok ? count : 0;
    for ( uint32_t a = 0; a < classes->count; ++a )
    {
        uint64_t row = 0;
        for ( uint32_t b = 0; b < count; ++b )
        {
            row |= (uint64_t)filter_columns_allow( by, first[a], first[b] ) << b;
        }
        classes->may_pair[a] = row;
    }
    return ok;
}
