// SPDX-License-Identifier: MIT
// From pairs of boxes to contacts. Chunks of pairs are independent, and what a chunk writes depends on its
// pairs and on the last step alone, so the result is the same for any number of workers.
#include "sim/rigid_world.h"

#include "base/assertion.h"

#include <string.h>

/// Pairs between the one that is fetched and the one that is looked at. Only b needs it: a goes up with the
/// list.
#define CONTACTS_AHEAD 8

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
    const rigid_link* link = &set->links.items[index];
    return (uint64_t)link->a << 32 | link->b;
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
    CLV_ASSERT( wall < RIGID_WALL_COUNT );
    uint32_t axis = wall / 2;
    float sign = wall % 2 == 0 ? 1.0f : -1.0f;
    *normal = sim_vec3( axis == 0 ? sign : 0.0f, axis == 1 ? sign : 0.0f, axis == 2 ? sign : 0.0f );
    *offset = wall % 2 == 0 ? lower[axis] : -upper[axis];
}

static void copy_manifold( const narrow_manifold* manifold, rigid_contact* contact, rigid_link* link )
{
    contact->normal = manifold->normal;
    contact->friction = sim_vec3( 0.0f, 0.0f, 0.0f );
    contact->twist = 0.0f;
    memset( contact->impulses, 0, sizeof( contact->impulses ) );
    link->point_count = manifold->count;
    link->separation = INFINITY;
    for ( uint32_t k = 0; k < manifold->count; ++k )
    {
        const narrow_point* point = &manifold->points[k];
        contact->points[k] = ( rigid_point ){ point->offset, point->separation };
        contact->features[k] = point->feature;
        link->separation = sim_min( link->separation, point->separation );
    }
}

