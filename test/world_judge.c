// SPDX-License-Identifier: MIT
#include "world_judge.h"

#include "far_crowd.h"
#include "query/query_shape.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the world

static clv_aabb64 new_box( judge_world* world )
{
    if ( !world->is_flat )
    {
        return far_crowd_box( (far_crowd_kind)world->crowd, world->count, 300, &world->random );
    }
    clv_aabb box = test_crowd_box( (test_crowd)world->crowd, 300, &world->random );
    return ( clv_aabb64 ){ { (double)box.lower.x, (double)box.lower.y, 0 },
        { (double)box.upper.x, (double)box.upper.y, 0 } };
}

static clv_aabb2 flat_box( clv_aabb64 box )
{
    return (
        clv_aabb2 ){ { (float)box.lower.x, (float)box.lower.y }, { (float)box.upper.x, (float)box.upper.y } };
}

static void add_box( judge_world* world )
{
    clv_aabb64 box = new_box( world );
    clv_aabb2 flat = flat_box( box );
    clv_id id;
    CHECK_OK( world->is_flat ? clv_space_add2( world->space, &flat, 1, &id )
                             : clv_space_add64( world->space, &box, 1, &id ) );
    world->count = id.index >= world->count ? id.index + 1 : world->count;
    world->ids[id.index] = id;
    world->given[id.index] = box;
    world->rules[id.index] = ( clv_margin_rule ){ 0, 0, 0 };
    world->motions[id.index] = ( clv_vec3 ){ 0, 0, 0 };
    world->filters[id.index] = clv_default_filter();
    world->is_there[id.index] = true;
}

static void move_box( judge_world* world, uint32_t slot )
{
    clv_aabb64 box = new_box( world );
    if ( !world->is_flat && test_random_chance( &world->random, 80 ) )
    {
        box = far_crowd_step( (far_crowd_kind)world->crowd, world->given[slot], &world->random );
    }
    if ( !clv_aabb64_is_valid( box ) )
    {
        return;
    }
    clv_aabb2 flat = flat_box( box );
    CHECK_OK( world->is_flat ? clv_space_move2( world->space, &world->ids[slot], &flat, 1 )
                             : clv_space_move64( world->space, &world->ids[slot], &box, 1 ) );
    world->given[slot] = box;
}

judge_world* judge_world_make( bool is_flat, uint32_t workers, int crowd, uint32_t count, uint64_t seed )
{
    judge_world* world = test_alloc( 1, sizeof( judge_world ) );
    memset( world, 0, sizeof( *world ) );
    clv_space_def def = clv_default_space_def();
    def.flat = is_flat;
    def.doubles = !is_flat;
    def.worker_count = workers;
    CHECK_OK( clv_space_create( &def, &world->space ) );
    world->is_flat = is_flat;
    world->crowd = crowd;
    world->random = test_random_make( seed );
    for ( uint32_t i = 0; i < count; ++i )
    {
        add_box( world );
    }
    return world;
}

void judge_world_free( judge_world* world )
{
    clv_space_destroy( world->space );
    free( world );
}

void judge_world_change( judge_world* world )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        uint32_t chance = test_random_below( &world->random, 100 );
        if ( world->is_there[i] && chance < 4 )
        {
            CHECK_OK( clv_space_remove_one( world->space, world->ids[i] ) );
            world->is_there[i] = world->is_seen[i] = false;
        }
        else if ( world->is_there[i] && chance < 40 )
        {
            move_box( world, i );
        }
    }
    for ( uint32_t i = test_random_below( &world->random, 9 ); i > 0 && world->count < JUDGE_MOST; --i )
    {
        add_box( world );
    }
}

static clv_filter some_mask( test_random* random )
{
    clv_filter filter = { 1u << test_random_below( random, 3 ), 1 + test_random_below( random, 7 ), 0 };
    filter.group = test_random_chance( random, 30 ) ? (int32_t)test_random_below( random, 5 ) - 2 : 0;
    return filter;
}

void judge_world_dress( judge_world* world )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        if ( world->is_there[i] )
        {
            world->rules[i] = ( clv_margin_rule ){ test_random_between( &world->random, 0, 0.7f ), 0, 0 };
            world->filters[i] = some_mask( &world->random );
            CHECK_OK( clv_space_set_margin( world->space, &world->ids[i], &world->rules[i].fixed, 1 ) );
            CHECK_OK( clv_space_set_filter( world->space, &world->ids[i], &world->filters[i], 1 ) );
        }
    }
}

static double rounded( const judge_world* world, double value )
{
    return world->is_flat ? (double)(float)value : value;
}

void judge_world_push( judge_world* world )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        float reach = test_random_chance( &world->random, 20 ) ? 1e-3f : 3;
        if ( world->is_there[i] && test_random_chance( &world->random, 50 ) )
        {
            world->motions[i] = ( clv_vec3 ){ test_random_between( &world->random, -reach, reach ),
                test_random_chance( &world->random, 30 )
                    ? 0
                    : test_random_between( &world->random, -reach, reach ),
                test_random_between( &world->random, -reach, reach ) };
            CHECK_OK( clv_space_set_motion( world->space, &world->ids[i], &world->motions[i], 1 ) );
            world->motions[i].z = world->is_flat ? 0 : world->motions[i].z;
        }
        if ( world->is_there[i] && test_random_chance( &world->random, 30 ) )
        {
            world->rules[i] = ( clv_margin_rule ){ test_random_between( &world->random, 0, 0.1f ),
                test_random_between( &world->random, 0, 0.3f ), test_random_between( &world->random, 0, 1 ) };
            CHECK_OK( clv_space_set_margin_rule( world->space, &world->ids[i], &world->rules[i], 1 ) );
        }
    }
}

