// SPDX-License-Identifier: MIT
// Strings and lists of strings that the program owns. None of these fails: without memory the program ends.
#pragma once

#include "lab/base/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/// Texts by value, for a printf: one lives as long as the expression in which it was made.
typedef struct text_short
{
    char text[48];
} text_short;

typedef struct text_long
{
    char text[768];
} text_long;

// ---- Memory and growing lists of the program. None of these fails: without memory the program ends, with
// one line and without half-written files. A timed run takes its memory by itself: without it that run
// failed, and the others go on.

/// So many zeroed items, of 0 one; to free.
void* lab_take( uint64_t count, size_t item_size );

/// The same memory with room for so many, perhaps elsewhere; what is new is not zeroed. NULL begins one.
void* lab_grow( void* items, uint64_t count, size_t item_size );

/// The next item of a list, to be filled in: `*lab_list_next( list->items, list->count ) = value;`. A
/// list is any pointer with any count beside it, NULL and 0 at first, and ends by free. Both are
/// evaluated more than once.
#define lab_list_next( items, count )                                                                        \
    ( ( items ) = lab_grow( items, (uint64_t)( count ) + 1, sizeof( *( items ) ) ), &( items )[( count )++] )

/// printf into a string to free.
char* text_format( const char* format, ... ) LAB_ERROR_FORMAT( 1, 2 );
char* text_format_list( const char* format, va_list arguments ) LAB_ERROR_FORMAT( 1, 0 );
char* text_copy( const char* text );
bool text_starts_with( const char* text, const char* start );
bool text_is_same( const char* a, const char* b ); ///< NULL counts as ""
bool text_ends_with( const char* text, const char* end );

/// What stands behind the last separator of a path, either kind; one at its end does not count.
const char* text_base_name( const char* path );

/// Zero-initialised is empty.
typedef struct text_list
{
    char** items;
    uint32_t count;
} text_list;

void text_list_add( text_list* list, const char* text );
bool text_list_has( const text_list* list, const char* text );
void text_list_add_all( text_list* list, const text_list* from );

/// Adds what stands between the commas. False if an item is empty ("a,,b", "", "a,"); the list is then as it
/// was.
bool text_list_add_split( text_list* list, const char* text );
void text_list_free( text_list* list );

/// The value of a flag that stands first behind the program's name, as "--ansi never" or "--ansi=never", and
/// moves past both; "" if it is missing, NULL if another word stands there.
const char* text_take_flag( int* argc, char*** argv, const char* flag );

/// What a user may have meant by a name that there is not: begin with it, try every name there is,
/// and say which is like it.
typedef struct text_guess
{
    const char* text;
    const char* closest; ///< of those tried, or whose beginning is; NULL if all take too many edits
    size_t least;        ///< edits that it may take for a closer one
    char said[96];
} text_guess;

text_guess text_guess_begin( const char* text );
void text_guess_try( text_guess* guess, const char* name ); ///< `name` must live until the guess is said

/// "did you mean NAME? ", or "" if none is like it: to stand before what else there is to do.
/// Lives as long as the guess.
const char* text_guess_say( text_guess* guess );

/// "did you mean NAME? use a, b or c" of the names there are, for one that there is not: `verb` is "use",
/// `last` " or ". Takes the names over.
text_long text_advice( const char* name, text_list known, const char* verb, const char* last );

/// The names of a table, by their indices; NULL beyond the last.
typedef const char* text_name_at( uint32_t index );
text_list text_list_of( text_name_at* name_at );

/// Sizes as people write them: "8000", "8k" = 8000, "1024k" = 1,024,000, "1m" = 1,000,000, "1.5k" = 1500; K
/// and M too. False, and *size untouched, for anything else: signs, spaces, fractions of an object, more than
/// fits.
bool text_parse_size( const char* text, uint64_t* size );

/// The inverse, for people: 8000 is "8k", 1,024,000 "1024k", 1,000,000 "1m", 1234 "1234".
text_short text_size( uint64_t size );

/// Memory for people: "512 B", "4.0 MiB".
text_short text_bytes( uint64_t bytes );

/// Columns a UTF-8 text takes, counting one per code point.
size_t text_width( const char* text );

/// As many bytes of it as fit into so many columns, up to a space if there is one.
size_t text_fold( const char* text, size_t room );

// ---- A word out of a few, as flags and files take it, and what it stands for. The list is what a word is
// looked up in, what a mistake is answered with, and what a shell completes.

/// Lists end with a word that is NULL.
typedef struct choice
{
    const char* word;
    int value;
} choice;

/// False, and *value untouched, if the word is not in the list.
bool choice_find( const choice* list, const char* word, int* value );

/// The value of a word that is known to be in the list.
int choice_value( const choice* list, const char* word );

/// What to write behind "there is no 'word'; ": "did you mean a? use a, b or c".
text_long choice_advice( const choice* list, const char* word );

// ---- Small languages: a statement per line, a word and its values, separated by blanks; # begins a comment.

typedef struct text_line
{
    const char* path;
    uint32_t number;
    const char* word; ///< the first
    text_list words;  ///< those behind it
    uint32_t next;    ///< of them, to be read next
    const char* rest; ///< the same as they stand there
    lab_error* why;
} text_line;

/// "PATH:LINE: 'WORD': MESSAGE", without the word where it is NULL. Always false.
bool text_line_fail( const text_line* line, const char* word, const char* message );

/// The next word, NULL behind the last.
const char* text_line_next( text_line* line );

/// Hands over line by line those that have words; false from the first that is refused on.
typedef bool text_line_read( text_line* line, void* user );
bool text_lines_read( const char* path, const char* text, text_line_read* read, void* user, lab_error* why );

/// The whole of a text file, to free; NULL if it cannot be read, is larger than 1 MiB or holds a zero byte.
/// `noun` is what it should be: "a schedule".
char* text_file_read( const char* path, const char* noun, lab_error* why );

// ---- Files that the program carries, so that they are found wherever it is installed; lab/CMakeLists.txt
// lists them.

typedef struct carried_file
{
    const char* name; ///< from the repository's root: "lab/schedules/quick.schedule"
    const char* word; ///< without folder and ending: "quick"
    const char* text; ///< a zero stands behind the last byte
    size_t size;
} carried_file;

/// Ends with a row whose name is NULL.
extern const carried_file carried_files[];

/// One that is in the list.
static inline const carried_file* carried_find( const char* name )
{
    const carried_file* file = carried_files;
    while ( strcmp( file->name, name ) != 0 )
    {
        ++file;
    }
    return file;
}
