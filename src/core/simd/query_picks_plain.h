// SPDX-License-Identifier: MIT
// What query_body.h does with the lanes that a comparison chose, one after the other. No include guard: part of a template.

enum
{
    AT_ONCE = 1, // queries: in turn they would only spoil each other's guesses
};

static inline uint32_t pick_nodes(
    query_stack* stack, uint32_t top, const query_node* node, eight near, uint32_t bits )
{
    (void)stack;
    (void)node;
    (void)near;
    (void)bits;
    return top; // only where several go in turn
}

#include "simd/query_picks_each.h"
