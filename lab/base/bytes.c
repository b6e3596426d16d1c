// SPDX-License-Identifier: MIT
#include "lab/base/bytes.h"

#include "lab/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve( byte_buffer* buffer, size_t more )
{
    size_t needed = buffer->count + more;
    if ( needed > buffer->capacity )
    {
        buffer->capacity = needed < 2 * buffer->capacity ? 2 * buffer->capacity : needed + 256;
        buffer->bytes = lab_grow( buffer->bytes, buffer->capacity, 1 );
    }
}

void byte_buffer_put( byte_buffer* buffer, const void* bytes, size_t count )
{
    if ( count > 0 )
    {
        reserve( buffer, count );
        memcpy( buffer->bytes + buffer->count, bytes, count );
        buffer->count += count;
    }
}

void byte_buffer_put_byte( byte_buffer* buffer, uint8_t byte )
{
    reserve( buffer, 1 );
    buffer->bytes[buffer->count++] = byte;
}

void byte_buffer_print( byte_buffer* buffer, const char* format, ... )
{
    va_list arguments, again;
    va_start( arguments, format );
    va_copy( again, arguments );
    int length = vsnprintf( NULL, 0, format, arguments );
    reserve( buffer, (size_t)length + 1 );
    vsnprintf( (char*)buffer->bytes + buffer->count, (size_t)length + 1, format, again );
    buffer->count += (size_t)length;
    va_end( again );
    va_end( arguments );
}

void byte_buffer_put_count( byte_buffer* buffer, uint32_t value )
{
    while ( value >= 0x80 )
    {
        byte_buffer_put_byte( buffer, (uint8_t)( value | 0x80 ) );
        value >>= 7;
    }
    byte_buffer_put_byte( buffer, (uint8_t)value );
}

void byte_buffer_put_difference( byte_buffer* buffer, int32_t value )
{
    byte_buffer_put_count( buffer, (uint32_t)value << 1 ^ ( value < 0 ? UINT32_MAX : 0 ) );
}

void byte_buffer_clear( byte_buffer* buffer )
{
    buffer->count = 0;
}

void byte_buffer_free( byte_buffer* buffer )
{
    free( buffer->bytes );
    *buffer = ( byte_buffer ){ 0 };
}

// ---- base64

void base64_append( byte_buffer* out, const uint8_t* bytes, size_t count )
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for ( size_t at = 0; at < count; at += 3 )
    {
        size_t rest = count - at;
        uint32_t word = (uint32_t)bytes[at] << 16 | ( rest > 1 ? (uint32_t)bytes[at + 1] << 8 : 0 ) |
            ( rest > 2 ? bytes[at + 2] : 0u );
        char four[4] = { digits[word >> 18], digits[word >> 12 & 63], rest > 1 ? digits[word >> 6 & 63] : '=',
            rest > 2 ? digits[word & 63] : '=' };
        byte_buffer_put( out, four, sizeof( four ) );
    }
}

// ---- P. Deutsch, "DEFLATE Compressed Data Format Specification version 1.3", RFC 1951 (1996).

enum
{
    WINDOW = 32768,
    LONGEST = 258,       // bytes of one reference
    LEAST_REPEAT = 12,   // bytes that are worth a reference to afar
    LEAST_RUN = 4,       // bytes that are worth one to the byte before
    HASH_BITS = 15,      //
    TOKENS = 1 << 16,    // of one block, which has code lengths of its own
    LITERALS = 286,      // bytes, the end, and lengths
    DISTANCES = 30,      //
    ORDERS = 19,         // code lengths of code lengths
    END = 256,           // of a block
    CODE_MOST = 15,      // bits of a code
    ORDER_CODE_MOST = 7, // likewise, of code lengths
};

/// A byte, or where there is a distance a reference.
typedef struct token
{
    uint16_t value;    ///< byte, or length
    uint16_t distance; ///< 0: a byte
} token;

typedef struct bit_writer
{
    byte_buffer* out;
    uint64_t bits;
    uint32_t bit_count;
} bit_writer;

