// SPDX-License-Identifier: MIT
// The plots of a written page as SVG files, drawn by the page's own script in node.
#pragma once

#include "lab/base/error.h"

/// One file per plot into a folder that exists. False if there is no node, or it could not.
bool svg_export( const char* page_path, const char* folder, lab_error* why );
