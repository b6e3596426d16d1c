// SPDX-License-Identifier: MIT
// Who says which pairs are right. Brute force, as long as it is quick enough; a method of the user's choice where it would take
// minutes per frame. Such a judge is itself compared with brute force, on the boxes of a neighbourhood, in every frame.
#pragma once

#include "lab/base/error.h"
#include "lab/measure/run_spec.h"

/// Boxes of a frame on which another judge than brute force is compared with it, at most.
#define JUDGE_SAMPLE 8000

/// The judge's spec, whose list is to be freed by run_spec_list_free. `wish` NULL or "brute": brute force, in plain code for up to
/// 16,000 objects, beyond by the best instruction set. Otherwise a method as -m takes it, on all cores. False, with a sentence
/// about --judge, if there is no such method or it cannot run here.
bool judge_make( const char* wish, uint32_t object_count, run_spec_list* judge, lab_error* why );

bool judge_is_brute( const run_spec* judge );

/// Do the judge's pairs agree with brute force's on the boxes nearest to box `frame` (counted around), JUDGE_SAMPLE of them? True, too,
/// if it is brute force. False with the first pair that differs, or out of memory.
bool judge_stands(
    const run_spec* judge, const clv_aabb* boxes, uint32_t count, uint32_t frame, lab_error* why );
