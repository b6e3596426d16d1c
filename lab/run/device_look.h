// SPDX-License-Identifier: MIT
// Devices are looked for by a process of its own, as each run has one: loading a vendor's driver may crash, hang, keep a device that is
// let to one process at a time, or change the environment that the runs' processes begin with.
#pragma once

#include "lab/measure/device_choice.h"

/// From now on no driver is loaded into this process: `cleave look` is started instead. Does nothing where that cannot be done.
void device_look_apart( void );

/// In the process that was started: what there is, to whoever started it, or to standard output.
bool device_look_answer( const device_seen* seen, bool is_child );
