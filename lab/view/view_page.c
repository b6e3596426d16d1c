// SPDX-License-Identifier: MIT
#include "lab/view/view_page.h"

#include "lab/base/interrupt.h"
#include "lab/base/terminal.h"
#include "lab/frame/frame_source.h"
#include "lab/view/view_input.h"
#include "lab/view/view_overlay.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- view coder

enum
{
    ORDER_KEY,   // against the object before
    ORDER_FRAME, // against the frame before
    ORDER_SPEED, // against where it would be at the same speed
};

void view_coder_open( view_coder* coder, uint32_t object_count, uint32_t channel_count )
{
    size_t count = (size_t)object_count * channel_count;
    *coder = ( view_coder ){ .object_count = object_count, .channel_count = channel_count };
    coder->now = lab_take( count, sizeof( int32_t ) );
    coder->before = lab_take( count, sizeof( int32_t ) );
    coder->earlier = lab_take( count, sizeof( int32_t ) );
}

void view_coder_close( view_coder* coder )
{
    free( coder->now );
    free( coder->before );
    free( coder->earlier );
    *coder = ( view_coder ){ 0 };
}

void view_coder_begin( view_coder* coder )
{
    coder->depth = 0;
}

// Differences wrap, here and where they are read.
static int32_t difference( const view_coder* coder, size_t base, uint32_t index, int order )
{
    uint32_t now = (uint32_t)coder->now[base + index];
    uint32_t before = (uint32_t)coder->before[base + index];
    uint32_t expected = order == ORDER_KEY ? ( index > 0 ? (uint32_t)coder->now[base + index - 1] : 0 )
        : order == ORDER_FRAME             ? before
                                           : 2 * before - (uint32_t)coder->earlier[base + index];
    return (int32_t)( now - expected );
}

static uint64_t cost( const view_coder* coder, size_t base, int order )
{
    uint64_t sum = 0;
    for ( uint32_t index = 0; index < coder->object_count; ++index )
    {
        int64_t step = difference( coder, base, index, order );
        sum += (uint64_t)( step < 0 ? -step : step );
    }
    return sum;
}

static int choose_order( const view_coder* coder, size_t base )
{
    if ( coder->depth < 2 )
    {
        return coder->depth == 0 ? ORDER_KEY : ORDER_FRAME;
    }
    return cost( coder, base, ORDER_SPEED ) < cost( coder, base, ORDER_FRAME ) ? ORDER_SPEED : ORDER_FRAME;
}

void view_coder_put( view_coder* coder, byte_buffer* out )
{
    for ( uint32_t channel = 0; channel < coder->channel_count; ++channel )
    {
        size_t base = (size_t)channel * coder->object_count;
        int order = choose_order( coder, base );
        byte_buffer_put_byte( out, (uint8_t)order );
        for ( uint32_t index = 0; index < coder->object_count; ++index )
        {
            byte_buffer_put_difference( out, difference( coder, base, index, order ) );
        }
    }
    int32_t* oldest = coder->earlier;
    coder->earlier = coder->before;
    coder->before = coder->now;
    coder->now = oldest;
    coder->depth += 1;
}

void view_coder_put_pairs( byte_buffer* out, const clv_pair* pairs, uint64_t count )
{
    clv_pair last = { 0, 0 };
    byte_buffer_put_count( out, (uint32_t)count );
    for ( uint64_t i = 0; i < count; ++i )
    {
        bool same = i > 0 && pairs[i].a == last.a;
        byte_buffer_put_count( out, pairs[i].a - last.a );
        byte_buffer_put_count( out, pairs[i].b - ( same ? last.b : pairs[i].a ) );
        last = pairs[i];
    }
}

static uint64_t pair_key( clv_pair pair )
{
    return (uint64_t)pair.a << 32 | pair.b;
}

