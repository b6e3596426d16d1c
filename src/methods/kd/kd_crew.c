// SPDX-License-Identifier: MIT
#include "kd/kd_crew.h"

#include "base/assertion.h"
#include "base/heap_sort.h"

#include <math.h>
#include <string.h>

enum
{
    PIECES_PER_WORKER = 4, // about so many, so that an uneven tree keeps all of them busy
    PIECES_AT_ONCE = 64,   // room is made for so many, so that one more now and then asks for none
    TOP_DEPTH = 32,        // of the top: our trees have a sixty-fourth of the objects to a branch by then
    LISTS_LEAST = 4096,    // items
    GATHERED = 512,        // items of a piece, while they are gathered
    OWN_TESTS = 40,        // that take as long as to read and lay out an object
    PAIR_TESTS = 24,       // to test a pair exactly and write it down
    LIKELY_TESTS = 40,     // of an object, where there was no search before
    PARTS_MOST = 16,       // of a leaf
    PART_TESTS = 100,      // of an object, in a part of a leaf, at least
    ABOVE_SHARE = 4        // of what is above a piece, about one in so many reaches it
};

// One run, for every piece of it.
typedef struct crew_run
{
    kd_crew* crew;
    const kd_crew_wish* wish;
    kd_search_job job; // the calling thread's
} crew_run;

void clv_kd_crew_init( kd_crew* crew, base_memory* memory, task_runner* tasks )
{
    *crew = ( kd_crew ){ .memory = memory, .tasks = tasks };
}

void clv_kd_crew_release( kd_crew* crew )
{
    base_memory* memory = crew->memory;
    for ( uint32_t i = 0; i < crew->worker_count; ++i )
    {
        clv_kd_search_use_memory( &crew->workers[i].search, memory );
        clv_kd_search_release( &crew->workers[i].search );
        clv_base_memory_give( memory, crew->workers[i].candidates, KD_CANDIDATES, sizeof( clv_pair ) );
    }
    clv_base_memory_give( memory, crew->workers, crew->worker_count, sizeof( kd_crew_worker ) );
    base_array_free( &crew->pieces, memory );
    base_array_free( &crew->lists, memory );
    base_array_free( &crew->branches, memory );
    base_array_free( &crew->turns, memory );
    base_array_free( &crew->keys, memory );
    base_array_free( &crew->loads, memory );
    base_array_free( &crew->places, memory );
    base_array_free( &crew->place_ends, memory );
    base_array_free( &crew->pasts, memory );
    clv_task_gather_release( &crew->gather, memory );
    clv_kd_crew_init( crew, memory, crew->tasks );
}

// ---- workers

static void* refuse( size_t size, size_t alignment, void* user )
{
    (void)size;
    (void)alignment;
    (void)user;
    return NULL;
}

static void release_nothing( void* memory, size_t size, size_t alignment, void* user )
{
    (void)memory;
    (void)size;
    (void)alignment;
    (void)user;
    CLV_ASSERT( false );
}

static bool create_workers( kd_crew* crew, const kd_search* model )
{
    if ( crew->workers != NULL )
    {
        return true;
    }
    uint32_t count = task_worker_count( crew->tasks );
    crew->workers = clv_base_memory_take( crew->memory, count, sizeof( kd_crew_worker ) );
    if ( crew->workers == NULL )
    {
        return false;
    }
    crew->worker_count = count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        kd_crew_worker* worker = &crew->workers[i];
        worker->none = clv_base_memory_make( ( clv_allocator ){ refuse, release_nothing, NULL } );
        worker->candidates = NULL;
        clv_kd_search_init( &worker->search, model->memory, model->kernels, &model->rules );
    }
    return true;
}

// True if any is more than there was.
static bool raise_needs( kd_search_needs* needs, const kd_search_needs* more )
{
    bool is_more = false;
    for ( int need = 0; need < KD_NEED_COUNT; ++need )
    {
        is_more |= more->of[need] > needs->of[need];
        kd_need_at_least( needs, (kd_need)need, more->of[need] );
    }
    return is_more;
}

