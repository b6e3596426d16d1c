// SPDX-License-Identifier: MIT
// Contacts and rest shapes of a device's bodies on the host: the text of core/solid, compiled as C, with more room.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Doubles and words that kernels and host share, as kernels/solid.cl has them.
#define GPU_POSE_DOUBLES 12
#define GPU_CONTACT_DOUBLES 10
#define GPU_REST_DOUBLES 16
#define GPU_MOTION_DOUBLES 9
#define GPU_MARK_WORDS 2
#define GPU_RECORD_WORDS 16
#define GPU_RECORD_BITS 2
#define GPU_RECORD_MOVES_A 3
#define GPU_RECORD_MOVES_B 4
#define GPU_RECORD_CACHE 5
#define GPU_RECORD_HIT 2u
#define GPU_STATE_DONE 0u
#define GPU_STATE_MATCH 1u
#define GPU_STATE_UNDECIDED 2u
#define GPU_TASK_LAST 0x80000000u
#define GPU_COUNT_HALT 0
#define GPU_COUNT_UNCONVERGED 1
#define GPU_COUNT_SINGULAR 2
#define GPU_COUNT_DIVERGED 3
#define GPU_COUNT_DRIFTED 4
#define GPU_COUNT_UNTURNED 5
#define GPU_COUNT_HITS 6
#define GPU_COUNT_LANDED 7
#define GPU_COUNT_FLOOR_HITS 8
#define GPU_COUNT_DEPTHS 9

/// Vertices of a polytope that a device's item has room for.
#define GPU_POLYTOPE_ROOM 64

/// Hulls and bodies in memory of the host, laid out as on the device.
typedef struct gpu_solids
{
    const double* poses;
    const uint32_t* hulls;
    const uint32_t* rows; ///< four words each
    const float* vertices;
} gpu_solids;

/// A contact of two bodies. `cache`: nine words, how many and which vertices the last search ended with, and then those of this
/// one; NULL: none.
typedef struct gpu_solid_contact
{
    bool touching, converged;
    uint32_t gjk_round_count, epa_round_count;
    double numbers[GPU_CONTACT_DOUBLES]; ///< normal, depth, point of a, point of b
} gpu_solid_contact;

gpu_solid_contact clv_gpu_solid_contact( const gpu_solids* solids, uint32_t a, uint32_t b, uint32_t* cache );

/// What matching knows of a hull: mean of the vertices, axes of their spread, how many of them count.
void clv_gpu_solid_rest( const float* vertices, uint32_t vertex_count, double rest[GPU_REST_DOUBLES] );

/// The pose of a transform of seven floats, and back.
void clv_gpu_solid_pose( const float transform[7], double pose[GPU_POSE_DOUBLES] );
void clv_gpu_solid_transform( const double pose[GPU_POSE_DOUBLES], float transform[7] );
