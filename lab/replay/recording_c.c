// SPDX-License-Identifier: MIT
// A recording as a C program against the public headers alone. The calls are those of the table of calls;
// pairs that it expects are brute force's.
#include "lab/base/output_file.h"
#include "lab/base/text.h"
#include "lab/replay/replay.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct c_text
{
    const recording* source;
    const char* from;
    replay_player player;
    lab_error* why;
    bool good;
} c_text;

// ---- numbers

static void print_real( FILE* stream, double value, bool is_float )
{
    if ( isnan( value ) || isinf( value ) )
    {
        fprintf( stream, "%s%s", value < 0 ? "-" : "", isnan( value ) ? "NAN" : "INFINITY" );
        return;
    }
    char text[48];
    snprintf( text, sizeof( text ), is_float ? "%.9g" : "%.17g", value );
    bool is_whole = strpbrk( text, ".e" ) == NULL;
    fprintf( stream, "%s%s%s", text, is_whole ? ".0" : "", is_float ? "f" : "" );
}

static double real_at( const void* data, uint64_t index, bool is_float )
{
    return is_float ? (double)( (const float*)data )[index] : ( (const double*)data )[index];
}

// An entry of a column of floats or doubles; boxes have two corners.
static void print_reals(
    FILE* stream, const void* data, uint64_t first, uint32_t units, bool is_float, bool is_box )
{
    uint32_t corner = is_box ? units / 2 : units;
    fprintf( stream, units > 1 ? "{ %s" : "%s", is_box ? "{ " : "" );
    for ( uint32_t i = 0; i < units; ++i )
    {
        fprintf( stream, "%s", i == 0 ? "" : i % corner == 0 ? " }, { " : ", " );
        print_real( stream, real_at( data, first + i, is_float ), is_float );
    }
    fprintf( stream, "%s%s", is_box ? " }" : "", units > 1 ? " }" : "" );
}

static void print_entry( FILE* stream, space_column column, const void* data, uint32_t index )
{
    const record_column* row = &clv_record_columns[column];
    const clv_filter* filter = (const clv_filter*)data + index;
    switch ( column )
    {
    case SPACE_COLUMN_user_data:
        fprintf( stream, "UINT64_C( %" PRIu64 " )", ( (const uint64_t*)data )[index] );
        return;
    case SPACE_COLUMN_is_static:
        fprintf( stream, "%s", ( (const bool*)data )[index] ? "true" : "false" );
        return;
    case SPACE_COLUMN_filters:
        fprintf( stream, "{ UINT64_C( %" PRIu64 " ), UINT64_C( %" PRIu64 " ), %" PRId32 " }",
            filter->category, filter->mask, filter->group );
        return;
    default:
        print_reals( stream, data, (uint64_t)index * row->units, row->units, row->unit == 4,
            column <= SPACE_COLUMN_boxes64 );
    }
}

// ---- one call

static void print_column( FILE* stream, const space_call* call, space_column column )
{
    const void* data = record_column_of( &call->with, column );
    if ( data == NULL || call->count == 0 )
    {
        return;
    }
    fprintf( stream, "        static const %s %s[] = {\n", clv_record_columns[column].type,
        clv_record_columns[column].name );
    for ( uint32_t i = 0; i < call->count; ++i )
    {
        fprintf( stream, "            " );
        print_entry( stream, column, data, i );
        fprintf( stream, ",\n" );
    }
    fprintf( stream, "        };\n" );
}

static void print_ids( FILE* stream, const replay_player* player, const space_call* call )
{
    fprintf( stream, "        static const clv_id ids[] = {" );
    for ( uint32_t i = 0; i < call->count; ++i )
    {
        clv_id id = call->ids[i];
        id = id.generation != PLAYER_OBJECT   ? id
            : id.index < player->object_count ? player->objects[id.index]
                                              : clv_null_id();
        fprintf( stream, "%s{ %" PRIu32 ", %" PRIu32 " },", i % 8 == 0 ? "\n            " : " ", id.index,
            id.generation );
    }
    fprintf( stream, "\n        };\n" );
}

