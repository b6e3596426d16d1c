// SPDX-License-Identifier: MIT
// In C++, on a flat map: 40 guards look for 400 walkers among 300 huts. Who stands close to whom comes from
// the pairs and their events, who sees whom from one list of rays per frame. All lengths are multiples of
// 1/64 and all sums exact, so every machine prints the same.
#include <cleave/cleave.hpp>

#include <cstdio>

namespace
{
constexpr std::uint32_t hut_count = 300, guard_count = 40, walker_count = 400;
constexpr std::uint32_t first_guard = hut_count, first_walker = hut_count + guard_count;
constexpr std::uint64_t hut = 1, guard = 2, walker = 4; // categories
constexpr float world = 200;                            // metres from side to side

std::uint32_t random_below( std::uint32_t most )
{
    static std::uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>( state >> 33 ) % most;
}

float random_length( float most )
{
    return static_cast<float>( random_below( static_cast<std::uint32_t>( most * 64 ) ) ) / 64;
}

clv_aabb2 box_around( clv_vec2 center, float half_size )
{
    return { { center.x - half_size, center.y - half_size }, { center.x + half_size, center.y + half_size } };
}
} // namespace

int main()
{
    clv_space_def def = cleave::flat_space::default_def();
    def.events = true;
    cleave::flat_space space( def ); // throws cleave::error if it cannot be made

    std::vector<clv_vec2> centers;
    std::vector<clv_aabb2> boxes;
    std::vector<clv_filter> filters;
    auto place = [&]( std::uint32_t count, float half_size, std::uint64_t category, std::uint64_t mask )
    {
        for ( std::uint32_t i = 0; i < count; ++i )
        {
            centers.push_back( { random_length( world ), random_length( world ) } );
            boxes.push_back( box_around( centers.back(), half_size ) );
            filters.push_back( { category, mask, 0 } );
        }
    };
    place( hut_count, 2, hut, guard ); // no pairs with guards; rays meet them by their own filter
    place( guard_count, 3, guard, walker );
    place( walker_count, 0.5f, walker, guard );
    std::vector<clv_id> ids = space.add( boxes );
    space.set_filter( ids, filters );

    const clv_filter sight = { guard, hut | walker, 0 }; // a guard looks past other guards
    cleave::query_options options;
    options.filters = cleave::span<const clv_filter>( &sight, 1 );
    for ( int frame = 1; frame <= 60; ++frame )
    {
        for ( std::uint32_t slot = first_walker; slot < boxes.size(); ++slot )
        {
            centers[slot].x += ( static_cast<float>( random_below( 65 ) ) - 32 ) / 64;
            centers[slot].y += ( static_cast<float>( random_below( 65 ) ) - 32 ) / 64;
            boxes[slot] = box_around( centers[slot], 0.5f );
        }
        space.move( ids, boxes );
        space.update();

        std::vector<clv_ray2> rays; // from every guard in eight directions
        for ( std::uint32_t slot = first_guard; slot < first_walker; ++slot )
        {
            for ( clv_vec2 direction :
                { clv_vec2{ 1, 0 }, clv_vec2{ -1, 0 }, clv_vec2{ 0, 1 }, clv_vec2{ 0, -1 }, clv_vec2{ 1, 1 },
                    clv_vec2{ -1, 1 }, clv_vec2{ 1, -1 }, clv_vec2{ -1, -1 } } )
            {
                rays.push_back( { centers[slot], direction, 50 } );
            }
        }
        std::uint32_t seen = 0, hidden = 0;
        for ( const clv_hit& hit : space.query_closest( rays, options ) )
        {
            seen += hit.index != CLV_NO_HIT && hit.index >= first_walker;
            hidden += hit.index < hut_count;
        }
        if ( frame % 20 == 0 )
        {
            std::printf(
                "frame %d: %zu beside a guard, %zu came, %zu left; of %zu looks %u met a walker, %u a hut\n",
                frame, space.pairs().size(), space.begun().size(), space.ended().size(), rays.size(), seen,
                hidden );
        }
    }
    clv_aabb2 box = { { 1, 1 }, { 0, 0 } };
    try
    {
        space.move( ids[7], box );
    }
    catch ( const cleave::error& failed )
    {
        std::printf( "%s at %u\n", clv_result_name( failed.code() ), failed.position() );
    }
    return 0;
}
