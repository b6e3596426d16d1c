// SPDX-License-Identifier: MIT
// Other people's broad phases behind method.h. Each module is loaded at run time and never linked into the
// program, so that its licence stays its own. What they all share is here: objects that came and went, boxes
// they cannot take, filtering by the boxes as given, and what they hold in memory.
#pragma once

#include "cleave/method.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#if defined( __GLIBC__ )
#include <malloc.h>
#endif

namespace peer
{

/// The world as a peer sees it. Boxes that are infinite, or too large for a library that squares them, are
/// not shown.
struct frame
{
    const clv_aabb* boxes;              ///< by slot
    const std::vector<uint32_t>& slots; ///< those to take part, ascending
    const std::vector<uint32_t>& came;  ///< since the last frame
    const std::vector<uint32_t>& went;
    uint32_t slot_count;
};

/// Where a peer puts the pairs it finds, in any form and as often as it likes; one of each pair arrives.
class output
{
  public:
    output( const clv_aabb* boxes, clv_pair_sink* sink, bool fat )
        : m_boxes( boxes ), m_sink( sink ), m_fat( fat )
    {
    }

    /// Each pair once.
    void put( uint32_t a, uint32_t b )
    {
        m_count += 1;
        if ( m_result == CLV_OK && ( m_fat || clv_aabb_overlap( m_boxes[a], m_boxes[b] ) ) )
        {
            m_result = clv_pair_sink_put( m_sink, a, b );
        }
    }

    clv_result result() const
    {
        return m_result;
    }

    /// Pairs the peer named, before they were filtered.
    uint64_t count() const
    {
        return m_count;
    }

  private:
    const clv_aabb* m_boxes;
    clv_pair_sink* m_sink;
    bool m_fat;
    uint64_t m_count = 0;
    clv_result m_result = CLV_OK;
};

/// A library's broad phase.
class broad_phase
{
  public:
    virtual ~broad_phase() = default;

    /// Settings beyond the first, in the order of the row's; called once.
    virtual void configure( const double* settings )
    {
        (void)settings;
    }

    /// Take the boxes of the frame and put every pair that overlaps, and perhaps some that do not.
    virtual void update( const frame& now, output& out ) = 0;

    /// Can the library take this box? The others are tested against all boxes.
    virtual bool takes( const clv_aabb& box ) const
    {
        const float* sides = &box.lower.x;
        for ( int i = 0; i < 6; ++i )
        {
            if ( !( std::fabs( sides[i] ) < 1e18f ) )
            {
                return false;
            }
        }
        return true;
    }
};

/// Bytes in use in the C library's heap, where it tells.
inline int64_t heap_bytes()
{
#if defined( __GLIBC__ ) && ( __GLIBC__ > 2 || __GLIBC_MINOR__ >= 33 )
    struct mallinfo2 info = mallinfo2();
    return (int64_t)( info.uordblks + info.hblkhd );
#else
    return 0;
#endif
}

/// The state behind a row.
class host
{
  public:
    explicit host( const clv_method_context* context ) : m_context( context )
    {
    }

    ~host()
    {
        m_context->account.charge( -m_charged, m_context->account.user );
    }

