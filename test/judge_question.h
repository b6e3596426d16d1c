// SPDX-License-Identifier: MIT
// Random questions to a judge_world, of every kind, and the same as the library wants them.
#pragma once

#include "judge_world.h"

enum
{
    JUDGE_KINDS = CLV_QUERY_CAPSULE_CAST,
    JUDGE_PLANES = 6,
};

/// A question of any kind, in double; those to flat worlds have floats in it and no z.
typedef struct judge_question
{
    clv_query_kind kind; ///< of three axes and floats
    clv_aabb64 box;      ///< the box, or the place at both of its ends
    clv_vec64 end;       ///< of a capsule
    clv_vec64 half;
    clv_vec64 motion;
    double radius, max_t;
    clv_quat rotation; ///< flat: x and y are the turn
    clv_plane64 planes[JUDGE_PLANES];
    clv_half_plane half_planes[JUDGE_PLANES];
    uint32_t plane_count;
} judge_question;

/// Near the world's boxes, and about as large.
judge_question judge_question_make( judge_world* world, clv_query_kind kind );
double judge_some_length( judge_world* world );

/// An item of any kind, flat or in double.
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

/// The question as an item, and how many bytes that has.
size_t judge_question_pack( const judge_world* world, const judge_question* q, judge_item* to );
