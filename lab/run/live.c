// SPDX-License-Identifier: MIT
#include "lab/run/live.h"

#include "base/timer.h"
#include "lab/base/output_file.h"
#include "lab/base/platform.h"
#include "lab/base/terminal.h"
#include "lab/base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WRITE_NS                                                                                             \
    UINT64_C( 500000000 ) // from one page to the next at least: thousands of short runs make long pages

// The page up to a mark, which is left out.
static void put_until( byte_buffer* out, const char** rest, const char* mark )
{
    const char* end = strstr( *rest, mark );
    byte_buffer_put( out, *rest, (size_t)( end - *rest ) );
    *rest = end + strlen( mark );
}

/// Names and reasons come from files and other people's programs.
static void put_escaped( byte_buffer* out, const char* text )
{
    for ( ; *text != '\0'; ++text )
    {
        const char* sign = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
        byte_buffer_put( out, sign != NULL ? sign : text, sign != NULL ? strlen( sign ) : 1 );
    }
}

void live_page_begin( live_page* page, const char* path )
{
    *page = ( live_page ){ .path = path };
}

void live_page_add( live_page* page, const char* label, const run_result* run, const char* why, bool is_kept )
{
    if ( page->path == NULL )
    {
        return;
    }
    bool is_good = run != NULL && run->status == RUN_OK;
    bool is_bad = run != NULL && run->status != RUN_OK && run->status != RUN_UNAVAILABLE;
    byte_buffer_print( &page->rows, "%s", is_bad ? "<tr class=\"bad\"><td>" : "<tr><td>" );
    put_escaped( &page->rows, label );
    if ( is_good )
    {
        byte_buffer_print( &page->rows,
            "</td><td>%.4f</td><td>%.4f</td><td>%.4f</td><td>%" PRIu64 "</td><td>%s</td><td>%s</td></tr>\n",
            run->ms_median, run->ms_min, run->ms_p99, run->pairs_last, text_bytes( run->memory_bytes ).text,
            is_kept ? "kept" : "" );
        return;
    }
    byte_buffer_print( &page->rows,
        "</td><td colspan=\"6\">%s: ", run != NULL ? run_status_name( run->status ) : "left out" );
    put_escaped( &page->rows, why );
    byte_buffer_print( &page->rows, "</td></tr>\n" );
}

void live_page_write(
    live_page* page, uint32_t done, uint32_t total, const char* label, const char* left, bool is_over )
{
    uint64_t now_ns = clv_base_clock_ns();
    bool is_early = page->written_ns != 0 && now_ns - page->written_ns < WRITE_NS;
    if ( page->path == NULL || page->has_failed || ( is_early && !is_over ) )
    {
        return;
    }
    page->written_ns = now_ns;
    byte_buffer out = { 0 };
    const char* rest = carried_find( "lab/run/live.html" )->text;
    put_until( &out, &rest, "<!--STATE-->" );
    byte_buffer_print( &out,
        "<progress max=\"%" PRIu32 "\" value=\"%" PRIu32 "\"></progress>\n<p><b>%" PRIu32 " of %" PRIu32
        "</b> runs%s",
        total, done, done, total, is_over ? "; nothing runs any more" : "; now " );
    put_escaped( &out, is_over ? "" : label );
    put_escaped( &out, is_over ? "" : left );
    byte_buffer_print( &out, "</p>\n" );
    put_until( &out, &rest, "<!--RUNS-->" );
    byte_buffer_put( &out, page->rows.bytes, page->rows.count );
    put_until( &out, &rest, "<!--SCRIPT-->" );
    byte_buffer_print( &out, "<script>document.body.dataset.at=%lld</script>\n%s</body></html>\n",
        (long long)platform_now_s(), is_over ? "" : rest );
    lab_error why;
    page->has_failed = !output_file_put( page->path, out.bytes, out.count, &why );
    if ( page->has_failed ) // measurements are worth more than a page about them
    {
        lab_note( "--page: %s; the runs go on without it", why.text );
    }
    byte_buffer_free( &out );
}

void live_page_end( live_page* page )
{
    byte_buffer_free( &page->rows );
    *page = ( live_page ){ 0 };
}

// ---- live table

#define SECOND_NS UINT64_C( 1000000000 )

void live_begin( live_table* live, bool is_on, uint32_t total, double weight_total, const char* page )
{
    *live = ( live_table ){ .is_on = is_on, .total = total, .weight_total = weight_total };
    live->is_terminal = platform_is_terminal( stderr );
    live->begin_ns = clv_base_clock_ns();
    live_page_begin( &live->page, page );
}

void live_clear( live_table* live )
{
    for ( ; live->line_count > 0; --live->line_count )
    {
        fputs( "\033[A\033[2K", stderr ); // the line above, emptied
    }
    fflush( stderr );
}

