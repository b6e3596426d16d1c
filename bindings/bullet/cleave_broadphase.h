// SPDX-License-Identifier: MIT
// Cleave as the broad phase of a Bullet world. A program changes one line:
//
//   cleave_broadphase broadphase;                                  // in place of btDbvtBroadphase
//   btDiscreteDynamicsWorld world( &dispatcher, &broadphase, &solver, &configuration );
//
// Bullet hands boxes over one by one and may create and destroy proxies inside its callbacks. So all of that
// is collected, and reaches the space in batches: before the next search and before the next question. Pairs
// that begin and end go to Bullet's own pair cache, which asks its filters; a proxy whose group or mask was
// written to directly is asked about again when its box is next set.
//
// Boxes are those that Bullet gives, without a margin of ours: exactly the pairs whose boxes touch are in the
// cache after calculateOverlappingPairs. With btScalar as double, boxes are rounded outwards to float.
//
// A box that is not one (NaN, inside out) is refused: its proxy keeps the box it had, and error() says so.
// Out of memory, likewise: the pairs stay as they were. Both are counted, and error() has the last sentence.
#pragma once

#include "cleave/cleave.h"

#include <BulletCollision/BroadphaseCollision/btBroadphaseInterface.h>
#include <BulletCollision/BroadphaseCollision/btOverlappingPairCache.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

class cleave_broadphase : public btBroadphaseInterface
{
  public:
    /// `cache` NULL: one of its own, as Bullet's broad phases have it. `worker_count` 0 or 1: the caller's
    /// thread alone; std::invalid_argument for more than CLV_MAX_WORKERS.
    explicit cleave_broadphase( btOverlappingPairCache* cache = nullptr, unsigned worker_count = 1 )
        : m_own_cache( cache == nullptr ? new btHashedOverlappingPairCache : nullptr ),
          m_cache( cache == nullptr ? m_own_cache.get() : cache )
    {
        clv_space_def def = clv_default_space_def();
        def.events = true;
        def.worker_count = worker_count > 1 ? worker_count : 1;
        clv_result result = clv_space_create( &def, &m_space );
        if ( result == CLV_OUT_OF_MEMORY )
        {
            throw std::bad_alloc();
        }
        if ( result != CLV_OK )
        {
            throw std::invalid_argument( "cleave_broadphase: " + std::to_string( worker_count ) +
                " workers; at most " + std::to_string( CLV_MAX_WORKERS ) );
        }
    }

    ~cleave_broadphase() override
    {
        clv_space_destroy( m_space );
    }

    cleave_broadphase( const cleave_broadphase& ) = delete;
    cleave_broadphase& operator=( const cleave_broadphase& ) = delete;

    // ---- proxies

    btBroadphaseProxy* createProxy( const btVector3& aabbMin, const btVector3& aabbMax, int shapeType,
        void* userPtr, int collisionFilterGroup, int collisionFilterMask, btDispatcher* dispatcher ) override
    {
        (void)shapeType;
        (void)dispatcher;
        std::unique_ptr<proxy> fresh(
            new proxy( aabbMin, aabbMax, userPtr, collisionFilterGroup, collisionFilterMask ) );
        fresh->m_uniqueId = ++m_last_uid;
        fresh->place = m_proxies.size();
        if ( !is_box( aabbMin, aabbMax ) )
        {
            note_error( "createProxy: not a box; it meets nothing until its box is set" );
        }
        m_proxies.push_back( std::move( fresh ) );
        proxy* made = m_proxies.back().get();
        note_change( made );
        return made;
    }

    void destroyProxy( btBroadphaseProxy* given, btDispatcher* dispatcher ) override
    {
        proxy* gone = static_cast<proxy*>( given );
        m_is_behind = true;
        m_cache->removeOverlappingPairsContainingProxy( gone, dispatcher );
        if ( !clv_id_is_null( gone->id ) )
        {
            m_removed.push_back( gone->id );
            m_by_slot[gone->id.index] = nullptr;
        }
        if ( gone->is_noted )
        {
            m_changed[gone->note] = nullptr;
        }
        m_proxies.back()->place = gone->place;
        std::swap( m_proxies[gone->place], m_proxies.back() );
        m_proxies.pop_back();
    }

