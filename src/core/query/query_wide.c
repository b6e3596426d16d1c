// SPDX-License-Identifier: MIT
#include "query/query_wide.h"

#include "base/bits.h"
#include "object/filter_rule.h"
#include "query/query_hits.h"

#include <float.h>
#include <math.h>

// Shapes that have a test of their own are walked as boxes that are so much larger, and times so much longer, than any rounding of
// that test.
static const double ROOM = 1e-9;
static const double LEAST_ROOM = 1e-150; // squares below that of this vanish

static const clv_hit64 NO_HIT64 = { CLV_NO_HIT, INFINITY };

typedef struct wide_entry
{
    double near;
    uint32_t node, least;
} wide_entry;

// What a lane is asked.
typedef enum wide_look
{
    WIDE_OVERLAP,
    WIDE_CAST,
    WIDE_DISTANCE,
    WIDE_PLANES,
    WIDE_TURNED,
} wide_look;

typedef struct wide_probe
{
    const query_scene* scene;
    const clv_queries* list;
    const clv_filter* filter;
    uint32_t index;
    clv_query_kind kind; // of floats
    query_mode mode;
    wide_look look;

    clv_hit64* hits; // all: as many as fit; nearest: by distance
    uint64_t room, count;
    clv_hit64 best;
    double reach;
    uint32_t reach_least; // of those just at the reach only slots up to this count
    bool is_shortened, is_done;

    clv_aabb64 box;      // overlap and distance
    double origin[3];    // of shapes that are looked at from there
    query_capsule round; // from there
    query_turned_box turned;
    double turned_reach[3]; // half the turned box's own box
    const clv_plane64* planes;
    uint32_t plane_count;

    // Cast: what is taken off the near and the far face of an axis, first the place, then how far the shape goes beyond it.
    double motion[3];
    double near_place[3], far_place[3], near_more[3], far_more[3];
    double near_inverse[3], far_inverse[3];
    bool is_forward[3];

    uint32_t top;
    wide_entry stack[QUERY_STACK];
} wide_probe;

// ---- arithmetic

// As if exponents had no end: the largest gap is brought near 1 where its square would leave the doubles.
static double scaled_length( double x, double y, double z )
{
    double most = x > y ? x : y;
    most = z > most ? z : most;
    if ( most == 0 || !base_is_finite( most ) )
    {
        return most;
    }
    int exponent;
    frexp( most, &exponent );
    x = ldexp( x, -exponent );
    y = ldexp( y, -exponent );
    z = ldexp( z, -exponent );
    return ldexp( sqrt( x * x + y * y + z * z ), exponent );
}

// Of these gaps; `square` is x * x + y * y + z * z.
static double length_of_gap( double square, double x, double y, double z )
{
    return square > 1e-280 && square < 1e280 ? sqrt( square ) : scaled_length( x, y, z );
}

// Infinity less infinity is no gap.
static double gap_between( double a_lower, double a_upper, double b_lower, double b_upper )
{
    double below = b_lower - a_upper, above = a_lower - b_upper;
    double gap = above > below ? above : below;
    return gap > 0 ? gap : 0;
}

double clv_query_wide_distance( const clv_aabb64* a, const clv_aabb64* b )
{
    double x = gap_between( a->lower.x, a->upper.x, b->lower.x, b->upper.x );
    double y = gap_between( a->lower.y, a->upper.y, b->lower.y, b->upper.y );
    double z = gap_between( a->lower.z, a->upper.z, b->lower.z, b->upper.z );
    return length_of_gap( x * x + y * y + z * z, x, y, z );
}

clv_aabb64 clv_query_wide_from( const clv_aabb64* box, const double origin[3] )
{
    return ( clv_aabb64 ){
        { box->lower.x - origin[0], box->lower.y - origin[1], box->lower.z - origin[2] },
        { box->upper.x - origin[0], box->upper.y - origin[1], box->upper.z - origin[2] },
    };
}

