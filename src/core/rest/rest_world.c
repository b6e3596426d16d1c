// SPDX-License-Identifier: MIT
#include "rest/rest_world.h"

#include "base/assertion.h"
#include "base/bit_set.h"

#include <string.h>

enum
{
    BIT_SETS = 3,
    SCAN_WORDS = 256,       // words of slots in a piece of work
    TEST_WORDS = 64,        // words of marginal pairs
    ENTER_CHUNK = 2048,     // pairs of a search that are classified in one go
    TIGHTEN_UPDATES = 512,  // updates in which every object's margin is looked at once
    NEAR_PER_OBJECT = 8,    // objects that an update may look at around those that changed, for each object
    NEAR_PER_PAIR = 2,      // and for each pair
    TIGHTEN_SHARE = 32,     // if there is a marginal pair to so many objects
    SPAN_PER_CANDIDATE = 4, // boxes looked at for each that moved, rather than run by run
    CHAIN_COST = 4          // a test along a chain costs as much as so many in a row
};

void clv_rest_world_init(
    rest_world* world, base_memory* memory, const simd_kernels* kernels, task_runner* tasks )
{
    *world = ( rest_world ){ .memory = memory, .kernels = kernels, .tasks = tasks };
    clv_rest_grid_init( &world->grid, memory, kernels );
    clv_rest_pairs_init( &world->pairs, memory );
}

BASE_COLD void clv_rest_world_release( rest_world* world )
{
    base_memory* memory = world->memory;
    base_array_free( &world->boxes, memory );
    base_array_free( &world->times, memory );
    clv_base_memory_give( memory, world->bits, world->word_capacity * BIT_SETS, sizeof( uint64_t ) );
    base_array_free( &world->busy, memory );
    clv_rest_grid_release( &world->grid );
    clv_rest_pairs_release( &world->pairs );
    bool is_forced = world->is_forced;
    clv_rest_world_init( world, memory, world->kernels, world->tasks );
    world->is_forced = is_forced;
}

void clv_rest_world_leave( rest_world* world )
{
    world->is_on = false;
    world->reference_age = 0;
    world->grid_is_made = false;
    world->slot_count = 0;
    if ( world->word_capacity > 0 )
    {
        memset( world->bits, 0, (size_t)world->word_capacity * BIT_SETS * sizeof( uint64_t ) );
    }
}

// ---- memory

static bool reserve_bits( rest_world* world, uint32_t slot_count )
{
    uint64_t words = base_bits_words( slot_count );
    if ( words <= world->word_capacity )
    {
        return true;
    }
    words += words / 2;
    uint64_t* bits = clv_base_memory_take( world->memory, words * BIT_SETS, sizeof( uint64_t ) );
    if ( bits == NULL )
    {
        return false;
    }
    memset( bits, 0, (size_t)words * BIT_SETS * sizeof( uint64_t ) );
    if ( world->word_capacity > 0 )
    {
        memcpy( bits, world->known, (size_t)world->word_capacity * sizeof( uint64_t ) );
    }
    clv_base_memory_give( world->memory, world->bits, world->word_capacity * BIT_SETS, sizeof( uint64_t ) );
    world->bits = bits;
    world->word_capacity = words;
    world->known = bits;
    world->live = bits + words;
    world->strays = bits + 2 * words;
    return true;
}

BASE_COLD bool clv_rest_world_reserve( rest_world* world, uint32_t slot_count )
{
    return base_array_extend( &world->boxes, world->memory, slot_count ) &&
        base_array_extend( &world->times, world->memory, slot_count ) &&
        base_array_reserve( &world->busy, world->memory, base_bits_words( slot_count ) ) &&
        reserve_bits( world, slot_count );
}

// ---- entering

static void list_live( rest_world* world, const clv_method_input* input )
{
    CLV_ASSERT( input->live_count <= input->slot_count );
    uint64_t words = base_bits_words( input->slot_count );
    if ( input->live == NULL )
    {
        memset( world->live, 0xFF, (size_t)words * sizeof( uint64_t ) );
        if ( ( input->live_count & 63 ) != 0 )
        {
            world->live[words - 1] = base_bits_low( input->live_count & 63 );
        }
        return;
    }
    memset( world->live, 0, (size_t)words * sizeof( uint64_t ) );
    CLV_ASSERT( words <= world->word_capacity );
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        base_bits_add( world->live, input->live[i] );
    }
}