// What the pieces are likely to need, and what any node has needed so far.
static kd_search_needs find_needs( const kd_crew* crew, const kd_crew_wish* wish )
{
    kd_search_needs needs = { { 0 } };
    for ( uint32_t i = clv_kd_tree_list( wish->tree ); i-- > 0; )
    {
        const kd_node* node = &wish->tree->nodes.items[wish->tree->stack.items[i]];
        kd_need_at_least( &needs, KD_NEED_OWN, node->end - node->begin );
    }
    for ( uint32_t i = 0; i < crew->pieces.count; ++i )
    {
        kd_need_at_least( &needs, KD_NEED_EXTERNALS, crew->pieces.items[i].above / ABOVE_SHARE );
    }
    needs.of[KD_NEED_ARENA] = needs.of[KD_NEED_EXTERNALS] + needs.of[KD_NEED_OWN];
    raise_needs( &needs, &wish->search->needs );
    for ( uint32_t i = 0; i < crew->worker_count; ++i )
    {
        raise_needs( &needs, &crew->workers[i].search.needs );
    }
    return needs;
}

// All of them get the same: which worker gets which piece is up to timing.
static bool equip( kd_crew* crew, const kd_crew_wish* wish )
{
    kd_search_needs needs = find_needs( crew, wish );
    if ( raise_needs( &crew->given, &needs ) )
    {
        // A quarter more, so that a crowd in motion does not ask for a little more in every other frame.
        for ( int need = 0; need < KD_NEED_COUNT; ++need )
        {
            crew->given.of[need] += crew->given.of[need] / 4;
        }
        crew->given.of[KD_NEED_ARENA] += 64;
        crew->given.of[KD_NEED_DEPTH] += 16;
    }
    bool ok = true;
    for ( uint32_t i = 0; i < crew->worker_count && ok; ++i )
    {
        kd_crew_worker* worker = &crew->workers[i];
        clv_kd_search_use_memory( &worker->search, crew->memory );
        ok = clv_kd_search_equip( &worker->search, &crew->given, wish->rests );
        if ( ok && wish->exact != NULL && worker->candidates == NULL )
        {
            worker->candidates = clv_base_memory_take( crew->memory, KD_CANDIDATES, sizeof( clv_pair ) );
            ok = worker->candidates != NULL;
        }
        clv_kd_search_use_memory( &worker->search, &worker->none );
    }
    return ok;
}

// ---- the top of the tree

static uint64_t round_up( uint64_t count )
{
    return ( count + PIECES_AT_ONCE - 1 ) / PIECES_AT_ONCE * PIECES_AT_ONCE;
}

static uint32_t clamp_cost( uint64_t cost )
{
    return (uint32_t)( cost < UINT32_MAX ? cost : UINT32_MAX );
}

// By what each of its objects took the last time; in a node that is new, by what they took everywhere.
static uint32_t cost_of( const kd_crew* crew, uint32_t index, uint32_t object_count )
{
    const kd_crew_past* past = &crew->pasts.items[index];
    double per_object = past->object_count > 0 ? (double)past->tests / past->object_count
        : crew->past_objects > 0               ? (double)crew->past_tests / (double)crew->past_objects
                                               : LIKELY_TESTS;
    return clamp_cost( (uint64_t)( ( per_object + OWN_TESTS ) * object_count ) );
}

// Half a worker's share, but each part lays out the whole leaf and reads all of its boxes, so a part is to
// have more to do than that.
static uint32_t parts_of( const kd_crew* crew, const kd_search* search, const kd_node* node, uint32_t cost )
{
    uint32_t own_count = node->end - node->begin;
    bool can_be_cut =
        kd_node_is_leaf( node ) && search->rules.sweep == KD_SWEEP_SMALL && own_count <= KD_SMALL_MOST;
    CLV_ASSERT( crew->worker_count > 0 );
    uint64_t half = crew->cost_sum / crew->worker_count / 2;
    uint64_t least = (uint64_t)own_count * PART_TESTS;
    uint64_t wanted = half > least ? half : least;
    if ( !can_be_cut || crew->cost_sum == 0 || cost <= wanted )
    {
        return 1;
    }
    uint64_t parts = ( cost + wanted / 2 ) / wanted;
    return (uint32_t)( parts < PARTS_MOST ? parts : PARTS_MOST );
}

static bool add_piece( kd_crew* crew, kd_crew_piece piece )
{
    bool ok = base_array_reserve( &crew->pieces, crew->memory, round_up( crew->pieces.count + 1 ) );
    if ( ok )
    {
        CLV_ASSERT( piece.parent == KD_NONE || piece.parent < crew->pieces.count ); // parents come first
        crew->pieces.items[crew->pieces.count++] = piece;
    }
    return ok;
}