// The call of the table, with the arrays above in place of the members of a space_call.
static void print_expression( FILE* stream, const space_call* call )
{
    static const struct
    {
        const char *member, *text;
    } names[] = { { "&call->with", "&with" }, { "call->with.", "" }, { "call->", "" }, { NULL, NULL } };
    const char* at = clv_record_kind( call->kind )->call;
    while ( *at != '\0' )
    {
        int i = 0;
        while ( names[i].member != NULL && strncmp( at, names[i].member, strlen( names[i].member ) ) != 0 )
        {
            i += 1;
        }
        if ( names[i].member != NULL )
        {
            fprintf( stream, "%s", names[i].text );
            at += strlen( names[i].member );
        }
        else
        {
            fputc( *at++, stream );
        }
    }
}

static void print_arguments( FILE* stream, const replay_player* player, const space_call* call )
{
    space_call_form form = clv_record_kind( call->kind )->form;
    for ( uint32_t i = 0; i < SPACE_COLUMN_COUNT; ++i )
    {
        print_column( stream, call, i );
    }
    if ( form == SPACE_ABOUT_OBJECTS )
    {
        print_ids( stream, player, call );
    }
    if ( form == SPACE_ABOUT_NEW )
    {
        fprintf( stream, "        clv_id made[%" PRIu32 "];\n", call->count );
    }
    if ( form == SPACE_ABOUT_NEW || form == SPACE_ABOUT_OBJECTS )
    {
        fprintf( stream, "        const uint32_t count = %" PRIu32 ";\n", call->count );
    }
    if ( call->kind == SPACE_CALL_ADD_WITH )
    {
        fprintf( stream, "        clv_add_def with = clv_default_add_def();\n" );
        for ( uint32_t i = 0; i < SPACE_COLUMN_COUNT; ++i )
        {
            if ( record_column_of( &call->with, i ) != NULL )
            {
                fprintf( stream, "        with.%s = %s;\n", clv_record_columns[i].name,
                    clv_record_columns[i].name );
            }
        }
    }
    if ( call->kind == SPACE_CALL_SHIFT_ORIGIN )
    {
        fprintf( stream, "        const clv_vec64 origin = { %.17g, %.17g, %.17g };\n", call->origin.x,
            call->origin.y, call->origin.z );
    }
}

static void print_pairs( FILE* stream, uint64_t index, const clv_space* space )
{
    clv_pair_view view = clv_space_pairs( space );
    verdict_list list = { 0 };
    verdict_list_set( &list, view.pairs, view.count );
    verdict_list_sort( &list );
    fprintf( stream, "        static const clv_pair pairs[] = {" );
    for ( uint64_t i = 0; i < list.count; ++i )
    {
        fprintf( stream, "%s{ %" PRIu32 ", %" PRIu32 " },", i % 8 == 0 ? "\n            " : " ",
            list.items[i].a, list.items[i].b );
    }
    fprintf( stream, "%s\n        };\n        check_pairs( space, pairs, %" PRIu64 ", %" PRIu64 " );\n",
        list.count == 0 ? "\n            { 0, 0 }, // none" : "", list.count, index );
    verdict_list_free( &list );
}

// Questions are left out: what brute force would answer is not known here.
static bool is_told( const space_call* call )
{
    space_call_form form = clv_record_kind( call->kind )->form;
    return form != SPACE_ABOUT_QUERIES && form != SPACE_ABOUT_SPACES && call->kind != SPACE_CALL_VISIT &&
        ( call->count > 0 || form == SPACE_ABOUT_ALL || form == SPACE_ABOUT_PAIRS );
}

static bool print_call( FILE* stream, c_text* text, uint64_t index )
{
    const recorded_call* call = &text->source->calls[index];
    record_answer answer;
    bool tells = is_told( &call->call );
    if ( tells )
    {
        fprintf( stream, "    {\n" );
        print_arguments( stream, &text->player, &call->call );
    }
    if ( !player_play( &text->player, call, &answer, text->why ) )
    {
        return false;
    }
    if ( !tells )
    {
        fprintf( stream, "    // call %" PRIu64 ", %s, is left out\n", index,
            clv_record_kind( call->call.kind )->name );
        return true;
    }
    fprintf( stream, "        check( " );
    print_expression( stream, &call->call );
    fprintf( stream, " == %s, \"%s\", %" PRIu64 " );\n", clv_result_name( answer.result ),
        clv_record_kind( call->call.kind )->name, index );
    if ( call->call.kind == SPACE_CALL_UPDATE && answer.result == CLV_OK )
    {
        print_pairs( stream, index, text->player.space );
    }
    fprintf( stream, "    }\n" );
    return true;
}

