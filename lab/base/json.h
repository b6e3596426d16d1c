// SPDX-License-Identifier: MIT
// The one file that knows whether there is cJSON. Without it every value is NULL and nothing happens.
#pragma once

#include "lab/base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct cJSON json_value;

/// True if the program was built with JSON; else the error says what to do.
bool json_is_here( lab_error* why );

json_value* json_object( void );
json_value* json_array( void );

/// Each adds to an object under `key`, or to an array if `key` is NULL. `text` may be NULL: null.
void json_put( json_value* parent, const char* key, json_value* child );
void json_put_text( json_value* parent, const char* key, const char* text );
void json_put_bool( json_value* parent, const char* key, bool value );

/// Whole numbers up to 2^53 are exact. What is not finite becomes null.
void json_put_number( json_value* parent, const char* key, double value );
void json_put_count( json_value* parent, const char* key, uint64_t value );

/// The text, with a newline at the end, to free; the value is gone afterwards. Only with JSON.
char* json_text( json_value* value );

/// The text in one line, without spaces, to free; likewise.
char* json_line( json_value* value );

/// The text on standard output, or an error that there is no JSON; the value is gone afterwards.
bool json_print( json_value* value, lab_error* why );

// ---- reading

/// The value of a text that holds one and nothing else, to json_free; text[size] is zero. NULL where it does
/// not, with the offset of the first byte that fits nowhere. More lenient than the standard with numbers such
/// as 01 and with line ends in strings; what json_line writes of it is strict again.
json_value* json_parse( const char* text, size_t size, size_t* bad_offset );
void json_free( json_value* value );
json_value* json_copy( const json_value* value ); ///< with all it holds, to json_free

/// Puts `child` under `key`, in place of what stands there if anything does.
void json_replace( json_value* object, const char* key, json_value* child );

/// Each takes NULL too, as a value of no kind.
bool json_is_object( const json_value* value );
bool json_is_array( const json_value* value );
bool json_is_null( const json_value* value ); ///< the word null, or NULL

/// The member under that very key, or NULL.
const json_value* json_get( const json_value* object, const char* key );

/// Walks through an array, or the members of an object: first, then next until NULL.
const json_value* json_first( const json_value* parent );
const json_value* json_next( const json_value* child );
const char* json_key( const json_value* member ); ///< NULL in an array

/// The text lives as long as the value; NULL if it is none. NaN if it is no number.
const char* json_as_text( const json_value* value );
double json_as_number( const json_value* value );
bool json_as_bool( const json_value* value ); ///< true only for the word true

// ---- JSON from a file that may be anything.

/// The value in a file, to json_free. NULL with an error that names the file, and the byte
/// where it stops being JSON.
json_value* json_file_read( const char* path, lab_error* why );
