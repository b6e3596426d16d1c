// SPDX-License-Identifier: MIT
// Eight floats, as query_body.h wants them, by plain loops: the reference. No include guard: part of a template.

#define EIGHT_ALIGN

typedef struct eight
{
    float lane[QUERY_LANES];
} eight;

typedef struct eight_mask
{
    bool lane[QUERY_LANES];
} eight_mask;

#define EIGHT_EACH( type, expression )                                                                       \
    type r;                                                                                                  \
    for ( int i = 0; i < QUERY_LANES; ++i )                                                                  \
    {                                                                                                        \
        r.lane[i] = expression;                                                                              \
    }                                                                                                        \
    return r

static inline eight eight_load( const float* p )
{
    EIGHT_EACH( eight, p[i] );
}

static inline void eight_store( float* p, eight a )
{
    for ( int i = 0; i < QUERY_LANES; ++i )
    {
        p[i] = a.lane[i];
    }
}

static inline eight eight_splat( float f )
{
    EIGHT_EACH( eight, f );
}

static inline eight eight_sub( eight a, eight b )
{
    EIGHT_EACH( eight, a.lane[i] - b.lane[i] );
}

static inline eight eight_add( eight a, eight b )
{
    EIGHT_EACH( eight, a.lane[i] + b.lane[i] );
}

static inline eight eight_mul( eight a, eight b )
{
    EIGHT_EACH( eight, a.lane[i] * b.lane[i] );
}

static inline eight eight_max( eight a, eight b )
{
    EIGHT_EACH( eight, a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i] );
}

static inline eight eight_min( eight a, eight b )
{
    EIGHT_EACH( eight, a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i] );
}

static inline eight_mask eight_le( eight a, eight b )
{
    EIGHT_EACH( eight_mask, a.lane[i] <= b.lane[i] );
}

static inline eight_mask eight_and( eight_mask a, eight_mask b )
{
    EIGHT_EACH( eight_mask, a.lane[i] && b.lane[i] );
}

static inline uint32_t eight_bits( eight_mask m )
{
    uint32_t bits = 0;
    for ( uint32_t i = 0; i < QUERY_LANES; ++i )
    {
        bits |= (uint32_t)m.lane[i] << i;
    }
    return bits;
}

static inline float eight_least( eight a )
{
    float least = a.lane[0];
    for ( int i = 1; i < QUERY_LANES; ++i )
    {
        least = a.lane[i] < least ? a.lane[i] : least;
    }
    return least;
}

static inline float eight_most( eight a )
{
    float most = a.lane[0];
    for ( int i = 1; i < QUERY_LANES; ++i )
    {
        most = a.lane[i] > most ? a.lane[i] : most;
    }
    return most;
}

static inline uint32_t eight_signs( const uint32_t* p )
{
    uint32_t bits = 0;
    for ( uint32_t i = 0; i < QUERY_LANES; ++i )
    {
        bits |= p[i] >> 31 << i;
    }
    return bits;
}

static inline uint32_t eight_least_slot( const uint32_t* p )
{
    return query_least_slot( p );
}

#undef EIGHT_EACH
