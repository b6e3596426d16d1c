// SPDX-License-Identifier: MIT
// A world that mostly rests, followed from update to update: objects that left their margin, came or went are
// looked at; all others cost a comparison. docs/engine.md.
#pragma once

#include "cleave/method.h"
#include "engine/engine.h"
#include "rest/loose_grid.h"
#include "rest/rest_pairs.h"

/// What the last update did.
typedef struct rest_counters
{
    uint32_t compared_count; ///< boxes looked at
    uint32_t refit_count, come_count, gone_count;
    uint64_t near_count;   ///< objects looked at around those, one found as eight
    uint64_t change_count; ///< pairs that changed their class
    uint64_t step_count;   ///< along chains of pairs, to find those
    uint64_t test_count;   ///< marginal pairs tested
    uint64_t turn_count;   ///< of those, how many began or ceased to touch
} rest_counters;

typedef struct rest_world
{
    base_memory* memory;
    const simd_kernels* kernels;
    task_runner* tasks;

    BASE_ARRAY( simd_rest_box ) boxes; ///< by slot
    base_u32_array times;              ///< by slot: the update of its last refit
    uint64_t* bits;                    ///< three sets, one behind the other
    uint64_t word_capacity;
    uint64_t* known;     ///< by slot: has a reference box
    uint64_t* live;      ///< live slots of this update, where objects were added or removed
    uint64_t* strays;    ///< per busy word: slots whose box left its margin
    base_u32_array busy; ///< words of slots that hold a box that may have moved

    rest_grid grid;
    bool grid_is_made; ///< when first asked
    rest_pairs pairs;
    uint32_t slot_count; ///< known slots are below
    uint32_t now;        ///< number of the update
    bool is_on;
    bool is_forced; ///< entered and followed whatever it costs
    uint32_t
        reference_age;  ///< updates since all boxes were remembered, to learn speeds from; 0: they are not
    uint32_t tightened; ///< words of slots that were looked at so far, again and again from the first
    rest_counters counters;
} rest_world;

void clv_rest_world_init(
    rest_world* world, base_memory* memory, const simd_kernels* kernels, task_runner* tasks );
void clv_rest_world_release( rest_world* world );

/// Remember all boxes, so that clv_rest_world_enter knows how fast they move; reference_age tells it how long
/// ago that was. Allocation failure is ignored: then no speed is known.
void clv_rest_world_remember( rest_world* world, const clv_method_input* input );

/// Give every box a margin and find all pairs, about `pair_count` of them, by a complete search of the fat
/// boxes. False if out of memory, or as soon as there are more than `most` pairs, or so many marginal ones
/// that searching costs less; then the world is off.
bool clv_rest_world_enter( rest_world* world, const clv_method_input* input, uint64_t pair_count,
    uint64_t most, clv_engine* complete, uint64_t* test_count );

/// Room for slots below `slot_count`. False if out of memory, with what was there unharmed.
bool clv_rest_world_reserve( rest_world* world, uint32_t slot_count );

/// Forget everything but keep the memory.
void clv_rest_world_leave( rest_world* world );

typedef enum rest_outcome
{
    REST_FOLLOWED,
    REST_TOO_MANY, ///< more than `most` objects strayed, came or went; nothing else was done
    /// out of memory, or far more objects around those that changed than a search would cost; the world is
    /// off
    REST_GIVEN_UP,
} rest_outcome;

/// Bring a world that is on up to date with the boxes.
rest_outcome clv_rest_world_follow( rest_world* world, const clv_method_input* input, uint64_t most );

/// True if all invariants hold; else a sentence in `text`.
bool clv_rest_world_check( rest_world* world, char* text, size_t text_size );

/// The same of a world that was just entered or followed, against the boxes it was given: every object rests
/// within its margin, and the marginal pairs that count as touching are those that overlap.
bool clv_rest_world_check_boxes(
    const rest_world* world, const clv_method_input* input, char* text, size_t text_size );

/// Both, for debug builds, but for questions to the grid, which take memory: after every update of a small
/// world, and after one in 16 of a world of more than 32,768 objects and pairs, since they cost several times
/// as much as the update. Prints what is broken.
bool clv_rest_world_is_sound( const rest_world* world, const clv_method_input* input );

// ---- refit.c: one object at a time. Each is false if out of memory

bool clv_rest_world_refit( rest_world* world, uint32_t slot, const clv_aabb* box );

/// The same for one that has rested long with a margin much wider than it needs: a narrower one has fewer
/// marginal pairs.
bool clv_rest_world_tighten( rest_world* world, uint32_t slot, const clv_aabb* box );
bool clv_rest_world_come( rest_world* world, uint32_t slot, const clv_aabb* box );
bool clv_rest_world_go( rest_world* world, uint32_t slot );

/// Test the marginal pairs of one object.
bool clv_rest_world_test_object( rest_world* world, const clv_aabb* boxes, uint32_t slot );
