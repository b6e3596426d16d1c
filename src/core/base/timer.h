// SPDX-License-Identifier: MIT
#pragma once

#include "base/exact.h"

#include <stdint.h>

/// A clock that never goes back; nanoseconds since some moment of its own choice.
uint64_t clv_base_clock_ns( void );
