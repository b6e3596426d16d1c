// SPDX-License-Identifier: MIT
// The boxes of a recording, update by update, as the frames of a scene: for looking at.
#pragma once

#include "lab/frame/frame_source.h"

/// A frame per update, a box per object that ever was; one that is not there yet, or no more, is a point
/// where it was first, or last. False with the reason.
bool recording_frames_open( frame_source* source, const char* path, lab_error* why );
