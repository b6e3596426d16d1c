// SPDX-License-Identifier: MIT
#pragma once

// Cleave: boxes in, every overlapping pair out. Start reading at space.h.

#include "cleave/base.h"
#include "cleave/geom.h"
#include "cleave/id.h"
#include "cleave/narrow.h"
#include "cleave/shape_sim.h"
#include "cleave/sim.h"
#include "cleave/space.h"
#include "cleave/transform.h"
#include "cleave/types.h"
#include "cleave/volume.h"
