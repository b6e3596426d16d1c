// SPDX-License-Identifier: MIT
// No include guard: part of a template, see record_body.h.

// From boxes to records several at a time: here none, they go one by one.
static inline uint32_t whole_records(
    const clv_aabb* boxes, uint32_t first, uint32_t count, const scaling* s, cell_record* out )
{
    (void)boxes, (void)first, (void)count, (void)s, (void)out;
    return 0;
}
