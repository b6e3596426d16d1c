// SPDX-License-Identifier: MIT
// From pairs of boxes to contacts. Chunks of pairs are independent, and what a chunk writes depends on its pairs and
// on the last step alone, so the result is the same for any number of workers.
#include "sim/rigid_world.h"

#include "base/assertion.h"

/// Pairs between the one that is fetched and the one that is looked at. Only b needs it: a goes up with the list.
#define CONTACTS_AHEAD 4

typedef struct collide_job
{
    clv_rigid* world;
    const clv_pair* pairs[2]; ///< bodies, walls
    uint32_t pair_counts[2];
    rigid_contact_set* next[2];
    const rigid_contact_set* last[2];
} collide_job;

static uint64_t contact_key( const rigid_contact_set* set, uint32_t index )
{
    const rigid_contact* contact = &set->contacts.items[set->order.items[index]];
    return (uint64_t)contact->a << 32 | contact->b;
}

/// First contact of the sorted set whose pair is not below `key`.
static uint32_t lower_bound( const rigid_contact_set* set, uint64_t key )
{
    uint32_t begin = 0, end = set->count;
    while ( begin < end )
    {
        uint32_t middle = begin + ( end - begin ) / 2;
        if ( contact_key( set, middle ) < key )
        {
            begin = middle + 1;
        }
        else
        {
            end = middle;
        }
    }
    return begin;
}

/// The plane of wall k: bodies are where dot( normal, x ) > offset.
static void wall_plane( const clv_aabb* walls, uint32_t wall, clv_vec3* normal, float* offset )
{
    const float lower[3] = { walls->lower.x, walls->lower.y, walls->lower.z };
    const float upper[3] = { walls->upper.x, walls->upper.y, walls->upper.z };
    uint32_t axis = wall / 2;
    float sign = wall % 2 == 0 ? 1.0f : -1.0f;
    *normal = sim_vec3( axis == 0 ? sign : 0.0f, axis == 1 ? sign : 0.0f, axis == 2 ? sign : 0.0f );
    *offset = wall % 2 == 0 ? lower[axis] : -upper[axis];
}

static void copy_manifold( const narrow_manifold* manifold, rigid_contact* contact )
{
    contact->normal = manifold->normal;
    contact->count = manifold->count;
    contact->friction = sim_vec3( 0.0f, 0.0f, 0.0f );
    contact->twist = 0.0f;
    for ( uint32_t k = 0; k < manifold->count; ++k )
    {
        const narrow_point* point = &manifold->points[k];
        contact->points[k] = ( rigid_point ){ point->offset, point->separation, point->feature, 0.0f };
    }
}

/// Impulses go over where the same features touch; friction as a whole, as long as the contact lasts.
static void inherit( rigid_contact* contact, const rigid_contact* last )
{
    bool any = false;
    for ( uint32_t k = 0; k < contact->count; ++k )
    {
        for ( uint32_t i = 0; i < last->count; ++i )
        {
            if ( last->points[i].feature == contact->points[k].feature )
            {
                contact->points[k].impulse = last->points[i].impulse;
                any = true;
            }
        }
    }
    if ( any )
    {
        contact->friction = last->friction;
        contact->twist = last->twist;
    }
}

/// Neither can move and so nothing about their contact can have changed.
static bool both_rest( const clv_rigid* world, clv_pair pair )
{
    return !rigid_is_movable( world, pair.a ) &&
        ( pair.b >= RIGID_WALL || !rigid_is_movable( world, pair.b ) );
}

/// Was one of them put where it is by hand?
static bool is_fresh( const clv_rigid* world, clv_pair pair )
{
    return world->motions[pair.a].fresh != 0 || ( pair.b < RIGID_WALL && world->motions[pair.b].fresh != 0 );
}

/// How far apart a wall may be and still be met: nothing passes a wall, so no limit but the speed counts.
static float wall_reach( const clv_rigid* world, uint32_t body )
{
    const rigid_motion* motion = &world->motions[body];
    const rigid_pose* pose = &world->poses[body];
    float fall = sim_length( world->def.gravity ) * world->seconds;
    float speed = sim_length( motion->velocity ) + fall + sim_length( motion->spin ) * pose->radius;
    return 0.02f * pose->side + speed * world->seconds;
}

static bool collide_pair(
    const clv_rigid* world, clv_pair pair, const rigid_contact* last, rigid_contact* contact )
{
    if ( is_fresh( world, pair ) )
    {
        last = NULL;
    }
    else if ( both_rest( world, pair ) )
    {
        if ( last != NULL )
        {
            *contact = *last;
        }
        return last != NULL;
    }
    narrow_manifold manifold;
    uint32_t count;
    if ( pair.b >= RIGID_WALL )
    {
        clv_vec3 normal;
        float offset;
        wall_plane( &world->def.walls, pair.b - RIGID_WALL, &normal, &offset );
        count = clv_narrow_box_plane(
            &world->boxes[pair.a], normal, offset, wall_reach( world, pair.a ), &manifold );
    }
    else
    {
        float margin = world->reaches[pair.a] + world->reaches[pair.b];
        count = clv_narrow_box_box( &world->boxes[pair.a], &world->boxes[pair.b], margin, &manifold );
    }
    if ( count == 0 )
    {
        return false;
    }
    contact->a = pair.a;
    contact->b = pair.b;
    contact->to_b = pair.b < RIGID_WALL ? sim_sub( world->boxes[pair.b].center, world->boxes[pair.a].center )
                                        : sim_vec3( 0.0f, 0.0f, 0.0f );
    copy_manifold( &manifold, contact );
    if ( last != NULL )
    {
        inherit( contact, last );
    }
    return true;
}

