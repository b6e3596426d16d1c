// SPDX-License-Identifier: MIT
#include "lab/frame/frame_source.h"

#include "base/bits.h"
#include "lab/base/interrupt.h"
#include "lab/base/platform.h"
#include "lab/base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- files

static bool read_file( void* state, uint32_t frame, clv_aabb* boxes, lab_error* why )
{
    return scene_reader_read( state, frame, boxes, why );
}

static void close_file( void* state )
{
    scene_reader_close( state );
    free( state );
}

bool frame_source_open_file( frame_source* source, const char* path, lab_error* why )
{
    *source = ( frame_source ){ 0 };
    scene_reader* reader = lab_take( 1, sizeof( scene_reader ) );
    if ( !scene_reader_open( reader, path, why ) )
    {
        free( reader );
        return false;
    }
    *source = ( frame_source ){ reader->header, reader, 0, read_file, close_file };
    return true;
}

// ---- scenes made on the fly

typedef struct running_scene
{
    bake_def def;
    void* state;
    uint64_t frame; // of the run, not of the recording
} running_scene;

static bool start_scene( running_scene* scene, lab_error* why )
{
    if ( scene->state != NULL )
    {
        scene->def.generator->destroy( scene->state );
    }
    scene->frame = 0;
    scene->state = scene->def.generator->create( scene->def.generator, &scene->def.scene );
    if ( scene->state == NULL )
    {
        return lab_error_write( why, "%s: out of memory for %s bodies; use a smaller -n",
            scene->def.generator->name, text_size( scene->def.scene.body_count ).text );
    }
    return true;
}

static bool read_scene( void* state, uint32_t wanted, clv_aabb* boxes, lab_error* why )
{
    running_scene* scene = state;
    if ( ( scene->state == NULL || scene->frame > wanted ) && !start_scene( scene, why ) )
    {
        return false;
    }
    for ( ; scene->frame < wanted; ++scene->frame )
    {
        if ( interrupt_raised() )
        {
            return lab_error_interrupted( why );
        }
        if ( !scene->def.generator->step( scene->state, why ) )
        {
            return false;
        }
    }
    scene->def.generator->boxes( scene->state, boxes );
    return true;
}

static void close_scene( void* state )
{
    running_scene* scene = state;
    if ( scene->state != NULL )
    {
        scene->def.generator->destroy( scene->state );
    }
    free( scene );
}

bool frame_source_open_scene( frame_source* source, const bake_def* def, lab_error* why )
{
    *source = ( frame_source ){ 0 };
    running_scene* scene = lab_take( 1, sizeof( running_scene ) );
    scene->def = *def;
    if ( !start_scene( scene, why ) )
    {
        free( scene );
        return false;
    }
    *source = ( frame_source ){ bake_header( def, def->generator->world( scene->state ) ), scene, def->from,
        read_scene, close_scene };
    return true;
}

void* frame_source_running( const frame_source* source )
{
    const running_scene* scene = source->state;
    return scene->state;
}

// ---- all of them

bool frame_source_read( frame_source* source, uint32_t frame, clv_aabb* boxes, lab_error* why )
{
    if ( frame > source->header.frame_count )
    {
        return lab_error_write( why, "%s: has no frame %" PRIu32 "; the last is %" PRIu32,
            source->header.name, frame, source->header.frame_count );
    }
    return source->read( source->state, source->from + frame, boxes, why );
}

void frame_source_close( frame_source* source )
{
    if ( source->close != NULL )
    {
        source->close( source->state );
    }
    *source = ( frame_source ){ 0 };
}

clv_aabb* frame_source_boxes( const frame_source* source )
{
    return lab_take( source->header.object_count, sizeof( clv_aabb ) );
}

// ---- bake cache

#define EXTENSION ".aabbs"
#define TEMPORARY_EXTENSION ".tmp"

// What a killed process left behind is removed once no process can still be writing it.
#define TEMPORARY_LIFE_S ( 24 * 3600 )

