// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/types.h"

// Boxes in, overlapping pairs out. Life of a frame: clv_space_move -> clv_space_update -> clv_space_pairs.
//
// Failure. Every function that returns a clv_result says below what it may answer. Batches are all or
// nothing: everything is checked before anything changes, and clv_space_error names the position of the first
// bad entry. A count of 0 is legal and does nothing; then the arrays may be NULL. A NULL elsewhere, where it
// is not named, is an error of the program: debug builds assert it.
//
// Lifetime. The space copies what it is given; arrays may go as soon as the call returns. What it hands out
// as a pointer (pairs, events, texts) belongs to it, and each function says when it dies.
//
// Threads. One thread at a time may call functions that take a non-const space; functions that take a const
// space may run on any number of threads in between. Different spaces may be used by different threads at
// once. With a worker_count above 1 large updates and moves use more threads inside the call; all of them are
// done when it returns.
//
// Callbacks and hooks of a space are called while it is at work, and may not change it: a function on a
// non-const space answers them with CLV_BUSY, does nothing and leaves clv_space_error about the call before;
// destroy and clear do nothing. Debug builds assert it. The filter callback, the visitor and the logger may
// call functions that take a const space; during an update, a visit or a shrink the views are empty and not
// valid, and counters of the update are 0. Allocator and task hooks may call none.
//
// Cost. n is the number of objects, k of pairs. 32,000 moving boxes take the default method about half a
// millisecond on one core with AVX-512, handing them over included; a world at rest far less
// (bench/engine.md). A steady frame allocates nothing.
//
// Floating-point modes of the caller (flush to zero, rounding, traps) do not change an answer; they and the
// exception flags are left as found, and no floating-point trap fires. This holds for every function of the
// library.

// ---- a space

/// A def to start from: zero everywhere but in size, cookie and worker_count, which is 1.
CLV_API clv_space_def clv_default_space_def( void );

/// Makes a space and the threads that the def asks for. The def and its strings are copied. CLV_BAD_DEF,
/// CLV_UNSUPPORTED or CLV_OUT_OF_MEMORY leave *space NULL; the reason goes to the def's logger, unless the
/// def was not made by clv_default_space_def: then nothing in it is used.
CLV_API clv_result clv_space_create( const clv_space_def* def, clv_space** space );

/// Ends its threads and gives all memory back; every id, view and text of it dies. NULL is legal.
CLV_API void clv_space_destroy( clv_space* space );

// ---- objects in

/// Add `count` boxes. ids[i] names boxes[i] until it is removed; ids may be NULL if nothing is ever moved or
/// removed by id. Views of the last update stay as they are. O(count), and O(n) when the arrays grow, by half
/// at a time. CLV_BAD_BOX, CLV_TOO_MANY_OBJECTS, CLV_OUT_OF_MEMORY: nothing was added and ids are untouched.
CLV_API clv_result clv_space_add( clv_space* space, const clv_aabb* boxes, uint32_t count, clv_id* ids );

/// The same from memory of another shape. CLV_BAD_ARGUMENT too, for a stride below 12.
CLV_API clv_result clv_space_add_strided(
    clv_space* space, clv_box_stream boxes, uint32_t count, clv_id* ids );

/// An add def to start from: boxes alone, and those are to be filled in.
CLV_API clv_add_def clv_default_add_def( void );

/// Add `count` boxes together with what they carry, as if the setters below had been called right after: all
/// of it, or nothing and the position of the first bad entry. CLV_BAD_DEF for a def that was not made by
/// clv_default_add_def or has one thing in two shapes, CLV_BAD_ARGUMENT for a bad margin, motion or stride,
/// the rest as clv_space_add. The arrays may go afterwards.
CLV_API clv_result clv_space_add_with(
    clv_space* space, const clv_add_def* def, uint32_t count, clv_id* ids );

