// SPDX-License-Identifier: MIT
#include "lab/scene/swarm.h"

#include <stdlib.h>

void* swarm_create( size_t scene_size, const generator_def* def, bool keeps_bodies, swarm_body* body_now )
{
    swarm* self = calloc( 1, scene_size );
    if ( self == NULL )
    {
        return NULL;
    }
    self->bodies = keeps_bodies ? calloc( def->body_count, sizeof( body_state ) ) : NULL;
    if ( keeps_bodies && self->bodies == NULL )
    {
        free( self );
        return NULL;
    }
    self->def = *def;
    self->body_now = body_now;
    parallel_crew_start( &self->crew, def->thread_count );
    return self;
}

void swarm_destroy( void* scene )
{
    swarm* self = scene;
    if ( self != NULL )
    {
        parallel_crew_stop( &self->crew );
        free( self->bodies );
        free( self );
    }
}

void swarm_for_each( swarm* self, parallel_stretch* stretch )
{
    parallel_for( &self->crew, self->def.body_count, stretch, self );
}

body_state swarm_kept_body( const swarm* self, uint64_t index )
{
    return self->bodies[index];
}

bool swarm_step( void* scene, lab_error* why )
{
    (void)why;
    swarm* self = scene;
    self->frame += 1;
    return true;
}

typedef struct boxes_job
{
    const swarm* swarm;
    clv_aabb* boxes;
} boxes_job;

static void write_boxes( uint64_t begin, uint64_t end, void* user )
{
    const boxes_job* job = user;
    for ( uint64_t index = begin; index < end; ++index )
    {
        body_state body = job->swarm->body_now( job->swarm, index );
        if ( job->swarm->def.split )
        {
            body_split_boxes( &body, job->boxes + BODY_SPLIT * index );
        }
        else
        {
            job->boxes[index] = body_box( &body );
        }
    }
}

void swarm_boxes( void* scene, clv_aabb* boxes )
{
    swarm* self = scene;
    boxes_job job = { self, boxes };
    parallel_for( &self->crew, self->def.body_count, write_boxes, &job );
}

clv_aabb swarm_cube( double half_side )
{
    float half = (float)half_side;
    return ( clv_aabb ){ { -half, -half, -half }, { half, half, half } };
}