// What the files of a scene begin with, whatever frames they hold: every other parameter and the generator's
// version but the seed, which ends them. To free.
static char* scene_prefix( const bake_def* def )
{
    const generator_def* scene = &def->scene;
    return text_format( "%s-v%" PRIu32 "-%s-n%" PRIu32 "%s-from", def->generator->name,
        def->generator->version, body_type_name( scene->type ), scene->body_count,
        scene->split ? "-split" : "" );
}

// The file in that folder: its name tells every parameter and the generator's version. To free.
static char* file_path( const char* folder, const bake_def* def )
{
    char* prefix = scene_prefix( def );
    char* path = text_format( "%s/%s%" PRIu32 "-frames%" PRIu32 "-seed%" PRIu64 EXTENSION, folder, prefix,
        def->from, def->frame_count, def->scene.seed );
    free( prefix );
    return path;
}

static const char* environment( const char* name )
{
    const char* value = getenv( name );
    return value != NULL && value[0] != '\0' ? value : NULL;
}

// The folder, to free; NULL if the environment names none.
static char* cache_folder( void )
{
    const char* folder = environment( "CLEAVE_CACHE" );
    if ( folder != NULL )
    {
        return text_copy( folder );
    }
    if ( ( folder = environment( "XDG_CACHE_HOME" ) ) != NULL )
    {
        return text_format( "%s/cleave", folder );
    }
#if defined( _WIN32 )
    folder = environment( "LOCALAPPDATA" );
    return folder != NULL ? text_format( "%s/cleave/cache", folder ) : NULL;
#else
    folder = environment( "HOME" );
    return folder != NULL ? text_format( "%s/.cache/cleave", folder ) : NULL;
#endif
}

static bool read_limit( uint64_t* bytes, lab_error* why )
{
    uint64_t mebibytes = BAKE_CACHE_LIMIT_MIB;
    const char* text = environment( "CLEAVE_CACHE_LIMIT" );
    if ( text != NULL && ( !text_parse_size( text, &mebibytes ) || mebibytes > UINT64_MAX >> 20 ) )
    {
        return lab_error_write(
            why, "CLEAVE_CACHE_LIMIT '%s' is no number of MiB; write 8192, or 0 to keep nothing", text );
    }
    *bytes = mebibytes << 20;
    return true;
}

// ---- trimming

typedef struct kept_file
{
    char* path;
    platform_entry entry;
} kept_file;

typedef struct kept_files
{
    const char* folder;
    kept_file* items;
    size_t count;
    uint64_t bytes;
} kept_files;

static void collect( const char* name, platform_entry entry, void* user )
{
    kept_files* files = user;
    char* path = text_format( "%s/%s", files->folder, name );
    bool is_scene = entry.kind == PLATFORM_FILE && text_ends_with( name, EXTENSION );
    if ( entry.kind == PLATFORM_FILE && text_ends_with( name, TEMPORARY_EXTENSION ) &&
        strstr( name, EXTENSION ) != NULL && platform_now_s() - entry.modified_s > TEMPORARY_LIFE_S )
    {
        platform_remove( path );
    }
    if ( !is_scene )
    {
        free( path );
        return;
    }
    *lab_list_next( files->items, files->count ) = ( kept_file ){ path, entry };
    files->bytes += entry.size;
}

static int older_first( const void* left, const void* right )
{
    const kept_file* a = left;
    const kept_file* b = right;
    if ( a->entry.modified_s != b->entry.modified_s )
    {
        return a->entry.modified_s < b->entry.modified_s ? -1 : 1;
    }
    return strcmp( a->path, b->path );
}