/// One alphabet of a block.
typedef struct code_table
{
    uint32_t counts[LITERALS];
    uint8_t lengths[LITERALS];
    uint16_t codes[LITERALS]; ///< first bit lowest
} code_table;

typedef struct deflate_state
{
    const uint8_t* bytes;
    size_t count;
    bit_writer writer;
    code_table literals, distances, orders;
    uint32_t token_count;
    token tokens[TOKENS];
    size_t latest[1 << HASH_BITS]; ///< one behind where eight such bytes last stood; 0: nowhere
} deflate_state;

// ---- bits

static void put_bits( bit_writer* writer, uint32_t bits, uint32_t count )
{
    writer->bits |= (uint64_t)bits << writer->bit_count;
    writer->bit_count += count;
    while ( writer->bit_count >= 8 )
    {
        byte_buffer_put_byte( writer->out, (uint8_t)writer->bits );
        writer->bits >>= 8;
        writer->bit_count -= 8;
    }
}

static void put_code( bit_writer* writer, const code_table* table, uint32_t symbol )
{
    put_bits( writer, table->codes[symbol], table->lengths[symbol] );
}

// ---- lengths and distances as symbols with further bits

typedef struct code_place
{
    uint32_t symbol, extra, extra_count;
} code_place;

static uint32_t bit_width( uint32_t value )
{
    uint32_t width = 0;
    for ( ; value > 0; value >>= 1 )
    {
        width += 1;
    }
    return width;
}

// Values from `first_symbol` on: those of so many bits stand for themselves, each further bit has its own
// symbols, the value's leading bits, and the others follow as they are.
static code_place place( uint32_t value, uint32_t first_symbol, uint32_t own_bits )
{
    uint32_t width = bit_width( value );
    uint32_t extra_count = width > own_bits ? width - own_bits : 0;
    uint32_t symbol = first_symbol + ( extra_count << ( own_bits - 1 ) ) + ( value >> extra_count );
    return ( code_place ){ symbol, value & ( ( 1u << extra_count ) - 1 ), extra_count };
}

static code_place place_length( uint32_t length )
{
    return length == LONGEST ? ( code_place ){ 285, 0, 0 } : place( length - 3, 257, 3 );
}

static code_place place_distance( uint32_t distance )
{
    return place( distance - 1, 0, 2 );
}

// ---- code lengths by Huffman

typedef struct leaf
{
    uint32_t count, symbol;
} leaf;

static int compare_leaves( const void* a, const void* b )
{
    const leaf* first = a;
    const leaf* second = b;
    return first->count != second->count ? ( first->count < second->count ? -1 : 1 )
                                         : (int)first->symbol - (int)second->symbol;
}

/// Joins the two rarest of leaves and joined nodes until one is left. Returns the longest code.
static uint32_t join_leaves( const leaf* leaves, uint32_t leaf_count, uint8_t* lengths )
{
    uint32_t weights[2 * LITERALS], parents[2 * LITERALS] = { 0 };
    uint32_t next_leaf = 0, next_node = leaf_count, node_count = leaf_count;
    for ( uint32_t i = 0; i < leaf_count; ++i )
    {
        weights[i] = leaves[i].count;
    }
    while ( node_count < 2 * leaf_count - 1 )
    {
        weights[node_count] = 0;
        for ( int side = 0; side < 2; ++side )
        {
            bool takes_leaf = next_leaf < leaf_count &&
                ( next_node == node_count || weights[next_leaf] <= weights[next_node] );
            uint32_t taken = takes_leaf ? next_leaf++ : next_node++;
            weights[node_count] += weights[taken];
            parents[taken] = node_count;
        }
        node_count += 1;
    }
    uint8_t depths[2 * LITERALS];
    uint32_t longest = 0;
    depths[node_count - 1] = 0;
    for ( uint32_t i = node_count - 1; i-- > 0; )
    {
        depths[i] = (uint8_t)( depths[parents[i]] + 1 );
        longest = depths[i] > longest ? depths[i] : longest;
    }
    for ( uint32_t i = 0; i < leaf_count; ++i )
    {
        lengths[leaves[i].symbol] = depths[i];
    }
    return longest;
}

