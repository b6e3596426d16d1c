// SPDX-License-Identifier: MIT
#include "kd/kd_engine.h"

#include "base/assertion.h"
#include "base/bits.h"
#include "base/finite.h"
#include "base/timer.h"
#include "sweep/axis.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- kd world

enum
{
    SAMPLES = 255,
    REACH = 64, // spreads of the middle three quarters, to each side
};

static uint32_t far_limit( uint32_t live_count )
{
    return live_count / 64 + 16;
}

// Is it time to measure? When the number of objects has doubled or halved since, or `far_count` finite boxes
// lie outside, more than can be called outliers.
static bool kd_world_is_stale( const kd_world* world, uint32_t live_count, uint32_t far_count )
{
    uint64_t measured = world->measured_count;
    return measured == 0 || live_count > measured * 2 || (uint64_t)live_count * 2 < measured ||
        ( !world->is_endless && far_count > far_limit( live_count ) );
}

static double mean_side( const clv_aabb* box )
{
    const float* lower = &box->lower.x;
    const float* upper = &box->upper.x;
    double side = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        side += ( (double)upper[axis] - (double)lower[axis] ) / 3;
    }
    return side;
}

static double median_side( const clv_method_input* input, const sweep_sample* sample )
{
    double sides[SWEEP_BULK_SAMPLES];
    for ( uint32_t i = 0; i < sample->count; ++i )
    {
        sides[i] = mean_side( &input->boxes[sample->slots[i]] );
    }
    clv_sweep_sort_ascending( sides, sample->count );
    return sides[sample->count / 2];
}

static float to_float( double value )
{
    return value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : (float)value;
}

static uint32_t count_far_boxes( const clv_method_input* input, const kd_world* world )
{
    uint32_t count = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, i )];
        const float* lower = &box->lower.x;
        const float* upper = &box->upper.x;
        bool inside = true;
        for ( int axis = 0; axis < 3; ++axis )
        {
            inside &= lower[axis] >= world->lower[axis] && upper[axis] < world->upper[axis];
        }
        count += !inside && base_is_finite_box( box );
    }
    return count;
}

static void make_endless( kd_world* world )
{
    for ( int axis = 0; axis < 3; ++axis )
    {
        world->lower[axis] = -FLT_MAX;
        world->upper[axis] = FLT_MAX;
    }
    world->is_endless = true;
}

static kd_world kd_world_measure( const clv_method_input* input )
{
    kd_world world = { .measured_count = input->live_count };
    sweep_sample sample;
    clv_sweep_sample_take( input, SAMPLES, &sample );
    if ( sample.count == 0 )
    {
        make_endless( &world );
        return world;
    }
    uint32_t low = sample.count / 8;
    uint32_t high = sample.count - 1 - low;
    double side = median_side( input, &sample );
    world.side = to_float( side );
    for ( int axis = 0; axis < 3; ++axis )
    {
        double from = sample.centres[axis][low];
        double to = sample.centres[axis][high];
        CLV_ASSERT( low <= high && from <= to );
        double spread = to - from + side + fabs( from ) * 1e-3 + 1e-6;
        world.lower[axis] = to_float( from - REACH * spread );
        world.upper[axis] = to_float( to + REACH * spread );
        CLV_ASSERT( world.lower[axis] <= world.upper[axis] );
    }
    if ( count_far_boxes( input, &world ) > far_limit( input->live_count ) )
    {
        make_endless( &world );
    }
    return world;
}

// As the papers have it: no end to the root's region, and the mean side of all finite boxes.
static kd_world kd_world_measure_published( const clv_method_input* input )
{
    kd_world world = { .measured_count = input->live_count };
    double sum = 0, count = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        const clv_aabb* box = &input->boxes[clv_method_live_slot( input, i )];
        if ( base_is_finite_box( box ) )
        {
            sum += mean_side( box );
            count += 1;
        }
    }
    world.side = count > 0 ? to_float( sum / count ) : 0;
    make_endless( &world );
    return world;
}

// ---- kd engine

enum
{
    MANY_CHANGED = 4, // from one object in so many on, looking at all is faster than asking which
    OVERFULL = 32     // updates before remembering is tried again
};

void clv_kd_engine_init( kd_engine* engine, base_memory* memory, task_runner* tasks,
    const simd_method_kernels* kernels, const kd_rules* rules )
{
    *engine = ( kd_engine ){ .memory = memory, .rules = *rules };
    clv_kd_tree_init( &engine->tree, memory, kernels, rules->leaf_limit, rules->balance, rules->flow );
    engine->tree.tasks = tasks;
    clv_kd_search_init( &engine->search, memory, kernels, &rules->search );
    clv_kd_crew_init( &engine->crew, memory, tasks );
    clv_kd_rest_init( &engine->rest, memory, kernels );
    engine->rest.tasks = tasks;
    engine->rest.still = (float)rules->still;
    engine->keep_most = UINT64_MAX;
}

