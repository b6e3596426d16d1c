// SPDX-License-Identifier: MIT
#include "world_changes.h"

#include <stdlib.h>
#include <string.h>

static void write_float( void* boxes, uint32_t at, const clv_aabb64* box, const int axes[3] )
{
    (void)axes;
    clv_aabb* out = (clv_aabb*)boxes + at;
    for ( int k = 0; k < 6; ++k )
    {
        ( &out->lower.x )[k] = (float)( &box->lower.x )[k];
    }
}

// Without the shortest axis.
static void write_flat( void* boxes, uint32_t at, const clv_aabb64* box, const int axes[3] )
{
    clv_aabb2* out = (clv_aabb2*)boxes + at;
    for ( int k = 0; k < 2; ++k )
    {
        ( &out->lower.x )[k] = (float)( &box->lower.x )[axes[k]];
        ( &out->upper.x )[k] = (float)( &box->upper.x )[axes[k]];
    }
}

static void write_double( void* boxes, uint32_t at, const clv_aabb64* box, const int axes[3] )
{
    (void)axes;
    ( (clv_aabb64*)boxes )[at] = *box;
}

static clv_result add_float( clv_space* space, const void* boxes, uint32_t count, clv_id* ids )
{
    return clv_space_add( space, boxes, count, ids );
}

static clv_result add_flat( clv_space* space, const void* boxes, uint32_t count, clv_id* ids )
{
    return clv_space_add2( space, boxes, count, ids );
}

static clv_result add_double( clv_space* space, const void* boxes, uint32_t count, clv_id* ids )
{
    return clv_space_add64( space, boxes, count, ids );
}

static clv_result move_float( clv_space* space, const clv_id* ids, const void* boxes, uint32_t count )
{
    return clv_space_move( space, ids, boxes, count );
}

static clv_result move_flat( clv_space* space, const clv_id* ids, const void* boxes, uint32_t count )
{
    return clv_space_move2( space, ids, boxes, count );
}

static clv_result move_double( clv_space* space, const clv_id* ids, const void* boxes, uint32_t count )
{
    return clv_space_move64( space, ids, boxes, count );
}

const world_form world_forms[WORLD_FORMS] = { { "float", sizeof( clv_aabb ), write_float, add_float,
                                                  move_float },
    { "flat", sizeof( clv_aabb2 ), write_flat, add_flat, move_flat },
    { "double", sizeof( clv_aabb64 ), write_double, add_double, move_double } };

const char* const world_ways[] = { "update", "events", "visit", "one-shot" };

world_way world_way_draw( uint64_t seed )
{
    uint64_t form = random_world_hash( seed, 1, UINT64_MAX ) % 20;
    uint64_t way = random_world_hash( seed, 2, UINT64_MAX ) % 20;
    return ( world_way ){ .form = form < 14 ? WORLD_FLOAT
            : form < 17                     ? WORLD_FLAT
                                            : WORLD_DOUBLE,
        .way = way < 11 ? WAY_UPDATE
            : way < 14  ? WAY_EVENTS
            : way < 17  ? WAY_VISIT
                        : WAY_ONE_SHOT,
        .may_rest = random_world_hash( seed, 3, UINT64_MAX ) % 2 == 0,
        .hands_all = random_world_hash( seed, 4, UINT64_MAX ) % 2 == 0 };
}

void world_way_define( const world_way* self, clv_space_def* def )
{
    bool is_default = def->method == NULL || strcmp( def->method, "cleave" ) == 0;
    def->settings = is_default && !self->may_rest ? "cleave.rest=0" : NULL;
    def->flat = self->form == WORLD_FLAT;
    def->doubles = self->form == WORLD_DOUBLE;
    def->events = self->way == WAY_EVENTS;
}

static bool open_batch( world_batch* self, const world_changes* changes )
{
    size_t count = changes->world->count + (size_t)1;
    self->indices = calloc( count, sizeof( uint32_t ) );
    self->boxes = calloc( count, world_forms[changes->way.form].box_size );
    return self->indices != NULL && self->boxes != NULL;
}

