// SPDX-License-Identifier: MIT
// The reference: every kernel in plain loops, box by box and pair by pair, without a line of the others'
// templates; only the walks of queries are theirs, over eight floats in a plain array. It decides what the
// others have to say, the order of pairs included.
#include "simd/kernels.h"

#include "base/bit_set.h"
#include "simd/cells.h"
#include "simd/near_lanes.h"
#include "simd/query_lanes.h"

#include <math.h>
#include <string.h>

#include "simd/kernel_plain.h"

static bool are_good( const clv_aabb* boxes, uint32_t count )
{
    bool good = true;
    for ( uint32_t i = 0; i < count; ++i )
    {
        good &= clv_aabb_is_valid( boxes[i] );
    }
    return good;
}

static bool are_good_apart(
    const void* lower, const void* upper, size_t stride, size_t corner, uint32_t count )
{
    bool good = true;
    for ( size_t i = 0; i < count; ++i )
    {
        clv_aabb box = { 0 };
        memcpy( &box.lower, (const char*)lower + i * stride, corner );
        memcpy( &box.upper, (const char*)upper + i * stride, corner );
        good &= clv_aabb_is_valid( box );
    }
    return good;
}

static BASE_INLINE void put_corners( clv_aabb* to, const char* lower, const char* upper )
{
    memcpy( &to->lower, lower, sizeof( clv_vec3 ) );
    memcpy( &to->upper, upper, sizeof( clv_vec3 ) );
}

uint64_t clv_simd_put_near(
    clv_aabb* own, const clv_id* ids, const char* lower, const char* upper, size_t stride )
{
    uint64_t bits = 0;
    BASE_UNROLL( 4 )
    for ( uint32_t i = 0; i < SIMD_RUN; ++i, lower += stride, upper += stride )
    {
        uint32_t slot = ids[i].index; // once: a box stored might be an id
        put_corners( &own[slot], lower, upper );
        bits |= (uint64_t)1 << ( slot & 63 );
    }
    return bits;
}

void clv_simd_put_anywhere( clv_aabb* own, const clv_id* ids, const char* lower, const char* upper,
    size_t stride, uint32_t count, uint64_t* words )
{
    BASE_UNROLL( 1 )
    for ( uint32_t i = 0; i < count; ++i, lower += stride, upper += stride )
    {
        uint32_t slot = ids[i].index;
        put_corners( &own[slot], lower, upper );
        if ( words != NULL )
        {
            base_bits_add( words, slot );
        }
    }
}

#define put_near clv_simd_put_near
#define put_anywhere clv_simd_put_anywhere

static bool is_near( const float* face, const float* rest, float margin )
{
    bool near = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        near &= rest[axis] - margin <= face[axis] && face[axis] <= rest[axis] + margin;
    }
    return near;
}

static uint64_t find_strays( const clv_aabb* boxes, const simd_rest_box* rests, uint32_t count )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const simd_rest_box* rest = &rests[i];
        bool rests_here = is_near( &boxes[i].lower.x, rest->lower, rest->margin ) &&
            is_near( &boxes[i].upper.x, rest->upper, rest->margin );
        bits |= (uint64_t)!rests_here << i;
    }
    return bits;
}

static uint64_t find_touching( const clv_aabb* boxes, const clv_pair* pairs, uint32_t count )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        bits |= (uint64_t)clv_aabb_overlap( boxes[pairs[i].a], boxes[pairs[i].b] ) << i;
    }
    return bits;
}

static bool codes_overlap( simd_code_box a, simd_code_box b )
{
    bool overlap = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        const uint64_t most = 0x7FFF;
        uint64_t lower_a = a.lower >> 16 * axis & most, upper_a = a.upper >> 16 * axis & most;
        uint64_t lower_b = b.lower >> 16 * axis & most, upper_b = b.upper >> 16 * axis & most;
        overlap &= lower_a <= upper_b && lower_b <= upper_a;
    }
    return overlap;
}

static uint32_t find_codes( const simd_code_box* boxes, uint32_t count, simd_code_box asked, uint32_t* found )
{
    uint32_t found_count = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        found[found_count] = i;
        found_count += codes_overlap( boxes[i], asked );
    }
    return found_count;
}

// Grown by both margins, if `sign` is 1, or shrunk, if it is -1.
static bool rests_overlap( const simd_rest_box* a, const simd_rest_box* b, float sign )
{
    bool overlap = true;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float lower_a = a->lower[axis] - sign * a->margin, upper_a = a->upper[axis] + sign * a->margin;
        float lower_b = b->lower[axis] - sign * b->margin, upper_b = b->upper[axis] + sign * b->margin;
        overlap &= lower_a <= upper_b && lower_b <= upper_a;
    }
    return overlap;
}

