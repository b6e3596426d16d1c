// SPDX-License-Identifier: MIT
// Cleave as a broad phase of FCL. A program changes one line:
//
//   cleave_manager<double> manager;                                // in place of
//       fcl::DynamicAABBTreeCollisionManagerd
//
// Boxes are those of fcl::CollisionObject::getAABB when the object was registered or last updated, in S: a
// space of floats or of doubles, without a margin, so exactly the pairs whose boxes touch reach a callback.
// FCL's managers report the same ones, in another order. Ours depends on the calls alone.
//
// Changes reach the space at once. What follows from them is searched when it is first asked for: pairs by
// collide( cdata, callback ), the query tree by all others. Const calls may come from many threads at a time.
// Callbacks get no lock and may ask the manager themselves; they must not register or unregister.
//
// Errors are exceptions: std::invalid_argument for an object that is registered twice or not at all,
// cleave::error for a box that is none (NaN, or inside out, as of a geometry without vertices) and for more
// objects than a space takes, std::bad_alloc. A call that throws has changed nothing, but for update() of a
// list, whose objects before the bad one count.
#pragma once

#include "cleave/cleave.hpp"

#include <fcl/broadphase/broadphase_collision_manager.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

template <typename S> class cleave_manager : public fcl::BroadPhaseCollisionManager<S>
{
    static_assert( std::is_same<S, float>::value || std::is_same<S, double>::value,
        "FCL's scalars are float and double" );

  public:
    using object = fcl::CollisionObject<S>;
    using manager = fcl::BroadPhaseCollisionManager<S>;
    using collision_callback = fcl::CollisionCallBack<S>;
    using distance_callback = fcl::DistanceCallBack<S>;

    /// `worker_count`: threads that search pairs, this one among them.
    explicit cleave_manager( std::uint32_t worker_count = 1 ) : m_space( make_def( worker_count ) )
    {
    }

    cleave_manager( const cleave_manager& ) = delete;
    cleave_manager& operator=( const cleave_manager& ) = delete;

    // ---- objects

    void registerObject( object* given ) override
    {
        registerObjects( { given } );
    }

    /// All of them, or none.
    void registerObjects( const std::vector<object*>& given ) override
    {
        std::vector<box> boxes;
        boxes.reserve( given.size() );
        m_by_slot.reserve( m_by_slot.size() + given.size() );
        std::size_t noted = 0;
        std::vector<clv_id> ids;
        try
        {
            for ( object* one : given )
            {
                if ( !m_ids.emplace( one, clv_null_id() ).second )
                {
                    throw std::invalid_argument( "cleave_manager: an object is registered twice" );
                }
                ++noted;
                boxes.push_back( box_of( one ) );
            }
            ids = m_space.add( boxes );
        }
        catch ( ... )
        {
            std::for_each( given.begin(), given.begin() + static_cast<std::ptrdiff_t>( noted ),
                [this]( object* one ) { m_ids.erase( one ); } );
            throw;
        }
        mark_changed();
        for ( std::size_t i = 0; i < given.size(); ++i ) // allocates nothing any more
        {
            if ( ids[i].index >= m_by_slot.size() )
            {
                m_by_slot.resize( ids[i].index + 1u, nullptr );
            }
            m_by_slot[ids[i].index] = given[i];
            m_ids[given[i]] = ids[i];
        }
    }

    void unregisterObject( object* given ) override
    {
        clv_id id = id_of( given );
        m_space.remove( id );
        mark_changed();
        m_by_slot[id.index] = nullptr;
        m_ids.erase( given );
    }

    void clear() override
    {
        m_space.clear();
        mark_changed();
        m_ids.clear();
        m_by_slot.clear();
    }

    // ---- boxes

    /// Searches nothing: see above.
    void setup() override
    {
    }

    /// The boxes of all objects as they are now.
    void update() override
    {
        std::vector<clv_id> ids;
        std::vector<box> boxes;
        ids.reserve( m_ids.size() );
        boxes.reserve( m_ids.size() );
        for ( std::size_t slot = 0; slot < m_by_slot.size(); ++slot )
        {
            if ( m_by_slot[slot] != nullptr )
            {
                ids.push_back( m_space.id_at( static_cast<std::uint32_t>( slot ) ) );
                boxes.push_back( box_of( m_by_slot[slot] ) );
            }
        }
        m_space.move( ids, boxes );
        mark_changed();
    }

    void update( object* changed ) override
    {
        m_space.move( id_of( changed ), box_of( changed ) );
        mark_changed();
    }

    void update( const std::vector<object*>& changed ) override
    {
        for ( object* one : changed )
        {
            update( one );
        }
    }

    // ---- what touches

    /// Each pair once. A callback that returns true ends it, here and below.
    void collide( void* cdata, collision_callback callback ) const override
    {
        for ( const clv_pair& pair : touching() )
        {
            if ( callback( m_by_slot[pair.a], m_by_slot[pair.b], cdata ) )
            {
                return;
            }
        }
    }

    /// The object of the manager comes first. One that is registered meets itself too, as in FCL's trees.
    void collide( object* other, void* cdata, collision_callback callback ) const override
    {
        collide_one( other, [&]( object* mine ) { return callback( mine, other, cdata ); } );
    }

    /// With any other manager; with itself it is collide( cdata, callback ). The object of this one comes
    /// first.
    void collide( manager* other, void* cdata, collision_callback callback ) const override
    {
        if ( other == this )
        {
            return collide( cdata, callback );
        }
        for ( object* theirs : objects_of( other ) )
        {
            if ( collide_one( theirs, [&]( object* mine ) { return callback( mine, theirs, cdata ); } ) )
            {
                return;
            }
        }
    }

    // ---- how near

    /// Nearest boxes first, as long as they are nearer than the distance that the callback has found.
    void distance( object* other, void* cdata, distance_callback callback ) const override
    {
        S least = std::numeric_limits<S>::max();
        visit_near( box_of( other ), least,
            [&]( std::uint32_t slot ) { return callback( m_by_slot[slot], other, cdata, least ); } );
    }

    /// Touching boxes first, then the neighbours of each object.
    void distance( void* cdata, distance_callback callback ) const override
    {
        S least = std::numeric_limits<S>::max();
        for ( const clv_pair& pair : touching() )
        {
            if ( callback( m_by_slot[pair.a], m_by_slot[pair.b], cdata, least ) )
            {
                return;
            }
        }
        bool is_over = false;
        for ( std::uint32_t a = 0; a < m_by_slot.size() && !is_over; ++a )
        {
            if ( m_by_slot[a] == nullptr )
            {
                continue;
            }
            box own = stored_box( a );
            is_over = visit_near( own, least,
                [&]( std::uint32_t b )
                {
                    return b > a && !touches( own, stored_box( b ) ) &&
                        callback( m_by_slot[a], m_by_slot[b], cdata, least );
                } );
        }
    }

    void distance( manager* other, void* cdata, distance_callback callback ) const override
    {
        if ( other == this )
        {
            return distance( cdata, callback );
        }
        S least = std::numeric_limits<S>::max();
        for ( object* theirs : objects_of( other ) )
        {
            bool is_over = visit_near( box_of( theirs ), least,
                [&]( std::uint32_t slot ) { return callback( m_by_slot[slot], theirs, cdata, least ); } );
            if ( is_over )
            {
                return;
            }
        }
    }

    // ---- the rest

    /// In the order of their slots: that of registering, until one is unregistered.
    void getObjects( std::vector<object*>& objects ) const override
    {
        objects.clear();
        objects.reserve( m_ids.size() );
        std::copy_if( m_by_slot.begin(), m_by_slot.end(), std::back_inserter( objects ),
            []( const object* one ) { return one != nullptr; } );
    }

    bool empty() const override
    {
        return m_ids.empty();
    }

    std::size_t size() const override
    {
        return m_ids.size();
    }

    /// For statistics; its slots are those of getObjects.
    const clv_space* space() const
    {
        return m_space.get();
    }

  private:
    using world =
        typename std::conditional<std::is_same<S, double>::value, cleave::doubles, cleave::solid>::type;
    using space_type = cleave::basic_space<world, cleave::throwing>;
    using box = typename space_type::box_type;
    using hit = typename space_type::hit_type;

    static clv_space_def make_def( std::uint32_t worker_count )
    {
        clv_space_def def = space_type::default_def();
        def.worker_count = worker_count > 1 ? worker_count : 1;
        return def;
    }

    static box box_of( const object* given )
    {
        const fcl::AABB<S>& from = given->getAABB();
        return box{ { from.min_[0], from.min_[1], from.min_[2] },
            { from.max_[0], from.max_[1], from.max_[2] } };
    }

    box stored_box( std::uint32_t slot ) const
    {
        return m_space.get_box( m_space.id_at( slot ) );
    }

    static bool touches( const box& a, const box& b )
    {
        return a.lower.x <= b.upper.x && a.lower.y <= b.upper.y && a.lower.z <= b.upper.z &&
            b.lower.x <= a.upper.x && b.lower.y <= a.upper.y && b.lower.z <= a.upper.z;
    }

    clv_id id_of( object* given ) const
    {
        auto found = m_ids.find( given );
        if ( found == m_ids.end() )
        {
            throw std::invalid_argument( "cleave_manager: the object is not registered" );
        }
        return found->second;
    }

    static std::vector<object*> objects_of( manager* other )
    {
        std::vector<object*> objects;
        other->getObjects( objects );
        return objects;
    }

    void mark_changed()
    {
        m_is_refreshed = false;
        m_is_searched = false;
    }

    // Of several threads one brings the space up to date; then all read. Callbacks come after, without the
    // lock.
    template <class Bring, class Read> auto read( const bool& is_fresh, Bring bring, Read take ) const
    {
        for ( ;; )
        {
            {
                std::shared_lock<std::shared_mutex> lock( m_lock );
                if ( is_fresh )
                {
                    return take();
                }
            }
            std::unique_lock<std::shared_mutex> lock( m_lock );
            if ( !is_fresh )
            {
                bring();
            }
        }
    }

    std::vector<clv_pair> touching() const
    {
        return read(
            m_is_searched,
            [this]
            {
                m_space.update();
                m_is_searched = m_is_refreshed = true;
            },
            [this]
            {
                cleave::pair_view pairs = m_space.pairs();
                return std::vector<clv_pair>( pairs.begin(), pairs.end() );
            } );
    }

    template <class Ask> std::vector<hit> ask( Ask question ) const
    {
        return read(
            m_is_refreshed,
            [this]
            {
                m_space.refresh();
                m_is_refreshed = true;
            },
            question );
    }

    // True: the visitor ended it.
    template <class Visitor> bool collide_one( const object* other, Visitor visit ) const
    {
        for ( const hit& found : ask( [&] { return m_space.query_all( box_of( other ) ); } ) )
        {
            if ( visit( m_by_slot[found.index] ) )
            {
                return true;
            }
        }
        return false;
    }

    // Slots by the distance of their boxes, until it is `least`, which the visitor may lower, or the visitor
    // says true. The nearest few are what is most often needed; if more are asked for, all are sorted once.
    template <class Visitor> bool visit_near( const box& around, S& least, Visitor visit ) const
    {
        std::size_t visited = 0;
        for ( std::size_t wanted : { std::size_t( 8 ), std::size_t( 64 ), m_by_slot.size() } )
        {
            std::vector<hit> hits = wanted < m_by_slot.size()
                ? ask(
                      [&] {
                          return m_space.query_nearest( around, static_cast<std::uint32_t>( wanted ), least );
                      } )
                : ask( [&] { return all_near( around ); } );
            for ( ; visited < hits.size(); ++visited )
            {
                if ( hits[visited].t >= least )
                {
                    return false;
                }
                if ( visit( hits[visited].index ) )
                {
                    return true;
                }
            }
            if ( hits.size() < wanted || wanted >= m_by_slot.size() )
            {
                return false;
            }
        }
        return false;
    }

    std::vector<hit> all_near( const box& around ) const
    {
        std::vector<hit> hits;
        hits.reserve( m_by_slot.size() );
        const fcl::AABB<S> from = fcl_box( around );
        for ( std::uint32_t slot = 0; slot < m_by_slot.size(); ++slot )
        {
            if ( m_by_slot[slot] != nullptr )
            {
                hits.push_back( hit{ slot, from.distance( fcl_box( stored_box( slot ) ) ) } );
            }
        }
        std::sort( hits.begin(), hits.end(),
            []( const hit& a, const hit& b ) { return a.t != b.t ? a.t < b.t : a.index < b.index; } );
        return hits;
    }

    static fcl::AABB<S> fcl_box( const box& given )
    {
        fcl::AABB<S> made;
        made.min_ = fcl::Vector3<S>( given.lower.x, given.lower.y, given.lower.z );
        made.max_ = fcl::Vector3<S>( given.upper.x, given.upper.y, given.upper.z );
        return made;
    }

    mutable std::shared_mutex m_lock; ///< of the space's search; const calls hold it while they read
    mutable space_type m_space;
    mutable bool m_is_searched = true, m_is_refreshed = true;
    std::vector<object*> m_by_slot; ///< NULL: none
    std::unordered_map<const object*, clv_id> m_ids;
};
