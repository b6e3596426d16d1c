// SPDX-License-Identifier: MIT
// Birth, death and description of a space.
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/fp_mode.h"
#include "object/test_box.h"
#include "space/instrument.h"

#include <stdio.h>
#include <string.h>

#define COOKIE 0xC1EA7Eu

clv_space_def clv_default_space_def( void )
{
    clv_space_def def;
    memset( &def, 0, sizeof( def ) );
    def.size = (uint32_t)sizeof( def );
    def.cookie = COOKIE;
    def.isa = CLV_ISA_AUTO;
    def.worker_count = 1;
    return def;
}

static clv_result refuse_def( const clv_space_def* def, clv_result code, const char* line )
{
    clv_space_log( &def->logger, CLV_LOG_ERROR, line );
    return code;
}

// What is wrong with it, or NULL.
static const char* check_space_def( const clv_space_def* def )
{
    return !object_is_margin( def->margin ) ? "def.margin must be finite and at least 0"
        : !object_is_margin( def->margin_by_size ) || !object_is_margin( def->margin_by_speed )
        ? "def.margin_by_size and margin_by_speed must be finite and at least 0"
        : def->doubles && def->flat ? "def.doubles and def.flat cannot be had together"
        : ( def->allocator.allocate == NULL ) != ( def->allocator.release == NULL )
        ? "def.allocator needs both allocate and release, or neither"
        : def->capacity > CLV_MAX_OBJECTS ? "def.capacity is above CLV_MAX_OBJECTS"
        : def->worker_count < 1 || def->worker_count > CLV_MAX_WORKERS
        ? "def.worker_count must be from 1 to CLV_MAX_WORKERS"
        : !( def->worker_spin_ms >= 0 && def->worker_spin_ms <= CLV_MAX_SPIN_MS )
        ? "def.worker_spin_ms must be from 0 to CLV_MAX_SPIN_MS"
        : NULL;
}

static clv_result choose_kernels( const clv_space_def* def, const simd_kernels** kernels )
{
    char line[160];
    *kernels = clv_simd_kernels_choose( def->isa, line, sizeof( line ) );
    return *kernels != NULL ? CLV_OK : refuse_def( def, CLV_UNSUPPORTED, line );
}

static bool reserve_all( clv_space* space )
{
    const clv_space_def* def = &space->def;
    object_store* objects = &space->objects;
    return ( !def->doubles || clv_object_store_use( objects, OBJECT_BOX64 ) ) &&
        clv_object_store_reserve( objects, def->capacity ) &&
        ( def->margin == 0 || clv_object_store_use_margins( objects ) ) &&
        ( ( def->margin_by_size == 0 && def->margin_by_speed == 0 ) ||
            clv_object_store_use_margins_by( objects ) ) &&
        ( !def->events || clv_object_store_use( objects, OBJECT_REPORTED ) ) &&
        ( def->filter == NULL || clv_object_store_use( objects, OBJECT_ASK ) ) &&
        ( def->pair_capacity == 0 || base_array_reserve( &space->list, &space->memory, def->pair_capacity ) );
}

static void write_line( clv_log_level level, const char* line, void* user )
{
    const clv_space* space = user;
    clv_space_log( &space->def.logger, level, line );
}

// What the method is given; the workers are there by now.
static void fill_context( clv_space* space, const double* params )
{
    space->context =
        clv_method_host_context( &space->memory, &space->tasks, space->kernels->isa, &space->stats.reasons );
    space->context.stage_times = space->def.stage_times;
    space->context.logger = ( clv_logger ){ write_line, space };
    memcpy( space->context.params, params, sizeof( space->context.params ) );
}