void view_coder_put_places( byte_buffer* out, const uint32_t* places, uint64_t count )
{
    byte_buffer_put_count( out, (uint32_t)count );
    for ( uint64_t i = 0; i < count; ++i )
    {
        byte_buffer_put_count( out, places[i] - ( i > 0 ? places[i - 1] : 0 ) );
    }
}

uint64_t view_coder_without( const clv_pair* first, uint64_t first_count, const clv_pair* second,
    uint64_t second_count, clv_pair* out, uint32_t* places )
{
    uint64_t count = 0, other = 0;
    for ( uint64_t i = 0; i < first_count; ++i )
    {
        while ( other < second_count && pair_key( second[other] ) < pair_key( first[i] ) )
        {
            other += 1;
        }
        if ( other < second_count && pair_key( second[other] ) == pair_key( first[i] ) )
        {
            continue;
        }
        if ( places != NULL )
        {
            places[count++] = (uint32_t)i;
        }
        else
        {
            out[count++] = first[i];
        }
    }
    return count;
}

// ---- view page

// view/build.mjs sees to it that each stands in the page once, the blocks first.
#define BLOCKS_MARK "<!--BLOCKS-->"
#define SCENE_MARK "/*SCENE*/"

enum
{
    BLOCK_OBJECTS = 1 << 20, // times frames of one block, about: what the page unpacks at a time
    BLOCK_FRAMES_LEAST = 4,  //
    BLOCK_FRAMES_MOST = 32,  //
    ROTATION_STEPS = 512,    // of a quaternion's component of 1
    FORMAT = 2,              // view/src/codec.js reads the same
};

/// Everything while it lasts.
typedef struct page_state
{
    const view_page_def* def;
    view_input input;
    view_search search;
    view_cells cells;
    view_volumes volumes; ///< where bodies are known
    view_coder coder;
    view_scale scale;
    uint32_t block_frames;
    output_file* file;
    byte_buffer raw, packed, text;
    byte_buffer facts; ///< of each frame, as JSON
    char* cells_before;
} page_state;

// ---- frames

static void place_boxes( page_state* state )
{
    uint32_t count = state->coder.object_count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const clv_aabb* box = &state->input.boxes[i];
        for ( int axis = 0; axis < 3; ++axis )
        {
            int32_t lower = view_scale_place( &state->scale, (double)( &box->lower.x )[axis], axis );
            int32_t upper = view_scale_place( &state->scale, (double)( &box->upper.x )[axis], axis );
            state->coder.now[(size_t)axis * count + i] = lower;
            state->coder.now[(size_t)( 3 + axis ) * count + i] = upper - lower;
        }
    }
}

static void place_bodies( page_state* state )
{
    uint32_t count = state->coder.object_count;
    for ( uint32_t i = 0; i < count; ++i )
    {
        const body_state* body = &state->input.bodies[i];
        double most = 0, sign = 1; // q and -q turn alike: the one nearer to the last frame's changes less
        for ( int part = 0; part < 4; ++part )
        {
            most += body->rotation[part] * state->coder.before[(size_t)( 3 + part ) * count + i];
        }
        sign = most < 0 ? -1 : 1;
        for ( int axis = 0; axis < 3; ++axis )
        {
            state->coder.now[(size_t)axis * count + i] =
                view_scale_place( &state->scale, body->position[axis], axis );
        }
        for ( int part = 0; part < 4; ++part )
        {
            state->coder.now[(size_t)( 3 + part ) * count + i] =
                (int32_t)floor( sign * body->rotation[part] * ROTATION_STEPS + 0.5 );
        }
    }
}