static float margin_of( const judge_world* world, uint32_t i )
{
    const clv_aabb64* box = &world->given[i];
    clv_margin_rule rule = world->rules[i];
    double size = 0, x = (double)world->motions[i].x, y = (double)world->motions[i].y,
           z = (double)world->motions[i].z;
    for ( int axis = 0; axis < ( world->is_flat ? 2 : 3 ); ++axis )
    {
        double side = ( &box->upper.x )[axis] - ( &box->lower.x )[axis];
        size = side - side == 0 && side > size ? side : size;
    }
    if ( rule.by_size == 0 && rule.by_speed == 0 )
    {
        return rule.fixed;
    }
    double margin = (double)rule.fixed + (double)rule.by_size * size +
        (double)rule.by_speed * sqrt( x * x + y * y + z * z );
    float nearest = margin < (double)FLT_MAX ? (float)margin : FLT_MAX;
    return (double)nearest < margin && nearest < FLT_MAX ? nextafterf( nearest, INFINITY ) : nearest;
}

// face + motion, rounded outwards by the machine itself.
static double sum_outwards( const judge_world* world, double face, float motion )
{
    int before = fegetround();
    CHECK_EQUAL( fesetround( motion > 0 ? FE_UPWARD : FE_DOWNWARD ), 0 );
    volatile double wide = face, way = (double)motion, wide_sum = wide + way;
    volatile float narrow = (float)face, narrow_way = motion, narrow_sum = narrow + narrow_way;
    CHECK_EQUAL( fesetround( before ), 0 );
    return world->is_flat ? (double)narrow_sum : wide_sum;
}

static clv_aabb64 test_box_of( const judge_world* world, uint32_t i )
{
    clv_aabb64 box = world->given[i];
    double margin = (double)margin_of( world, i );
    for ( int axis = 0; axis < ( world->is_flat ? 2 : 3 ); ++axis )
    {
        double *lower = &box.lower.x + axis, *upper = &box.upper.x + axis;
        float motion = ( &world->motions[i].x )[axis];
        *lower = margin != 0 ? rounded( world, *lower - margin ) : *lower;
        *upper = margin != 0 ? rounded( world, *upper + margin ) : *upper;
        *lower = motion < 0 ? sum_outwards( world, *lower, motion ) : *lower;
        *upper = motion > 0 ? sum_outwards( world, *upper, motion ) : *upper;
    }
    return box;
}

static void check_test_box( const judge_world* world, uint32_t i )
{
    clv_aabb64 expected = test_box_of( world, i ), wide = expected;
    clv_aabb2 flat = flat_box( expected ), expected_flat = flat;
    CHECK_OK( world->is_flat ? clv_space_get_test_box2( world->space, world->ids[i], &flat )
                             : clv_space_get_test_box64( world->space, world->ids[i], &wide ) );
    CHECK( memcmp( &flat, &expected_flat, sizeof( flat ) ) == 0 );
    CHECK( memcmp( &wide, &expected, sizeof( wide ) ) == 0 );
}

void judge_world_see( judge_world* world, bool is_update )
{
    for ( uint32_t i = 0; i < world->count; ++i )
    {
        world->is_seen[i] = world->is_there[i];
        world->seen_given[i] = world->given[i];
        world->seen_box[i] = test_box_of( world, i );
        world->motions[i] = is_update ? ( clv_vec3 ){ 0, 0, 0 } : world->motions[i];
        if ( world->is_there[i] )
        {
            check_test_box( world, i ); // of the next update
        }
    }
}

static bool filters_agree( const clv_filter* a, const clv_filter* b )
{
    if ( a->group == b->group && a->group != 0 )
    {
        return a->group > 0;
    }
    return ( a->category & b->mask ) != 0 && ( b->category & a->mask ) != 0;
}

void judge_world_check_pairs( judge_world* world )
{
    clv_pair* pairs = test_alloc( (size_t)world->count * world->count / 2 + 1, sizeof( clv_pair ) );
    uint64_t count = 0;
    for ( uint32_t a = 0; a < world->count; ++a )
    {
        for ( uint32_t b = a + 1; b < world->count; ++b )
        {
            pairs[count] = ( clv_pair ){ a, b };
            count += world->is_seen[a] && world->is_seen[b] &&
                filters_agree( &world->filters[a], &world->filters[b] ) &&
                clv_aabb64_overlap( world->seen_box[a], world->seen_box[b] );
        }
    }
    clv_pair_view view = clv_space_pairs( world->space );
    CHECK_EQUAL( view.count, count );
    CHECK_EQUAL( test_set_hash( view.pairs, view.count ), test_set_hash( pairs, count ) );
    free( pairs );
}

