// SPDX-License-Identifier: MIT
// A parameter of methods taken through several values: kd.leaf=32..4096, kd.leaf=32,64,512, grid.cell=4..64:x4.
#pragma once

#include "lab/measure/run_spec.h"

/// Multiplies the specs: each whose method knows a swept parameter appears once per value, with that value behind its
/// settings; the others stay. An item without '=' goes on with the values of the one before, since flags are split at
/// commas. False for what is no sweep, and for parameters that no method among them knows.
bool sweep_expand( run_spec_list* list, const text_list* sweeps, lab_error* why );
