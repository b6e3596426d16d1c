// SPDX-License-Identifier: MIT
// A tree of grown boxes, kept from update to update. bvh-d tests the tree against itself once per update;
// bvh-f keeps the pairs of grown boxes and searches the tree for objects that left theirs. The principle of
// Bullet's btDbvtBroadphase, which Broadmark's Table I calls DBVT.
#include "method/method.h"

#include "base/assertion.h"
#include "base/finite.h"
#include "bvh/bvh_tree.h"
#include "pair/list.h"

#include <math.h>
#include <stdio.h>

enum
{
    BVH_PARAM_MARGIN,
    BVH_PARAM_FAT,
    BVH_PARAM_COUNT
};

static const clv_method_param s_bvh_params[BVH_PARAM_COUNT] = {
    { "bvh.margin", 0.1, 0, 10, false, "how much boxes are grown, as a part of their longest side" },
    { "bvh.fat", 0, 0, 1, true, "1: report every pair of grown boxes" },
};

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

// Two subtrees still to be tested against each other; a subtree against itself if equal.
typedef struct bvh_task
{
    uint32_t a, b;
} bvh_task;

typedef struct bvh
{
    const method_context* context;
    // search the tree for objects that left their grown box; else test it against itself every time
    bool is_forward;
    bool is_fat;
    bvh_tree tree;
    BASE_ARRAY( clv_aabb ) grown; // by slot
    // by slot, FLAG_LIVE and others; three flags that are read together, so bytes and no bit sets
    BASE_ARRAY( uint8_t ) flags;
    base_u32_array touched; // slots that left their grown box or are new, ascending
    base_u32_array members; // slots in the tree, ascending; filled for building
    base_u32_array loose;   // slots of infinite boxes, which are in no tree
    BASE_ARRAY( bvh_task ) stack;
    pair_list near; // forward only: pairs whose grown boxes overlap
    uint32_t churn; // leaves put back since the tree was built
    bool is_sound;
} bvh;

static bool begin_bvh( void* state, int forward )
{
    bvh* self = state;
    self->is_forward = forward != 0;
    self->is_fat = self->context->params[BVH_PARAM_FAT] != 0;
    clv_bvh_tree_init( &self->tree );
    return true;
}

// All memory: the next update begins anew.
static void shrink_bvh( void* state )
{
    bvh* self = state;
    base_memory* memory = self->context->memory;
    clv_bvh_tree_free( &self->tree, memory );
    base_array_free( &self->members, memory );
    base_array_free( &self->stack, memory );
    base_array_free( &self->grown, memory );
    base_array_free( &self->flags, memory );
    base_array_free( &self->touched, memory );
    base_array_free( &self->loose, memory );
    base_array_free( &self->near, memory );
    self->churn = 0;
    self->is_sound = false;
}

METHOD_CREATE( create_deferred, bvh, begin_bvh, shrink_bvh, false )
METHOD_CREATE( create_forward, bvh, begin_bvh, shrink_bvh, true )
METHOD_DESTROY( destroy_bvh, bvh, shrink_bvh )

static bool reserve_bvh( bvh* self, const clv_method_input* input )
{
    base_memory* memory = self->context->memory;
    self->touched.count = self->loose.count = 0;
    bool ok = base_array_extend( &self->grown, memory, input->slot_count ) &&
        base_array_extend( &self->flags, memory, input->slot_count ) &&
        base_array_reserve( &self->touched, memory, input->live_count ) &&
        clv_bvh_tree_reserve( &self->tree, memory, input->live_count, input->slot_count );
    self->flags.count = ok && input->slot_count > self->flags.count ? input->slot_count : self->flags.count;
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
static clv_aabb grow_box( const bvh* self, const clv_aabb* box, const clv_aabb* before )
{
    float margin = (float)self->context->params[BVH_PARAM_MARGIN] * longest_side( box );
    bool is_fast = before != NULL && way_of( box, before ) > 2 * margin;
    return isfinite( margin ) && !is_fast ? clv_aabb_grow( *box, margin ) : *box;
}

static void mark_dead( bvh* self, const clv_method_input* input )
{
    for ( uint32_t slot = 0; slot < self->flags.count; ++slot )
    {
        self->flags.items[slot] = (uint8_t)( self->flags.items[slot] & ~FLAG_LIVE );
    }
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        self->flags.items[clv_method_live_slot( input, i )] |= FLAG_LIVE;
    }
    for ( uint32_t slot = 0; slot < self->flags.count; ++slot )
    {
        if ( ( self->flags.items[slot] & FLAG_LIVE ) == 0 )
        {
            self->flags.items[slot] =
                FLAG_TOUCHED; // so that its pairs are dropped, and the next object in the slot is new
            if ( slot < self->tree.leaves.count && self->tree.leaves.items[slot] != BVH_NONE )
            {
                clv_bvh_tree_remove( &self->tree, slot );
            }
        }
    }
}