static clv_result build( const clv_space_def* def, const clv_method* row, const simd_kernels* kernels,
    const double* params, clv_space** out )
{
    base_memory memory = clv_base_memory_make( def->allocator );
    clv_space* space = clv_base_memory_take( &memory, 1, sizeof( clv_space ) );
    if ( space == NULL )
    {
        return refuse_def( def, CLV_OUT_OF_MEMORY, "out of memory for a space" );
    }
    memset( space, 0, sizeof( *space ) );
    space->memory = memory;
    space->def = *def;
    space->def.method = row->name;
    space->def.settings = NULL; // parsed; the caller's string may go away
    space->method = row;
    space->kernels = kernels;
    clv_margin_rule margin = { def->margin, def->margin_by_size, def->margin_by_speed };
    space->objects = clv_object_store_make( &space->memory, margin );
    space->objects.kernels = kernels;
    space->objects.is_flat = def->flat;
    clv_query_state_init( &space->query );
    clv_space_succeed( space );
    // A method without threads is given none, whatever the def says.
    uint32_t worker_count = row->has_threads ? def->worker_count : 1;
    if ( !clv_task_runner_start(
             &space->tasks, worker_count, def->worker_spin_ms, def->tasks, &space->memory ) )
    {
        clv_space_destroy( space );
        return refuse_def(
            def, CLV_OUT_OF_MEMORY, "the threads that def.worker_count asks for could not be had" );
    }
    fill_context( space, params );
    space->method_state = row->create( &space->context );
    if ( space->method_state == NULL || !reserve_all( space ) )
    {
        clv_space_destroy( space );
        return refuse_def( def, CLV_OUT_OF_MEMORY, "out of memory for what the def reserves" );
    }
    *out = space;
    return CLV_OK;
}

static BASE_COLD clv_result create_space( const clv_space_def* given, clv_space** space )
{
    if ( given->cookie != COOKIE || given->size != sizeof( clv_space_def ) )
    {
        // Not even its logger can be trusted.
        return CLV_BAD_DEF;
    }
    clv_space_def def = *given;
    const char* bad = check_space_def( &def );
    if ( bad != NULL )
    {
        return refuse_def( &def, CLV_BAD_DEF, bad );
    }
    char line[192];
    const char* name = def.method != NULL ? def.method : METHOD_DEFAULT;
    const clv_method* row = clv_method_find_bare( name );
    if ( row == NULL )
    {
        snprintf( line, sizeof( line ), "there is no method '%.60s'; `cleave methods` lists them", name );
        return refuse_def( &def, CLV_BAD_DEF, line );
    }
    if ( row->missing != NULL )
    {
        snprintf( line, sizeof( line ), "method %.40s is not available: %.100s", name, row->missing );
        return refuse_def( &def, CLV_UNSUPPORTED, line );
    }
    double params[CLV_METHOD_PARAMS] = { 0 };
    if ( !clv_method_parse_settings( row, def.settings, params, line, sizeof( line ) ) )
    {
        return refuse_def( &def, CLV_BAD_DEF, line );
    }
    const simd_kernels* kernels = NULL;
    clv_space* made = NULL;
    clv_result result = choose_kernels( &def, &kernels );
    if ( result == CLV_OK )
    {
        result = build( &def, row, kernels, params, &made );
    }
    if ( result == CLV_OK )
    {
        snprintf(
            line, sizeof( line ), "space with method %s on %s", row->name, clv_isa_name( kernels->isa ) );
        clv_space_log(
            &def.logger, CLV_LOG_INFO, line ); // the logger cannot call back into a space it has not got yet
    }
    *space = made;
    return result;
}

clv_result clv_space_create( const clv_space_def* given, clv_space** space )
{
    CLV_ASSERT( given != NULL && space != NULL );
    *space = NULL;
    base_fp_mode mode = base_fp_enter();
    clv_result result = create_space( given, space );
    CLV_ASSERT( ( result == CLV_OK ) == ( *space != NULL ) );
    base_fp_leave( mode );
    return result;
}

#define GIVE_ARRAY( member )                                                                                 \
    clv_base_memory_give(                                                                                    \
        &space->memory, space->member.items, space->member.capacity, sizeof( *space->member.items ) );
