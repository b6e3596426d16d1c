// SPDX-License-Identifier: MIT
// The tables of an instruction set, over the functions of its unit. KERNELS is its name, KERNELS_ISA its
// clv_isa. No include guard: part of a template, as kernel_body.h.

#define TABLE_NAME( table, name ) clv_simd_##table##_##name
#define TABLE_OF( table, name ) TABLE_NAME( table, name )

const simd_cells TABLE_OF(
    cells, KERNELS ) = { make_records, empty_tray, finish_streams, search_cell, settle_ties };

const simd_queries TABLE_OF( queries, KERNELS ) = { walk_overlap, walk_cast, walk_distance, walk_closest,
    walk_nearest, walk_count, bound_node, walk_overlap64, walk_cast64, walk_distance64, walk_closest64,
    walk_nearest64 };

const simd_near TABLE_OF( near, KERNELS ) = { find_near, find_near64 };

const simd_kernels TABLE_OF( kernels, KERNELS ) = { KERNELS_ISA, test_block, are_good, are_good_apart,
    put_near, put_anywhere, find_strays, find_touching, find_codes, find_sure, find_changed,
    &TABLE_OF( cells, KERNELS ) };

#undef put_near
#undef put_anywhere
#undef TABLE_NAME
#undef TABLE_OF
#undef KERNELS
#undef KERNELS_ISA
