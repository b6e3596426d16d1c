// SPDX-License-Identifier: MIT
#include "bvh/bvh_engine.h"

#include "base/assertion.h"
#include "base/finite.h"

#include <math.h>
#include <string.h>

enum
{
    FLAG_LIVE = 1,
    FLAG_TOUCHED = 2, // left its grown box, came, or went
    FLAG_LOOSE = 4,   // infinite
};

enum
{
    ANEW_SHARE = 4, // rebuild when more than one in so many must be reinserted, ...
    CHURN_SHARE =
        2, // ... or as many as one in so many were since the last build: reinserting makes a tree worse
    STACK_ROOM = 8,
};

void clv_bvh_engine_init( bvh_engine* engine, base_memory* memory, bvh_rules rules )
{
    *engine = ( bvh_engine ){ .memory = memory, .rules = rules };
    clv_bvh_tree_init( &engine->tree );
}

void clv_bvh_engine_shrink( bvh_engine* engine )
{
    base_memory* memory = engine->memory;
    clv_bvh_tree_free( &engine->tree, memory );
    base_array_free( &engine->members, memory );
    base_array_free( &engine->stack, memory );
    base_array_free( &engine->grown, memory );
    base_array_free( &engine->flags, memory );
    base_array_free( &engine->touched, memory );
    base_array_free( &engine->loose, memory );
    base_array_free( &engine->near, memory );
    clv_bvh_engine_init( engine, memory, engine->rules );
}

static bool reserve_bvh( bvh_engine* engine, const clv_method_input* input )
{
    base_memory* memory = engine->memory;
    engine->touched.count = engine->loose.count = 0;
    bool ok = base_array_extend( &engine->grown, memory, input->slot_count ) &&
        base_array_extend( &engine->flags, memory, input->slot_count ) &&
        base_array_reserve( &engine->touched, memory, input->live_count ) &&
        clv_bvh_tree_reserve( &engine->tree, memory, input->live_count, input->slot_count );
    engine->flags.count =
        ok && input->slot_count > engine->flags.count ? input->slot_count : engine->flags.count;
    return ok;
}

// ---- objects that left

static float longest_side( const clv_aabb* box )
{
    float longest = box->upper.x - box->lower.x;
    longest = box->upper.y - box->lower.y > longest ? box->upper.y - box->lower.y : longest;
    return box->upper.z - box->lower.z > longest ? box->upper.z - box->lower.z : longest;
}

// How far the box's centre is from that of its grown box, on the axis where that is most.
static float way_of( const clv_aabb* box, const clv_aabb* grown )
{
    float way = 0;
    for ( int axis = 0; axis < 3; ++axis )
    {
        float now = 0.5f * ( &box->lower.x )[axis] + 0.5f * ( &box->upper.x )[axis];
        float then = 0.5f * ( &grown->lower.x )[axis] + 0.5f * ( &grown->upper.x )[axis];
        way = fabsf( now - then ) > way ? fabsf( now - then ) : way;
    }
    return way;
}

// Fast boxes get no margin: they would leave it at once.
static clv_aabb grow_box( const bvh_engine* engine, const clv_aabb* box, const clv_aabb* before )
{
    float margin = (float)engine->rules.margin * longest_side( box );
    bool is_fast = before != NULL && way_of( box, before ) > 2 * margin;
    return isfinite( margin ) && !is_fast ? clv_aabb_grow( *box, margin ) : *box;
}

static void mark_dead( bvh_engine* engine, const clv_method_input* input )
{
    for ( uint32_t slot = 0; slot < engine->flags.count; ++slot )
    {
        engine->flags.items[slot] = (uint8_t)( engine->flags.items[slot] & ~FLAG_LIVE );
    }
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        engine->flags.items[clv_method_live_slot( input, i )] |= FLAG_LIVE;
    }
    for ( uint32_t slot = 0; slot < engine->flags.count; ++slot )
    {
        if ( ( engine->flags.items[slot] & FLAG_LIVE ) == 0 )
        {
            engine->flags.items[slot] =
                FLAG_TOUCHED; // so that its pairs are dropped, and the next object in the slot is new
            if ( slot < engine->tree.leaves.count && engine->tree.leaves.items[slot] != BVH_NONE )
            {
                clv_bvh_tree_remove( &engine->tree, slot );
            }
        }
    }
}

