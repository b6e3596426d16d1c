// SPDX-License-Identifier: MIT
// The sweep of two lists, over the wide type of the file that includes this behind simd/sweep_body.h.
// No include guard: this is a template.

static bool sweep_cross( const simd_list* first, const simd_list* second, simd_cross_cursor* cursor,
    pair_sink* sink, uint64_t* test_count )
{
    const simd_list* lists[2] = { first, second };
    uint32_t* heads = cursor->heads;
    while ( heads[0] < first->boxes->count && heads[1] < second->boxes->count )
    {
        // Which list's head begins first decides no branch, only what the two are called.
        uint32_t by = first->boxes->lower[0][heads[0]] > second->boxes->lower[0][heads[1]];
        uint32_t begin = heads[1 - by];
        uint32_t column = cursor->column > begin ? cursor->column : begin;
        if ( !sweep_list_row( lists[by], heads[by], lists[1 - by], begin, &column, sink, test_count ) )
        {
            cursor->column = column;
            return false;
        }
        cursor->column = 0;
        heads[by] += 1;
    }
    return true;
}