// ---- questions

static double tame( double value )
{
    return value - value == 0 ? value : 0;
}

static clv_vec64 tame_place( clv_vec64 v )
{
    return ( clv_vec64 ){ tame( v.x ), tame( v.y ), tame( v.z ) };
}

static clv_aabb64 some_area( judge_world* world )
{
    return world->count > 0 && test_random_chance( &world->random, 60 )
        ? world->given[test_random_below( &world->random, world->count )]
        : new_box( world );
}

static double some_length( judge_world* world )
{
    clv_aabb64 box = some_area( world );
    double side = tame( fabs( box.upper.x - box.lower.x ) );
    return rounded( world, tame( rounded( world, side * far_random_between( &world->random, 0, 3 ) ) ) );
}

static clv_vec64 some_way( judge_world* world )
{
    clv_vec64 way = { 0, 0, 0 };
    double length = test_random_chance( &world->random, 50 ) ? 1 : 4 * some_length( world );
    for ( int axis = 0; axis < ( world->is_flat ? 2 : 3 ); ++axis )
    {
        double part = far_random_between( &world->random, -1, 1 );
        part = test_random_chance( &world->random, 15 ) ? 0 : part;
        ( &way.x )[axis] = tame( rounded( world, part * length ) );
    }
    return way;
}

// From one object to another, past what lies between.
static clv_vec64 way_to_some( judge_world* world, clv_vec64 from )
{
    clv_vec64 to = tame_place( some_area( world ).lower );
    clv_vec64 way = { tame( rounded( world, to.x - from.x ) ), tame( rounded( world, to.y - from.y ) ),
        world->is_flat ? 0 : tame( to.z - from.z ) };
    return way;
}

static void some_planes( judge_world* world, judge_question* q )
{
    q->plane_count = test_random_below( &world->random, JUDGE_PLANES + 1 );
    for ( uint32_t i = 0; i < q->plane_count; ++i )
    {
        clv_vec64 n = some_way( world );
        double offset = rounded( world, some_length( world ) );
        if ( world->is_flat )
        {
            offset = rounded( world, tame( n.x * q->box.lower.x + n.y * q->box.lower.y ) + offset );
        }
        q->planes[i] = ( clv_plane64 ){ n, offset };
        q->half_planes[i] = ( clv_half_plane ){ { (float)n.x, (float)n.y }, (float)offset };
    }
}

static judge_question some_question( judge_world* world, clv_query_kind kind )
{
    test_random* random = &world->random;
    judge_question q;
    memset( &q, 0, sizeof( q ) );
    q.kind = kind;
    q.box = some_area( world );
    bool is_box = kind == CLV_QUERY_BOX || kind == CLV_QUERY_NEIGHBOURHOOD;
    if ( !is_box )
    {
        clv_vec64 at = test_random_chance( random, 50 ) ? q.box.lower : q.box.upper;
        q.box.lower = q.box.upper = kind == CLV_QUERY_POINT ? at : tame_place( at );
    }
    q.radius = some_length( world );
    if ( kind == CLV_QUERY_BOX_CAST )
    {
        for ( int axis = 0; axis < ( world->is_flat ? 2 : 3 ); ++axis )
        {
            double upper = rounded( world, ( &q.box.lower.x )[axis] + q.radius );
            ( &q.box.upper.x )[axis] = upper - upper == 0 ? upper : ( &q.box.lower.x )[axis];
        }
    }
    q.end = test_random_chance( random, 50 ) ? tame_place( some_area( world ).upper ) : q.box.lower;
    q.half = ( clv_vec64 ){ some_length( world ), some_length( world ),
        world->is_flat ? 0 : some_length( world ) };
    q.motion = test_random_chance( random, 50 ) ? some_way( world ) : way_to_some( world, q.box.lower );
    q.max_t = test_random_chance( random, 50 ) ? INFINITY : (double)test_random_between( random, 0, 20 );
    if ( test_random_chance( random, 75 ) )
    {
        q.rotation = ( clv_quat ){ test_random_between( random, -1, 1 ), test_random_between( random, -1, 1 ),
            test_random_between( random, -1, 1 ), test_random_between( random, -1, 1 ) };
    }
    some_planes( world, &q );
    return q;
}

// ---- brute force

static bool slabs( const judge_world* world, const judge_question* q, const clv_aabb64* box, double* t )
{
    double most = world->is_flat ? (double)FLT_MAX : DBL_MAX, entry = 0,
           exit = q->max_t < most ? q->max_t : most;
    for ( int axis = 0; axis < ( world->is_flat ? 2 : 3 ); ++axis )
    {
        double d = ( &q->motion.x )[axis];
        double low = rounded( world, ( &box->lower.x )[axis] - ( &q->box.upper.x )[axis] );
        double high = rounded( world, ( &box->upper.x )[axis] - ( &q->box.lower.x )[axis] );
        if ( d == 0 )
        {
            if ( low > 0 || high < 0 )
            {
                return false;
            }
            continue;
        }
        double inverse = rounded( world, 1 / d );
        double first = rounded( world, ( d > 0 ? low : high ) * inverse );
        double last = rounded( world, ( d > 0 ? high : low ) * inverse );
        entry = first > entry ? first : entry;
        exit = last < exit ? last : exit;
    }
    *t = entry;
    return entry <= exit;
}