static uint64_t find_sure( const simd_rest_box* rests, const clv_pair* pairs, uint32_t count )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        bits |= (uint64_t)rests_overlap( &rests[pairs[i].a], &rests[pairs[i].b], -1 ) << i;
    }
    return bits;
}

static uint64_t find_changed( const simd_rest_box* rests, const uint32_t* slots, uint32_t count,
    const simd_rest_box* from, const simd_rest_box* to )
{
    uint64_t bits = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const simd_rest_box* rest = &rests[slots[i]];
        bool changes = rests_overlap( rest, from, 1 ) != rests_overlap( rest, to, 1 ) ||
            rests_overlap( rest, from, -1 ) != rests_overlap( rest, to, -1 );
        bits |= (uint64_t)changes << i;
    }
    return bits;
}

// ---- from boxes to records

static cell_record record_of( const clv_aabb* box, const scaling* s, uint32_t slot )
{
    cell_words w = cell_words_of( box, s );
    cell_key key = cell_words_key( &w, s );
    return ( cell_record ){ cell_words_code( &w ) | (uint64_t)key.kind << 56, cell_name( slot, key.cell ) };
}

static void make_records( const cell_boxes* some, const scaling* s, cell_record* out )
{
    for ( uint32_t i = 0; i < some->count; ++i )
    {
        uint32_t slot = cell_boxes_slot( some, i );
        out[i] = record_of( &some->boxes[slot], s, slot );
    }
}

static void empty_tray(
    const cell_tray* tray, uint32_t count, const scaling* s, cell_record* out, bool may_stream )
{
    (void)may_stream;
    for ( uint32_t i = 0; i < count; ++i )
    {
        out[i] = record_of( &tray->items[i].box, s, tray->items[i].slot );
        out[i].code |= tray->items[i].before;
    }
}

static void finish_streams( void )
{
}

// ---- the pairs of a cell

// Six bytes, nine bits for each, so that a difference of fields does not borrow from the next: where the
// ninth bit is set in the first.
#define FIELD_BITS UINT64_C( 0x20100804020100 )

static uint64_t spread( uint32_t three, uint32_t next )
{
    uint64_t fields = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        fields |= (uint64_t)( three >> ( 8 * axis ) & 0xFF ) << ( 9 * axis );
        fields |= (uint64_t)( next >> ( 8 * axis ) & 0xFF ) << ( 27 + 9 * axis );
    }
    return fields;
}

// Two intervals meet where this one's upper is at least the other's lower, and its lower at most the other's
// upper: which is the same as 255 less its lower being at least 255 less that upper. So it is six times "at
// least", by one subtraction.
static uint64_t row_fields( uint64_t code )
{
    return spread( (uint32_t)( code >> 32 ), ~(uint32_t)code ) | FIELD_BITS;
}

static uint64_t lane_fields( uint64_t code )
{
    return spread( (uint32_t)code, ~(uint32_t)( code >> 32 ) );
}

static bool fields_meet( uint64_t row, uint64_t lane )
{
    return ( ( row - lane ) & FIELD_BITS ) == FIELD_BITS;
}

// Is some lower byte equal to the upper one it is compared with?
static bool codes_tie( uint64_t a, uint64_t b )
{
    bool ties = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        uint8_t a_lower = (uint8_t)( a >> ( 8 * axis ) ), a_upper = (uint8_t)( a >> ( 32 + 8 * axis ) );
        uint8_t b_lower = (uint8_t)( b >> ( 8 * axis ) ), b_upper = (uint8_t)( b >> ( 32 + 8 * axis ) );
        ties = ties || a_lower == b_upper || b_lower == a_upper;
    }
    return ties;
}

