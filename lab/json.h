// SPDX-License-Identifier: MIT
// The one file that knows whether there is cJSON. Without it every value is NULL and nothing happens.
#pragma once

#include "lab/complaint.h"

#include <stdint.h>

typedef struct cJSON json_value;

/// True if the program was built with JSON; else the complaint says what to do.
bool json_is_here( complaint* why );

json_value* json_object( void );
json_value* json_array( void );

/// Each adds to an object under `key`, or to an array if `key` is NULL. `text` may be NULL: null.
void json_put( json_value* parent, const char* key, json_value* child );
void json_put_text( json_value* parent, const char* key, const char* text );
void json_put_bool( json_value* parent, const char* key, bool value );

/// Whole numbers up to 2^53 are exact. What is not finite becomes null.
void json_put_number( json_value* parent, const char* key, double value );
void json_put_count( json_value* parent, const char* key, uint64_t value );

/// The text, with a newline at the end, to free; the value is gone afterwards. NULL if out of memory.
char* json_text( json_value* value );
