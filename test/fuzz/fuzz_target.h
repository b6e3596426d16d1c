// SPDX-License-Identifier: MIT
// What can be fuzzed: a function that takes any bytes and returns, or stops the program because something is
// wrong.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef void fuzz_target( const uint8_t* data, size_t size );

/// A byte string becomes calls on a space of any method and instruction set, judged by an O(n^2) model.
fuzz_target fuzz_space;

/// A byte string becomes questions to a space, judged by spaces of one object each.
fuzz_target fuzz_query;

/// A byte string becomes a world of doubles or a flat one: pairs judged each against each, questions by
/// spaces of one object each.
fuzz_target fuzz_world;

/// A byte string becomes points in a cell: lists by every instruction set, and brute force.
fuzz_target fuzz_near;

/// A byte string becomes a snapshot from disk: refused with a place, or a space that lives on.
fuzz_target fuzz_save;

/// A byte string becomes a recording: refused with a place, or calls that are made.
fuzz_target fuzz_record;

/// A byte string becomes a .aabbs file: refused with a sentence, or read and written again byte for byte.
fuzz_target fuzz_scene;