void clv_rest_world_remember( rest_world* world, const clv_method_input* input )
{
    CLV_ASSERT( !world->is_on );
    clv_rest_world_leave( world );
    if ( !clv_rest_world_reserve( world, input->slot_count ) )
    {
        return;
    }
    list_live( world, input );
    memcpy( world->known, world->live, (size_t)base_bits_words( input->slot_count ) * sizeof( uint64_t ) );
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        world->boxes.items[slot] = rest_box_make( &input->boxes[slot], 0 );
    }
    world->slot_count = input->slot_count;
    world->reference_age = 1;
}

// Margins by how far each box moved since it was remembered; fat boxes by slot.
static void set_margins( rest_world* world, const clv_method_input* input, clv_aabb* fat )
{
    list_live( world, input );
    for ( uint32_t i = 0; i < input->live_count; ++i )
    {
        uint32_t slot = clv_method_live_slot( input, i );
        const clv_aabb* box = &input->boxes[slot];
        simd_rest_box* rest = &world->boxes.items[slot];
        float speed = 0;
        if ( world->reference_age > 0 && slot < world->slot_count && base_bits_has( world->known, slot ) )
        {
            clv_aabb before = rest_box_reference( rest );
            // Jitter returns to where it was, so over several updates it counts for little.
            speed = clv_rest_shift( &before, box ) / (float)world->reference_age;
        }
        *rest = rest_box_make( box, clv_rest_margin( box, speed, slot ) );
        fat[slot] = rest_zone_of( rest ).fat;
        world->times.items[slot] = world->now;
    }
    memcpy( world->known, world->live, (size_t)base_bits_words( input->slot_count ) * sizeof( uint64_t ) );
    world->slot_count = input->slot_count;
    world->reference_age = 0;
}

// What the search of fat boxes fills.
typedef struct enter_sink
{
    clv_pair_sink sink;
    rest_world* world;
    uint32_t object_count;
    clv_pair pairs[ENTER_CHUNK];
    clv_pair marginal[ENTER_CHUNK];
} enter_sink;

static bool is_too_marginal( const enter_sink* entering )
{
    const rest_world* world = entering->world;
    return !world->is_forced &&
        rest_is_too_marginal( entering->object_count, world->pairs.sure_count, world->pairs.marginal.count );
}

// Pairs are parted without a branch for each: which are sure cannot be predicted.
static clv_result take_pairs( clv_pair_sink* sink )
{
    enter_sink* entering = (enter_sink*)sink;
    rest_world* world = entering->world;
    uint64_t sure_count = 0, count = sink->count;
    uint32_t marginal_count = 0;
    for ( uint64_t i = 0; i < count; i += 64 )
    {
        uint32_t some = count - i < 64 ? (uint32_t)( count - i ) : 64;
        uint64_t sure = world->kernels->find_sure( world->boxes.items, sink->pairs + i, some );
        for ( uint32_t k = 0; k < some; ++k )
        {
            clv_pair pair = sink->pairs[i + k];
            CLV_ASSERT( pair.a < pair.b && pair.b < world->slot_count );
            entering->marginal[marginal_count] = pair;
            sink->pairs[sure_count] = pair;
            sure_count += sure >> k & 1;
            marginal_count += ~sure >> k & 1;
        }
    }
    CLV_ASSERT( sure_count + marginal_count == sink->count );
    sink->count = 0;
    if ( !clv_rest_pairs_add( &world->pairs, sink->pairs, sure_count, entering->marginal, marginal_count ) )
    {
        return CLV_OUT_OF_MEMORY;
    }
    return is_too_marginal( entering ) ? CLV_TOO_MANY_PAIRS : CLV_OK;
}

static bool search_fat( rest_world* world, const clv_method_input* input, const clv_aabb* fat,
    clv_engine* complete, uint64_t* test_count )
{
    enter_sink* entering = clv_base_memory_take( world->memory, 1, sizeof( enter_sink ) );
    if ( entering == NULL )
    {
        return false;
    }
    entering->sink =
        ( clv_pair_sink ){ .pairs = entering->pairs, .capacity = ENTER_CHUNK, .make_room = take_pairs };
    entering->world = world;
    entering->object_count = input->live_count;
    clv_method_input boxes = *input;
    boxes.boxes = fat;
    bool ok = clv_engine_fill( complete, &boxes ) &&
        clv_engine_search( complete, &entering->sink, test_count ) == CLV_OK &&
        take_pairs( &entering->sink ) == CLV_OK;
    clv_base_memory_give( world->memory, entering, 1, sizeof( enter_sink ) );
    return ok;
}

