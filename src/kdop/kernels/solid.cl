// SPDX-License-Identifier: MIT
// Bodies as they lie in a device's memory, behind common.cl and src/core/solid/solid_math.h in front of every
// program about them.

// Of a pose in memory: the rotation's rows, then the position.
#define POSE_DOUBLES 12

SOLID math_pose load_pose( __global const double* poses, uint body )
{
    __global const double* from = poses + (size_t)body * POSE_DOUBLES;
    math_pose pose;
    for ( int i = 0; i < 9; ++i )
    {
        pose.rotation.m[i / 3][i % 3] = from[i];
    }
    pose.position = math_make( from[9], from[10], from[11] );
    return pose;
}

SOLID void store_pose( __global double* poses, uint body, const math_pose* pose )
{
    __global double* to = poses + (size_t)body * POSE_DOUBLES;
    for ( int i = 0; i < 9; ++i )
    {
        to[i] = pose->rotation.m[i / 3][i % 3];
    }
    to[9] = pose->position.x;
    to[10] = pose->position.y;
    to[11] = pose->position.z;
}

// ---- hulls: rows of four words (first vertex, vertices, bits of the radius, 0), and three floats a vertex

// ---- pairs of a simulation's frame: what its rounds remember of one

// Contacts in memory: normal, depth, the point of a, the point of b.
#define CONTACT_DOUBLES 10

#define RECORD_WORDS 16
#define RECORD_A 0
#define RECORD_B 1
#define RECORD_BITS 2
#define RECORD_MOVES_A 3 // changes of pose the bodies had when they were last found apart
#define RECORD_MOVES_B 4
#define RECORD_CACHE 5 // how many, then four of a, four of b

#define RECORD_APART 1
#define RECORD_HIT 2

// What is to be done with a task's contact.
#define STATE_DONE 0
#define STATE_MATCH 1
#define STATE_UNDECIDED 2

// Counters of a frame.
#define COUNT_HALT 0 // 0, or one more than the level that waits for the host
#define COUNT_UNCONVERGED 1
#define COUNT_SINGULAR 2
#define COUNT_DIVERGED 3
#define COUNT_DRIFTED 4
#define COUNT_UNTURNED 5
#define COUNT_HITS 6
#define COUNT_LANDED 7
#define COUNT_FLOOR_HITS 8
#define COUNT_DEPTHS 9

// A task: a pair, or behind all pairs a body that reaches the floor; the last bit for a frame's last round.
#define TASK_LAST 0x80000000u

// Words of a body: changes of pose in this frame, and bits.
#define MARK_MOVES 0
#define MARK_BITS 1
#define MARK_WORDS 2
#define MARK_TOUCHED 1
#define MARK_MATCHED 2
#define MARK_LANDED 4
#define MARK_ON_FLOOR 8
