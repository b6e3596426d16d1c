// SPDX-License-Identifier: MIT
// Which algorithms to run and how, as users write it: sap, sap@avx2, brute@scalar; --isa and --threads
// multiply.
#pragma once

#include "lab/base/args.h"
#include "lab/base/error.h"
#include "method/method.h"

#include <stddef.h>
#include <stdint.h>

// ---- Several numbers in one word, for sweeps and ladders of sizes: 64, 32..4096 (doubling),
// 10..1000:x10, 0.1..0.5:+0.1.

typedef struct number_list
{
    double* items;
    uint32_t count;
} number_list;

void number_list_free( number_list* list );

/// More values than this are a slip of the pen.
#define RANGE_MOST 1000

/// Appends the numbers a word stands for, ascending; k and m multiply by a thousand and a million. The upper
/// end is among them only if a step falls on it. False, with a `message` that says what to do but not where,
/// if the word is no such range.
bool range_add( number_list* list, const char* word, char* message, size_t message_size );

/// As it is written in a setting, such as "256" or "0.5".
text_short range_text( double value );

typedef struct run_spec
{
    const clv_method* row;
    clv_isa isa; ///< CLV_ISA_AUTO: the best, or a method without variants
    uint32_t thread_count;
    char* settings; ///< those the method knows, to free; NULL if none
    bool fat;       ///< asked to report pairs of grown boxes, and has some
} run_spec;

typedef struct run_spec_list
{
    run_spec* items;
    uint32_t count;
} run_spec_list;

typedef struct run_wish
{
    text_list names;    ///< empty: every method
    text_list isas;     ///< "all": every one supported here
    size_list threads;  ///< empty: 1
    text_list settings; ///< "kd.leaf=256"
    text_list sweeps;   ///< "kd.leaf=32..4096": a run per value
    text_list without;  ///< names to leave out
    const char* device; ///< of methods that run on one, NULL: the fastest; a word of the command line
    bool fat;           ///< methods that keep grown boxes report what these say
    bool must_run;      ///< the names come from the command line: one that cannot run here is an error
} run_wish;

/// The product of the wishes, in the order of `names` or of the method table. A method without variants or
/// threads appears once. Without --isa: `every_isa` takes every one supported here, else the best alone.
/// False for unknown names, with the closest known one, for settings that no method among them knows, and
/// with must_run for names that cannot run here, or where nothing at all can.
bool run_spec_list_make( run_spec_list* list, const run_wish* wish, bool every_isa, lab_error* why );
void run_spec_list_free( run_spec_list* list );
void run_wish_free( run_wish* wish );

/// The one method of that name with these settings, for a command that shows its tree. False if it
/// cannot run here or keeps none.
bool run_spec_tree(
    run_spec_list* list, const char* command, const char* method, const text_list* settings, lab_error* why );

/// Instruction sets as users name them, "all" the last; NULL beyond. And whether a name is
/// one, or which was meant.
const char* run_isa_name( uint32_t index );
bool run_isa_check( const char* name, bool may_be_all, lab_error* why );

/// The method that was meant, for a name that none has.
text_guess run_method_guess( const char* name );

/// Does the method have a parameter of that name?
bool run_spec_knows( const run_spec* spec, const char* name, size_t name_length );

/// Can it run on this machine? If not, `reason` says why.
bool run_spec_is_available( const run_spec* spec, char* reason, size_t reason_size );

/// Puts method, instruction set, settings and workers into a def. The spec must outlive its use.
void run_spec_apply( const run_spec* spec, clv_space_def* def );

/// "avx2", or "plain" where there are no variants; CLV_ISA_AUTO is resolved.
const char* run_spec_variant( const run_spec* spec );

// ---- A parameter of methods taken through several values: kd.leaf=32..4096,
// kd.leaf=32,64,512, grid.cell=4..64:x4.