static void collide_chunk( const collide_job* job, uint32_t kind, uint32_t chunk )
{
    const clv_pair* pairs = job->pairs[kind];
    const rigid_contact_set* last = job->last[kind];
    rigid_contact_set* next = job->next[kind];
    rigid_range range = rigid_piece( job->pair_counts[kind], RIGID_CHUNK, chunk );
    const uint32_t begin = range.begin;
    uint32_t from = lower_bound( last, (uint64_t)pairs[begin].a << 32 | pairs[begin].b );
    uint32_t kept = 0;
    for ( uint32_t i = begin; i < range.end; ++i )
    {
        if ( kind == 0 && i + CONTACTS_AHEAD < range.end )
        {
            sim_fetch( &job->world->boxes[pairs[i + CONTACTS_AHEAD].b] );
        }
        uint64_t key = (uint64_t)pairs[i].a << 32 | pairs[i].b;
        while ( from < last->count && contact_key( last, from ) < key )
        {
            from += 1;
        }
        bool same = from < last->count && contact_key( last, from ) == key;
        const rigid_contact* before = same ? &last->contacts.items[last->order.items[from]] : NULL;
        kept += collide_pair( job->world, pairs[i], before, &next->contacts.items[begin + kept] ) ? 1u : 0u;
    }
    next->chunk_counts.items[chunk] = kept;
}

/// Chunks of the bodies' pairs come first, then those of the walls'.
static void collide_piece( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const collide_job* job = context;
    uint32_t body_chunks = rigid_piece_count( job->pair_counts[0], RIGID_CHUNK );
    bool walls = index >= body_chunks;
    collide_chunk( job, walls ? 1 : 0, walls ? index - body_chunks : index );
}

static bool reserve_set( clv_rigid* world, rigid_contact_set* set, uint64_t pair_count )
{
    base_memory* memory = &world->memory;
    uint64_t chunks = ( pair_count + RIGID_CHUNK - 1 ) / RIGID_CHUNK;
    return base_array_reserve( &set->contacts, memory, pair_count ) &&
        base_array_reserve( &set->order, memory, pair_count ) &&
        base_array_reserve( &set->chunk_counts, memory, chunks );
}

static void join_chunks( rigid_contact_set* set, uint32_t pair_count )
{
    set->count = 0;
    for ( uint32_t chunk = 0; chunk < rigid_piece_count( pair_count, RIGID_CHUNK ); ++chunk )
    {
        for ( uint32_t k = 0; k < set->chunk_counts.items[chunk]; ++k )
        {
            set->order.items[set->count++] = chunk * RIGID_CHUNK + k;
        }
    }
}

/// Walls each body may touch, by (body, wall).
static bool find_walls( clv_rigid* world )
{
    const clv_aabb* walls = &world->def.walls;
    const float sides[RIGID_WALL_COUNT] = { walls->lower.x, -walls->upper.x, walls->lower.y, -walls->upper.y,
        walls->lower.z, -walls->upper.z };
    world->wall_pairs.count = 0;
    for ( uint32_t body = 0; body < world->count; ++body )
    {
        if ( rigid_is_static( world, body ) )
        {
            continue;
        }
        const narrow_box* box = &world->boxes[body];
        clv_vec3 half = world->poses[body].half, p = world->poses[body].position;
        const float center[3] = { p.x, p.y, p.z };
        float reach = wall_reach( world, body );
        if ( !base_array_reserve(
                 &world->wall_pairs, &world->memory, world->wall_pairs.count + RIGID_WALL_COUNT ) )
        {
            return false;
        }
        for ( uint32_t wall = 0; wall < RIGID_WALL_COUNT; ++wall )
        {
            uint32_t axis = wall / 2;
            float extent = half.x * sim_abs( box->axes[0][axis] ) + half.y * sim_abs( box->axes[1][axis] ) +
                half.z * sim_abs( box->axes[2][axis] );
            float height = ( wall % 2 == 0 ? center[axis] : -center[axis] ) - sides[wall];
            if ( height - extent <= reach )
            {
                world->wall_pairs.items[world->wall_pairs.count++] = ( clv_pair ){ body, RIGID_WALL + wall };
            }
        }
    }
    return true;
}

bool clv_sim_rigid_collide( clv_rigid* world, const clv_pair* pairs, uint64_t pair_count )
{
    if ( pair_count > UINT32_MAX - RIGID_CHUNK || !find_walls( world ) ||
        !reserve_set( world, &world->now.bodies, pair_count ) ||
        !reserve_set( world, &world->now.walls, world->wall_pairs.count ) )
    {
        return false;
    }
    collide_job job = {
        .world = world,
        .pairs = { pairs, world->wall_pairs.items },
        .pair_counts = { (uint32_t)pair_count, (uint32_t)world->wall_pairs.count },
        .next = { &world->now.bodies, &world->now.walls },
        .last = { &world->last.bodies, &world->last.walls },
    };
    uint32_t chunks = rigid_piece_count( job.pair_counts[0], RIGID_CHUNK ) +
        rigid_piece_count( job.pair_counts[1], RIGID_CHUNK );
    clv_task_run( &world->runner, collide_piece, chunks, &job );
    join_chunks( &world->now.bodies, (uint32_t)pair_count );
    join_chunks( &world->now.walls, (uint32_t)world->wall_pairs.count );
    return true;
}

static void free_set( clv_rigid* world, rigid_contact_set* set )
{
    base_array_free( &set->contacts, &world->memory );
    base_array_free( &set->order, &world->memory );
    base_array_free( &set->chunk_counts, &world->memory );
}

void clv_sim_rigid_contacts_free( clv_rigid* world, rigid_contacts* contacts )
{
    free_set( world, &contacts->bodies );
    free_set( world, &contacts->walls );
}