    void setAabb( btBroadphaseProxy* given, const btVector3& aabbMin, const btVector3& aabbMax,
        btDispatcher* dispatcher ) override
    {
        (void)dispatcher;
        proxy* moved = static_cast<proxy*>( given );
        if ( !is_box( aabbMin, aabbMax ) )
        {
            note_error( "setAabb: not a box; the proxy keeps the one it had" );
            return;
        }
        moved->m_aabbMin = aabbMin;
        moved->m_aabbMax = aabbMax;
        note_change( moved );
    }

    void getAabb( btBroadphaseProxy* given, btVector3& aabbMin, btVector3& aabbMax ) const override
    {
        aabbMin = given->m_aabbMin;
        aabbMax = given->m_aabbMax;
    }

    // ---- pairs

    void calculateOverlappingPairs( btDispatcher* dispatcher ) override
    {
        if ( !hand_over() || !is_ok( clv_space_update( m_space ) ) )
        {
            return;
        }
        m_is_behind = false;
        // Copied, for the cache calls back: proxies may come and go there, and questions be asked.
        clv_event_view events = clv_space_events( m_space );
        std::vector<clv_id_pair> begun( events.begun, events.begun + events.begun_count );
        std::vector<clv_id_pair> ended( events.ended, events.ended + events.ended_count );
        std::vector<clv_id> asked;
        std::vector<uid_pair> gone;
        asked.swap( m_refiltered );
        for ( const clv_id_pair& pair : ended )
        {
            proxy *a = proxy_of( pair.a ), *b = proxy_of( pair.b );
            if ( a != nullptr && b != nullptr )
            {
                gone.push_back( uids_of( a, b ) );
                m_cache->removeOverlappingPair( a, b, dispatcher );
            }
        }
        for ( const clv_id_pair& pair : begun )
        {
            put_pair( proxy_of( pair.a ), proxy_of( pair.b ) );
        }
        for ( clv_id id : asked )
        {
            ask_again( id );
        }
        if ( m_cache->hasDeferredRemoval() )
        {
            remove_deferred( std::move( gone ), dispatcher );
        }
    }

    btOverlappingPairCache* getOverlappingPairCache() override
    {
        return m_cache;
    }

    const btOverlappingPairCache* getOverlappingPairCache() const override
    {
        return m_cache;
    }

    // ---- questions

    void rayTest( const btVector3& rayFrom, const btVector3& rayTo, btBroadphaseRayCallback& rayCallback,
        const btVector3& aabbMin = btVector3( 0, 0, 0 ),
        const btVector3& aabbMax = btVector3( 0, 0, 0 ) ) override
    {
        clv_vec3 from = near_vec( rayFrom ), to = near_vec( rayTo );
        clv_ray ray = clv_segment( from, to );
        clv_box_cast cast = { grown_box( rayFrom + aabbMin, rayFrom + aabbMax ), ray.direction, 1 };
        bool is_point = from.x == to.x && from.y == to.y && from.z == to.z;
        bool is_ray = aabbMin.isZero() && aabbMax.isZero();
        tell( is_point   ? clv_query_boxes( &cast.box, 1 )
                : is_ray ? clv_query_rays( &ray, 1 )
                         : clv_query_box_casts( &cast, 1 ),
            rayCallback );
    }

    void aabbTest(
        const btVector3& aabbMin, const btVector3& aabbMax, btBroadphaseAabbCallback& callback ) override
    {
        clv_aabb box = grown_box( aabbMin, aabbMax );
        tell( clv_query_boxes( &box, 1 ), callback );
    }