static bool add_subtree( const crew_run* run, kd_crew_piece piece )
{
    kd_crew* crew = run->crew;
    const kd_node* node = &run->wish->tree->nodes.items[piece.node];
    uint32_t cost = cost_of( crew, piece.node, node->population );
    piece.object_count = node->population;
    piece.part_count = parts_of( crew, run->wish->search, node, cost );
    CLV_ASSERT( piece.part == 0 && piece.part_count > 0 && piece.part_count <= PARTS_MOST );
    piece.cost = cost / piece.part_count;
    piece.external_cost = crew->pasts.items[piece.node].external_tests;
    bool ok = true;
    for ( ; piece.part < piece.part_count && ok; ++piece.part )
    {
        ok = add_piece( crew, piece );
    }
    return ok;
}

// Its children are walked too.
static bool add_top( const crew_run* run, kd_crew_piece piece, uint32_t* branch_count )
{
    kd_crew* crew = run->crew;
    const kd_node* node = &run->wish->tree->nodes.items[piece.node];
    uint32_t own_count = node->end - node->begin;
    piece.is_top = true;
    piece.own = (uint32_t)crew->lists.count;
    piece.object_count = own_count;
    piece.cost = cost_of( crew, piece.node, own_count );
    crew->lists.count += own_count;
    if ( !add_piece( crew, piece ) ||
        !base_array_reserve( &crew->branches, crew->memory, round_up( *branch_count + 2 ) ) )
    {
        return false;
    }
    uint32_t number = (uint32_t)crew->pieces.count - 1;
    CLV_ASSERT( (uint64_t)*branch_count + 2 <= crew->branches.capacity );
    crew->branches.items[( *branch_count )++] = number * 2;
    crew->branches.items[( *branch_count )++] = number * 2 + 1; // the left one, taken first
    return true;
}

static bool add_node(
    const crew_run* run, uint32_t index, uint32_t parent, uint32_t depth, uint32_t* branch_count )
{
    kd_crew* crew = run->crew;
    const kd_tree* tree = run->wish->tree;
    const kd_node* node = &tree->nodes.items[index];
    kd_crew_piece piece = { .node = index, .parent = parent, .depth = depth, .part_count = 1 };
    piece.above = tree->outside_count;
    if ( parent != KD_NONE )
    {
        const kd_crew_piece* above = &crew->pieces.items[parent];
        piece.above =
            above->above + tree->nodes.items[above->node].end - tree->nodes.items[above->node].begin;
    }
    uint32_t most = tree->count / ( crew->worker_count * PIECES_PER_WORKER );
    bool is_top = !kd_node_is_leaf( node ) && node->population > most && depth < TOP_DEPTH;
    return is_top ? add_top( run, piece, branch_count ) : add_subtree( run, piece );
}

static int compare_keys( const void* a, const void* b )
{
    uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
    return ( left < right ) - ( left > right ); // the largest first
}

// Whose piece this is to begin with: the one that had its stretch of the array in the refit, whose cache has
// the boxes, unless that one has enough to do; then the one with the least.
static uint32_t choose_worker( const kd_crew* crew, const kd_tree* tree, const kd_crew_piece* piece )
{
    const uint64_t* loads = crew->loads.items;
    const kd_node* node = &tree->nodes.items[piece->node];
    uint64_t middle = ( (uint64_t)node->begin + node->end ) / 2;
    uint32_t close_by = (uint32_t)( middle * crew->worker_count / ( (uint64_t)tree->count + 1 ) );
    CLV_ASSERT( close_by < crew->worker_count );
    uint64_t share = crew->cost_sum / crew->worker_count;
    if ( crew->places.items[close_by] < crew->place_ends.items[close_by] &&
        ( loads[close_by] == 0 || loads[close_by] + piece->cost <= share + share / 8 ) )
    {
        return close_by;
    }
    uint32_t least = KD_NONE;
    for ( uint32_t worker = 0; worker < crew->worker_count; ++worker )
    {
        bool has_room = crew->places.items[worker] < crew->place_ends.items[worker];
        least = has_room && ( least == KD_NONE || loads[worker] < loads[least] ) ? worker : least;
    }
    return least;
}

static bool reserve_deal( kd_crew* crew, uint64_t count )
{
    return base_array_reserve( &crew->turns, crew->memory, count ) &&
        base_array_reserve( &crew->keys, crew->memory, count ) &&
        base_array_reserve( &crew->loads, crew->memory, crew->worker_count ) &&
        base_array_reserve( &crew->places, crew->memory, crew->worker_count ) &&
        base_array_reserve( &crew->place_ends, crew->memory, crew->worker_count );
}