// Finite faces no farther than the shapes reach, so that no product of theirs is infinite.
static double clamp_face( double face )
{
    double clamped = face < -QUERY_WIDE_MOST ? -QUERY_WIDE_MOST
        : face > QUERY_WIDE_MOST             ? QUERY_WIDE_MOST
                                             : face;
    return base_is_finite( face ) ? clamped : face;
}

static double least_dot64( const double* n, const clv_aabb64* box )
{
    double least = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double face = n[axis] > 0 ? ( &box->lower.x )[axis] : ( &box->upper.x )[axis];
        least += n[axis] != 0 ? n[axis] * clamp_face( face ) : 0;
    }
    return least;
}

static bool planes64_meet( const wide_probe* p, const clv_aabb64* from )
{
    for ( uint32_t i = 0; i < p->plane_count; ++i )
    {
        if ( least_dot64( &p->planes[i].normal.x, from ) > p->planes[i].offset )
        {
            return false;
        }
    }
    return true;
}

// The boxes' faces and the turned one's.
static bool turned_faces_meet( const wide_probe* p, const clv_aabb64* from )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        if ( ( &from->lower.x )[axis] > p->turned_reach[axis] ||
            ( &from->upper.x )[axis] < -p->turned_reach[axis] )
        {
            return false;
        }
    }
    for ( int i = 0; i < 6; ++i )
    {
        if ( least_dot64( p->turned.faces[i].normal, from ) > p->turned.faces[i].offset )
        {
            return false;
        }
    }
    return true;
}

// Times at which a motion starts and ends to meet the sides of a box.
static bool cast_sides( const wide_probe* p, const clv_aabb64* box, double reach, double* near )
{
    const double *lower = &box->lower.x, *upper = &box->upper.x;
    double from = 0, to = reach;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double near_face = p->is_forward[axis] ? lower[axis] : upper[axis];
        double far_face = p->is_forward[axis] ? upper[axis] : lower[axis];
        double first = ( ( near_face - p->near_place[axis] ) - p->near_more[axis] ) * p->near_inverse[axis];
        double last = ( ( far_face - p->far_place[axis] ) - p->far_more[axis] ) * p->far_inverse[axis];
        from = first > from ? first : from; // no number, 0 times infinity: on the edge of what does not move
        to = last < to ? last : to;
    }
    *near = from;
    return from <= to;
}

// ---- making ready

static void put_place( double to[3], clv_vec64 from )
{
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

static void start_cast64( wide_probe* p, clv_vec64 lower, clv_vec64 upper, clv_vec64 motion, double max_t )
{
    p->look = WIDE_CAST;
    p->reach = max_t < DBL_MAX ? max_t : DBL_MAX; // a time is finite: what is never reached has infinite ones
    put_place( p->motion, motion );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double d = p->motion[axis], low = ( &lower.x )[axis], high = ( &upper.x )[axis];
        p->is_forward[axis] = !( d < 0 );
        p->near_place[axis] = d < 0 ? low : high;
        p->far_place[axis] = d < 0 ? high : low;
        p->near_more[axis] = p->far_more[axis] = 0;
        p->near_inverse[axis] = p->far_inverse[axis] = d == 0 ? INFINITY : 1.0 / d;
    }
}

static double still_if_small( double motion )
{
    return fabs( motion ) < QUERY_WIDE_STILL ? 0 : motion;
}

