// SPDX-License-Identifier: MIT
#pragma once

#include "math/vec3.h"
#include "shape_sim.h"

/// One frame of free flight; see clv_integrator.
void clv_sim_integrate(
    clv_integrator how, math_vec3 gravity, double damping, math_vec3* position, math_vec3* velocity );
