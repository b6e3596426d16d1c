// SPDX-License-Identifier: MIT
#pragma once

// Cleave: boxes in, every overlapping pair out. Start reading at space.h.

#include "cleave/base.h"
#include "cleave/geom.h"
#include "cleave/id.h"
#include "cleave/space.h"
#include "cleave/types.h"
