// SPDX-License-Identifier: MIT
// Records of a .posrot file, the twin of a .aabbs file that Broadmark's splitter reads: the same header and first frame, then
// per object and frame 32 bytes, position x y z 0 and rotation x y z w. Bodies begin unturned, so that their sides are those
// of their first boxes.
#pragma once

#include "lab/base/error.h"
#include "lab/scene/body.h"

#define POSE_FILE_ENDING ".posrot"

/// Position and rotation of `body` from a record. False, the body untouched, for a pad that is not 0, a NaN, an infinity, and
/// a rotation whose length is not 1.
bool pose_record_decode( const unsigned char* bytes, body_state* body );

/// Why such a record is bad, with the offset of the byte to blame; `what` is "frame 3, body 17", `advice` ends the sentence.
/// Always false.
bool pose_record_fail( const unsigned char* bytes, uint64_t offset, const char* path, const char* what,
    const char* advice, lab_error* why );

/// An unturned body that fills the box. False, the body untouched, if a side of the box is infinite.
bool pose_body_of_box( clv_aabb box, body_state* body );