// ---- following

typedef struct scan_job
{
    rest_world* world;
    const clv_method_input* input;
    uint64_t word_count;
} scan_job;

static uint64_t candidates_at( const rest_world* world, const clv_method_input* input, uint32_t word )
{
    uint64_t candidates = world->known[word];
    candidates &= input->moved != NULL ? input->moved[word] : UINT64_MAX;
    return input->members_changed ? candidates & world->live[word] : candidates;
}

static void list_busy( rest_world* world, const clv_method_input* input, uint64_t words )
{
    uint32_t count = 0;
    for ( uint32_t word = 0; word < words; ++word )
    {
        world->busy.items[count] = word;
        count += candidates_at( world, input, word ) != 0;
    }
    CLV_ASSERT( count <= words && words <= world->busy.capacity );
    world->busy.count = count;
}

// All from the first candidate on where they are many, else one run of them after the other. What lies
// between did not move, or is not there.
static uint64_t find_strays_of(
    const rest_world* world, const clv_aabb* boxes, uint32_t first, uint64_t candidates )
{
    uint64_t strays = 0, left = candidates;
    while ( left != 0 )
    {
        uint32_t length, begin = base_lowest_bit( left );
        uint32_t end = world->slot_count - first < 64 ? world->slot_count - first : 64, span = end - begin;
        if ( span <= SPAN_PER_CANDIDATE * base_bit_count( left ) )
        {
            length = span;
            left = 0;
        }
        else
        {
            begin = base_bits_take_run( &left, &length );
        }
        uint32_t slot = first + begin;
        CLV_ASSERT( length > 0 && slot + length <= world->slot_count );
        strays |= world->kernels->find_strays( boxes + slot, world->boxes.items + slot, length ) << begin;
    }
    return strays & candidates;
}

static void scan_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const scan_job* job = context;
    rest_world* world = job->world;
    uint64_t first = (uint64_t)piece * SCAN_WORDS;
    uint64_t end = first + SCAN_WORDS < job->word_count ? first + SCAN_WORDS : job->word_count;
    for ( uint64_t i = first; i < end; ++i )
    {
        uint32_t word = world->busy.items[i];
        uint64_t candidates = candidates_at( world, job->input, word );
        world->strays[i] = find_strays_of( world, job->input->boxes, word * 64, candidates );
    }
}

static uint32_t piece_count( uint64_t items, uint32_t per_piece )
{
    return (uint32_t)( ( items + per_piece - 1 ) / per_piece );
}

// Objects that strayed, came or went.
static uint64_t count_work( const rest_world* world, const clv_method_input* input, uint64_t words )
{
    uint64_t count = 0;
    for ( uint32_t i = 0; i < world->busy.count; ++i )
    {
        count += base_bit_count( world->strays[i] );
    }
    for ( uint64_t word = 0; word < words && input->members_changed; ++word )
    {
        count += base_bit_count( world->known[word] ^ world->live[word] );
    }
    return count;
}

typedef bool object_step( rest_world* world, uint32_t slot, const clv_aabb* boxes );

static bool refit_step( rest_world* world, uint32_t slot, const clv_aabb* boxes )
{
    return clv_rest_world_refit( world, slot, &boxes[slot] );
}

static bool come_step( rest_world* world, uint32_t slot, const clv_aabb* boxes )
{
    return clv_rest_world_come( world, slot, &boxes[slot] );
}

static bool go_step( rest_world* world, uint32_t slot, const clv_aabb* boxes )
{
    (void)boxes;
    return clv_rest_world_go( world, slot );
}

// Has an update looked at so many objects around others that a search would have cost less? In a world that
// its grid does not tell apart each refit looks at all.
static bool is_crowded( const rest_world* world )
{
    return !world->is_forced &&
        world->counters.near_count >
        NEAR_PER_OBJECT * world->counters.compared_count + NEAR_PER_PAIR * world->pairs.sure_count;
}

// False if out of memory, or if the world is better searched.
static bool step_word(
    rest_world* world, uint64_t word, uint64_t bits, object_step* step, const clv_aabb* boxes )
{
    for ( ; bits != 0; bits &= bits - 1 )
    {
        if ( !step( world, (uint32_t)( word * 64 + base_lowest_bit( bits ) ), boxes ) || is_crowded( world ) )
        {
            return false;
        }
    }
    return true;
}