// Lists a box that has to be (re)inserted. True if it is infinite, and so in no tree.
static bool look_at( bvh* self, const clv_aabb* box, uint32_t slot )
{
    bool has_leaf = self->tree.leaves.items[slot] != BVH_NONE;
    if ( has_leaf && bvh_contains( self->grown.items[slot], *box ) )
    {
        self->flags.items[slot] = FLAG_LIVE;
        return false;
    }
    bool is_loose = !base_is_finite_box( box );
    if ( !is_loose )
    {
        self->grown.items[slot] = grow_box( self, box, has_leaf ? &self->grown.items[slot] : NULL );
        self->touched.items[self->touched.count++] = slot;
    }
    self->flags.items[slot] = (uint8_t)( FLAG_LIVE | FLAG_TOUCHED | ( is_loose ? FLAG_LOOSE : 0 ) );
    return is_loose;
}

static bool list_loose( bvh* self, const clv_method_input* input, uint32_t count )
{
    if ( !base_array_reserve( &self->loose, self->context->memory, count ) )
    {
        return false;
    }
    for ( uint32_t i = 0; i < input->live_count && self->loose.count < count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        if ( ( self->flags.items[slot] & FLAG_LOOSE ) != 0 )
        {
            self->loose.items[self->loose.count++] = slot;
            if ( self->tree.leaves.items[slot] != BVH_NONE )
            {
                clv_bvh_tree_remove( &self->tree, slot );
            }
        }
    }
    return true;
}

// ---- the tree follows

static bool build_anew( bvh* self, const clv_method_input* input )
{
    if ( !base_array_reserve( &self->members, self->context->memory, input->live_count ) )
    {
        return false;
    }
    uint32_t count = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        if ( ( self->flags.items[slot] & FLAG_LOOSE ) == 0 )
        {
            self->members.items[count++] = slot;
        }
    }
    self->churn = 0;
    clv_method_input grown = { .boxes = self->grown.items, .live = self->members.items, .live_count = count };
    return clv_bvh_tree_build( &self->tree, self->context->memory, &grown );
}

static void put_back( bvh* self )
{
    for ( uint32_t i = 0; i < self->touched.count; ++i )
    {
        uint32_t slot = self->touched.items[i];
        if ( self->tree.leaves.items[slot] != BVH_NONE )
        {
            clv_bvh_tree_remove( &self->tree, slot );
        }
        clv_bvh_tree_insert( &self->tree, slot, self->grown.items[slot] );
    }
    self->churn += (uint32_t)self->touched.count;
}

