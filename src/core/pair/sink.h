// SPDX-License-Identifier: MIT
// Where a method puts the pairs it finds: cleave/method.h has it, under a longer name.
#pragma once

#include "cleave/method.h"

typedef clv_pair_sink pair_sink;

/// A kernel writes a batch of up to this many pairs without asking again, so it asks while fewer fit.
#define PAIR_SINK_ROOM CLV_PAIR_SINK_ROOM

/// The loop around a kernel: `call` answers false while the sink is full; then room is made, and it goes on
/// from where its cursor stands. `result` is CLV_OK before, and afterwards what the sink said.
#define PAIR_SINK_DRIVE( result, sink, call )                                                                \
    while ( !( call ) && ( ( result ) = ( sink )->make_room( sink ) ) == CLV_OK )                            \
    {                                                                                                        \
    }

static inline bool pair_sink_is_full( const pair_sink* sink )
{
    return clv_pair_sink_is_full( sink );
}
