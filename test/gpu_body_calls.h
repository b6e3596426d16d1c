// SPDX-License-Identifier: MIT Parts of a frame of clv_gpu_sim, for tests: volumes of bodies that are placed
// anywhere and their pairs, and contacts of any pairs.
#pragma once

#include "gpu_bodies.h"

/// Volumes around all bodies where they stand now, as many transforms as there are bodies, and every pair of
/// volumes that overlaps, as clv_gpu_update has them. CLV_BAD_ARGUMENT for a transform that is not finite.
clv_result gpu_test_update_bodies( clv_gpu* gpu, clv_volume_kind volume, const clv_transform* at );

/// Into as many clv_aabb, clv_dop18 or clv_sphere as there are bodies. CLV_BAD_ARGUMENT if there are none.
clv_result gpu_test_read_volumes( clv_gpu* gpu, void* volumes );

/// How the bodies of some pairs touch, where the last gpu_test_update_bodies put them. What a device has no
/// room for the host finishes, as in a frame, and is counted in gpu_test_finished_count. Rounds are not told.
clv_result gpu_test_find_contacts(
    clv_gpu* gpu, const clv_pair* pairs, uint32_t count, clv_contact* contacts );
extern uint64_t gpu_test_finished_count;
