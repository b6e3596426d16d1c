// SPDX-License-Identifier: MIT
// A method puts its pairs into the clv_pair_sink of cleave/method.h; this is the loop that fills one.
#pragma once

#include "cleave/method.h"

/// The loop around a kernel: `call` answers false while the sink is full; then room is made, and it goes on
/// from where its cursor stands. `result` is CLV_OK before, and afterwards what the sink said.
#define PAIR_SINK_DRIVE( result, sink, call )                                                                \
    while ( !( call ) && ( ( result ) = ( sink )->make_room( sink ) ) == CLV_OK )                            \
    {                                                                                                        \
    }
