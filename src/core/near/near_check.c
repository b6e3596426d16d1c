// SPDX-License-Identifier: MIT
// Holds the points in their cells, and a list made of them, to what near_internal.h and near.h say of them,
// with none of the code that made them. The first sentence that is not true is returned. For tests and debug
// builds.
#include "near/near_internal.h"

// ---- points in their cells

static const char* check_axes( const near_grid* grid )
{
    uint64_t cells = 1;
    for ( int k = 0; k < 3; ++k )
    {
        if ( grid->counts[k] == 0 || grid->last[k] != (double)grid->counts[k] - 1 )
        {
            return "an axis of the grid has no cells, or another last one";
        }
        if ( grid->layers[k] == 0 )
        {
            return "a reach spans no cell";
        }
        cells *= grid->counts[k];
    }
    return cells == grid->cell_count ? NULL : "the axes of the grid make more or fewer cells";
}

static const char* check_point( const clv_near* near, uint32_t cell, uint32_t at )
{
    uint32_t id = near->ids.items[at];
    if ( id >= near->point_count || near->cells.items[id] != cell )
    {
        return "a cell has a point of another cell";
    }
    double p[3], s[3];
    size_t row = near_lane_row( near->point_count );
    near_place( near, id, p );
    for ( size_t axis = 0; axis < 3; ++axis )
    {
        const char* lane = near->lanes.items + ( axis * row + at ) * near_number( near );
        double value =
            near->def.doubles ? *(const double*)(const void*)lane : (double)*(const float*)(const void*)lane;
        if ( value != p[axis] )
        {
            return "a point is not where its cell has it";
        }
    }
    near_fractions( &near->frame, p, s );
    return near_cell_of( &near->grid, s[0], s[1], s[2] ) == cell ? NULL : "a point lies in another cell";
}

const char* clv_near_grid_check( const clv_near* near )
{
    const uint32_t* starts = near->starts.items;
    const char* broken = check_axes( &near->grid );
    if ( broken == NULL && starts[0] != 0 )
    {
        broken = "the first cell does not begin at the first point";
    }
    for ( uint32_t cell = 0; broken == NULL && cell < near->grid.cell_count; ++cell )
    {
        if ( starts[cell] > starts[cell + 1] || starts[cell + 1] > near->point_count )
        {
            return "a cell ends before it begins, or behind the last point";
        }
        for ( uint32_t at = starts[cell]; broken == NULL && at < starts[cell + 1]; ++at )
        {
            bool is_behind = at == starts[cell] || near->ids.items[at - 1] < near->ids.items[at];
            broken = is_behind ? check_point( near, cell, at ) : "points of a cell do not ascend";
        }
    }
    // Each is in its own cell and once there: as many as there are points are all of them.
    return broken != NULL || starts[near->grid.cell_count] == near->point_count
        ? broken
        : "the cells have more or fewer points";
}

// ---- a list

// Sums of these tell whether entries are those of the pairs.
static uint64_t entry_hash( uint32_t a, uint32_t b, const int32_t* shift, int32_t sign )
{
    uint64_t mixed = ( (uint64_t)a << 32 | b ) * UINT64_C( 0x9E3779B97F4A7C15 );
    for ( int k = 0; shift != NULL && k < 3; ++k )
    {
        mixed = ( ( mixed ^ mixed >> 29 ) + (uint32_t)( sign * shift[k] ) ) * UINT64_C( 0xBF58476D1CE4E5B9 );
    }
    return mixed ^ mixed >> 32;
}

static const char* check_near_pair( const clv_near* near, clv_pair pair )
{
    if ( pair.a >= near->point_count || pair.b >= near->point_count ||
        ( !near->def.full && pair.a > pair.b ) )
    {
        return "a pair of points that are not there, or in the wrong order";
    }
    return pair.a == pair.b && !near->frame.is_periodic ? "a point is near itself" : NULL;
}

static const char* check_near_pairs( const clv_near* near, uint64_t* hash )
{
    bool has_shifts = near->shifts.count > 0;
    const char* broken =
        has_shifts && near->shifts.count != 3 * near->pairs.count ? "pairs have more or fewer shifts" : NULL;
    for ( uint64_t i = 0; i < near->pairs.count && broken == NULL; ++i )
    {
        clv_pair pair = near->pairs.items[i];
        broken = check_near_pair( near, pair );
        *hash += entry_hash( pair.a, pair.b, has_shifts ? near->shifts.items + 3 * i : NULL, 1 );
    }
    return broken;
}

static const char* check_rows( const clv_near* near, uint64_t* hash )
{
    const char* broken = NULL;
    uint64_t i = 0;
    for ( ; i < near->pairs.count && broken == NULL; i = near_row_end( near->pairs.items, i ) )
    {
        clv_pair row = near->pairs.items[i];
        const uint32_t* entries = near_row_entries( near->pairs.items, i );
        broken = row.b == 0 || near_row_end( near->pairs.items, i ) > near->pairs.count
            ? "a row is empty, or ends behind the last"
            : NULL;
        for ( uint32_t n = 0; n < row.b && broken == NULL; ++n )
        {
            clv_pair pair = { near_point_of( near, row.a ), near_point_of( near, entries[n] ) };
            broken = check_near_pair( near, pair );
            *hash += entry_hash( pair.a, pair.b, NULL, 1 );
        }
    }
    return broken;
}

static const char* check_entries( const clv_near* near, uint64_t entries, uint64_t hash )
{
    const uint64_t* offsets = near->offsets.items;
    const int32_t* shifts = clv_near_wants_shifts( near ) ? near->entry_shifts.items : NULL;
    uint64_t sides = 0;
    if ( offsets[0] != 0 || offsets[near->point_count] != entries )
    {
        return "the points have more or fewer entries than the list";
    }
    for ( uint32_t point = 0; point < near->point_count; ++point )
    {
        if ( offsets[point] > offsets[point + 1] || offsets[point + 1] > entries )
        {
            return "a point's entries end before they begin, or behind the last";
        }
        for ( uint64_t i = offsets[point]; i < offsets[point + 1]; ++i )
        {
            clv_pair side =
                near->def.by_point ? ( clv_pair ){ point, near->indices.items[i] } : near->sides.items[i];
            if ( side.a != point )
            {
                return "an entry is another point's";
            }
            const int32_t* shift = shifts != NULL ? shifts + 3 * i : NULL;
            hash -= entry_hash( side.a, side.b, NULL, 1 );
            sides += entry_hash( side.a, side.b, shift, 1 ) - entry_hash( side.b, side.a, shift, -1 );
        }
    }
    return hash != 0                   ? "the entries are not those of the pairs"
        : near->def.full && sides != 0 ? "an entry has none from the other side"
                                       : NULL;
}

const char* clv_near_list_check( const clv_near* near, double square )
{
    uint64_t hash = 0, entries = near->entry_count;
    const char* broken =
        near_is_directed( near ) ? check_rows( near, &hash ) : check_near_pairs( near, &hash );
    if ( broken == NULL && near_is_directed( near ) )
    {
        broken = check_entries( near, entries, hash );
    }
    for ( uint64_t i = 0; near->def.squared && broken == NULL && i < entries; ++i )
    {
        const char* from = near->squared.items + i * near_number( near );
        double found =
            near->def.doubles ? *(const double*)(const void*)from : (double)*(const float*)(const void*)from;
        broken = found >= 0 && found <= square ? NULL : "an entry is further away than the limit";
    }
    return broken;
}
