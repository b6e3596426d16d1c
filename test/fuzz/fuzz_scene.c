// SPDX-License-Identifier: MIT
// An even first byte: the rest is the file as it stands. An odd one: the rest damages a good file in a few
// places, which gets past the header more often than chance would.
#include "fuzz_bytes.h"
#include "fuzz_target.h"
#include "scene_judge.h"

#include <string.h>

enum
{
    ROOM = 8192,
    MOST_OBJECTS = 5,
    MOST_FRAMES = 3,
};

// One change: a byte, a word from the odd ones, or the length.
static size_t damage( uint8_t* data, size_t size, fuzz_bytes* bytes )
{
    static const uint32_t odd_words[] = { 0, 1, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu, 0x7F800000u,
        0xFF800000u, 0x7FC00000u, 0x00000001u, 0x80000001u, 0x3F800000u, 0x10000000u };
    uint8_t kind = fuzz_take_byte( bytes );
    size_t at = ( fuzz_take_byte( bytes ) * 256u + fuzz_take_byte( bytes ) ) % ( size + 1 );
    uint8_t value = fuzz_take_byte( bytes );
    if ( kind < 16 )
    {
        return at; // truncated
    }
    if ( kind < 32 && size + value < ROOM )
    {
        memset( data + size, value & 3, value );
        return size + value; // too long
    }
    if ( kind < 128 && at + 4 <= size )
    {
        uint32_t word = odd_words[value % ( sizeof( odd_words ) / sizeof( odd_words[0] ) )];
        at = kind < 64 ? ( at & ~(size_t)3 ) % ( size & ~(size_t)3 ) : 256u + 4u * ( kind & 7u );
        for ( size_t i = 0; i < 4 && at + i < size; ++i )
        {
            data[at + i] = (uint8_t)( word >> ( 8 * i ) );
        }
    }
    else if ( at < size )
    {
        data[at] = value;
    }
    return size;
}

void fuzz_scene( const uint8_t* data, size_t size )
{
    static uint8_t file[ROOM];
    fuzz_bytes bytes = { data, size };
    uint8_t mode = fuzz_take_byte( &bytes );
    if ( ( mode & 1 ) == 0 )
    {
        scene_judge_file( scene_judge_path(), bytes.at, bytes.left );
        return;
    }
    uint8_t counts = fuzz_take_byte( &bytes );
    size_t file_size = scene_judge_make( file, 1u + counts % MOST_OBJECTS, 1u + counts / 16u % MOST_FRAMES );
    for ( int changes = ( mode >> 1 ) & 3; changes > 0 && bytes.left > 0; --changes )
    {
        file_size = damage( file, file_size, &bytes );
    }
    scene_judge_file( scene_judge_path(), file, file_size );
}