// Which worker begins with which pieces, the longest first: runners give each worker an equal stretch of the
// numbers to begin with.
static bool deal( kd_crew* crew, const kd_tree* tree )
{
    uint64_t count = round_up( crew->pieces.count );
    if ( !reserve_deal( crew, count ) )
    {
        return false;
    }
    uint64_t* keys = crew->keys.items;
    crew->cost_sum = 0;
    for ( uint64_t i = 0; i < crew->pieces.count; ++i )
    {
        keys[i] = (uint64_t)crew->pieces.items[i].cost << 32 | ( UINT32_MAX - i );
        crew->cost_sum += crew->pieces.items[i].cost;
    }
    clv_base_heap_sort( keys, (size_t)crew->pieces.count, sizeof( uint64_t ), compare_keys );
    for ( uint32_t worker = 0; worker < crew->worker_count; ++worker )
    {
        crew->loads.items[worker] = 0;
        crew->places.items[worker] = (uint32_t)( count * worker / crew->worker_count );
        crew->place_ends.items[worker] = (uint32_t)( count * ( worker + 1 ) / crew->worker_count );
    }
    for ( uint64_t i = 0; i < count; ++i )
    {
        uint32_t number = i < crew->pieces.count ? UINT32_MAX - (uint32_t)keys[i] : (uint32_t)i;
        kd_crew_piece none = { .node = tree->root };
        const kd_crew_piece* piece = i < crew->pieces.count ? &crew->pieces.items[number] : &none;
        uint32_t worker = choose_worker( crew, tree, piece );
        CLV_ASSERT( worker != KD_NONE && crew->places.items[worker] < crew->place_ends.items[worker] );
        crew->turns.items[crew->places.items[worker]++] = number;
        crew->loads.items[worker] += piece->cost;
    }
    return true;
}

// Pieces in the order of a depth-first walk. No object is looked at.
static bool cut( const crew_run* run )
{
    kd_crew* crew = run->crew;
    const kd_tree* tree = run->wish->tree;
    crew->pieces.count = 0;
    crew->lists.count = tree->outside_count;
    uint32_t branch_count = 0;
    bool ok = base_array_extend( &crew->pasts, crew->memory, tree->nodes.capacity ) &&
        add_node( run, tree->root, KD_NONE, 0, &branch_count );
    while ( ok && branch_count > 0 )
    {
        uint32_t branch = crew->branches.items[--branch_count];
        const kd_crew_piece* parent = &crew->pieces.items[branch / 2];
        const kd_node* node = &tree->nodes.items[parent->node];
        uint32_t child = branch % 2 > 0 ? node->left : node->right;
        ok = add_node( run, child, branch / 2, parent->depth + 1, &branch_count );
    }
    return ok && deal( crew, tree );
}

// Objects of the nodes of the top, as far as they stand in this stretch of the lists.
static void gather_items( uint32_t index, uint32_t worker, void* context )
{
    (void)worker;
    const crew_run* run = context;
    const kd_crew* crew = run->crew;
    const kd_tree* tree = run->wish->tree;
    uint32_t first = tree->outside_count + index * GATHERED;
    for ( uint32_t i = 0; i < crew->pieces.count; ++i )
    {
        const kd_crew_piece* piece = &crew->pieces.items[i];
        const kd_node* node = &tree->nodes.items[piece->node];
        uint32_t begin = piece->own > first ? piece->own : first;
        uint32_t end = piece->own + ( node->end - node->begin );
        end = end < first + GATHERED ? end : first + GATHERED;
        if ( piece->is_top && begin < end )
        {
            CLV_ASSERT( end <= crew->lists.count );
            clv_kd_search_gather( &run->job, tree->order.items + node->begin + ( begin - piece->own ),
                end - begin, crew->lists.items + begin );
        }
    }
}

static bool gather_lists( crew_run* run )
{
    kd_crew* crew = run->crew;
    uint32_t outside = run->wish->tree->outside_count;
    uint64_t count = crew->lists.count;
    crew->lists.count = 0; // nothing to be kept
    uint64_t needed = count + 1;
    if ( needed > crew->lists.capacity &&
        !base_array_renew( &crew->lists, crew->memory, needed + needed / 4 + LISTS_LEAST ) )
    {
        return false;
    }
    crew->lists.count = count;
    memcpy( crew->lists.items, run->job.search->arena.items, (size_t)outside * sizeof( simd_item ) );
    clv_task_run(
        crew->tasks, gather_items, (uint32_t)( ( count - outside + GATHERED - 1 ) / GATHERED ), run );
    return true;
}