// Remove least recently used scenes from `folder` until `bytes_needed` more would fit in `bytes_limit`.
static void trim( const char* folder, uint64_t bytes_needed, uint64_t bytes_limit )
{
    kept_files files = { .folder = folder };
    platform_list( folder, collect, &files );
    if ( files.count > 0 )
    {
        qsort( files.items, files.count, sizeof( kept_file ), older_first );
    }
    for ( size_t index = 0; index < files.count; ++index )
    {
        kept_file* file = &files.items[index];
        bool fits = bytes_needed <= bytes_limit && files.bytes <= bytes_limit - bytes_needed;
        if ( !fits && platform_remove( file->path ) )
        {
            files.bytes -= file->entry.size;
        }
        free( file->path );
    }
    free( files.items );
}

// ---- opening

static bool header_matches( const scene_header* header, const bake_def* def )
{
    scene_header wanted = bake_header( def, header->world );
    return strcmp( header->name, wanted.name ) == 0 && strcmp( header->type, wanted.type ) == 0 &&
        header->object_count == wanted.object_count && header->frame_count == wanted.frame_count;
}

// A scene that is kept already. A damaged one counts as missing.
static bool open_kept( frame_source* source, const bake_def* def, const char* folder )
{
    char* path = file_path( folder, def );
    lab_error unread;
    bool opened = frame_source_open_file( source, path, &unread );
    if ( opened && !header_matches( &source->header, def ) )
    {
        frame_source_close( source );
        opened = false;
    }
    if ( opened )
    {
        platform_touch( path ); // used just now: the last to go
    }
    free( path );
    return opened;
}

// ---- windows of longer recordings

// The longest recording that holds a window, so that four windows of a run need not be simulated four times.
typedef struct longer_search
{
    const bake_def* wanted;
    char* prefix;
    bake_def found; ///< frame_count 0: none
} longer_search;

static void look_for_longer( const char* name, platform_entry entry, void* user )
{
    longer_search* search = user;
    const bake_def* wanted = search->wanted;
    size_t length = strlen( search->prefix );
    if ( entry.kind != PLATFORM_FILE || strncmp( name, search->prefix, length ) != 0 )
    {
        return;
    }
    bake_def one = *wanted;
    uint64_t seed = 0;
    int end = 0;
    // No field can be longer than the name of a file, and what overflows names another file: compared below.
    int fields = sscanf( name + length, "%" SCNu32 "-frames%" SCNu32 "-seed%" SCNu64 EXTENSION "%n",
        &one.from, &one.frame_count, &seed, &end );
    bool is_whole =
        fields == 3 && end > 0 && name[length + (size_t)end] == '\0' && seed == wanted->scene.seed;
    uint64_t first = wanted->from;
    uint64_t last = first + wanted->frame_count;
    if ( is_whole && one.from <= first && (uint64_t)one.from + one.frame_count >= last &&
        one.frame_count > search->found.frame_count )
    {
        search->found = one;
    }
}

static bool find_longer( const bake_def* def, const char* folder, bake_def* longer )
{
    longer_search search = { .wanted = def, .prefix = scene_prefix( def ), .found = *def };
    search.found.frame_count = 0;
    platform_list( folder, look_for_longer, &search );
    free( search.prefix );
    *longer = search.found;
    return search.found.frame_count > 0;
}

// Reborn bodies are told in a companion of the file, by its frames: such a scene is not cut.
static bool open_longer( frame_source* source, const bake_def* def, const char* folder )
{
    bake_def longer;
    if ( !bake_may_share( def ) || !find_longer( def, folder, &longer ) ||
        !open_kept( source, &longer, folder ) )
    {
        return false;
    }
    source->from += def->from - longer.from;
    source->header.frame_count = def->frame_count;
    return true;
}

bool bake_cache_holds( const bake_def* def )
{
    char* folder = cache_folder();
    char* path = file_path( folder != NULL ? folder : ".", def );
    bake_def longer;
    bool holds = folder != NULL &&
        ( platform_look( path ).kind == PLATFORM_FILE ||
            ( bake_may_share( def ) && find_longer( def, folder, &longer ) ) );
    free( folder );
    free( path );
    return holds;
}

