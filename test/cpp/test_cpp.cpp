// SPDX-License-Identifier: MIT
// cleave.hpp against brute force and against the C calls it stands for. Compiled as C++17 and as C++20, with
// exceptions and without; a case's name is its claim.
#include <cleave/cleave.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#if defined( __cpp_lib_span ) && defined( __cpp_lib_ranges )
#include <ranges>
#endif
#include <set>
#include <unordered_map>
#include <unordered_set>

#define CHECK( condition )                                                                                   \
    do                                                                                                       \
    {                                                                                                        \
        if ( !( condition ) )                                                                                \
        {                                                                                                    \
            std::fprintf( stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition );                           \
            std::exit( 1 );                                                                                  \
        }                                                                                                    \
    } while ( false )

#ifdef TEST_OTHER_STANDARD
std::size_t other_standard_pairs( const std::vector<clv_aabb>& boxes );
#endif

namespace
{
std::uint64_t s_random = 1;

std::uint32_t random_below( std::uint32_t most )
{
    s_random = s_random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>( s_random >> 33 ) % most;
}

// Boxes of one to three units on a lattice, so that many just touch.
template <class Real> Real coordinate()
{
    return static_cast<Real>( random_below( 40 ) );
}

template <class Box> Box random_box();

template <> clv_aabb random_box<clv_aabb>()
{
    clv_vec3 lower = { coordinate<float>(), coordinate<float>(), coordinate<float>() };
    float side = 1 + static_cast<float>( random_below( 3 ) );
    return { lower, { lower.x + side, lower.y + side, lower.z + side } };
}

template <> clv_aabb2 random_box<clv_aabb2>()
{
    clv_vec2 lower = { coordinate<float>(), coordinate<float>() };
    return { lower, { lower.x + 1, lower.y + 2 } };
}

template <> clv_aabb64 random_box<clv_aabb64>()
{
    clv_vec64 lower = { 1e9 + coordinate<double>(), coordinate<double>(), coordinate<double>() };
    return { lower, { lower.x + 3, lower.y + 2, lower.z + 1 } };
}

bool overlap( const clv_aabb& a, const clv_aabb& b )
{
    return clv_aabb_overlap( a, b );
}

bool overlap( const clv_aabb2& a, const clv_aabb2& b )
{
    return clv_aabb2_overlap( a, b );
}

bool overlap( const clv_aabb64& a, const clv_aabb64& b )
{
    return clv_aabb64_overlap( a, b );
}

template <class Box> std::vector<Box> random_boxes( std::size_t count )
{
    std::vector<Box> boxes( count );
    std::generate( boxes.begin(), boxes.end(), random_box<Box> );
    return boxes;
}

template <class Box> std::set<clv_pair> brute_force( const std::vector<std::optional<Box>>& slots )
{
    std::set<clv_pair> pairs;
    for ( std::uint32_t a = 0; a < slots.size(); ++a )
    {
        for ( std::uint32_t b = a + 1; b < slots.size(); ++b )
        {
            if ( slots[a] && slots[b] && overlap( *slots[a], *slots[b] ) )
            {
                pairs.insert( { a, b } );
            }
        }
    }
    return pairs;
}

// Objects come, move and go; lists and events are brute force's at every step. Without
// exceptions, so in every build.
template <class World> void random_lives_match_brute_force()
{
    using space_type = cleave::basic_space<World, cleave::returning>;
    using box_type = typename World::box;
    clv_space_def def = space_type::default_def();
    def.events = true;
    auto made = space_type::create( def );
    CHECK( made );
    space_type space = std::move( *made );

    std::vector<std::optional<box_type>> slots;
    std::unordered_map<clv_id, std::size_t> places; // of living objects, by id
    std::set<clv_pair> last;
    for ( int step = 0; step < 12; ++step )
    {
        std::vector<box_type> fresh = random_boxes<box_type>( 60 );
        auto added = space.add( fresh );
        CHECK( added );
        std::vector<clv_id> moving;
        std::vector<box_type> moved;
        std::vector<clv_id> leaving;
        for ( auto& [id, place] : places )
        {
            if ( random_below( 2 ) == 0 )
            {
                moving.push_back( id );
                moved.push_back( random_box<box_type>() );
                slots[place] = moved.back();
            }
            else if ( random_below( 5 ) == 0 )
            {
                leaving.push_back( id );
                slots[place].reset();
            }
        }
        for ( std::size_t i = 0; i < fresh.size(); ++i )
        {
            clv_id id = ( *added )[i];
            slots.resize( std::max<std::size_t>( slots.size(), id.index + 1 ) );
            slots[id.index] = fresh[i];
            places[id] = id.index;
        }
        CHECK( space.move( moving, moved ) );
        CHECK( space.remove( leaving ) );
        for ( clv_id id : leaving )
        {
            CHECK( !space.contains( id ) );
            CHECK( places.erase( id ) == 1 );
        }
        if ( step % 3 == 2 ) // all that are left, in the order of their slots
        {
            std::vector<box_type> all;
            for ( std::optional<box_type>& box : slots )
            {
                if ( box )
                {
                    box = random_box<box_type>();
                    all.push_back( *box );
                }
            }
            CHECK( space.move_all( all ) );
            all.pop_back();
            CHECK( !space.move_all( all ) );
        }
        CHECK( space.update() );
        std::set<clv_pair> now( space.pairs().begin(), space.pairs().end() );
        CHECK( now.size() == space.pairs().size() );
        CHECK( now == brute_force( slots ) );

        // Slots may have changed hands in between: ids tell.
        for ( const clv_id_pair& pair : space.begun() )
        {
            CHECK( now.count( { pair.a.index, pair.b.index } ) == 1 );
            CHECK( places.count( pair.a ) == 1 && places.count( pair.b ) == 1 );
        }
        CHECK( last.size() + space.begun().size() == now.size() + space.ended().size() );
        std::vector<clv_id_pair> named( space.pairs().size() );
        CHECK( space.pair_ids( space.pairs(), named ) );
        for ( std::size_t i = 0; i < named.size(); ++i )
        {
            CHECK( named[i].a == space.id_at( space.pairs()[i].a ) );
        }
        last = std::move( now );
    }
    CHECK( space.object_count() == places.size() );
}

// ---- questions

// One item of each type, near the middle of the lattice, for the C call and for ours.
template <class Space, class Item> void compare_item( const Space& space, Item item )
{
    using hit_type = typename Space::hit_type;
    std::array<Item, 3> items = { item, item, item };
    auto lists = space.query_all( items );
    CHECK( lists );
    CHECK( lists->size() == 3 );
    std::size_t total = 0;
    for ( cleave::span<const hit_type> hits : *lists )
    {
        CHECK( hits.size() == ( *lists )[0].size() );
        total += hits.size();
    }
    CHECK( total == lists->hits.size() );
    auto alone = space.query_all( item );
    CHECK( alone );
    CHECK( alone->size() * 3 == total );
    CHECK( total > 0 ); // every item here finds something
    auto any = space.query_any( item );
    CHECK( any );
    CHECK( any->has_value() );

    // A callback that takes slots above 40 alone: the same by lists, and by one query.
    auto high = []( std::uint32_t, hit_type hit, typename Space::real_type& ) { return hit.index > 40; };
    auto some = space.query_all( items, {}, high );
    CHECK( some );
    std::size_t expected = 0;
    for ( const hit_type& hit : *alone )
    {
        expected += hit.index > 40;
    }
    CHECK( some->hits.size() == expected * 3 );
    std::size_t visited = 0;
    CHECK( space.query_visit( items,
        [&]( std::uint32_t query, cleave::span<const hit_type> hits )
        {
            CHECK( query == visited );
            CHECK( hits.size() == alone->size() );
            ++visited;
        } ) );
    CHECK( visited == 3 );
    CHECK( space.query_visit( items, []( std::uint32_t, cleave::span<const hit_type> ) { return false; } )
               .code() == CLV_STOPPED );
}

template <class Space, class Item> void compare_cast( const Space& space, Item item )
{
    compare_item( space, item );
    auto first = space.query_closest( item );
    CHECK( first );
    CHECK( first->has_value() );
    auto all = space.query_all( item );
    CHECK( all );
    for ( const auto& hit : *all )
    {
        CHECK( ( *first )->t <= hit.t );
    }
    std::vector<Item> items( 300, item );
    auto many = space.query_closest( items );
    CHECK( many );
    CHECK( many->size() == 300 );
    CHECK( many->back().index == ( *first )->index );
}

template <class Space, class Item> void compare_nearest( const Space& space, Item item )
{
    auto near = space.query_nearest( item, 5, 1000 );
    CHECK( near );
    CHECK( near->size() == 5 );
    auto few = space.query_nearest( item, 5000, 1000 );
    CHECK( few );
    CHECK( few->size() == space.object_count() );
    std::vector<Item> items( 2, item );
    auto lists = space.query_nearest( items, 5, 1000 );
    CHECK( lists );
    CHECK( lists->size() == 10 );
    CHECK( ( *lists )[5].index == ( *near )[0].index );
}

template <class World> cleave::basic_space<World, cleave::returning> crowd()
{
    auto made = cleave::basic_space<World, cleave::returning>::create();
    CHECK( made );
    CHECK( made->add( random_boxes<typename World::box>( 2000 ) ) );
    CHECK( made->update() );
    return std::move( *made );
}

void every_kind_of_item_is_asked()
{
    const clv_quat quarter = { 0, 0, 0.7071068f, 0.7071068f };
    auto space = crowd<cleave::solid>();
    const clv_vec3 p = { 20, 20, 20 }, q = { 25, 22, 20 };
    const clv_plane plane = { { 1, 0, 0 }, 20 };
    compare_item( space, clv_aabb{ p, q } );
    compare_item( space, clv_sphere{ p, 5 } );
    compare_item( space, clv_neighbourhood{ { p, q }, 2 } );
    compare_item( space, clv_capsule{ p, q, 2 } );
    compare_item( space, clv_oriented_box{ p, { 6, 5, 4 }, quarter } );
    compare_item( space, clv_half_spaces{ &plane, 1 } );
    compare_item( space, clv_aabb{ p, p } );
    compare_cast( space, clv_ray{ p, { 1, 0.5f, 0 }, 40 } );
    compare_cast( space, clv_box_cast{ { p, q }, { 1, 0, 0 }, 10 } );
    compare_cast( space, clv_sphere_cast{ { p, 2 }, { 1, 0, 0 }, 10 } );
    compare_cast( space, clv_capsule_cast{ { p, q, 1 }, { 1, 0, 0 }, 10 } );
    compare_nearest( space, p );
    compare_nearest( space, clv_aabb{ p, q } );

    auto plain = crowd<cleave::flat>();
    const clv_vec2 r = { 20, 20 }, s = { 25, 22 };
    const clv_half_plane side = { { 1, 0 }, 20 };
    compare_item( plain, clv_aabb2{ r, s } );
    compare_item( plain, clv_circle{ r, 5 } );
    compare_item( plain, clv_neighbourhood2{ { r, s }, 2 } );
    compare_item( plain, clv_capsule2{ r, s, 2 } );
    compare_item( plain, clv_oriented_box2{ r, { 6, 5 }, { 1, 1 } } );
    compare_item( plain, clv_half_planes{ &side, 1 } );
    compare_cast( plain, clv_ray2{ r, { 1, 0.5f }, 40 } );
    compare_cast( plain, clv_box_cast2{ { r, s }, { 1, 0 }, 10 } );
    compare_cast( plain, clv_circle_cast{ { r, 2 }, { 1, 0 }, 10 } );
    compare_cast( plain, clv_capsule_cast2{ { r, s, 1 }, { 1, 0 }, 10 } );
    compare_nearest( plain, r );

    auto far = crowd<cleave::doubles>();
    const clv_vec64 u = { 1e9 + 20, 20, 20 }, v = { 1e9 + 25, 22, 20 };
    const clv_plane64 wall = { { 1, 0, 0 }, 0 };
    compare_item( far, clv_aabb64{ u, v } );
    compare_item( far, clv_sphere64{ u, 5 } );
    compare_item( far, clv_neighbourhood64{ { u, v }, 2 } );
    compare_item( far, clv_capsule64{ u, v, 2 } );
    compare_item( far, clv_oriented_box64{ u, { 6, 5, 4 }, quarter } );
    compare_item( far, clv_half_spaces64{ u, &wall, 1 } );
    compare_cast( far, clv_ray64{ u, { 1, 0.5, 0 }, 40 } );
    compare_cast( far, clv_box_cast64{ { u, v }, { 1, 0, 0 }, 10 } );
    compare_cast( far, clv_sphere_cast64{ { u, 2 }, { 1, 0, 0 }, 10 } );
    compare_cast( far, clv_capsule_cast64{ { u, v, 1 }, { 1, 0, 0 }, 10 } );
    compare_nearest( far, u );

    // Points may lie in no box: some do.
    std::vector<clv_vec3> points;
    std::vector<clv_vec2> points2;
    std::vector<clv_vec64> points64;
    for ( int i = 0; i < 400; ++i )
    {
        points.push_back( random_box<clv_aabb>().lower );
        points2.push_back( random_box<clv_aabb2>().lower );
        points64.push_back( random_box<clv_aabb64>().lower );
    }
    CHECK( !space.query_all( points )->hits.empty() );
    CHECK( !plain.query_all( points2 )->hits.empty() );
    CHECK( !far.query_all( points64 )->hits.empty() );
}

void filters_of_queries_are_one_for_all_or_one_for_each()
{
    auto space = crowd<cleave::solid>();
    std::vector<clv_aabb> boxes( 3, clv_aabb{ { 10, 10, 10 }, { 30, 30, 30 } } );
    clv_filter none = { 0, 0, 0 };
    std::vector<clv_filter> each = { clv_default_filter(), none, clv_default_filter() };
    cleave::query_options options;
    options.filters = each;
    auto some = space.query_all( boxes, options );
    CHECK( some );
    CHECK( ( *some )[1].empty() && ( *some )[0].size() == ( *some )[2].size() && !( *some )[0].empty() );
    options.filters = cleave::span<const clv_filter>( &none, 1 );
    CHECK( space.query_all( boxes, options )->hits.empty() );
    each.pop_back();
    options.filters = each;
    auto refused = space.query_all( boxes, options );
    CHECK( refused.code() == CLV_BAD_ARGUMENT && refused.error().position == 2 );
    options = {};
    options.as_given = true;
    CHECK( ( *space.query_all( boxes, options ) )[0].size() == ( *some )[0].size() );
}

void lists_keep_their_memory()
{
    auto space = crowd<cleave::solid>();
    std::vector<clv_aabb> boxes( 300, clv_aabb{ { 10, 10, 10 }, { 30, 30, 30 } } );
    cleave::hit_lists<clv_hit> lists;
    CHECK( lists.size() == 0 );
    CHECK( space.query_all( boxes, lists ) );
    const clv_hit* memory = lists.hits.data();
    std::size_t count = lists.hits.size();
    CHECK( space.query_all( boxes, lists ) );
    CHECK( lists.hits.data() == memory && lists.hits.size() == count );
    boxes[7].lower.x = std::numeric_limits<float>::quiet_NaN();
    auto refused = space.query_all( boxes, lists );
    CHECK( refused.code() == CLV_BAD_BOX && refused.error().position == 7 );
    CHECK( lists.hits.empty() );
}

void spaces_are_compared_with_each_other()
{
    auto first = crowd<cleave::solid>();
    auto second = crowd<cleave::solid>();
    auto pairs = cleave::query_pairs( first, second );
    CHECK( pairs );
    std::size_t expected = 0;
    for ( std::uint32_t a = 0; a < first.object_count(); ++a )
    {
        for ( std::uint32_t b = 0; b < second.object_count(); ++b )
        {
            expected += overlap( *first.get_box( first.id_at( a ) ), *second.get_box( second.id_at( b ) ) );
        }
    }
    CHECK( pairs->size() == expected );
}

// ---- what objects carry, and errors

void columns_are_set_and_read()
{
    auto made = cleave::checked_space::create();
    CHECK( made );
    cleave::checked_space& space = *made;
    std::array<clv_aabb, 2> boxes = { clv_aabb{ { 0, 0, 0 }, { 1, 1, 1 } },
        clv_aabb{ { 2, 0, 0 }, { 3, 1, 1 } } };
    std::array<clv_id, 2> ids;
    CHECK( space.add( boxes, ids ) );
    CHECK( ids[0] != ids[1] && ids[0] < ids[1] );
    const std::uint64_t values[] = { 11, 22 };
    CHECK( space.set_user_data( ids, values ) );
    CHECK( *space.get_user_data( ids[1] ) == 22 );
    CHECK( space.user_data().size() == 2 && space.user_data()[0] == 11 );
    const float margins[] = { 0.5f, 0.5f };
    CHECK( space.set_margin( ids, margins ) );
    CHECK( *space.get_margin( ids[0] ) == 0.5f );
    CHECK( space.get_test_box( ids[0] )->upper.x == 1.5f );
    CHECK( space.get_box( ids[0] )->upper.x == 1.0f );
    CHECK( space.update() );
    CHECK( space.pairs().size() == 1 && space.pairs().valid() );
    const std::vector<clv_margin_rule> rules( 2, clv_margin_rule{ 0, 0.25f, 0 } );
    CHECK( space.set_margin_rule( ids, rules ) );
    CHECK( space.get_margin_rule( ids[0] )->by_size == 0.25f );
    const std::vector<clv_vec3> motions = { { 1, 0, 0 }, { 0, 0, 0 } };
    CHECK( space.set_motion( ids, motions ) );
    CHECK( space.get_motion( ids[0] )->x == 1 );
    CHECK( space.update() );
    CHECK( space.pairs().size() == 1 );
    CHECK( space.get_motion( ids[0] )->x == 0 );
    std::vector<clv_filter> filters( 2, clv_default_filter() );
    filters[0].mask = 2;
    CHECK( space.set_filter( ids, filters ) );
    CHECK( space.get_filter( ids[0] )->mask == 2 );
    const bool is_static[] = { true, false };
    CHECK( space.set_static( ids, is_static ) );
    CHECK( *space.get_static( ids[0] ) && !*space.get_static( ids[1] ) );
    CHECK( space.refilter( ids ) );
    CHECK( space.shift_origin( { 1, 0, 0 } ) );
    CHECK( space.get_box( ids[0] )->lower.x == -1 );
    auto bytes = space.save( CLV_SAVE_DISK );
    CHECK( bytes );
    auto loaded = cleave::checked_space::load( *bytes );
    CHECK( loaded && loaded->get_box( ids[0] )->lower.x == -1 && *loaded->get_static( ids[0] ) );
    CHECK( cleave::checked_flat_space::load( *bytes ).code() == CLV_UNSUPPORTED );
    bytes->pop_back();
    CHECK( cleave::checked_space::load( *bytes ).code() == CLV_FILE_FAILED );
    clv_box_stream stream = { &boxes[0].lower.x, &boxes[0].upper.x, sizeof( clv_aabb ) };
    CHECK( space.move( ids, stream ) );
    CHECK( space.shift_origin( { 1, 0, 0 } ) );
    CHECK( space.move_all( stream, static_cast<std::uint32_t>( space.object_count() ) ) );
    CHECK( space.get_box( ids[0] )->lower.x == 0 );
    CHECK( space.add( stream, ids ) );
    clv_add_def def = clv_default_add_def();
    def.boxes = boxes.data();
    def.user_data = values;
    CHECK( space.add( def, ids ) );
    CHECK( *space.get_user_data( ids[0] ) == 11 );
    CHECK( space.object_count() == 6 );
    CHECK( space.move( ids[0], boxes[1] ) );
    CHECK( space.remove( ids[0] ) );
    CHECK( space.get_box( ids[0] ).code() == CLV_BAD_ID );
    CHECK( space.update() && space.shrink() && space.refresh() );
    CHECK( space.stats().object_count == 5 && space.worker_count() == 1 );
    CHECK( std::string( space.method() ) == "cleave" && space.isa() != CLV_ISA_AUTO );
    space.clear();
    CHECK( space.object_count() == 0 && !space.pairs().valid() );
}

void errors_are_returned_with_their_position()
{
    auto made = cleave::checked_space::create();
    CHECK( made );
    cleave::checked_space& space = *made;
    std::vector<clv_aabb> boxes = random_boxes<clv_aabb>( 4 );
    boxes[2].lower.y = 1000;
    auto refused = space.add( boxes );
    CHECK( !refused && refused.code() == CLV_BAD_BOX && refused.error().position == 2 );
    CHECK( space.object_count() == 0 && space.last_error().code == CLV_BAD_BOX );
    boxes[2] = boxes[1];
    auto ids = space.add( boxes );
    CHECK( ids );
    ids->pop_back();
    auto shorter = space.move( *ids, boxes );
    CHECK( shorter.code() == CLV_BAD_ARGUMENT && shorter.error().position == 3 );
    ( *ids )[1] = ( *ids )[0];
    CHECK( space.remove( *ids ).code() == CLV_DUPLICATE_ID );
    CHECK( space.get_margin( clv_null_id() ).code() == CLV_BAD_ID );
    clv_space_def def = cleave::checked_space::default_def();
    def.method = "nonsense";
    auto none = cleave::checked_space::create( def );
    CHECK( none.code() == CLV_BAD_DEF && none.error().text[0] != '\0' );
}

// ---- callbacks

void filters_are_lambdas_that_stay_where_they_are()
{
    std::uint32_t barred = 0;
    clv_space_def def = cleave::checked_space::default_def();
    auto made = cleave::checked_space::create(
        def, [&barred]( const clv_space*, clv_pair pair ) { return pair.a != barred && pair.b != barred; } );
    CHECK( made );
    cleave::checked_space space = std::move( *made ); // the filter's address is the same
    std::vector<clv_aabb> boxes( 4, clv_aabb{ { 0, 0, 0 }, { 1, 1, 1 } } );
    CHECK( space.add( boxes ) );
    CHECK( space.update() );
    CHECK( space.pairs().size() == 3 );
    auto other = cleave::checked_space::create();
    CHECK( other );
    *other = std::move( space );
    barred = 1;
    std::vector<clv_id> ids;
    for ( std::uint32_t slot = 0; slot < 4; ++slot )
    {
        ids.push_back( other->id_at( slot ) );
    }
    CHECK( other->refilter( ids ) );
    CHECK( other->update() );
    CHECK( other->pairs().size() == 3 && other->pairs()[0].a == 0 );
}

void pairs_are_visited_in_chunks()
{
    auto space = crowd<cleave::solid>();
    std::size_t expected = space.pairs().size(), count = 0;
    CHECK( space.visit( [&]( cleave::span<const clv_pair> pairs ) { count += pairs.size(); } ) );
    CHECK( count == expected );
    CHECK( space.visit( []( cleave::span<const clv_pair> ) { return false; } ).code() == CLV_STOPPED );
}

void a_callback_may_shorten_a_ray()
{
    auto space = crowd<cleave::solid>();
    clv_ray ray = { { -1, 20.5f, 20.5f }, { 1, 0, 0 }, 100 };
    auto all = space.query_all( ray );
    CHECK( all );
    float shortest = 100;
    auto some = space.query_all( ray, {},
        [&]( std::uint32_t, clv_hit hit, float& reach )
        {
            reach = std::min( reach, hit.t );
            shortest = std::min( shortest, hit.t );
            return true;
        } );
    CHECK( some && !some->empty() );
    for ( const clv_hit& hit : *some )
    {
        CHECK( hit.t == shortest );
    }
}

void regions_of_four_axes_are_matched()
{
    const double lower[3][4] = { { 0, 0, 0, 0 }, { 1, 1, 1, 1 }, { 0, 0, 0, 2 } };
    const double upper[3][4] = { { 1, 1, 1, 1 }, { 2, 2, 2, 2 }, { 1, 1, 1, 3 } };
    clv_regions regions = { &lower[0][0], &upper[0][0], sizeof( lower[0] ), 3 };
    std::vector<clv_pair> pairs;
    auto collect = [&]( cleave::span<const clv_pair> some )
    { pairs.insert( pairs.end(), some.begin(), some.end() ); };
    CHECK( cleave::match_regions<cleave::returning>( 4, regions, collect ) );
    std::sort( pairs.begin(), pairs.end() );
    CHECK( pairs.size() == 2 && pairs[0] == ( clv_pair{ 0, 1 } ) && pairs[1] == ( clv_pair{ 1, 2 } ) );
    pairs.clear();
    CHECK( cleave::match_between<cleave::returning>( 4, regions, regions, collect ) );
    CHECK( pairs.size() == 7 );
    CHECK( cleave::match_regions<cleave::returning>( 9, regions, collect ).code() == CLV_BAD_DEF );
}

// On a lattice of three spacings the pairs are known: 3 * 27 neighbours at 1 in a cell, 3 * 18 in open space.
template <class Real> void points_within_a_cutoff_are_listed()
{
    using list_type = cleave::basic_near<Real, cleave::returning>;
    std::vector<Real> xyz;
    for ( int i = 0; i < 27; ++i )
    {
        xyz.insert( xyz.end(), { Real( i % 3 ), Real( i / 3 % 3 ), Real( i / 9 ) } );
    }
    const clv_near_cell cell = { { { 3, 0, 0 }, { 0, 3, 0 }, { 0, 0, 3 } }, { true, true, true } };
    clv_near_def def = list_type::default_def( 1 );
    def.squared = def.vectors = def.shifts = true;
    def.skin = 0.25;
    auto near = list_type::create( def );
    CHECK( near );
    CHECK( near->pairs().empty() && near->squared().empty() );
    auto is_new = near->update( xyz );
    CHECK( is_new && *is_new );
    CHECK( near->pairs().size() == 54 && near->offsets().empty() && near->indices().empty() );
    is_new = near->update( xyz, &cell );
    CHECK( is_new && *is_new );
    CHECK( near->pairs().size() == 81 && near->squared().size() == 81 );
    CHECK( near->vectors().size() == 243 && near->shifts().size() == 243 );
    CHECK( near->squared()[0] == 1 && near->stats().made_count == 2 );
    is_new = near->update( xyz, &cell );
    CHECK( is_new && !*is_new ); // within the skin
    const clv_pair first = near->pairs()[0];
    CHECK( near->exclude( std::vector<clv_pair>{ first } ) );
    CHECK( near->update( xyz, &cell ) && near->pairs().size() == 80 );

    list_type moved = std::move( *near );
    CHECK( moved.pairs().size() == 80 );
    clv_near_points points = {};
    points.stride = sizeof( Real );
    points.count = 1;
    CHECK( moved.update( points ).code() == CLV_BAD_ARGUMENT ); // no positions
    CHECK( moved.update( cleave::span<const Real>( xyz.data(), 4 ) ).code() == CLV_BAD_ARGUMENT );
    xyz[7] = std::numeric_limits<Real>::infinity();
    auto refused = moved.update( xyz, &cell );
    CHECK( refused.code() == CLV_BAD_ARGUMENT && refused.error().position == 2 );
    CHECK( moved.pairs().size() == 80 );
    def.cutoff = -1;
    CHECK( list_type::create( def ).code() == CLV_BAD_DEF );
    def.cutoff = 1;
    def.doubles = !def.doubles;
    CHECK( list_type::create( def ).code() == CLV_BAD_DEF );
}

void near_points_come_by_point_and_in_chunks()
{
    const std::vector<float> xy = { 0, 0, 1, 0, 5, 5, 5, 6 };
    clv_near_def def = cleave::checked_near_list::default_def( 1 );
    def.flat = def.full = def.by_point = true;
    auto near = cleave::checked_near_list::create( def );
    CHECK( near && near->update( xy ) );
    CHECK( near->pairs().empty() && near->offsets().size() == 5 && near->indices().size() == 4 );
    CHECK( near->indices()[near->offsets()[2]] == 3 );
    def.full = def.by_point = false;
    near = cleave::checked_near_list::create( def );
    clv_near_points points = {};
    points.positions = xy.data();
    points.stride = 2 * sizeof( float );
    points.count = 4;
    std::uint64_t count = 0;
    CHECK( near && near->visit( points, [&]( const clv_near_view& some ) { count += some.count; } ) );
    CHECK( count == 2 );
    CHECK( near->visit( points, []( const clv_near_view& ) { return false; } ).code() == CLV_STOPPED );
#if CLEAVE_EXCEPTIONS
    cleave::basic_near<float, cleave::throwing> thrower( 1 );
    bool was_thrown = false;
    try
    {
        thrower.update( cleave::span<const float>( xy.data(), 5 ) );
    }
    catch ( const cleave::error& error )
    {
        was_thrown = error.code() == CLV_BAD_ARGUMENT;
    }
    CHECK( was_thrown );
#endif
}

void words_stay_with_their_pairs()
{
    clv_space_def def = cleave::checked_space::default_def();
    def.pair_data = true;
    def.events = true;
    auto space = cleave::checked_space::create( def );
    CHECK( space );
    auto ids = space->add( std::vector<clv_aabb>( 3, clv_aabb{ { 0, 0, 0 }, { 1, 1, 1 } } ) );
    CHECK( ids );
    CHECK( space->update() );
    CHECK( space->pairs().words().size() == 3 );
    for ( std::uint64_t& word : space->pairs().words() )
    {
        word = 7;
    }
    CHECK( space->remove( ids->front() ) );
    CHECK( space->update() );
    CHECK( space->pairs().words().size() == 1 && space->pairs().words()[0] == 7 );
    CHECK( space->ended().words().size() == 2 && space->ended().words()[1] == 7 );
    CHECK( space->begun().words().empty() && space->begun().user_data().empty() );
    auto plain = cleave::checked_space::create();
    CHECK( plain && plain->update() );
    CHECK( plain->pairs().words().empty() );
}

void ids_and_pairs_are_keys()
{
    std::unordered_set<clv_id> ids = { { 1, 1 }, { 1, 2 }, { 2, 1 }, { 1, 1 } };
    std::unordered_set<clv_pair> pairs = { { 1, 2 }, { 2, 1 }, { 1, 2 } };
    std::unordered_set<clv_id_pair> events = { { { 1, 1 }, { 2, 1 } }, { { 2, 1 }, { 1, 1 } } };
    CHECK( ids.size() == 3 && pairs.size() == 2 && events.size() == 2 );
    CHECK( ( clv_id_pair{ { 1, 1 }, { 2, 1 } } ) != ( clv_id_pair{ { 1, 1 }, { 2, 2 } } ) );
    CHECK( ( clv_id_pair{ { 1, 1 }, { 2, 1 } } ) < ( clv_id_pair{ { 1, 1 }, { 2, 2 } } ) );
    CHECK( ( clv_pair{ 1, 2 } ) != ( clv_pair{ 1, 3 } ) );
    CHECK( ( clv_pair{ 2, 1 } ) > ( clv_pair{ 1, 3 } ) && ( clv_id{ 1, 2 } ) >= ( clv_id{ 1, 2 } ) );
    CHECK( ( clv_id{ 1, 2 } ) <= ( clv_id{ 1, 2 } ) && !( ( clv_id{ 1, 2 } ) <= ( clv_id{ 1, 1 } ) ) );
}

void an_outcome_that_is_const_can_be_read()
{
    auto space = crowd<cleave::solid>();
    const auto id = space.add( random_box<clv_aabb>() );
    CHECK( id && *id == space.id_at( id->index ) );
}

void views_are_spans()
{
    auto space = crowd<cleave::solid>();
    cleave::span<const clv_pair> pairs = space.pairs();
    CHECK( pairs.size() == space.pairs().size() && pairs.data() == space.pairs().data() );
    std::size_t count = 0;
    for ( auto [a, b] : space.pairs() )
    {
        count += a < b;
    }
    CHECK( count == pairs.size() );
    const std::vector<clv_pair> copy( pairs.begin(), pairs.end() );
    cleave::span<const clv_pair> again( copy );
    CHECK( again.subspan( 1, 2 ).size() == 2 && again.subspan( 1, 2 )[0] == copy[1] );
    CHECK( cleave::span<const clv_pair>().empty() );
}

#if defined( __cpp_lib_span ) && defined( __cpp_lib_ranges )
static_assert( std::ranges::view<cleave::pair_view> && std::ranges::borrowed_range<cleave::pair_view> );
static_assert( std::ranges::view<cleave::event_view> && std::ranges::borrowed_range<cleave::event_view> );
static_assert( std::ranges::forward_range<cleave::hit_lists<clv_hit>> );
static_assert( std::totally_ordered<clv_id> && std::totally_ordered<clv_pair> );

void views_lists_and_ids_go_through_ranges()
{
    auto space = crowd<cleave::solid>();
    auto is_even = []( clv_pair pair ) { return pair.a % 2 == 0; };
    auto even = static_cast<std::size_t>( std::ranges::count_if( space.pairs(), is_even ) );
    clv_pair last = space.pairs().back();
    CHECK( *std::ranges::find( space.pairs(), last ) == last );
    auto lists = space.query_all( random_boxes<clv_aabb>( 20 ) );
    CHECK( even > 0 && lists && !lists->hits.empty() );
#if !defined( __clang__ ) || __clang_major__ > 15 // before, it cannot compile libstdc++'s adaptors
    for ( auto [a, b] : space.pairs() | std::views::filter( is_even ) )
    {
        even -= a % 2 == 0 && a < b;
    }
    CHECK( even == 0 );
    std::size_t count = 0;
    for ( std::size_t size : *lists | std::views::transform( []( auto hits ) { return hits.size(); } ) )
    {
        count += size;
    }
    CHECK( count == lists->hits.size() );
#endif
    std::vector<clv_id> ids = { { 3, 1 }, { 1, 2 }, { 1, 1 } };
    std::ranges::sort( ids );
    CHECK( ids[0] == ( clv_id{ 1, 1 } ) && ids[2] == ( clv_id{ 3, 1 } ) );
}
#endif

#ifdef TEST_OTHER_STANDARD
void files_of_two_standards_share_a_program()
{
    std::vector<clv_aabb> boxes = random_boxes<clv_aabb>( 500 );
    auto made = cleave::checked_space::create();
    CHECK( made );
    CHECK( made->add( boxes ) );
    CHECK( made->update() );
    CHECK( made->pairs().size() == other_standard_pairs( boxes ) );
}
#endif

#if CLEAVE_EXCEPTIONS
template <class Call> clv_result thrown_by( Call&& call, std::uint32_t position )
{
    try
    {
        call();
    }
    catch ( const cleave::error& failed )
    {
        CHECK( failed.position() == position );
        CHECK( std::string( failed.what() ).find( clv_result_name( failed.code() ) ) == 0 );
        return failed.code();
    }
    return CLV_OK;
}

void errors_are_thrown_with_their_position()
{
    cleave::space space;
    std::vector<clv_aabb> boxes = random_boxes<clv_aabb>( 4 );
    std::vector<clv_id> ids = space.add( boxes );
    std::vector<clv_id> bad = ids;
    bad[3].generation += 1;
    CHECK( thrown_by( [&] { space.move( bad, boxes ); }, 3 ) == CLV_BAD_ID );
    CHECK( thrown_by( [&] { space.remove( clv_null_id() ); }, 0 ) == CLV_BAD_ID );
    CHECK( thrown_by( [&] { space.get_box( bad[3] ); }, cleave::no_position ) == CLV_BAD_ID );
    clv_space_def def = cleave::space::default_def();
    def.max_pairs = 1;
    cleave::space small( def );
    small.add( std::vector<clv_aabb>( 9, boxes[0] ) );
    try
    {
        small.update();
        CHECK( false );
    }
    catch ( const cleave::error& failed )
    {
        CHECK( failed.code() == CLV_TOO_MANY_PAIRS && failed.pair_count() == 2 &&
            clv_id_is_null( failed.id() ) );
    }
    def.method = "nonsense";
    std::string reason;
    try
    {
        cleave::space none( def );
        CHECK( false );
    }
    catch ( const cleave::error& failed )
    {
        reason = failed.what();
    }
    CHECK( reason.find( "nonsense" ) != std::string::npos );
    cleave::flat_space plain;
    plain.add( clv_aabb2{ { 0, 0 }, { 1, 1 } } );
    cleave::space64 far;
    far.add( clv_aabb64{ { 0, 0, 0 }, { 1, 1, 1 } } );
    CHECK( plain.object_count() + far.object_count() == 2 );
}

// Whatever the callback throws comes out of the call, and the space is as good as before.
void callbacks_may_throw()
{
    auto space = crowd<cleave::solid>();
    const std::size_t pair_count = space.pairs().size();
    std::vector<clv_aabb> boxes( 5, clv_aabb{ { 10, 10, 10 }, { 30, 30, 30 } } );
    int caught = 0;
    auto attempt = [&]( auto&& call )
    {
        try
        {
            call();
        }
        catch ( int number )
        {
            caught += number == 42;
        }
    };
    auto throws = []( auto&&... ) -> bool { throw 42; };
    attempt( [&] { static_cast<void>( space.query_all( boxes, {}, throws ) ); } );
    attempt( [&] { static_cast<void>( space.query_any( boxes, {}, throws ) ); } );
    attempt( [&] { static_cast<void>( space.query_nearest( boxes, 3, 10, {}, throws ) ); } );
    attempt( [&] { static_cast<void>( space.query_visit( boxes, throws ) ); } );
    attempt( [&] { static_cast<void>( space.visit( throws ) ); } );
    attempt(
        [&]
        {
            const double corner = 0;
            clv_regions regions = { &corner, &corner, sizeof( corner ), 1 };
            static_cast<void>( cleave::match_between<cleave::returning>( 1, regions, regions, throws ) );
        } );
    CHECK( caught == 6 );
    CHECK( space.update() );
    CHECK( space.pairs().size() == pair_count );
}

// From inside a visit the space is busy, and says so, whatever the call before it answered.
void a_busy_space_says_so()
{
#ifdef NDEBUG // debug builds of the library assert it
    auto space = crowd<cleave::solid>();
    clv_result inside = CLV_OK;
    CHECK( space.visit( [&]( cleave::span<const clv_pair> ) { inside = space.update().code(); } ) );
    CHECK( inside == CLV_BUSY );
#endif
}
#endif
} // namespace

