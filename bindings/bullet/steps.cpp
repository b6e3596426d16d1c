// SPDX-License-Identifier: MIT
// Whole steps of a Bullet world under four broad phases: Bullet's tree as it comes and deferred, its
// three-axis sweep, and ours. All of them start from one snapshot, so that they see the same world.
// bench/bullet.md has its results.
//
//   bullet_steps [--scene NAME] [--keep FOLDER [--prepare]] [BODIES]...       default: every scene, 1000 8000
//
// --keep reads the snapshot of a scene from FOLDER, or writes it there the first time: 32,000 bodies take
// minutes to come to rest. --prepare writes it and measures nothing.
#include "cleave_broadphase.h"

#include <BulletCollision/BroadphaseCollision/btAxisSweep3.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>

namespace
{

enum
{
    STEPS = 20 // measured
};

// Of the processor: others use it too.
double ms_since( std::clock_t begin )
{
    return 1e3 * double( std::clock() - begin ) / CLOCKS_PER_SEC;
}

// Tells how much of a step the broad phase takes: boxes handed over and pairs found.
class timed_world : public btDiscreteDynamicsWorld
{
  public:
    using btDiscreteDynamicsWorld::btDiscreteDynamicsWorld;
    double broad_ms = 0;

    void performDiscreteCollisionDetection() override
    {
        std::clock_t begin = std::clock();
        updateAabbs();
        computeOverlappingPairs();
        broad_ms += ms_since( begin );
        getDispatcher()->dispatchAllCollisionPairs(
            getBroadphase()->getOverlappingPairCache(), getDispatchInfo(), getDispatcher() );
    }
};

std::unique_ptr<btBroadphaseInterface> make_phase( const std::string& name, int bodies )
{
    btVector3 most( 1000, 1000, 1000 );
    if ( name == "sweep" )
    {
        return std::unique_ptr<btBroadphaseInterface>(
            new bt32BitAxisSweep3( -most, most, static_cast<unsigned>( bodies ) + 16 ) );
    }
    if ( name == "cleave" )
    {
        return std::unique_ptr<btBroadphaseInterface>( new cleave_broadphase );
    }
    btDbvtBroadphase* tree = new btDbvtBroadphase;
    tree->m_deferedcollide = name == "dbvt deferred";
    return std::unique_ptr<btBroadphaseInterface>( tree );
}

struct scene
{
    const char* name;
    int before;      ///< steps until the snapshot
    bool is_stirred; ///< without weight, and pushed about
    float spacing;   ///< of the cubes at the start, which have sides of 1
};

// Never destroyed: for every body that goes Bullet looks through all pairs, which takes
// minutes with 32,000 bodies.
struct world
{
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{ &configuration };
    btSequentialImpulseConstraintSolver solver;
    std::unique_ptr<btBroadphaseInterface> phase;
    timed_world dynamics;
    btBoxShape ground{ btVector3( 200, 1, 200 ) }, shape{ btVector3( 0.5f, 0.5f, 0.5f ) };
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::mt19937 random{ 1 };
    bool is_stirred;

    world( const std::string& name, const scene& of, int count )
        : phase( make_phase( name, count ) ), dynamics( &dispatcher, phase.get(), &solver, &configuration ),
          is_stirred( of.is_stirred )
    {
        dynamics.setGravity( btVector3( 0, is_stirred ? 0 : -10, 0 ) );
        add( &ground, 0, btVector3( 0, -1, 0 ) );
        int side = std::max( 1, static_cast<int>( std::cbrt( double( count ) / 2 ) ) );
        for ( int i = 0; i < count; ++i )
        {
            float shift = 0.1f * float( i / ( side * side ) % 3 );
            add( &shape, 1,
                btVector3( of.spacing * float( i % side ) + shift,
                    1 + of.spacing * float( i / ( side * side ) ),
                    of.spacing * float( i / side % side ) + shift ) );
        }
    }

