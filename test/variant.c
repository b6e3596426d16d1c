// SPDX-License-Identifier: MIT
// Methods times instruction sets, from the library's own tables: a new method is tested without a change here.
#include "support.h"

static bool variant_exists( const method* row, clv_isa isa )
{
    // A method without variants by instruction set gets one space, as users would make it.
    return row->has_isa ? isa != CLV_ISA_AUTO && clv_isa_is_supported( isa ) : isa == CLV_ISA_AUTO;
}

// Walks the table; stops at `wanted` or counts to the end.
static uint32_t walk_variants( uint32_t wanted, test_variant* found )
{
    uint32_t count = 0;
    for ( uint32_t index = 0; index < method_count(); ++index )
    {
        for ( int isa = 0; isa < CLV_ISA_COUNT; ++isa )
        {
            if ( !variant_exists( method_at( index ), (clv_isa)isa ) )
            {
                continue;
            }
            if ( count == wanted )
            {
                *found = ( test_variant ){ method_at( index ), (clv_isa)isa };
                return count;
            }
            count += 1;
        }
    }
    return count;
}

uint32_t test_variant_count( void )
{
    test_variant ignored;
    return walk_variants( UINT32_MAX, &ignored );
}

test_variant test_variant_at( uint32_t index )
{
    test_variant variant = { NULL, CLV_ISA_AUTO };
    walk_variants( index, &variant );
    CHECK( variant.method != NULL );
    return variant;
}

void test_variant_enter( test_variant variant )
{
    test_where.method = variant.method->name;
    test_where.isa = variant.isa;
}

clv_space* test_space_make( test_variant variant, const clv_space_def* def )
{
    test_variant_enter( variant );
    clv_space_def own = def != NULL ? *def : clv_default_space_def();
    own.method = variant.method->name;
    own.isa = variant.isa;
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &own, &space ) );
    CHECK( space != NULL );
    return space;
}
