// SPDX-License-Identifier: MIT
// What libFuzzer calls. FUZZ_TARGET names the target; one program per target.
#include "fuzz_target.h"

int LLVMFuzzerTestOneInput( const uint8_t* data, size_t size );

int LLVMFuzzerTestOneInput( const uint8_t* data, size_t size )
{
    FUZZ_TARGET( data, size );
    return 0;
}