/// Replace boxes. Views of the last update stay as they are. O(count), fastest for all objects in the order
/// of their indices; ids that do not ascend need 4 bytes per slot, kept from then on, to find duplicates.
/// CLV_BAD_ID, CLV_DUPLICATE_ID, CLV_BAD_BOX, CLV_OUT_OF_MEMORY: no box was replaced.
CLV_API clv_result clv_space_move(
    clv_space* space, const clv_id* ids, const clv_aabb* boxes, uint32_t count );

/// The same from memory of another shape. CLV_BAD_ARGUMENT too, for a stride below 12.
CLV_API clv_result clv_space_move_strided(
    clv_space* space, const clv_id* ids, clv_box_stream boxes, uint32_t count );

/// Replace the boxes of all live objects, without ids: boxes[i] is for the i-th of them in the order of their
/// indices, `count` is clv_space_object_count. As fast as clv_space_move of all in that order; after removals
/// it needs 4 bytes per object, which an update takes too. CLV_BAD_BOX, CLV_OUT_OF_MEMORY, CLV_BAD_ARGUMENT
/// for another count (the text tells the right one): no box was replaced. A recorder keeps it as a move by
/// ids, which takes 8 bytes per object during the call. Since 0.2.0.
CLV_API clv_result clv_space_move_all( clv_space* space, const clv_aabb* boxes, uint32_t count );

/// The same from memory of another shape. CLV_BAD_ARGUMENT too, for a stride below 12. Since 0.2.0.
CLV_API clv_result clv_space_move_all_strided( clv_space* space, clv_box_stream boxes, uint32_t count );

/// Remove objects. Their ids die now; their pairs leave the list, and end, at the next update. O(count).
/// CLV_BAD_ID, CLV_DUPLICATE_ID, CLV_OUT_OF_MEMORY (only for ids that do not ascend): nothing was removed.
CLV_API clv_result clv_space_remove( clv_space* space, const clv_id* ids, uint32_t count );

/// Remove every object and forget every pair without events: ids and views die. Keeps the memory and the
/// settings.
CLV_API void clv_space_clear( clv_space* space );

/// One object at a time; each is the batch call with a count of 1, and answers as it does. Many objects go
/// faster in a batch.
CLV_API clv_result clv_space_add_one( clv_space* space, clv_aabb box, clv_id* id );
CLV_API clv_result clv_space_move_one( clv_space* space, clv_id id, clv_aabb box );
CLV_API clv_result clv_space_remove_one( clv_space* space, clv_id id );

// ---- what objects carry
//
// Each of these is a column that takes no memory until it is first set, and is then as long as the boxes. New
// objects start with the defaults. All cost O(count). CLV_BAD_ID, CLV_DUPLICATE_ID or CLV_OUT_OF_MEMORY:
// nothing was set.

/// A number or pointer of the caller's, 8 bytes per object. Default 0. Never read by the library.
CLV_API clv_result clv_space_set_user_data(
    clv_space* space, const clv_id* ids, const uint64_t* values, uint32_t count );

/// Metres around this object's box in place of the def's margin, from now on and for the boxes that are moved
/// later. CLV_BAD_ARGUMENT too, for a margin that is negative or not finite.
CLV_API clv_result clv_space_set_margin(
    clv_space* space, const clv_id* ids, const float* margins, uint32_t count );

/// The same by size and speed too, in place of all three parts of the def's; clv_margin_rule tells the
/// arithmetic. clv_space_set_margin is this with the factors 0. 8 bytes more per object from the first rule
/// with a factor on. CLV_BAD_ARGUMENT too, for a part that is negative or not finite.
CLV_API clv_result clv_space_set_margin_rule(
    clv_space* space, const clv_id* ids, const clv_margin_rule* rules, uint32_t count );

