// SPDX-License-Identifier: MIT
// One page for browsers on this machine: HTTP on the loopback address, and on no other.
#pragma once

#include "lab/base/error.h"

#include <stdint.h>
#include <stdio.h>

enum
{
    LOOPBACK_CLIENTS = 64, ///< at once
};

/// Zero-initialised is closed.
typedef struct loopback
{
    int socket;
    uint16_t port; ///< the one that was had
    bool is_open;
    uint32_t request_ms; ///< for a request to come whole; 5000
    uint32_t answer_ms;  ///< for a client to take 64 KiB of the answer, or all that is left; 30000
} loopback;

/// Listens on 127.0.0.1. Port 0: any that is free. False where it is taken, and on Windows.
bool loopback_open( loopback* server, uint16_t port, lab_error* why );

/// Answers requests for "/" with the page, a file open for reading, until the program is interrupted or `request_count` of them (0: no
/// limit) were answered. Anything else gets a 4xx, and a request under another name than this machine's a 403: other people's pages
/// may not read it.
///
/// One thread serves LOOPBACK_CLIENTS at once, and none waits for another: a client that sends or takes its bytes too slowly is cut at its
/// deadline, and one more than there is room for takes the place of the one that has gone longest without a whole request.
bool loopback_serve( loopback* server, FILE* page, uint32_t request_count, lab_error* why );
void loopback_close( loopback* server );