static double gap( double lower, double upper, double other_lower, double other_upper )
{
    double above = other_lower - upper, below = lower - other_upper;
    return above > 0 ? above : below > 0 ? below : 0;
}

// Always by way of the largest gap's exponent, where the library does so only at the ends of the doubles.
static double distance_of( const clv_aabb64* a, const clv_aabb64* b )
{
    double x = gap( a->lower.x, a->upper.x, b->lower.x, b->upper.x );
    double y = gap( a->lower.y, a->upper.y, b->lower.y, b->upper.y );
    double z = gap( a->lower.z, a->upper.z, b->lower.z, b->upper.z );
    double most = fmax( x, fmax( y, z ) );
    if ( most == 0 || most - most != 0 )
    {
        return most;
    }
    int e = ilogb( most );
    x = scalbn( x, -e );
    y = scalbn( y, -e );
    z = scalbn( z, -e );
    return scalbn( sqrt( x * x + y * y + z * z ), e );
}

static bool is_near(
    const judge_world* world, const clv_aabb64* a, const clv_aabb64* b, double most, double* t )
{
    if ( !world->is_flat )
    {
        *t = distance_of( a, b );
        return *t <= most;
    }
    double x = gap( a->lower.x, a->upper.x, b->lower.x, b->upper.x );
    double y = gap( a->lower.y, a->upper.y, b->lower.y, b->upper.y );
    *t = (double)(float)sqrt( x * x + y * y );
    return x * x + y * y <= most * most;
}

static double product( double n, double face )
{
    return n == 0 ? 0 : n * ( face - face == 0 ? fmin( fmax( face, -1e150 ), 1e150 ) : face );
}

static bool planes_meet( const judge_world* world, const judge_question* q, const clv_aabb64* box )
{
    for ( uint32_t i = 0; i < q->plane_count; ++i )
    {
        clv_vec64 n = q->planes[i].normal, at = world->is_flat ? ( clv_vec64 ){ 0, 0, 0 } : q->box.lower;
        double least = product( n.x, ( n.x > 0 ? box->lower.x : box->upper.x ) - at.x );
        least += product( n.y, ( n.y > 0 ? box->lower.y : box->upper.y ) - at.y );
        least += product( n.z, ( n.z > 0 ? box->lower.z : box->upper.z ) - at.z );
        if ( least > q->planes[i].offset )
        {
            return false;
        }
    }
    return true;
}

// As the shape sees it: from its own place, or, flat, with the third axis that flat boxes have.
static clv_aabb64 seen_from( const judge_world* world, const judge_question* q, const clv_aabb64* box )
{
    clv_aabb64 from = *box;
    if ( world->is_flat )
    {
        from.lower.z = 0;
        from.upper.z = 1;
        return from;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        ( &from.lower.x )[axis] -= ( &q->box.lower.x )[axis];
        ( &from.upper.x )[axis] -= ( &q->box.lower.x )[axis];
    }
    return from;
}

static bool is_far_off( const clv_aabb64* b )
{
    return b->lower.x >= 1e150 || b->lower.y >= 1e150 || b->lower.z >= 1e150 || b->upper.x <= -1e150 ||
        b->upper.y <= -1e150 || b->upper.z <= -1e150;
}

static double awake( double motion )
{
    return fabs( motion ) < 1e-300 ? 0 : motion;
}

// The box around the shape, larger by a billionth, on its way; a capsule that stands still is a sphere that goes from end to end.
static bool room_meets(
    const judge_question* q, const double d[3], const double motion[3], const clv_aabb64* from )
{
    bool is_still = q->kind == CLV_QUERY_CAPSULE;
    double room = 1e-9, entry = 0,
           exit = is_still ? ( 1 + 2 * room ) * ( 1 + room ) : q->max_t * ( 1 + room );
    exit = exit < DBL_MAX ? exit : DBL_MAX;
    for ( int axis = 0; axis < 3; ++axis )
    {
        double m = is_still ? awake( d[axis] ) : motion[axis], e = is_still ? 0 : d[axis];
        double more = q->radius + room * ( q->radius + fabs( e ) ) + 1e-150;
        double high = ( e > 0 ? e : 0 ) + more, low = ( e < 0 ? e : 0 ) - more;
        high += is_still ? room * fabs( d[axis] ) : 0;
        low -= is_still ? room * fabs( d[axis] ) : 0;
        double near = ( &from->lower.x )[axis] - high, far = ( &from->upper.x )[axis] - low;
        if ( m == 0 )
        {
            if ( near > 0 || far < 0 )
            {
                return false;
            }
            continue;
        }
        double first = ( m > 0 ? near : far ) * ( 1 / m ),
               last = ( m > 0 ? far : near ) * ( 1 / m * ( 1 + room ) );
        entry = first > entry ? first : entry;
        exit = last < exit ? last : exit;
    }
    return entry <= exit;
}

