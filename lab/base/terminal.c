// SPDX-License-Identifier: MIT
#include "lab/base/terminal.h"

#include "lab/base/platform.h"
#include "lab/base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// ---- colours

enum
{
    WISH_AUTO,
    WISH_ALWAYS,
    WISH_NEVER,
};

const choice terminal_wishes[] = { { "auto", WISH_AUTO }, { "always", WISH_ALWAYS }, { "never", WISH_NEVER },
    { NULL, 0 } };

static int s_wish = WISH_AUTO;

void terminal_set_wish( int wish )
{
    s_wish = wish;
}

static bool is_set( const char* name )
{
    const char* value = getenv( name );
    return value != NULL && value[0] != '\0';
}

static bool has_colours( FILE* stream )
{
    return s_wish == WISH_ALWAYS ||
        ( s_wish == WISH_AUTO && !is_set( "NO_COLOR" ) && platform_has_colours( stream ) );
}

const char* terminal_begin( terminal_style style, FILE* stream )
{
    static const char* const codes[] = { "", "\033[1m", "\033[32m", "\033[1;31m", "\033[33m" };
    return has_colours( stream ) ? codes[style] : "";
}

const char* terminal_end( terminal_style style, FILE* stream )
{
    return style != TERMINAL_PLAIN && has_colours( stream ) ? "\033[0m" : "";
}

void terminal_print( terminal_style style, FILE* stream, const char* format, ... )
{
    va_list arguments;
    va_start( arguments, format );
    fputs( terminal_begin( style, stream ), stream );
    vfprintf( stream, format, arguments );
    fputs( terminal_end( style, stream ), stream );
    va_end( arguments );
}

bool terminal_load_words( int* argc, char*** argv, lab_error* why )
{
    static const char flag[] = "--ansi";
    const size_t length = sizeof( flag ) - 1;
    while ( *argc > 1 && strncmp( ( *argv )[1], flag, length ) == 0 )
    {
        const char* word = ( *argv )[1];
        bool is_joined = word[length] == '=';
        if ( !is_joined && word[length] != '\0' )
        {
            break; // another flag
        }
        const char* wish = is_joined ? word + length + 1 : *argc > 2 ? ( *argv )[2] : "";
        char advice[CHOICE_ADVICE_ROOM];
        if ( !choice_find( terminal_wishes, wish, &s_wish ) )
        {
            return lab_error_write( why, "--ansi: there is no '%.100s'; %s", wish,
                choice_advice( terminal_wishes, wish, advice ) );
        }
        *argc -= is_joined ? 1 : 2;
        *argv += is_joined ? 1 : 2;
    }
    return true;
}

// ---- characters

static bool names_utf8( const char* locale )
{
    for ( const char* c = locale; *c != '\0'; ++c )
    {
        bool is_utf = ( c[0] == 'U' || c[0] == 'u' ) && ( c[1] == 'T' || c[1] == 't' ) &&
            ( c[2] == 'F' || c[2] == 'f' );
        if ( is_utf && ( c[3] == '8' || ( c[3] == '-' && c[4] == '8' ) ) )
        {
            return true;
        }
    }
    return false;
}

bool terminal_is_utf8( void )
{
    static const char* const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for ( size_t index = 0; index < sizeof( names ) / sizeof( names[0] ); ++index )
    {
        const char* locale = getenv( names[index] );
        if ( locale != NULL && locale[0] != '\0' )
        {
            return names_utf8( locale );
        }
    }
    return platform_has_utf8();
}

char* terminal_text( const char* text )
{
    static const char* const signs[][2] = { { "\xC2\xB1", "+-" }, { "\xC3\x97", "x" }, // ± ×
        { "\xE2\x80\x93", "-" }, { "\xE2\x80\xA6", "..." },                            // – …
        { "\xE2\x9C\x93", "ok" }, { "\xE2\x9C\x97", "NO" } };                          // ✓ ✗
    const size_t longest = 3;
    if ( terminal_is_utf8() )
    {
        return text_copy( text );
    }
    char* plain = lab_take( longest * strlen( text ) + 1, 1 );
    char* to = plain;
    while ( *text != '\0' )
    {
        const char* sign = NULL;
        for ( size_t index = 0; sign == NULL && index < sizeof( signs ) / sizeof( signs[0] ); ++index )
        {
            if ( text_starts_with( text, signs[index][0] ) )
            {
                sign = signs[index][1];
                text += strlen( signs[index][0] );
            }
        }
        if ( sign == NULL )
        {
            *to++ = *text++;
            continue;
        }
        memcpy( to, sign, strlen( sign ) );
        to += strlen( sign );
    }
    *to = '\0';
    return plain;
}
