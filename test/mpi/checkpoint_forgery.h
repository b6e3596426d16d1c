// SPDX-License-Identifier: MIT
// Files that are damaged, or made to look as if they were not.
#pragma once

void files_that_are_not_as_written_are_refused( void );
