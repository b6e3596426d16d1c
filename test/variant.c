// SPDX-License-Identifier: MIT
// Methods times instruction sets times workers, from the library's own tables: a new method is tested without
// a change here.
#include "support.h"

#include <string.h>

// More than one, odd, and more than some machines have cores.
static const uint32_t s_worker_counts[] = { 1, 2, 5 };

static clv_isa usual_isa( const clv_method* row )
{
    // A method without variants by instruction set gets one space, as users would make it.
    return row->has_isa ? clv_isa_best() : CLV_ISA_AUTO;
}

// The papers' other rows run the code of kd-paper, chosen otherwise: the reference and the widest table do
// for them.
bool test_method_is_kin( const clv_method* row )
{
    return strncmp( row->name, "kd-paper-", strlen( "kd-paper-" ) ) == 0;
}

// Each row with several workers is tested with one such number, in turn; the default with both. The
// test `threads` has all numbers for all rows.
static bool has_workers( test_variant variant, uint32_t row_index )
{
    bool is_its_turn = variant.worker_count == s_worker_counts[1 + row_index % 2] || row_index == 0;
    return variant.method->has_threads && variant.isa == usual_isa( variant.method ) && is_its_turn;
}

static bool variant_exists( test_variant variant, uint32_t row_index )
{
    if ( variant.worker_count > 1 )
    {
        return has_workers( variant, row_index );
    }
    if ( !variant.method->has_isa )
    {
        return variant.isa == CLV_ISA_AUTO;
    }
    bool is_wanted = !test_method_is_kin( variant.method ) || variant.isa == CLV_ISA_SCALAR ||
        variant.isa == clv_isa_best();
    return variant.isa != CLV_ISA_AUTO && clv_isa_is_supported( variant.isa ) && is_wanted;
}

enum
{
    MOST_VARIANTS = 1024
};

// Made once: the tests ask for a variant before every call of theirs.
static test_variant s_variants[MOST_VARIANTS];
static uint32_t s_variant_count = 0;

static void list_variants( void )
{
    const uint32_t row_size = CLV_ISA_COUNT * (uint32_t)TEST_COUNT( s_worker_counts );
    for ( uint32_t i = 0; i < clv_method_count() * row_size; ++i )
    {
        test_variant variant = { clv_method_at( i / row_size ), (clv_isa)( i % CLV_ISA_COUNT ),
            s_worker_counts[i % row_size / CLV_ISA_COUNT] };
        if ( variant_exists( variant, i / row_size ) )
        {
            CHECK( s_variant_count < MOST_VARIANTS );
            s_variants[s_variant_count++] = variant;
        }
    }
}

uint32_t test_variant_count( void )
{
    if ( s_variant_count == 0 )
    {
        list_variants();
    }
    return s_variant_count;
}

test_variant test_variant_at( uint32_t index )
{
    CHECK( index < test_variant_count() );
    return s_variants[index];
}

bool test_variant_is_usual( test_variant variant )
{
    return variant.isa == usual_isa( variant.method ) && variant.worker_count == 1;
}

void test_variant_enter( test_variant variant )
{
    test_where.method = variant.method->name;
    test_where.isa = variant.isa;
    test_where.worker_count = variant.worker_count;
}

enum
{
    MOST_SETTINGS = 8
};

// Only where they lie matters.
static const char s_settings[MOST_SETTINGS] = { 0 };

const char* test_settings_token( uint32_t index )
{
    return &s_settings[index % MOST_SETTINGS];
}

const char* test_settings( const clv_method* row, uint32_t choice )
{
    static char text[512];
    method_settings_write( row, choice % method_settings_count( row ), text, sizeof( text ) );
    return text;
}

clv_space* test_space_make( test_variant variant, const clv_space_def* def )
{
    test_variant_enter( variant );
    clv_space_def own = def != NULL ? *def : clv_default_space_def();
    own.method = variant.method->name;
    own.isa = variant.isa;
    own.worker_count = variant.worker_count;
    for ( uint32_t choice = 0; choice < MOST_SETTINGS; ++choice )
    {
        bool is_wanted = def != NULL && def->settings == test_settings_token( choice );
        own.settings = is_wanted ? test_settings( variant.method, choice ) : own.settings;
    }
    clv_space* space = NULL;
    CHECK_OK( clv_space_create( &own, &space ) );
    CHECK( space != NULL );
    return space;
}