void clv_kd_engine_release( kd_engine* engine )
{
    clv_kd_tree_release( &engine->tree );
    clv_kd_search_release( &engine->search );
    clv_kd_crew_release( &engine->crew );
    clv_kd_rest_release( &engine->rest );
}

static bool has_rest( const kd_engine* engine )
{
    return engine->rules.mode >= KD_MODE_INCREMENTAL;
}

// ---- members

static void enter_slot( kd_engine* engine, uint32_t slot )
{
    if ( has_rest( engine ) )
    {
        clv_kd_rest_enter( &engine->rest, slot );
    }
    base_bits_add( engine->rest.changed.items, slot );
    CLV_ASSERT( slot < engine->rest.slot_end && !base_bits_has( engine->rest.known.items, slot ) );
    clv_kd_tree_append( &engine->tree, slot );
}

// Leave and enter, by comparing the live objects with those of before.
static void update_members( kd_engine* engine, const clv_method_input* input )
{
    kd_rest* rest = &engine->rest;
    uint64_t* live = rest->live.items;
    uint64_t words = base_bits_words( rest->slot_end );
    memset( live, 0, (size_t)words * sizeof( uint64_t ) );
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        base_bits_add( live, clv_method_live_slot( input, i ) );
    }
    clv_kd_rest_purge( rest, live );
    clv_kd_tree_remove_dead( &engine->tree, live, rest->changed.items );
    for ( uint64_t word = 0; word < words; ++word )
    {
        for ( uint64_t bits = live[word] & ~rest->known.items[word]; bits != 0; bits &= bits - 1 )
        {
            enter_slot( engine, (uint32_t)( word * 64 ) + base_lowest_bit( bits ) );
        }
        rest->known.items[word] = live[word];
    }
}

// A single leaf, and nothing known of any object.
static bool begin_anew( kd_engine* engine )
{
    kd_rest* rest = &engine->rest;
    memset( rest->known.items, 0, (size_t)base_bits_words( rest->slot_end ) * sizeof( uint64_t ) );
    clv_kd_rest_forget( rest );
    return clv_kd_tree_plant( &engine->tree, engine->world.lower, engine->world.upper );
}

// ---- update

// True if the world is another than before, so that every object's place is in doubt.
static bool update_world( kd_engine* engine, const clv_method_input* input )
{
    if ( engine->is_sound && !kd_world_is_stale( &engine->world, input->live_count, engine->far_count ) )
    {
        return false;
    }
    engine->world =
        engine->rules.is_endless ? kd_world_measure_published( input ) : kd_world_measure( input );
    if ( engine->tree.root != KD_NONE )
    {
        clv_kd_tree_set_region( &engine->tree, engine->world.lower, engine->world.upper );
    }
    return true;
}

// Which boxes the tree holds, and which of them are new to it. For complete detection the boxes as given:
// they are the ones that the search reads, and two crowds of boxes would not fit the cache. Coming from
// there, or where most moved anyway, every place is in doubt.
static void choose_boxes( kd_engine* engine, const clv_method_input* input, bool all_in_doubt )
{
    kd_tree* tree = &engine->tree;
    const kd_rest* rest = &engine->rest;
    bool is_few = (uint64_t)rest->moving_count * MANY_CHANGED < input->live_count;
    const kd_rules* rules = &engine->rules;
    engine->holds_grown = engine->was_incremental || ( rules->holds_grown && has_rest( engine ) );
    tree->boxes = engine->holds_grown ? rest->grown.items : input->boxes;
    tree->changed = engine->was_incremental && !rules->looks_at_all && !all_in_doubt && is_few
        ? rest->changed.items
        : NULL;
}

// Above K, as the paper has it; and, where objects may ask for themselves, only if few enough move for that:
// with more of them the nodes are swept either way, and then leaving out what rests saves less than keeping
// the cache costs.
static bool is_worth_remembering( const kd_rules* rules, uint32_t moving_count, uint32_t count )
{
    double moving = moving_count;
    bool is_above = (double)count - moving > rules->static_share * (double)count;
    return is_above && ( rules->query_share == 0 || moving <= rules->query_share * (double)count );
}

