// SPDX-License-Identifier: MIT
// cleave_broadphase under Bullet's own rules, against brute force over the boxes that Bullet gave and against
// a btDbvtBroadphase with the same proxies: worlds that fall and come to rest, random lives of proxies,
// callbacks that create and destroy, filters, rays, bad boxes.
#include "cleave_broadphase.h"

#include <LinearMath/btAabbUtil2.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <utility>

namespace
{

#define CHECK( condition )                                                                                   \
    do                                                                                                       \
    {                                                                                                        \
        if ( !( condition ) )                                                                                \
        {                                                                                                    \
            std::fprintf( stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition );                           \
            std::exit( 1 );                                                                                  \
        }                                                                                                    \
    } while ( false )

using pair_set = std::set<std::pair<int, int>>;
using proxies = std::vector<btBroadphaseProxy*>;

pair_set cached_pairs( btBroadphaseInterface& phase )
{
    pair_set all;
    const btBroadphasePair* pairs = phase.getOverlappingPairCache()->getOverlappingPairArrayPtr();
    int count = phase.getOverlappingPairCache()->getNumOverlappingPairs();
    for ( int i = 0; i < count; ++i )
    {
        int a = pairs[i].m_pProxy0->m_uniqueId, b = pairs[i].m_pProxy1->m_uniqueId;
        CHECK( all.insert( { std::min( a, b ), std::max( a, b ) } ).second ); // none twice
    }
    return all;
}

bool touch( const btBroadphaseProxy* a, const btBroadphaseProxy* b )
{
    return TestAabbAgainstAabb2( a->m_aabbMin, a->m_aabbMax, b->m_aabbMin, b->m_aabbMax );
}

pair_set touching_pairs( const proxies& all, const btOverlappingPairCache* cache )
{
    pair_set expected;
    for ( size_t i = 0; i < all.size(); ++i )
    {
        for ( size_t j = 0; j < i; ++j )
        {
            if ( touch( all[i], all[j] ) && cache->needsBroadphaseCollision( all[i], all[j] ) )
            {
                expected.insert( { std::min( all[i]->m_uniqueId, all[j]->m_uniqueId ),
                    std::max( all[i]->m_uniqueId, all[j]->m_uniqueId ) } );
            }
        }
    }
    return expected;
}

// The same proxies in Bullet's default, brought up to date at every step. It keeps pairs of enlarged boxes:
// those whose boxes touch as they were given are the ones to compare with.
struct mirror
{
    btDbvtBroadphase phase;
    std::map<int, btBroadphaseProxy*> twins; // by m_uniqueId of ours

    ~mirror()
    {
        follow( {} ); // it frees no proxy by itself
    }

    void follow( const proxies& all )
    {
        std::map<int, btBroadphaseProxy*> gone;
        gone.swap( twins );
        for ( const btBroadphaseProxy* one : all )
        {
            auto was = gone.find( one->m_uniqueId );
            btBroadphaseProxy* twin = nullptr;
            if ( was != gone.end() )
            {
                twin = was->second;
                gone.erase( was );
                phase.setAabb( twin, one->m_aabbMin, one->m_aabbMax, nullptr );
            }
            else
            {
                twin = phase.createProxy( one->m_aabbMin, one->m_aabbMax, BOX_SHAPE_PROXYTYPE,
                    const_cast<btBroadphaseProxy*>( one ), one->m_collisionFilterGroup,
                    one->m_collisionFilterMask, nullptr );
            }
            twins[one->m_uniqueId] = twin;
        }
        for ( auto& left : gone )
        {
            phase.destroyProxy( left.second, nullptr );
        }
        phase.calculateOverlappingPairs( nullptr );
    }

