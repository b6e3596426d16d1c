// SPDX-License-Identifier: MIT
// A bad def is refused: one line for the caller's logger, one code for the caller.
#pragma once

#include "base/exact.h"
#include "cleave/base.h"

/// Hands `line` to the logger, where there is one, and `code` back.
static inline clv_result base_refuse( const clv_logger* logger, clv_result code, const char* line )
{
    if ( logger->write != NULL )
    {
        logger->write( CLV_LOG_ERROR, line, logger->user );
    }
    return code;
}
