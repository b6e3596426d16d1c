// SPDX-License-Identifier: MIT
// A Bullet world whose broad phase is Cleave: a tower that shall stand, boxes that rain on the ground around
// it, and a ray from above. One line differs from a program with Bullet's own tree; to compare, both are in
// here.
//
// Usage: bullet-world [dbvt]
#include "cleave_broadphase.h"

#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace
{

enum
{
    STOREYS = 8,
    RAIN = 400,
    STEPS = 600 // 10 seconds
};

std::unique_ptr<btBroadphaseInterface> make_broadphase( bool is_ours )
{
    if ( is_ours )
    {
        return std::unique_ptr<btBroadphaseInterface>( new cleave_broadphase ); // the line that differs
    }
    return std::unique_ptr<btBroadphaseInterface>( new btDbvtBroadphase );
}

struct scene
{
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{ &configuration };
    btSequentialImpulseConstraintSolver solver;
    std::unique_ptr<btBroadphaseInterface> broadphase;
    btDiscreteDynamicsWorld world;
    btBoxShape ground{ btVector3( 100, 1, 100 ) }, cube{ btVector3( 0.5f, 0.5f, 0.5f ) };
    std::vector<std::unique_ptr<btRigidBody>> bodies; // the ground, the tower, the rain

    explicit scene( bool is_ours )
        : broadphase( make_broadphase( is_ours ) ),
          world( &dispatcher, broadphase.get(), &solver, &configuration )
    {
        add( &ground, 0, btVector3( 0, -1, 0 ) );
        for ( int i = 0; i < STOREYS; ++i )
        {
            add( &cube, 1, btVector3( 0, 0.5f + float( i ), 0 ) );
        }
        for ( int i = 0; i < RAIN; ++i ) // on a square ring, so that none falls onto the tower
        {
            float x = 1.5f * float( i % 20 ) - 14.25f, z = 1.5f * float( i / 20 % 4 );
            bool is_front = i / 80 % 2 == 0;
            add( &cube, 1, btVector3( x, 2 + 1.5f * float( i / 160 ), is_front ? 6 + z : -6 - z ) );
        }
    }

    ~scene()
    {
        for ( auto& body : bodies )
        {
            world.removeRigidBody( body.get() );
        }
    }

    void add( btCollisionShape* shape, float mass, const btVector3& where )
    {
        btVector3 inertia( 0, 0, 0 );
        if ( mass > 0 )
        {
            shape->calculateLocalInertia( mass, inertia );
        }
        btRigidBody::btRigidBodyConstructionInfo info( mass, nullptr, shape, inertia );
        info.m_startWorldTransform = btTransform( btQuaternion::getIdentity(), where );
        bodies.emplace_back( new btRigidBody( info ) );
        world.addRigidBody( bodies.back().get() );
    }
};

// Bounds and not digits: the order of contacts differs between broad phases, and with it the last digits.
void report( scene& s )
{
    int standing = 0, resting = 0, sunk = 0;
    for ( size_t i = 1; i < s.bodies.size(); ++i )
    {
        const btVector3& place = s.bodies[i]->getWorldTransform().getOrigin();
        bool is_tower = i <= STOREYS;
        standing += is_tower && std::fabs( place.y() - ( float( i ) - 0.5f ) ) < 0.1f &&
            std::fabs( place.x() ) < 0.2f;
        resting += !is_tower && s.bodies[i]->getLinearVelocity().length() < 0.5f;
        sunk += place.y() < 0.4f;
    }
    btVector3 from( 0, 50, 0 ), to( 0, -50, 0 );
    btCollisionWorld::ClosestRayResultCallback ray( from, to );
    s.world.rayTest( from, to, ray );
    std::printf( "a tower of %d stands: %s\n", STOREYS, standing == STOREYS ? "yes" : "no" );
    std::printf( "all %d boxes of the rain have come to rest, none in the ground: %s\n", RAIN,
        resting == RAIN && sunk == 0 ? "yes" : "no" );
    std::printf( "a ray from above meets the top of the tower: %s\n",
        ray.hasHit() && ray.m_collisionObject == s.bodies[STOREYS].get() ? "yes" : "no" );
}

} // namespace

int main( int argc, char** argv )
{
    bool is_ours = argc < 2 || std::strcmp( argv[1], "dbvt" ) != 0;
    scene s( is_ours );
    for ( int i = 0; i < STEPS; ++i )
    {
        s.world.stepSimulation( btScalar( 1 ) / 60, 0 );
    }
    std::printf( "%d bodies, %d steps\n", s.world.getNumCollisionObjects(), STEPS );
    report( s );
    return 0;
}