// A capsule that moves, walked as a box with room.
static void start_round(
    wide_probe* p, clv_vec64 a, clv_vec64 b, double radius, clv_vec64 motion, double max_t )
{
    put_place( p->origin, a );
    p->round = ( query_capsule ){ { 0, 0, 0 }, { b.x - a.x, b.y - a.y, b.z - a.z }, radius };
    motion =
        ( clv_vec64 ){ still_if_small( motion.x ), still_if_small( motion.y ), still_if_small( motion.z ) };
    start_cast64( p, a, a, motion, max_t );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double d = p->round.b[axis], more = radius + ROOM * ( radius + fabs( d ) ) + LEAST_ROOM;
        double low = ( d < 0 ? d : 0 ) - more, high = ( d > 0 ? d : 0 ) + more;
        p->near_more[axis] = p->motion[axis] < 0 ? low : high;
        p->far_more[axis] = p->motion[axis] < 0 ? high : low;
        p->far_inverse[axis] *= 1 + ROOM;
    }
}

// A capsule that stands still, walked as a sphere from end to end: its own box may be far larger.
static void start_capsule64( wide_probe* p, const clv_capsule64* c )
{
    clv_vec64 way = { c->b.x - c->a.x, c->b.y - c->a.y, c->b.z - c->a.z };
    start_round( p, c->a, c->a, c->radius, way, 1 + ROOM );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double more = ROOM * fabs( ( &way.x )[axis] );
        p->near_more[axis] += p->motion[axis] < 0 ? -more : more;
        p->far_more[axis] += p->motion[axis] < 0 ? more : -more;
        p->round.b[axis] = ( &way.x )[axis];
    }
    p->reach = INFINITY; // of a hit, which has no time
}

static void start_turned64( wide_probe* p, const clv_oriented_box64* box )
{
    const double center[3] = { 0, 0, 0 };
    const double half[3] = { box->half_size.x, box->half_size.y, box->half_size.z };
    const double turn[4] = { (double)box->rotation.x, (double)box->rotation.y, (double)box->rotation.z,
        (double)box->rotation.w };
    p->look = WIDE_TURNED;
    put_place( p->origin, box->center );
    p->turned = clv_query_turn( center, half, turn );
    for ( int axis = 0; axis < 3; ++axis )
    {
        p->turned_reach[axis] = 0;
        for ( int i = 0; i < 3; ++i )
        {
            p->turned_reach[axis] += fabs( p->turned.axes[i][axis] ) * half[i];
        }
    }
}

static void start_distance64( wide_probe* p, clv_aabb64 box, double distance )
{
    p->look = WIDE_DISTANCE;
    p->box = box;
    p->reach = distance;
}

static void start_item64( wide_probe* p, const void* items, uint32_t index )
{
    switch ( p->kind )
    {
    case CLV_QUERY_POINT: p->box.lower = p->box.upper = ( (const clv_vec64*)items )[index]; break;
    case CLV_QUERY_BOX: p->box = ( (const clv_aabb64*)items )[index]; break;
    case CLV_QUERY_SPHERE:
    {
        const clv_sphere64* s = &( (const clv_sphere64*)items )[index];
        start_distance64( p, ( clv_aabb64 ){ s->center, s->center }, s->radius );
        break;
    }
    case CLV_QUERY_NEIGHBOURHOOD:
    {
        const clv_neighbourhood64* n = &( (const clv_neighbourhood64*)items )[index];
        start_distance64( p, n->box, n->distance );
        break;
    }
    case CLV_QUERY_CAPSULE: start_capsule64( p, &( (const clv_capsule64*)items )[index] ); break;
    case CLV_QUERY_ORIENTED_BOX: start_turned64( p, &( (const clv_oriented_box64*)items )[index] ); break;
    case CLV_QUERY_HALF_SPACES:
    {
        const clv_half_spaces64* h = &( (const clv_half_spaces64*)items )[index];
        p->look = WIDE_PLANES;
        put_place( p->origin, h->origin );
        p->planes = h->planes;
        p->plane_count = h->count;
        break;
    }
    case CLV_QUERY_RAY:
    {
        const clv_ray64* r = &( (const clv_ray64*)items )[index];
        start_cast64( p, r->origin, r->origin, r->direction, r->max_t );
        break;
    }
    case CLV_QUERY_BOX_CAST:
    {
        const clv_box_cast64* c = &( (const clv_box_cast64*)items )[index];
        start_cast64( p, c->box.lower, c->box.upper, c->motion, c->max_t );
        break;
    }
    case CLV_QUERY_SPHERE_CAST:
    {
        const clv_sphere_cast64* c = &( (const clv_sphere_cast64*)items )[index];
        start_round( p, c->sphere.center, c->sphere.center, c->sphere.radius, c->motion, c->max_t );
        break;
    }
    default:
    {
        const clv_capsule_cast64* c = &( (const clv_capsule_cast64*)items )[index];
        start_round( p, c->capsule.a, c->capsule.b, c->capsule.radius, c->motion, c->max_t );
        break;
    }
    }
}

