// SPDX-License-Identifier: MIT
// A method in several flavours: settings for tests, read from the method's own table of parameters, so that a method
// added tomorrow is tested in all of its own.
#pragma once

#include "method/method.h"

/// How many there are: the method's own limits, small ones, and for each choice it offers small ones with that choice
/// made otherwise.
uint32_t flavour_count( const method* row );

/// Flavour 0 is empty: everything as users get it. Flavour 1 is small: every parameter whose default is ten or more is a
/// size, and becomes eight or the least it may be, so that a few hundred boxes split trees and overflow blocks. Each
/// later one is that with one choice, a parameter of a few whole values, at another value than its default.
void flavour_write( const method* row, uint32_t index, char* text, size_t size );