#define FREE_ARRAY( member ) base_array_free( &space->member, &space->memory );
#define SHRINK_ARRAY( member ) base_array_shrink( &space->member, &space->memory )&&

BASE_COLD void clv_space_destroy( clv_space* space )
{
    if ( space == NULL || !clv_space_enter( space, NULL ) )
    {
        return; // in the second case a call further up the stack works with it
    }
    if ( space->tap != NULL )
    {
        space->tap->leave( space->tap );
    }
    if ( space->method_state != NULL )
    {
        space->method->destroy( space->method_state );
    }
    clv_task_runner_stop( &space->tasks, &space->memory );
    SPACE_LASTING( GIVE_ARRAY )
    SPACE_PASSING( GIVE_ARRAY )
    clv_pair_keys_free( &space->decisions, &space->memory );
    clv_pair_keys_free( &space->next_decisions, &space->memory );
    clv_far_fit_free( &space->far, &space->memory );
    clv_object_store_free( &space->objects );
    clv_query_state_free( &space->query, &space->memory );
    CLV_ASSERT( space->memory.bytes == sizeof( clv_space ) );
    base_memory memory = space->memory; // the space holds the memory that holds the space
    base_fp_mode mode = space->mode;
    clv_base_memory_give( &memory, space, 1, sizeof( clv_space ) );
    base_fp_leave( mode );
}

clv_result clv_space_shrink( clv_space* space )
{
    if ( !SPACE_ENTER( space, .kind = SPACE_CALL_SHRINK ) )
    {
        return CLV_BUSY;
    }
    space->lists_are_busy = true;
    space->list_number += 1;
    base_memory* memory = &space->memory;
    if ( space->method->shrink != NULL )
    {
        space->method->shrink( space->method_state );
    }
    clv_query_state_shrink( &space->query, memory );
    SPACE_PASSING( FREE_ARRAY )
    clv_pair_keys_free( &space->next_decisions, memory );
    clv_far_fit_shrink( &space->far, memory );
    filter_classes_forget( &space->filter_classes );
    if ( space->list_is_valid ) // then the other list is a spare buffer
    {
        space->last_list.count = 0;
        space->last_words.count = 0;
    }
    bool ok = SPACE_LASTING( SHRINK_ARRAY ) clv_object_store_shrink( &space->objects );
    clv_result result = ok ? clv_space_succeed( space )
                           : clv_space_fail( space, CLV_OUT_OF_MEMORY, UINT32_MAX, clv_null_id(),
                                 "out of memory for the smaller copies that shrinking needs" );
    return clv_space_leave( space, result );
}

clv_stats clv_space_stats( const clv_space* space )
{
    clv_stats stats = { 0 };
    if ( !space->lists_are_busy )
    {
        stats = space->stats;
    }
    stats.update_count = space->stats.update_count;
    stats.object_count = space->objects.live_count;
    stats.slot_count = space->objects.slot_count;
    base_memory memory = clv_space_memory( space );
    stats.memory_bytes = memory.bytes;
    stats.memory_peak_bytes = memory.peak_bytes;
    stats.allocation_count = memory.allocation_count;
    return stats;
}

const char* clv_space_method( const clv_space* space )
{
    return space->method->name;
}

uint32_t clv_space_worker_count( const clv_space* space )
{
    return task_worker_count( &space->tasks );
}

clv_isa clv_space_isa( const clv_space* space )
{
    return space->kernels->isa;
}

uint32_t clv_space_report( const clv_space* space, clv_method_figure* figures, uint32_t capacity )
{
    const clv_method* row = clv_method_find( space->method->name );
    CLV_ASSERT( row != NULL );
    return row->report != NULL ? row->report( space->method_state, figures, capacity ) : 0;
}

size_t clv_space_dump( clv_space* space, char* text, size_t text_size )
{
    const clv_method* row = space->method;
    return row->dump != NULL ? row->dump( space->method_state, text, text_size ) : 0;
}
