// SPDX-License-Identifier: MIT
// The parts of a checkpoint, read by ranges: every block that holds a record of the range is read whole and its sum compared, so that
// between them the processes look at every byte.
#include "base/assertion.h"
#include "mpi_checkpoint.h"

// ---- shares

// As many processes as wrote: each gets back what it had. Otherwise all get as much, to one record.
mpi_range clv_mpi_parts_range( const mpi_parts* p, bool is_pairs )
{
    uint64_t total = is_pairs ? p->manifest.pair_count : p->manifest.object_count;
    uint64_t n = (uint64_t)p->space->process_count, r = (uint64_t)p->space->rank;
    if ( p->manifest.part_count != n )
    {
        uint64_t first = total / n * r + ( total % n < r ? total % n : r );
        CLV_ASSERT( first + total / n + ( r < total % n ) <= total );
        return ( mpi_range ){ first, total / n + ( r < total % n ) };
    }
    mpi_range own = { 0, 0 };
    for ( uint32_t i = 0; i <= (uint32_t)r; ++i )
    {
        mpi_part part = clv_mpi_manifest_part( p->manifest_bytes, i );
        own.first += own.count;
        own.count = is_pairs ? part.pair_count : part.object_count;
    }
    CLV_ASSERT( own.first + own.count <= total ); // the manifest's sums were compared
    return own;
}

// ---- parts

static bool open_part( mpi_parts* p, uint32_t number, mpi_file* file, const mpi_part* part )
{
    char path[FILE_PATH_ROOM];
    uint8_t wanted[PART_HEADER_BYTES], header[PART_HEADER_BYTES];
    uint64_t size = 0;
    clv_mpi_part_path( path, p->base, p->manifest.generation, number );
    if ( !clv_mpi_file_open( file, path ) || !clv_mpi_file_size( file, &size ) )
    {
        return clv_mpi_file_error( p->space, path, file->reason ), false;
    }
    if ( size != part->size )
    {
        return clv_mpi_file_error_at( p->space, path,
                   size < part->size ? "is cut off: the manifest has more, it ends"
                                     : "is longer than the manifest says: it ends",
                   size ),
               false;
    }
    if ( !clv_mpi_file_read( file, 0, header, sizeof( header ) ) )
    {
        return clv_mpi_file_error( p->space, path, file->reason ), false;
    }
    clv_mpi_part_header_write( wanted, &p->manifest.kind, number, p->manifest.part_count, part );
    mpi_put_u64( wanted + PART_HEADER_BYTES - 8, part->header_sum );
    for ( uint64_t i = 0; i < sizeof( header ); ++i )
    {
        if ( header[i] != wanted[i] )
        {
            return clv_mpi_file_error_at( p->space, path,
                       i < 8                   ? "is no part of a checkpoint: another mark"
                           : i < 12            ? "is of another version:"
                           : i >= 16 && i < 24 ? "is a part of another save:"
                                               : "has another header than the manifest says,",
                       i ),
                   false;
        }
    }
    return true;
}

/// One section of the parts, from which a share is read.
typedef struct section
{
    uint64_t record_size, chunk_records;
    bool is_pairs;
} section;

// One block, checked whole; the records of it that are wanted are copied.
static bool read_block( mpi_parts* p, mpi_file* file, const section* s, uint32_t number, const mpi_part* part,
    uint64_t block, mpi_range wanted, uint8_t* to )
{
    uint64_t count = s->is_pairs ? part->pair_count : part->object_count;
    uint64_t first = block * s->chunk_records, left = count - first;
    uint64_t size = ( left < s->chunk_records ? left : s->chunk_records ) * s->record_size;
    uint64_t offset = PART_HEADER_BYTES + first * s->record_size + block * 8 +
        ( s->is_pairs ? clv_mpi_section_size(
                            part->object_count, p->manifest.kind.record_size, p->manifest.kind.chunk_records )
                      : 0 );
    CLV_ASSERT( first < count && size + 8 <= p->chunk_room );
    if ( !clv_mpi_file_read( file, offset, p->block, size + 8 ) )
    {
        return clv_mpi_file_error( p->space, file->path, file->reason ), false;
    }
    uint64_t seed = clv_mpi_chunk_seed( &p->manifest.kind, number, s->is_pairs, block );
    if ( mpi_get_u64( p->block + size ) != clv_mpi_file_sum( seed, p->block, size ) )
    {
        return clv_mpi_file_error_at(
                   p->space, file->path, "is not as its checksum says in the block", offset ),
               false;
    }
    uint64_t begin = wanted.first > first ? wanted.first : first, end = wanted.first + wanted.count;
    end = end < first + s->chunk_records ? end : first + s->chunk_records;
    CLV_ASSERT( wanted.first <= begin && begin < end && end <= wanted.first + wanted.count );
    memcpy( to + ( begin - wanted.first ) * s->record_size, p->block + ( begin - first ) * s->record_size,
        (size_t)( ( end - begin ) * s->record_size ) );
    return true;
}