    pair_set pairs()
    {
        std::map<const btBroadphaseProxy*, int> ours;
        for ( auto& twin : twins )
        {
            ours[twin.second] = twin.first;
        }
        pair_set found;
        const btBroadphasePair* all = phase.getOverlappingPairCache()->getOverlappingPairArrayPtr();
        for ( int i = 0, count = phase.getOverlappingPairCache()->getNumOverlappingPairs(); i < count; ++i )
        {
            if ( touch( all[i].m_pProxy0, all[i].m_pProxy1 ) )
            {
                int a = ours.at( all[i].m_pProxy0 ), b = ours.at( all[i].m_pProxy1 );
                found.insert( { std::min( a, b ), std::max( a, b ) } );
            }
        }
        return found;
    }
};

// ---- a world of Bullet's

void a_falling_world_has_the_pairs_whose_boxes_touch()
{
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher( &configuration );
    cleave_broadphase phase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world( &dispatcher, &phase, &solver, &configuration );
    world.setGravity( btVector3( 0, -10, 0 ) );
    btBoxShape ground_shape( btVector3( 20, 1, 20 ) ), shape( btVector3( 0.5f, 0.5f, 0.5f ) );
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btDefaultMotionState>> states;
    auto add = [&]( btCollisionShape* with, float mass, const btVector3& where )
    {
        btVector3 inertia( 0, 0, 0 );
        if ( mass > 0 )
        {
            with->calculateLocalInertia( mass, inertia );
        }
        states.emplace_back( new btDefaultMotionState( btTransform( btQuaternion::getIdentity(), where ) ) );
        bodies.emplace_back( new btRigidBody( mass, states.back().get(), with, inertia ) );
        world.addRigidBody( bodies.back().get() );
    };
    add( &ground_shape, 0, btVector3( 0, -1, 0 ) );
    for ( int i = 0; i < 300; ++i )
    {
        add( &shape, 1,
            btVector3( 0.9f * float( i % 6 ), 1 + 1.1f * float( i / 36 ), 0.9f * float( i / 6 % 6 ) ) );
    }
    mirror dbvt;
    size_t most = 0;
    for ( int step = 0; step < 200; ++step )
    {
        world.performDiscreteCollisionDetection();
        proxies all;
        for ( int i = 0; i < world.getNumCollisionObjects(); ++i )
        {
            all.push_back( world.getCollisionObjectArray()[i]->getBroadphaseHandle() );
        }
        pair_set expected = touching_pairs( all, phase.getOverlappingPairCache() ),
                 found = cached_pairs( phase );
        CHECK( found == expected );
        dbvt.follow( all );
        CHECK( found == dbvt.pairs() );
        most = std::max( most, found.size() );
        world.stepSimulation( btScalar( 1 ) / 60, 1, btScalar( 1 ) / 60 );
        if ( step % 40 == 39 ) // and some go
        {
            world.removeRigidBody( bodies.back().get() );
            bodies.pop_back();
        }
    }
    CHECK( most > 600 );
    // A ray down through the pile, and what it meets first.
    btCollisionWorld::ClosestRayResultCallback closest( btVector3( 1, 50, 1 ), btVector3( 1, -50, 1 ) );
    world.rayTest( closest.m_rayFromWorld, closest.m_rayToWorld, closest );
    CHECK( closest.hasHit() && closest.m_hitPointWorld.y() > -1 );
    CHECK( phase.error_count() == 0 );
    for ( auto& body : bodies )
    {
        world.removeRigidBody( body.get() );
    }
    CHECK( phase.getOverlappingPairCache()->getNumOverlappingPairs() == 0 );
}

// ---- random lives

struct collect : btBroadphaseRayCallback
{
    std::set<int> found;
    bool process( const btBroadphaseProxy* proxy ) override
    {
        CHECK( found.insert( proxy->m_uniqueId ).second );
        return true;
    }
};

struct life
{
    std::mt19937 random;
    cleave_broadphase phase;
    proxies all;
    mirror dbvt;

    life( unsigned seed, btOverlappingPairCache* cache, unsigned workers )
        : random( seed ), phase( cache, workers )
    {
    }

    float number( float most )
    {
        return std::uniform_real_distribution<float>( 0, most )( random );
    }

    btVector3 point()
    {
        return btVector3( number( 10 ), number( 10 ), number( 10 ) );
    }

    void create()
    {
        btVector3 lower = point();
        int group = 1 << random() % 3, mask = random() % 4 == 0 ? 1 << random() % 3 : -1;
        all.push_back( phase.createProxy( lower, lower + btVector3( 1, number( 2 ), 1 ), BOX_SHAPE_PROXYTYPE,
            this, group, mask, nullptr ) );
    }