static bool boxes_touch( const clv_aabb* a, const clv_aabb* b )
{
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
        b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static clv_result settle_ties( cell_search* search )
{
    for ( uint32_t i = 0; i < search->tie_count; ++i )
    {
        clv_pair pair = search->ties[i];
        if ( !boxes_touch( &search->exact[pair.a], &search->exact[pair.b] ) )
        {
            search->counters->failed_count += 1;
            continue;
        }
        clv_result result = clv_pair_sink_put( search->sink, pair.a, pair.b );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    search->counters->tie_count += search->tie_count;
    search->tie_count = 0;
    return CLV_OK;
}

static clv_result put_hit( cell_search* search, const cell_entry* row, const cell_entry* lane )
{
    search->counters->candidate_count += 1;
    if ( !codes_tie( row->code, lane->code ) )
    {
        return clv_pair_sink_put( search->sink, cell_slot( row ), cell_slot( lane ) );
    }
    uint32_t a = cell_slot( row ), b = cell_slot( lane );
    search->ties[search->tie_count++] = ( clv_pair ){ a < b ? a : b, a < b ? b : a };
    return CLV_OK;
}

// The rows from `first` on against the lanes from `word` on, 64 of each at most.
static clv_result search_word(
    cell_search* search, const cell_entry* entries, uint32_t count, uint32_t first, uint32_t word )
{
    const uint64_t* fields = (const uint64_t*)(const void*)search->lanes;
    uint32_t row_end = first + 64 < count ? first + 64 : count,
             lane_end = word + 64 < count ? word + 64 : count;
    uint32_t found = 0;
    for ( uint32_t row = first; row < row_end; ++row )
    {
        uint64_t at_least = row_fields( entries[row].code );
        uint32_t before = cell_before( &entries[row] );
        for ( uint32_t lane = row < word ? word : row + 1; lane < lane_end; ++lane )
        {
            // Two that both begin before this cell on some axis meet in another one.
            if ( !fields_meet( at_least, fields[lane] ) || ( before & cell_before( &entries[lane] ) ) != 0 )
            {
                continue;
            }
            // Looked at where the others do, for they write so many at once: it has a say in the order.
            clv_result result = found++ % HITS_AT_ONCE == 0 && search->tie_count >= CELL_TIES
                ? settle_ties( search )
                : CLV_OK;
            result = result == CLV_OK ? put_hit( search, &entries[row], &entries[lane] ) : result;
            if ( result != CLV_OK )
            {
                return result;
            }
        }
    }
    return CLV_OK;
}

// Rows of a word that reach `lower` on an axis: the first of them, and one behind the last.
typedef struct row_range
{
    uint32_t first, last;
} row_range;

static BASE_COLD row_range rows_that_reach(
    const cell_entry* entries, uint32_t first, uint32_t end, uint32_t axis, uint8_t lower )
{
    row_range range = { end, end };
    for ( uint32_t row = end; row-- > first; )
    {
        bool reaches = (uint8_t)( entries[row].code >> ( 32 + 8 * axis ) ) >= lower;
        range.last = reaches && range.first == end ? row + 1 : range.last;
        range.first = reaches ? row : range.first;
    }
    return range;
}

static clv_result search_cell( cell_search* search, const cell_entry* entries, uint32_t count )
{
    const int32_t axis = search->axis;
    uint64_t* fields = (uint64_t*)(void*)search->lanes;
    for ( uint32_t i = 0; i < count; ++i )
    {
        fields[i] = lane_fields( entries[i].code );
    }
    clv_result result = CLV_OK;
    for ( uint32_t word = 0; word < count; word += 64 )
    {
        for ( uint32_t first = 0; first <= word && result == CLV_OK; first += 64 )
        {
            uint64_t rows = 64;
            if ( axis >= 0 )
            {
                uint32_t end = first + 64 < count ? first + 64 : count;
                uint8_t lower = (uint8_t)( entries[word].code >> ( 8 * axis ) );
                row_range reach = rows_that_reach( entries, first, end, (uint32_t)axis, lower );
                rows = reach.last - reach.first;
                search->counters->test_count +=
                    rows * ( first == word ? rows - 1 : 2 * ( count - word < 64 ? count - word : 64 ) ) / 2;
            }
            result = rows > 0 ? search_word( search, entries, count, first, word ) : result;
        }
    }
    return result;
}

// ---- eight floats, as query_body.h wants them

#define EIGHT_ALIGN

typedef struct eight
{
    float lane[QUERY_LANES];
} eight;

typedef struct eight_mask
{
    bool lane[QUERY_LANES];
} eight_mask;

#define EIGHT_EACH( type, expression )                                                                       \
    type r;                                                                                                  \
    for ( int i = 0; i < QUERY_LANES; ++i )                                                                  \
    {                                                                                                        \
        r.lane[i] = expression;                                                                              \
    }                                                                                                        \
    return r

static inline eight eight_load( const float* p )
{
    EIGHT_EACH( eight, p[i] );
}

static inline void eight_store( float* p, eight a )
{
    for ( int i = 0; i < QUERY_LANES; ++i )
    {
        p[i] = a.lane[i];
    }
}

static inline eight eight_splat( float f )
{
    EIGHT_EACH( eight, f );
}

static inline eight eight_sub( eight a, eight b )
{
    EIGHT_EACH( eight, a.lane[i] - b.lane[i] );
}

static inline eight eight_add( eight a, eight b )
{
    EIGHT_EACH( eight, a.lane[i] + b.lane[i] );
}

static inline eight eight_mul( eight a, eight b )
{
    EIGHT_EACH( eight, a.lane[i] * b.lane[i] );
}

static inline eight eight_max( eight a, eight b )
{
    EIGHT_EACH( eight, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i] );
}

static inline eight eight_min( eight a, eight b )
{
    EIGHT_EACH( eight, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i] );
}

