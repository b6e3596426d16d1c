// SPDX-License-Identifier: MIT
// All pairs within 1 of each other by nanoflann's k-d tree, tree included: for bench/near.py,
// which hands over the points.
// Usage: near_nanoflann FILE   (x y z in double, one point after the other); prints pairs and the
//                              least ns of three rounds
#include <nanoflann.hpp>

#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

namespace
{

struct cloud
{
    std::vector<double> xyz;
    size_t kdtree_get_point_count() const
    {
        return xyz.size() / 3;
    }
    double kdtree_get_pt( size_t i, size_t axis ) const
    {
        return xyz[3 * i + axis];
    }
    template <class box> bool kdtree_get_bbox( box& ) const
    {
        return false;
    }
};

using tree =
    nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, cloud>, cloud, 3, unsigned>;

size_t find_pairs( const cloud& points, std::vector<std::pair<unsigned, unsigned>>& pairs )
{
    tree index( 3, points, nanoflann::KDTreeSingleIndexAdaptorParams( 16 ) );
    std::vector<std::pair<unsigned, double>> found;
    pairs.clear();
    for ( size_t i = 0; i < points.xyz.size() / 3; ++i )
    {
        found.clear();
        index.radiusSearch( &points.xyz[3 * i], 1.0, found, nanoflann::SearchParams( 32, 0, false ) );
        for ( const auto& hit : found )
        {
            if ( hit.first > i )
            {
                pairs.emplace_back( unsigned( i ), hit.first );
            }
        }
    }
    return pairs.size();
}

} // namespace

int main( int argc, char** argv )
{
    cloud points;
    std::FILE* file = argc == 2 ? std::fopen( argv[1], "rb" ) : nullptr;
    if ( file == nullptr )
    {
        std::fprintf( stderr, "near_nanoflann FILE: x y z of each point, in double\n" );
        return 2;
    }
    double point[3];
    while ( std::fread( point, sizeof( point ), 1, file ) == 1 )
    {
        points.xyz.insert( points.xyz.end(), point, point + 3 );
    }
    std::fclose( file );
    std::vector<std::pair<unsigned, unsigned>> pairs;
    size_t count = 0;
    double best = 1e300;
    for ( int round = 0; round < 3; ++round )
    {
        auto before = std::chrono::steady_clock::now();
        count = find_pairs( points, pairs );
        double ns =
            std::chrono::duration<double, std::nano>( std::chrono::steady_clock::now() - before ).count();
        best = ns < best ? ns : best;
    }
    std::printf( "%zu %.0f\n", count, best );
    return 0;
}