// ---- the program

// What the callback allowed; what it refused last is in the list.
static void print_filter( FILE* stream, const recording* source, const replay_player* player )
{
    (void)player;
    fprintf( stream,
        "static bool allow( const clv_space* space, clv_pair pair, void* user )\n{\n"
        "    static const clv_pair refused[] = {\n" );
    for ( uint64_t c = 0; c < source->call_count; ++c )
    {
        const recorded_call* call = &source->calls[c];
        for ( uint64_t i = 0; i < call->decided_count; ++i )
        {
            if ( call->decided_yes[i] == 0 )
            {
                fprintf( stream, "        { %" PRIu32 ", %" PRIu32 " },\n", call->decided[i].a,
                    call->decided[i].b );
            }
        }
    }
    fprintf( stream,
        "        { UINT32_MAX, UINT32_MAX },\n    };\n    (void)space;\n    (void)user;\n"
        "    return !has_pair( refused, sizeof( refused ) / sizeof( refused[0] ), pair );\n}\n\n" );
}

static void print_def( FILE* stream, const recording* source )
{
    const clv_space_def usual = clv_default_space_def();
    fprintf( stream, "    clv_space_def def = clv_default_space_def();\n    def.method = \"%s\";\n",
        source->method );
    if ( source->settings[0] != '\0' )
    {
        fprintf( stream, "    def.settings = \"%s\";\n", source->settings );
    }
#define print_field_WHOLE( name )                                                                            \
    fprintf( stream, "    def." #name " = %" PRIu64 ";\n", (uint64_t)source->def.name )
#define print_field_REAL( name )                                                                             \
    ( fprintf( stream, "    def." #name " = " ), print_real( stream, (double)source->def.name, true ),       \
        fprintf( stream, ";\n" ) )
#define FIELD( name, type, sort )                                                                            \
    if ( memcmp( &source->def.name, &usual.name, sizeof( usual.name ) ) != 0 && !is_machine( #name ) )       \
    {                                                                                                        \
        print_field_##sort( name );                                                                          \
    }
#define is_machine( name ) ( strcmp( name, "isa" ) == 0 || strcmp( name, "worker_count" ) == 0 )
    RECORD_FIELDS( FIELD )
#undef FIELD
    if ( source->has_filter )
    {
        fprintf( stream, "    def.filter = allow;\n" );
    }
}

static void print_program( FILE* stream, const void* user )
{
    c_text* text;
    memcpy( &text, user, sizeof( text ) );
    const recording* source = text->source;
    bool is_core = strcmp( source->method, "cleave" ) == 0 || strcmp( source->method, "brute" ) == 0;
    fprintf( stream,
        "// Made by `cleave replay %s --c`: fails while the pairs are not those of brute force.\n",
        text_base_name( text->from ) );
    fprintf( stream, "#include \"cleave/cleave.h\"\n%s%s", is_core ? "" : "#include \"cleave/methods.h\"\n",
        carried_find( "lab/replay/program.txt" )->text );
    if ( source->has_filter )
    {
        print_filter( stream, source, &text->player );
    }
    fprintf( stream, "int main( void )\n{\n" );
    print_def( stream, source );
    fprintf( stream,
        "%s    clv_space* space = NULL;\n    if ( clv_space_create( &def, &space ) != CLV_OK )\n"
        "    {\n        printf( \"no space\\n\" );\n        return 2;\n    }\n",
        is_core ? "" : "    clv_methods_register();\n" );
    for ( uint64_t i = 0; i < source->call_count && text->good; ++i )
    {
        text->good = print_call( stream, text, i );
    }
    fprintf( stream,
        "    clv_space_destroy( space );\n    printf( s_failures == 0 ? \"fine\\n\" : \"%%d failures\\n\", "
        "s_failures );\n    return s_failures == 0 ? 0 : 1;\n}\n" );
}

bool recording_write_c( const recording* source, const char* from, const char* path, lab_error* why )
{
    c_text text = { .source = source, .from = from, .why = why, .good = true };
    clv_space_def brute = replay_brute();
    c_text* self = &text;
    bool good = player_begin( &text.player, source, &brute, true, why ) &&
        output_file_print( path, print_program, &self, why ) && text.good;
    player_end( &text.player );
    return good;
}