    void destroy()
    {
        size_t at = random() % all.size();
        phase.destroyProxy( all[at], nullptr );
        all[at] = all.back();
        all.pop_back();
    }

    void move()
    {
        btBroadphaseProxy* one = all[random() % all.size()];
        btVector3 way =
            ( point() - btVector3( 5, 5, 5 ) ) * ( random() % 8 == 0 ? btScalar( 1 ) : btScalar( 0.02 ) );
        phase.setAabb( one, one->m_aabbMin + way, one->m_aabbMax + way, nullptr );
    }

    void ask()
    {
        collect by_box, by_cast, by_ray;
        std::set<int> in_box;
        btVector3 lower = point(), upper = lower + point() * btScalar( 0.3 ), to = point();
        phase.aabbTest( lower, upper, by_box );
        for ( const btBroadphaseProxy* one : all )
        {
            if ( TestAabbAgainstAabb2( lower, upper, one->m_aabbMin, one->m_aabbMax ) )
            {
                in_box.insert( one->m_uniqueId );
            }
        }
        CHECK( by_box.found == in_box );
        phase.rayTest( lower, to, by_ray );
        phase.rayTest( lower, to, by_cast, btVector3( -0.5, -0.5, -0.5 ), btVector3( 0.5, 0.5, 0.5 ) );
        for ( const btBroadphaseProxy* one : all )
        {
            // Bullet's own test of a segment and a box.
            btScalar t = 1;
            btVector3 normal;
            if ( btRayAabb( lower, to, one->m_aabbMin, one->m_aabbMax, t, normal ) )
            {
                CHECK( by_ray.found.count( one->m_uniqueId ) == 1 &&
                    by_cast.found.count( one->m_uniqueId ) == 1 );
            }
        }
        for ( int uid : by_ray.found )
        {
            CHECK( by_cast.found.count( uid ) == 1 );
        }
    }

    void check()
    {
        phase.calculateOverlappingPairs( nullptr );
        CHECK( cached_pairs( phase ) == touching_pairs( all, phase.getOverlappingPairCache() ) );
        dbvt.follow( all );
        CHECK( cached_pairs( phase ) == dbvt.pairs() );
        CHECK( clv_space_object_count( phase.space() ) == all.size() ); // the destroyed leave the space, too
        btVector3 lower, upper;
        phase.getBroadphaseAabb( lower, upper );
        for ( const btBroadphaseProxy* one : all )
        {
            CHECK( lower.x() <= one->m_aabbMin.x() && upper.z() >= one->m_aabbMax.z() );
        }
    }
};

void live( unsigned seed, btOverlappingPairCache* cache, unsigned workers )
{
    life l( seed, cache, workers );
    for ( int i = 0; i < 120; ++i )
    {
        l.create();
    }
    for ( int step = 0; step < 400; ++step )
    {
        for ( unsigned i = 0, count = l.random() % 40; i < count; ++i )
        {
            l.move();
        }
        if ( l.random() % 3 == 0 )
        {
            l.create();
        }
        if ( l.random() % 3 == 0 && l.all.size() > 1 )
        {
            l.destroy();
        }
        if ( l.random() % 2 == 0 )
        {
            l.ask();
        }
        if ( l.random() % 4 != 0 )
        {
            l.check();
        }
    }
    while ( !l.all.empty() )
    {
        l.destroy();
    }
    l.phase.resetPool( nullptr );
    l.check();
    CHECK( l.phase.error_count() == 0 );
}

void random_lives_have_the_pairs_and_answers_of_brute_force()
{
    for ( unsigned seed = 1; seed <= 20; ++seed )
    {
        live( seed, nullptr, seed % 4 == 0 ? 3 : 1 );
    }
}

void a_sorted_cache_is_kept_clean()
{
    for ( unsigned seed = 1; seed <= 5; ++seed )
    {
        btSortedOverlappingPairCache cache;
        live( seed, &cache, 1 );
    }
}

// ---- callbacks that change the world

// Told of every pair as it begins and ends, as Bullet's ghost objects are.
struct meddler : btOverlappingPairCallback
{
    life* with = nullptr;
    int begun = 0, ended = 0;
    bool is_in = false;