// Lists a box that has to be (re)inserted. True if it is infinite, and so in no tree.
static bool look_at( bvh_engine* engine, const clv_aabb* box, uint32_t slot )
{
    bool has_leaf = engine->tree.leaves.items[slot] != BVH_NONE;
    if ( has_leaf && bvh_contains( engine->grown.items[slot], *box ) )
    {
        engine->flags.items[slot] = FLAG_LIVE;
        return false;
    }
    bool is_loose = !base_is_finite_box( box );
    if ( !is_loose )
    {
        engine->grown.items[slot] = grow_box( engine, box, has_leaf ? &engine->grown.items[slot] : NULL );
        engine->touched.items[engine->touched.count++] = slot;
    }
    engine->flags.items[slot] = (uint8_t)( FLAG_LIVE | FLAG_TOUCHED | ( is_loose ? FLAG_LOOSE : 0 ) );
    return is_loose;
}

static bool list_loose( bvh_engine* engine, const clv_method_input* input, uint32_t count )
{
    if ( !base_array_reserve( &engine->loose, engine->memory, count ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < input->live_count && engine->loose.count < count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        if ( ( engine->flags.items[slot] & FLAG_LOOSE ) != 0 )
        {
            engine->loose.items[engine->loose.count++] = slot;
            if ( engine->tree.leaves.items[slot] != BVH_NONE )
            {
                clv_bvh_tree_remove( &engine->tree, slot );
            }
        }
    }
    return true;
}

// ---- the tree follows

static bool build_anew( bvh_engine* engine, const clv_method_input* input )
{
    if ( !base_array_reserve( &engine->members, engine->memory, input->live_count ) )
    {
        return false;
    }
    uint32_t count = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        if ( ( engine->flags.items[slot] & FLAG_LOOSE ) == 0 )
        {
            engine->members.items[count++] = slot;
        }
    }
    engine->churn = 0;
    clv_method_input grown = {
        .boxes = engine->grown.items, .live = engine->members.items, .live_count = count
    };
    return clv_bvh_tree_build( &engine->tree, engine->memory, &grown );
}

static void put_back( bvh_engine* engine )
{
    for ( uint32_t i = 0; i < engine->touched.count; ++i )
    {
        uint32_t slot = engine->touched.items[i];
        if ( engine->tree.leaves.items[slot] != BVH_NONE )
        {
            clv_bvh_tree_remove( &engine->tree, slot );
        }
        clv_bvh_tree_insert( &engine->tree, slot, engine->grown.items[slot] );
    }
    engine->churn += (uint32_t)engine->touched.count;
}