// By the library's own test of one shape and one box, which has tests of its own.
static bool round_meets( const judge_world* world, const judge_question* q, const clv_aabb64* box, double* t )
{
    bool is_long = q->kind == CLV_QUERY_CAPSULE || q->kind == CLV_QUERY_CAPSULE_CAST;
    clv_vec64 a = q->box.lower, b = is_long ? q->end : q->box.lower;
    clv_aabb64 from = seen_from( world, q, box );
    query_capsule c = { { 0, 0, 0 }, { b.x - a.x, b.y - a.y, b.z - a.z }, q->radius };
    if ( world->is_flat )
    {
        c = ( query_capsule ){ { a.x, a.y, 0.5 }, { b.x, b.y, 0.5 }, q->radius };
    }
    else if ( is_far_off( &from ) )
    {
        return false;
    }
    const double motion[3] = { awake( q->motion.x ), awake( q->motion.y ), awake( q->motion.z ) };
    if ( !world->is_flat && !room_meets( q, c.b, motion, &from ) )
    {
        return false;
    }
    if ( q->kind == CLV_QUERY_CAPSULE )
    {
        return clv_query_capsule_meets64( &c, &from );
    }
    double most = world->is_flat ? (double)FLT_MAX : DBL_MAX;
    bool is_met = clv_query_capsule_cast64( &c, motion, q->max_t < most ? q->max_t : most, &from, t );
    *t = rounded( world, *t );
    return is_met;
}

static bool turned_meets( const judge_world* world, const judge_question* q, const clv_aabb64* box )
{
    clv_aabb64 from = seen_from( world, q, box );
    double center[3] = { 0, 0, 0 }, half[3] = { q->half.x, q->half.y, q->half.z };
    double turn[4] = { (double)q->rotation.x, (double)q->rotation.y, (double)q->rotation.z,
        (double)q->rotation.w };
    if ( world->is_flat )
    {
        double c = (double)q->rotation.x, s = (double)q->rotation.y, length = sqrt( c * c + s * s );
        center[0] = q->box.lower.x;
        center[1] = q->box.lower.y;
        center[2] = 0.5;
        turn[0] = turn[1] = 0;
        turn[2] = c < 0 ? length - c : s;
        turn[3] = c < 0 ? s : length + c;
    }
    else if ( is_far_off( &from ) )
    {
        return false;
    }
    query_turned_box t = clv_query_turn( center, half, turn );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double reach = fabs( t.axes[0][axis] ) * half[0] + fabs( t.axes[1][axis] ) * half[1] +
            fabs( t.axes[2][axis] ) * half[2];
        double low = center[axis] - reach, high = center[axis] + reach;
        if ( world->is_flat ) // a box of floats around it
        {
            low = (double)(float)low > low ? (double)nextafterf( (float)low, -INFINITY ) : (double)(float)low;
            high = (double)(float)high < high ? (double)nextafterf( (float)high, INFINITY )
                                              : (double)(float)high;
        }
        if ( ( &from.lower.x )[axis] > high || ( &from.upper.x )[axis] < low )
        {
            return false;
        }
    }
    for ( int i = 0; i < 6; ++i )
    {
        const double* n = t.faces[i].normal;
        double least = product( n[0], n[0] > 0 ? from.lower.x : from.upper.x );
        least += product( n[1], n[1] > 0 ? from.lower.y : from.upper.y );
        least += product( n[2], n[2] > 0 ? from.lower.z : from.upper.z );
        if ( least > t.faces[i].offset )
        {
            return false;
        }
    }
    return clv_query_turned_box_edges_meet64( &t, &from );
}

bool judge_meets( const judge_world* world, const judge_question* q, const clv_aabb64* box, double* t )
{
    *t = 0;
    switch ( q->kind )
    {
    case CLV_QUERY_POINT:
    case CLV_QUERY_BOX: return clv_aabb64_overlap( q->box, *box );
    case CLV_QUERY_SPHERE:
    case CLV_QUERY_NEIGHBOURHOOD: return is_near( world, &q->box, box, q->radius, t );
    case CLV_QUERY_ORIENTED_BOX: return turned_meets( world, q, box );
    case CLV_QUERY_HALF_SPACES: return planes_meet( world, q, box );
    case CLV_QUERY_RAY:
    case CLV_QUERY_BOX_CAST: return slabs( world, q, box, t );
    default: return round_meets( world, q, box, t );
    }
}

static uint32_t find_all( const judge_world* world, const judge_question* q, const clv_filter* filter,
    bool as_given, clv_hit64* hits )
{
    uint32_t count = 0;
    for ( uint32_t slot = 0; slot < world->count; ++slot )
    {
        const clv_aabb64* box = as_given ? &world->seen_given[slot] : &world->seen_box[slot];
        double t = 0;
        if ( world->is_seen[slot] && ( filter == NULL || filters_agree( filter, &world->filters[slot] ) ) &&
            judge_meets( world, q, box, &t ) )
        {
            hits[count++] = ( clv_hit64 ){ slot, t };
        }
    }
    return count;
}

// ---- as the library wants them

