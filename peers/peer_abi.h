// SPDX-License-Identifier: MIT
// What a module of peers exports and the lab looks for.
#pragma once

#include "method/method.h"

/// Changes when a struct a module shares with the program does.
#define PEER_ABI ( 2u | (uint32_t)sizeof( method ) << 8 | (uint32_t)sizeof( method_context ) << 20 )

/// Rows that live as long as the module; *abi is the PEER_ABI the module was compiled with.
typedef const method* peer_entry( uint32_t* count, uint32_t* abi );

#define PEER_ENTRY_NAME "cleave_peer_methods"
