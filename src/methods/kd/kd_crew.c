// SPDX-License-Identifier: MIT
#include "kd/kd_crew.h"

#include "base/assertion.h"

#include <string.h>

enum
{
    PIECES_PER_WORKER = 4, // about so many, so that an uneven tree keeps all of them busy
    PIECES_AT_ONCE = 64,   // room is made for so many, so that one more now and then asks for none
    LISTS_LEAST = 4096     // items
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
    clv_base_memory_give( memory, crew->pieces, crew->piece_capacity, sizeof( kd_crew_piece ) );
    clv_base_memory_give( memory, crew->lists, crew->list_capacity, sizeof( simd_item ) );
    clv_base_memory_give( memory, crew->branches, crew->branch_capacity, sizeof( kd_crew_branch ) );
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

static bool hire( kd_crew* crew, const kd_search* model )
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
        clv_kd_search_init_like( &worker->search, model );
    }
    return true;
}

static uint32_t more_of( uint32_t a, uint32_t b )
{
    return a > b ? a : b;
}

static kd_search_needs most_of( const kd_search_needs* a, const kd_search_needs* b )
{
    return ( kd_search_needs ){
        .arena = a->arena > b->arena ? a->arena : b->arena,
        .own = more_of( a->own, b->own ),
        .depth = more_of( a->depth, b->depth ),
        .externals = more_of( a->externals, b->externals ),
        .sorted = more_of( a->sorted, b->sorted ),
        .rows = more_of( a->rows, b->rows ),
    };
}

static bool is_within( const kd_search_needs* a, const kd_search_needs* b )
{
    return a->arena <= b->arena && a->own <= b->own && a->depth <= b->depth && a->externals <= b->externals &&
        a->sorted <= b->sorted && a->rows <= b->rows;
}

// A quarter more, so that a crowd in motion does not ask for a little more in every other frame.
static kd_search_needs with_slack( const kd_search_needs* needs )
{
    return ( kd_search_needs ){
        .arena = needs->arena + needs->arena / 4 + 64,
        .own = needs->own + needs->own / 4,
        .depth = needs->depth + 16,
        .externals = needs->externals + needs->externals / 4,
        .sorted = needs->sorted + needs->sorted / 4,
        .rows = needs->rows + needs->rows / 4,
    };
}

// What the pieces are likely to need, and what any node has needed so far.
static kd_search_needs find_needs( const kd_crew* crew, const kd_crew_wish* wish )
{
    kd_search_needs likely = { 0 };
    for ( uint32_t i = clv_kd_tree_list( wish->tree ); i-- > 0; )
    {
        const kd_node* node = &wish->tree->nodes[wish->tree->stack[i]];
        likely.own = more_of( likely.own, node->end - node->begin );
    }
    for ( uint32_t i = 0; i < crew->piece_count; ++i )
    {
        const kd_search_frame* frame = &crew->pieces[i].frame;
        likely.externals = more_of( likely.externals, frame->end - frame->begin );
    }
    likely.arena = (uint64_t)likely.externals + likely.own;
    kd_search_needs needs = most_of( &likely, &wish->search->needs );
    for ( uint32_t i = 0; i < crew->worker_count; ++i )
    {
        needs = most_of( &needs, &crew->workers[i].search.needs );
    }
    return needs;
}