static void start_wide(
    wide_probe* p, const query_scene* scene, const clv_queries* list, uint32_t index, query_mode mode )
{
    p->scene = scene;
    p->list = list;
    p->filter = list->filters == NULL ? NULL : &list->filters[list->filter_each ? index : 0];
    p->index = index;
    p->kind = (clv_query_kind)( (uint32_t)list->kind - QUERY_WIDE );
    p->mode = mode;
    p->look = WIDE_OVERLAP;
    p->hits = NULL;
    p->room = p->count = 0;
    p->best = NO_HIT64;
    p->reach = INFINITY;
    p->reach_least = UINT32_MAX;
    p->is_shortened = p->is_done = false;
    start_item64( p, list->items, index );
    p->top = scene->tree->node_count > 0 ? 1 : 0;
    p->stack[0] = ( wide_entry ){ 0, 0, 0 };
}

// ---- does it count?

static bool is_wanted64( const wide_probe* p, uint32_t slot )
{
    const query_scene* scene = p->scene;
    const clv_filter* filters = scene->objects->columns[OBJECT_FILTER];
    const clv_filter usual = clv_default_filter();
    if ( scene->may_be_gone && object_generations( scene->objects )[slot] != scene->generations[slot] )
    {
        return false;
    }
    return p->filter == NULL || object_filters_allow( p->filter, filters != NULL ? &filters[slot] : &usual );
}

// Farther away than these shapes reach.
static bool is_out_of_reach( const clv_aabb64* from )
{
    const double *lower = &from->lower.x, *upper = &from->upper.x;
    bool is_out = false;
    for ( int axis = 0; axis < 3; ++axis )
    {
        is_out |= lower[axis] >= QUERY_WIDE_MOST || upper[axis] <= -QUERY_WIDE_MOST;
    }
    return is_out;
}

// Are lanes' times and distances those of the objects?
static bool is_exact64( const wide_probe* p )
{
    return p->look == WIDE_DISTANCE || p->kind == CLV_QUERY_RAY || p->kind == CLV_QUERY_BOX_CAST;
}

// How far casts are looked for: a little more where the lanes' times are only bounds.
static double cast_reach( const wide_probe* p )
{
    double more = ( p->kind == CLV_QUERY_CAPSULE ? 1 + 2 * ROOM : p->reach ) * ( 1 + ROOM );
    return is_exact64( p ) ? p->reach : more < DBL_MAX ? more : DBL_MAX;
}

// What the shape's box with its room does not meet is not met: where one axis is so much longer than another that its rounding
// alone outweighs the other, only that tells. Lanes have been asked; a box as given is asked here.
static bool meets_round( const wide_probe* p, const clv_aabb64* box, bool is_given, double* t )
{
    clv_aabb64 from = clv_query_wide_from( box, p->origin );
    double near;
    if ( is_out_of_reach( &from ) || ( is_given && !cast_sides( p, box, cast_reach( p ), &near ) ) )
    {
        return false;
    }
    return p->kind == CLV_QUERY_CAPSULE
        ? clv_query_capsule_meets64( &p->round, &from )
        : clv_query_capsule_cast64( &p->round, p->motion, p->reach, &from, t );
}