// Bakes into the folder. False with a reason to go on without it, or with the status of an interrupt.
static bool bake_kept( const bake_def* def, const char* folder, uint64_t limit, lab_error* why )
{
    uint64_t needed = 0;
    uint32_t object_count = generator_object_count( &def->scene );
    if ( !scene_file_bytes( object_count, def->frame_count, &needed ) || needed > limit )
    {
        return lab_error_write(
            why, "it takes %s, more than CLEAVE_CACHE_LIMIT allows", text_bytes( needed ).text );
    }
    if ( !platform_make_folder( folder ) )
    {
        return lab_error_write( why, "the cache folder %s cannot be made: %s; set CLEAVE_CACHE to another",
            folder, errno != 0 ? strerror( errno ) : "something else is there" );
    }
    trim( folder, needed, limit );
    char* path = file_path( folder, def );
    bool baked = bake_write( def, path, why );
    free( path );
    return baked;
}

bool bake_cache_open( frame_source* source, const bake_def* def, lab_error* why )
{
    uint64_t limit = 0;
    if ( !read_limit( &limit, why ) )
    {
        return false;
    }
    char* folder = cache_folder();
    lab_error reason = { 0 };
    bool opened = false;
    if ( folder == NULL )
    {
        lab_error_write( &reason, "no cache folder is known; set CLEAVE_CACHE" );
    }
    else
    {
        opened = limit > 0 && ( open_kept( source, def, folder ) || open_longer( source, def, folder ) );
        if ( !opened && bake_kept( def, folder, limit, &reason ) )
        {
            opened = open_kept( source, def, folder );
            lab_error_write( &reason, "another process removed it from the cache at once" );
        }
    }
    free( folder );
    if ( !opened && reason.status == LAB_INTERRUPTED )
    {
        return lab_error_interrupted( why );
    }
    if ( !opened )
    {
        if ( limit > 0 )
        {
            lab_note( "%s is made on the fly: %s", def->generator->name, reason.text );
        }
        return frame_source_open_scene( source, def, why );
    }
    return true;
}

// ---- many scenes

// Windows of one run: all but the frames is the same.
static bool is_same_run( const bake_def* a, const bake_def* b )
{
    char* left = scene_prefix( a );
    char* right = scene_prefix( b );
    bool is_same = strcmp( left, right ) == 0 && a->scene.seed == b->scene.seed;
    free( left );
    free( right );
    return is_same;
}

// Those of the first one's run, among `count` that are not there yet, into the folder; `is_done` marks them.
static bool fill_run(
    const bake_def* defs, uint32_t count, bool* is_done, const char* folder, uint64_t limit, lab_error* why )
{
    bake_def* windows = lab_take( count, sizeof( bake_def ) );
    char** paths = lab_take( count, sizeof( char* ) );
    uint32_t found = 0;
    uint64_t needed = 0;
    bool fits = true;
    for ( uint32_t index = 0; index < count && ( found == 0 || bake_may_share( &windows[0] ) ); ++index )
    {
        const bake_def* def = &defs[index];
        uint64_t bytes = 0;
        if ( is_done[index] || ( found > 0 && !is_same_run( &windows[0], def ) ) )
        {
            continue;
        }
        fits = fits && scene_file_bytes( generator_object_count( &def->scene ), def->frame_count, &bytes );
        needed += bytes;
        paths[found] = file_path( folder, def );
        windows[found++] = *def;
        is_done[index] = true;
    }
    bool good = fits && needed <= limit;
    if ( !good )
    {
        lab_error_write( why, "%s takes %s, more than CLEAVE_CACHE_LIMIT allows", windows[0].generator->name,
            text_bytes( needed ).text );
    }
    else
    {
        trim( folder, needed, limit );
        good = bake_write_windows( windows, (const char* const*)paths, found, why );
    }
    for ( uint32_t index = 0; index < found; ++index )
    {
        free( paths[index] );
    }
    free( paths );
    free( windows );
    return good;
}