static void close_batch( world_batch* self )
{
    free( self->indices );
    free( self->boxes );
}

bool world_changes_open( world_changes* self, random_world* world, world_way way )
{
    *self = ( world_changes ){ .world = world, .way = way };
    self->last = calloc( world->count + (size_t)1, sizeof( clv_aabb64 ) );
    self->was_alive = calloc( world->count + (size_t)1, sizeof( bool ) );
    bool is_open = open_batch( &self->gone, self );
    is_open = open_batch( &self->moved, self ) && is_open;
    is_open = open_batch( &self->come, self ) && is_open;
    return is_open && self->last != NULL && self->was_alive != NULL;
}

void world_changes_close( world_changes* self )
{
    close_batch( &self->gone );
    close_batch( &self->moved );
    close_batch( &self->come );
    free( self->last );
    free( self->was_alive );
}

static void list( const world_changes* self, world_batch* to, uint32_t index )
{
    const random_world* world = self->world;
    world_forms[self->way.form].write( to->boxes, to->count, &world->boxes[index], world->axes );
    to->indices[to->count++] = index;
}

void world_changes_list( world_changes* self, uint32_t update )
{
    random_world* world = self->world;
    random_world_show( world, update );
    self->gone.count = self->moved.count = self->come.count = self->box_count = 0;
    bool is_new = self->way.way == WAY_ONE_SHOT;
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        bool is_here = world->alive[i], was_here = self->was_alive[i] && !is_new;
        bool has_moved = memcmp( &world->boxes[i], &self->last[i], sizeof( clv_aabb64 ) ) != 0;
        if ( is_here ? !was_here : was_here )
        {
            list( self, is_here ? &self->come : &self->gone, i );
        }
        else if ( is_here && ( has_moved || self->way.hands_all ) )
        {
            list( self, &self->moved, i );
        }
        self->box_count += is_here;
        self->was_alive[i] = is_here;
        self->last[i] = world->boxes[i];
    }
}

bool world_member_open( world_member* self, const random_world* world )
{
    *self = ( world_member ){ .ids = calloc( world->count + (size_t)1, sizeof( clv_id ) ),
        .scratch = calloc( world->count + (size_t)1, sizeof( clv_id ) ) };
    return self->ids != NULL && self->scratch != NULL;
}

void world_member_close( world_member* self )
{
    clv_space_destroy( self->space );
    free( self->ids );
    free( self->scratch );
}

static const clv_id* name_ids( world_member* self, const world_batch* batch )
{
    for ( uint32_t k = 0; k < batch->count; ++k )
    {
        self->scratch[k] = self->ids[batch->indices[k]];
    }
    return self->scratch;
}

static clv_result add( world_member* self, const world_changes* changes )
{
    const world_batch* come = &changes->come;
    clv_result result =
        world_forms[changes->way.form].add( self->space, come->boxes, come->count, self->scratch );
    for ( uint32_t k = 0; result == CLV_OK && k < come->count; ++k )
    {
        self->ids[come->indices[k]] = self->scratch[k];
    }
    return result;
}

clv_result world_member_change(
    world_member* self, const world_changes* changes, int* from, const char** what )
{
    static const char* const s_calls[] = { "remove", "move", "add" };
    const world_batch *gone = &changes->gone, *moved = &changes->moved;
    for ( ; *from < 3; ++*from )
    {
        *what = s_calls[*from];
        clv_result result = *from == 0 ? clv_space_remove( self->space, name_ids( self, gone ), gone->count )
            : *from == 1               ? world_forms[changes->way.form].move(
                                             self->space, name_ids( self, moved ), moved->boxes, moved->count )
                         : add( self, changes );
        if ( result != CLV_OK )
        {
            return result;
        }
    }
    return CLV_OK;
}
