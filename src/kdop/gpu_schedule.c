// SPDX-License-Identifier: MIT
#include "gpu_schedule.h"
#include "base/assertion.h"

#include "gpu_bodies.h"

static uint64_t count_tasks( const gpu_schedule_input* input )
{
    uint64_t count = input->pair_count;
    for ( uint32_t i = 0; i < input->body_count && input->reaches != NULL; ++i )
    {
        count += input->reaches[i] != 0 ? 1 : 0;
    }
    return count * input->round_count;
}

// The levels of one round, in the CPU's order: pairs, then the floor. Returns how many tasks it has.
static uint64_t find_levels( gpu_schedule* s, const gpu_schedule_input* input, uint32_t* levels )
{
    uint32_t* last = s->body_levels.items;
    uint64_t at = 0;
    CLV_ASSERT( input->body_count <= s->body_levels.capacity );
    for ( uint32_t i = 0; i < input->pair_count; ++i )
    {
        uint32_t a = input->pairs[i].a;
        uint32_t b = input->pairs[i].b;
        uint32_t level = last[a] > last[b] ? last[a] : last[b];
        levels[at++] = level;
        last[a] = last[b] = level + 1;
        s->level_count = s->level_count > level ? s->level_count : level + 1;
    }
    for ( uint32_t i = 0; i < input->body_count && input->reaches != NULL; ++i )
    {
        if ( input->reaches[i] != 0 )
        {
            levels[at++] = last[i]++;
            s->level_count = s->level_count > last[i] ? s->level_count : last[i];
        }
    }
    return at;
}

static void put_task( gpu_schedule* s, uint64_t* at, uint32_t task )
{
    uint32_t level = s->levels.items[*at];
    CLV_ASSERT( level < s->level_count && s->starts.items[level] < s->tasks.capacity );
    s->tasks.items[s->starts.items[level]++] = task;
    *at += 1;
}

// After this starts[level] is where the next level begins; moved back by one when all are placed.
static void place_tasks( gpu_schedule* s, const gpu_schedule_input* input )
{
    uint64_t at = 0;
    for ( uint32_t round = 0; round < input->round_count; ++round )
    {
        uint32_t mark = round + 1 == input->round_count ? TASK_LAST : 0;
        for ( uint32_t i = 0; i < input->pair_count; ++i )
        {
            put_task( s, &at, i | mark );
        }
        for ( uint32_t i = 0; i < input->body_count && input->reaches != NULL; ++i )
        {
            if ( input->reaches[i] != 0 )
            {
                put_task( s, &at, ( input->pair_count + i ) | mark );
            }
        }
    }
    CLV_ASSERT( at <= s->levels.capacity );
    for ( uint32_t level = s->level_count; level > 0; --level )
    {
        s->starts.items[level] = s->starts.items[level - 1];
    }
    s->starts.items[0] = 0;
    CLV_ASSERT( s->starts.items[s->level_count] == at ); // every task has a place
}

bool clv_gpu_schedule_make( gpu_schedule* s, base_memory* memory, const gpu_schedule_input* input )
{
    uint64_t task_count = count_tasks( input );
    s->level_count = 0;
    if ( task_count > UINT32_MAX || !base_array_renew( &s->tasks, memory, task_count + 1 ) ||
        !base_array_renew( &s->levels, memory, task_count + 1 ) ||
        !base_array_renew( &s->body_levels, memory, (uint64_t)input->body_count + 1 ) )
    {
        return false;
    }
    memset( s->body_levels.items, 0, input->body_count * sizeof( uint32_t ) );
    uint64_t at = 0;
    for ( uint32_t round = 0; round < input->round_count; ++round )
    {
        at += find_levels( s, input, s->levels.items + at );
    }
    CLV_ASSERT( at == task_count );
    if ( !base_array_renew( &s->starts, memory, (uint64_t)s->level_count + 2 ) )
    {
        return false;
    }
    memset( s->starts.items, 0, ( s->level_count + 2 ) * sizeof( uint32_t ) );
    for ( uint64_t i = 0; i < task_count; ++i )
    {
        s->starts.items[s->levels.items[i] + 1] += 1;
    }
    for ( uint32_t level = 0; level < s->level_count; ++level )
    {
        s->starts.items[level + 1] += s->starts.items[level];
    }
    CLV_ASSERT( s->starts.items[s->level_count] == task_count );
    place_tasks( s, input );
    s->tasks.count = task_count;
    return true;
}

void clv_gpu_schedule_free( gpu_schedule* schedule, base_memory* memory )
{
    base_array_free( &schedule->tasks, memory );
    base_array_free( &schedule->starts, memory );
    base_array_free( &schedule->levels, memory );
    base_array_free( &schedule->body_levels, memory );
}

// ---- checking

// One more response of a body; `body_levels` has one more than the last level that it was in.
static bool meets_once( const gpu_schedule* schedule, uint32_t body, uint32_t level )
{
    uint32_t* last = &schedule->body_levels.items[body];
    bool is_later = *last <= level;
    *last = level + 1;
    return is_later;
}

// A device that errs may find a pair of one body, which is one response then.
static bool pair_meets_once( const gpu_schedule* schedule, clv_pair pair, uint32_t level )
{
    bool is_once = meets_once( schedule, pair.a, level );
    return pair.a == pair.b ? is_once : meets_once( schedule, pair.b, level ) && is_once;
}

static const char* check_level( const gpu_schedule* s, const gpu_schedule_input* input, uint32_t level )
{
    for ( uint32_t at = s->starts.items[level]; at < s->starts.items[level + 1]; ++at )
    {
        uint32_t task = s->tasks.items[at] & ~TASK_LAST;
        if ( task >= input->pair_count + input->body_count )
        {
            return "a level has a task of no pair and no body";
        }
        bool is_once = task < input->pair_count ? pair_meets_once( s, input->pairs[task], level )
                                                : meets_once( s, task - input->pair_count, level );
        if ( !is_once )
        {
            return "a body has two responses in one level";
        }
    }
    return NULL;
}

const char* clv_gpu_schedule_check( const gpu_schedule* schedule, const gpu_schedule_input* input )
{
    const uint32_t* starts = schedule->starts.items;
    uint64_t tasks = count_tasks( input );
    if ( schedule->tasks.count != tasks || starts[0] != 0 || starts[schedule->level_count] != tasks )
    {
        return "the levels do not have as many tasks as there are responses";
    }
    memset( schedule->body_levels.items, 0, input->body_count * sizeof( uint32_t ) );
    const char* message = NULL;
    for ( uint32_t level = 0; level < schedule->level_count && message == NULL; ++level )
    {
        message = starts[level] >= starts[level + 1] ? "a level has no task"
                                                     : check_level( schedule, input, level );
    }
    return message;
}
