// SPDX-License-Identifier: MIT
#include "cleave/space.h"
#include "lab/base/args.h"
#include "lab/base/json.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/frame/frame_source.h"
#include "lab/frame/scene_list.h"
#include "lab/measure/timed_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct info_flags
{
    uint64_t frame;
    bool json, check;
} info_flags;

typedef struct scene_facts
{
    scene_header header;
    uint64_t bytes;
    uint32_t frame;
    frame_stats stats;
    double static_share; // NaN for frame 0, which has none before it
    uint64_t pair_count;
} scene_facts;

static bool count_pairs( const clv_aabb* boxes, const scene_header* header, uint64_t* count, lab_error* why )
{
    char reason[256] = "";
    clv_space* space = NULL;
    clv_space_def def = clv_default_space_def();
    def.capacity = header->object_count;
    def.logger = run_reason_logger( reason );
    clv_result result = clv_space_create( &def, &space );
    if ( result == CLV_OK )
    {
        result = clv_space_add( space, boxes, header->object_count, NULL );
    }
    if ( result == CLV_OK )
    {
        result = clv_space_update( space );
    }
    if ( result == CLV_OK )
    {
        *count = clv_space_pairs( space ).count;
    }
    clv_space_destroy( space );
    if ( result != CLV_OK )
    {
        return lab_error_write( why, "%s: finding the pairs failed: %s", header->name,
            reason[0] != '\0' ? reason : clv_result_text( result ) );
    }
    return true;
}

// Reads and so checks every frame.
static bool check_frames( frame_source* source, clv_aabb* boxes, lab_error* why )
{
    progress_bar bar;
    bool good = true;
    progress_begin( &bar, "checking", "frames", (uint64_t)source->header.frame_count + 1 );
    for ( uint64_t frame = 0; good && frame <= source->header.frame_count; ++frame )
    {
        good = frame_source_read( source, (uint32_t)frame, boxes, why );
        progress_show( &bar, frame + 1 );
    }
    progress_end( &bar );
    return good;
}

static bool look_at_frame(
    frame_source* source, clv_aabb* before, clv_aabb* boxes, scene_facts* facts, lab_error* why )
{
    if ( facts->frame > 0 && !frame_source_read( source, facts->frame - 1, before, why ) )
    {
        return false;
    }
    if ( !frame_source_read( source, facts->frame, boxes, why ) )
    {
        return false;
    }
    uint32_t object_count = facts->header.object_count;
    facts->static_share = facts->frame > 0 ? frame_static_share( before, boxes, object_count ) : NAN;
    facts->stats = frame_stats_of( boxes, object_count, facts->header.world );
    return count_pairs( boxes, &facts->header, &facts->pair_count, why );
}

static bool look( const char* text, const info_flags* flags, scene_facts* facts, lab_error* why )
{
    frame_source source = { 0 };
    bool good = scene_spec_open_text( text, &source, why );
    if ( !good )
    {
        return false;
    }
    facts->header = source.header;
    facts->frame = flags->frame == ARGS_UNSET ? source.header.frame_count : (uint32_t)flags->frame;
    scene_file_bytes( source.header.object_count, source.header.frame_count, &facts->bytes );
    if ( facts->frame > source.header.frame_count )
    {
        good = lab_error_write( why, "info: %s has no frame %" PRIu32 "; use 0 to %" PRIu32, text,
            facts->frame, source.header.frame_count );
    }
    clv_aabb* boxes = frame_source_boxes( &source );
    clv_aabb* before = frame_source_boxes( &source );
    good = good && ( !flags->check || check_frames( &source, boxes, why ) ) &&
        look_at_frame( &source, before, boxes, facts, why );
    free( boxes );
    free( before );
    frame_source_close( &source );
    return good;
}