// In the kind's own arithmetic. `near` is what the lane said of the box with margins.
static bool meets64( const wide_probe* p, const clv_aabb64* box, bool is_given, double near, double* t )
{
    *t = 0;
    switch ( p->look )
    {
    case WIDE_OVERLAP: return !is_given || clv_aabb64_overlap( *box, p->box );
    case WIDE_DISTANCE: *t = is_given ? clv_query_wide_distance( &p->box, box ) : near; return *t <= p->reach;
    case WIDE_PLANES:
    {
        clv_aabb64 from = clv_query_wide_from( box, p->origin );
        return planes64_meet( p, &from );
    }
    case WIDE_TURNED:
    {
        clv_aabb64 from = clv_query_wide_from( box, p->origin );
        return !is_out_of_reach( &from ) && turned_faces_meet( p, &from ) &&
            clv_query_turned_box_edges_meet64( &p->turned, &from );
    }
    default: break;
    }
    if ( p->kind == CLV_QUERY_RAY || p->kind == CLV_QUERY_BOX_CAST )
    {
        *t = near;
        return !is_given || cast_sides( p, box, p->reach, t );
    }
    return meets_round( p, box, is_given, t );
}

static bool comes_before( clv_hit64 a, clv_hit64 b )
{
    return a.t < b.t || ( a.t == b.t && a.index < b.index );
}

static void keep_nearest64( wide_probe* p, clv_hit64 hit )
{
    uint64_t at = p->count < p->room ? p->count++ : p->room - 1;
    for ( ; at > 0 && comes_before( hit, p->hits[at - 1] ); --at )
    {
        p->hits[at] = p->hits[at - 1];
    }
    p->hits[at] = hit;
    if ( p->count == p->room )
    {
        clv_hit64 last = p->hits[p->room - 1];
        if ( last.t <= p->reach ) // else a callback brought the end nearer, and whatever is there counts
        {
            p->reach = last.t;
            p->reach_least = last.index;
        }
    }
}

static void keep64( wide_probe* p, clv_hit64 hit )
{
    switch ( p->mode )
    {
    case QUERY_ALL:
        if ( p->count < p->room )
        {
            p->hits[p->count] = hit;
        }
        p->count += 1;
        break;
    case QUERY_ANY:
        p->best = hit;
        p->is_done = true;
        break;
    case QUERY_CLOSEST:
        p->best = hit;
        p->reach = hit.t;
        // Where a lane's time is only a bound, an equal one may hide an earlier hit; at 0 none is earlier.
        p->reach_least = is_exact64( p ) || hit.t == 0 ? hit.index : UINT32_MAX;
        break;
    default: keep_nearest64( p, hit ); break;
    }
}

// Would it make a difference? What another hit has outdone is not asked about.
static bool is_outdone64( const wide_probe* p, clv_hit64 hit )
{
    if ( hit.t > p->reach )
    {
        return true;
    }
    if ( p->mode == QUERY_CLOSEST )
    {
        return !comes_before( hit, p->best );
    }
    return p->mode == QUERY_NEAREST && p->count == p->room && !comes_before( hit, p->hits[p->room - 1] );
}

static void examine64( wide_probe* p, uint32_t slot, double near )
{
    const clv_aabb64* given = p->list->as_given ? p->scene->given64 : NULL;
    clv_hit64 hit = { slot, 0 };
    if ( !is_wanted64( p, slot ) ||
        !meets64( p, given != NULL ? &given[slot] : &p->scene->boxes64[slot], given != NULL, near, &hit.t ) ||
        is_outdone64( p, hit ) )
    {
        return;
    }
    if ( p->list->callback64 != NULL )
    {
        double reach = p->reach;
        bool counts = p->list->callback64( p->scene->space, p->index, hit, &reach, p->list->user );
        if ( !( reach >= p->reach ) )
        {
            p->is_shortened = true;
            p->reach_least = UINT32_MAX;      // whatever is at the new end counts
            p->reach = reach > 0 ? reach : 0; // no number: nothing beyond
        }
        if ( !counts || hit.t > p->reach )
        {
            return;
        }
    }
    keep64( p, hit );
}

