// SPDX-License-Identifier: MIT
// One file for a browser on this machine: HTTP on the loopback address, and on no other.
#pragma once

#include "lab/base/error.h"

#include <stdint.h>

/// Zero-initialised is closed.
typedef struct loopback
{
    int socket;
    uint16_t port; ///< the one that was had
    bool is_open;
} loopback;

/// Listens on 127.0.0.1. Port 0: any that is free. False where it is taken, and on Windows.
bool loopback_open( loopback* server, uint16_t port, lab_error* why );

/// Answers requests for "/" with the file until the program is interrupted, or `request_count` of them (0: no limit) were answered.
/// Anything else gets a 404, and a request under another name than this machine's a 403: other people's pages may not read it.
bool loopback_serve( loopback* server, const char* path, uint32_t request_count, lab_error* why );
void loopback_close( loopback* server );
