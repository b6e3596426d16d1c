// SPDX-License-Identifier: MIT
#pragma once

// The core in C++17, header only: link what C programs link. Every call is the C call of the same name, so
// what space.h, query.h, world.h, match.h and near.h say of cost, order, threads and lifetime holds here.
// This file adds ownership, ranges and a choice of how errors are told.
//
//   std::vector<clv_aabb> boxes = ...;
//   cleave::space space;                                       // or flat_space, space64
//   std::vector<clv_id> ids = space.add( boxes );
//   space.update();
//   for ( auto [a, b] : space.pairs() ) { ... }                // a view: it dies at the next update
//   std::optional<clv_hit> hit = space.query_closest( ray );   // or a list: query_closest( rays )
//
//   cleave::near_list near( 2.5 );                             // points within a cutoff; or near_list64
//   near.update( xyz );                                        // three floats for each
//   for ( auto [a, b] : near.pairs() ) { ... }
//
// Errors. `space` throws cleave::error, which has the code and the position of the first bad entry.
// `checked_space` returns a cleave::outcome instead; where the compiler has exceptions turned off `space`
// does so too. All are basic_space<World, Errors>: Errors is `throwing` or `returning`, World is `solid`
// (clv_aabb), `flat` (clv_aabb2) or `doubles` (clv_aabb64). Both throw std::bad_alloc where a vector that a
// call returns finds no memory.
//
// Ranges. Arrays go in and out as cleave::span<T>: std::span where the standard library has it (C++20), else
// a small view of the same shape. Anything with data() and size() converts. Two ranges that belong together
// and differ in length are refused with CLV_BAD_ARGUMENT and the shorter one's length as the position.
//
// Callbacks. Visitors and query callbacks may throw: the call stops and the exception comes out of it. A pair
// filter may not, since its answers are remembered: an exception there ends the program.

#include "cleave/views.hpp"

