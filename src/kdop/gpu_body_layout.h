// SPDX-License-Identifier: MIT
// What host and kernels have in common of bodies in the device's memory. C and OpenCL C.
#ifndef __OPENCL_C_VERSION__
#pragma once
#endif

// Of a pose: the rotation's rows, then the position.
#define POSE_DOUBLES 12

// Of a hull at rest: its vertices' mean, the axes of their spread as columns, how many of them count.
#define REST_DOUBLES 16
#define REST_AXES 3
#define REST_RANK 12

// Of a body: velocity, where the frame found it, where the last match that failed would have moved it.
#define MOTION_DOUBLES 9
#define MOTION_VELOCITY 0
#define MOTION_BEFORE 3
#define MOTION_UNTURNED 6

// Words of a body: changes of pose in this frame, and bits.
#define MARK_MOVES 0
#define MARK_BITS 1
#define MARK_WORDS 2
#define MARK_TOUCHED 1
#define MARK_MATCHED 2
#define MARK_LANDED 4
#define MARK_ON_FLOOR 8

// Hulls are rows of four words (first vertex, vertices, bits of the radius, 0), and three floats a vertex.
#define HULL_WORDS 4

// Contacts: normal, depth, the point of a, the point of b.
#define CONTACT_DOUBLES 10

// Pairs of a simulation's frame: what its rounds remember of one.
#define RECORD_WORDS 16
#define RECORD_A 0
#define RECORD_B 1
#define RECORD_BITS 2
#define RECORD_MOVES_A 3 // changes of pose the bodies had when they were last found apart
#define RECORD_MOVES_B 4
#define RECORD_CACHE 5 // how many, then four of a, four of b

#define RECORD_APART 1u
#define RECORD_HIT 2u

// What is to be done with a task's contact.
#define STATE_DONE 0u
#define STATE_MATCH 1u
#define STATE_UNDECIDED 2u

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
#define COUNT_WORDS 12

// A task: a pair, or behind all pairs a body that reaches the floor; the last bit for a frame's last round.
#define TASK_LAST 0x80000000u
