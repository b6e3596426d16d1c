// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/types.h"

// The library cleave-methods: the algorithms of the papers and their relatives, for comparing and for worlds
// that suit one of them better than the default. Link cleave::methods (or -lcleave-methods before -lcleave),
// call clv_methods_register once, and clv_space_def.method takes their names: sap, grid, grid-sap, isap,
// bvh-f, bvh-d, segment-tree, tracy, ray-kd, kd-rebuilt, kd-complete, kd-incremental, kd, kd-paper-rebuilt,
// kd-paper-complete, kd-paper-incremental, kd-paper.

/// Makes the library's methods known to the core, behind those that are known already. Calling it again does
/// nothing and is CLV_OK.
///
/// Failure: CLV_BAD_ARGUMENT if another method took one of the names before (clv_method_error has it), or if
/// there is no room for all of them; then none is added.
/// Lifetime: they stay known until the program ends.
/// Threads: not while another thread registers or lists methods or creates a space. Call it first thing in
/// main. Cost: a few hundred string comparisons; no memory is taken.
CLV_API clv_result clv_methods_register( void );