namespace cleave
{
inline namespace CLEAVE_SPANS
{

// ---- the space

/// Owns a clv_space. Can be moved, not copied; what was moved from may only be assigned or destroyed.
template <class World, class Errors> class basic_space
{
  public:
    using box_type = typename World::box;
    using stream_type = typename World::stream;
    using vec_type = typename World::vec;
    using real_type = typename World::real;
    using hit_type = typename World::hit;
    template <class T> using answer = typename Errors::template answer<T>;
    using filter_function = std::function<bool( const clv_space*, clv_pair )>;

    /// A def to start from; of its members `doubles` and `flat` are the type's.
    static clv_space_def default_def() noexcept
    {
        clv_space_def def = clv_default_space_def();
        def.doubles = World::is_doubles;
        def.flat = World::is_flat;
        return def;
    }

    /// clv_space_create. `filter`, if there is one, takes the place of the def's; it must be pure and must
    /// not throw. Why a def is refused is in the exception's text, or goes to the def's logger.
    static answer<basic_space> create( clv_space_def def = default_def(), filter_function filter = nullptr )
    {
        basic_space made{ empty() };
        clv_error failed = made.open(
            def, std::move( filter ), [&]( clv_space** space ) { return clv_space_create( &def, space ); } );
        if ( failed.code != CLV_OK )
        {
            // An exception copies its text; that of an outcome has to outlive the space.
            bool has_reason = made.m_guests->reason[0] != '\0' && !std::is_same_v<Errors, returning>;
            failed.text = has_reason ? made.m_guests->reason : failed.text;
            return Errors::template fail<basic_space>( failed );
        }
        return answer<basic_space>( std::move( made ) );
    }

    /// A space from a snapshot of a space of this type; clv_space_load tells what of the def counts.
    /// CLV_UNSUPPORTED for a snapshot of another type of boxes. Since 0.2.0.
    static answer<basic_space> load(
        span<const std::byte> bytes, clv_space_def def = default_def(), filter_function filter = nullptr )
    {
        basic_space made{ empty() };
        clv_load_error why;
        clv_error failed = made.open( def, std::move( filter ),
            [&]( clv_space** space )
            {
                clv_result result = clv_space_load( &def, bytes.data(), bytes.size(), space, &why );
                box_type box;
                return result == CLV_OK && World::get_box( *space, clv_null_id(), &box ) == CLV_UNSUPPORTED
                    ? CLV_UNSUPPORTED
                    : result;
            } );
        if ( failed.code != CLV_OK )
        {
            bool has_reason = why.text[0] != '\0' && !std::is_same_v<Errors, returning>;
            failed.text = has_reason ? why.text : failed.text;
            return Errors::template fail<basic_space>( failed );
        }
        return answer<basic_space>( std::move( made ) );
    }

    /// clv_space_save: a snapshot of the space as it is. Since 0.2.0.
    answer<std::vector<std::byte>> save( clv_save_form form ) const
    {
        std::vector<std::byte> bytes( clv_space_save_size( get(), form ) );
        std::size_t size = 0;
        clv_error failed =
            detail::failure( clv_space_save( get(), form, bytes.data(), bytes.size(), &size ) );
        return value_or( failed, std::move( bytes ) );
    }

#if CLEAVE_EXCEPTIONS
    /// The same as a constructor, for spaces that throw.
    template <class E = Errors, class = std::enable_if_t<std::is_same_v<E, throwing>>>
    explicit basic_space( const clv_space_def& def, filter_function filter = nullptr )
        : basic_space( create( def, std::move( filter ) ) )
    {
    }

    template <class E = Errors, class = std::enable_if_t<std::is_same_v<E, throwing>>, class = void>
    basic_space() : basic_space( create() )
    {
    }
#endif

    basic_space( basic_space&& ) noexcept = default;

    basic_space& operator=( basic_space&& other ) noexcept
    {
        // The space first: one that was here may call its guests until it is destroyed.
        m_space = std::move( other.m_space );
        m_guests = std::move( other.m_guests );
        return *this;
    }

    /// For calls of the C interface that are not here, such as those of other libraries.
    clv_space* get() noexcept
    {
        return m_space.get();
    }

    const clv_space* get() const noexcept
    {
        return m_space.get();
    }

    // ---- objects in

    answer<std::vector<clv_id>> add( span<const box_type> boxes )
    {
        std::vector<clv_id> ids( boxes.size() );
        clv_error failed = error_of( World::add( get(), boxes.data(), count_of( boxes ), ids.data() ) );
        return value_or( failed, std::move( ids ) );
    }

    /// Into the caller's ids, as many as there are boxes.
    answer<void> add( span<const box_type> boxes, span<clv_id> ids )
    {
        return batch( ids, boxes,
            [&]( std::uint32_t count ) { return World::add( get(), boxes.data(), count, ids.data() ); } );
    }

    answer<clv_id> add( const box_type& box )
    {
        clv_id id = clv_null_id();
        clv_error failed = error_of( World::add_one( get(), box, &id ) );
        return value_or( failed, id );
    }

    /// From memory of another shape, as many boxes as there is room for ids.
    answer<void> add( stream_type boxes, span<clv_id> ids )
    {
        return good_or( error_of( World::add_strided( get(), boxes, count_of( ids ), ids.data() ) ) );
    }

    /// With what they carry; start from clv_default_add_def.
    answer<void> add( const clv_add_def& def, span<clv_id> ids )
    {
        return good_or( error_of( clv_space_add_with( get(), &def, count_of( ids ), ids.data() ) ) );
    }

    answer<void> move( span<const clv_id> ids, span<const box_type> boxes )
    {
        return batch( ids, boxes,
            [&]( std::uint32_t count ) { return World::move( get(), ids.data(), boxes.data(), count ); } );
    }

    answer<void> move( clv_id id, const box_type& box )
    {
        return good_or( error_of( World::move_one( get(), id, box ) ) );
    }

    answer<void> move( span<const clv_id> ids, stream_type boxes )
    {
        return good_or( error_of( World::move_strided( get(), ids.data(), boxes, count_of( ids ) ) ) );
    }

    /// All live objects, in the order of their slots. Since 0.2.0.
    answer<void> move_all( span<const box_type> boxes )
    {
        return good_or( error_of( World::move_all( get(), boxes.data(), count_of( boxes ) ) ) );
    }

    answer<void> move_all( stream_type boxes, std::uint32_t count )
    {
        return good_or( error_of( World::move_all_strided( get(), boxes, count ) ) );
    }

    answer<void> remove( span<const clv_id> ids )
    {
        return good_or( error_of( clv_space_remove( get(), ids.data(), count_of( ids ) ) ) );
    }

    answer<void> remove( clv_id id )
    {
        return good_or( error_of( clv_space_remove_one( get(), id ) ) );
    }

    void clear() noexcept
    {
        clv_space_clear( get() );
    }

    answer<void> shift_origin( clv_vec64 origin )
    {
        return good_or( error_of( clv_space_shift_origin( get(), origin ) ) );
    }

    // ---- what objects carry

    answer<void> set_user_data( span<const clv_id> ids, span<const std::uint64_t> values )
    {
        return column( clv_space_set_user_data, ids, values );
    }

    answer<void> set_margin( span<const clv_id> ids, span<const float> margins )
    {
        return column( clv_space_set_margin, ids, margins );
    }

    answer<void> set_margin_rule( span<const clv_id> ids, span<const clv_margin_rule> rules )
    {
        return column( clv_space_set_margin_rule, ids, rules );
    }

    answer<void> set_motion( span<const clv_id> ids, span<const clv_vec3> motions )
    {
        return column( clv_space_set_motion, ids, motions );
    }

    answer<void> set_filter( span<const clv_id> ids, span<const clv_filter> filters )
    {
        return column( clv_space_set_filter, ids, filters );
    }

    /// An array of bool: a std::vector<bool> is none.
    answer<void> set_static( span<const clv_id> ids, span<const bool> is_static )
    {
        return column( clv_space_set_static, ids, is_static );
    }

    answer<void> refilter( span<const clv_id> ids )
    {
        return good_or( error_of( clv_space_refilter( get(), ids.data(), count_of( ids ) ) ) );
    }

    answer<box_type> get_box( clv_id id ) const
    {
        return carried<box_type>( World::template get_box<const clv_space*, clv_id, box_type*>, id );
    }

    answer<box_type> get_test_box( clv_id id ) const
    {
        return carried<box_type>( World::template get_test_box<const clv_space*, clv_id, box_type*>, id );
    }

    answer<std::uint64_t> get_user_data( clv_id id ) const
    {
        return carried<std::uint64_t>( clv_space_get_user_data, id );
    }

    answer<float> get_margin( clv_id id ) const
    {
        return carried<float>( clv_space_get_margin, id );
    }

    answer<clv_margin_rule> get_margin_rule( clv_id id ) const
    {
        return carried<clv_margin_rule>( clv_space_get_margin_rule, id );
    }

    answer<clv_vec3> get_motion( clv_id id ) const
    {
        return carried<clv_vec3>( clv_space_get_motion, id );
    }

    answer<clv_filter> get_filter( clv_id id ) const
    {
        return carried<clv_filter>( clv_space_get_filter, id );
    }

    answer<bool> get_static( clv_id id ) const
    {
        return carried<bool>( clv_space_get_static, id );
    }

    /// Of all objects, by slot.
    span<const std::uint64_t> user_data() const noexcept
    {
        clv_user_data_view view = clv_space_user_data( get() );
        return span<const std::uint64_t>( view.values, view.count );
    }

    bool contains( clv_id id ) const noexcept
    {
        return clv_space_contains( get(), id );
    }

    clv_id id_at( std::uint32_t index ) const noexcept
    {
        return clv_space_id_at( get(), index );
    }

    std::uint32_t object_count() const noexcept
    {
        return clv_space_object_count( get() );
    }

    // ---- pairs out

    answer<void> update()
    {
        return good_or( error_of( clv_space_update( get() ) ) );
    }

    /// visitor( span<const clv_pair> ) gets the pairs in chunks, and may return false to stop: CLV_STOPPED.
    template <class Visitor> answer<void> visit( Visitor&& visitor )
    {
        using function = std::remove_reference_t<Visitor>;
        detail::guest<function> guest( visitor );
        clv_error failed = error_of( clv_space_visit( get(), detail::visit_pairs<function>, &guest ) );
        guest.rethrow();
        return good_or( failed );
    }

    pair_view pairs() const noexcept
    {
        return pair_view( clv_space_pairs( get() ) );
    }

    /// The ids of a view's pairs, from the first on as many as there is room for.
    answer<void> pair_ids( const pair_view& view, span<clv_id_pair> ids, std::uint64_t first = 0 ) const
    {
        return good_or(
            detail::failure( clv_space_pair_ids( get(), view.c_view(), first, ids.size(), ids.data() ) ) );
    }

    event_view begun() const noexcept
    {
        clv_event_view view = clv_space_events( get() );
        return event_view( view.begun, view.begun_count, view.begun_user, nullptr );
    }

    event_view ended() const noexcept
    {
        clv_event_view view = clv_space_events( get() );
        return event_view( view.ended, view.ended_count, view.ended_user, view.ended_data );
    }

    // ---- questions: of one item, or of a list of items of one type
    //
    // A callback is clv_query_callback as bool( std::uint32_t query, hit_type hit, real_type& reach ).

    answer<void> refresh()
    {
        return good_or( error_of( clv_space_refresh( get() ) ) );
    }

    /// Everything that each query finds.
    template <class Items, class Callback = no_callback, detail::only_list<Items> = 0>
    answer<hit_lists<hit_type>> query_all(
        const Items& items, query_options options = {}, Callback&& callback = {} ) const
    {
        hit_lists<hit_type> lists;
        clv_error failed = ask_all( span_of( items ), options, callback, lists );
        return value_or( failed, std::move( lists ) );
    }

    /// The same into lists that the caller keeps: no allocation once they are large enough.
    template <class Items, class Callback = no_callback, detail::only_list<Items> = 0>
    answer<void> query_all( const Items& items, hit_lists<hit_type>& lists, query_options options = {},
        Callback&& callback = {} ) const
    {
        return good_or( ask_all( span_of( items ), options, callback, lists ) );
    }

    template <class Item, class Callback = no_callback, detail::only_item<Item> = 0>
    answer<std::vector<hit_type>> query_all(
        const Item& item, query_options options = {}, Callback&& callback = {} ) const
    {
        hit_lists<hit_type> lists;
        clv_error failed = ask_all( span<const Item>( &item, 1 ), options, callback, lists );
        return value_or( failed, std::move( lists.hits ) );
    }

    /// One of what each query finds; its index is CLV_NO_HIT where it finds nothing.
    template <class Items, class Callback = no_callback, detail::only_list<Items> = 0>
    answer<std::vector<hit_type>> query_any(
        const Items& items, query_options options = {}, Callback&& callback = {} ) const
    {
        return ask_each( span_of( items ), 1, options, callback, any_question() );
    }

    template <class Item, class Callback = no_callback, detail::only_item<Item> = 0>
    answer<std::optional<hit_type>> query_any(
        const Item& item, query_options options = {}, Callback&& callback = {} ) const
    {
        return ask_one( item, options, callback, any_question() );
    }

    /// What each ray or cast meets first.
    template <class Items, class Callback = no_callback, detail::only_list<Items> = 0>
    answer<std::vector<hit_type>> query_closest(
        const Items& items, query_options options = {}, Callback&& callback = {} ) const
    {
        return ask_each( span_of( items ), 1, options, callback, closest_question() );
    }

    template <class Item, class Callback = no_callback, detail::only_item<Item> = 0>
    answer<std::optional<hit_type>> query_closest(
        const Item& item, query_options options = {}, Callback&& callback = {} ) const
    {
        return ask_one( item, options, callback, closest_question() );
    }

    /// The k nearest to each point or box: k hits for each, nearest first.
    template <class Items, class Callback = no_callback, detail::only_list<Items> = 0>
    answer<std::vector<hit_type>> query_nearest( const Items& items, std::uint32_t k, real_type max_distance,
        query_options options = {}, Callback&& callback = {} ) const
    {
        return ask_each( span_of( items ), k, options, callback, nearest_question( k, max_distance ) );
    }

    /// Of one point or box only those that there are.
    template <class Item, class Callback = no_callback, detail::only_item<Item> = 0>
    answer<std::vector<hit_type>> query_nearest( const Item& item, std::uint32_t k, real_type max_distance,
        query_options options = {}, Callback&& callback = {} ) const
    {
        std::vector<hit_type> hits( k );
        clv_error failed = ask( span<const Item>( &item, 1 ), options, callback,
            [&]( const auto& queries, std::uint32_t* position )
            { return nearest_question( k, max_distance )( get(), queries, hits.data(), position ); } );
        while ( failed.code == CLV_OK && !hits.empty() && hits.back().index == CLV_NO_HIT )
        {
            hits.pop_back();
        }
        return value_or( failed, std::move( hits ) );
    }

    /// visitor( std::uint32_t query, span<const hit_type> ) gets the hits of one query after the other, and
    /// may return false to stop: CLV_STOPPED.
    template <class Items, class Visitor, class Callback = no_callback, detail::only_list<Items> = 0>
    answer<void> query_visit(
        const Items& items, Visitor&& visitor, query_options options = {}, Callback&& callback = {} ) const
    {
        return good_or( ask_visit( span_of( items ), visitor, options, callback ) );
    }

    // ---- about the space

    clv_stats stats() const noexcept
    {
        return clv_space_stats( get() );
    }

    clv_error last_error() const noexcept
    {
        return clv_space_error( get() );
    }

    const char* method() const noexcept
    {
        return clv_space_method( get() );
    }

    clv_isa isa() const noexcept
    {
        return clv_space_isa( get() );
    }

    std::uint32_t worker_count() const noexcept
    {
        return clv_space_worker_count( get() );
    }

    answer<void> shrink()
    {
        return good_or( error_of( clv_space_shrink( get() ) ) );
    }

  private:
    struct empty
    {
    };

    explicit basic_space( empty ) noexcept
    {
    }

    // `make` is handed where the space goes.
    template <class Make> clv_error open( clv_space_def& def, filter_function filter, const Make& make )
    {
        m_guests = std::make_unique<detail::space_guests>();
        def.doubles = World::is_doubles;
        def.flat = World::is_flat;
        if ( filter )
        {
            m_guests->filter = std::move( filter );
            def.filter = detail::space_guests::ask;
            def.filter_user = m_guests.get();
        }
        if ( def.logger.write == nullptr )
        {
            def.logger.write = detail::space_guests::listen;
            def.logger.user = m_guests.get();
        }
        clv_space* space = nullptr;
        clv_error failed = detail::failure( make( &space ) );
        m_space.reset( space );
        return failed;
    }

    // More than 32 bits have is more than a space can hold: refused as that.
    template <class Range> static std::uint32_t count_of( const Range& range ) noexcept
    {
        return range.size() < UINT32_MAX ? static_cast<std::uint32_t>( range.size() ) : UINT32_MAX;
    }

    template <class Items> static auto span_of( const Items& items ) noexcept
    {
        using item = std::remove_cv_t<std::remove_pointer_t<decltype( std::data( items ) )>>;
        static_assert(
            detail::is_item<item>::value, "items are rays, boxes, spheres, … of query.h or world_query.h" );
        return span<const item>( std::data( items ), std::size( items ) );
    }

    // CLV_BUSY is not kept by the space, whose error stays about the call before.
    clv_error error_of( clv_result result ) const noexcept
    {
        return result == CLV_OK || result == CLV_BUSY ? detail::failure( result ) : clv_space_error( get() );
    }

    answer<void> good_or( const clv_error& failed ) const
    {
        if ( failed.code != CLV_OK )
        {
            return Errors::template fail<void>( failed );
        }
        return answer<void>();
    }

    template <class T> answer<T> value_or( const clv_error& failed, T value ) const
    {
        if ( failed.code != CLV_OK )
        {
            return Errors::template fail<T>( failed );
        }
        return answer<T>( std::move( value ) );
    }

    template <class A, class B, class Call> answer<void> batch( const A& a, const B& b, Call&& call )
    {
        if ( a.size() != b.size() )
        {
            return good_or( detail::length_failure( a.size(), b.size() ) );
        }
        return good_or( error_of( call( count_of( a ) ) ) );
    }

    template <class T>
    answer<void> column( clv_result ( *set )( clv_space*, const clv_id*, const T*, std::uint32_t ),
        span<const clv_id> ids, span<const T> values )
    {
        return batch( ids, values,
            [&]( std::uint32_t count ) { return set( get(), ids.data(), values.data(), count ); } );
    }

    template <class T>
    answer<T> carried( clv_result ( *read )( const clv_space*, clv_id, T* ), clv_id id ) const
    {
        T value = {};
        clv_error failed = detail::failure( read( get(), id, &value ) );
        failed.id = id;
        return value_or( failed, value );
    }

    // Each is a function of ( space, queries, hits, position ).
    static auto any_question() noexcept
    {
        return []( const clv_space* space, const auto& queries, hit_type* hits, std::uint32_t* position )
        { return World::query_any( space, &queries, hits, position ); };
    }

    static auto closest_question() noexcept
    {
        return []( const clv_space* space, const auto& queries, hit_type* hits, std::uint32_t* position )
        { return World::query_closest( space, &queries, hits, position ); };
    }

    static auto nearest_question( std::uint32_t k, real_type max_distance ) noexcept
    {
        return [k, max_distance](
                   const clv_space* space, const auto& queries, hit_type* hits, std::uint32_t* position )
        { return World::query_nearest( space, &queries, k, max_distance, hits, position ); };
    }

    template <class Callback>
    static bool call_back(
        const clv_space*, std::uint32_t query, hit_type hit, real_type* reach, void* user ) noexcept
    {
        auto* guest = static_cast<detail::guest<Callback>*>( user );
        if ( guest->has_thrown() )
        {
            return false;
        }
        bool counts = guest->call( query, hit, *reach );
        if ( guest->has_thrown() )
        {
            *reach = 0; // the rest of this query is not wanted
        }
        return counts;
    }

    // The list of queries, with its options and callback, handed to question( queries, position ).
    template <class Item, class Callback, class Question>
    clv_error ask(
        span<const Item> items, const query_options& options, Callback& callback, Question&& question ) const
    {
        typename World::queries queries = detail::list_of( items.data(), count_of( items ) );
        queries.as_given = options.as_given;
        if ( !options.filters.empty() )
        {
            if ( options.filters.size() != 1 && options.filters.size() != items.size() )
            {
                return detail::length_failure( options.filters.size(), items.size() );
            }
            queries.filters = options.filters.data();
            queries.filter_each = options.filters.size() > 1;
        }
        std::uint32_t position = no_position;
        if constexpr ( std::is_same_v<std::remove_const_t<Callback>, no_callback> )
        {
            static_cast<void>( callback );
            clv_result result = question( queries, &position );
            return detail::failure( result, position );
        }
        else
        {
            detail::guest<Callback> guest( callback );
            queries.callback = call_back<Callback>;
            queries.user = &guest;
            clv_result result = question( queries, &position );
            guest.rethrow();
            return detail::failure( result, position );
        }
    }

    template <class Item, class Callback>
    clv_error ask_all( span<const Item> items, const query_options& options, Callback& callback,
        hit_lists<hit_type>& lists ) const
    {
        lists.hits.clear();
        lists.offsets.assign( 1, 0 );
        clv_error failed = detail::failure( CLV_OK );
        if constexpr ( std::is_same_v<std::remove_const_t<Callback>, no_callback> )
        {
            lists.offsets.resize( items.size() + 1 );
            std::size_t room = lists.hits.capacity();
            do // a second time with the room that the first one asked for
            {
                lists.hits.resize( room );
                failed = ask( items, options, callback,
                    [&]( const auto& queries, std::uint32_t* position )
                    {
                        typename World::lists out = { lists.offsets.data(), lists.hits.data(), room, 0,
                            no_position };
                        clv_result result = World::query_all( get(), &queries, &out );
                        room = static_cast<std::size_t>( out.count );
                        *position = out.position;
                        return result;
                    } );
            } while ( failed.code == CLV_NO_ROOM );
            lists.hits.resize( failed.code == CLV_OK ? room : 0 );
        }
        else // asked once about each hit, so in one pass
        {
            auto append = [&]( std::uint32_t, span<const hit_type> hits )
            {
                lists.hits.insert( lists.hits.end(), hits.begin(), hits.end() );
                lists.offsets.push_back( lists.hits.size() );
            };
            failed = ask_visit( items, append, options, callback );
        }
        return failed;
    }

    template <class Item, class Callback, class Question>
    answer<std::vector<hit_type>> ask_each( span<const Item> items, std::size_t k,
        const query_options& options, Callback& callback, Question&& question ) const
    {
        std::vector<hit_type> hits( items.size() * k );
        clv_error failed = ask( items, options, callback,
            [&]( const auto& queries, std::uint32_t* position )
            { return question( get(), queries, hits.data(), position ); } );
        return value_or( failed, std::move( hits ) );
    }

    template <class Item, class Callback, class Question>
    answer<std::optional<hit_type>> ask_one(
        const Item& item, const query_options& options, Callback& callback, Question&& question ) const
    {
        hit_type hit = {};
        clv_error failed = ask( span<const Item>( &item, 1 ), options, callback,
            [&]( const auto& queries, std::uint32_t* position )
            { return question( get(), queries, &hit, position ); } );
        std::optional<hit_type> found;
        if ( hit.index != CLV_NO_HIT )
        {
            found = hit;
        }
        return value_or( failed, found );
    }

    template <class Item, class Visitor, class Callback>
    clv_error ask_visit(
        span<const Item> items, Visitor& visitor, const query_options& options, Callback& callback ) const
    {
        detail::guest<Visitor> guest( visitor );
        clv_error failed = ask( items, options, callback,
            [&]( const auto& queries, std::uint32_t* position )
            { return World::query_visit( get(), &queries, visit_hits<Visitor>, &guest, position ); } );
        guest.rethrow();
        return failed;
    }

    template <class Visitor>
    static bool visit_hits(
        std::uint32_t query, const hit_type* hits, std::uint64_t count, void* user ) noexcept
    {
        return static_cast<detail::guest<Visitor>*>( user )->call(
            query, span<const hit_type>( hits, static_cast<std::size_t>( count ) ) );
    }

    std::unique_ptr<detail::space_guests> m_guests; // outlives the space
    std::unique_ptr<clv_space, detail::destroy_space> m_space;
};

using space = basic_space<solid, default_errors>;
using flat_space = basic_space<flat, default_errors>;
using space64 = basic_space<doubles, default_errors>;
using checked_space = basic_space<solid, returning>;
using checked_flat_space = basic_space<flat, returning>;
using checked_space64 = basic_space<doubles, returning>;

// ---- without a space of one's own

/// Every pair of an object of one space and an object of another; see clv_space_query_pairs.
template <class World, class Errors>
typename Errors::template answer<std::vector<clv_pair>> query_pairs(
    const basic_space<World, Errors>& first, const basic_space<World, Errors>& second, bool as_given = false )
{
    std::vector<clv_pair> pairs;
    std::uint64_t count = 0;
    clv_result result;
    do // a second time with the room that the first one asked for
    {
        pairs.resize( static_cast<std::size_t>( count ) );
        result =
            clv_space_query_pairs( first.get(), second.get(), as_given, pairs.data(), pairs.size(), &count );
    } while ( result == CLV_NO_ROOM );
    if ( result != CLV_OK )
    {
        return Errors::template fail<std::vector<clv_pair>>( detail::failure( result ) );
    }
    return typename Errors::template answer<std::vector<clv_pair>>( std::move( pairs ) );
}

namespace detail
{
template <class Errors, class Visitor, class Call>
typename Errors::template answer<void> match( std::uint32_t axis_count, Visitor& visitor, Call&& call )
{
    guest<Visitor> guest( visitor );
    clv_match_def def = clv_default_match_def();
    def.axis_count = axis_count;
    clv_error failed = failure( CLV_OK );
    clv_result result = call( &def, visit_pairs<Visitor>, &guest, &failed );
    guest.rethrow();
    if ( result != CLV_OK )
    {
        failed.code = result;
        failed.text = clv_result_text( result );
        return Errors::template fail<void>( failed );
    }
    return typename Errors::template answer<void>();
}
} // namespace detail

/// clv_match_regions; visitor( span<const clv_pair> ) as in basic_space::visit.
template <class Errors = default_errors, class Visitor>
typename Errors::template answer<void> match_regions(
    std::uint32_t axis_count, clv_regions regions, Visitor&& visitor )
{
    return detail::match<Errors>( axis_count, visitor,
        [&]( const clv_match_def* def, clv_pair_visitor* visit, void* user, clv_error* failed )
        { return clv_match_regions( def, regions, visit, user, failed ); } );
}

/// clv_match_between.
template <class Errors = default_errors, class Visitor>
typename Errors::template answer<void> match_between(
    std::uint32_t axis_count, clv_regions a, clv_regions b, Visitor&& visitor )
{
    return detail::match<Errors>( axis_count, visitor,
        [&]( const clv_match_def* def, clv_pair_visitor* visit, void* user, clv_error* failed )
        { return clv_match_between( def, a, b, visit, user, failed ); } );
}

// ---- points within a cutoff

namespace detail
{
struct destroy_near
{
    void operator()( clv_near* near ) const noexcept
    {
        clv_near_destroy( near );
    }
};
} // namespace detail

/// Owns a clv_near; Real is float or double. Moved and assigned as a space is. What it lends dies at the next
/// update or visit. Since 0.2.0.
template <class Real, class Errors> class basic_near
{
  public:
    static_assert(
        std::is_same_v<Real, float> || std::is_same_v<Real, double>, "points are float or double" );
    template <class T> using answer = typename Errors::template answer<T>;

    /// A def to start from; `doubles` is the type's.
    static clv_near_def default_def( double cutoff = 0 ) noexcept
    {
        clv_near_def def = clv_default_near_def();
        def.cutoff = cutoff;
        def.doubles = std::is_same_v<Real, double>;
        return def;
    }

    /// clv_near_create. Why a def is refused goes to its logger.
    static answer<basic_near> create( clv_near_def def )
    {
        clv_near* near = nullptr;
        clv_error failed = detail::failure(
            def.doubles == std::is_same_v<Real, double> ? clv_near_create( &def, &near ) : CLV_BAD_DEF );
        basic_near made{ near, def.flat };
        if ( failed.code != CLV_OK )
        {
            return Errors::template fail<basic_near>( failed );
        }
        return answer<basic_near>( std::move( made ) );
    }

#if CLEAVE_EXCEPTIONS
    /// The same as a constructor, where errors are thrown.
    template <class E = Errors, class = std::enable_if_t<std::is_same_v<E, throwing>>>
    explicit basic_near( const clv_near_def& def ) : basic_near( create( def ) )
    {
    }

    template <class E = Errors, class = std::enable_if_t<std::is_same_v<E, throwing>>>
    explicit basic_near( double cutoff ) : basic_near( create( default_def( cutoff ) ) )
    {
    }
#endif

    clv_near* get() noexcept
    {
        return m_near.get();
    }

    const clv_near* get() const noexcept
    {
        return m_near.get();
    }

    /// Pairs that are never listed.
    answer<void> exclude( span<const clv_pair> pairs )
    {
        return good_or( clv_near_exclude( get(), pairs.data(), pairs.size() ) );
    }

    /// Whether the list was made anew; without a skin it always is.
    answer<bool> update( const clv_near_points& points )
    {
        bool is_new = false;
        clv_result result = clv_near_update( get(), &points, &is_new );
        if ( result != CLV_OK )
        {
            return Errors::template fail<bool>( clv_near_error( get() ) );
        }
        return answer<bool>( is_new );
    }

    /// Points one behind the other, of three numbers, or two where the def says `flat`. A number of numbers
    /// that is no multiple is refused with CLV_BAD_ARGUMENT.
    answer<bool> update( span<const Real> numbers, const clv_near_cell* cell = nullptr )
    {
        const std::size_t axes = m_is_flat ? 2 : 3;
        if ( numbers.size() % axes != 0 || numbers.size() / axes >= UINT32_MAX )
        {
            return Errors::template fail<bool>(
                detail::failure( numbers.size() % axes != 0 ? CLV_BAD_ARGUMENT : CLV_TOO_MANY_OBJECTS ) );
        }
        clv_near_points points = {};
        if constexpr ( std::is_same_v<Real, float> )
        {
            points.positions = numbers.data();
        }
        else
        {
            points.positions64 = numbers.data();
        }
        points.stride = axes * sizeof( Real );
        points.count = static_cast<std::uint32_t>( numbers.size() / axes );
        points.cell = cell;
        return update( points );
    }

    /// visitor( const clv_near_view& ) gets the entries in chunks, and may return false to stop: CLV_STOPPED.
    template <class Visitor> answer<void> visit( const clv_near_points& points, Visitor&& visitor )
    {
        using function = std::remove_reference_t<Visitor>;
        detail::guest<function> guest( visitor );
        clv_result result = clv_near_visit( get(), &points, visit_entries<function>, &guest );
        guest.rethrow();
        return good_or( result );
    }

    /// The list as C has it.
    clv_near_view list() const noexcept
    {
        return clv_near_list( get() );
    }

    span<const clv_pair> pairs() const noexcept
    {
        return column( list().pairs, 1 );
    }

    /// With by_point: neighbours of point i are indices()[offsets()[i]] up to indices()[offsets()[i + 1]].
    span<const std::uint64_t> offsets() const noexcept
    {
        clv_near_view view = list();
        return { view.offsets, view.offsets != nullptr ? view.point_count + std::size_t{ 1 } : 0 };
    }

    span<const std::uint32_t> indices() const noexcept
    {
        return column( list().indices, 1 );
    }

    span<const Real> squared() const noexcept
    {
        clv_near_view view = list();
        return column( of_type( view.squared, view.squared64 ), 1 );
    }

    /// Three for each entry, as are the shifts.
    span<const Real> vectors() const noexcept
    {
        clv_near_view view = list();
        return column( of_type( view.vectors, view.vectors64 ), 3 );
    }

    span<const std::int32_t> shifts() const noexcept
    {
        return column( list().shifts, 3 );
    }

    clv_near_stats stats() const noexcept
    {
        return clv_near_get_stats( get() );
    }

  private:
    basic_near( clv_near* near, bool is_flat ) noexcept : m_near( near ), m_is_flat( is_flat )
    {
    }

    static const Real* of_type( const float* floats, const double* doubles ) noexcept
    {
        if constexpr ( std::is_same_v<Real, float> )
        {
            return floats;
        }
        else
        {
            return doubles;
        }
    }

    // What was not asked for is an empty range.
    template <class T> span<const T> column( const T* start, std::size_t width ) const noexcept
    {
        return { start, start != nullptr ? static_cast<std::size_t>( list().count ) * width : 0 };
    }

    answer<void> good_or( clv_result result ) const
    {
        if ( result != CLV_OK )
        {
            return Errors::template fail<void>( clv_near_error( get() ) );
        }
        return answer<void>();
    }

    template <class Visitor> static bool visit_entries( const clv_near_view* entries, void* user ) noexcept
    {
        return static_cast<detail::guest<Visitor>*>( user )->call( *entries );
    }

    std::unique_ptr<clv_near, detail::destroy_near> m_near;
    bool m_is_flat;
};

using near_list = basic_near<float, default_errors>;
using near_list64 = basic_near<double, default_errors>;
using checked_near_list = basic_near<float, returning>;
using checked_near_list64 = basic_near<double, returning>;

} // namespace CLEAVE_SPANS
} // namespace cleave