// ---- the walk

static clv_aabb64 lane_box64( const query_wide_node* node, uint32_t lane )
{
    return ( clv_aabb64 ){ { node->lower[0][lane], node->lower[1][lane], node->lower[2][lane] },
        { node->upper[0][lane], node->upper[1][lane], node->upper[2][lane] } };
}

static uint32_t look_overlap( const wide_probe* p, const query_wide_node* node )
{
    uint32_t passed = 0;
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        uint32_t is_in = 1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            is_in &= ( node->lower[axis][lane] <= ( &p->box.upper.x )[axis] ) &
                ( ( &p->box.lower.x )[axis] <= node->upper[axis][lane] );
        }
        passed |= is_in << lane;
    }
    return passed;
}

static uint32_t look_cast( const wide_probe* p, const query_wide_node* node, double near[QUERY_LANES] )
{
    double to[QUERY_LANES], reach = cast_reach( p );
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        near[lane] = 0;
        to[lane] = reach;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        const double* near_face = p->is_forward[axis] ? node->lower[axis] : node->upper[axis];
        const double* far_face = p->is_forward[axis] ? node->upper[axis] : node->lower[axis];
        for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane ) // cast_sides, lane by lane
        {
            double first =
                ( ( near_face[lane] - p->near_place[axis] ) - p->near_more[axis] ) * p->near_inverse[axis];
            double last =
                ( ( far_face[lane] - p->far_place[axis] ) - p->far_more[axis] ) * p->far_inverse[axis];
            near[lane] = first > near[lane] ? first : near[lane];
            to[lane] = last < to[lane] ? last : to[lane];
        }
    }
    uint32_t passed = 0;
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        passed |= (uint32_t)( near[lane] <= to[lane] ) << lane;
    }
    return passed;
}

// A square beyond which the root is beyond the reach, whatever is rounded: most lanes need no root then.
static double square_limit( double reach )
{
    return reach > 1e-130 && reach < 1e130 ? reach * reach * ( 1 + 1e-12 ) : INFINITY;
}

static uint32_t look_distance( const wide_probe* p, const query_wide_node* node, double near[QUERY_LANES] )
{
    double gaps[3][QUERY_LANES], squares[QUERY_LANES] = { 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double lower = ( &p->box.lower.x )[axis], upper = ( &p->box.upper.x )[axis];
        for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
        {
            gaps[axis][lane] = gap_between( lower, upper, node->lower[axis][lane], node->upper[axis][lane] );
            squares[lane] += gaps[axis][lane] * gaps[axis][lane];
        }
    }
    double limit = square_limit( p->reach );
    uint32_t passed = 0;
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        if ( squares[lane] <= limit )
        {
            near[lane] = length_of_gap( squares[lane], gaps[0][lane], gaps[1][lane], gaps[2][lane] );
            passed |= (uint32_t)( near[lane] <= p->reach ) << lane;
        }
    }
    return passed;
}

static uint32_t look_planes( const wide_probe* p, const query_wide_node* node )
{
    uint32_t passed = 0;
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        clv_aabb64 box = lane_box64( node, lane );
        clv_aabb64 from = clv_query_wide_from( &box, p->origin );
        bool is_in = node->child[lane] != QUERY_NOBODY &&
            ( p->look == WIDE_PLANES ? planes64_meet( p, &from ) : turned_faces_meet( p, &from ) );
        passed |= (uint32_t)is_in << lane;
    }
    return passed;
}