bool bake_cache_fill( const bake_def* defs, uint32_t count, lab_error* why )
{
    uint64_t limit = 0;
    char* folder = cache_folder();
    bool* is_done = lab_take( count, sizeof( bool ) );
    bool good = read_limit( &limit, why );
    if ( good && ( folder == NULL || !platform_make_folder( folder ) ) )
    {
        good = lab_error_write( why, "there is no folder to bake into; set CLEAVE_CACHE to one" );
    }
    for ( uint32_t index = 0; good && index < count; ++index )
    {
        is_done[index] = bake_cache_holds( &defs[index] );
        for ( uint32_t other = 0; other < index; ++other ) // the same twice
        {
            is_done[index] = is_done[index] ||
                ( is_same_run( &defs[other], &defs[index] ) && defs[other].from == defs[index].from &&
                    defs[other].frame_count == defs[index].frame_count );
        }
    }
    for ( uint32_t index = 0; good && index < count; ++index )
    {
        good = is_done[index] || fill_run( defs, count, is_done, folder, limit, why );
    }
    free( is_done );
    free( folder );
    return good;
}

// ---- frame stats

#define STATIC_SHARE_OF_SIDE 0.01

// The six faces as numbers: lower x y z, upper x y z.
static void faces_of( const clv_aabb* box, double faces[6] )
{
    faces[0] = (double)box->lower.x, faces[1] = (double)box->lower.y, faces[2] = (double)box->lower.z;
    faces[3] = (double)box->upper.x, faces[4] = (double)box->upper.y, faces[5] = (double)box->upper.z;
}

static bool is_static( const clv_aabb* before, const clv_aabb* after )
{
    double old_faces[6], new_faces[6];
    faces_of( before, old_faces );
    faces_of( after, new_faces );
    double sum = 0;
    int finite_count = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double side = old_faces[axis + 3] - old_faces[axis];
        if ( base_is_finite( side ) )
        {
            sum += side;
            finite_count += 1;
        }
    }
    double allowed = finite_count > 0 ? STATIC_SHARE_OF_SIDE * sum / finite_count : 0;
    for ( int face = 0; face < 6; ++face )
    {
        // An infinite face that stays has moved by nothing, not by NaN.
        if ( new_faces[face] != old_faces[face] && !( fabs( new_faces[face] - old_faces[face] ) <= allowed ) )
        {
            return false;
        }
    }
    return true;
}

double frame_static_share( const clv_aabb* before, const clv_aabb* after, uint32_t count )
{
    uint32_t static_count = 0;
    for ( uint32_t index = 0; index < count; ++index )
    {
        static_count += is_static( &before[index], &after[index] ) ? 1 : 0;
    }
    return count > 0 ? (double)static_count / (double)count : 0;
}

frame_stats frame_stats_of( const clv_aabb* boxes, uint32_t count, clv_aabb world )
{
    frame_stats stats = { .size_min = INFINITY, .size_max = 0 };
    double bounds[6];
    faces_of( &world, bounds );
    double sum = 0;
    uint64_t finite_count = 0;
    for ( uint32_t index = 0; index < count; ++index )
    {
        double faces[6];
        faces_of( &boxes[index], faces );
        bool is_inside = true;
        for ( int axis = 0; axis < 3; ++axis )
        {
            double side = faces[axis + 3] - faces[axis];
            double centre =
                0.5 * ( faces[axis] + faces[axis + 3] ); // NaN for a whole axis: neither in nor out
            stats.size_min = side < stats.size_min ? side : stats.size_min;
            stats.size_max = side > stats.size_max ? side : stats.size_max;
            is_inside = is_inside && !( centre < bounds[axis] ) && !( centre > bounds[axis + 3] );
            sum += base_is_finite( side ) ? side : 0;
            finite_count += base_is_finite( side ) ? 1 : 0;
        }
        stats.outside_world += is_inside ? 0 : 1;
    }
    stats.size_mean = finite_count > 0 ? sum / (double)finite_count : 0;
    return stats;
}