    void getBroadphaseAabb( btVector3& aabbMin, btVector3& aabbMax ) const override
    {
        aabbMin.setValue( 0, 0, 0 );
        aabbMax.setValue( 0, 0, 0 );
        for ( size_t i = 0; i < m_proxies.size(); ++i )
        {
            aabbMin = i == 0 ? m_proxies[i]->m_aabbMin : aabbMin;
            aabbMax = i == 0 ? m_proxies[i]->m_aabbMax : aabbMax;
            aabbMin.setMin( m_proxies[i]->m_aabbMin );
            aabbMax.setMax( m_proxies[i]->m_aabbMax );
        }
    }

    // ---- the rest

    /// As a new one, if there are no proxies: the same calls then give the same order of pairs again.
    void resetPool( btDispatcher* dispatcher ) override
    {
        (void)dispatcher;
        if ( m_proxies.empty() )
        {
            clv_space_clear( m_space );
            m_removed.clear();
            m_changed.clear();
            m_refiltered.clear();
            m_by_slot.clear();
            m_last_uid = 0;
        }
    }

    void printStats() override
    {
        clv_stats stats = clv_space_stats( m_space );
        std::printf( "cleave_broadphase: %u proxies, %llu pairs, %llu errors%s%s\n",
            static_cast<unsigned>( m_proxies.size() ), static_cast<unsigned long long>( stats.pair_count ),
            m_error_count, m_error.empty() ? "" : ", the last: ", m_error.c_str() );
    }

    /// What went wrong last, or "".
    const std::string& error() const
    {
        return m_error;
    }

    unsigned long long error_count() const
    {
        return m_error_count;
    }

    /// For statistics; its objects are the proxies', its ids are not theirs.
    const clv_space* space() const
    {
        return m_space;
    }

  private:
    struct proxy : btBroadphaseProxy
    {
        proxy( const btVector3& lower, const btVector3& upper, void* user, int group, int mask )
            : btBroadphaseProxy( lower, upper, user, group, mask ), id( clv_null_id() ), last_group( group ),
              last_mask( mask )
        {
        }

        BT_DECLARE_ALIGNED_ALLOCATOR();

        clv_id id;        ///< null until it is handed over
        size_t place = 0; ///< in m_proxies
        size_t note = 0;  ///< in m_changed, while is_noted
        bool is_noted = false;
        int last_group, last_mask; ///< when its box was last set
    };

    static float lower_float( btScalar value )
    {
        float near = static_cast<float>( value );
        return static_cast<btScalar>( near ) > value
            ? std::nextafter( near, -std::numeric_limits<float>::infinity() )
            : near;
    }

    static float upper_float( btScalar value )
    {
        return -lower_float( -value );
    }

    static clv_vec3 near_vec( const btVector3& v )
    {
        return clv_vec3{ static_cast<float>( v.x() ), static_cast<float>( v.y() ),
            static_cast<float>( v.z() ) };
    }

    static clv_aabb grown_box( const btVector3& lower, const btVector3& upper )
    {
        return clv_aabb{ { lower_float( lower.x() ), lower_float( lower.y() ), lower_float( lower.z() ) },
            { upper_float( upper.x() ), upper_float( upper.y() ), upper_float( upper.z() ) } };
    }

    static bool is_box( const btVector3& lower, const btVector3& upper )
    {
        return lower.x() <= upper.x() && lower.y() <= upper.y() && lower.z() <= upper.z();
    }

    void note_error( const char* sentence )
    {
        m_error = sentence;
        m_error_count += 1;
    }

    void note_change( proxy* changed )
    {
        m_is_behind = true;
        if ( !changed->is_noted )
        {
            changed->is_noted = true;
            changed->note = m_changed.size();
            m_changed.push_back( changed );
        }
    }

    proxy* proxy_of( clv_id id ) const
    {
        proxy* found = id.index < m_by_slot.size() ? m_by_slot[id.index] : nullptr;
        return found != nullptr && clv_id_equals( found->id, id ) ? found : nullptr;
    }