    btBroadphasePair* addOverlappingPair( btBroadphaseProxy*, btBroadphaseProxy* ) override
    {
        begun += 1;
        if ( !is_in && begun % 5 == 0 && with->all.size() < 200 )
        {
            is_in = true;
            with->create();
            with->move();
            with->ask();
            is_in = false;
        }
        return nullptr;
    }

    void* removeOverlappingPair( btBroadphaseProxy*, btBroadphaseProxy*, btDispatcher* ) override
    {
        ended += 1;
        return nullptr;
    }

    void removeOverlappingPairsContainingProxy( btBroadphaseProxy*, btDispatcher* ) override
    {
    }
};

// Sets a box apart when a pair begins, once.
struct mover : btOverlappingPairCallback
{
    cleave_broadphase* phase = nullptr;
    btBroadphaseProxy* one = nullptr;

    btBroadphasePair* addOverlappingPair( btBroadphaseProxy*, btBroadphaseProxy* ) override
    {
        if ( one != nullptr )
        {
            phase->setAabb( one, btVector3( 100, 0, 0 ), btVector3( 101, 1, 1 ), nullptr );
            one = nullptr;
        }
        return nullptr;
    }

    void* removeOverlappingPair( btBroadphaseProxy*, btBroadphaseProxy*, btDispatcher* ) override
    {
        return nullptr;
    }

