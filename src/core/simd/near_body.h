// SPDX-License-Identifier: MIT
// Near points, one row against as many columns as a register has lanes. near_twice.h includes it once for
// floats and once for doubles, with
//   NEAR_FIND, NEAR_COPY, NEAR_BLOCK,
//   NEAR_BOUND, NEAR_GAP                  the names for this type
//   NEAR_NUMBER, NEAR_WIDTH, NEAR_REG     float or double, lanes, the register
//   NEAR_LOAD, NEAR_STORE (any alignment), NEAR_SPLAT, NEAR_SUB, NEAR_MUL, NEAR_ADD, NEAR_MAX, NEAR_LE_BITS
//   NEAR_PRESS, NEAR_PRESS_IDS            puts lanes whose bit is set; all of them must fit there
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

// The least and the greatest of a few numbers.
static inline void NEAR_BOUND( const NEAR_NUMBER* rows, uint32_t count, NEAR_NUMBER move, NEAR_REG bounds[2] )
{
    NEAR_NUMBER least = rows[0], most = rows[0];
    for ( uint32_t i = 1; i < count; ++i )
    {
        least = rows[i] < least ? rows[i] : least;
        most = rows[i] > most ? rows[i] : most;
    }
    bounds[0] = NEAR_SPLAT( least + move );
    bounds[1] = NEAR_SPLAT( most + move );
}

// The way from the bounds to a number. Rounding is monotonic: no row's difference is less.
static inline NEAR_REG NEAR_GAP( NEAR_REG at, const NEAR_REG bounds[2] )
{
    return NEAR_MAX( NEAR_MAX( NEAR_SUB( bounds[0], at ), NEAR_SUB( at, bounds[1] ) ), NEAR_SPLAT( 0 ) );
}

// A register at a time: what is copied behind the last is written over by the next. Left out is what is too
// far from the box around all rows, but not of the first run, in which rows know their own place. How many
// columns there are.
static inline uint32_t NEAR_COPY( const simd_near_search* s, NEAR_BLOCK* block )
{
    const NEAR_NUMBER *x = s->x, *y = s->y, *z = s->z;
    NEAR_REG limit = NEAR_SPLAT( (NEAR_NUMBER)s->limit ), box[3][2];
    uint32_t to = 0, rows = s->is_compact ? s->row_end - s->first_row : 1;
    NEAR_BOUND( x + s->first_row, rows, (NEAR_NUMBER)s->row_offset[0], box[0] );
    NEAR_BOUND( y + s->first_row, rows, (NEAR_NUMBER)s->row_offset[1], box[1] );
    NEAR_BOUND( z + s->first_row, rows, (NEAR_NUMBER)s->row_offset[2], box[2] );
    for ( uint32_t run = 0; run < s->run_count; ++run )
    {
        const simd_near_run* r = &s->runs[run];
        uint32_t count = r->end - r->begin, first = to;
        bool is_whole = !s->is_compact || ( run == 0 && s->is_own );
        NEAR_REG move_x = NEAR_SPLAT( (NEAR_NUMBER)r->offset[0] );
        NEAR_REG move_y = NEAR_SPLAT( (NEAR_NUMBER)r->offset[1] );
        NEAR_REG move_z = NEAR_SPLAT( (NEAR_NUMBER)r->offset[2] );
        for ( uint32_t i = 0, from = r->begin; i < count; i += NEAR_WIDTH, from += NEAR_WIDTH )
        {
            NEAR_REG at_x = NEAR_ADD( NEAR_LOAD( x + from ), move_x );
            NEAR_REG at_y = NEAR_ADD( NEAR_LOAD( y + from ), move_y );
            NEAR_REG at_z = NEAR_ADD( NEAR_LOAD( z + from ), move_z );
            if ( is_whole )
            {
                NEAR_STORE( block->x + to + i, at_x );
                NEAR_STORE( block->y + to + i, at_y );
                NEAR_STORE( block->z + to + i, at_z );
                memcpy( block->ids + to + i, s->ids + from, NEAR_WIDTH * sizeof( uint32_t ) );
                continue;
            }
            NEAR_REG dx = NEAR_GAP( at_x, box[0] ), dy = NEAR_GAP( at_y, box[1] );
            NEAR_REG dz = NEAR_GAP( at_z, box[2] );
            NEAR_REG sum = NEAR_ADD( NEAR_MUL( dx, dx ), NEAR_MUL( dy, dy ) );
            uint32_t bits = NEAR_LE_BITS( NEAR_ADD( sum, NEAR_MUL( dz, dz ) ), limit );
            bits &= count - i < NEAR_WIDTH ? ( 1u << ( count - i ) ) - 1 : UINT32_MAX;
            NEAR_PRESS( block->x + to, at_x, bits );
            NEAR_PRESS( block->y + to, at_y, bits );
            NEAR_PRESS( block->z + to, at_z, bits );
            NEAR_PRESS_IDS( block->ids + to, s->ids + from, bits );
            to += base_bit_count( bits );
        }
        to += is_whole ? count : 0;
        for ( uint32_t i = first; i < to && r->id_offset != 0; ++i )
        {
            block->ids[i] += r->id_offset;
        }
    }
    for ( uint32_t i = 0; i < NEAR_WIDTH; ++i )
    {
        block->x[to + i] = block->y[to + i] = block->z[to + i] = (NEAR_NUMBER)INFINITY;
        block->ids[to + i] = 0;
    }
    return to;
}

static bool NEAR_FIND( simd_near_search* s, clv_pair_sink* sink )
{
    const NEAR_NUMBER *x = s->x, *y = s->y, *z = s->z;
    if ( clv_pair_sink_is_full( sink ) )
    {
        return false;
    }
    NEAR_BLOCK block;
    s->column_count = NEAR_COPY( s, &block );
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
#undef NEAR_BOUND
#undef NEAR_GAP
#undef NEAR_MAX
#undef NEAR_PRESS
#undef NEAR_PRESS_IDS
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