// A byte for each pair of boxes: which tighter volumes do not touch. By the bodies as they are,
// not as the page has them.
static bool put_volumes( page_state* state, clv_pair_view pairs, lab_error* why )
{
    const view_input* input = &state->input;
    for ( uint32_t i = 0; i < state->coder.object_count; ++i )
    {
        const body_state* body = &input->bodies[i];
        const double* p = body->position;
        const double* q = body->rotation;
        clv_transform at = { { (float)p[0], (float)p[1], (float)p[2] },
            { (float)q[0], (float)q[1], (float)q[2], (float)q[3] } };
        clv_result result = view_volumes_place( &state->volumes, input->shape, i, body->half_sides, at );
        if ( result != CLV_OK )
        {
            return lab_error_write( why, "view: %s: no volumes around body %" PRIu32 ": %s",
                input->source.header.name, i, clv_result_text( result ) );
        }
    }
    const uint8_t* bits = view_volumes_find( &state->volumes, pairs.pairs, pairs.count );
    byte_buffer_put( &state->raw, bits, (size_t)pairs.count );
    return true;
}

// A block begins with the frame before its first, so that speeds are known from there on.
static bool put_frame( page_state* state, bool is_key, lab_error* why )
{
    clv_pair_view pairs = view_search_pairs( &state->search );
    if ( is_key )
    {
        view_coder_begin( &state->coder );
    }
    if ( state->input.has_poses )
    {
        place_bodies( state );
    }
    else
    {
        place_boxes( state );
    }
    view_coder_put( &state->coder, &state->raw );
    if ( is_key )
    {
        view_coder_put_pairs( &state->raw, pairs.pairs, pairs.count );
    }
    else
    {
        view_coder_put_places( &state->raw, state->search.ended, state->search.ended_count );
        view_coder_put_pairs( &state->raw, state->search.begun, state->search.begun_count );
    }
    return !state->input.has_poses || put_volumes( state, pairs, why );
}

static void put_tree( page_state* state )
{
    if ( state->search.tree_space == NULL )
    {
        byte_buffer_put_count( &state->raw, 0 );
        return;
    }
    view_tree_put( state->search.tree_space, &state->scale, &state->raw );
}

static void note_facts( page_state* state, uint32_t frame )
{
    const view_input* input = &state->input;
    uint32_t count = state->coder.object_count;
    byte_buffer* facts = &state->facts;
    byte_buffer_print( facts, "%s{\"f\":%" PRIu32, frame > input->first ? ",\n" : "", frame );
    if ( state->search.has_pairs )
    {
        byte_buffer_print( facts, ",\"pairs\":%" PRIu64, view_search_pairs( &state->search ).count );
    }
    if ( frame > input->first )
    {
        byte_buffer_print(
            facts, ",\"still\":%.4f", frame_static_share( input->boxes_before, input->boxes, count ) );
        byte_buffer_print( facts, ",\"begun\":%" PRIu64 ",\"ended\":%" PRIu64, state->search.begun_count,
            state->search.ended_count );
    }
    if ( state->def->has_times && state->search.has_pairs )
    {
        clv_stats stats = clv_space_stats( state->search.pair_space );
        byte_buffer_print( facts, ",\"ms\":[%.4f,%.4f,%.4f]", stats.update_ms, stats.search_ms,
            stats.clean_ms + stats.output_ms );
    }
    char* cells = view_cells_text( &state->cells, input->boxes, count );
    if ( state->cells_before == NULL || strcmp( cells, state->cells_before ) != 0 )
    {
        byte_buffer_print( facts, ",\"cells\":%s", cells );
    }
    free( state->cells_before );
    state->cells_before = cells;
    byte_buffer_put_byte( facts, '}' );
}

static bool write_block( page_state* state, lab_error* why )
{
    static const char open[] = "<script type=\"text/plain\" class=\"block\">", close[] = "</script>\n";
    byte_buffer_clear( &state->packed );
    byte_buffer_clear( &state->text );
    byte_buffer_put( &state->text, open, strlen( open ) );
    deflate_append( &state->packed, state->raw.bytes, state->raw.count );
    base64_append( &state->text, state->packed.bytes, state->packed.count );
    byte_buffer_put( &state->text, close, strlen( close ) );
    byte_buffer_clear( &state->raw );
    return output_file_write( state->file, state->text.bytes, state->text.count, why );
}

