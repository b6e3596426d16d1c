// SPDX-License-Identifier: MIT
// Files of one kind given where another is wanted: a recipe to bench, a table to report. Their endings tell, and then the
// error says what takes them instead of calling them damaged.
#pragma once

#include "lab/base/error.h"

/// True unless `path` ends as a file of another kind than `wanted` (".aabbs", ".json", …), and is there.
bool file_kind_check( const char* path, const char* wanted, lab_error* why );
