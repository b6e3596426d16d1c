// SPDX-License-Identifier: MIT
// Questions to flat worlds and to worlds of doubles, compared with brute force (judge_force.c). One judge for
// both: its steps are rounded to float for the flat ones.
#pragma once

#include "judge_world.h"

/// Asks everything there is about `count` random questions of each kind, and compares.
void judge_answer_check( judge_world* world, uint32_t count );