// All of them get the same: which piece comes to whom is chance.
static bool equip( kd_crew* crew, const kd_crew_wish* wish )
{
    kd_search_needs needs = find_needs( crew, wish );
    if ( !is_within( &needs, &crew->given ) )
    {
        needs = most_of( &needs, &crew->given );
        crew->given = with_slack( &needs );
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

static bool reserve_lists( kd_crew* crew, uint64_t more )
{
    void* lists = crew->lists;
    uint64_t needed = (uint64_t)crew->list_end + more + 1;
    bool ok = needed <= crew->list_capacity ||
        clv_base_memory_reserve( crew->memory, &lists, &crew->list_capacity, crew->list_end,
            needed + needed / 2 + LISTS_LEAST, sizeof( simd_item ) );
    crew->lists = lists;
    return ok;
}

static uint32_t round_up( uint32_t count )
{
    return ( count + PIECES_AT_ONCE - 1 ) / PIECES_AT_ONCE * PIECES_AT_ONCE;
}

static bool add_piece( kd_crew* crew, kd_search_frame frame, bool is_top )
{
    void* pieces = crew->pieces;
    bool ok = clv_base_memory_reserve( crew->memory, &pieces, &crew->piece_capacity, crew->piece_count,
        round_up( crew->piece_count + 1 ), sizeof( kd_crew_piece ) );
    crew->pieces = pieces;
    if ( ok )
    {
        crew->pieces[crew->piece_count++] = ( kd_crew_piece ){ .frame = frame, .is_top = is_top };
    }
    return ok;
}

static bool add_branches( kd_crew* crew, uint32_t* count, uint32_t parent )
{
    void* branches = crew->branches;
    bool ok = clv_base_memory_reserve( crew->memory, &branches, &crew->branch_capacity, *count,
        round_up( *count + 2 ), sizeof( kd_crew_branch ) );
    crew->branches = branches;
    if ( ok )
    {
        crew->branches[( *count )++] = ( kd_crew_branch ){ parent, false };
        crew->branches[( *count )++] = ( kd_crew_branch ){ parent, true }; // taken first
    }
    return ok;
}

// A node with its externals at the end of the lists: a piece, and if it is a large one its own objects behind them, and its
// children to be walked too.
static bool add_node( const crew_run* run, kd_search_frame frame, uint32_t most, uint32_t* branch_count )
{
    kd_crew* crew = run->crew;
    const kd_tree* tree = run->wish->tree;
    const kd_node* node = &tree->nodes[frame.node];
    bool is_needed = !clv_kd_search_is_idle( &run->job, frame.node ) || frame.end > frame.begin;
    if ( !is_needed )
    {
        return true;
    }
    crew->list_end = frame.end;
    if ( kd_node_is_leaf( node ) || node->population <= most )
    {
        return add_piece( crew, frame, false );
    }
    uint32_t own_count = node->end - node->begin;
    if ( !reserve_lists( crew, own_count ) )
    {
        return false;
    }
    clv_kd_search_gather( &run->job, tree->order + node->begin, own_count, crew->lists + frame.end );
    crew->list_end = frame.own_end = frame.end + own_count;
    return add_piece( crew, frame, true ) && add_branches( crew, branch_count, crew->piece_count - 1 );
}

// The list of a branch goes to the end of the lists, from that of its parent. The parent's own stays: its piece needs it.
static bool enter_branch( const crew_run* run, kd_crew_branch branch, uint32_t most, uint32_t* branch_count )
{
    kd_crew* crew = run->crew;
    kd_search_frame parent = crew->pieces[branch.parent].frame;
    const kd_node* node = &run->wish->tree->nodes[parent.node];
    uint32_t count = parent.own_end - parent.begin;
    if ( !reserve_lists( crew, count ) )
    {
        return false;
    }
    uint32_t kept = clv_kd_search_pass_down(
        &run->job, node, branch.to_left, crew->lists + parent.begin, count, crew->lists + crew->list_end );
    kd_search_frame frame = { .node = branch.to_left ? node->left : node->right,
        .begin = crew->list_end,
        .end = crew->list_end + kept };
    return add_node( run, frame, most, branch_count );
}

static bool cut( const crew_run* run )
{
    kd_crew* crew = run->crew;
    const kd_tree* tree = run->wish->tree;
    uint32_t most = tree->count / ( crew->worker_count * PIECES_PER_WORKER );
    crew->piece_count = 0;
    crew->list_end = 0;
    if ( !reserve_lists( crew, tree->outside_count ) )
    {
        return false;
    }
    memcpy( crew->lists, run->job.search->arena, (size_t)tree->outside_count * sizeof( simd_item ) );
    uint32_t branch_count = 0;
    bool ok = add_node(
        run, ( kd_search_frame ){ .node = tree->root, .end = tree->outside_count }, most, &branch_count );
    while ( ok && branch_count > 0 )
    {
        ok = enter_branch( run, crew->branches[--branch_count], most, &branch_count );
    }
    return ok;
}

// ---- a piece

static clv_result search_subtree(
    const kd_search_job* job, const simd_item* externals, kd_search_frame frame )
{
    uint32_t count = frame.end - frame.begin;
    if ( !clv_kd_search_set_externals( job->search, externals, count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    return clv_kd_search_walk( job, ( kd_search_frame ){ .node = frame.node, .end = count } );
}

static clv_result search_top( const kd_search_job* job, simd_item* lists, kd_search_frame frame )
{
    kd_node_lists node = { &job->tree->nodes[frame.node], lists + frame.begin, frame.end - frame.begin,
        lists + frame.end, frame.own_end - frame.end, true };
    return clv_kd_node_search( job, &node );
}

static clv_result search_piece( const kd_search_job* job, kd_crew* crew, const kd_crew_piece* piece )
{
    return piece->is_top ? search_top( job, crew->lists, piece->frame )
                         : search_subtree( job, crew->lists + piece->frame.begin, piece->frame );
}

static clv_result run_piece(
    uint32_t index, uint32_t number, pair_sink* sink, uint64_t* test_count, void* context )
{
    const crew_run* run = context;
    if ( index >= run->crew->piece_count )
    {
        return CLV_OK; // they were rounded up
    }
    kd_crew_piece* piece = &run->crew->pieces[index];
    kd_crew_worker* worker = &run->crew->workers[number];
    clv_kd_search_use_memory( &worker->search, piece->was_tried ? run->crew->memory : &worker->none );
    piece->was_tried = true;
    worker->search.counters = ( kd_search_counters ){ 0 };
    kd_search_job job = run->job;
    job.search = &worker->search;
    job.sink = sink;
    clv_result result;
    if ( run->wish->exact != NULL )
    {
        kd_exact_sink exact =
            kd_exact_open( worker->search.kernels, run->wish->exact, worker->candidates, sink );
        job.sink = &exact.sink;
        result = search_piece( &job, run->crew, piece );
        result = result == CLV_OK ? kd_exact_close( &exact ) : result;
        piece->candidate_count = exact.passed;
    }
    else
    {
        result = search_piece( &job, run->crew, piece );
    }
    piece->counters = worker->search.counters;
    *test_count += piece->counters.test_count;
    return result;
}

// ---- the run

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

static clv_result run_pieces( crew_run* run, kd_crew_wish* wish )
{
    kd_crew* crew = run->crew;
    uint64_t test_count = 0; // told by the counters
    // Pairs, too, come a few more or less with every frame; a quarter more chunks do for those.
    uint64_t wanted = crew->gather.wanted_chunks;
    crew->chunks_given = wanted > crew->chunks_given ? wanted + wanted / 4 + 8 : crew->chunks_given;
    crew->gather.wanted_chunks = crew->chunks_given;
    clv_result result = clv_task_gather_run( &crew->gather, crew->memory, crew->tasks,
        round_up( crew->piece_count ), run_piece, run, wish->sink, &test_count );
    for ( uint32_t i = 0; i < crew->piece_count; ++i )
    {
        add_counters( &wish->search->counters, &crew->pieces[i].counters );
        wish->candidate_count += crew->pieces[i].candidate_count;
    }
    return result;
}

// The calling thread alone.
static clv_result run_alone( const kd_search_job* job, kd_crew_wish* wish )
{
    kd_search_frame root = { .node = wish->tree->root, .end = wish->tree->outside_count };
    if ( wish->exact == NULL )
    {
        return clv_kd_search_walk( job, root );
    }
    kd_exact_sink exact = kd_exact_open( wish->search->kernels, wish->exact, wish->candidates, wish->sink );
    kd_search_job own = *job;
    own.sink = &exact.sink;
    clv_result result = clv_kd_search_walk( &own, root );
    result = result == CLV_OK ? kd_exact_close( &exact ) : result;
    wish->candidate_count += exact.passed;
    return result;
}

// The few outside are the calling thread's.
static clv_result begin( kd_search_job* job, kd_crew_wish* wish )
{
    if ( wish->exact == NULL )
    {
        return clv_kd_search_begin( job );
    }
    kd_exact_sink exact = kd_exact_open( wish->search->kernels, wish->exact, wish->candidates, wish->sink );
    job->sink = &exact.sink;
    clv_result result = clv_kd_search_begin( job );
    result = result == CLV_OK ? kd_exact_close( &exact ) : result;
    wish->candidate_count = exact.passed;
    job->sink = wish->sink;
    return result;
}

clv_result clv_kd_crew_run( kd_crew* crew, kd_crew_wish* wish )
{
    crew_run run = {
        .crew = crew,
        .wish = wish,
        .job = { wish->search, wish->tree, wish->boxes, wish->active, NULL, wish->sink },
    };
    wish->candidate_count = 0;
    clv_result result = begin( &run.job, wish );
    if ( result != CLV_OK )
    {
        return result;
    }
    // Without memory for several it goes on alone.
    bool are_several = crew->tasks != NULL && task_worker_count( crew->tasks ) > 1 &&
        wish->tree->node_count > 1 && hire( crew, wish->search ) && cut( &run ) && crew->piece_count > 1 &&
        equip( crew, wish );
    return are_several ? run_pieces( &run, wish ) : run_alone( &run.job, wish );
}
