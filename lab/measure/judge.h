// SPDX-License-Identifier: MIT
// Which pairs are right, by a reference method: brute force, as long as it is quick enough; a method of the
// user's choice where it would take minutes per frame. Such a judge is itself compared with brute force, on
// the boxes of a neighbourhood, in every frame.
#pragma once

#include "cleave/types.h"
#include "lab/base/error.h"
#include "lab/measure/run_spec.h"

// ---- A number that stands for the pair sets of a run, whatever the order, method, instruction set or
// device: the sum modulo 2^64, over frames f = 0, 1, … after the initial one and pairs a < b, of random_mix(
// a << 32 | b ) * (2 f + 1).

/// What frame f adds to the sum; f counts from 0 after the initial frame, so f = file frame - 1.
uint64_t frame_hash_pairs( const clv_pair* pairs, uint64_t count, uint64_t frame );

/// The same for one list where order matters too.
uint64_t frame_hash_order( const clv_pair* pairs, uint64_t count );

/// Boxes of a frame on which another judge than brute force is compared with it, at most.
#define JUDGE_SAMPLE 8000

/// The judge's spec, whose list is to be freed by run_spec_list_free. `wish` NULL or "brute": brute force, in
/// plain code for up to 16,000 objects, beyond by the best instruction set. Otherwise a method as -m takes
/// it, on all cores. False, with a sentence about --judge, if there is no such method or it cannot run here.
bool judge_make( const char* wish, uint32_t object_count, run_spec_list* judge, lab_error* why );

bool judge_is_brute( const run_spec* judge );

/// Do the judge's pairs agree with brute force's on the boxes nearest to box `frame` (counted around),
/// JUDGE_SAMPLE of them? True, too, if it is brute force. False with the first pair that differs.
bool judge_stands(
    const run_spec* judge, const clv_aabb* boxes, uint32_t count, uint32_t frame, lab_error* why );

// ---- Lists of pairs held against each other: by identity, not by count.

/// Zero-initialised is empty.
typedef struct verdict_list
{
    clv_pair* items;
    uint64_t count;
    uint64_t capacity;
} verdict_list;

/// A copy of `pairs`.
void verdict_list_set( verdict_list* list, const clv_pair* pairs, uint64_t count );
void verdict_list_set_ids( verdict_list* list, const clv_id_pair* pairs, uint64_t count );
void verdict_list_add( verdict_list* list, clv_pair pair );
void verdict_list_free( verdict_list* list );

/// By (a, b). The library's own sort is among what is checked, so this one is another.
void verdict_list_sort( verdict_list* list );

/// What is in sorted `list` and not in sorted `other`.
void verdict_list_subtract( verdict_list* result, const verdict_list* list, const verdict_list* other );

typedef enum verdict_fault
{
    VERDICT_FINE,
    VERDICT_MISSING,
    VERDICT_EXTRA,
    VERDICT_DUPLICATED,
    VERDICT_MISORDERED, ///< a >= b
    VERDICT_NOWHERE,    ///< an index that no object has
} verdict_fault;

/// "is missing", "is extra", …
const char* verdict_fault_text( verdict_fault fault );

/// A line about the box of that object, on stdout.
void verdict_print_box( uint32_t index, clv_aabb box );

typedef struct verdict_difference
{
    verdict_fault fault; ///< of the first pair, in sorted order, that is not as it should be
    clv_pair pair;
    uint64_t missing_count, extra_count, duplicate_count;
} verdict_difference;

/// Both lists sorted; `expected` is right by assumption.
verdict_difference verdict_compare(
    const verdict_list* expected, const verdict_list* found, uint32_t object_count );
