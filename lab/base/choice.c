// SPDX-License-Identifier: MIT
#include "lab/base/choice.h"

#include "lab/base/text.h"

#include <stdio.h>
#include <string.h>

bool choice_find( const choice* list, const char* word, int* value )
{
    for ( const choice* known = list; known->word != NULL; ++known )
    {
        if ( strcmp( known->word, word ) == 0 )
        {
            *value = known->value;
            return true;
        }
    }
    return false;
}

int choice_value( const choice* list, const char* word )
{
    int value = list[0].value;
    choice_find( list, word, &value );
    return value;
}

char* choice_advice( const choice* list, const char* word, char buffer[CHOICE_ADVICE_ROOM] )
{
    text_guess guess = text_guess_begin( word );
    for ( const choice* known = list; known->word != NULL; ++known )
    {
        text_guess_try( &guess, known->word );
    }
    int length = snprintf( buffer, CHOICE_ADVICE_ROOM, "%suse ", text_guess_say( &guess ) );
    for ( const choice* known = list; known->word != NULL && length < CHOICE_ADVICE_ROOM; ++known )
    {
        const char* separator = known == list ? "" : known[1].word == NULL ? " or " : ", ";
        length +=
            snprintf( buffer + length, CHOICE_ADVICE_ROOM - (size_t)length, "%s%s", separator, known->word );
    }
    return buffer;
}