// First the removed, then the strayed, then the added objects, each in order of slot.
static bool refit_all( rest_world* world, const clv_method_input* input, uint64_t words )
{
    bool ok = true;
    for ( uint64_t word = 0; word < words && ok && input->members_changed; ++word )
    {
        ok = step_word( world, word, world->known[word] & ~world->live[word], go_step, input->boxes );
    }
    for ( uint32_t i = 0; i < world->busy.count && ok; ++i )
    {
        ok = step_word( world, world->busy.items[i], world->strays[i], refit_step, input->boxes );
    }
    for ( uint64_t word = 0; word < words && ok && input->members_changed; ++word )
    {
        ok = step_word( world, word, world->live[word] & ~world->known[word], come_step, input->boxes );
    }
    return ok;
}

static bool tighten_step( rest_world* world, uint32_t slot, const clv_aabb* boxes )
{
    return clv_rest_world_tighten( world, slot, &boxes[slot] );
}

// A part of the objects in every update, all of them in turn, where there are enough marginal pairs to be
// worth it. Fat boxes only shrink and cores only grow, so nothing becomes marginal.
static bool tighten_some( rest_world* world, const clv_method_input* input, uint64_t words )
{
    if ( world->pairs.marginal.count < input->live_count / TIGHTEN_SHARE )
    {
        return true;
    }
    uint64_t count = words / TIGHTEN_UPDATES + 1;
    bool ok = clv_rest_marginal_link( &world->pairs.marginal );
    for ( uint64_t i = 0; i < count && ok; ++i )
    {
        uint64_t word = world->tightened < words ? world->tightened : 0;
        world->tightened = (uint32_t)word + 1;
        ok = step_word( world, word, world->known[word], tighten_step, input->boxes );
    }
    return ok;
}

// ---- marginal pairs

static void test_piece( uint32_t piece, uint32_t worker, void* context )
{
    (void)worker;
    const scan_job* job = context;
    rest_marginal* pairs = &job->world->pairs.marginal;
    uint64_t first = (uint64_t)piece * TEST_WORDS;
    uint64_t end = first + TEST_WORDS < job->word_count ? first + TEST_WORDS : job->word_count;
    for ( uint64_t word = first; word < end; ++word )
    {
        uint64_t left = pairs->count - word * 64;
        CLV_ASSERT( word * 64 < pairs->count && word < pairs->tested.capacity );
        pairs->tested.items[word] = job->world->kernels->find_touching(
            job->input->boxes, pairs->pairs.items + word * 64, left < 64 ? (uint32_t)left : 64 );
    }
}

// All of them: which touch is in `tested`.
static void test_pieces( rest_world* world, const clv_method_input* input )
{
    uint64_t words = base_bits_words( world->pairs.marginal.count );
    scan_job job = { world, input, words };
    clv_task_run( world->tasks, test_piece, piece_count( words, TEST_WORDS ), &job );
}

static bool test_all( rest_world* world, const clv_method_input* input )
{
    rest_marginal* pairs = &world->pairs.marginal;
    uint64_t words = base_bits_words( pairs->count );
    test_pieces( world, input );
    world->counters.test_count += pairs->count;
    for ( uint64_t word = 0; word < words; ++word )
    {
        uint64_t left = pairs->count - word * 64;
        uint64_t inside = base_bits_low( left < 64 ? (uint32_t)left : 64 );
        uint64_t turned = ( pairs->tested.items[word] ^ pairs->touching.items[word] ) & inside;
        for ( ; turned != 0; turned &= turned - 1 )
        {
            uint32_t bit = base_lowest_bit( turned );
            world->counters.turn_count += 1;
            if ( !clv_rest_pairs_turn( &world->pairs, (uint32_t)( word * 64 ) + bit,
                     ( pairs->tested.items[word] >> bit & 1 ) != 0 ) )
            {
                return false;
            }
        }
    }
    return true;
}

// Marginal pairs of objects that moved, a pair of two such objects twice; counts no further than `most`.
static uint64_t count_doubtful( const rest_world* world, const clv_method_input* input, uint64_t most )
{
    uint64_t count = 0;
    for ( uint32_t i = 0; i < world->busy.count && count <= most; ++i )
    {
        uint32_t word = world->busy.items[i];
        for ( uint64_t bits = candidates_at( world, input, word ); bits != 0; bits &= bits - 1 )
        {
            count += rest_marginal_degree( &world->pairs.marginal, word * 64 + base_lowest_bit( bits ) );
        }
    }
    return count;
}

