// SPDX-License-Identifier: MIT
// Lanes of a block: filled from contacts before the substeps, read back after them.
#pragma once

#include "sim/rigid_world.h"

/// Stiffness of soft contacts for one length of substep.
typedef struct rigid_softness
{
    float bias_rate, mass_scale, impulse_scale;
} rigid_softness;

/// A contact as a damped spring that no step length can make unstable (Catto, "Soft Constraints", 2011).
rigid_softness clv_sim_rigid_soft( float hertz, float damping_ratio, float substep_seconds );

/// Bring near what preparing this block will read.
void clv_sim_rigid_block_fetch( const clv_rigid* world, const rigid_block* block );

/// Everything the substeps need. `soft[0]` is for two movable bodies, `soft[1]` where one is immovable.
void clv_sim_rigid_block_prepare( clv_rigid* world, rigid_block* block, const rigid_softness soft[2] );

/// Impulses back into the contacts, for the next step.
void clv_sim_rigid_block_store( rigid_block* block );
