// SPDX-License-Identifier: MIT
// What the lanes of a node in double are asked; as one box would be (query_wide_box.h), to the bit. This is most of what a question costs,
// and so it is compiled where the walk is.
#pragma once

#include "query/query_wide_box.h"

static inline clv_aabb64 query_wide_lane_box( const query_wide_node* node, uint32_t lane )
{
    return ( clv_aabb64 ){ { node->lower[0][lane], node->lower[1][lane], node->lower[2][lane] },
        { node->upper[0][lane], node->upper[1][lane], node->upper[2][lane] } };
}

static inline uint32_t query_wide_look_overlap( const query_wide_probe* p, const query_wide_node* node )
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

static inline uint32_t query_wide_look_cast(
    const query_wide_probe* p, const query_wide_node* node, double near[QUERY_LANES] )
{
    double to[QUERY_LANES], reach = query_wide_cast_reach( p );
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        near[lane] = 0;
        to[lane] = reach;
    }
    for ( int axis = 0; axis < 3; ++axis )
    {
        const double* near_face = p->is_forward[axis] ? node->lower[axis] : node->upper[axis];
        const double* far_face = p->is_forward[axis] ? node->upper[axis] : node->lower[axis];
        for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane ) // clv_query_wide_cast_sides, lane by lane
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

/// A square beyond which the root is beyond the reach, whatever is rounded: most lanes need no root then.
static inline double query_wide_square_limit( double reach )
{
    return reach > 1e-130 && reach < 1e130 ? reach * reach * ( 1 + 1e-12 ) : INFINITY;
}

static inline uint32_t query_wide_look_distance(
    const query_wide_probe* p, const query_wide_node* node, double near[QUERY_LANES] )
{
    double gaps[3][QUERY_LANES], squares[QUERY_LANES] = { 0 };
    for ( int axis = 0; axis < 3; ++axis )
    {
        double lower = ( &p->box.lower.x )[axis], upper = ( &p->box.upper.x )[axis];
        for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
        {
            gaps[axis][lane] =
                query_wide_gap( lower, upper, node->lower[axis][lane], node->upper[axis][lane] );
            squares[lane] += gaps[axis][lane] * gaps[axis][lane];
        }
    }
    double limit = query_wide_square_limit( p->reach );
    uint32_t passed = 0;
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        if ( squares[lane] <= limit )
        {
            near[lane] = query_wide_length( squares[lane], gaps[0][lane], gaps[1][lane], gaps[2][lane] );
            passed |= (uint32_t)( near[lane] <= p->reach ) << lane;
        }
    }
    return passed;
}

static inline uint32_t query_wide_look_planes( const query_wide_probe* p, const query_wide_node* node )
{
    uint32_t passed = 0;
    for ( uint32_t lane = 0; lane < QUERY_LANES; ++lane )
    {
        clv_aabb64 box = query_wide_lane_box( node, lane );
        clv_aabb64 from = clv_query_wide_from( &box, p->origin );
        bool is_in = node->child[lane] != QUERY_NOBODY &&
            ( p->look == WIDE_PLANES ? clv_query_wide_planes_meet( p, &from )
                                     : clv_query_wide_faces_meet( p, &from ) );
        passed |= (uint32_t)is_in << lane;
    }
    return passed;
}

/// Which lanes of a node the probe may meet, as bits; where it has times or distances, those of these lanes.
static inline uint32_t query_wide_look_at(
    const query_wide_probe* p, const query_wide_node* node, double near[QUERY_LANES] )
{
    switch ( p->look )
    {
    case WIDE_OVERLAP: return query_wide_look_overlap( p, node );
    case WIDE_CAST: return query_wide_look_cast( p, node, near );
    case WIDE_DISTANCE: return query_wide_look_distance( p, node, near );
    default: return query_wide_look_planes( p, node );
    }
}