/// Impulses go over where the same features touch; friction as a whole, as long as the contact lasts.
static void inherit(
    rigid_contact* contact, uint32_t point_count, const rigid_contact* last, uint32_t last_count )
{
    bool any = false;
    for ( uint32_t k = 0; k < point_count; ++k )
    {
        for ( uint32_t i = 0; i < last_count; ++i )
        {
            if ( last->features[i] == contact->features[k] )
            {
                contact->impulses[k] = last->impulses[i];
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
/// `fall` is the speed that gravity adds in this step.
static float wall_reach( const clv_rigid* world, uint32_t body, float fall )
{
    const rigid_motion* motion = &world->motions[body];
    const rigid_pose* pose = &world->poses[body];
    float speed = sim_length( motion->velocity ) + fall + sim_length( motion->spin ) * pose->radius;
    return 0.02f * pose->side + speed * world->seconds;
}

/// Goes along a chunk of pairs and the contacts of the last step, both sorted, and writes the contacts of
/// this one.
typedef struct chunk_writer
{
    const clv_rigid* world;
    const rigid_contact_set* last;
    uint32_t from; ///< contacts of the last step before this one are of pairs gone by
    rigid_contact_set* next;
    uint32_t at; ///< place of the contact to be written
} chunk_writer;

/// The contact that this pair had in the last step, or NULL. Pairs must come in ascending order.
static const rigid_link* last_link( chunk_writer* writer, clv_pair pair )
{
    const rigid_contact_set* last = writer->last;
    uint64_t key = (uint64_t)pair.a << 32 | pair.b;
    CLV_ASSERT( writer->from == 0 || contact_key( last, writer->from - 1 ) < key );
    while ( writer->from < last->count && contact_key( last, writer->from ) < key )
    {
        writer->from += 1;
    }
    bool same = writer->from < last->count && contact_key( last, writer->from ) == key;
    return same ? &last->links.items[writer->from] : NULL;
}

/// A pair that rests has the contact that it had.
static void keep_contact( chunk_writer* writer, clv_pair pair )
{
    const rigid_link* last = last_link( writer, pair );
    if ( last != NULL )
    {
        rigid_link* link = &writer->next->links.items[writer->at];
        *link = *last;
        link->contact = writer->at;
        writer->next->contacts.items[writer->at] = writer->last->contacts.items[last->contact];
        writer->at += 1;
    }
}

static void write_contact( chunk_writer* writer, clv_pair pair, const narrow_manifold* manifold )
{
    const clv_rigid* world = writer->world;
    CLV_ASSERT( pair.a < world->count && manifold->count >= 1 && manifold->count <= NARROW_MANIFOLD_POINTS );
    const rigid_link* last = last_link( writer, pair );
    rigid_contact* contact = &writer->next->contacts.items[writer->at];
    rigid_link* link = &writer->next->links.items[writer->at];
    link->a = pair.a;
    link->b = pair.b;
    link->contact = writer->at++;
    contact->to_b = pair.b < RIGID_WALL ? sim_sub( world->boxes[pair.b].center, world->boxes[pair.a].center )
                                        : sim_vec3( 0.0f, 0.0f, 0.0f );
    copy_manifold( manifold, contact, link );
    if ( last != NULL && !( world->any_fresh && is_fresh( world, pair ) ) )
    {
        inherit(
            contact, link->point_count, &writer->last->contacts.items[last->contact], last->point_count );
    }
}

/// Neither body moves, and neither was put there by hand: what the last step found still holds.
static bool is_unchanged( const clv_rigid* world, clv_pair pair )
{
    return rigid_some_rest( world ) && both_rest( world, pair ) && !is_fresh( world, pair );
}

static void collide_walls( chunk_writer* writer, const clv_pair* pairs, rigid_range range )
{
    const clv_rigid* world = writer->world;
    const float fall = sim_length( world->def.gravity ) * world->seconds;
    for ( uint32_t i = range.begin; i < range.end; ++i )
    {
        clv_pair pair = pairs[i];
        if ( is_unchanged( world, pair ) )
        {
            keep_contact( writer, pair );
            continue;
        }
        clv_vec3 normal;
        float offset;
        wall_plane( &world->def.walls, pair.b - RIGID_WALL, &normal, &offset );
        narrow_manifold manifold;
        float reach = wall_reach( world, pair.a, fall );
        if ( clv_narrow_box_plane( &world->boxes[pair.a], normal, offset, reach, &manifold ) > 0 )
        {
            write_contact( writer, pair, &manifold );
        }
    }
}

/// A pair of a chunk that is to be looked at.
typedef struct candidate
{
    uint32_t at; ///< its place in the chunk
    float margin;
} candidate;

/// How four pairs of a lean world move in this step if gravity pulls both the same way, and how far apart
/// they may be.
static void look_ahead( const clv_rigid* world, const clv_pair four[MATH_LANES], math_lanes reach,
    float margin[MATH_LANES], narrow_ways* ways )
{
    math_lanes va[MATH_LANES], vb[MATH_LANES];
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        va[l] = math_lanes_load( (const float*)&world->motions[four[l].a] );
        vb[l] = math_lanes_load( (const float*)&world->motions[four[l].b] );
    }
    math_lanes_transpose( va );
    math_lanes_transpose( vb );
    const math_lanes seconds = math_lanes_set( world->seconds );
    math_lanes3 way = { math_lanes_mul( math_lanes_sub( vb[0], va[0] ), seconds ),
        math_lanes_mul( math_lanes_sub( vb[1], va[1] ), seconds ),
        math_lanes_mul( math_lanes_sub( vb[2], va[2] ), seconds ) };
    math_lanes length = math_lanes_sqrt( math_lanes3_dot( way, way ) );
    math_lanes slack = math_lanes_mul( reach, math_lanes_set( RIGID_LEAN_SLACK / RIGID_LEAN_REACH ) );
    math_lanes_store( margin, math_lanes_min( math_lanes_add( slack, length ), reach ) );
    way = math_lanes3_scale(
        way, math_lanes_shorten( math_lanes_mul( length, length ), math_lanes_sub( reach, slack ) ) );
    math_lanes_store( ways->x, way.x );
    math_lanes_store( ways->y, way.y );
    math_lanes_store( ways->z, way.z );
    math_lanes_store( ways->slack, slack );
}

/// Bit l: pair l of four is worth a closer look.
static uint32_t find_near( const clv_rigid* world, const clv_pair four[MATH_LANES], narrow_pairs* boxes )
{
    float reach_a[MATH_LANES], reach_b[MATH_LANES];
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        boxes->a[l] = &world->boxes[four[l].a];
        boxes->b[l] = &world->boxes[four[l].b];
        reach_a[l] = world->reaches[four[l].a];
        reach_b[l] = world->reaches[four[l].b];
    }
    math_lanes a = math_lanes_load( reach_a ), b = math_lanes_load( reach_b );
    if ( world->def.lean )
    {
        narrow_ways ways;
        look_ahead( world, four, math_lanes_min( a, b ), boxes->margin, &ways );
        return clv_narrow_near_pairs( boxes, &ways );
    }
    math_lanes_store( boxes->margin, math_lanes_add( a, b ) );
    return clv_narrow_near_pairs( boxes, NULL );
}

static uint32_t lanes_left( uint32_t count, uint32_t at )
{
    return count - at < MATH_LANES ? count - at : MATH_LANES;
}

/// Of the listed pairs those that the axes of their faces do not separate. The list becomes theirs.
static uint32_t keep_near( const clv_rigid* world, const clv_pair* pairs, candidate* list, uint32_t count )
{
    uint32_t kept = 0;
    for ( uint32_t i = 0; i < count; i += MATH_LANES )
    {
        for ( uint32_t l = 0; l < MATH_LANES && i + CONTACTS_AHEAD + l < count; ++l )
        {
            math_fetch( &world->boxes[pairs[list[i + CONTACTS_AHEAD + l].at].b] );
        }
        const uint32_t lanes = lanes_left( count, i );
        clv_pair four[MATH_LANES];
        narrow_pairs boxes;
        for ( uint32_t l = 0; l < MATH_LANES; ++l )
        {
            four[l] = pairs[list[i + ( l < lanes ? l : 0 )].at];
        }
        uint32_t near = find_near( world, four, &boxes );
        for ( uint32_t l = 0; l < lanes; ++l )
        {
            list[kept] = ( candidate ){ list[i + l].at, boxes.margin[l] };
            kept += near >> l & 1u; // no branch: which of them is near no processor can guess
        }
    }
    return kept;
}

/// Manifolds of up to four of the listed pairs. Bit l: those of pair l touch.
static uint32_t collide_four( const clv_rigid* world, const clv_pair* pairs, const candidate* list,
    uint32_t lanes, narrow_manifold manifolds[MATH_LANES] )
{
    narrow_pairs boxes;
    for ( uint32_t l = 0; l < MATH_LANES; ++l )
    {
        const candidate* one = &list[l < lanes ? l : 0];
        boxes.a[l] = &world->boxes[pairs[one->at].a];
        boxes.b[l] = &world->boxes[pairs[one->at].b];
        boxes.margin[l] = one->margin;
    }
    return clv_narrow_box_boxes( &boxes, lanes, manifolds );
}

/// Pairs `begin` to `end - 1` of which none moves keep their contacts; others were found to be apart.
static void keep_unchanged( chunk_writer* writer, const clv_pair* pairs, uint32_t begin, uint32_t end )
{
    for ( uint32_t i = begin; i < end; ++i )
    {
        if ( is_unchanged( writer->world, pairs[i] ) )
        {
            keep_contact( writer, pairs[i] );
        }
    }
}

static void collide_bodies( chunk_writer* writer, const clv_pair* pairs, uint32_t count )
{
    const clv_rigid* world = writer->world;
    CLV_ASSERT( count <= RIGID_CHUNK );
    candidate list[RIGID_CHUNK];
    uint32_t listed = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        list[listed].at = i;
        listed += is_unchanged( world, pairs[i] ) ? 0u : 1u;
    }
    const bool some_rest = listed < count;
    listed = keep_near( world, pairs, list, listed );
    uint32_t done = 0;
    for ( uint32_t i = 0; i < listed; i += MATH_LANES )
    {
        uint32_t lanes = lanes_left( listed, i );
        narrow_manifold manifolds[MATH_LANES];
        uint32_t met = collide_four( world, pairs, list + i, lanes, manifolds );
        for ( uint32_t l = 0; l < lanes; ++l )
        {
            uint32_t at = list[i + l].at;
            if ( some_rest )
            {
                keep_unchanged( writer, pairs, done, at );
                done = at + 1;
            }
            if ( ( met >> l & 1u ) != 0 )
            {
                write_contact( writer, pairs[at], &manifolds[l] );
            }
        }
    }
    if ( some_rest )
    {
        keep_unchanged( writer, pairs, done, count );
    }
}

static void collide_chunk( const collide_job* job, uint32_t kind, uint32_t chunk )
{
    const clv_pair* pairs = job->pairs[kind];
    rigid_range range = rigid_piece( job->pair_counts[kind], RIGID_CHUNK, chunk );
    uint64_t first = (uint64_t)pairs[range.begin].a << 32 | pairs[range.begin].b;
    chunk_writer writer = { job->world, job->last[kind], lower_bound( job->last[kind], first ),
        job->next[kind], range.begin };
    if ( kind == 0 )
    {
        collide_bodies( &writer, pairs + range.begin, range.end - range.begin );
    }
    else
    {
        collide_walls( &writer, pairs, range );
    }
    job->next[kind]->chunk_counts.items[chunk] = writer.at - range.begin;
    CLV_ASSERT( writer.at <= range.end );
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
        base_array_reserve( &set->links, memory, pair_count ) &&
        base_array_reserve( &set->chunk_counts, memory, chunks );
}

/// Links close ranks, contacts stay where they are.
static void join_chunks( rigid_contact_set* set, uint32_t pair_count )
{
    set->count = 0;
    for ( uint32_t chunk = 0; chunk < rigid_piece_count( pair_count, RIGID_CHUNK ); ++chunk )
    {
        for ( uint32_t k = 0; k < set->chunk_counts.items[chunk]; ++k )
        {
            CLV_ASSERT( set->count <= chunk * RIGID_CHUNK + k );
            set->links.items[set->count++] = set->links.items[chunk * RIGID_CHUNK + k];
        }
    }
}

/// Walls this body may touch, in the order of their numbers. Returns how many.
static uint32_t walls_near(
    const clv_rigid* world, uint32_t body, float fall, uint32_t walls[RIGID_WALL_COUNT] )
{
    const clv_aabb* bounds = &world->def.walls;
    const float lower[3] = { bounds->lower.x, bounds->lower.y, bounds->lower.z };
    const float upper[3] = { bounds->upper.x, bounds->upper.y, bounds->upper.z };
    const narrow_box* box = &world->boxes[body];
    const float center[3] = { box->center.x, box->center.y, box->center.z };
    const clv_vec3 extents = rigid_extent_of( box );
    const float extent[3] = { extents.x, extents.y, extents.z };
    const float reach = wall_reach( world, body, fall );
    uint32_t count = 0;
    for ( uint32_t axis = 0; axis < 3; ++axis )
    {
        walls[count] = 2 * axis;
        count += center[axis] - lower[axis] - extent[axis] <= reach ? 1u : 0u;
        walls[count] = 2 * axis + 1;
        count += upper[axis] - center[axis] - extent[axis] <= reach ? 1u : 0u;
    }
    return count;
}

/// Walls each body may touch, by (body, wall).
static bool find_walls( clv_rigid* world )
{
    const float fall = sim_length( world->def.gravity ) * world->seconds;
    world->wall_pairs.count = 0;
    for ( uint32_t body = 0; body < world->count; ++body )
    {
        uint32_t walls[RIGID_WALL_COUNT];
        uint32_t count = rigid_is_static( world, body ) ? 0 : walls_near( world, body, fall, walls );
        if ( !base_array_reserve( &world->wall_pairs, &world->memory, world->wall_pairs.count + count ) )
        {
            return false;
        }
        for ( uint32_t k = 0; k < count; ++k )
        {
            world->wall_pairs.items[world->wall_pairs.count++] = ( clv_pair ){ body, RIGID_WALL + walls[k] };
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
    base_array_free( &set->links, &world->memory );
    base_array_free( &set->chunk_counts, &world->memory );
}

void clv_sim_rigid_contacts_free( clv_rigid* world, rigid_contacts* contacts )
{
    free_set( world, &contacts->bodies );
    free_set( world, &contacts->walls );
}
