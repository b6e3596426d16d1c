// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/types.h"

// Life of a frame: clv_space_move -> clv_space_update -> clv_space_pairs.
//
// One thread owns a space. Functions that take a const space may run concurrently between the others.
// Batches are all or nothing: everything is checked before anything changes, and clv_space_error names the
// position of the first bad entry. A count of 0 is legal and does nothing; then the arrays may be NULL.
// Callbacks and hooks of a space are called while it is at work, and may not change it: whoever calls a function on a non-const
// space from there gets CLV_BUSY, nothing is done and clv_space_error stays about the call before; destroy and clear do nothing.
// Debug builds assert it. The filter callback, the visitor and the logger may call functions that take a const space: during an
// update, a visit or a shrink the views are empty and not valid and counters of the update are 0. Allocator and task hooks
// may call none.
// Floating-point modes of the caller (flush to zero, rounding, traps) do not change an answer; they and the exception flags
// are left as found, and no trap is sprung. So it is with every function of the library.

/// Every member set; the same values as zeroing all but size, cookie and method-dependent members would give.
CLV_API clv_space_def clv_default_space_def( void );

/// CLV_BAD_DEF, CLV_UNSUPPORTED or CLV_OUT_OF_MEMORY leave *space NULL; the def's logger hears the
/// reason, unless the def was not made by clv_default_space_def: then nothing in it is touched.
CLV_API clv_result clv_space_create( const clv_space_def* def, clv_space** space );

/// Gives all memory back. NULL is legal.
CLV_API void clv_space_destroy( clv_space* space );

// ---- objects in
// ----------------------------------------------------------------------------------------------

/// Add `count` boxes. ids[i] names boxes[i] until it is removed. ids may be NULL in a space nothing is
/// removed from.
CLV_API clv_result clv_space_add( clv_space* space, const clv_aabb* boxes, uint32_t count, clv_id* ids );
CLV_API clv_result clv_space_add_strided(
    clv_space* space, clv_box_stream boxes, uint32_t count, clv_id* ids );

/// Replace boxes. Ids in ascending order of index are checked fastest.
CLV_API clv_result clv_space_move(
    clv_space* space, const clv_id* ids, const clv_aabb* boxes, uint32_t count );
CLV_API clv_result clv_space_move_strided(
    clv_space* space, const clv_id* ids, clv_box_stream boxes, uint32_t count );

/// Remove objects. Their pairs leave the list, and end, at the next update.
CLV_API clv_result clv_space_remove( clv_space* space, const clv_id* ids, uint32_t count );

/// Remove every object and forget every pair without events. Keeps the memory and the settings.
CLV_API void clv_space_clear( clv_space* space );

/// One object at a time; each is the batch call with a count of 1.
CLV_API clv_result clv_space_add_one( clv_space* space, clv_aabb box, clv_id* id );
CLV_API clv_result clv_space_move_one( clv_space* space, clv_id id, clv_aabb box );
CLV_API clv_result clv_space_remove_one( clv_space* space, clv_id id );

// ---- what objects carry
// ---------------------------------------------------------------------------------------- Each of these is a
// column that takes no memory until first used. New objects start with the defaults.

/// A number or pointer of the caller's. Default 0.
CLV_API clv_result clv_space_set_user_data(
    clv_space* space, const clv_id* ids, const uint64_t* values, uint32_t count );

/// Metres around this object's box, finite and >= 0, in place of the def's. In force at once.
CLV_API clv_result clv_space_set_margin(
    clv_space* space, const clv_id* ids, const float* margins, uint32_t count );

/// Changes who may meet whom, from the next update on. Implies clv_space_refilter.
CLV_API clv_result clv_space_set_filter(
    clv_space* space, const clv_id* ids, const clv_filter* filters, uint32_t count );

/// Have the def's filter callback asked again about every pair of these objects.
CLV_API clv_result clv_space_refilter( clv_space* space, const clv_id* ids, uint32_t count );

/// A hint that these objects seldom move; they still may. Changes no answer but skip_static_pairs.
/// Default: moving.
CLV_API clv_result clv_space_set_static(
    clv_space* space, const clv_id* ids, const bool* is_static, uint32_t count );

CLV_API clv_result clv_space_get_box(
    const clv_space* space, clv_id id, clv_aabb* box ); ///< as given, no margin
CLV_API clv_result clv_space_get_user_data( const clv_space* space, clv_id id, uint64_t* value );
CLV_API clv_result clv_space_get_margin( const clv_space* space, clv_id id, float* margin );
CLV_API clv_result clv_space_get_filter( const clv_space* space, clv_id id, clv_filter* filter );
CLV_API clv_result clv_space_get_static( const clv_space* space, clv_id id, bool* is_static );

CLV_API bool clv_space_contains( const clv_space* space, clv_id id );     ///< alive here and now?
CLV_API clv_id clv_space_id_at( const clv_space* space, uint32_t index ); ///< null where no object lives
CLV_API uint32_t clv_space_object_count( const clv_space* space );

// ---- pairs out
// -------------------------------------------------------------------------------------------------

/// Find every pair whose boxes, grown by their margins, touch (closed) and whose filters agree: all of them,
/// or CLV_OUT_OF_MEMORY or CLV_TOO_MANY_PAIRS. Then objects and pending changes survive, the view is empty
/// and invalid, clv_space_error tells the count so far, and the next good update reports events against the
/// last good list. The same def and calls give the same pairs in the same order on every instruction set and
/// for every worker_count.
CLV_API clv_result clv_space_update( clv_space* space );

/// The same search without a list: pairs go to the visitor in chunks, in an order that depends on the calls alone. It needs
/// memory for the boxes and nothing for the pairs, however many there are, unless the method is made of pairs (`cleave
/// methods` tells: O(n + k)); so it saves nothing where the world rests, as an update does. For spaces without `sorted` and
/// `events` (CLV_UNSUPPORTED otherwise, they need the list). CLV_STOPPED if the visitor returned false.
CLV_API clv_result clv_space_visit( clv_space* space, clv_pair_visitor* visitor, void* user );

CLV_API clv_pair_view clv_space_pairs( const clv_space* space );
CLV_API clv_event_view clv_space_events( const clv_space* space ); ///< empty unless the def asked for events

// ---- about the space
// -------------------------------------------------------------------------------------------

CLV_API clv_stats clv_space_stats( const clv_space* space );
CLV_API clv_error clv_space_error( const clv_space* space );    ///< about the last call on a non-const space
CLV_API const char* clv_space_method( const clv_space* space ); ///< name of the algorithm at work
CLV_API clv_isa clv_space_isa( const clv_space* space );        ///< instruction set at work

/// Threads that may share a call on this space: the def's number, or 1 where the method has no threads. How many had something
/// to do is another matter: up to 8,192 boxes the default method searches on the calling thread alone, which is quicker (its
/// setting cleave.alone), and a move is shared from 32,768 boxes on.
CLV_API uint32_t clv_space_worker_count( const clv_space* space );

/// Give back memory beyond what the objects and the last list need. CLV_OUT_OF_MEMORY if even the smaller
/// copies could not be had; then the space is as it was.
CLV_API clv_result clv_space_shrink( clv_space* space );
