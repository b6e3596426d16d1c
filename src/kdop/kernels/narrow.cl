// SPDX-License-Identifier: MIT
// Contacts of convex hulls, one pair an item, by GJK and EPA (src/core/solid), which paper 003 ("Detecção de
// Colisão usando Sweep and Prune com k-DOPs em GPU", COPPE 2021) leaves on the CPU.

// ---- contacts

SOLID void store_contact( __global double* numbers, uint index, const narrow_contact* contact )
{
    __global double* to = numbers + (size_t)index * CONTACT_DOUBLES;
    to[0] = contact->normal.x;
    to[1] = contact->normal.y;
    to[2] = contact->normal.z;
    to[3] = contact->depth;
    to[4] = contact->point_a.x;
    to[5] = contact->point_a.y;
    to[6] = contact->point_a.z;
    to[7] = contact->point_b.x;
    to[8] = contact->point_b.y;
    to[9] = contact->point_b.z;
}

// ---- pairs of a simulation's frame

SOLID void load_cache( __global const uint* record, clv_pair_cache* cache )
{
    cache->count = record[RECORD_CACHE];
    for ( int i = 0; i < 4; ++i )
    {
        cache->a[i] = record[RECORD_CACHE + 1 + i];
        cache->b[i] = record[RECORD_CACHE + 5 + i];
    }
}

SOLID void store_cache( __global uint* record, const clv_pair_cache* cache )
{
    record[RECORD_CACHE] = cache->count;
    for ( uint i = 0; i < cache->count; ++i )
    {
        record[RECORD_CACHE + 1 + i] = cache->a[i];
        record[RECORD_CACHE + 5 + i] = cache->b[i];
    }
}

// One task of a level: pairs of a level have no body in common, so that each finds its bodies as the levels
// before left them.
inline void solve_pair( narrow_core* a, narrow_core* b, uint pair, __global uint* records, __global const uint* marks,
    uint room, __global uint* states, __global double* numbers, __global double* depths, bool is_last,
    volatile __global uint* counts, uint level )
{
    __global uint* record = records + (size_t)pair * RECORD_WORDS;
    uint moves_a = marks[(size_t)record[RECORD_A] * MARK_WORDS];
    uint moves_b = marks[(size_t)record[RECORD_B] * MARK_WORDS];
    states[pair] = STATE_DONE;
    if ( ( record[RECORD_BITS] & RECORD_APART ) != 0 && record[RECORD_MOVES_A] == moves_a &&
        record[RECORD_MOVES_B] == moves_b )
    {
        return; // nothing has changed since they were found apart
    }
    clv_pair_cache cache;
    load_cache( record, &cache );
    narrow_contact contact;
    narrow_contact_find( a, 0.0, b, 0.0, room, &cache, &contact );
    if ( contact.undecided )
    {
        states[pair] = STATE_UNDECIDED; // the record stays: the host begins where this began
        atomic_max( counts + COUNT_HALT, level + 1 );
        return;
    }
    store_cache( record, &cache );
    record[RECORD_MOVES_A] = moves_a;
    record[RECORD_MOVES_B] = moves_b;
    uint bits = record[RECORD_BITS] & RECORD_HIT;
    if ( contact.touching && bits == 0 )
    {
        atomic_inc( counts + COUNT_HITS );
    }
    record[RECORD_BITS] = contact.touching ? RECORD_HIT : bits | RECORD_APART;
    if ( contact.touching && !contact.converged )
    {
        atomic_inc( counts + COUNT_UNCONVERGED );
    }
    else if ( contact.touching )
    {
        store_contact( numbers, pair, &contact );
        states[pair] = STATE_MATCH;
        if ( is_last )
        {
            depths[pair] = contact.depth;
        }
    }
}

// The lowest vertex against the plane y = 0.
inline void solve_floor( narrow_core* core, uint body, uint task, __global uint* marks, __global uint* states,
    __global double* numbers, __global double* depths, bool is_last )
{
    math_vec3 up = math_make( 0, 1, 0 );
    uint index;
    math_vec3 lowest = clv_narrow_core_support( core, math_neg( up ), &index );
    double depth = 0.0 - math_dot( up, lowest );
    states[task] = STATE_DONE;
    if ( depth >= 0.0 )
    {
        marks[(size_t)body * MARK_WORDS + MARK_BITS] |= MARK_ON_FLOOR;
        states[task] = STATE_MATCH;
        numbers[(size_t)task * CONTACT_DOUBLES + 3] = depth;
        if ( is_last )
        {
            depths[task] = depth;
        }
    }
}

// Tasks [first, end) of one level. Items `stride` apart work: neighbours that go different ways through a
// search wait for each other on a GPU.
__kernel void sim_narrow( __global const double* poses, __global const uint* hulls, __global const uint* rows,
    __global const float* vertices, __global const uint* tasks, uint first, uint end, uint stride, uint pair_count,
    __global uint* records, __global uint* marks, uint room_and_level, __global uint* states, __global double* numbers,
    __global double* depths, __global uint* counts )
{
    uint item = (uint)get_global_id( 0 );
    uint at = first + item / stride;
    uint level = room_and_level & 0xFFFFFF;
    uint halt = counts[COUNT_HALT];
    if ( at < end && item % stride == 0 && ( halt == 0 || halt > level ) )
    {
        uint task = tasks[at] & ~TASK_LAST;
        bool is_last = ( tasks[at] & TASK_LAST ) != 0;
        if ( task < pair_count )
        {
            __global const uint* record = records + (size_t)task * RECORD_WORDS;
            narrow_core a = load_core( poses, hulls, rows, vertices, record[RECORD_A] );
            narrow_core b = load_core( poses, hulls, rows, vertices, record[RECORD_B] );
            solve_pair( &a, &b, task, records, marks, room_and_level >> 24, states, numbers, depths, is_last, counts, level );
        }
        else
        {
            narrow_core core = load_core( poses, hulls, rows, vertices, task - pair_count );
            solve_floor( &core, task - pair_count, task, marks, states, numbers, depths, is_last );
        }
    }
}