int main()
{
    random_lives_match_brute_force<cleave::solid>();
    random_lives_match_brute_force<cleave::flat>();
    random_lives_match_brute_force<cleave::doubles>();
    every_kind_of_item_is_asked();
    filters_of_queries_are_one_for_all_or_one_for_each();
    lists_keep_their_memory();
    spaces_are_compared_with_each_other();
    columns_are_set_and_read();
    errors_are_returned_with_their_position();
    filters_are_lambdas_that_stay_where_they_are();
    pairs_are_visited_in_chunks();
    a_callback_may_shorten_a_ray();
    regions_of_four_axes_are_matched();
    points_within_a_cutoff_are_listed<float>();
    points_within_a_cutoff_are_listed<double>();
    near_points_come_by_point_and_in_chunks();
    words_stay_with_their_pairs();
    ids_and_pairs_are_keys();
    an_outcome_that_is_const_can_be_read();
    views_are_spans();
#if defined( __cpp_lib_span ) && defined( __cpp_lib_ranges )
    views_lists_and_ids_go_through_ranges();
#endif
#ifdef TEST_OTHER_STANDARD
    files_of_two_standards_share_a_program();
#endif
#if CLEAVE_EXCEPTIONS
    errors_are_thrown_with_their_position();
    callbacks_may_throw();
    a_busy_space_says_so();
#endif
    std::printf( "cleave.hpp: all cases passed, C++%ld, %s\n", __cplusplus / 100 % 100,
        CLEAVE_EXCEPTIONS ? "with exceptions" : "without exceptions" );
    return 0;
}