    template <class Library>
    clv_result update( const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
    {
        // A clock would cost the peer time; the number of updates is as good.
        m_update_count += 1;
        bool weighs = ( m_update_count & ( m_update_count - 1 ) ) == 0;
        int64_t heap = weighs ? foreign_bytes() : 0;
        clv_result result = CLV_OUT_OF_MEMORY;
        try
        {
            if ( m_library == nullptr )
            {
                m_present.clear();
                m_library = std::make_unique<Library>();
                m_library->configure( m_context->params + 1 );
            }
            result = run( input, sink, counters );
        }
        catch ( const std::bad_alloc& )
        {
            m_library.reset(); // half updated; the next update begins anew
        }
        if ( weighs )
        {
            charge( foreign_bytes() - heap );
        }
        return result;
    }

  private:
    // In the heap, and not the space's.
    int64_t foreign_bytes() const
    {
        return heap_bytes() - static_cast<int64_t>( m_context->account.held( m_context->account.user ) ) +
            m_charged;
    }

    void charge( int64_t bytes )
    {
        int64_t more = bytes > -m_charged ? bytes : -m_charged;
        m_context->account.charge( more, m_context->account.user );
        m_charged += more;
    }

    // Which objects the library holds, which came and went, and which are tested apart.
    void sort_out( const clv_method_input* input )
    {
        m_slots.clear(), m_came.clear(), m_went.clear(), m_loose.clear();
        m_present.resize( input->slot_count, 0 );
        for ( uint8_t& state : m_present )
        {
            state = state != 0 ? 2 : 0; // 2: was shown last time
        }
        for ( uint32_t i = 0; i < input->live_count; ++i )
        {
            uint32_t slot = clv_method_live_slot( input, i );
            if ( !m_library->takes( input->boxes[slot] ) )
            {
                m_loose.push_back( slot );
                continue;
            }
            if ( m_present[slot] == 0 )
            {
                m_came.push_back( slot );
            }
            m_present[slot] = 1;
            m_slots.push_back( slot );
        }
        for ( uint32_t slot = 0; slot < m_present.size(); ++slot )
        {
            if ( m_present[slot] == 2 )
            {
                m_went.push_back( slot );
                m_present[slot] = 0;
            }
        }
    }

    clv_result run( const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
    {
        sort_out( input );
        bool fat = m_context->params[0] != 0;
        output out( input->boxes, sink, fat );
        frame now = { input->boxes, m_slots, m_came, m_went, input->slot_count };
        m_library->update( now, out );
        counters->test_count = out.count();
        return out.result() == CLV_OK ? test_loose( input, sink, counters ) : out.result();
    }

    clv_result test_loose( const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
    {
        clv_result result = CLV_OK;
        for ( uint32_t slot : m_loose )
        {
            for ( uint32_t i = 0; i < input->live_count && result == CLV_OK; ++i )
            {
                uint32_t other = clv_method_live_slot( input, i );
                bool is_mine = other > slot || m_present[other] != 0; // of two loose ones the lower asks
                if ( is_mine && other != slot && clv_aabb_overlap( input->boxes[slot], input->boxes[other] ) )
                {
                    result = clv_pair_sink_put( sink, slot, other );
                }
            }
            counters->test_count += input->live_count;
        }
        return result;
    }

    const clv_method_context* m_context;
    std::unique_ptr<broad_phase> m_library;
    std::vector<uint8_t> m_present; // by slot
    std::vector<uint32_t> m_slots, m_came, m_went, m_loose;
    int64_t m_charged = 0;
    uint64_t m_update_count = 0;
};

inline void* create( const clv_method_context* context )
{
    return new ( std::nothrow ) host( context );
}

inline void destroy( void* state )
{
    delete static_cast<host*>( state );
}

template <class Library>
clv_result update(
    void* state, const clv_method_input* input, clv_pair_sink* sink, clv_method_counters* counters )
{
    return static_cast<host*>( state )->update<Library>( input, sink, counters );
}

/// The first setting of every peer.
#define PEER_FAT_PARAM                                                                                       \
    {                                                                                                        \
        "peer.fat", 0, 0, 1, true, "1: report what the library yields, margins and stale pairs included"     \
    }

inline const clv_method_param fat_alone[1] = { PEER_FAT_PARAM };

struct about
{
    const char* name;
    const char* family;
    const char* source;
    const char* licence;
    const char* time_cost;
    const char* remarks;
    bool is_temporal;
};

template <class Library>
clv_method row( const about& text, const clv_method_param* params = fat_alone, uint32_t param_count = 1 )
{
    clv_method made = {};
    made.size = sizeof( clv_method );
    made.version = CLV_METHOD_VERSION;
    made.name = text.name;
    made.family = text.family;
    made.source = text.source;
    made.licence = text.licence;
    made.time_cost = text.time_cost;
    made.space_cost = "O(n)";
    made.remarks = text.remarks;
    made.is_temporal = text.is_temporal;
    made.is_opaque = true;  // its stages are not seen, and the pairs it names are not the boxes it tests
    made.is_trusted = true; // the adapter's slots are the space's own, and times are compared
    made.params = params;
    made.param_count = param_count;
    made.create = create;
    made.destroy = destroy;
    made.update = update<Library>;
    return made;
}

} // namespace peer