    void add( btCollisionShape* with, float mass, const btVector3& where )
    {
        btVector3 inertia( 0, 0, 0 );
        if ( mass > 0 )
        {
            with->calculateLocalInertia( mass, inertia );
        }
        btRigidBody::btRigidBodyConstructionInfo info( mass, nullptr, with, inertia );
        info.m_startWorldTransform = btTransform( btQuaternion::getIdentity(), where );
        bodies.emplace_back( new btRigidBody( info ) );
        dynamics.addRigidBody( bodies.back().get() );
    }

    void copy( const world& from )
    {
        random = from.random;
        for ( size_t i = 0; i < bodies.size(); ++i )
        {
            bodies[i]->setWorldTransform( from.bodies[i]->getWorldTransform() );
            bodies[i]->setInterpolationWorldTransform( from.bodies[i]->getWorldTransform() );
            bodies[i]->setLinearVelocity( from.bodies[i]->getLinearVelocity() );
            bodies[i]->setAngularVelocity( from.bodies[i]->getAngularVelocity() );
            bodies[i]->forceActivationState( from.bodies[i]->getActivationState() );
            bodies[i]->setDeactivationTime( from.bodies[i]->getDeactivationTime() );
            dynamics.updateSingleAabb( bodies[i].get() );
        }
    }

    // What copy() takes over, as it lies in memory: a snapshot is read by the program that wrote it.
    struct state
    {
        btTransform place;
        btVector3 velocity, spin;
        int activation;
        btScalar idle;
    };

    bool save( const std::string& path ) const
    {
        std::ofstream file( path, std::ios::binary );
        for ( const auto& body : bodies )
        {
            state one = {};
            one.place = body->getWorldTransform();
            one.velocity = body->getLinearVelocity();
            one.spin = body->getAngularVelocity();
            one.activation = body->getActivationState();
            one.idle = body->getDeactivationTime();
            file.write( reinterpret_cast<const char*>( &one ), sizeof( one ) );
        }
        file << random;
        return bool( file.flush() );
    }

    bool load( const std::string& path )
    {
        std::ifstream file( path, std::ios::binary );
        for ( auto& body : bodies )
        {
            state one;
            file.read( reinterpret_cast<char*>( &one ), sizeof( one ) );
            if ( !file )
            {
                return false;
            }
            body->setWorldTransform( one.place );
            body->setLinearVelocity( one.velocity );
            body->setAngularVelocity( one.spin );
            body->forceActivationState( one.activation );
            body->setDeactivationTime( one.idle );
        }
        return bool( file >> random );
    }