// The tree follows. After CLV_OUT_OF_MEMORY the next update begins anew.
static clv_result follow( bvh* self, const clv_method_input* input )
{
    bool was_sound = self->is_sound;
    self->is_sound = false;
    if ( !reserve_bvh( self, input ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    if ( !was_sound )
    {
        clv_bvh_tree_clear( &self->tree );
        self->near.count = 0;
    }
    if ( input->members_changed || !was_sound )
    {
        mark_dead( self, input );
    }
    uint32_t loose_count = 0;
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        loose_count += look_at( self, &input->boxes[slot], slot );
    }
    if ( !list_loose( self, input, loose_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    bool anew = self->touched.count > input->live_count / ANEW_SHARE ||
        self->churn + self->touched.count > input->live_count / CHURN_SHARE;
    if ( self->touched.count > 0 && anew )
    {
        if ( !build_anew( self, input ) )
        {
            return CLV_OUT_OF_MEMORY;
        }
    }
    else
    {
        put_back( self );
    }
    CLV_VALIDATE( clv_bvh_tree_check( &self->tree ) == NULL );
    self->is_sound = true;
    return CLV_OK;
}

// ---- pairs

// `count` is the height of the stack, which the caller keeps in a register.
static bool reserve_stack( bvh* self, uint64_t count )
{
    if ( self->stack.capacity >= count + STACK_ROOM )
    {
        return true;
    }
    self->stack.count = count;
    return base_array_reserve( &self->stack, self->context->memory, count + 32 * STACK_ROOM );
}

static uint64_t push( bvh* self, uint64_t count, uint32_t a, uint32_t b )
{
    self->stack.items[count] = ( bvh_task ){ a, b };
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
static clv_result collide_tree( bvh* self, const clv_aabb* boxes, clv_pair_sink* sink, uint64_t* test_count )
{
    const bvh_node* nodes = self->tree.nodes.items;
    clv_result result = CLV_OK;
    uint64_t tests = 0;
    uint64_t count = 0;
    if ( !reserve_stack( self, 0 ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    count = self->tree.root != BVH_NONE ? push( self, 0, self->tree.root, self->tree.root ) : 0;
    while ( count > 0 && result == CLV_OK )
    {
        bvh_task task = self->stack.items[--count];
        const bvh_node* a = &nodes[task.a];
        const bvh_node* b = &nodes[task.b];
        if ( !reserve_stack( self, count ) )
        {
            result = CLV_OUT_OF_MEMORY;
        }
        else if ( task.a == task.b )
        {
            if ( !bvh_is_leaf( a ) )
            {
                count = push( self, count, a->child[0], a->child[1] );
                count = push( self, count, a->child[1], a->child[1] );
                count = push( self, count, a->child[0], a->child[0] );
            }
        }
        else if ( tests += 1, clv_aabb_overlap( a->box, b->box ) )
        {
            if ( bvh_is_leaf( a ) && bvh_is_leaf( b ) )
            {
                uint32_t slot_a = a->child[0];
                uint32_t slot_b = b->child[0];
                if ( self->is_fat || clv_aabb_overlap( boxes[slot_a], boxes[slot_b] ) )
                {
                    result = clv_pair_sink_put( sink, slot_a, slot_b );
                }
            }
            else if ( first_opens( a, b ) )
            {
                count = push( self, count, a->child[1], task.b );
                count = push( self, count, a->child[0], task.b );
            }
            else
            {
                count = push( self, count, task.a, b->child[1] );
                count = push( self, count, task.a, b->child[0] );
            }
        }
    }
    *test_count += tests;
    return result;
}

// Pairs of a touched slot with grown boxes. A pair of two touched slots is found from the lower one.
static clv_result ask_bvh(
    bvh* self, uint32_t slot, const clv_aabb* boxes, clv_pair_sink* sink, uint64_t* test_count )
{
    const bvh_node* nodes = self->tree.nodes.items;
    clv_aabb box = self->grown.items[slot];
    pair_list* near = &self->near;
    uint64_t count = push( self, 0, self->tree.root, 0 );
    uint64_t tests = 0;
    while ( count > 0 )
    {
        const bvh_node* node = &nodes[self->stack.items[--count].a];
        tests += 1;
        if ( !clv_aabb_overlap( node->box, box ) )
        {
            continue;
        }
        if ( !bvh_is_leaf( node ) )
        {
            if ( !reserve_stack( self, count ) )
            {
                return CLV_OUT_OF_MEMORY;
            }
            count = push( self, count, node->child[1], 0 );
            count = push( self, count, node->child[0], 0 );
            continue;
        }
        uint32_t other = node->child[0];
        if ( other == slot || ( other < slot && ( self->flags.items[other] & FLAG_TOUCHED ) != 0 ) )
        {
            continue;
        }
        if ( near->count == near->capacity &&
            !base_array_reserve( near, self->context->memory, near->count + 64 ) )
        {
            return CLV_OUT_OF_MEMORY;
        }
        near->items[near->count++] = ( clv_pair ){ slot < other ? slot : other, slot < other ? other : slot };
        if ( self->is_fat || clv_aabb_overlap( boxes[slot], boxes[other] ) )
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
static clv_result keep_near( bvh* self, const clv_aabb* boxes, clv_pair_sink* sink, uint64_t* test_count )
{
    pair_list* near = &self->near;
    clv_result result = CLV_OK;
    uint64_t kept = 0;
    for ( uint64_t i = 0; i < near->count && result == CLV_OK; ++i )
    {
        clv_pair pair = near->items[i];
        if ( ( ( self->flags.items[pair.a] | self->flags.items[pair.b] ) & FLAG_TOUCHED ) != 0 )
        {
            continue;
        }
        near->items[kept++] = pair;
        if ( self->is_fat || clv_aabb_overlap( boxes[pair.a], boxes[pair.b] ) )
        {
            result = clv_pair_sink_put( sink, pair.a, pair.b );
        }
    }
    near->count = kept;
    *test_count += kept;
    return result;
}

static clv_result search_forward(
    bvh* self, const clv_aabb* boxes, clv_pair_sink* sink, uint64_t* test_count )
{
    clv_result result = keep_near( self, boxes, sink, test_count );
    if ( result == CLV_OK && !reserve_stack( self, 0 ) )
    {
        result = CLV_OUT_OF_MEMORY;
    }
    for ( uint32_t i = 0; i < self->touched.count && result == CLV_OK; ++i )
    {
        result = ask_bvh( self, self->touched.items[i], boxes, sink, test_count );
    }
    // After a failure the list is half renewed and must be made anew.
    self->is_sound = result == CLV_OK;
    return result;
}

// Infinite boxes are tested against all.
static clv_result report_loose(
    const bvh* self, const clv_method_input* input, clv_pair_sink* sink, uint64_t* test_count )
{
    clv_result result = CLV_OK;
    for ( uint32_t i = 0; i < self->loose.count; ++i )
    {
        uint32_t slot = self->loose.items[i];
        clv_aabb box = input->boxes[slot];
        for ( uint32_t j = 0; j < input->live_count && result == CLV_OK; ++j )
        {
            uint32_t other = clv_method_live_slot( input, j );
            bool is_mine = other > slot || ( self->flags.items[other] & FLAG_LOOSE ) == 0;
            if ( is_mine && clv_aabb_overlap( box, input->boxes[other] ) && other != slot )
            {
                result = clv_pair_sink_put( sink, slot, other );
            }
        }
        *test_count += input->live_count;
    }
    return result;
}

static clv_result update_bvh(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    bvh* self = state;
    method_stopwatch watch = method_stopwatch_start( self->context );
    self->is_sound &= !input->last_failed;
    clv_result result = follow( self, input );
    bool is_anew = self->touched.count > 0 && self->churn == 0;
    *self->context->host->reasons |= is_anew ? CLV_REASON_TREE : 0;
    counters->update_ms = method_stopwatch_lap( &watch );
    if ( result == CLV_OK )
    {
        uint64_t* tests = &counters->test_count;
        result = self->is_forward ? search_forward( self, input->boxes, sink, tests )
                                  : collide_tree( self, input->boxes, sink, tests );
        result = result == CLV_OK ? report_loose( self, input, sink, tests ) : result;
        counters->search_ms = method_stopwatch_lap( &watch );
    }
    return result;
}

static bool check_bvh( void* state, char* text, size_t text_size )
{
    const bvh* self = state;
    const char* broken = self->is_sound ? clv_bvh_tree_check( &self->tree ) : NULL;
    snprintf( text, text_size, "%s", broken != NULL ? broken : "" );
    return broken == NULL;
}

#define BVH_ROW( row_name, cost, about, make )                                                               \
    {                                                                                                        \
        METHOD_OWN, .name = ( row_name ), .family = "bounding volume hierarchy",                             \
                    .source = "after Bullet's DBVT and Catto 2019", .time_cost = "O(n log n)",               \
                    .space_cost = ( cost ), .remarks = ( about ), .is_temporal = true,                       \
                    .params = s_bvh_params, .param_count = BVH_PARAM_COUNT, .create = ( make ),              \
                    .destroy = destroy_bvh, .update = update_bvh, .shrink = shrink_bvh, .check = check_bvh,  \
    }

const clv_method clv_methods_bvh_f =
    BVH_ROW( "bvh-f", "O(n + k)", "persistent tree, those that left their grown box ask", create_forward );
const clv_method clv_methods_bvh_d =
    BVH_ROW( "bvh-d", "O(n)", "persistent tree, tested against itself", create_deferred );