// ---- a piece

static kd_reach find_reach( const kd_tree* tree, uint32_t index )
{
    kd_reach reach = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for ( uint32_t up = tree->nodes.items[index].parent; up != KD_NONE;
          index = up, up = tree->nodes.items[up].parent )
    {
        const kd_node* node = &tree->nodes.items[up];
        float* lower = &reach.lower_most[node->axis];
        float* upper = &reach.upper_least[node->axis];
        if ( node->left == index )
        {
            float below = nextafterf( node->plane, -INFINITY ); // up to it is below the plane
            *lower = below < *lower ? below : *lower;
        }
        else
        {
            *upper = node->plane > *upper ? node->plane : *upper;
        }
    }
    return reach;
}

// What is external to a piece, from the nodes above it, the root first, into the arena.
static bool pick_externals(
    const kd_search_job* job, const kd_crew* crew, const kd_crew_piece* piece, uint32_t* count )
{
    const kd_tree* tree = job->tree;
    const kd_crew_piece* path[TOP_DEPTH];
    uint32_t depth = piece->depth;
    for ( uint32_t up = piece->parent; up != KD_NONE; up = crew->pieces.items[up].parent )
    {
        CLV_ASSERT( depth > 0 && depth <= TOP_DEPTH );
        path[--depth] = &crew->pieces.items[up];
    }
    CLV_ASSERT( depth == 0 ); // the whole path is filled
    kd_reach reach = find_reach( tree, piece->node );
    bool keep_rest = !clv_kd_search_is_idle( job, piece->node );
    bool ok = clv_kd_search_add_externals(
        job->search, &reach, keep_rest, crew->lists.items, tree->outside_count, count );
    for ( uint32_t i = 0; i < piece->depth && ok; ++i )
    {
        const kd_node* node = &tree->nodes.items[path[i]->node];
        ok = clv_kd_search_add_externals( job->search, &reach, keep_rest, crew->lists.items + path[i]->own,
            node->end - node->begin, count );
    }
    return ok;
}

