// SPDX-License-Identifier: MIT
// One page for browsers on this machine: HTTP on the loopback address, and on no other.
#pragma once

#include "lab/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- Heads of HTTP/1 requests for the one page there is, and of the answers. Bytes of a client on this
// machine, which is not trusted: each is looked at before it is believed.

enum
{
    HTTP_REQUEST_MOST = 8192, ///< bytes of a request's head
    HTTP_ANSWER_ROOM = 512,   ///< of an answer's
};

typedef enum http_status
{
    HTTP_PAGE = 200,        ///< a request for the page
    HTTP_BAD_REQUEST = 400, ///< no request, or none with one Host
    HTTP_FORBIDDEN = 403,   ///< under another name than this machine's
    HTTP_NOT_FOUND = 404,   ///< anything but /
    HTTP_BAD_METHOD = 405,  ///< neither GET nor HEAD
    HTTP_TIMEOUT = 408,     ///< the request did not come whole in time
    HTTP_HEAD_TOO_LARGE = 431,
    HTTP_BAD_VERSION = 505, ///< not HTTP/1
} http_status;

/// Bytes of a head up to and with its empty line; 0: it has not come whole.
size_t http_head_length( const char* bytes, size_t count );

/// Judges a whole head. `is_head`: a HEAD request, whose answer has no body.
///
/// Host must be 127.0.0.1 or localhost, with any port: a page of another site, whose name was made to
/// lead here, sends that name.
http_status http_head_judge( const char* head, size_t length, bool* is_head );

/// The answer's head, and for all but HTTP_PAGE its body of one line, unless `is_head`. Returns its bytes.
size_t http_head_answer(
    char answer[HTTP_ANSWER_ROOM], http_status status, uint64_t page_bytes, bool is_head );

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

/// Answers requests for "/" with the page, a file open for reading, until the program is interrupted or
/// `request_count` of them (0: no limit) were answered. Anything else gets a 4xx, and a request under another
/// name than this machine's a 403: other people's pages may not read it.
///
/// One thread serves LOOPBACK_CLIENTS at once, and none waits for another: a client that sends or takes its
/// bytes too slowly is cut at its deadline, and one more than there is room for takes the place of the one
/// that has gone longest without a whole request.
bool loopback_serve( loopback* server, FILE* page, uint32_t request_count, lab_error* why );
void loopback_close( loopback* server );
