// SPDX-License-Identifier: MIT
#pragma once

// The library cleave-physics: what stands on boxes and pairs. Link cleave::physics (or -lcleave-physics
// before -lcleave). Distance, depth and contacts of two shapes; boxes around them; and rigid bodies.

#include "cleave/narrow.h"
#include "cleave/sim.h"
#include "cleave/transform.h"