    // All that was collected, to the space. False if that failed: then it is tried again with the next search
    // or question.
    bool hand_over()
    {
        if ( !m_removed.empty() &&
            !is_ok(
                clv_space_remove( m_space, m_removed.data(), static_cast<uint32_t>( m_removed.size() ) ) ) )
        {
            return false;
        }
        m_removed.clear();
        m_ids.clear();
        m_fresh.clear();
        for ( proxy* changed : m_changed )
        {
            if ( changed != nullptr && clv_id_is_null( changed->id ) &&
                is_box( changed->m_aabbMin, changed->m_aabbMax ) )
            {
                m_fresh.push_back( changed );
            }
            else if ( changed != nullptr && !clv_id_is_null( changed->id ) )
            {
                m_ids.push_back( changed->id );
                note_filter( changed );
            }
        }
        if ( !m_ids.empty() && !is_ok( move_changed() ) )
        {
            return false;
        }
        if ( !m_fresh.empty() && !add_fresh() )
        {
            return false;
        }
        for ( proxy* changed : m_changed )
        {
            if ( changed != nullptr )
            {
                changed->is_noted = false;
            }
        }
        m_changed.clear();
        return true;
    }

    // Where half or more have moved, the boxes of all in the order of their slots are quicker than those by
    // their ids.
    clv_result move_changed()
    {
        m_boxes.clear();
        if ( 2 * m_ids.size() < clv_space_object_count( m_space ) )
        {
            for ( clv_id id : m_ids )
            {
                const proxy* one = m_by_slot[id.index];
                m_boxes.push_back( grown_box( one->m_aabbMin, one->m_aabbMax ) );
            }
            return clv_space_move(
                m_space, m_ids.data(), m_boxes.data(), static_cast<uint32_t>( m_ids.size() ) );
        }
        for ( const proxy* one : m_by_slot )
        {
            if ( one != nullptr )
            {
                m_boxes.push_back( grown_box( one->m_aabbMin, one->m_aabbMax ) );
            }
        }
        return clv_space_move_all( m_space, m_boxes.data(), static_cast<uint32_t>( m_boxes.size() ) );
    }

    bool add_fresh()
    {
        m_boxes.clear();
        for ( proxy* one : m_fresh )
        {
            m_boxes.push_back( grown_box( one->m_aabbMin, one->m_aabbMax ) );
        }
        m_ids.resize( m_fresh.size() );
        if ( !is_ok( clv_space_add(
                 m_space, m_boxes.data(), static_cast<uint32_t>( m_boxes.size() ), m_ids.data() ) ) )
        {
            return false;
        }
        for ( size_t i = 0; i < m_fresh.size(); ++i )
        {
            m_fresh[i]->id = m_ids[i];
            if ( m_ids[i].index >= m_by_slot.size() )
            {
                m_by_slot.resize( m_ids[i].index + 1, nullptr );
            }
            m_by_slot[m_ids[i].index] = m_fresh[i];
        }
        return true;
    }

    bool is_ok( clv_result result )
    {
        if ( result != CLV_OK )
        {
            const char* text =
                clv_space_error( m_space ).text; // questions, which do not change a space, leave none
            note_error( text[0] != 0 ? text : clv_result_text( result ) );
        }
        return result == CLV_OK;
    }

    // Bullet's programs write to these members without a call.
    void note_filter( proxy* changed )
    {
        if ( changed->last_group != changed->m_collisionFilterGroup ||
            changed->last_mask != changed->m_collisionFilterMask )
        {
            changed->last_group = changed->m_collisionFilterGroup;
            changed->last_mask = changed->m_collisionFilterMask;
            m_refiltered.push_back( changed->id );
        }
    }

    // In the order of their numbers, as Bullet's own broad phases do; twice is once.
    void put_pair( proxy* a, proxy* b )
    {
        if ( a != nullptr && b != nullptr && a != b )
        {
            bool is_known = m_cache->hasDeferredRemoval() && m_cache->findPair( a, b ) != nullptr;
            if ( !is_known )
            {
                m_cache->addOverlappingPair(
                    a->m_uniqueId < b->m_uniqueId ? a : b, a->m_uniqueId < b->m_uniqueId ? b : a );
            }
        }
    }