// More moving ones than this are never worth it.
static uint32_t most_worth( const kd_engine* engine, uint32_t count )
{
    const kd_rules* rules = &engine->rules;
    if ( rules->mode != KD_MODE_ADAPTIVE || rules->looks_at_all )
    {
        return UINT32_MAX;
    }
    double most = (double)count - rules->static_share * (double)count;
    double by_query = rules->query_share * (double)count;
    most = rules->query_share > 0 && by_query < most ? by_query : most;
    return (uint32_t)most + 1;
}

static void choose_mode( kd_engine* engine, const clv_method_input* input )
{
    kd_rest* rest = &engine->rest;
    const kd_rules* rules = &engine->rules;
    bool may_remember = engine->keep_most > 0 && engine->overfull == 0;
    engine->overfull -= engine->overfull > 0;
    engine->was_incremental = rules->mode == KD_MODE_INCREMENTAL ||
        ( rules->mode == KD_MODE_ADAPTIVE && may_remember &&
            is_worth_remembering( rules, rest->moving_count, input->live_count ) );
    engine->was_by_query = false;
    if ( !has_rest( engine ) )
    {
        return;
    }
    if ( !engine->was_incremental )
    {
        clv_kd_rest_forget( rest );
        return;
    }
    clv_kd_rest_choose_active( rest );
    engine->was_by_query = rules->query_share > 0 && input->live_count > 0 &&
        (double)rest->active_count <= rules->query_share * (double)input->live_count;
}

static void count_far( kd_engine* engine )
{
    const kd_tree* tree = &engine->tree;
    engine->far_count = 0;
    for ( uint32_t i = 0; i < tree->outside_count; ++i )
    {
        const clv_aabb* box = &tree->boxes[tree->outside.items[i]];
        CLV_ASSERT( !kd_node_holds( &tree->nodes.items[tree->root], box ) );
        engine->far_count += base_is_finite_box( box );
    }
}

// Did an update leave every object in its node and every node in its place?
static bool was_idle( const kd_counters* counters )
{
    return counters->refit_count + counters->filter_count + counters->partition_count +
        counters->refusal_count + counters->collapse_count + counters->translate_count +
        counters->erase_count ==
        0;
}

static bool update_tree( kd_engine* engine )
{
    kd_tree* tree = &engine->tree;
    uint32_t outside_count = tree->outside_count;
    tree->counters = ( kd_counters ){ 0 };
    // Objects at rest stay sorted only while they are told from the others.
    if ( tree->changed == NULL || !engine->was_incremental )
    {
        clv_kd_query_forget( tree );
    }
    clv_kd_tree_admit( tree, engine->rest.changed.items );
    if ( tree->changed != NULL )
    {
        clv_kd_tree_mark_hit( tree, engine->rest.slot_end );
    }
    if ( !clv_kd_refit( tree ) || !clv_kd_optimize( tree ) )
    {
        return false;
    }
    count_far( engine );
    engine->is_at_rest = was_idle( &tree->counters ) && tree->outside_count == outside_count;
    return true;
}

// Room for one object where there is none, so that no array is NULL.
static bool reserve( kd_engine* engine, const clv_method_input* input )
{
    uint32_t slots = input->slot_count > 0 ? input->slot_count : 1;
    uint32_t count = input->live_count > 0 ? input->live_count : 1;
    return clv_kd_rest_reserve( &engine->rest, slots, has_rest( engine ) ) &&
        ( !has_rest( engine ) || clv_kd_tree_reserve_rest( &engine->tree, slots, count ) ) &&
        clv_kd_search_reserve( &engine->search, count ) &&
        clv_kd_tree_reserve( &engine->tree, count > engine->tree.count ? count : engine->tree.count );
}

#if !defined( NDEBUG ) && defined( CLV_VALIDATE_ENABLED )
static bool is_valid( kd_engine* engine )
{
    char text[256];
    bool valid = clv_kd_engine_check( engine, text, sizeof( text ) ) &&
        ( !has_rest( engine ) || clv_kd_rest_check( &engine->rest, text, sizeof( text ) ) );
    if ( !valid )
    {
        fprintf( stderr, "kd: %s\n", text );
    }
    return valid;
}
#endif

