// SPDX-License-Identifier: MIT
// What only spaces of floats with three axes have.
#pragma once

#include "support.h"

/// A space of another kind, with at least one object: every such call is refused, and nothing of the space
/// changes.
void test_refuses_solid_calls( clv_space* space, clv_id id );

/// Two objects that touch and were not seen by an update yet: their ids and their word go with the pair.
void test_carries_ids_and_word( clv_space* space, const clv_id ids[2] );
