// SPDX-License-Identifier: MIT
// Near points, one row against as many columns as a register has lanes. near_twice.h includes it once for
// floats and once for doubles, with
//   NEAR_FIND, NEAR_COPY, NEAR_BLOCK      the names for this type
//   NEAR_NUMBER, NEAR_WIDTH, NEAR_REG     float or double, lanes, the register
//   NEAR_LOAD, NEAR_STORE (any alignment), NEAR_SPLAT, NEAR_SUB, NEAR_MUL, NEAR_ADD, NEAR_LE_BITS
// and near_emit, which does what near_emit_lanes does; it may write 2 * NEAR_LANES numbers, those that do not
// count too. No include guard: part of a template.

static_assert(
    NEAR_WIDTH <= NEAR_LANES && 2 * NEAR_LANES <= CLV_PAIR_SINK_ROOM, "a step fits a sink with room" );

// The columns of a search, one behind the other; behind the last a register's worth that is near nothing.
struct NEAR_BLOCK
{
    NEAR_NUMBER x[NEAR_COLUMNS + NEAR_LANES];
    NEAR_NUMBER y[NEAR_COLUMNS + NEAR_LANES];
    NEAR_NUMBER z[NEAR_COLUMNS + NEAR_LANES];
    uint32_t ids[NEAR_COLUMNS + NEAR_LANES];
};

// A register at a time: what is copied behind the end of a run is written over by the next.
static inline void NEAR_COPY( const simd_near_search* s, NEAR_BLOCK* block )
{
    const NEAR_NUMBER *x = s->x, *y = s->y, *z = s->z;
    uint32_t to = 0;
    for ( uint32_t run = 0; run < s->run_count; ++run )
    {
        const simd_near_run* r = &s->runs[run];
        uint32_t count = r->end - r->begin;
        NEAR_REG move_x = NEAR_SPLAT( (NEAR_NUMBER)r->offset[0] );
        NEAR_REG move_y = NEAR_SPLAT( (NEAR_NUMBER)r->offset[1] );
        NEAR_REG move_z = NEAR_SPLAT( (NEAR_NUMBER)r->offset[2] );
        for ( uint32_t i = 0, from = r->begin; i < count; i += NEAR_WIDTH, from += NEAR_WIDTH )
        {
            NEAR_STORE( block->x + to + i, NEAR_ADD( NEAR_LOAD( x + from ), move_x ) );
            NEAR_STORE( block->y + to + i, NEAR_ADD( NEAR_LOAD( y + from ), move_y ) );
            NEAR_STORE( block->z + to + i, NEAR_ADD( NEAR_LOAD( z + from ), move_z ) );
            memcpy( block->ids + to + i, s->ids + from, NEAR_WIDTH * sizeof( uint32_t ) );
        }
        for ( uint32_t i = 0; i < count && r->id_offset != 0; ++i )
        {
            block->ids[to + i] += r->id_offset;
        }
        to += count;
    }
    for ( uint32_t i = 0; i < NEAR_WIDTH; ++i )
    {
        block->x[to + i] = block->y[to + i] = block->z[to + i] = (NEAR_NUMBER)INFINITY;
        block->ids[to + i] = 0;
    }
}

static bool NEAR_FIND( simd_near_search* s, clv_pair_sink* sink )
{
    const NEAR_NUMBER *x = s->x, *y = s->y, *z = s->z;
    if ( clv_pair_sink_is_full( sink ) )
    {
        return false;
    }
    NEAR_BLOCK block;
    NEAR_COPY( s, &block );
    uint32_t* out = (uint32_t*)(void*)( sink->pairs + sink->count );
    const uint32_t* last = (const uint32_t*)(const void*)( sink->pairs + sink->capacity - NEAR_LANES );
    NEAR_REG limit = NEAR_SPLAT( (NEAR_NUMBER)s->limit );
    const NEAR_NUMBER move[3] = { (NEAR_NUMBER)s->row_offset[0], (NEAR_NUMBER)s->row_offset[1],
        (NEAR_NUMBER)s->row_offset[2] };
    uint32_t end = s->column_count, i = end;
    bool is_directed = s->is_directed;
    for ( ; s->row < s->row_end && i >= end; )
    {
        NEAR_REG row_x = NEAR_SPLAT( x[s->row] + move[0] );
        NEAR_REG row_y = NEAR_SPLAT( y[s->row] + move[1] );
        NEAR_REG row_z = NEAR_SPLAT( z[s->row] + move[2] );
        uint32_t other = near_other_id( s ), own = near_own_column( s ), *head = out;
        NEAR_NUMBER own_x = block.x[own];
        if ( is_directed )
        {
            block.x[own] = (NEAR_NUMBER)INFINITY; // near nothing for as long as it is the row
            out += 2;
        }
        for ( i = near_first_column( s ); i < end && out <= last; i += NEAR_WIDTH )
        {
            NEAR_REG dx = NEAR_SUB( NEAR_LOAD( block.x + i ), row_x );
            NEAR_REG dy = NEAR_SUB( NEAR_LOAD( block.y + i ), row_y );
            NEAR_REG dz = NEAR_SUB( NEAR_LOAD( block.z + i ), row_z );
            NEAR_REG sum = NEAR_ADD( NEAR_MUL( dx, dx ), NEAR_MUL( dy, dy ) );
            sum = NEAR_ADD( sum, NEAR_MUL( dz, dz ) );
            out = near_emit( out, other, is_directed, block.ids + i, NEAR_WIDTH, NEAR_LE_BITS( sum, limit ) );
        }
        if ( is_directed )
        {
            block.x[own] = own_x;
            out = near_close_row( s, head, out );
        }
        s->column = i < end ? i : 0;
        s->row += i >= end;
    }
    sink->count = (uint64_t)( out - (uint32_t*)(void*)sink->pairs ) / 2;
    return s->row == s->row_end;
}

#undef NEAR_FIND
#undef NEAR_COPY
#undef NEAR_BLOCK
#undef NEAR_NUMBER
#undef NEAR_WIDTH
#undef NEAR_REG
#undef NEAR_LOAD
#undef NEAR_STORE
#undef NEAR_SPLAT
#undef NEAR_SUB
#undef NEAR_MUL
#undef NEAR_ADD
#undef NEAR_LE_BITS
