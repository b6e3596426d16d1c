// SPDX-License-Identifier: MIT
// Numbers as text, with a point whatever the program's locale writes there: a comma, or two bytes of UTF-8.
#pragma once

#include "base/exact.h"

#include <stddef.h>

/// Reads a decimal number, "-0.25" or "4e-3", rounded correctly; beyond the range of double it is an infinity
/// or 0. Returns where it ends, or `text` if there is none or if it has more than 64 digits. errno stays.
const char* clv_base_read_number( const char* text, double* value );

/// Writes it so that reading gives the same number again. `size` of 32 is always enough.
void clv_base_write_exactly( double value, char* text, size_t size );

/// Writes it as "%g" does in the C locale. `size` of 32 is always enough.
void clv_base_write_number( double value, char* text, size_t size );