static void format_left( const live_table* live, char* buffer, size_t size )
{
    double elapsed = (double)( clv_base_clock_ns() - live->begin_ns ) / 1e9;
    double share = live->weight_total > 0 ? live->weight_done / live->weight_total : 1;
    // Too early to extrapolate from.
    if ( live->done == 0 || elapsed < 1 || share <= 0 )
    {
        buffer[0] = '\0';
        return;
    }
    char time[32];
    progress_format_time( elapsed * ( 1 - share ) / share, time, sizeof( time ) );
    snprintf( buffer, size, ", %s left", time );
}

// No line may wrap, or it could not be taken back.
static void draw_line( live_table* live, const char* text, size_t columns )
{
    size_t bytes = 0;
    for ( size_t width = 0; text[bytes] != '\0' && width + 1 < columns; ++width )
    {
        bytes += 1;
        while ( ( (unsigned char)text[bytes] & 0xC0 ) == 0x80 )
        {
            bytes += 1;
        }
    }
    fprintf( stderr, "%.*s\n", (int)bytes, text );
    live->line_count += 1;
}

static void draw( live_table* live )
{
    size_t columns = platform_columns();
    uint32_t room = platform_rows() > 4 ? platform_rows() - 4 : 1;
    char left[64], status[320];
    double run_s = (double)( clv_base_clock_ns() - live->run_begin_ns ) / 1e9;
    live_clear( live );
    uint32_t shown = live->row_count < room ? live->row_count : room;
    for ( uint32_t row = live->row_count - shown; row < live->row_count; ++row )
    {
        draw_line( live, live->rows[row], columns );
    }
    format_left( live, left, sizeof( left ) );
    snprintf( status, sizeof( status ), "[%" PRIu32 "/%" PRIu32 "%s] %s, %.0f s", live->done, live->total,
        left, live->label, run_s );
    draw_line( live, status, columns );
    fflush( stderr );
    live->drawn_ns = clv_base_clock_ns();
}

static void write_page( live_table* live, bool is_over )
{
    char left[64];
    format_left( live, left, sizeof( left ) );
    live_page_write( &live->page, live->done, live->total, live->label, left, is_over );
}

void live_end( live_table* live )
{
    live_clear( live );
    write_page( live, true );
    live_page_end( &live->page );
}

void live_start( live_table* live, const char* label )
{
    snprintf( live->label, sizeof( live->label ), "%s", label );
    live->run_begin_ns = clv_base_clock_ns();
    write_page( live, false );
    live_tick( live );
}

void live_tick( live_table* live )
{
    if ( live->is_on && !progress_is_over() && live->is_terminal &&
        clv_base_clock_ns() - live->drawn_ns > SECOND_NS / 8 )
    {
        draw( live );
    }
}

static void add_row( live_table* live, const char* row )
{
    if ( live->row_count == LIVE_ROWS )
    {
        memmove( live->rows[0], live->rows[1], sizeof( live->rows ) - sizeof( live->rows[0] ) );
        live->row_count -= 1;
    }
    snprintf( live->rows[live->row_count++], sizeof( live->rows[0] ), "%s", row );
}

static void show( live_table* live, const char* row )
{
    if ( !live->is_on || progress_is_over() )
    {
        return;
    }
    if ( live->is_terminal )
    {
        add_row( live, row );
        live_tick( live );
        return;
    }
    char left[64];
    format_left( live, left, sizeof( left ) );
    fprintf( stderr, "[%" PRIu32 "/%" PRIu32 "%s] %s\n", live->done, live->total, left, row );
}

void live_finish( live_table* live, const run_result* run, const char* label, double weight, bool is_kept )
{
    char row[256];
    live->done += 1;
    live->weight_done += is_kept ? 0 : weight;
    live->weight_total -= is_kept ? weight : 0; // runs from the journal take no time
    if ( run->status == RUN_OK )
    {
        snprintf( row, sizeof( row ), "%-44.60s %10.4f ms  %10" PRIu64 " pairs  %10s%s", label,
            run->ms_median, run->pairs_last, text_bytes( run->memory_bytes ).text, is_kept ? "  kept" : "" );
    }
    else
    {
        snprintf( row, sizeof( row ), "%-44.60s %s: %.90s%s", label, run_status_name( run->status ),
            run->reason, is_kept ? "  (kept)" : "" );
    }
    live_page_add( &live->page, label, run, run->reason, is_kept );
    show( live, row );
}

void live_skip( live_table* live, const char* label, const char* why, double weight )
{
    char row[256];
    live->done += 1;
    live->weight_total -= weight;
    snprintf( row, sizeof( row ), "%-44.60s left out: %.90s", label, why );
    live_page_add( &live->page, label, NULL, why, false );
    show( live, row );
}
