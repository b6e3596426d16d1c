// SPDX-License-Identifier: MIT
// The page itself: report/page.html, which the program carries, with results put into it.
#pragma once

#include "lab/base/error.h"

#include <stddef.h>

/// Made by cmake/embed.cmake; a zero stands behind the last byte.
extern const unsigned char report_page_bytes[];
extern const size_t report_page_bytes_size;

/// Writes the page with `json`, as report_data_escape gives it; whole or not at all.
bool report_page_write( const char* path, const char* json, lab_error* why );
