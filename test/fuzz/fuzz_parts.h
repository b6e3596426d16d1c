// SPDX-License-Identifier: MIT
// The container of snapshots and recordings (base/parts.h), damaged but for its checksums.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Makes the kind and every checksum right, so that what is behind them is reached.
void fuzz_mend_parts( uint8_t* bytes, size_t size, const char kind[4] );
