// SPDX-License-Identifier: MIT
// JSON from a file that may be anything.
#pragma once

#include "lab/base/json.h"

/// The value in a file, to json_free. NULL with an error that names the file, and the byte where it stops being
/// JSON.
json_value* json_file_read( const char* path, lab_error* why );
