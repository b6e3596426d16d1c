// SPDX-License-Identifier: MIT
// What the rows that stand on a kd_engine share: kd.c and ray_kd.c.
#pragma once

#include "kd/kd_engine.h"
#include "method/method.h"

/// method.report of all of them.
uint32_t clv_methods_kd_report( kd_engine* engine, method_figure* figures, uint32_t capacity );
