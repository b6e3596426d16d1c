// SPDX-License-Identifier: MIT
#include "cleave/gpu.h"
#include "lab/base/args.h"
#include "lab/base/json.h"
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/measure/plugin.h"
#include "lab/measure/run_spec.h"

#include <stdio.h>
#include <string.h>

// As much as a reason may be long.
#define REASON_ROOM 512

typedef struct methods_flags
{
    bool json;
} methods_flags;

// Whether and why not, for the best variant here.
static bool is_available( const clv_method* row, char* reason, size_t reason_size )
{
    run_spec spec = { row, CLV_ISA_AUTO, 1, NULL, false };
    return run_spec_is_available( &spec, reason, reason_size );
}

static void isa_names( const clv_method* row, char* text, size_t size )
{
    snprintf( text, size, "%s", row->has_isa ? "" : "-" );
    for ( int isa = CLV_ISA_SCALAR; row->has_isa && isa < CLV_ISA_COUNT; ++isa )
    {
        if ( clv_isa_is_supported( (clv_isa)isa ) )
        {
            size_t length = strlen( text );
            snprintf(
                text + length, size - length, "%s%s", length > 0 ? " " : "", clv_isa_name( (clv_isa)isa ) );
        }
    }
}

// A line per reason, with all methods it excludes: the methods of a library stand together.
static void print_missing( void )
{
    const char* last = NULL;
    for ( uint32_t index = 0; index < clv_method_count(); ++index )
    {
        const clv_method* row = clv_method_at( index );
        bool is_like_last = last != NULL && row->missing != NULL && strcmp( last, row->missing ) == 0;
        if ( last != NULL && !is_like_last )
        {
            printf( ": %s\n", last );
        }
        if ( row->missing != NULL )
        {
            printf( "%s%s%s", last == NULL ? "\n" : "", is_like_last ? ", " : "not available: ", row->name );
        }
        last = row->missing;
    }
    if ( last != NULL )
    {
        printf( ": %s\n", last );
    }
}

static const char* yes_no( bool value )
{
    return value ? "yes" : "-";
}

static void print_params( void )
{
    text_table table;
    uint32_t count = 0;
    text_table_begin( &table, "parameter|method|>default|>least|>most|meaning" );
    text_table_leave_out( &table, "most|least" );
    for ( uint32_t index = 0; index < clv_method_count(); ++index )
    {
        const clv_method* row = clv_method_at( index );
        for ( uint32_t param = 0; param < row->param_count; ++param, ++count )
        {
            const clv_method_param* p = &row->params[param];
            text_table_add_cells( &table, "%s\t%s\t%.10g\t%.10g\t%.10g\t%s%s", p->name, row->name, p->value,
                p->least, p->most, p->help, p->whole ? " (whole)" : "" );
        }
    }
    if ( count == 0 )
    {
        text_table_free( &table );
        printf( "\nNo method has parameters.\n" );
        return;
    }
    printf( "\nParameters, for --set name=value,…\n" );
    text_table_print( &table, stdout );
}

static void print_left_out( uint32_t first )
{
    for ( uint32_t index = first; clv_gpu_driver_left_out( index ) != NULL; ++index )
    {
        printf( "Not used: %s.\n", clv_gpu_driver_left_out( index ) );
    }
}

static void print_devices( void )
{
    text_table table;
    if ( clv_gpu_device_count() == 0 )
    {
        printf( "\nNo device for the methods on a GPU: %s.\n", clv_gpu_missing() );
        print_left_out( 1 ); // the first is the reason above
        return;
    }
    bool runs_unasked = device_runs_unasked(); // which may find that one cannot be opened
    text_table_begin( &table, ">device|kind|>units|>memory|driver|usable|platform|name" );
    text_table_leave_out( &table, "platform|driver|memory|usable" );
    for ( uint32_t index = 0; index < clv_gpu_device_count(); ++index )
    {
        clv_gpu_device device;
        clv_gpu_device_at( index, &device );
        text_table_add_cells( &table, "%u\t%s\t%u\t%.1f GB\t%s\t%s\t%s\t%s", index,
            device.is_cpu ? "CPU" : "GPU", device.unit_count, (double)device.memory_bytes * 1e-9,
            device.driver, device.unusable == NULL ? "yes" : "no", device.platform, device.name );
    }
    printf( "\nDevices, for --device NAME|N\n" );
    text_table_print( &table, stdout );
    for ( uint32_t index = 0; index < clv_gpu_device_count(); ++index )
    {
        clv_gpu_device device;
        clv_gpu_device_at( index, &device );
        if ( device.unusable != NULL )
        {
            printf( "Device %u cannot be used: %s.\n", index, device.unusable );
        }
    }
    print_left_out( 0 );
    if ( !runs_unasked )
    {
        printf( "On a CPU's OpenCL methods on a GPU run only when they, or --device, are named.\n" );
    }
}