typedef union judge_item
{
    clv_vec2 point2;
    clv_aabb2 box2;
    clv_circle circle;
    clv_neighbourhood2 around2;
    clv_capsule2 capsule2;
    clv_oriented_box2 turned2;
    clv_half_planes half_planes;
    clv_ray2 ray2;
    clv_box_cast2 box_cast2;
    clv_circle_cast circle_cast;
    clv_capsule_cast2 capsule_cast2;
    clv_vec64 point;
    clv_aabb64 box;
    clv_sphere64 sphere;
    clv_neighbourhood64 around;
    clv_capsule64 capsule;
    clv_oriented_box64 turned;
    clv_half_spaces64 half_spaces;
    clv_ray64 ray;
    clv_box_cast64 box_cast;
    clv_sphere_cast64 sphere_cast;
    clv_capsule_cast64 capsule_cast;
} judge_item;

static clv_vec2 flat_place( clv_vec64 v )
{
    return ( clv_vec2 ){ (float)v.x, (float)v.y };
}

static size_t pack_flat( const judge_question* q, judge_item* to )
{
    clv_vec2 a = flat_place( q->box.lower ), end = flat_place( q->end ), way = flat_place( q->motion );
    float radius = (float)q->radius, most = (float)q->max_t;
    switch ( q->kind )
    {
    case CLV_QUERY_POINT: to->point2 = a; return sizeof( to->point2 );
    case CLV_QUERY_BOX: to->box2 = flat_box( q->box ); return sizeof( to->box2 );
    case CLV_QUERY_SPHERE: to->circle = ( clv_circle ){ a, radius }; return sizeof( to->circle );
    case CLV_QUERY_NEIGHBOURHOOD:
        to->around2 = ( clv_neighbourhood2 ){ flat_box( q->box ), radius };
        return sizeof( to->around2 );
    case CLV_QUERY_CAPSULE: to->capsule2 = ( clv_capsule2 ){ a, end, radius }; return sizeof( to->capsule2 );
    case CLV_QUERY_ORIENTED_BOX:
        to->turned2 = ( clv_oriented_box2 ){ a, flat_place( q->half ), { q->rotation.x, q->rotation.y } };
        return sizeof( to->turned2 );
    case CLV_QUERY_HALF_SPACES:
        to->half_planes = ( clv_half_planes ){ q->half_planes, q->plane_count };
        return sizeof( to->half_planes );
    case CLV_QUERY_RAY: to->ray2 = ( clv_ray2 ){ a, way, most }; return sizeof( to->ray2 );
    case CLV_QUERY_BOX_CAST:
        to->box_cast2 = ( clv_box_cast2 ){ flat_box( q->box ), way, most };
        return sizeof( to->box_cast2 );
    case CLV_QUERY_SPHERE_CAST:
        to->circle_cast = ( clv_circle_cast ){ { a, radius }, way, most };
        return sizeof( to->circle_cast );
    default:
        to->capsule_cast2 = ( clv_capsule_cast2 ){ { a, end, radius }, way, most };
        return sizeof( to->capsule_cast2 );
    }
}

static size_t pack_wide( const judge_question* q, judge_item* to )
{
    clv_vec64 a = q->box.lower;
    switch ( q->kind )
    {
    case CLV_QUERY_POINT: to->point = a; return sizeof( to->point );
    case CLV_QUERY_BOX: to->box = q->box; return sizeof( to->box );
    case CLV_QUERY_SPHERE: to->sphere = ( clv_sphere64 ){ a, q->radius }; return sizeof( to->sphere );
    case CLV_QUERY_NEIGHBOURHOOD:
        to->around = ( clv_neighbourhood64 ){ q->box, q->radius };
        return sizeof( to->around );
    case CLV_QUERY_CAPSULE:
        to->capsule = ( clv_capsule64 ){ a, q->end, q->radius };
        return sizeof( to->capsule );
    case CLV_QUERY_ORIENTED_BOX:
        to->turned = ( clv_oriented_box64 ){ a, q->half, q->rotation };
        return sizeof( to->turned );
    case CLV_QUERY_HALF_SPACES:
        to->half_spaces = ( clv_half_spaces64 ){ a, q->planes, q->plane_count };
        return sizeof( to->half_spaces );
    case CLV_QUERY_RAY: to->ray = ( clv_ray64 ){ a, q->motion, q->max_t }; return sizeof( to->ray );
    case CLV_QUERY_BOX_CAST:
        to->box_cast = ( clv_box_cast64 ){ q->box, q->motion, q->max_t };
        return sizeof( to->box_cast );
    case CLV_QUERY_SPHERE_CAST:
        to->sphere_cast = ( clv_sphere_cast64 ){ { a, q->radius }, q->motion, q->max_t };
        return sizeof( to->sphere_cast );
    default:
        to->capsule_cast = ( clv_capsule_cast64 ){ { a, q->end, q->radius }, q->motion, q->max_t };
        return sizeof( to->capsule_cast );
    }
}

// ---- asking

enum
{
    MOST_NEAREST = 11,
};

typedef struct judge_list
{
    clv_queries queries;
    judge_question* questions;
    unsigned char* packed;
    clv_filter* filters;
    uint64_t* offsets;
    clv_hit64 *expected, *hits; // as the judge has them, and as the library
    clv_hit* narrow;            // the latter, flat
    uint64_t total;
} judge_list;