/// Codes of at most `most` bits: counts are evened out until they are short enough. One symbol alone
/// gets one bit, none none.
static void make_lengths( code_table* table, uint32_t symbol_count, uint32_t most )
{
    leaf leaves[LITERALS];
    uint32_t leaf_count = 0;
    memset( table->lengths, 0, sizeof( table->lengths ) );
    for ( uint32_t symbol = 0; symbol < symbol_count; ++symbol )
    {
        if ( table->counts[symbol] > 0 )
        {
            leaves[leaf_count++] = ( leaf ){ table->counts[symbol], symbol };
        }
    }
    if ( leaf_count < 2 )
    {
        table->lengths[leaf_count > 0 ? leaves[0].symbol : 0] = (uint8_t)leaf_count;
        return;
    }
    qsort( leaves, leaf_count, sizeof( leaf ), compare_leaves );
    while ( join_leaves( leaves, leaf_count, table->lengths ) > most )
    {
        for ( uint32_t i = 0; i < leaf_count; ++i )
        {
            leaves[i].count = leaves[i].count / 2 + 1; // the order stays
        }
    }
}

/// Codes of one length count up in the order of their symbols (section 3.2.2).
static void make_codes( code_table* table, uint32_t symbol_count )
{
    uint32_t next = 0;
    for ( uint32_t length = 1; length <= CODE_MOST; ++length )
    {
        next <<= 1;
        for ( uint32_t symbol = 0; symbol < symbol_count; ++symbol )
        {
            if ( table->lengths[symbol] != length )
            {
                continue;
            }
            uint32_t reversed = 0;
            for ( uint32_t bit = 0; bit < length; ++bit )
            {
                reversed |= ( next >> bit & 1 ) << ( length - 1 - bit );
            }
            table->codes[symbol] = (uint16_t)reversed;
            next += 1;
        }
    }
}

static void make_table( code_table* table, uint32_t symbol_count, uint32_t most )
{
    make_lengths( table, symbol_count, most );
    make_codes( table, symbol_count );
}

// ---- a block

/// Code lengths as symbols of their own: 16 repeats the last one, 17 and 18 are zeros. `put`
/// false: only counts them.
static void write_lengths( deflate_state* state, const uint8_t* lengths, uint32_t count, bool put )
{
    for ( uint32_t begin = 0; begin < count; )
    {
        uint32_t end = begin + 1;
        while ( end < count && lengths[end] == lengths[begin] )
        {
            end += 1;
        }
        uint32_t run = end - begin, taken = 1, symbol = lengths[begin], extra = 0, extra_count = 0;
        if ( lengths[begin] == 0 && run >= 3 )
        {
            taken = run < 138 ? run : 138;
            symbol = taken < 11 ? 17 : 18;
            extra = taken - ( taken < 11 ? 3 : 11 );
            extra_count = taken < 11 ? 3 : 7;
        }
        else if ( begin > 0 && lengths[begin] == lengths[begin - 1] && run >= 3 )
        {
            taken = run < 6 ? run : 6;
            symbol = 16;
            extra = taken - 3;
            extra_count = 2;
        }
        if ( put )
        {
            put_code( &state->writer, &state->orders, symbol );
            put_bits( &state->writer, extra, extra_count );
        }
        else
        {
            state->orders.counts[symbol] += 1;
        }
        begin += taken;
    }
}

static void count_tokens( deflate_state* state )
{
    memset( state->literals.counts, 0, sizeof( state->literals.counts ) );
    memset( state->distances.counts, 0, sizeof( state->distances.counts ) );
    memset( state->orders.counts, 0, sizeof( state->orders.counts ) );
    state->literals.counts[END] = 1;
    for ( uint32_t i = 0; i < state->token_count; ++i )
    {
        token one = state->tokens[i];
        if ( one.distance == 0 )
        {
            state->literals.counts[one.value] += 1;
        }
        else
        {
            state->literals.counts[place_length( one.value ).symbol] += 1;
            state->distances.counts[place_distance( one.distance ).symbol] += 1;
        }
    }
}