static clv_result search_piece( const kd_search_job* job, kd_crew* crew, const kd_crew_piece* piece )
{
    uint32_t count = 0;
    bool has_externals = piece->part + 1 == piece->part_count;
    if ( has_externals && !pick_externals( job, crew, piece, &count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    if ( count == 0 && clv_kd_search_is_idle( job, piece->node ) )
    {
        return CLV_OK;
    }
    if ( !piece->is_top )
    {
        return clv_kd_search_walk( job, ( kd_search_frame ){ .node = piece->node, .end = count } );
    }
    kd_node* node = &job->tree->nodes.items[piece->node];
    kd_node_lists lists = { node, job->search->arena.items, count, crew->lists.items + piece->own,
        node->end - node->begin, true };
    return clv_kd_node_search( job, &lists );
}

static void add_counters( kd_search_counters* sum, const kd_search_counters* more )
{
    sum->node_count += more->node_count;
    sum->external_count += more->external_count;
    sum->tree_pair_count += more->tree_pair_count;
    sum->static_pair_count += more->static_pair_count;
    sum->test_count += more->test_count;
    sum->batches.count += more->batches.count;
    sum->batches.test_count += more->batches.test_count;
    for ( uint32_t bin = 0; bin < KD_BATCH_BINS; ++bin )
    {
        sum->batches.bins[bin] += more->batches.bins[bin];
    }
}

static clv_result run_piece(
    uint32_t index, uint32_t number, clv_pair_sink* sink, uint64_t* test_count, void* context )
{
    const crew_run* run = context;
    if ( index >= run->crew->pieces.count )
    {
        return CLV_OK; // they were rounded up
    }
    kd_crew_piece* piece = &run->crew->pieces.items[index];
    CLV_ASSERT( number < run->crew->worker_count );
    kd_crew_worker* worker = &run->crew->workers[number];
    clv_kd_search_use_memory(
        &worker->search, run->crew->gather.is_alone ? run->crew->memory : &worker->none );
    worker->search.counters = ( kd_search_counters ){ 0 };
    kd_search_job job = run->job;
    job.search = &worker->search;
    job.part = piece->part;
    job.part_count = piece->part_count;
    job.external_tests = piece->external_cost;
    kd_exact_sink exact = kd_exact_open( worker->search.kernels, run->wish->exact, worker->candidates, sink );
    job.sink = kd_exact_in( &exact );
    clv_result result = search_piece( &job, run->crew, piece );
    result = result == CLV_OK ? kd_exact_close( &exact ) : result;
    *test_count += worker->search.counters.test_count;
    if ( result == CLV_OK ) // or it is done again
    {
        piece->external_cost = clamp_cost( worker->search.external_tests );
        add_counters( &worker->counters, &worker->search.counters );
        worker->candidate_count += exact.passed;
    }
    return result;
}

// ---- the run

// What each node's tests and pairs cost, for the next time.
static void remember_tests( kd_crew* crew )
{
    crew->past_tests = crew->past_objects = 0;
    for ( uint32_t i = 0; i < crew->pieces.count; ++i )
    {
        const kd_crew_piece* piece = &crew->pieces.items[i];
        const task_gather_piece* done = &crew->gather.pieces.items[i];
        kd_crew_past* past = &crew->pasts.items[piece->node];
        CLV_ASSERT( piece->node < crew->pasts.capacity );
        uint64_t tests = done->test_count + done->pair_count * PAIR_TESTS;
        crew->past_tests += tests;
        crew->past_objects += piece->part == 0 ? piece->object_count : 0;
        *past = ( kd_crew_past ){
            .object_count = piece->object_count,
            .tests = clamp_cost( tests + ( piece->part > 0 ? past->tests : 0 ) ),
            .external_tests = piece->external_cost, // the last part's, which has them
        };
    }
}

static clv_result run_pieces( crew_run* run, kd_crew_wish* wish )
{
    kd_crew* crew = run->crew;
    uint64_t test_count = 0; // told by the counters
    for ( uint32_t i = 0; i < crew->worker_count; ++i )
    {
        crew->workers[i].counters = ( kd_search_counters ){ 0 };
        crew->workers[i].candidate_count = 0;
    }
    // Pairs, too, come a few more or less with every frame; a quarter more chunks do for those.
    uint64_t wanted = crew->gather.wanted_chunks;
    crew->chunks_given = wanted > crew->chunks_given ? wanted + wanted / 4 + 8 : crew->chunks_given;
    crew->gather.wanted_chunks = crew->chunks_given;
    crew->gather.turns = crew->turns.items;
    clv_result result = clv_task_gather_run( &crew->gather, crew->memory, crew->tasks,
        (uint32_t)round_up( crew->pieces.count ), run_piece, run, wish->sink, &test_count );
    for ( uint32_t i = 0; i < crew->worker_count; ++i )
    {
        add_counters( &wish->search->counters, &crew->workers[i].counters );
        wish->candidate_count += crew->workers[i].candidate_count;
    }
    if ( result == CLV_OK )
    {
        remember_tests( crew );
    }
    return result;
}

static clv_result walk_alone( kd_search_job* job )
{
    return clv_kd_search_walk( job, clv_kd_search_root( job ) );
}

// One step of the search that is the calling thread's.
static clv_result step_alone( kd_search_job* job, kd_crew_wish* wish, clv_result ( *step )( kd_search_job* ) )
{
    kd_exact_sink exact = kd_exact_open( wish->search->kernels, wish->exact, wish->candidates, wish->sink );
    job->sink = kd_exact_in( &exact );
    clv_result result = step( job );
    result = result == CLV_OK ? kd_exact_close( &exact ) : result;
    wish->candidate_count += exact.passed;
    return result;
}

clv_result clv_kd_crew_run( kd_crew* crew, kd_crew_wish* wish )
{
    crew_run run = {
        .crew = crew,
        .wish = wish,
        .job = { wish->search, wish->tree, wish->boxes, wish->active, NULL, wish->sink, 0, 1, 0 },
    };
    wish->candidate_count = 0;
    clv_result result = step_alone( &run.job, wish, clv_kd_search_begin ); // the few outside
    if ( result != CLV_OK )
    {
        return result;
    }
    // Without memory for several it goes on alone.
    bool are_several = crew->tasks != NULL && task_worker_count( crew->tasks ) > 1 &&
        wish->tree->node_count > 1 && create_workers( crew, wish->search ) && cut( &run ) &&
        crew->pieces.count > 1 && equip( crew, wish ) && gather_lists( &run );
    result = are_several ? run_pieces( &run, wish ) : step_alone( &run.job, wish, walk_alone );
    clv_kd_search_end( &run.job, result == CLV_OK );
    return result;
}