static const clv_filter* filter_at( const judge_list* list, uint32_t i )
{
    const clv_queries* q = &list->queries;
    return q->filters == NULL ? NULL : &q->filters[q->filter_each ? i : 0];
}

static void clamp( double* values, int count )
{
    for ( int i = 0; i < count; ++i )
    {
        values[i] = fmin( fmax( values[i], -1e150 ), 1e150 );
    }
}

// Shapes with a test of their own measure 1e150 at most.
static void fit_question( const judge_world* world, judge_question* q )
{
    bool is_measured =
        q->kind >= CLV_QUERY_CAPSULE && q->kind != CLV_QUERY_RAY && q->kind != CLV_QUERY_BOX_CAST;
    if ( world->is_flat || !is_measured )
    {
        return;
    }
    clamp( &q->box.lower.x, 3 );
    clamp( &q->box.upper.x, 3 );
    clamp( &q->end.x, 3 );
    clamp( &q->half.x, 3 );
    clamp( &q->motion.x, 3 );
    clamp( &q->radius, 1 );
    for ( uint32_t i = 0; i < q->plane_count; ++i )
    {
        clamp( &q->planes[i].normal.x, 3 );
    }
}

static judge_list make_list( judge_world* world, clv_query_kind kind, uint32_t count )
{
    judge_list list = { .total = 0 };
    uint32_t most = world->count + MOST_NEAREST;
    list.questions = test_alloc( count, sizeof( judge_question ) );
    list.packed = test_alloc( count, sizeof( judge_item ) );
    list.filters = test_alloc( count, sizeof( clv_filter ) );
    list.offsets = test_alloc( count + 1, sizeof( uint64_t ) );
    list.expected = test_alloc( (size_t)count * most + 1, sizeof( clv_hit64 ) );
    list.hits = test_alloc( (size_t)count * most + 1, sizeof( clv_hit64 ) );
    list.narrow = test_alloc( (size_t)count * most + 1, sizeof( clv_hit ) );
    size_t size = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        judge_item item;
        list.questions[i] = some_question( world, kind );
        fit_question( world, &list.questions[i] );
        size =
            world->is_flat ? pack_flat( &list.questions[i], &item ) : pack_wide( &list.questions[i], &item );
        memcpy( list.packed + i * size, &item, size );
        list.filters[i] = some_mask( &world->random );
    }
    list.queries = clv_query_list(
        (clv_query_kind)( (uint32_t)kind + ( world->is_flat ? 32u : 64u ) ), list.packed, count );
    list.queries.filters = test_random_chance( &world->random, 50 ) ? list.filters : NULL;
    list.queries.filter_each = test_random_chance( &world->random, 50 );
    list.queries.as_given = test_random_chance( &world->random, 50 );
    list.offsets[0] = 0;
    for ( uint32_t i = 0; i < count; ++i )
    {
        list.total += find_all( world, &list.questions[i], filter_at( &list, i ), list.queries.as_given,
            list.expected + list.total );
        list.offsets[i + 1] = list.total;
    }
    return list;
}

static void free_list( judge_list* list )
{
    free( list->questions );
    free( list->packed );
    free( list->filters );
    free( list->offsets );
    free( list->expected );
    free( list->hits );
    free( list->narrow );
}

// The library's hits as doubles, whichever they were.
static void widen_hits( const judge_world* world, judge_list* list, uint64_t count )
{
    for ( uint64_t i = 0; world->is_flat && i < count; ++i )
    {
        list->hits[i] = ( clv_hit64 ){ list->narrow[i].index, (double)list->narrow[i].t };
    }
}

static void check_hits( const clv_hit64* actual, const clv_hit64* expected, uint64_t count )
{
    for ( uint64_t i = 0; i < count; ++i )
    {
        CHECK_EQUAL( actual[i].index, expected[i].index );
        CHECK( actual[i].t == expected[i].t );
    }
}

static void check_all( judge_world* world, judge_list* list )
{
    uint32_t count = list->queries.count;
    uint64_t* offsets = test_alloc( count + 1, sizeof( uint64_t ) );
    uint64_t found;
    if ( world->is_flat )
    {
        clv_query_lists lists = { offsets, list->narrow, list->total, 0, 0 };
        CHECK_OK( clv_space_query_all( world->space, &list->queries, &lists ) );
        found = lists.count;
    }
    else
    {
        clv_query_lists64 lists = { offsets, list->hits, list->total, 0, 0 };
        CHECK_OK( clv_space_query_all64( world->space, &list->queries, &lists ) );
        found = lists.count;
    }
    CHECK_EQUAL( found, list->total );
    CHECK( memcmp( offsets, list->offsets, ( count + 1 ) * sizeof( uint64_t ) ) == 0 );
    widen_hits( world, list, found );
    check_hits( list->hits, list->expected, found );
    free( offsets );
}

typedef struct visit_record
{
    judge_list* list;
    uint32_t next;
} visit_record;