static bool print_table( void )
{
    text_table table;
    text_table_begin(
        &table, "method|family|time|space|threads|SIMD here|GPU|temporal|remarks|licence|available|source" );
    text_table_leave_out( &table, "GPU|remarks|space|temporal|SIMD here|licence|threads|family" );
    for ( uint32_t index = 0; index < clv_method_count(); ++index )
    {
        const clv_method* row = clv_method_at( index );
        char reason[REASON_ROOM];
        char isas[128];
        bool is_here = is_available( row, reason, sizeof( reason ) );
        isa_names( row, isas, sizeof( isas ) );
        text_table_add_cells( &table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", row->name,
            row->family, row->time_cost, row->space_cost, yes_no( row->has_threads ), isas,
            yes_no( device_is_of( row ) ), yes_no( row->is_temporal ),
            row->remarks != NULL ? row->remarks : "-", row->licence, is_here ? "yes" : "no", row->source );
    }
    text_table_print( &table, stdout );
    print_missing();
    print_devices();
    print_params();
    return true;
}

static json_value* params_value( const clv_method* row )
{
    json_value* list = json_array();
    for ( uint32_t index = 0; index < row->param_count; ++index )
    {
        const clv_method_param* param = &row->params[index];
        json_value* value = json_object();
        json_put_text( value, "name", param->name );
        json_put_number( value, "default", param->value );
        json_put_number( value, "least", param->least );
        json_put_number( value, "most", param->most );
        json_put_bool( value, "whole", param->whole );
        json_put_text( value, "help", param->help );
        json_put( list, NULL, value );
    }
    return list;
}

static json_value* variants_value( const clv_method* row )
{
    json_value* list = json_array();
    for ( int isa = CLV_ISA_SCALAR; row->has_isa && isa < CLV_ISA_COUNT; ++isa )
    {
        if ( clv_isa_is_supported( (clv_isa)isa ) )
        {
            json_put_text( list, NULL, clv_isa_name( (clv_isa)isa ) );
        }
    }
    return list;
}

static json_value* method_value( const clv_method* row )
{
    char reason[REASON_ROOM] = "";
    bool available = is_available( row, reason, sizeof( reason ) );
    json_value* value = json_object();
    json_put_text( value, "name", row->name );
    json_put_text( value, "family", row->family );
    json_put_text( value, "source", row->source );
    json_put_text( value, "licence", row->licence );
    json_put_text( value, "time", row->time_cost );
    json_put_text( value, "space", row->space_cost );
    json_put_text( value, "remarks", row->remarks );
    json_put_bool( value, "threads", row->has_threads );
    json_put_bool( value, "simd", row->has_isa );
    json_put_bool( value, "gpu", device_is_of( row ) );
    json_put_bool( value, "temporal", row->is_temporal );
    json_put_bool( value, "available", available );
    json_put_text( value, "reason", available ? NULL : reason );
    json_put( value, "variants", variants_value( row ) );
    json_put( value, "params", params_value( row ) );
    return value;
}

static json_value* devices_value( void )
{
    json_value* list = json_array();
    for ( uint32_t index = 0; index < clv_gpu_device_count(); ++index )
    {
        clv_gpu_device device;
        json_value* value = json_object();
        clv_gpu_device_at( index, &device );
        json_put_text( value, "name", device.name );
        json_put_text( value, "vendor", device.vendor );
        json_put_text( value, "platform", device.platform );
        json_put_text( value, "driver", device.driver );
        json_put_bool( value, "cpu", device.is_cpu );
        json_put_count( value, "units", device.unit_count );
        json_put_number( value, "memory_bytes", (double)device.memory_bytes );
        json_put_text( value, "unusable", device.unusable );
        json_put( list, NULL, value );
    }
    return list;
}

static json_value* left_out_value( void )
{
    json_value* list = json_array();
    for ( uint32_t index = 0; clv_gpu_driver_left_out( index ) != NULL; ++index )
    {
        json_put_text( list, NULL, clv_gpu_driver_left_out( index ) );
    }
    return list;
}

static bool print_json( lab_error* why )
{
    json_value* root = json_object();
    json_value* list = json_array();
    for ( uint32_t index = 0; index < clv_method_count(); ++index )
    {
        json_put( list, NULL, method_value( clv_method_at( index ) ) );
    }
    json_put( root, "methods", list );
    json_put( root, "devices", devices_value() );
    json_put( root, "drivers_left_out", left_out_value() );
    return json_print( root, why );
}

static bool show( void* data, text_list* operands, lab_error* why )
{
    (void)operands;
    const methods_flags* flags = data;
    return flags->json ? print_json( why ) : print_table();
}

lab_status command_methods( int argc, char** argv )
{
    methods_flags flags = { 0 };
    const args_flag list[] = {
        ARGS_ROW_SWITCH( "--json", &flags.json, "print JSON" ),
    };
    const args_table table = {
        .command = "methods",
        .usage = "[--json]",
        .about =
            "List every algorithm: family, cost in time and space, what it can do, what sets it apart, where it is\n"
            "from, whether it runs here; the devices of methods on a GPU, for --device; and all parameters.",
        .example = "  cleave methods\n  cleave methods --json",
        ARGS_FLAGS( list ),
    };
    return args_run( &table, argc, argv, show, &flags );
}