/// How far these objects go in the step that the next update looks ahead to, in metres along x, y, z:
/// velocity times time. The next good update or visit tests swept boxes, each the hull of the box, grown by
/// its margin, and of that box moved. So it finds every pair that may touch on the way, where boxes at the
/// ends of the way pass through each other. After it the motion is 0 again; a failed update leaves it for the
/// next. The box itself does not move: that is clv_space_move. Exactly: a face that moves outwards becomes
/// face + motion, rounded outwards to a float (lower faces down, upper faces up), so a swept box that touches
/// is never lost; the other faces stay bit by bit. The order of calls does not matter: what counts are box,
/// margin and motion at the time of the update. From the first call on 36 bytes more per object, 12 where
/// there are margins, and moves are taken box by box, as with margins; after an update with motions O(n)
/// once. CLV_BAD_ARGUMENT too, for a motion that is NaN or infinite.
CLV_API clv_result clv_space_set_motion(
    clv_space* space, const clv_id* ids, const clv_vec3* motions, uint32_t count );

/// Changes which objects may be pairs, from the next update on. Implies clv_space_refilter. Default:
/// clv_default_filter.
CLV_API clv_result clv_space_set_filter(
    clv_space* space, const clv_id* ids, const clv_filter* filters, uint32_t count );

/// Have the def's filter callback asked again, in the next update, about every pair of these objects.
CLV_API clv_result clv_space_refilter( clv_space* space, const clv_id* ids, uint32_t count );

/// A hint that these objects seldom move; they still may. Changes no answer but skip_static_pairs. Default:
/// moving.
CLV_API clv_result clv_space_set_static(
    clv_space* space, const clv_id* ids, const bool* is_static, uint32_t count );

// Reading, O(1) each: what was set, or the default. CLV_BAD_ID leaves the output untouched, and is no error
// of the space: clv_space_error stays about the last call on a non-const one.

/// As it was given, without margin.
CLV_API clv_result clv_space_get_box( const clv_space* space, clv_id id, clv_aabb* box );
CLV_API clv_result clv_space_get_user_data( const clv_space* space, clv_id id, uint64_t* value );

/// The user data of all objects, by slot, O(1), no copy: values[pair.a] is what object pair.a carries now. Of
/// a slot without an object it is what the last one carried. After a removal the slots of a list may have new
/// owners: clv_space_pair_ids tells them apart. It dies at the next add, clv_space_set_user_data, shrink or
/// destroy, and outlives all other calls.
CLV_API clv_user_data_view clv_space_user_data( const clv_space* space );
CLV_API clv_result clv_space_get_margin( const clv_space* space, clv_id id, float* margin );

/// All three parts; clv_space_get_margin answers the fixed one alone.
CLV_API clv_result clv_space_get_margin_rule( const clv_space* space, clv_id id, clv_margin_rule* rule );

/// For the next update: 0 again as soon as one was good.
CLV_API clv_result clv_space_get_motion( const clv_space* space, clv_id id, clv_vec3* motion );

/// The box that the next update would test: grown by its margin, swept along its motion.
CLV_API clv_result clv_space_get_test_box( const clv_space* space, clv_id id, clv_aabb* box );
CLV_API clv_result clv_space_get_filter( const clv_space* space, clv_id id, clv_filter* filter );
CLV_API clv_result clv_space_get_static( const clv_space* space, clv_id id, bool* is_static );

/// Is that object in this space now? False for null, stale and forged ids.
CLV_API bool clv_space_contains( const clv_space* space, clv_id id );

/// The id of the object in that slot, as pairs name it; null where there is none, or no such slot.
CLV_API clv_id clv_space_id_at( const clv_space* space, uint32_t index );

/// Objects that are alive.
CLV_API uint32_t clv_space_object_count( const clv_space* space );

// ---- pairs out

/// Find every pair whose boxes, grown by their margins and swept along their motions, touch (closed) and
/// whose filters agree: all of them, or CLV_OUT_OF_MEMORY or CLV_TOO_MANY_PAIRS; or CLV_BAD_ARGUMENT if a
/// method from outside this library hands over a slot that is not there, at `position` among its pairs. Then
/// objects and pending changes survive, the view is empty and invalid, clv_space_error tells the count so
/// far, and the next good update reports events against the last good list. The same def and calls give the
/// same pairs in the same order on every instruction set and for every worker_count. O(n + k) with the
/// default method for boxes of similar size; `cleave methods` tells of each other one.
CLV_API clv_result clv_space_update( clv_space* space );

