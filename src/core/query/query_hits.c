// SPDX-License-Identifier: MIT
// An American flag sort by the slots' digits, by insertion where there are few.
#include "query/query_hits.h"

#include "base/assertion.h"
#include "base/bits.h"

enum
{
    FEW_HITS = 24,  // are put in order one by one
    DIGIT_BITS = 6, // of a slot, at a time
    DIGITS = 1 << DIGIT_BITS,
    MOST_SLOT_DIGITS = 6, // 31 bits of a slot
};

typedef struct hit_range
{
    uint64_t first, end;
    uint32_t shift; // of its digit
} hit_range;

#define HITS_OF clv_hit
#define HITS_TIME float
#define HITS_NAME( name ) name
#include "query/query_hits_body.h"
#undef HITS_OF
#undef HITS_TIME
#undef HITS_NAME

#define HITS_OF clv_hit64
#define HITS_TIME double
#define HITS_NAME( name ) name##64
#include "query/query_hits_body.h"
#undef HITS_OF
#undef HITS_TIME
#undef HITS_NAME
