// SPDX-License-Identifier: MIT
// A process of its own for a piece of work that may crash, hang or eat the memory: it is started,
// watched, and its answer collected. Where the system cannot do that (Windows, systems without
// /proc) child_is_here says so.
#pragma once

#include "lab/base/text.h"

#include <stddef.h>
#include <stdint.h>

/// This very program, even if the file was replaced meanwhile.
#define CHILD_PROGRAM "/proc/self/exe"

/// Where the child writes its answer.
#define CHILD_ANSWER 3

bool child_is_here( void );

typedef struct child_limits
{
    double time_s;                ///< the child may take this long; 0: any time
    double grace_s;               ///< and this much longer before it is ended
    uint64_t memory_bytes;        ///< likewise beyond this much memory in use; 0: never
    void ( *tick )( void* user ); ///< called several times a second; may be NULL
    void* user;
} child_limits;

typedef enum child_status
{
    CHILD_ANSWERED, ///< ended well
    CHILD_FAILED,
    CHILD_TIMEOUT,
} child_status;

typedef struct child_answer
{
    child_status status;
    char* text; ///< what it wrote, with a zero at the end; to free
    size_t length;
    char reason[256]; ///< unless it ended well
} child_answer;

/// At the program's start, before modules and drivers are loaded: children get the environment as it is now.
/// What is loaded writes to that of its process: Khronos' OpenCL loader cuts OCL_ICD_FILENAMES at the first
/// colon, and PoCL adds a variable.
void child_keep_environment( void );

/// Runs `program` (NULL: this one) with the given words behind its name, and waits for it. It gets none
/// of this program's handles but those of its answer and its messages.
child_answer child_run( const char* program, const text_list* words, const child_limits* limits );

/// In the child: no memory beyond this, where the system can see to it. 0: no limit. What runs on a device is
/// left to the process that started the child and watches it.
void child_limit_memory( uint64_t bytes, bool is_on_device );

/// In the child: the answer, whole, to the parent. False if the parent no longer reads.
bool child_write_answer( const char* text );

// ---- Which cores a run may use, so that the scheduler does not move it about.

#define PIN_CORES_MOST 1024
#define PIN_FORM "write yes, no or cores such as 2,3 or 4-7"

typedef struct pin_wish
{
    bool is_on;
    bool is_chosen; ///< the bits below tell; else as many of the last cores as there are threads
    uint64_t cores[PIN_CORES_MOST / 64]; ///< as a set
} pin_wish;

/// False if the text is neither yes, no nor a list of cores.
bool pin_parse( const char* text, pin_wish* wish );

/// Pins the calling process, all of its threads to come, to the wish's cores. False, with a
/// reason, where that cannot be.
bool pin_apply( const pin_wish* wish, uint32_t thread_count, char* reason, size_t reason_size );