    void step()
    {
        if ( is_stirred )
        {
            std::uniform_real_distribution<float> push( -2, 2 );
            for ( size_t i = 1; i < bodies.size(); ++i )
            {
                bodies[i]->activate();
                bodies[i]->setLinearVelocity( bodies[i]->getLinearVelocity() * btScalar( 0.9 ) +
                    btVector3( push( random ), push( random ), push( random ) ) );
            }
        }
        dynamics.stepSimulation( btScalar( 1 ) / 60, 1, btScalar( 1 ) / 60 );
    }
};

// The scene after its first steps; from the file if there is one, and to it if not. An empty path: no file.
void run_until_snapshot( world& reference, const scene& of, const std::string& path )
{
    if ( !path.empty() && reference.load( path ) )
    {
        return;
    }
    for ( int i = 0; i < of.before; ++i )
    {
        reference.step();
    }
    if ( !path.empty() && !reference.save( path ) )
    {
        std::fprintf( stderr, "bullet_steps: cannot write %s\n", path.c_str() );
        std::exit( 1 );
    }
}

std::string snapshot_path( const std::string& folder, const scene& of, int count )
{
    return folder.empty() ? "" : folder + "/" + of.name + " " + std::to_string( count );
}

void measure( const scene& of, int count, const std::string& snapshot )
{
    static const char* const names[] = { "dbvt", "dbvt deferred", "sweep", "cleave" };
    enum
    {
        PHASES = 4
    };
    world& reference = *new world( "cleave", of, count );
    run_until_snapshot( reference, of, snapshot );
    world* worlds[PHASES];
    std::vector<double> whole[PHASES];
    for ( int p = 0; p < PHASES; ++p )
    {
        worlds[p] = new world( names[p], of, count );
        worlds[p]->copy( reference );
        worlds[p]->step(); // contacts and trees are made
        worlds[p]->dynamics.broad_ms = 0;
    }
    for ( int i = 0; i < STEPS; ++i ) // in turn, so that all meet the same load
    {
        for ( int p = 0; p < PHASES; ++p )
        {
            std::clock_t begin = std::clock();
            worlds[p]->step();
            whole[p].push_back( ms_since( begin ) );
        }
    }
    std::printf( "| %s %d |", of.name, count );
    double first = 0, best = 0, median = 0;
    for ( int p = 0; p < PHASES; ++p )
    {
        double sum = 0;
        for ( double ms : whole[p] )
        {
            sum += ms;
        }
        std::sort( whole[p].begin(), whole[p].end() );
        median = whole[p][STEPS / 2];
        first = p == 0 ? median : first;
        best = p == 0 || ( p < PHASES - 1 && median < best ) ? median : best;
        std::printf( " %.2f (%.0f) |", median, 100 * worlds[p]->dynamics.broad_ms / sum );
    }
    std::printf( " %.2f / %.2f |\n", first / median, best / median );
    std::fflush( stdout );
}

} // namespace

int main( int argc, char** argv )
{
    static const scene scenes[] = { { "falling", 15, false, 1.3f }, { "piling", 100, false, 1.3f },
        { "at rest", 500, false, 1.3f }, { "stirred", 20, true, 1.3f }, { "stirred, apart", 20, true, 2 },
        { "stirred, far apart", 20, true, 3 } };
    std::vector<int> counts;
    std::string only, folder;
    bool prepares = false;
    for ( int i = 1; i < argc; ++i )
    {
        int count = std::atoi( argv[i] );
        if ( std::strcmp( argv[i], "--scene" ) == 0 && i + 1 < argc )
        {
            only = argv[++i];
        }
        else if ( std::strcmp( argv[i], "--keep" ) == 0 && i + 1 < argc )
        {
            folder = argv[++i];
        }
        else if ( std::strcmp( argv[i], "--prepare" ) == 0 )
        {
            prepares = true;
        }
        else if ( count < 1 )
        {
            std::fprintf(
                stderr, "bullet_steps: '%s' is neither an option nor a number of bodies\n", argv[i] );
            return 2;
        }
        else
        {
            counts.push_back( count );
        }
    }
    bool is_known = only.empty();
    for ( const scene& of : scenes )
    {
        is_known = is_known || only == of.name;
    }
    if ( !is_known || ( prepares && folder.empty() ) )
    {
        std::fprintf( stderr,
            is_known
                ? "bullet_steps: --prepare wants --keep FOLDER\n"
                : "bullet_steps: scenes are falling, piling, 'at rest', stirred, 'stirred, apart', 'stirred, far apart'\n" );
        return 2;
    }
    if ( counts.empty() )
    {
        counts = { 1000, 8000 };
    }
    if ( !prepares )
    {
        std::puts(
            "| whole step, ms (broad phase, %) | dbvt | dbvt deferred | axis sweep | cleave | against dbvt / the best |\n"
            "| --- | --- | --- | --- | --- | --- |" );
    }
    for ( const scene& of : scenes )
    {
        for ( int count : counts )
        {
            std::string snapshot = snapshot_path( folder, of, count );
            if ( !only.empty() && only != of.name )
            {
                continue;
            }
            if ( prepares )
            {
                run_until_snapshot( *new world( "cleave", of, count ), of, snapshot );
            }
            else
            {
                measure( of, count, snapshot );
            }
        }
    }
    return 0;
}