static bool write_frame( page_state* state, uint32_t frame, lab_error* why )
{
    uint32_t number = frame - state->input.first;
    bool begins = number % state->block_frames == 0;
    if ( begins && number > 0 )
    {
        // What was put last is put again, as a key: `before` still holds it.
        if ( !write_block( state, why ) || !put_frame( state, true, why ) )
        {
            return false;
        }
        byte_buffer_put_count( &state->raw, 0 );
    }
    if ( !view_input_read( &state->input, frame, why ) ||
        !view_search_update( &state->search, state->input.boxes, why ) ||
        !put_frame( state, number == 0, why ) )
    {
        return false;
    }
    put_tree( state );
    note_facts( state, frame );
    return true;
}

static bool write_frames( page_state* state, lab_error* why )
{
    const view_input* input = &state->input;
    progress_bar bar;
    progress_begin( &bar, "view", "frames", input->last - input->first + 1 );
    bool good = true;
    for ( uint32_t frame = input->first; good && frame <= input->last; ++frame )
    {
        good = interrupt_raised() ? lab_error_interrupted( why ) : write_frame( state, frame, why );
        progress_show( &bar, frame - input->first + 1 );
    }
    progress_end( &bar );
    return good && write_block( state, why );
}

// ---- the scene in words

/// Text as a JSON string that ends no script element either.
static void put_string( byte_buffer* out, const char* text )
{
    byte_buffer_put_byte( out, '"' );
    for ( ; *text != '\0'; ++text )
    {
        if ( (unsigned char)*text < 0x20 || strchr( "\"\\<>&", *text ) != NULL )
        {
            byte_buffer_print( out, "\\u%04x", (unsigned)(unsigned char)*text );
        }
        else
        {
            byte_buffer_put_byte( out, (uint8_t)*text );
        }
    }
    byte_buffer_put_byte( out, '"' );
}

/// JSON has no infinity; null stands for one.
static void put_numbers( byte_buffer* out, const char* name, const double* values, uint32_t count )
{
    byte_buffer_print( out, ",\n\"%s\":[", name );
    for ( uint32_t i = 0; i < count; ++i )
    {
        const char* comma = i > 0 ? "," : "";
        if ( isfinite( values[i] ) )
        {
            byte_buffer_print( out, "%s%.9g", comma, values[i] );
        }
        else
        {
            byte_buffer_print( out, "%snull", comma );
        }
    }
    byte_buffer_put_byte( out, ']' );
}

static void put_sides( page_state* state, byte_buffer* out )
{
    byte_buffer_print( out, ",\n\"half\":[" );
    for ( uint32_t i = 0; i < state->coder.object_count; ++i )
    {
        const float* half = state->input.bodies[i].half_sides;
        byte_buffer_print(
            out, "%s%.6g,%.6g,%.6g", i > 0 ? "," : "", (double)half[0], (double)half[1], (double)half[2] );
    }
    byte_buffer_put_byte( out, ']' );
}

static bool write_scene( page_state* state, lab_error* why )
{
    const view_input* input = &state->input;
    const scene_header* header = &input->source.header;
    byte_buffer* out = &state->text;
    const double world[6] = { (double)header->world.lower.x, (double)header->world.lower.y,
        (double)header->world.lower.z, (double)header->world.upper.x, (double)header->world.upper.y,
        (double)header->world.upper.z };
    byte_buffer_clear( out );
    byte_buffer_print( out, "{\"format\":%d,\"what\":", FORMAT );
    put_string( out, state->def->input.what );
    byte_buffer_print( out, ",\"name\":" );
    put_string( out, header->name );
    byte_buffer_print( out, ",\"type\":" );
    put_string( out, header->type );
    byte_buffer_print( out,
        ",\"objects\":%" PRIu32 ",\"first\":%" PRIu32 ",\"count\":%" PRIu32 ",\"block\":%" PRIu32
        ",\"poses\":%s,\"shape\":%d,\"rotation\":%d,\"tree\":",
        header->object_count, input->first, input->last - input->first + 1, state->block_frames,
        input->has_poses ? "true" : "false", (int)input->shape, ROTATION_STEPS );
    put_string( out, state->search.tree_space != NULL ? clv_space_method( state->search.tree_space ) : "" );
    put_numbers( out, "world", world, 6 );
    put_numbers( out, "origin", state->scale.origin, 3 );
    put_numbers( out, "step", &state->scale.step, 1 );
    if ( input->has_poses )
    {
        put_sides( state, out );
    }
    byte_buffer_print( out, ",\n\"frames\":[\n" );
    byte_buffer_put( out, state->facts.bytes, state->facts.count );
    byte_buffer_print( out, "]}" );
    return output_file_write( state->file, out->bytes, out->count, why );
}

