// SPDX-License-Identifier: MIT
// Base64 (RFC 4648, section 4).
#pragma once

#include "lab/base/byte_buffer.h"

void base64_append( byte_buffer* out, const uint8_t* bytes, size_t count );
