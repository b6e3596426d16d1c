// SPDX-License-Identifier: MIT
#pragma once

// What cleave.hpp is made of, which is what to include: ids and pairs as keys, spans, errors, worlds, views.

#include "cleave/cleave.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined( __has_include )
#if __has_include( <version> )
#include <version>
#endif
#endif
#ifdef __cpp_lib_span
#include <span>
#endif

// A program may have files with both kinds of spans: functions that return one kind need names of their own.
#ifdef __cpp_lib_span
#define CLEAVE_SPANS std_spans
#else
#define CLEAVE_SPANS own_spans
#endif

#if defined( __cpp_exceptions ) || defined( _CPPUNWIND )
#define CLEAVE_EXCEPTIONS 1
#else
#define CLEAVE_EXCEPTIONS 0
#endif

// ---- ids and pairs: compared, ordered by (index, generation) and (a, b), hashed

constexpr bool operator==( clv_id a, clv_id b ) noexcept
{
    return a.index == b.index && a.generation == b.generation;
}

constexpr bool operator<( clv_id a, clv_id b ) noexcept
{
    return a.index < b.index || ( a.index == b.index && a.generation < b.generation );
}

constexpr bool operator==( clv_pair a, clv_pair b ) noexcept
{
    return a.a == b.a && a.b == b.b;
}

constexpr bool operator<( clv_pair a, clv_pair b ) noexcept
{
    return a.a < b.a || ( a.a == b.a && a.b < b.b );
}

constexpr bool operator==( clv_id_pair a, clv_id_pair b ) noexcept
{
    return a.a == b.a && a.b == b.b;
}

constexpr bool operator<( clv_id_pair a, clv_id_pair b ) noexcept
{
    return a.a < b.a || ( a.a == b.a && a.b < b.b );
}

// The other four, which std::ranges::sort and its like ask for too.
#define CLEAVE_ORDERED( TYPE )                                                                               \
    constexpr bool operator!=( TYPE a, TYPE b ) noexcept                                                     \
    {                                                                                                        \
        return !( a == b );                                                                                  \
    }                                                                                                        \
    constexpr bool operator>( TYPE a, TYPE b ) noexcept                                                      \
    {                                                                                                        \
        return b < a;                                                                                        \
    }                                                                                                        \
    constexpr bool operator<=( TYPE a, TYPE b ) noexcept                                                     \
    {                                                                                                        \
        return !( b < a );                                                                                   \
    }                                                                                                        \
    constexpr bool operator>=( TYPE a, TYPE b ) noexcept                                                     \
    {                                                                                                        \
        return !( a < b );                                                                                   \
    }
CLEAVE_ORDERED( clv_id )
CLEAVE_ORDERED( clv_pair )
CLEAVE_ORDERED( clv_id_pair )
#undef CLEAVE_ORDERED

