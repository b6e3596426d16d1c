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
    self->bodies = keeps_bodies ? calloc( generator_part_count( def ), sizeof( body_state ) ) : NULL;
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

typedef struct part_job
{
    parallel_stretch* stretch;
    void* user;
    uint64_t first;
} part_job;

static void do_part( uint64_t begin, uint64_t end, void* user )
{
    const part_job* job = user;
    job->stretch( job->first + begin, job->first + end, job->user );
}

void swarm_for_each_with( swarm* self, parallel_stretch* stretch, void* user )
{
    part_job job = { stretch, user, self->def.part_first };
    parallel_for( &self->crew, generator_part_count( &self->def ), do_part, &job );
}

void swarm_for_each( swarm* self, parallel_stretch* stretch )
{
    swarm_for_each_with( self, stretch, self );
}

body_state swarm_kept_body( const swarm* self, uint64_t index )
{
    return *swarm_body_at( self, index );
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
        uint64_t at = index - job->swarm->def.part_first;
        if ( job->swarm->def.split )
        {
            body_split_boxes( &body, job->boxes + BODY_SPLIT * at );
        }
        else
        {
            job->boxes[at] = body_box( &body );
        }
    }
}

void swarm_boxes( void* scene, clv_aabb* boxes )
{
    swarm* self = scene;
    boxes_job job = { self, boxes };
    swarm_for_each_with( self, write_boxes, &job );
}

clv_aabb swarm_cube( double half_side )
{
    float half = (float)half_side;
    return ( clv_aabb ){ { -half, -half, -half }, { half, half, half } };
}