static void write_head( deflate_state* state, bool is_last )
{
    static const uint8_t places[ORDERS] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1,
        15 };
    bit_writer* writer = &state->writer;
    uint8_t lengths[LITERALS + DISTANCES];
    memcpy( lengths, state->literals.lengths, LITERALS );
    memcpy( lengths + LITERALS, state->distances.lengths, DISTANCES );
    write_lengths( state, lengths, LITERALS + DISTANCES, false );
    make_table( &state->orders, ORDERS, ORDER_CODE_MOST );
    put_bits( writer, is_last, 1 );
    put_bits( writer, 2, 2 ); // code lengths of its own
    put_bits( writer, LITERALS - 257, 5 );
    put_bits( writer, DISTANCES - 1, 5 );
    put_bits( writer, ORDERS - 4, 4 );
    for ( uint32_t i = 0; i < ORDERS; ++i )
    {
        put_bits( writer, state->orders.lengths[places[i]], 3 );
    }
    write_lengths( state, lengths, LITERALS + DISTANCES, true );
}

static void write_block( deflate_state* state, bool is_last )
{
    bit_writer* writer = &state->writer;
    count_tokens( state );
    make_table( &state->literals, LITERALS, CODE_MOST );
    make_table( &state->distances, DISTANCES, CODE_MOST );
    write_head( state, is_last );
    for ( uint32_t i = 0; i < state->token_count; ++i )
    {
        token one = state->tokens[i];
        if ( one.distance == 0 )
        {
            put_code( writer, &state->literals, one.value );
            continue;
        }
        code_place length = place_length( one.value ), distance = place_distance( one.distance );
        put_code( writer, &state->literals, length.symbol );
        put_bits( writer, length.extra, length.extra_count );
        put_code( writer, &state->distances, distance.symbol );
        put_bits( writer, distance.extra, distance.extra_count );
    }
    put_code( writer, &state->literals, END );
    state->token_count = 0;
}

// ---- repeats

static uint32_t hash_bytes( const uint8_t* bytes )
{
    uint64_t word;
    memcpy( &word, bytes, sizeof( word ) );
    return (uint32_t)( word * UINT64_C( 0x9E3779B97F4A7C15 ) >> ( 64 - HASH_BITS ) );
}

static uint32_t common_length( const deflate_state* state, size_t from, size_t at )
{
    size_t room = state->count - at;
    uint32_t most = room < LONGEST ? (uint32_t)room : LONGEST, length = 0;
    while ( length < most && state->bytes[from + length] == state->bytes[at + length] )
    {
        length += 1;
    }
    return length;
}

/// The token for what stands at `at`.
static token choose_token( deflate_state* state, size_t at )
{
    if ( at > 0 && state->bytes[at] == state->bytes[at - 1] )
    {
        uint32_t run = common_length( state, at - 1, at );
        if ( run >= LEAST_RUN )
        {
            return ( token ){ (uint16_t)run, 1 };
        }
    }
    if ( state->count - at >= LEAST_REPEAT )
    {
        size_t* latest = &state->latest[hash_bytes( state->bytes + at )];
        size_t from = *latest;
        *latest = at + 1;
        if ( from > 0 && at - ( from - 1 ) <= WINDOW )
        {
            uint32_t length = common_length( state, from - 1, at );
            if ( length >= LEAST_REPEAT )
            {
                return ( token ){ (uint16_t)length, (uint16_t)( at - ( from - 1 ) ) };
            }
        }
    }
    return ( token ){ state->bytes[at], 0 };
}

void deflate_append( byte_buffer* out, const uint8_t* bytes, size_t count )
{
    deflate_state* state = lab_take( 1, sizeof( deflate_state ) );
    state->bytes = bytes;
    state->count = count;
    state->writer.out = out;
    for ( size_t at = 0; at < count; )
    {
        token one = choose_token( state, at );
        at += one.distance == 0 ? 1 : one.value;
        state->tokens[state->token_count++] = one;
        if ( state->token_count == TOKENS )
        {
            write_block( state, false );
        }
    }
    write_block( state, true );
    put_bits( &state->writer, 0, 7 ); // up to a whole byte
    free( state );
}