static uint32_t look_at( const wide_probe* p, const query_wide_node* node, double near[QUERY_LANES] )
{
    switch ( p->look )
    {
    case WIDE_OVERLAP: return look_overlap( p, node );
    case WIDE_CAST: return look_cast( p, node, near );
    case WIDE_DISTANCE: return look_distance( p, node, near );
    default: return look_planes( p, node );
    }
}

// Nearest on top, of equals the lowest slot, among those of one node.
static void push_nodes(
    wide_probe* p, const query_wide_node* node, uint32_t lanes, const double near[QUERY_LANES] )
{
    uint32_t first = p->top;
    for ( ; lanes != 0; lanes &= lanes - 1 )
    {
        uint32_t lane = base_lowest_bit( lanes );
        wide_entry entry = { near[lane], node->child[lane], node->least[lane] };
        uint32_t at = p->top++;
        for ( ; at > first &&
              ( p->stack[at - 1].near < entry.near ||
                  ( p->stack[at - 1].near == entry.near && p->stack[at - 1].least < entry.least ) );
              --at )
        {
            p->stack[at] = p->stack[at - 1];
        }
        p->stack[at] = entry;
    }
}

static bool is_beyond( const wide_probe* p, double near, uint32_t least )
{
    double reach = p->look == WIDE_CAST ? cast_reach( p ) : p->reach;
    return near > reach || ( near == reach && least > p->reach_least );
}

static void run_wide( wide_probe* p )
{
    double near[QUERY_LANES] = { 0 };
    while ( p->top > 0 && !p->is_done )
    {
        wide_entry entry = p->stack[--p->top];
        const query_wide_node* node = &p->scene->wide->nodes[entry.node];
        if ( is_beyond( p, entry.near, entry.least ) )
        {
            continue;
        }
        uint32_t nodes = 0;
        for ( uint32_t passed = look_at( p, node, near ); passed != 0 && !p->is_done; passed &= passed - 1 )
        {
            uint32_t lane = base_lowest_bit( passed ), child = node->child[lane];
            if ( child == QUERY_NOBODY || is_beyond( p, near[lane], node->least[lane] ) )
            {
                continue;
            }
            if ( ( child & QUERY_OBJECT ) != 0 )
            {
                examine64( p, child & ~QUERY_OBJECT, near[lane] );
            }
            else
            {
                nodes |= 1u << lane;
            }
        }
        push_nodes( p, node, nodes, near );
    }
}

// ---- the doors

uint64_t clv_query_wide_find_all(
    const query_scene* scene, const clv_queries* list, uint32_t index, clv_hit64* hits, uint64_t room )
{
    wide_probe p;
    start_wide( &p, scene, list, index, QUERY_ALL );
    p.hits = hits;
    p.room = room;
    run_wide( &p );
    if ( p.count <= room && p.is_shortened )
    {
        p.count = clv_query_hits_drop64( hits, p.count, p.reach );
    }
    if ( p.count <= room && p.count > 1 )
    {
        clv_query_hits_sort64( hits, p.count );
    }
    return p.count;
}

clv_hit64 clv_query_wide_find_one(
    const query_scene* scene, const clv_queries* list, uint32_t index, query_mode mode )
{
    wide_probe p;
    start_wide( &p, scene, list, index, mode );
    run_wide( &p );
    return p.best.t <= p.reach ? p.best : NO_HIT64; // a callback may have put it out of reach since
}

void clv_query_wide_find_nearest( const query_scene* scene, const clv_queries* list, uint32_t index,
    uint32_t k, double max_distance, clv_hit64* hits )
{
    wide_probe p;
    start_wide( &p, scene, list, index, QUERY_NEAREST );
    start_distance64( &p, p.box, max_distance );
    p.hits = hits;
    p.room = k;
    if ( k > 0 )
    {
        run_wide( &p );
    }
    uint64_t count = p.is_shortened ? clv_query_hits_drop64( hits, p.count, p.reach ) : p.count;
    for ( uint64_t i = count; i < k; ++i )
    {
        hits[i] = NO_HIT64;
    }
}
