// SPDX-License-Identifier: MIT
// Other people's methods, from modules beside the program. The library itself loads nothing.
#pragma once

#include "lab/measure/plugin.h"

/// Puts every known peer into the method table: those whose module can be loaded from $CLEAVE_PEERS, or where that is not
/// set from the folder `peers` beside the program or from where `make install` puts them (lib/cleave/peers), and rows that
/// say what is missing for the others. Call once, before threads start.
void peer_modules_load( void );

/// A function of a peer's module, looked for in the same folders. NULL with a reason that names Debian's package.
plugin_function* peer_modules_find(
    const char* module, const char* package, const char* function, char* reason, size_t reason_size );
