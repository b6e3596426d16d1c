// SPDX-License-Identifier: MIT
// Settings to test a method with, read from its own table of parameters, so that a new method is tested with
// all of its choices.
#pragma once

#include "method/method.h"

/// How many there are: the method's own limits, small ones, and for each choice it offers small ones with
/// that choice made otherwise.
uint32_t method_settings_count( const clv_method* row );

/// Number 0 is empty: the defaults. Number 1 is small: every parameter whose default is ten or more is a
/// size, and becomes eight or the least it may be, so that a few hundred boxes split trees and overflow
/// blocks. Each later one is that with one choice, a parameter of a few whole values, at another value than
/// its default.
void method_settings_write( const clv_method* row, uint32_t index, char* text, size_t size );