static lab_status print_text( const scene_facts* facts, bool is_checked )
{
    const scene_header* header = &facts->header;
    char size[TEXT_SIZE_ROOM], bytes[TEXT_SIZE_ROOM];
    const clv_aabb* world = &header->world;
    printf( "scene             %s\n", header->name );
    printf( "type              %s\n", header->type );
    printf( "objects           %s (%" PRIu32 ")\n", text_size( header->object_count, size ),
        header->object_count );
    printf( "frames            1 + %" PRIu32 "%s\n", header->frame_count,
        is_checked ? ", all read and checked" : "" );
    printf( "size              %s (%" PRIu64 " bytes)\n", text_bytes( facts->bytes, bytes ), facts->bytes );
    printf( "world             %g %g %g to %g %g %g\n", (double)world->lower.x, (double)world->lower.y,
        (double)world->lower.z, (double)world->upper.x, (double)world->upper.y, (double)world->upper.z );
    printf( "\nframe             %" PRIu32 "\n", facts->frame );
    printf( "sides             %.4g to %.4g, mean %.4g\n", facts->stats.size_min, facts->stats.size_max,
        facts->stats.size_mean );
    if ( facts->frame > 0 )
    {
        printf( "static            %.2f %% of the objects, against frame %" PRIu32 "\n",
            100 * facts->static_share, facts->frame - 1 );
    }
    else
    {
        printf( "static            - (frame 0 has none before it)\n" );
    }
    printf( "pairs             %" PRIu64 ", %.4g per object\n", facts->pair_count,
        (double)facts->pair_count / (double)header->object_count );
    printf( "outside the world %" PRIu32 " centres\n", facts->stats.outside_world );
    return LAB_DONE;
}

static json_value* corner_value( clv_vec3 corner )
{
    json_value* value = json_array();
    json_put_number( value, NULL, (double)corner.x );
    json_put_number( value, NULL, (double)corner.y );
    json_put_number( value, NULL, (double)corner.z );
    return value;
}

static lab_status print_json( const scene_facts* facts )
{
    const scene_header* header = &facts->header;
    json_value* value = json_object();
    json_value* world = json_object();
    json_put_text( value, "scene", header->name );
    json_put_text( value, "type", header->type );
    json_put_count( value, "objects", header->object_count );
    json_put_count( value, "frames", header->frame_count );
    json_put_count( value, "bytes", facts->bytes );
    json_put( world, "lower", corner_value( header->world.lower ) );
    json_put( world, "upper", corner_value( header->world.upper ) );
    json_put( value, "world", world );
    json_put_count( value, "frame", facts->frame );
    json_put_number( value, "static_share", facts->static_share );
    json_put_count( value, "pairs", facts->pair_count );
    json_put_number( value, "pairs_per_object", (double)facts->pair_count / (double)header->object_count );
    json_put_count( value, "outside_world", facts->stats.outside_world );
    json_put_number( value, "size_min", facts->stats.size_min );
    json_put_number( value, "size_max", facts->stats.size_max );
    json_put_number( value, "size_mean", facts->stats.size_mean );
    return json_print( value );
}

static lab_status show( void* data, text_list* operands )
{
    const info_flags* flags = data;
    scene_facts facts = { 0 };
    lab_error why;
    if ( flags->json && !json_is_here( &why ) )
    {
        return lab_error_print( &why );
    }
    if ( !look( operands->items[0], flags, &facts, &why ) )
    {
        return lab_error_print( &why );
    }
    return flags->json ? print_json( &facts ) : print_text( &facts, flags->check );
}

lab_status command_info( int argc, char** argv )
{
    info_flags flags = { .frame = ARGS_UNSET };
    const args_flag list[] = {
        { "--frame", 0, ARGS_COUNT, &flags.frame, "F", "frame to look at; 0 is the initial one", 0,
            INT32_MAX },
        { "--check", 0, ARGS_SWITCH, &flags.check, NULL, "read every frame, so that any damage is found", 0,
            0 },
        { "--json", 0, ARGS_SWITCH, &flags.json, NULL, "print JSON", 0, 0 },
    };
    const args_table table = {
        .command = "info",
        .usage = "FILE [--frame F] [--check] [--json]",
        .about =
            "Tell what is in a scene: header, world, frames, sizes; and of one frame (the last unless told) the\n"
            "share of static objects, none of whose faces moved by more than 1 % of the object's mean side since\n"
            "the frame before, the pairs per object, and the centres outside the world.\n"
            "FILE may be scene:N:type@from+frames too.",
        .example = "  cleave info brownian.aabbs --frame 30",
        ARGS_FLAGS( list ),
        .operand_name = "a FILE or a SCENE",
        .operand_least = 1,
        .operand_most = 1,
    };
    return args_run( &table, argc, argv, show, &flags );
}