/// The same search without a list: pairs go to the visitor in chunks, on the calling thread, in an order that
/// depends on the calls alone. It needs memory for the boxes and none for the pairs, however many there are,
/// unless the method is made of pairs (`cleave methods` tells: O(n + k)); so a world at rest is searched in
/// full, where an update would not search it. Views of the last update die. CLV_UNSUPPORTED for a space with
/// `sorted`, `events` or `pair_data`, which need the list; CLV_STOPPED if the visitor returned false;
/// CLV_OUT_OF_MEMORY, CLV_TOO_MANY_PAIRS and CLV_BAD_ARGUMENT as above, after some pairs have been visited.
CLV_API clv_result clv_space_visit( clv_space* space, clv_pair_visitor* visitor, void* user );

/// The pairs of the last update, O(1), no copy: the array is the space's own. It dies at the next update,
/// visit, clear, shrink or destroy, and outlives add, move and remove; after a remove it may name slots
/// without an object, or with another one: clv_space_pair_ids tells. Not valid, and empty, before the first
/// update, after a failed one, and after a visit or a clear.
///
/// With pair_data in the def view.data[i] is a word of the caller's for view.pairs[i]: 0 when the pair
/// begins, then whatever the caller writes there, for as long as the pair lasts, in whatever place of later
/// lists it stands; a reused slot is another pair. Write it while the view lives (threads may write different
/// words), and find it again in the view of the next update; a failed update loses none. The word of a pair
/// that ended comes with its event. It costs a second list, 16 bytes per pair, 64 or fewer in a table per
/// word that is not 0, and O(k) in an update that finds other pairs than the last; a clear forgets all.
CLV_API clv_pair_view clv_space_pairs( const clv_space* space );

/// The ids of the pairs first .. first + count - 1 of a view: ids[i] has the ids of pair first + i as they
/// were when the update found it, and null in place of an object that was removed since, whether its slot was
/// used again or not. O(count). CLV_BAD_ARGUMENT, with ids untouched, for a view that died (of an older
/// update, or of none), and for pairs beyond its count; no error of the space.
CLV_API clv_result clv_space_pair_ids(
    const clv_space* space, clv_pair_view view, uint64_t first, uint64_t count, clv_id_pair* ids );

/// What began and what ended in the last update, O(1); lives as long as the pairs. Empty unless the def asked
/// for events. Ended pairs name the old ids and the user data their objects had, although these may be gone:
/// 8 bytes per slot and 16 per event more, where there is user data.
CLV_API clv_event_view clv_space_events( const clv_space* space );

// ---- about the space: O(1), and nothing here fails

/// Counters of the last update, sizes and memory now. A copy.
CLV_API clv_stats clv_space_stats( const clv_space* space );

/// About the last call on a non-const space. Its text dies with the next such call.
CLV_API clv_error clv_space_error( const clv_space* space );

/// The name of the method at work. Lives as long as the program.
CLV_API const char* clv_space_method( const clv_space* space );

/// The instruction set at work; never CLV_ISA_AUTO.
CLV_API clv_isa clv_space_isa( const clv_space* space );

/// Threads that may share a call on this space: the def's number, or 1 where the method has no threads. How
/// many had something to do is another matter: up to 8,192 boxes the default method searches on the calling
/// thread alone, which is quicker (its setting cleave.alone), and a move is shared from 32,768 boxes on.
CLV_API uint32_t clv_space_worker_count( const clv_space* space );

/// Give back memory beyond what the objects and the last list need; for after a peak, not for every frame,
/// since the next update takes it again. O(n + k). Views die; clv_space_pairs shows the same pairs
/// afterwards. CLV_OUT_OF_MEMORY if the smaller copies could not be had; then every list is as it was.
CLV_API clv_result clv_space_shrink( clv_space* space );
