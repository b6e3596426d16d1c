// SPDX-License-Identifier: MIT
// A file of another standard in the same program: its spans are other types, and the
// linker must keep them apart.
#include <cleave/cleave.hpp>

#ifndef __cpp_lib_span
#error "this file is to be compiled as C++20"
#endif

std::size_t other_standard_pairs( const std::vector<clv_aabb>& boxes );

std::size_t other_standard_pairs( const std::vector<clv_aabb>& boxes )
{
    auto made = cleave::checked_space::create();
    if ( !made || !made->add( boxes ) || !made->update() )
    {
        return 0;
    }
    std::span<const clv_pair> pairs = made->pairs();
    return pairs.size();
}
