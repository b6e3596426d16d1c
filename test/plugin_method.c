// SPDX-License-Identifier: MIT
// A plug-in for test_plugin.c, built from cleave/method.h alone: every box against every other, on as many
// workers as there are, with memory, log and account used as a method may. Definitions make bad ones of it:
//   PLUGIN_NAME      another name than "plugged"
//   PLUGIN_VERSION   another version of the row
//   PLUGIN_FUTURE    a plug-in that was built for another host
//   PLUGIN_NO_ENTRY  no entry at all
//   PLUGIN_FORGETS   no pair at all from the third update on
//   PLUGIN_INVENTS   a pair that is none, from the third update on: the first two objects
//   PLUGIN_STRAYS    a pair with a slot that is not there, in the third update
#include <cleave/method.h>

#ifndef PLUGIN_NAME
#define PLUGIN_NAME "plugged"
#endif
#ifndef PLUGIN_VERSION
#define PLUGIN_VERSION CLV_METHOD_VERSION
#endif

enum
{
    ROWS = 64, // of a piece
    CHARGED = 4096,
};

typedef struct plugged
{
    const clv_method_context* context;
    const clv_method_input* input; ///< of the update under way
    uint8_t* touches;              ///< by object of the row and object, for the pieces' rows
    size_t touch_size;
    uint32_t first; ///< row of the first piece
    uint32_t update_count;
} plugged;

static void* create( const clv_method_context* context )
{
    plugged* self = context->memory.allocate( sizeof( plugged ), 64, context->memory.user );
    if ( self != NULL )
    {
        *self = ( plugged ){ .context = context };
        context->account.charge( CHARGED, context->account.user );
        context->logger.write( CLV_LOG_INFO, "plugged in", context->logger.user );
    }
    return self;
}

static void give_touches( plugged* self )
{
    if ( self->touches != NULL )
    {
        self->context->memory.release( self->touches, self->touch_size, 64, self->context->memory.user );
    }
    self->touches = NULL;
    self->touch_size = 0;
}

static void destroy( void* state )
{
    plugged* self = state;
    const clv_method_context* context = self->context;
    give_touches( self );
    context->account.charge( -CHARGED, context->account.user );
    context->memory.release( self, sizeof( plugged ), 64, context->memory.user );
}

// One row against all behind it.
static void test_row( uint32_t index, uint32_t worker, void* data )
{
    (void)worker;
    plugged* self = data;
    const clv_method_input* input = self->input;
    uint32_t row = self->first + index;
    uint8_t* touches = self->touches + (size_t)index * input->live_count;
    clv_aabb box = input->boxes[clv_method_live_slot( input, row )];
    for ( uint32_t i = row + 1; i < input->live_count; ++i )
    {
        touches[i] = clv_aabb_overlap( box, input->boxes[clv_method_live_slot( input, i )] );
    }
}

// What a bad one makes of what it found.
static bool is_told( const plugged* self, uint32_t row, uint32_t other, bool touches )
{
    bool is_late = self->update_count >= 3;
#if defined( PLUGIN_FORGETS )
    (void)row;
    (void)other;
    return touches && !is_late;
#elif defined( PLUGIN_INVENTS )
    return touches || ( is_late && row == 0 && other == 1 );
#else
    (void)is_late;
    (void)row;
    (void)other;
    return touches;
#endif
}

static clv_result put_rows( plugged* self, uint32_t count, clv_pair_sink* sink )
{
    const clv_method_input* input = self->input;
    clv_result result = CLV_OK;
    for ( uint32_t index = 0; index < count; ++index )
    {
        uint32_t row = self->first + index;
        const uint8_t* touches = self->touches + (size_t)index * input->live_count;
        for ( uint32_t i = row + 1; i < input->live_count && result == CLV_OK; ++i )
        {
            if ( is_told( self, row, i, touches[i] ) )
            {
                result = clv_pair_sink_put(
                    sink, clv_method_live_slot( input, row ), clv_method_live_slot( input, i ) );
            }
        }
    }
    return result;
}

static clv_result update(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    plugged* self = state;
    size_t needed = (size_t)ROWS * input->live_count;
    if ( needed > self->touch_size )
    {
        give_touches( self );
        self->touches = self->context->memory.allocate( needed, 64, self->context->memory.user );
        if ( self->touches == NULL )
        {
            return CLV_OUT_OF_MEMORY;
        }
        self->touch_size = needed;
    }
    self->input = input;
    self->update_count += 1;
    clv_result result = CLV_OK;
    for ( self->first = 0; self->first < input->live_count && result == CLV_OK; self->first += ROWS )
    {
        uint32_t left = input->live_count - self->first;
        uint32_t count = left < ROWS ? left : ROWS;
        self->context->tasks.run( test_row, count, self, self->context->tasks.user );
        result = put_rows( self, count, sink );
    }
#if defined( PLUGIN_STRAYS )
    if ( self->update_count == 3 && result == CLV_OK )
    {
        result = clv_pair_sink_put( sink, 1, input->slot_count + 1000000000 );
    }
#endif
    counters->test_count = (uint64_t)input->live_count * input->live_count / 2;
    return result;
}

static const clv_method_param s_params[] = {
    { "plugged.nothing", 1, 0, 2, true, "changes nothing" },
};

static const clv_method s_rows[] = {
    {
        .size = sizeof( clv_method ),
        .version = PLUGIN_VERSION,
        .name = PLUGIN_NAME,
        .family = "brute force",
        .source = "tests",
        .licence = "MIT",
        .time_cost = "O(n^2)",
        .space_cost = "O(n)",
        .has_threads = true,
        .params = s_params,
        .param_count = 1,
        .create = create,
        .destroy = destroy,
        .update = update,
        .shrink = NULL,
    },
};

#ifdef PLUGIN_NO_ENTRY
CLV_PLUGIN const clv_method* plugin_rows( void );

CLV_PLUGIN const clv_method* plugin_rows( void )
{
    return s_rows;
}
#else
CLV_PLUGIN clv_result clv_plugin_register( const clv_plugin_host* host )
{
#ifdef PLUGIN_FUTURE
    clv_plugin_host other = *host;
    other.version += 1;
    host = &other;
#endif
    return clv_plugin_register_all( host, s_rows, 1 );
}
#endif
