// SPDX-License-Identifier: MIT
// An inflater after RFC 1951 alone, to judge our deflater by.
#pragma once

#include "lab/base/bytes.h"

/// Appends what the stream holds. Returns the bytes it took, 0 for one that is bad. Blocks with code lengths
/// of their own alone.
size_t test_inflate( const uint8_t* bytes, size_t count, byte_buffer* out );