clv_result clv_bvh_engine_update( bvh_engine* engine, const clv_method_input* input )
{
    bool was_sound = engine->is_sound;
    engine->is_sound = false;
    if ( !reserve_bvh( engine, input ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    if ( !was_sound )
    {
        clv_bvh_tree_clear( &engine->tree );
        engine->near.count = 0;
    }
    if ( input->members_changed || !was_sound )
    {
        mark_dead( engine, input );
    }
    uint32_t loose_count = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        loose_count += look_at( engine, &input->boxes[slot], slot );
    }
    if ( !list_loose( engine, input, loose_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    bool anew = engine->touched.count > input->live_count / ANEW_SHARE ||
        engine->churn + engine->touched.count > input->live_count / CHURN_SHARE;
    if ( engine->touched.count > 0 && anew )
    {
        if ( !build_anew( engine, input ) )
        {
            return CLV_OUT_OF_MEMORY;
        }
    }
    else
    {
        put_back( engine );
    }
    CLV_VALIDATE( clv_bvh_tree_check( &engine->tree ) == NULL );
    engine->is_sound = true;
    return CLV_OK;
}

// ---- pairs

// `count` is the height of the stack, which the caller keeps in a register.
static bool reserve_stack( bvh_engine* engine, uint64_t count )
{
    if ( engine->stack.capacity >= count + STACK_ROOM )
    {
        return true;
    }
    engine->stack.count = count;
    return base_array_reserve( &engine->stack, engine->memory, count + 32 * STACK_ROOM );
}

static uint64_t push( bvh_engine* engine, uint64_t count, uint32_t a, uint32_t b )
{
    engine->stack.items[count] = ( bvh_task ){ a, b };
    return count + 1;
}

static double half_girth( const clv_aabb* box )
{
    return (double)box->upper.x - (double)box->lower.x + (double)box->upper.y - (double)box->lower.y +
        (double)box->upper.z - (double)box->lower.z;
}

// Of two overlapping subtrees, is it the first that is replaced by its children?
static bool first_opens( const bvh_node* a, const bvh_node* b )
{
    return bvh_is_leaf( b ) || ( !bvh_is_leaf( a ) && half_girth( &a->box ) >= half_girth( &b->box ) );
}

// The tree against itself.
static clv_result collide_tree(
    bvh_engine* engine, const clv_aabb* boxes, clv_pair_sink* sink, uint64_t* test_count )
{
    const bvh_node* nodes = engine->tree.nodes.items;
    clv_result result = CLV_OK;
    uint64_t tests = 0;
    uint64_t count = 0;
    if ( !reserve_stack( engine, 0 ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    count = engine->tree.root != BVH_NONE ? push( engine, 0, engine->tree.root, engine->tree.root ) : 0;
    while ( count > 0 && result == CLV_OK )
    {
        bvh_task task = engine->stack.items[--count];
        const bvh_node* a = &nodes[task.a];
        const bvh_node* b = &nodes[task.b];
        if ( !reserve_stack( engine, count ) )
        {
            result = CLV_OUT_OF_MEMORY;
        }
        else if ( task.a == task.b )
        {
            if ( !bvh_is_leaf( a ) )
            {
                count = push( engine, count, a->child[0], a->child[1] );
                count = push( engine, count, a->child[1], a->child[1] );
                count = push( engine, count, a->child[0], a->child[0] );
            }
        }
        else if ( tests += 1, clv_aabb_overlap( a->box, b->box ) )
        {
            if ( bvh_is_leaf( a ) && bvh_is_leaf( b ) )
            {
                uint32_t slot_a = a->child[0];
                uint32_t slot_b = b->child[0];
                if ( engine->rules.fat || clv_aabb_overlap( boxes[slot_a], boxes[slot_b] ) )
                {
                    result = clv_pair_sink_put( sink, slot_a, slot_b );
                }
            }
            else if ( first_opens( a, b ) )
            {
                count = push( engine, count, a->child[1], task.b );
                count = push( engine, count, a->child[0], task.b );
            }
            else
            {
                count = push( engine, count, task.a, b->child[1] );
                count = push( engine, count, task.a, b->child[0] );
            }
        }
    }
    *test_count += tests;
    return result;
}

// Pairs of a touched slot with grown boxes. A pair of two touched slots is found from the lower one.
static clv_result ask_bvh(
    bvh_engine* engine, uint32_t slot, const clv_aabb* boxes, clv_pair_sink* sink, uint64_t* test_count )
{
    const bvh_node* nodes = engine->tree.nodes.items;
    clv_aabb box = engine->grown.items[slot];
    pair_list* near = &engine->near;
    uint64_t count = push( engine, 0, engine->tree.root, 0 );
    uint64_t tests = 0;
    while ( count > 0 )
    {
        const bvh_node* node = &nodes[engine->stack.items[--count].a];
        tests += 1;
        if ( !clv_aabb_overlap( node->box, box ) )
        {
            continue;
        }
        if ( !bvh_is_leaf( node ) )
        {
            if ( !reserve_stack( engine, count ) )
            {
                return CLV_OUT_OF_MEMORY;
            }
            count = push( engine, count, node->child[1], 0 );
            count = push( engine, count, node->child[0], 0 );
            continue;
        }
        uint32_t other = node->child[0];
        if ( other == slot || ( other < slot && ( engine->flags.items[other] & FLAG_TOUCHED ) != 0 ) )
        {
            continue;
        }
        if ( near->count == near->capacity && !base_array_reserve( near, engine->memory, near->count + 64 ) )
        {
            return CLV_OUT_OF_MEMORY;
        }
        near->items[near->count++] = ( clv_pair ){ slot < other ? slot : other, slot < other ? other : slot };
        if ( engine->rules.fat || clv_aabb_overlap( boxes[slot], boxes[other] ) )
        {
            // At once, so that a limit on pairs stops this list too.
            clv_result result = clv_pair_sink_put( sink, slot, other );
            if ( result != CLV_OK )
            {
                return result;
            }
        }
    }
    *test_count += tests;
    return CLV_OK;
}

// Pairs of the untouched stay; those of them that overlap are reported.
static clv_result keep_near(
    bvh_engine* engine, const clv_aabb* boxes, clv_pair_sink* sink, uint64_t* test_count )
{
    pair_list* near = &engine->near;
    clv_result result = CLV_OK;
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < near->count && result == CLV_OK; ++i )
    {
        clv_pair pair = near->items[i];
        if ( ( ( engine->flags.items[pair.a] | engine->flags.items[pair.b] ) & FLAG_TOUCHED ) != 0 )
        {
            continue;
        }
        near->items[kept++] = pair;
        if ( engine->rules.fat || clv_aabb_overlap( boxes[pair.a], boxes[pair.b] ) )
        {
            result = clv_pair_sink_put( sink, pair.a, pair.b );
        }
    }
    near->count = kept;
    *test_count += kept;
    return result;
}

static clv_result search_forward(
    bvh_engine* engine, const clv_aabb* boxes, clv_pair_sink* sink, uint64_t* test_count )
{
    clv_result result = keep_near( engine, boxes, sink, test_count );
    if ( result == CLV_OK && !reserve_stack( engine, 0 ) )
    {
        result = CLV_OUT_OF_MEMORY;
    }
    for ( uint32_t i = 0; i < engine->touched.count && result == CLV_OK; ++i )
    {
        result = ask_bvh( engine, engine->touched.items[i], boxes, sink, test_count );
    }
    // After a failure the list is half renewed and must be made anew.
    engine->is_sound = result == CLV_OK;
    return result;
}

// Infinite boxes are tested against all.
static clv_result report_loose(
    const bvh_engine* engine, const clv_method_input* input, clv_pair_sink* sink, uint64_t* test_count )
{
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < engine->loose.count; ++i )
    {
        uint32_t slot = engine->loose.items[i];
        clv_aabb box = input->boxes[slot];
        for ( uint32_t j = 0; j < input->live_count && result == CLV_OK; ++j )
        {
            uint32_t other = clv_method_live_slot( input, j );
            bool is_mine = other > slot || ( engine->flags.items[other] & FLAG_LOOSE ) == 0;
            if ( is_mine && clv_aabb_overlap( box, input->boxes[other] ) && other != slot )
            {
                result = clv_pair_sink_put( sink, slot, other );
            }
        }
        *test_count += input->live_count;
    }
    return result;
}

clv_result clv_bvh_engine_search(
    bvh_engine* engine, const clv_method_input* input, clv_pair_sink* sink, uint64_t* test_count )
{
    clv_result result = engine->rules.forward ? search_forward( engine, input->boxes, sink, test_count )
                                              : collide_tree( engine, input->boxes, sink, test_count );
    return result == CLV_OK ? report_loose( engine, input, sink, test_count ) : result;
}
