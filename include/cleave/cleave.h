// SPDX-License-Identifier: MIT
#pragma once

// Cleave: boxes in, every overlapping pair out. Start reading at space.h.
// This is the library `cleave`. method.h tells how an algorithm of your own is put in; methods.h and
// physics.h belong to the libraries cleave-methods and cleave-physics, which stand on this one.

#include "cleave/base.h"
#include "cleave/geom.h"
#include "cleave/id.h"
#include "cleave/match.h"
#include "cleave/near.h"
#include "cleave/query.h"
#include "cleave/record.h"
#include "cleave/save.h"
#include "cleave/space.h"
#include "cleave/types.h"
#include "cleave/world.h"
#include "cleave/world_query.h"