static bool compare_visit64( uint32_t query, const clv_hit64* hits, uint64_t count, void* user )
{
    visit_record* record = user;
    const uint64_t* offsets = record->list->offsets;
    CHECK_EQUAL( query, record->next );
    CHECK_EQUAL( count, offsets[query + 1] - offsets[query] );
    check_hits( hits, record->list->expected + offsets[query], count );
    record->next += 1;
    return true;
}

static bool compare_visit( uint32_t query, const clv_hit* hits, uint64_t count, void* user )
{
    visit_record* record = user;
    for ( uint64_t i = 0; i < count; ++i )
    {
        record->list->hits[i] = ( clv_hit64 ){ hits[i].index, (double)hits[i].t };
    }
    return compare_visit64( query, record->list->hits, count, user );
}

static void check_visit( judge_world* world, judge_list* list )
{
    visit_record record = { list, 0 };
    CHECK_OK( world->is_flat
            ? clv_space_query_visit( world->space, &list->queries, compare_visit, &record, NULL )
            : clv_space_query_visit64( world->space, &list->queries, compare_visit64, &record, NULL ) );
    CHECK_EQUAL( record.next, list->queries.count );
}

static void check_any( judge_world* world, judge_list* list )
{
    uint32_t count = list->queries.count;
    CHECK_OK( world->is_flat ? clv_space_query_any( world->space, &list->queries, list->narrow, NULL )
                             : clv_space_query_any64( world->space, &list->queries, list->hits, NULL ) );
    widen_hits( world, list, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        bool is_one = list->offsets[i] == list->offsets[i + 1] && list->hits[i].index == CLV_NO_HIT;
        for ( uint64_t j = list->offsets[i]; j < list->offsets[i + 1]; ++j )
        {
            is_one |=
                list->hits[i].index == list->expected[j].index && list->hits[i].t == list->expected[j].t;
        }
        CHECK( is_one );
    }
}

static void check_closest( judge_world* world, judge_list* list )
{
    uint32_t count = list->queries.count;
    CHECK_OK( world->is_flat ? clv_space_query_closest( world->space, &list->queries, list->narrow, NULL )
                             : clv_space_query_closest64( world->space, &list->queries, list->hits, NULL ) );
    widen_hits( world, list, count );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_hit64 best = { CLV_NO_HIT, INFINITY };
        for ( uint64_t j = list->offsets[i]; j < list->offsets[i + 1]; ++j )
        {
            best = list->expected[j].t < best.t ? list->expected[j] : best;
        }
        check_hits( &list->hits[i], &best, 1 );
    }
}

static void nearest_by_force(
    const judge_world* world, const judge_list* list, uint32_t i, uint32_t k, double most, clv_hit64* hits )
{
    judge_question q = list->questions[i];
    q.kind = CLV_QUERY_NEIGHBOURHOOD;
    q.radius = most;
    clv_hit64 found[JUDGE_MOST];
    uint32_t count = find_all( world, &q, filter_at( list, i ), list->queries.as_given, found );
    for ( uint32_t place = 0; place < k; ++place )
    {
        clv_hit64 best = { CLV_NO_HIT, INFINITY };
        uint32_t at = 0;
        for ( uint32_t j = 0; j < count; ++j )
        {
            bool is_better =
                found[j].index != CLV_NO_HIT && ( best.index == CLV_NO_HIT || found[j].t < best.t );
            best = is_better ? found[j] : best;
            at = is_better ? j : at;
        }
        hits[place] = best;
        if ( best.index != CLV_NO_HIT )
        {
            found[at].index = CLV_NO_HIT;
        }
    }
}

static void check_nearest( judge_world* world, judge_list* list )
{
    uint32_t count = list->queries.count, k = 1 + test_random_below( &world->random, MOST_NEAREST );
    double most =
        test_random_chance( &world->random, 50 ) ? INFINITY : rounded( world, some_length( world ) );
    CHECK_OK( world->is_flat
            ? clv_space_query_nearest( world->space, &list->queries, k, (float)most, list->narrow, NULL )
            : clv_space_query_nearest64( world->space, &list->queries, k, most, list->hits, NULL ) );
    widen_hits( world, list, (uint64_t)count * k );
    for ( uint32_t i = 0; i < count; ++i )
    {
        clv_hit64 expected[MOST_NEAREST];
        nearest_by_force( world, list, i, k, most, expected );
        check_hits( list->hits + (size_t)i * k, expected, k );
    }
}

static const char* const s_kind_names[JUDGE_KINDS + 1] = { "", "point", "box", "sphere", "neighbourhood",
    "capsule", "oriented box", "half-spaces", "ray", "box cast", "sphere cast", "capsule cast" };

void judge_world_check( judge_world* world, uint32_t count )
{
    for ( int kind = CLV_QUERY_POINT; kind <= JUDGE_KINDS; ++kind )
    {
        test_where.note = s_kind_names[kind];
        judge_list list = make_list( world, (clv_query_kind)kind, count );
        check_all( world, &list );
        check_any( world, &list );
        if ( kind >= CLV_QUERY_RAY )
        {
            check_closest( world, &list );
        }
        if ( kind == CLV_QUERY_POINT || kind == CLV_QUERY_BOX )
        {
            check_nearest( world, &list );
        }
        check_visit( world, &list );
        free_list( &list );
    }
    test_where.note = NULL;
}
