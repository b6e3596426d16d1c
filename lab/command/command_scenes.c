// SPDX-License-Identifier: MIT
#include "lab/base/args.h"
#include "lab/base/json.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/scene/generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scenes_flags
{
    text_list families; ///< none: all
    bool json;
} scenes_flags;

static bool is_wanted( const scenes_flags* flags, const generator* scene )
{
    bool wanted = flags->families.count == 0;
    for ( uint32_t index = 0; index < flags->families.count; ++index )
    {
        wanted =
            wanted || choice_value( generator_families, flags->families.items[index] ) == (int)scene->family;
    }
    return wanted;
}

static lab_status print_table( const scenes_flags* flags )
{
    text_table table;
    text_table_begin( &table, "scene|family|>objects|contacts|what it shows" );
    text_table_leave_out( &table, "family" );
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        const generator* scene = generator_at( index );
        char size[TEXT_SIZE_ROOM];
        if ( is_wanted( flags, scene ) )
        {
            text_table_add_cells( &table, "%s\t%s\tto %s\t%s\t%s", scene->name,
                generator_families[scene->family].word, text_size( scene->bodies_most, size ),
                scene->has_parts ? "-" : "yes", scene->about );
        }
    }
    text_table_print( &table, stdout );
    return LAB_DONE;
}

static json_value* scene_value( const generator* scene )
{
    json_value* value = json_object();
    json_value* types = json_array();
    json_put_text( value, "name", scene->name );
    json_put_text( value, "family", generator_families[scene->family].word );
    json_put_text( value, "about", scene->about );
    json_put_count( value, "objects_most", scene->bodies_most );
    json_put_bool( value, "contacts", !scene->has_parts );
    for ( const choice* type = body_types; type->word != NULL; ++type )
    {
        json_put_text( types, NULL, type->word );
    }
    json_put( value, "types", types );
    return value;
}

static lab_status print_json( const scenes_flags* flags )
{
    json_value* root = json_object();
    json_value* list = json_array();
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        if ( is_wanted( flags, generator_at( index ) ) )
        {
            json_put( list, NULL, scene_value( generator_at( index ) ) );
        }
    }
    json_put( root, "scenes", list );
    return json_print( root );
}

static lab_status show( void* data, text_list* operands )
{
    (void)operands;
    const scenes_flags* flags = data;
    return flags->json ? print_json( flags ) : print_table( flags );
}

lab_status command_scenes( int argc, char** argv )
{
    scenes_flags flags = { 0 };
    const args_flag list[] = {
        { "--family", 0, ARGS_TEXTS, &flags.families, "FAMILY,…",
            "these alone: free, packed, broadmark, ray-kd, k-dop, hard, worst, odd (default all)", 0, 0 },
        { "--json", 0, ARGS_SWITCH, &flags.json, NULL, "print JSON", 0, 0 },
    };
    const args_words words[] = { { "--family", generator_families }, { NULL, NULL } };
    const args_table table = {
        .command = "scenes",
        .usage = "[--family FAMILY,…] [--json]",
        .about =
            "List every scene: what it shows, how many objects it can have, and whether its bodies touch and push\n"
            "each other (contacts) or pass through each other.",
        .notes =
            "Families: free (bodies fly), packed (side by side, at rest), broadmark (Broadmark's three), ray-kd and k-dop (of the\n"
            "papers of these names), hard (scenes that hurt, with contacts), worst (without), odd (worlds that are no cube).\n"
            "`cleave gen` bakes a scene into a file; bench, verify, view and others take it as a WHAT, such as\n"
            "gravity:32k:assorted@150+60: size, type (cubes or assorted), first frame and number of frames.\n"
            "docs/lab.md tells what each is made of, and how to write one's own.",
        .example = "  cleave scenes\n  cleave scenes --family broadmark,odd --json",
        ARGS_FLAGS( list ),
        .words = words,
    };
    lab_status status = args_run( &table, argc, argv, show, &flags );
    text_list_free( &flags.families );
    return status;
}
