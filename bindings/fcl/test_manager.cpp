// SPDX-License-Identifier: MIT
// cleave_manager beside FCL's own tree and brute force: random worlds in which objects come, go, move and are
// asked about.
#include "cleave_manager.h"

#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/broadphase/default_broadphase_callbacks.h>
#include <fcl/geometry/shape/box.h>
#include <fcl/geometry/shape/sphere.h>
#include <fcl/narrowphase/distance.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <set>
#include <thread>

#define CHECK( condition )                                                                                   \
    do                                                                                                       \
    {                                                                                                        \
        if ( !( condition ) )                                                                                \
        {                                                                                                    \
            std::printf( "%s:%d: %s, seed %u, step %d\n", __FILE__, __LINE__, #condition, s_seed, s_step );  \
            return 1;                                                                                        \
        }                                                                                                    \
    } while ( 0 )

static unsigned s_seed;
static int s_step;

template <typename S> struct scene
{
    using object = fcl::CollisionObject<S>;
    using pair_set = std::multiset<std::pair<object*, object*>>;

    explicit scene( unsigned seed ) : random( seed )
    {
    }

    S number( S lower, S upper )
    {
        return std::uniform_real_distribution<S>( lower, upper )( random );
    }

    void place( object* one )
    {
        fcl::Vector3<S> axis( number( -1, 1 ), number( -1, 1 ), number( -1, 1 ) );
        fcl::Transform3<S> pose = fcl::Transform3<S>::Identity();
        // Whole numbers among them, so that faces touch.
        bool is_whole = number( 0, 1 ) < S( 0.3 );
        pose.translation() = fcl::Vector3<S>( number( 0, 12 ), number( 0, 12 ), number( 0, 12 ) );
        if ( is_whole )
        {
            pose.translation() = pose.translation().array().round().matrix();
        }
        else if ( axis.norm() > S( 0.1 ) )
        {
            pose.linear() = Eigen::AngleAxis<S>( number( 0, 3 ), axis.normalized() ).toRotationMatrix();
        }
        one->setTransform( pose );
        one->computeAABB();
    }

    object* make()
    {
        std::shared_ptr<fcl::CollisionGeometry<S>> shape;
        if ( number( 0, 1 ) < S( 0.5 ) )
        {
            shape = std::make_shared<fcl::Sphere<S>>( S( 0.5 ) );
        }
        else
        {
            shape = std::make_shared<fcl::Box<S>>( S( 1 ), S( 1 ), S( 1 ) );
        }
        objects.push_back( std::make_unique<object>( shape ) );
        place( objects.back().get() );
        return objects.back().get();
    }

    std::unique_ptr<object> take( std::size_t i )
    {
        std::swap( objects[i], objects.back() );
        std::unique_ptr<object> taken = std::move( objects.back() );
        objects.pop_back();
        return taken;
    }

    std::mt19937 random;
    std::vector<std::unique_ptr<object>> objects;
};

template <typename S> struct collected
{
    typename scene<S>::pair_set pairs;
    std::size_t stop_after = std::size_t( -1 );
};

template <typename S> bool collect( fcl::CollisionObject<S>* a, fcl::CollisionObject<S>* b, void* data )
{
    auto* into = static_cast<collected<S>*>( data );
    into->pairs.insert( { std::min( a, b ), std::max( a, b ) } );
    return into->pairs.size() >= into->stop_after;
}

// Which of the two is the manager's own matters here.
template <typename S>
bool collect_ordered( fcl::CollisionObject<S>* a, fcl::CollisionObject<S>* b, void* data )
{
    static_cast<collected<S>*>( data )->pairs.insert( { a, b } );
    return false;
}

template <typename S> struct nearest
{
    S least = std::numeric_limits<S>::max();
    int calls = 0, stop_after = 1 << 30;
    bool tells = true; ///< false: the manager never learns of a distance, and has to show everything
    std::set<std::pair<const void*, const void*>> seen;
    bool has_repeated = false;
};

template <typename S>
bool find_nearest( fcl::CollisionObject<S>* a, fcl::CollisionObject<S>* b, void* data, S& distance )
{
    auto* into = static_cast<nearest<S>*>( data );
    into->has_repeated |=
        !into->seen.insert( { std::min<const void*>( a, b ), std::max<const void*>( a, b ) } ).second;
    if ( a != b )
    {
        into->least = std::min( into->least, a->getAABB().distance( b->getAABB() ) );
    }
    distance = into->tells ? into->least : std::numeric_limits<S>::max();
    return ++into->calls >= into->stop_after;
}

template <typename S>
int compare_self( const cleave_manager<S>& ours, const fcl::DynamicAABBTreeCollisionManager<S>& theirs )
{
    collected<S> a, b;
    ours.collide( &a, collect<S> );
    theirs.collide( &b, collect<S> );
    CHECK( a.pairs == b.pairs );
    collected<S> some;
    some.stop_after = a.pairs.size() / 2 + 1;
    ours.collide( &some, collect<S> );
    CHECK( some.pairs.size() == std::min( some.stop_after, a.pairs.size() ) );

    nearest<S> c, d, all;
    ours.distance( &c, find_nearest<S> );
    theirs.distance( &d, find_nearest<S> );
    CHECK( std::abs( c.least - d.least ) <= S( 1e-6 ) * ( 1 + d.least ) && !c.has_repeated );
    all.tells = false;
    ours.distance( &all, find_nearest<S> );
    int count = static_cast<int>( ours.size() );
    CHECK( all.calls == count * ( count - 1 ) / 2 && !all.has_repeated );
    nearest<S> few;
    few.stop_after = 3;
    few.tells = false;
    ours.distance( &few, find_nearest<S> );
    CHECK( few.calls == std::min( 3, all.calls ) );
    return 0;
}

template <typename S>
int compare_one( const cleave_manager<S>& ours, const fcl::DynamicAABBTreeCollisionManager<S>& theirs,
    fcl::CollisionObject<S>* one )
{
    collected<S> a, b;
    ours.collide( one, &a, collect_ordered<S> );
    theirs.collide( one, &b, collect_ordered<S> );
    CHECK( a.pairs == b.pairs );
    if ( !a.pairs.empty() )
    {
        collected<S> first;
        first.stop_after = 1;
        ours.collide( one, &first, collect<S> );
        CHECK( first.pairs.size() == 1 );
    }
    nearest<S> c, d, all;
    ours.distance( one, &c, find_nearest<S> );
    theirs.distance( one, &d, find_nearest<S> );
    CHECK( std::abs( c.least - d.least ) <= S( 1e-6 ) * ( 1 + d.least ) );
    all.tells = false;
    ours.distance( one, &all, find_nearest<S> );
    CHECK( all.calls == static_cast<int>( ours.size() ) && !all.has_repeated );
    return 0;
}

template <typename S>
int compare_managers(
    const cleave_manager<S>& ours, const fcl::DynamicAABBTreeCollisionManager<S>& theirs, scene<S>& other )
{
    cleave_manager<S> our_other;
    fcl::DynamicAABBTreeCollisionManager<S> their_other;
    for ( auto& one : other.objects )
    {
        our_other.registerObject( one.get() );
        their_other.registerObject( one.get() );
    }
    collected<S> a, b, c, d;
    ours.collide( &our_other, &a, collect_ordered<S> );
    theirs.collide( &their_other, &b, collect_ordered<S> );
    CHECK( a.pairs == b.pairs );
    ours.collide( &their_other, &c, collect_ordered<S> ); // any manager will do
    CHECK( c.pairs == b.pairs );
    ours.collide( const_cast<cleave_manager<S>*>( &ours ), &d, collect<S> );
    collected<S> self;
    ours.collide( &self, collect<S> );
    CHECK( d.pairs == self.pairs );
    nearest<S> e, f;
    ours.distance( &our_other, &e, find_nearest<S> );
    theirs.distance( &their_other, &f, find_nearest<S> );
    CHECK( std::abs( e.least - f.least ) <= S( 1e-6 ) * ( 1 + f.least ) );
    return 0;
}

template <typename S> int random_worlds( unsigned seed, std::size_t count, int steps )
{
    s_seed = seed;
    scene<S> world( seed ), other( seed + 1000 );
    cleave_manager<S> ours;
    fcl::DynamicAABBTreeCollisionManager<S> theirs;
    std::vector<fcl::CollisionObject<S>*> first;
    while ( first.size() < count )
    {
        first.push_back( world.make() );
    }
    while ( other.objects.size() < 20 )
    {
        other.make();
    }
    ours.registerObjects( first );
    theirs.registerObjects( first );
    ours.setup();
    theirs.setup();
    for ( s_step = 0; s_step < steps; ++s_step )
    {
        CHECK( compare_self( ours, theirs ) == 0 );
        CHECK( compare_one( ours, theirs, other.objects[0].get() ) == 0 );
        CHECK( compare_managers( ours, theirs, other ) == 0 );
        if ( !world.objects.empty() )
        {
            CHECK( compare_one( ours, theirs, world.objects[0].get() ) == 0 );
        }
        if ( s_step % 3 == 0 ) // all move, one call
        {
            for ( auto& one : world.objects )
            {
                world.place( one.get() );
            }
            ours.update();
            theirs.update();
        }
        else // some move, by name; some come and go
        {
            std::vector<fcl::CollisionObject<S>*> moved;
            for ( std::size_t i = 0; i < world.objects.size(); i += 4 )
            {
                world.place( world.objects[i].get() );
                moved.push_back( world.objects[i].get() );
            }
            ours.update( moved );
            theirs.update( moved );
            for ( int i = 0; i < 3 && !world.objects.empty(); ++i )
            {
                std::size_t which = world.random() % world.objects.size();
                ours.unregisterObject( world.objects[which].get() );
                theirs.unregisterObject( world.objects[which].get() );
                world.take( which );
                fcl::CollisionObject<S>* made = world.make();
                ours.registerObject( made );
                theirs.registerObject( made );
            }
            theirs.setup();
        }
        other.place( other.objects[0].get() );
        std::vector<fcl::CollisionObject<S>*> listed;
        ours.getObjects( listed );
        CHECK( listed.size() == world.objects.size() && ours.size() == listed.size() );
    }
    ours.clear();
    CHECK( ours.empty() );
    collected<S> none;
    ours.collide( &none, collect<S> );
    ours.collide( other.objects[0].get(), &none, collect<S> );
    CHECK( none.pairs.empty() );
    return 0;
}

// FCL's own callbacks, down to contacts: what programs pass.
static int default_callbacks_find_the_same()
{
    scene<double> world( 7 );
    cleave_manager<double> ours;
    fcl::DynamicAABBTreeCollisionManagerd theirs;
    for ( int i = 0; i < 60; ++i )
    {
        ours.registerObject( world.make() );
        theirs.registerObject( world.objects.back().get() );
    }
    fcl::DefaultCollisionData<double> a, b;
    a.request.num_max_contacts = b.request.num_max_contacts = 1000;
    ours.collide( &a, fcl::DefaultCollisionFunction<double> );
    theirs.collide( &b, fcl::DefaultCollisionFunction<double> );
    CHECK( a.result.isCollision() && a.result.numContacts() == b.result.numContacts() );
    fcl::DefaultDistanceData<double> c, d;
    ours.distance( &c, fcl::DefaultDistanceFunction<double> );
    theirs.distance( &d, fcl::DefaultDistanceFunction<double> );
    CHECK( std::abs( c.result.min_distance - d.result.min_distance ) < 1e-6 );
    return 0;
}

template <class Error, class Call> static bool throws( Call call )
{
    try
    {
        call();
    }
    catch ( const Error& )
    {
        return true;
    }
    return false;
}

static int bad_calls_are_refused_and_change_nothing()
{
    scene<double> world( 3 );
    cleave_manager<double> manager;
    auto* one = world.make();
    auto* two = world.make();
    manager.registerObject( one );
    CHECK( throws<std::invalid_argument>( [&] { manager.registerObject( one ); } ) );
    CHECK( throws<std::invalid_argument>( [&] { manager.registerObjects( { two, one } ); } ) );
    CHECK( throws<std::invalid_argument>( [&] { manager.registerObjects( { two, two } ); } ) );
    CHECK( throws<std::invalid_argument>( [&] { manager.unregisterObject( two ); } ) );
    CHECK( throws<std::invalid_argument>( [&] { manager.update( two ); } ) );
    fcl::Transform3d nowhere = fcl::Transform3d::Identity();
    nowhere.translation().setConstant( std::nan( "" ) );
    two->setTransform( nowhere );
    two->computeAABB();
    CHECK( throws<cleave::error>( [&] { manager.registerObject( two ); } ) );
    CHECK( throws<cleave::error>( [&] { manager.collide( two, nullptr, nullptr ); } ) );
    CHECK( manager.size() == 1 && clv_space_object_count( manager.space() ) == 1 );
    world.place( two );
    manager.registerObject( two );
    CHECK( manager.size() == 2 );
    CHECK( throws<cleave::error>( [] { cleave_manager<float> crowd( CLV_MAX_WORKERS + 1u ); } ) );
    return 0;
}

// The first of many threads searches; all get the same answers.
static int const_calls_may_be_concurrent()
{
    scene<double> world( 11 );
    cleave_manager<double> manager( 2 );
    for ( int i = 0; i < 300; ++i )
    {
        manager.registerObject( world.make() );
    }
    collected<double> expected;
    manager.collide( &expected, collect<double> );
    for ( s_step = 0; s_step < 20; ++s_step )
    {
        manager.update();
        collected<double> pairs[4];
        collected<double> hits[4];
        std::vector<std::thread> threads;
        for ( int i = 0; i < 4; ++i )
        {
            threads.emplace_back(
                [&, i]
                {
                    manager.collide(
                        world.objects[static_cast<std::size_t>( i )].get(), &hits[i], collect<double> );
                    manager.collide( &pairs[i], collect<double> );
                } );
        }
        for ( std::thread& thread : threads )
        {
            thread.join();
        }
        for ( int i = 0; i < 4; ++i )
        {
            CHECK( pairs[i].pairs == expected.pairs && !hits[i].pairs.empty() );
        }
    }
    return 0;
}

int main()
{
    int failed = 0;
    for ( unsigned seed = 1; seed <= 10 && failed == 0; ++seed )
    {
        std::size_t count = seed == 1 ? 0 : seed == 2 ? 1 : 40u * seed;
        failed |= random_worlds<double>( seed, count, 8 );
        failed |= random_worlds<float>( seed, count, 8 );
    }
    failed |= default_callbacks_find_the_same();
    failed |= bad_calls_are_refused_and_change_nothing();
    failed |= const_calls_may_be_concurrent();
    return failed;
}