// `wanted` is counted from the part's first record.
static bool read_records(
    mpi_parts* p, const section* s, uint32_t number, const mpi_part* part, mpi_range wanted, uint8_t* to )
{
    mpi_file file;
    bool ok = open_part( p, number, &file, part );
    CLV_ASSERT( wanted.count > 0 );
    uint64_t last = ( wanted.first + wanted.count - 1 ) / s->chunk_records;
    for ( uint64_t block = wanted.first / s->chunk_records; ok && block <= last; ++block )
    {
        ok = read_block( p, &file, s, number, part, block, wanted, to );
    }
    clv_mpi_file_close( &file );
    return ok;
}

bool clv_mpi_parts_read( mpi_parts* p, bool is_pairs, mpi_range all, uint8_t* to )
{
    const mpi_save_kind* kind = &p->manifest.kind;
    const section objects = { kind->record_size, kind->chunk_records, false };
    const section pairs = { PAIR_RECORD_BYTES, CHUNK_RECORDS, true };
    const section* s = is_pairs ? &pairs : &objects;
    uint64_t begin = 0;
    for ( uint32_t i = 0; i < p->manifest.part_count; ++i )
    {
        mpi_part part = clv_mpi_manifest_part( p->manifest_bytes, i );
        uint64_t end = begin + ( s->is_pairs ? part.pair_count : part.object_count );
        uint64_t first = all.first > begin ? all.first : begin;
        uint64_t last = all.first + all.count < end ? all.first + all.count : end;
        if ( first < last &&
            !read_records( p, s, i, &part, ( mpi_range ){ first - begin, last - first },
                to + ( first - all.first ) * s->record_size ) )
        {
            return false;
        }
        begin = end;
    }
    CLV_ASSERT( all.first + all.count <= begin );
    return true;
}

// Parts that have nothing in them must be there too: somebody looks at each.
bool clv_mpi_parts_check( mpi_parts* p )
{
    bool ok = true;
    for ( uint64_t i = (uint64_t)p->space->rank; ok && i < p->manifest.part_count;
          i += (uint64_t)p->space->process_count )
    {
        mpi_file file;
        mpi_part part = clv_mpi_manifest_part( p->manifest_bytes, (uint32_t)i );
        ok = open_part( p, (uint32_t)i, &file, &part );
        clv_mpi_file_close( &file );
    }
    return ok;
}

// ---- complaints

clv_result clv_mpi_parts_error( mpi_parts* p, bool is_pairs, uint64_t record, const char* reason )
{
    uint64_t at = record;
    mpi_part part = clv_mpi_manifest_part( p->manifest_bytes, 0 );
    uint32_t number = 0;
    while ( at >= ( is_pairs ? part.pair_count : part.object_count ) )
    {
        CLV_ASSERT( number + 1 < p->manifest.part_count );
        at -= is_pairs ? part.pair_count : part.object_count;
        number += 1;
        part = clv_mpi_manifest_part( p->manifest_bytes, number );
    }
    const mpi_save_kind* kind = &p->manifest.kind;
    uint64_t record_size = is_pairs ? (uint64_t)PAIR_RECORD_BYTES : kind->record_size;
    uint64_t chunk_records = is_pairs ? (uint64_t)CHUNK_RECORDS : kind->chunk_records;
    uint64_t offset = PART_HEADER_BYTES + at * record_size + at / chunk_records * 8 +
        ( is_pairs ? clv_mpi_section_size( part.object_count, kind->record_size, kind->chunk_records ) : 0 );
    char path[FILE_PATH_ROOM];
    clv_mpi_part_path( path, p->base, p->manifest.generation, number );
    return clv_mpi_file_error_at( p->space, path, reason, offset );
}