clv_result clv_kd_engine_update( kd_engine* engine, const clv_method_input* input )
{
    bool anew = !engine->is_sound || engine->rules.mode == KD_MODE_REBUILT;
    if ( !reserve( engine, input ) )
    {
        engine->is_sound = false;
        return CLV_OUT_OF_MEMORY;
    }
    bool all_in_doubt = update_world( engine, input );
    engine->is_sound = false; // until all is done
    kd_rest* rest = &engine->rest;
    memset( rest->changed.items, 0, (size_t)base_bits_words( rest->slot_end ) * sizeof( uint64_t ) );
    if ( anew && !begin_anew( engine ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    if ( anew || input->members_changed )
    {
        update_members( engine, input );
    }
    if ( has_rest( engine ) )
    {
        bool are_new = anew || input->members_changed;
        clv_kd_rest_classify( rest, input->boxes, are_new ? NULL : input->moved,
            (float)( engine->rules.epsilon * (double)engine->world.side ),
            are_new ? UINT32_MAX : most_worth( engine, input->live_count ) );
    }
    bool came_from_complete = !engine->was_incremental;
    bool held_grown = engine->holds_grown;
    choose_mode( engine, input );
    choose_boxes( engine, input, all_in_doubt || anew || came_from_complete );
    // With the same boxes in the same tree the operators would do what they did the last time, which was
    // nothing.
    bool is_same = engine->is_at_rest && held_grown && engine->holds_grown && !all_in_doubt && !anew &&
        !input->members_changed && rest->moving_count == 0 && !rest->was_cut_short;
    if ( !is_same && !update_tree( engine ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    engine->is_sound = true;
    CLV_VALIDATE( is_valid( engine ) );
    return CLV_OK;
}

void clv_kd_engine_distrust( kd_engine* engine )
{
    // Complete detection reads the tree alone. The other remembers pairs, and sorts nodes for their askers.
    engine->is_sound = engine->is_sound && !engine->was_incremental;
    engine->overfull = engine->was_incremental ? 0 : engine->overfull;
}

// ---- search

// What is active is searched for, by nodes or each for itself.
static clv_result search_active( kd_engine* engine, const clv_method_input* input, clv_pair_sink* sink )
{
    kd_rest* rest = &engine->rest;
    CLV_ASSERT( rest->active != NULL && rest->active_count <= input->live_count );
    if ( engine->was_by_query )
    {
        return clv_kd_query_run(
            &engine->search, &engine->tree, rest->grown.items, rest->active, rest->active_count, sink );
    }
    kd_crew_wish wish = {
        .search = &engine->search,
        .tree = &engine->tree,
        .boxes = rest->grown.items,
        .active = rest->active,
        .rests = rest->active_count < input->live_count,
        .sink = sink,
    };
    return clv_kd_crew_run( &engine->crew, &wish );
}

static bool replay( kd_engine* engine, const clv_method_input* input )
{
    uint64_t start_ns = engine->has_clock ? clv_base_clock_ns() : 0;
    bool ok = clv_kd_rest_replay( &engine->rest, input->boxes );
    engine->replay_ms = engine->has_clock ? (double)( clv_base_clock_ns() - start_ns ) * 1e-6 : 0;
    return ok;
}

// Where nothing is active, what is remembered is the answer.
static clv_result search_incrementally(
    kd_engine* engine, const clv_method_input* input, clv_pair_sink* sink )
{
    kd_rest* rest = &engine->rest;
    engine->search.counters = ( kd_search_counters ){ 0 };
    rest->candidate_count = 0;
    clv_result result = replay( engine, input ) ? CLV_OK : CLV_OUT_OF_MEMORY;
    if ( result == CLV_OK && rest->active_count == 0 )
    {
        result = clv_kd_rest_hand_over( rest, sink );
    }
    else if ( result == CLV_OK )
    {
        kd_rest_sink candidates = clv_kd_rest_open( rest, input->boxes, sink, engine->keep_most );
        result = search_active( engine, input, &candidates.sink );
        result = result == CLV_OK ? clv_kd_rest_close( &candidates ) : result;
        engine->overfull = candidates.is_overfull ? OVERFULL : 0;
        if ( candidates.is_overfull )
        {
            clv_kd_query_forget( &engine->tree ); // nothing is at rest any more
        }
    }
    if ( result != CLV_OK )
    {
        engine->is_sound = false; // half a cache is none
    }
    return result;
}

static clv_result search_completely( kd_engine* engine, const clv_method_input* input, clv_pair_sink* sink )
{
    kd_rest* rest = &engine->rest;
    kd_crew_wish wish = {
        .search = &engine->search,
        .tree = &engine->tree,
        .boxes = engine->holds_grown ? rest->grown.items : input->boxes,
        .exact = engine->holds_grown ? input->boxes : NULL,
        .candidates = rest->fresh.items,
        .sink = sink,
    };
    clv_result result = clv_kd_crew_run( &engine->crew, &wish );
    rest->candidate_count = wish.candidate_count;
    return result;
}

clv_result clv_kd_engine_search( kd_engine* engine, const clv_method_input* input, clv_pair_sink* sink )
{
    CLV_ASSERT( engine->is_sound );
    uint64_t before = sink->count;
    engine->replay_ms = 0;
    clv_result result = engine->was_incremental ? search_incrementally( engine, input, sink )
                                                : search_completely( engine, input, sink );
    if ( engine->tree.boxes == input->boxes )
    {
        engine->tree.boxes = NULL; // they are the caller's and may change
    }
    if ( has_rest( engine ) && result == CLV_OK && sink->count > before )
    {
        uint64_t count = sink->count - before;
        clv_kd_rest_expect( &engine->rest, count < engine->keep_most ? count : engine->keep_most );
    }
    return result;
}

// ---- instruments

// Every member once, in the array or outside.
static bool check_members( kd_engine* engine, char* text, size_t text_size )
{
    const kd_tree* tree = &engine->tree;
    const kd_rest* rest = &engine->rest;
    uint64_t known_count = 0;
    for ( uint64_t word = 0; word < base_bits_words( rest->slot_end ); ++word )
    {
        known_count += base_bit_count( rest->known.items[word] );
    }
    if ( known_count != (uint64_t)tree->count + tree->outside_count )
    {
        snprintf( text, text_size, "%llu members, %u in the array and %u outside",
            (unsigned long long)known_count, tree->count, tree->outside_count );
        return false;
    }
    // As many as there should be and each a member: a stranger or a double would show as one without the
    // other.
    for ( uint32_t i = 0; i < tree->count + tree->outside_count; ++i )
    {
        uint32_t slot = i < tree->count ? tree->order.items[i] : tree->outside.items[i - tree->count];
        if ( slot >= rest->slot_end || !base_bits_has( rest->known.items, slot ) )
        {
            snprintf( text, text_size, "object %u is in the tree and no member, or there twice", slot );
            return false;
        }
        base_bits_remove( rest->known.items, slot );
    }
    for ( uint32_t i = 0; i < tree->count + tree->outside_count; ++i )
    {
        base_bits_add( rest->known.items,
            i < tree->count ? tree->order.items[i] : tree->outside.items[i - tree->count] );
    }
    return true;
}

bool clv_kd_engine_check( kd_engine* engine, char* text, size_t text_size )
{
    if ( !engine->is_sound )
    {
        return true; // the next update begins anew
    }
    return check_members( engine, text, text_size ) && clv_kd_check( &engine->tree, text, text_size );
}

static void report_nodes( kd_engine* engine, kd_report* report )
{
    kd_tree* tree = &engine->tree;
    report->leaf_fill_least = UINT32_MAX;
    for ( uint32_t i = clv_kd_tree_list( tree ); i-- > 0; )
    {
        const kd_node* node = &tree->nodes.items[tree->stack.items[i]];
        uint32_t own = node->end - node->begin;
        if ( !kd_node_is_leaf( node ) )
        {
            report->inner_object_count += own;
            continue;
        }
        uint32_t depth = kd_node_depth( tree, tree->stack.items[i] );
        report->leaves_at[depth < KD_REPORT_DEPTHS ? depth : KD_REPORT_DEPTHS - 1] += 1;
        report->height = depth > report->height ? depth : report->height;
        report->leaf_object_count += own;
        report->leaf_count += 1;
        report->refused_leaf_count += own > tree->leaf_limit;
        report->leaf_fill_least = own < report->leaf_fill_least ? own : report->leaf_fill_least;
        report->leaf_fill_most = own > report->leaf_fill_most ? own : report->leaf_fill_most;
    }
    report->leaf_fill_least = report->leaf_count > 0 ? report->leaf_fill_least : 0;
}

kd_report clv_kd_engine_report( kd_engine* engine )
{
    kd_report report = {
        .tree = engine->tree.counters,
        .search = engine->search.counters,
        .cache_count = kd_rest_pair_count( &engine->rest ),
        .cache_test_count = engine->was_incremental ? engine->rest.cache_test_count : 0,
        .candidate_count = engine->holds_grown ? engine->rest.candidate_count : 0,
        .moving_count = engine->rest.moving_count,
        .active_count = engine->was_incremental ? engine->rest.active_count : 0,
        .node_count = engine->tree.node_count,
        .outside_count = engine->tree.outside_count,
        .was_incremental = engine->was_incremental,
        .was_by_query = engine->was_by_query,
    };
    report_nodes( engine, &report );
    return report;
}