    void removeOverlappingPairsContainingProxy( btBroadphaseProxy*, btDispatcher* ) override
    {
    }
};

void a_sorted_cache_keeps_what_a_callback_sets_apart_and_back()
{
    btSortedOverlappingPairCache cache;
    cleave_broadphase phase( &cache );
    btVector3 lower( 0, 0, 0 ), upper( 1, 1, 1 );
    phase.createProxy( lower, upper, 0, nullptr, 1, -1, nullptr );
    btBroadphaseProxy* other = phase.createProxy( lower, upper, 0, nullptr, 1, -1, nullptr );
    mover callback;
    callback.phase = &phase;
    callback.one = other;
    cache.setInternalGhostPairCallback( &callback );
    phase.calculateOverlappingPairs( nullptr );
    phase.setAabb( other, lower, upper, nullptr );
    phase.calculateOverlappingPairs( nullptr );
    CHECK( cache.getNumOverlappingPairs() == 1 );
    phase.setAabb( other, lower + btVector3( 5, 0, 0 ), upper + btVector3( 5, 0, 0 ), nullptr );
    phase.calculateOverlappingPairs( nullptr );
    CHECK( cache.getNumOverlappingPairs() == 0 );
}

void callbacks_may_create_and_move_and_ask()
{
    life l( 7, nullptr, 1 );
    meddler callback;
    callback.with = &l;
    l.phase.getOverlappingPairCache()->setInternalGhostPairCallback( &callback );
    for ( int i = 0; i < 100; ++i )
    {
        l.create();
    }
    for ( int step = 0; step < 100; ++step )
    {
        for ( int i = 0; i < 10; ++i )
        {
            l.move();
        }
        l.phase.calculateOverlappingPairs( nullptr ); // changes the world
        callback.is_in = true;
        l.check(); // does not
        callback.is_in = false;
    }
    CHECK( callback.begun > 50 && callback.ended > 30 && l.all.size() > 105 );
    l.phase.getOverlappingPairCache()->setInternalGhostPairCallback( nullptr );
}

struct destroyer : btBroadphaseAabbCallback
{
    life* with = nullptr;
    int told = 0;
    bool process( const btBroadphaseProxy* proxy ) override
    {
        told += 1;
        CHECK(
            std::find( with->all.begin(), with->all.end(), proxy ) != with->all.end() ); // none that is gone
        with->destroy();
        return true;
    }
};

void who_was_destroyed_in_a_callback_is_not_told_of()
{
    life l( 3, nullptr, 1 );
    for ( int i = 0; i < 150; ++i )
    {
        l.create();
    }
    destroyer callback;
    callback.with = &l;
    l.phase.aabbTest( btVector3( -1, -1, -1 ), btVector3( 20, 20, 20 ), callback );
    CHECK( callback.told >= 75 && callback.told < 150 && l.all.size() == 150u - unsigned( callback.told ) );
    l.check();
}

// ---- filters and bad input

void a_mask_written_to_directly_is_asked_again_when_the_box_is_set()
{
    cleave_broadphase phase;
    btVector3 zero( 0, 0, 0 ), one( 1, 1, 1 );
    btBroadphaseProxy* a = phase.createProxy( zero, one, BOX_SHAPE_PROXYTYPE, nullptr, 1, 2, nullptr );
    btBroadphaseProxy* b = phase.createProxy( one, one + one, BOX_SHAPE_PROXYTYPE, nullptr, 1, 1, nullptr );
    phase.calculateOverlappingPairs( nullptr );
    CHECK( cached_pairs( phase ).empty() ); // touching, but filtered
    a->m_collisionFilterMask = 1;
    phase.setAabb( a, zero, one, nullptr );
    phase.calculateOverlappingPairs( nullptr );
    CHECK( cached_pairs( phase ).size() == 1 );
    phase.destroyProxy( b, nullptr );
    CHECK( cached_pairs( phase ).empty() ); // at once
    phase.calculateOverlappingPairs( nullptr );
    CHECK( cached_pairs( phase ).empty() );
}

void too_many_workers_are_refused()
{
    bool is_refused = false;
    try
    {
        cleave_broadphase phase( nullptr, CLV_MAX_WORKERS + 1 );
    }
    catch ( const std::invalid_argument& error )
    {
        is_refused = std::string( error.what() ).find( "257 workers" ) != std::string::npos;
    }
    CHECK( is_refused );
}

void what_is_no_box_is_refused_and_said()
{
    cleave_broadphase phase;
    btVector3 zero( 0, 0, 0 ), one( 1, 1, 1 ), bad( NAN, 0, 0 );
    btBroadphaseProxy* a = phase.createProxy( zero, one, BOX_SHAPE_PROXYTYPE, nullptr, 1, 1, nullptr );
    btBroadphaseProxy* b = phase.createProxy( bad, one, BOX_SHAPE_PROXYTYPE, nullptr, 1, 1, nullptr );
    phase.calculateOverlappingPairs( nullptr );
    CHECK( cached_pairs( phase ).empty() && phase.error_count() == 1 );
    phase.setAabb( b, zero, one, nullptr );
    phase.calculateOverlappingPairs( nullptr );
    CHECK( cached_pairs( phase ).size() == 1 );
    phase.setAabb( a, one, zero, nullptr ); // inside out
    phase.calculateOverlappingPairs( nullptr );
    CHECK( cached_pairs( phase ).size() == 1 && phase.error_count() == 2 && !phase.error().empty() );
    collect none;
    phase.rayTest( bad, one, none );
    CHECK( none.found.empty() && phase.error_count() == 3 );
    // Planes have boxes as large as floats go.
    phase.setAabb( a, btVector3( -BT_LARGE_FLOAT, -BT_LARGE_FLOAT, -BT_LARGE_FLOAT ),
        btVector3( BT_LARGE_FLOAT, 0, BT_LARGE_FLOAT ), nullptr );
    phase.calculateOverlappingPairs( nullptr );
    CHECK( cached_pairs( phase ).size() == 1 && phase.error_count() == 3 );
    phase.printStats();
}

} // namespace

int main()
{
    too_many_workers_are_refused();
    what_is_no_box_is_refused_and_said();
    a_mask_written_to_directly_is_asked_again_when_the_box_is_set();
    who_was_destroyed_in_a_callback_is_not_told_of();
    a_sorted_cache_keeps_what_a_callback_sets_apart_and_back();
    callbacks_may_create_and_move_and_ask();
    random_lives_have_the_pairs_and_answers_of_brute_force();
    a_sorted_cache_is_kept_clean();
    a_falling_world_has_the_pairs_whose_boxes_touch();
    std::puts( "cleave_broadphase: all of Bullet's rules kept" );
    return 0;
}