// ---- the page

static bool open_state( page_state* state, lab_error* why )
{
    view_input* input = &state->input;
    if ( !view_input_open( input, &state->def->input, why ) )
    {
        return false;
    }
    uint32_t count = input->source.header.object_count;
    view_search_def search = { state->def->tree_method, &state->def->tree_settings, state->def->has_pairs };
    if ( !view_search_open( &state->search, count, &search, why ) ||
        !view_input_read( input, input->first, why ) )
    {
        return false;
    }
    view_cells_open( &state->cells );
    if ( input->has_poses )
    {
        view_volumes_open( &state->volumes, count );
    }
    state->scale = view_scale_choose( input->boxes, count );
    uint32_t frames = BLOCK_OBJECTS / count;
    state->block_frames = frames < BLOCK_FRAMES_LEAST ? BLOCK_FRAMES_LEAST
        : frames > BLOCK_FRAMES_MOST                  ? BLOCK_FRAMES_MOST
                                                      : frames;
    view_coder_open( &state->coder, count, input->has_poses ? VIEW_POSE_CHANNELS : VIEW_BOX_CHANNELS );
    return true;
}

static void close_state( page_state* state )
{
    view_coder_close( &state->coder );
    view_cells_close( &state->cells );
    view_volumes_close( &state->volumes );
    view_search_close( &state->search );
    view_input_close( &state->input );
    byte_buffer_free( &state->raw );
    byte_buffer_free( &state->packed );
    byte_buffer_free( &state->text );
    byte_buffer_free( &state->facts );
    free( state->cells_before );
}

static bool write_page( page_state* state, lab_error* why )
{
    const carried_file* carried = carried_find( "view/page.html" );
    const char* page = carried->text;
    const char* blocks = strstr( page, BLOCKS_MARK );
    const char* scene = blocks != NULL ? strstr( blocks, SCENE_MARK ) : NULL;
    if ( scene == NULL )
    {
        return lab_error_write(
            why, "view: the page in this program has no place for a scene; build it again" );
    }
    const char* between = blocks + strlen( BLOCKS_MARK );
    const char* rest = scene + strlen( SCENE_MARK );
    return output_file_write( state->file, page, (size_t)( blocks - page ), why ) &&
        write_frames( state, why ) &&
        output_file_write( state->file, between, (size_t)( scene - between ), why ) &&
        write_scene( state, why ) &&
        output_file_write( state->file, rest, carried->size - (size_t)( rest - page ), why );
}

bool view_page_write(
    output_file* file, const view_page_def* def, view_page_summary* summary, lab_error* why )
{
    page_state state = { .def = def, .file = file };
    bool good = open_state( &state, why ) && write_page( &state, why );
    if ( good )
    {
        const scene_header* header = &state.input.source.header;
        *summary = ( view_page_summary ){ .object_count = header->object_count,
            .frame_count = state.input.last - state.input.first + 1,
            .page_bytes = file->bytes };
        memcpy( summary->name, header->name, sizeof( summary->name ) );
        memcpy( summary->type, header->type, sizeof( summary->type ) );
        good = output_file_commit( file, why );
    }
    if ( !good )
    {
        output_file_abandon( file );
    }
    close_state( &state );
    return good;
}
