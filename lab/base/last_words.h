// SPDX-License-Identifier: MIT
// What a long command still does when it is told to stop: write down what is finished. It happens on a thread of its own, at
// once, however deep in a frame the work is; a signal handler could not open a file, and the work may not come back for
// minutes.
#pragma once

#include <stdbool.h>

typedef void last_words( void* user );

/// From now on the first SIGINT, SIGTERM or SIGHUP has `words` spoken, removes guarded files and ends the program with
/// status 1; a second one ends it as if there were no words. Where no thread can be had every one does.
void last_words_begin( last_words* words, void* user );

/// In between no words are spoken: for changing what they speak of. Does not return once they are being spoken. Not nested.
void last_words_hold( void );
void last_words_go_on( void );

/// No words any more, and go on if they were held: what they would say has been done.
void last_words_end( void );

/// For the signal handler: true if the words will be spoken, and the program ends afterwards.
bool last_words_ask( void );