static bool test_object_step( rest_world* world, uint32_t slot, const clv_aabb* boxes )
{
    return clv_rest_world_test_object( world, boxes, slot );
}

// Do so few objects move that to test their marginal pairs along chains is quicker? Chains that are not there
// are made only where there may be.
static bool is_quicker_by_chains( rest_world* world, const clv_method_input* input, bool* ok )
{
    uint64_t most = world->pairs.marginal.count / CHAIN_COST, moved = 0;
    if ( input->moved == NULL || input->members_changed ) // added objects are not marked as moved
    {
        return false;
    }
    for ( uint32_t i = 0; i < world->busy.count && !world->pairs.marginal.is_linked && moved <= most; ++i )
    {
        moved += base_bit_count( candidates_at( world, input, world->busy.items[i] ) );
    }
    *ok = moved > most || clv_rest_marginal_link( &world->pairs.marginal );
    return *ok && moved <= most && count_doubtful( world, input, most ) <= most;
}

// Only pairs of objects that moved can have turned; where those are few, they alone are tested.
static bool test_marginal( rest_world* world, const clv_method_input* input, uint64_t words )
{
    bool ok = true;
    if ( !is_quicker_by_chains( world, input, &ok ) )
    {
        return ok && tighten_some( world, input, words ) && test_all( world, input );
    }
    for ( uint32_t i = 0; i < world->busy.count && ok; ++i )
    {
        uint32_t word = world->busy.items[i];
        ok = step_word( world, word, candidates_at( world, input, word ), test_object_step, input->boxes );
    }
    return ok;
}

// ---- doors

bool clv_rest_world_enter( rest_world* world, const clv_method_input* input, uint64_t pair_count,
    uint64_t most, clv_engine* complete, uint64_t* test_count )
{
    bool ok = clv_rest_world_reserve( world, input->slot_count ) &&
        clv_rest_pairs_begin( &world->pairs, input->slot_count, pair_count, most );
    clv_aabb* fat = ok ? clv_rest_grid_lend( &world->grid, input->slot_count ) : NULL;
    ok = fat != NULL;
    if ( ok )
    {
        world->now += 1;
        world->counters = ( rest_counters ){ .compared_count = input->live_count };
        world->grid_is_made = false;
        set_margins( world, input, fat );
        ok = search_fat( world, input, fat, complete, test_count );
    }
    if ( ok )
    {
        test_pieces( world, input );
        ok = clv_rest_pairs_add_touching( &world->pairs );
    }
    world->is_on = ok;
    if ( !ok )
    {
        clv_rest_world_leave( world );
        return false;
    }
    CLV_VALIDATE( clv_rest_world_is_sound( world, input ) );
    return true;
}

rest_outcome clv_rest_world_follow( rest_world* world, const clv_method_input* input, uint64_t most )
{
    CLV_ASSERT( world->is_on && input->slot_count >= world->slot_count ); // slots are reused, never given up
    world->now += 1;
    world->counters = ( rest_counters ){ .compared_count = input->live_count };
    uint32_t slot_count = input->slot_count;
    uint64_t words = base_bits_words( slot_count );
    if ( input->members_changed )
    {
        bool ok = clv_rest_world_reserve( world, slot_count ) &&
            clv_rest_pairs_reserve( &world->pairs, slot_count ) &&
            clv_rest_grid_reserve( &world->grid, slot_count );
        if ( !ok )
        {
            clv_rest_world_leave( world );
            return REST_GIVEN_UP;
        }
        list_live( world, input );
        world->slot_count = slot_count;
    }
    list_busy( world, input, words );
    scan_job job = { world, input, world->busy.count };
    clv_task_run( world->tasks, scan_piece, piece_count( world->busy.count, SCAN_WORDS ), &job );
    if ( count_work( world, input, words ) > most )
    {
        return REST_TOO_MANY;
    }
    CLV_ASSERT( words <= world->word_capacity && slot_count <= world->boxes.capacity );
    world->pairs.step_count = 0;
    if ( !refit_all( world, input, words ) || !test_marginal( world, input, words ) )
    {
        clv_rest_world_leave( world );
        return REST_GIVEN_UP;
    }
    world->counters.step_count = world->pairs.step_count;
    CLV_VALIDATE( clv_rest_world_is_sound( world, input ) );
    return REST_FOLLOWED;
}