static inline eight_mask eight_le( eight a, eight b )
{
    EIGHT_EACH( eight_mask, a.lane[i] <= b.lane[i] );
}

static inline eight_mask eight_and( eight_mask a, eight_mask b )
{
    EIGHT_EACH( eight_mask, a.lane[i] && b.lane[i] );
}

static inline uint32_t eight_bits( eight_mask m )
{
    uint32_t bits = 0;
    for ( uint32_t i = 0; i < QUERY_LANES; ++i )
    {
        bits |= (uint32_t)m.lane[i] << i;
    }
    return bits;
}

static inline float eight_least( eight a )
{
    float least = a.lane[0];
    for ( int i = 1; i < QUERY_LANES; ++i )
    {
        least = a.lane[i] < least ? a.lane[i] : least;
    }
    return least;
}

static inline float eight_most( eight a )
{
    float most = a.lane[0];
    for ( int i = 1; i < QUERY_LANES; ++i )
    {
        most = a.lane[i] > most ? a.lane[i] : most;
    }
    return most;
}

static inline uint32_t eight_signs( const uint32_t* p )
{
    uint32_t bits = 0;
    for ( uint32_t i = 0; i < QUERY_LANES; ++i )
    {
        bits |= p[i] >> 31 << i;
    }
    return bits;
}

static inline uint32_t eight_least_slot( const uint32_t* p )
{
    return query_least_slot( p );
}

#undef EIGHT_EACH

#include "simd/query_body.h"

#include "simd/query_body64.h"

double clv_simd_scaled_length( double x, double y, double z )
{
    double most = x > y ? x : y;
    most = z > most ? z : most;
    if ( most == 0 || !base_is_finite( most ) )
    {
        return most;
    }
    int exponent;
    frexp( most, &exponent );
    x = ldexp( x, -exponent );
    y = ldexp( y, -exponent );
    z = ldexp( z, -exponent );
    return ldexp( sqrt( x * x + y * y + z * z ), exponent );
}

// ---- near points

#define NEAR_PLAIN( name, number )                                                                           \
    static bool name( simd_near_search* s, clv_pair_sink* sink )                                             \
    {                                                                                                        \
        const number *x = s->x, *y = s->y, *z = s->z, limit = (number)s->limit;                              \
        if ( clv_pair_sink_is_full( sink ) )                                                                 \
        {                                                                                                    \
            return false;                                                                                    \
        }                                                                                                    \
        uint32_t* out = (uint32_t*)(void*)( sink->pairs + sink->count );                                     \
        const uint32_t* last = (uint32_t*)(void*)sink->pairs + 2 * sink->capacity;                           \
        bool has_room = true;                                                                                \
        for ( ; s->row < s->row_end && has_room; s->row += has_room, s->column *= !has_room )                \
        {                                                                                                    \
            uint32_t other = near_other_id( s ), own = near_own_column( s ), *head = out;                    \
            number row_x = x[s->row] + (number)s->row_offset[0];                                             \
            number row_y = y[s->row] + (number)s->row_offset[1];                                             \
            number row_z = z[s->row] + (number)s->row_offset[2];                                             \
            const simd_near_run* run = s->runs;                                                              \
            s->column = near_first_column( s );                                                              \
            out += s->is_directed ? 2 : 0;                                                                   \
            for ( uint32_t i = run->begin + s->column; s->column < s->column_count; ++s->column, ++i )       \
            {                                                                                                \
                for ( ; i >= run->end; i += run->begin )                                                     \
                {                                                                                            \
                    i -= run++->end;                                                                         \
                }                                                                                            \
                number dx = x[i] + (number)run->offset[0] - row_x;                                           \
                number dy = y[i] + (number)run->offset[1] - row_y;                                           \
                number dz = z[i] + (number)run->offset[2] - row_z;                                           \
                has_room = out + 2 * NEAR_LANES <= last;                                                     \
                if ( !has_room )                                                                             \
                {                                                                                            \
                    break;                                                                                   \
                }                                                                                            \
                uint32_t is_near = dx * dx + dy * dy + dz * dz <= limit && s->column != own;                 \
                uint32_t id = s->ids[i] + run->id_offset;                                                    \
                out = near_emit_lanes( out, other, s->is_directed, &id, 1, is_near );                        \
            }                                                                                                \
            out = s->is_directed ? near_close_row( s, head, out ) : out;                                     \
        }                                                                                                    \
        sink->count = (uint64_t)( out - (uint32_t*)(void*)sink->pairs ) / 2;                                 \
        return has_room;                                                                                     \
    }

NEAR_PLAIN( find_near, float )
NEAR_PLAIN( find_near64, double )
#undef NEAR_PLAIN

#define KERNELS scalar
#define KERNELS_ISA CLV_ISA_SCALAR
#include "simd/kernel_tables.h"
