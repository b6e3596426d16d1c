// SPDX-License-Identifier: MIT
// A tree of src/methods/kd small enough to draw, built and grown by hand.
#pragma once

#include "kd/kd_search.h"
#include "support.h"

enum
{
    KD_FIXTURE_MOST = 64
};

typedef struct kd_fixture
{
    base_memory memory;
    kd_tree tree;
    clv_aabb boxes[KD_FIXTURE_MOST];
    uint32_t count;
} kd_fixture;

/// A root alone, from -100 to 100 on every axis.
void kd_fixture_open( kd_fixture* g, uint32_t leaf_limit );

/// Root cut at x = 0, left child at x = -12; objects 8, 9, 10 lie across the left child's plane, 11 across
/// the root's.
void kd_fixture_of_figure_5( kd_fixture* g );

/// Nothing of the memory may be left over.
void kd_fixture_close( kd_fixture* g );

/// A cube of side 1 around (x, y, 0); its slot.
uint32_t kd_fixture_add( kd_fixture* g, float x, float y );

/// A row of cubes at x = first, first + step, …
void kd_fixture_add_row( kd_fixture* g, uint32_t count, float first, float step, float y );

/// A whole update, and the checker's opinion of what it leaves.
void kd_fixture_update( kd_fixture* g );
void kd_fixture_check( kd_fixture* g );

/// The node that a path of L and R from the root leads to.
kd_node* kd_fixture_node( kd_fixture* g, const char* path );
bool kd_fixture_owns( kd_fixture* g, const char* path, uint32_t slot );