namespace cleave
{
inline namespace CLEAVE_SPANS
{

#ifdef __cpp_lib_span
template <class T> using span = std::span<T>;
#else
/// What is used of std::span: a pointer and a count. Owns nothing.
template <class T> class span
{
  public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;
    using size_type = std::size_t;
    using iterator = T*;

    constexpr span() noexcept = default;

    constexpr span( T* items, std::size_t count ) noexcept : m_items( items ), m_count( count )
    {
    }

    /// Arrays and containers; of temporary ones only to read.
    template <class Range,
        class = std::enable_if_t<!std::is_same_v<std::decay_t<Range>, span> &&
            std::is_convertible_v<
                std::remove_pointer_t<decltype( std::data( std::declval<Range&>() ) )> ( * )[], T ( * )[]> &&
            ( std::is_const_v<T> || std::is_lvalue_reference_v<Range> )>>
    constexpr span( Range&& range ) noexcept : m_items( std::data( range ) ), m_count( std::size( range ) )
    {
    }

    constexpr T* data() const noexcept
    {
        return m_items;
    }

    constexpr std::size_t size() const noexcept
    {
        return m_count;
    }

    constexpr bool empty() const noexcept
    {
        return m_count == 0;
    }

    constexpr T* begin() const noexcept
    {
        return m_items;
    }

    constexpr T* end() const noexcept
    {
        return m_items + m_count;
    }

    constexpr T& operator[]( std::size_t index ) const noexcept
    {
        return m_items[index];
    }

    constexpr span subspan( std::size_t first, std::size_t count ) const noexcept
    {
        return span( m_items + first, count );
    }

  private:
    T* m_items = nullptr;
    std::size_t m_count = 0;
};
#endif

// ---- errors

/// The position where no entry is to blame, as in clv_error.
inline constexpr std::uint32_t no_position = UINT32_MAX;

namespace detail
{
inline clv_error failure( clv_result code, std::uint32_t position = no_position ) noexcept
{
    clv_error failed = { code, position, { 0, 0 }, 0, clv_result_text( code ) };
    return failed;
}

inline clv_error length_failure( std::size_t a, std::size_t b ) noexcept
{
    std::size_t shorter = a < b ? a : b;
    clv_error failed = failure(
        CLV_BAD_ARGUMENT, shorter < no_position ? static_cast<std::uint32_t>( shorter ) : no_position );
    failed.text = "two ranges that belong together differ in length";
    return failed;
}
} // namespace detail

/// What a call answers that does not throw: good, or the error of the C interface. Look before use.
template <class T> class outcome;

template <> class [[nodiscard]] outcome<void>
{
  public:
    outcome() = default;

    outcome( const clv_error& failed ) : m_error( failed )
    {
    }

    explicit operator bool() const noexcept
    {
        return m_error.code == CLV_OK;
    }

    clv_result code() const noexcept
    {
        return m_error.code;
    }

    /// Its text lives until the next call on the space.
    const clv_error& error() const noexcept
    {
        return m_error;
    }

  private:
    clv_error m_error = { CLV_OK, no_position, { 0, 0 }, 0, "" };
};

/// And a value, where it is good.
template <class T> class [[nodiscard]] outcome : public outcome<void>
{
  public:
    outcome( T value ) : m_value( std::move( value ) )
    {
    }

    outcome( const clv_error& failed ) : outcome<void>( failed )
    {
    }

    T& operator*() noexcept
    {
        return *m_value;
    }

    const T& operator*() const noexcept
    {
        return *m_value;
    }

    T* operator->() noexcept
    {
        return &*m_value;
    }

    const T* operator->() const noexcept
    {
        return &*m_value;
    }

  private:
    std::optional<T> m_value;
};

/// Answers are outcomes.
struct returning
{
    template <class T> using answer = outcome<T>;

    template <class T> static outcome<T> fail( const clv_error& failed )
    {
        return outcome<T>( failed );
    }
};

#if CLEAVE_EXCEPTIONS
/// What `throwing` throws: "CLV_BAD_BOX: " and the sentence of clv_error.
class error : public std::runtime_error
{
  public:
    explicit error( const clv_error& failed )
        : std::runtime_error( std::string( clv_result_name( failed.code ) ) + ": " + failed.text ),
          m_error( failed )
    {
        m_error.text = "";
    }

    clv_result code() const noexcept
    {
        return m_error.code;
    }

    /// Of the first bad entry in the batch; no_position where no entry is to blame.
    std::uint32_t position() const noexcept
    {
        return m_error.position;
    }

    clv_id id() const noexcept
    {
        return m_error.id;
    }

    /// Pairs found before an update failed.
    std::uint64_t pair_count() const noexcept
    {
        return m_error.pair_count;
    }

  private:
    clv_error m_error;
};

/// Answers are values, errors are thrown.
struct throwing
{
    template <class T> using answer = T;

    template <class T> [[noreturn]] static T fail( const clv_error& failed )
    {
        throw error( failed );
    }
};

using default_errors = throwing;
#else
using default_errors = returning;
#endif

// ---- kinds of worlds, and of questions

// One struct of types and calls for each. The macro adds the suffixes of C names; questions have their own.
#define CLEAVE_WORLD( NAME, SUFFIX, QUERY, REAL, VEC, DOUBLES, FLAT )                                        \
    struct NAME                                                                                              \
    {                                                                                                        \
        using real = REAL;                                                                                   \
        using vec = VEC;                                                                                     \
        using box = clv_aabb##SUFFIX;                                                                        \
        using stream = clv_box_stream##SUFFIX;                                                               \
        using hit = clv_hit##QUERY;                                                                          \
        using queries = clv_queries##QUERY;                                                                  \
        using lists = clv_query_lists##QUERY;                                                                \
        static constexpr bool is_doubles = DOUBLES;                                                          \
        static constexpr bool is_flat = FLAT;                                                                \
        CLEAVE_CALL( add, clv_space_add##SUFFIX )                                                            \
        CLEAVE_CALL( add_strided, clv_space_add_strided##SUFFIX )                                            \
        CLEAVE_CALL( add_one, clv_space_add_one##SUFFIX )                                                    \
        CLEAVE_CALL( move, clv_space_move##SUFFIX )                                                          \
        CLEAVE_CALL( move_strided, clv_space_move_strided##SUFFIX )                                          \
        CLEAVE_CALL( move_one, clv_space_move_one##SUFFIX )                                                  \
        CLEAVE_CALL( move_all, clv_space_move_all##SUFFIX )                                                  \
        CLEAVE_CALL( move_all_strided, clv_space_move_all_strided##SUFFIX )                                  \
        CLEAVE_CALL( get_box, clv_space_get_box##SUFFIX )                                                    \
        CLEAVE_CALL( get_test_box, clv_space_get_test_box##SUFFIX )                                          \
        CLEAVE_CALL( query_all, clv_space_query_all##QUERY )                                                 \
        CLEAVE_CALL( query_any, clv_space_query_any##QUERY )                                                 \
        CLEAVE_CALL( query_closest, clv_space_query_closest##QUERY )                                         \
        CLEAVE_CALL( query_nearest, clv_space_query_nearest##QUERY )                                         \
        CLEAVE_CALL( query_visit, clv_space_query_visit##QUERY )                                             \
    };
#define CLEAVE_CALL( NAME, FUNCTION )                                                                        \
    template <class... Arguments> static clv_result NAME( Arguments... arguments ) noexcept                  \
    {                                                                                                        \
        return FUNCTION( arguments... );                                                                     \
    }
CLEAVE_WORLD( solid, , , float, clv_vec3, false, false )
CLEAVE_WORLD( flat, 2, , float, clv_vec2, false, true )
CLEAVE_WORLD( doubles, 64, 64, double, clv_vec64, true, false )
#undef CLEAVE_CALL
#undef CLEAVE_WORLD

namespace detail
{
// list_of( items, count ): the list of queries that the item's type stands for.
#define CLEAVE_ITEM( LIST, ITEM, MAKE )                                                                      \
    inline LIST list_of( const ITEM* items, std::uint32_t count ) noexcept                                   \
    {                                                                                                        \
        return MAKE( items, count );                                                                         \
    }
CLEAVE_ITEM( clv_queries, clv_vec3, clv_query_points )
CLEAVE_ITEM( clv_queries, clv_aabb, clv_query_boxes )
CLEAVE_ITEM( clv_queries, clv_sphere, clv_query_spheres )
CLEAVE_ITEM( clv_queries, clv_neighbourhood, clv_query_neighbourhoods )
CLEAVE_ITEM( clv_queries, clv_capsule, clv_query_capsules )
CLEAVE_ITEM( clv_queries, clv_oriented_box, clv_query_oriented_boxes )
CLEAVE_ITEM( clv_queries, clv_half_spaces, clv_query_half_spaces )
CLEAVE_ITEM( clv_queries, clv_ray, clv_query_rays )
CLEAVE_ITEM( clv_queries, clv_box_cast, clv_query_box_casts )
CLEAVE_ITEM( clv_queries, clv_sphere_cast, clv_query_sphere_casts )
CLEAVE_ITEM( clv_queries, clv_capsule_cast, clv_query_capsule_casts )
CLEAVE_ITEM( clv_queries, clv_vec2, clv_query_points2 )
CLEAVE_ITEM( clv_queries, clv_aabb2, clv_query_boxes2 )
CLEAVE_ITEM( clv_queries, clv_circle, clv_query_circles )
CLEAVE_ITEM( clv_queries, clv_neighbourhood2, clv_query_neighbourhoods2 )
CLEAVE_ITEM( clv_queries, clv_capsule2, clv_query_capsules2 )
CLEAVE_ITEM( clv_queries, clv_oriented_box2, clv_query_oriented_boxes2 )
CLEAVE_ITEM( clv_queries, clv_half_planes, clv_query_half_planes )
CLEAVE_ITEM( clv_queries, clv_ray2, clv_query_rays2 )
CLEAVE_ITEM( clv_queries, clv_box_cast2, clv_query_box_casts2 )
CLEAVE_ITEM( clv_queries, clv_circle_cast, clv_query_circle_casts )
CLEAVE_ITEM( clv_queries, clv_capsule_cast2, clv_query_capsule_casts2 )
CLEAVE_ITEM( clv_queries64, clv_vec64, clv_query_points64 )
CLEAVE_ITEM( clv_queries64, clv_aabb64, clv_query_boxes64 )
CLEAVE_ITEM( clv_queries64, clv_sphere64, clv_query_spheres64 )
CLEAVE_ITEM( clv_queries64, clv_neighbourhood64, clv_query_neighbourhoods64 )
CLEAVE_ITEM( clv_queries64, clv_capsule64, clv_query_capsules64 )
CLEAVE_ITEM( clv_queries64, clv_oriented_box64, clv_query_oriented_boxes64 )
CLEAVE_ITEM( clv_queries64, clv_half_spaces64, clv_query_half_spaces64 )
CLEAVE_ITEM( clv_queries64, clv_ray64, clv_query_rays64 )
CLEAVE_ITEM( clv_queries64, clv_box_cast64, clv_query_box_casts64 )
CLEAVE_ITEM( clv_queries64, clv_sphere_cast64, clv_query_sphere_casts64 )
CLEAVE_ITEM( clv_queries64, clv_capsule_cast64, clv_query_capsule_casts64 )
#undef CLEAVE_ITEM

template <class T, class = void> struct is_item : std::false_type
{
};

template <class T>
struct is_item<T, std::void_t<decltype( list_of( std::declval<const T*>(), 0u ) )>> : std::true_type
{
};

template <class T> using only_item = std::enable_if_t<is_item<T>::value, int>;
template <class T> using only_list = std::enable_if_t<!is_item<T>::value, int>;

// A callback that C calls through `user`. What it throws waits here until the C call has returned.
template <class Function> class guest
{
  public:
    explicit guest( Function& function ) noexcept : m_function( function )
    {
    }

    template <class... Arguments> bool call( Arguments&&... arguments ) noexcept
    {
#if CLEAVE_EXCEPTIONS
        try
        {
            return answer( std::forward<Arguments>( arguments )... );
        }
        catch ( ... )
        {
            m_thrown = std::current_exception();
            return false;
        }
#else
        return answer( std::forward<Arguments>( arguments )... );
#endif
    }

    bool has_thrown() const noexcept
    {
        return m_thrown != nullptr;
    }

    void rethrow() const
    {
#if CLEAVE_EXCEPTIONS
        if ( m_thrown )
        {
            std::rethrow_exception( m_thrown );
        }
#endif
    }

  private:
    // A function that returns nothing never asks to stop.
    template <class... Arguments> bool answer( Arguments&&... arguments )
    {
        if constexpr ( std::is_void_v<std::invoke_result_t<Function&, Arguments...>> )
        {
            m_function( std::forward<Arguments>( arguments )... );
            return true;
        }
        else
        {
            return m_function( std::forward<Arguments>( arguments )... );
        }
    }

    Function& m_function;
    std::exception_ptr m_thrown;
};

struct destroy_space
{
    void operator()( clv_space* space ) const noexcept
    {
        clv_space_destroy( space );
    }
};

// What a space calls while it lives: at one address, whichever object owns the space by then.
struct space_guests
{
    std::function<bool( const clv_space*, clv_pair )> filter;
    char reason[256] = {}; // of a failed create

    static bool ask( const clv_space* space, clv_pair pair, void* user ) noexcept
    {
        return static_cast<space_guests*>( user )->filter( space, pair );
    }

    static void listen( clv_log_level level, const char* line, void* user ) noexcept
    {
        char* reason = static_cast<space_guests*>( user )->reason;
        std::size_t length = level == CLV_LOG_ERROR ? std::strlen( line ) : sizeof( space_guests::reason );
        if ( length < sizeof( space_guests::reason ) )
        {
            std::memcpy( reason, line, length + 1 );
        }
    }
};

template <class Visitor> bool visit_pairs( const clv_pair* pairs, std::size_t count, void* user ) noexcept
{
    return static_cast<guest<Visitor>*>( user )->call( span<const clv_pair>( pairs, count ) );
}
} // namespace detail

// ---- views: they own nothing, and die as the C views do

/// The pairs of the last update.
class pair_view : public span<const clv_pair>
{
  public:
    explicit pair_view( const clv_pair_view& view ) noexcept
        : span<const clv_pair>( view.pairs, static_cast<std::size_t>( view.count ) ), m_view( view )
    {
    }

    /// False before the first update, after a failed one, and after a visit or a clear.
    bool valid() const noexcept
    {
        return m_view.valid;
    }

    /// The caller's words beside the pairs, to read and write; empty unless the def asks for pair_data.
    span<std::uint64_t> words() const noexcept
    {
        return span<std::uint64_t>( m_view.data, m_view.data != nullptr ? size() : 0 );
    }

    const clv_pair_view& c_view() const noexcept
    {
        return m_view;
    }

  private:
    clv_pair_view m_view;
};

/// Pairs that began or ended, and beside each what its objects carry.
class event_view : public span<const clv_id_pair>
{
  public:
    event_view( const clv_id_pair* pairs, std::uint64_t count, const clv_user_pair* user_data,
        const std::uint64_t* pair_words ) noexcept
        : span<const clv_id_pair>( pairs, static_cast<std::size_t>( count ) ),
          m_user_data( user_data, user_data != nullptr ? size() : 0 ),
          m_words( pair_words, pair_words != nullptr ? size() : 0 )
    {
    }

    /// Empty if none had been set.
    span<const clv_user_pair> user_data() const noexcept
    {
        return m_user_data;
    }

    /// Of ended pairs, where the def asks for pair_data.
    span<const std::uint64_t> words() const noexcept
    {
        return m_words;
    }

  private:
    span<const clv_user_pair> m_user_data;
    span<const std::uint64_t> m_words;
};

/// All hits of a list of queries: a range with a span of hits for each. Owns its memory; query_all uses it
/// again.
template <class Hit> class hit_lists
{
  public:
    class iterator
    {
      public:
        using iterator_category = std::input_iterator_tag; // spans are made as they are read
        using iterator_concept = std::forward_iterator_tag;
        using value_type = span<const Hit>;
        using difference_type = std::ptrdiff_t;
        using pointer = const value_type*;
        using reference = value_type;

        iterator() noexcept = default;

        iterator( const hit_lists* lists, std::size_t query ) noexcept : m_lists( lists ), m_query( query )
        {
        }

        value_type operator*() const noexcept
        {
            return ( *m_lists )[m_query];
        }

        iterator& operator++() noexcept
        {
            ++m_query;
            return *this;
        }

        iterator operator++( int ) noexcept
        {
            return iterator( m_lists, m_query++ );
        }

        bool operator==( const iterator& other ) const noexcept
        {
            return m_query == other.m_query;
        }

        bool operator!=( const iterator& other ) const noexcept
        {
            return m_query != other.m_query;
        }

      private:
        const hit_lists* m_lists = nullptr;
        std::size_t m_query = 0;
    };

    std::vector<std::uint64_t> offsets = { 0 }; ///< as in clv_query_lists
    std::vector<Hit> hits;

    std::size_t size() const noexcept
    {
        return offsets.size() - 1;
    }

    span<const Hit> operator[]( std::size_t query ) const noexcept
    {
        return span<const Hit>(
            hits.data() + offsets[query], static_cast<std::size_t>( offsets[query + 1] - offsets[query] ) );
    }

    iterator begin() const noexcept
    {
        return iterator( this, 0 );
    }

    iterator end() const noexcept
    {
        return iterator( this, size() );
    }
};

/// What goes with a list of queries.
struct query_options
{
    span<const clv_filter> filters = {}; ///< none: everything counts; one: for all queries; else one for each
    bool as_given = false;               ///< boxes without their margins
};

/// In place of a callback: everything counts.
struct no_callback
{
};

} // namespace CLEAVE_SPANS
} // namespace cleave

// What std::span is to ranges, these views are too: `space.pairs() | std::views::filter( … )`, and iterators
// that outlive the view they came from.
#if defined( __cpp_lib_span ) && defined( __cpp_lib_ranges )
template <> inline constexpr bool std::ranges::enable_view<cleave::pair_view> = true;
template <> inline constexpr bool std::ranges::enable_view<cleave::event_view> = true;
template <> inline constexpr bool std::ranges::enable_borrowed_range<cleave::pair_view> = true;
template <> inline constexpr bool std::ranges::enable_borrowed_range<cleave::event_view> = true;
#endif

namespace std
{
template <> struct hash<clv_id>
{
    size_t operator()( clv_id id ) const noexcept
    {
        return hash<uint64_t>()( ( uint64_t{ id.generation } << 32 | id.index ) * 0x9E3779B97F4A7C15u );
    }
};

template <> struct hash<clv_pair>
{
    size_t operator()( clv_pair pair ) const noexcept
    {
        return hash<uint64_t>()( ( uint64_t{ pair.a } << 32 | pair.b ) * 0x9E3779B97F4A7C15u );
    }
};

template <> struct hash<clv_id_pair>
{
    size_t operator()( clv_id_pair pair ) const noexcept
    {
        return hash<clv_id>()( pair.a ) * 31u + hash<clv_id>()( pair.b );
    }
};
} // namespace std