    void ask_again( clv_id id )
    {
        proxy* one = proxy_of( id );
        if ( one != nullptr )
        {
            clv_aabb box = grown_box( one->m_aabbMin, one->m_aabbMax );
            std::vector<clv_id> met = find( clv_query_boxes( &box, 1 ) );
            for ( clv_id other : met )
            {
                put_pair( proxy_of( id ), proxy_of( other ) );
            }
        }
    }

    using uid_pair = std::pair<int, int>;

    static uid_pair uids_of( const btBroadphaseProxy* a, const btBroadphaseProxy* b )
    {
        return { std::min( a->m_uniqueId, b->m_uniqueId ), std::max( a->m_uniqueId, b->m_uniqueId ) };
    }

    // A sorted cache leaves it to the broad phase to take out what has ended. What has not stays, wherever
    // callbacks have set its boxes since, and though doubles may tell apart what touches in floats: it would
    // not begin again.
    void remove_deferred( std::vector<uid_pair> ended, btDispatcher* dispatcher )
    {
        std::sort( ended.begin(), ended.end() );
        btBroadphasePairArray& pairs = m_cache->getOverlappingPairArray();
        int kept = 0;
        for ( int i = 0; i < pairs.size(); ++i )
        {
            btBroadphasePair& pair = pairs[i];
            bool is_alive = pair.m_pProxy0 != nullptr && pair.m_pProxy1 != nullptr &&
                !std::binary_search( ended.begin(), ended.end(), uids_of( pair.m_pProxy0, pair.m_pProxy1 ) );
            if ( is_alive )
            {
                pairs[kept++] = pair;
            }
            else
            {
                m_cache->cleanOverlappingPair( pair, dispatcher );
            }
        }
        pairs.resize( kept );
        pairs.quickSort( btBroadphasePairSortPredicate() );
    }

    // What a question finds, by ids, since a callback may destroy what it has not been told of yet.
    std::vector<clv_id> find( clv_queries queries )
    {
        std::vector<clv_id> found;
        clv_query_lists lists = {};
        clv_result result = CLV_NO_ROOM;
        while ( result == CLV_NO_ROOM )
        {
            m_hits.resize( static_cast<size_t>( lists.count > m_hits.size() ? lists.count : m_hits.size() ) );
            lists.hits = m_hits.data();
            lists.capacity = m_hits.size();
            result = clv_space_query_all( m_space, &queries, &lists );
        }
        if ( is_ok( result ) )
        {
            for ( uint64_t i = 0; i < lists.count; ++i )
            {
                found.push_back( clv_space_id_at( m_space, m_hits[static_cast<size_t>( i )].index ) );
            }
        }
        return found;
    }

    void tell( clv_queries queries, btBroadphaseAabbCallback& callback )
    {
        if ( m_is_behind && hand_over() && is_ok( clv_space_refresh( m_space ) ) )
        {
            m_is_behind = false;
        }
        for ( clv_id id : find( queries ) )
        {
            proxy* one = proxy_of( id );
            if ( one != nullptr )
            {
                callback.process( one );
            }
        }
    }

    std::unique_ptr<btOverlappingPairCache> m_own_cache;
    btOverlappingPairCache* m_cache;
    clv_space* m_space = nullptr;
    std::vector<std::unique_ptr<proxy>> m_proxies;
    std::vector<proxy*> m_by_slot; ///< NULL: none, or destroyed since
    std::vector<proxy*> m_changed; ///< new, or with another box; NULL: destroyed since
    std::vector<clv_id> m_removed, m_refiltered;
    bool m_is_behind = false; ///< something was collected, or handed over after the last search
    int m_last_uid = 0;
    std::string m_error;
    unsigned long long m_error_count = 0;

    // Kept for their memory.
    std::vector<clv_id> m_ids;
    std::vector<clv_aabb> m_boxes;
    std::vector<proxy*> m_fresh;
    std::vector<clv_hit> m_hits;
};
