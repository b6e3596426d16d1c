// SPDX-License-Identifier: MIT
// Deflate (RFC 1951), for pages whose browser unpacks it and for PNG. Repeats of twelve bytes and more are referred to, and so are
// runs of one byte from four on; shorter ones are left to the code lengths, since in differences of coordinates they are
// chance and cost more than they save.
#pragma once

#include "lab/base/byte_buffer.h"

/// Appends `count` bytes as one whole deflate stream. False if out of memory; then `out` is of no use.
bool deflate_append( byte_buffer* out, const uint8_t* bytes, size_t count );
