// SPDX-License-Identifier: MIT
#pragma once

#include "cleave/transform.h"
#include "math/vec3.h"

static inline math_quat math_quat_widen( clv_quat q )
{
    return math_quat_make( (double)q.x, (double)q.y, (double)q.z, (double)q.w );
}

static inline clv_quat math_quat_narrow( math_quat q )
{
    clv_quat narrow = { (float)q.x, (float)q.y, (float)q.z, (float)q.w };
    MATH_ROUNDED( narrow );
    return narrow;
}

static inline math_pose math_pose_widen( clv_transform transform )
{
    math_pose pose;
    pose.rotation = math_quat_matrix( math_quat_normalize( math_quat_widen( transform.rotation ) ) );
    pose.position = math_widen( transform.position );
    return pose;
}
