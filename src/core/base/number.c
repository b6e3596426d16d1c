// SPDX-License-Identifier: MIT
#include "base/number.h"

#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    MOST_DIGITS = 64,
    MOST_EXPONENT = 100000, // far beyond any double, and far below what an int takes
};

// The digits without their point, which is what locales differ about, and the power of ten that makes up for
// it.
typedef struct decimal
{
    char digits[MOST_DIGITS + 1];
    int count;
    int exponent;
} decimal;

static bool is_digit( char c )
{
    return c >= '0' && c <= '9';
}

// Returns the end of the digits; none is an end where they began.
static const char* read_digits( const char* text, decimal* d )
{
    bool after_point = false;
    const char* at = text;
    for ( ; is_digit( *at ) || ( *at == '.' && !after_point ); ++at )
    {
        if ( *at == '.' )
        {
            after_point = true;
            continue;
        }
        if ( d->count == MOST_DIGITS )
        {
            return text;
        }
        d->digits[d->count++] = *at;
        d->exponent -= after_point ? 1 : 0;
    }
    return d->count > 0 ? at : text;
}

// An e without digits behind it is not part of the number.
static const char* read_exponent( const char* text, decimal* d )
{
    const char* at = text + 1;
    bool negative = *at == '-';
    at += *at == '-' || *at == '+';
    if ( ( *text != 'e' && *text != 'E' ) || !is_digit( *at ) )
    {
        return text;
    }
    int exponent = 0;
    for ( ; is_digit( *at ); ++at )
    {
        exponent = exponent < MOST_EXPONENT ? 10 * exponent + ( *at - '0' ) : exponent;
    }
    d->exponent += negative ? -exponent : exponent;
    return at;
}

const char* clv_base_read_number( const char* text, double* value )
{
    decimal d = { .count = 0 };
    bool negative = *text == '-';
    const char* start = text + ( *text == '-' || *text == '+' );
    const char* end = read_digits( start, &d );
    if ( end == start )
    {
        return text;
    }
    end = *end != '\0' ? read_exponent( end, &d ) : end;
    char whole[MOST_DIGITS + 16];
    snprintf( whole, sizeof( whole ), "%se%d", d.digits, d.exponent );
    int kept = errno;
    double number = strtod( whole, NULL ); // correctly rounded, and no point to disagree about
    errno = kept;
    *value = negative ? -number : number;
    return end;
}

static void write_digits( double value, int digits, char* text, size_t size )
{
    snprintf( text, size, "%.*g", digits, value );
    const char* point = localeconv()->decimal_point;
    size_t length = strlen( point );
    char* found = length > 0 ? strstr( text, point ) : NULL;
    if ( found != NULL )
    {
        *found = '.';
        memmove( found + 1, found + length, strlen( found + length ) + 1 );
    }
}

void clv_base_write_number( double value, char* text, size_t size )
{
    write_digits( value, 6, text, size );
}

// 17 digits tell every double, if they are the nearest ones: printf listens to the caller's rounding, which
// some processors have in a second place.
void clv_base_write_exactly( double value, char* text, size_t size )
{
#ifdef FE_TONEAREST
    int rounding = fegetround();
    fesetround( FE_TONEAREST );
    write_digits( value, 17, text, size );
    fesetround( rounding );
#else
    write_digits( value, 17, text, size );
#endif
}
