// SPDX-License-Identifier: MIT
// The integrators of section 2.6.1 of "Detecção de Colisão usando Sweep and Prune com k-DOPs em GPU" (COPPE
// 2021) with a time step of one frame. Equation 2.7 lacks parentheses (v + (a + a')/2), 2.4 and the
// Runge-Kutta formula are garbled; with a constant acceleration the right ones reduce to what stands here.
#include "integrate.h"

void clv_sim_integrate(
    clv_integrator how, math_vec3 gravity, double damping, math_vec3* position, math_vec3* velocity )
{
    math_vec3 v = *velocity;
    switch ( how )
    {
    case CLV_EULER:
        *position = math_add( *position, v );
        *velocity = math_scale( math_add( v, gravity ), damping );
        return;
    case CLV_VERLET:
        // Positions alone: the velocity is the last move, and damping shortens it.
        *velocity = math_add( math_scale( v, damping ), gravity );
        *position = math_add( *position, *velocity );
        return;
    case CLV_RUNGE_KUTTA:
    {
        math_vec3 middle = math_add_scaled( v, gravity, 0.5 );
        *position = math_add( *position, middle );
        *velocity = math_scale( math_add( v, gravity ), damping );
        return;
    }
    case CLV_VELOCITY_VERLET: break;
    }
    *position = math_add( *position, math_add_scaled( v, gravity, 0.5 ) );
    *velocity = math_scale( math_add( v, gravity ), damping );
}
