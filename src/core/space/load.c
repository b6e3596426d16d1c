// SPDX-License-Identifier: MIT
// A space from a snapshot. What comes from disk is checked value by value before it is used; what comes from
// memory was written by this build, and only its lengths are.
#include "cleave/save.h"
#include "space/save_format.h"
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/bit_set.h"
#include "base/finite.h"
#include "base/fp_mode.h"
#include "method/cleave_save.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NO_SLOT UINT32_MAX

typedef struct loading
{
    base_parts_reader reader;
    base_pass pass;
    clv_load_error* error;
    clv_logger logger;
    bool is_in_memory;
    uint64_t numbers[SAVE_NUMBERS];
    uint64_t numbers_offset;
    uint32_t numbers_count;        ///< that the snapshot has; the rest is 0
    const char *method, *settings; ///< in the bytes
    clv_space* space;
    base_u32_array free_slots;
} loading;

static bool has_bit( const loading* l, save_number number, uint64_t bit )
{
    return ( l->numbers[number] & bit ) != 0;
}

// A number that the snapshot lacks would be behind the last that it has.
static bool fault_number( loading* l, save_number number, const char* text )
{
    uint64_t place = (uint64_t)number < l->numbers_count ? (uint64_t)number : l->numbers_count;
    return clv_base_parts_fault( &l->reader, l->numbers_offset + 8 * place, "%s", text );
}

static bool is_good( const loading* l )
{
    return base_pass_is_good( &l->pass );
}

// ---- the def

static float number_as_float( const loading* l, save_number number )
{
    uint32_t bits = (uint32_t)l->numbers[number];
    float value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

static bool is_margin_number( const loading* l, save_number number )
{
    float value = number_as_float( l, number );
    return l->numbers[number] <= UINT32_MAX && value >= 0 && !isinf( value );
}

static bool uses( const loading* l, object_column column )
{
    bool is_used = false;
    for ( uint32_t i = 0; i < SAVE_COLUMNS; ++i )
    {
        is_used |=
            clv_space_save_columns[i].column == column && has_bit( l, SAVE_COLUMN_BITS, (uint64_t)1 << i );
    }
    return is_used;
}

// Which columns there may be, and which there must: one needs another.
static bool check_column_bits( loading* l )
{
    bool has_doubles = has_bit( l, SAVE_DEF_BITS, SAVE_DOUBLES ),
         has_events = has_bit( l, SAVE_DEF_BITS, SAVE_EVENTS );
    bool has_given = uses( l, has_doubles ? OBJECT_GIVEN_BOX64 : OBJECT_GIVEN_BOX );
    bool good = l->numbers[SAVE_COLUMN_BITS] < (uint64_t)1 << SAVE_COLUMNS && uses( l, OBJECT_BOX ) &&
        uses( l, OBJECT_BOX64 ) == has_doubles &&
        !uses( l, has_doubles ? OBJECT_GIVEN_BOX : OBJECT_GIVEN_BOX64 ) &&
        ( has_given || ( !uses( l, OBJECT_MARGIN ) && !uses( l, OBJECT_MOTION ) ) ) &&
        ( uses( l, OBJECT_MARGIN ) || !uses( l, OBJECT_MARGIN_BY ) ) &&
        uses( l, OBJECT_REPORTED ) == has_events &&
        uses( l, OBJECT_ASK ) == has_bit( l, SAVE_DEF_BITS, SAVE_FILTER ) &&
        ( has_events || !uses( l, OBJECT_LAST_DATA ) ) &&
        ( !has_events || !uses( l, OBJECT_USER_DATA ) || uses( l, OBJECT_LAST_DATA ) ) &&
        ( uses( l, OBJECT_RENEWED ) || !has_bit( l, SAVE_STATE_BITS, SAVE_RENEWED ) ) &&
        ( uses( l, OBJECT_MOTION ) || !has_bit( l, SAVE_STATE_BITS, SAVE_MOTION_SET ) ) &&
        ( has_bit( l, SAVE_STATE_BITS, SAVE_MOTION_SET ) ||
            !has_bit( l, SAVE_STATE_BITS, SAVE_MOTION_SPENT ) );
    return good || fault_number( l, SAVE_COLUMN_BITS, "has columns that do not go together" );
}

static bool check_query_bits( loading* l )
{
    uint64_t bits = l->numbers[SAVE_QUERY_BITS], columns = bits / SAVE_QUERY_COLUMN;
    bool is_copied = ( bits & SAVE_QUERY_COPIED ) != 0,
         has_doubles = has_bit( l, SAVE_DEF_BITS, SAVE_DOUBLES );
    uint64_t needed = (uint64_t)1 << OBJECT_BOX | (uint64_t)1 << OBJECT_GENERATION |
        ( has_doubles ? (uint64_t)1 << OBJECT_BOX64 : 0 );
    uint64_t given = (uint64_t)1 << ( has_doubles ? OBJECT_GIVEN_BOX64 : OBJECT_GIVEN_BOX );
    bool good = is_copied ? ( columns & ~given ) == needed && ( bits & SAVE_QUERY_HAS_BOXES ) != 0 &&
            ( bits & SAVE_QUERY_SEES_STORE ) == 0
                          : columns == 0;
    good = good && l->numbers[SAVE_QUERY_SLOTS] <= ( is_copied ? l->numbers[SAVE_SLOTS] : 0 ) &&
        l->numbers[SAVE_QUERY_LIVE] <= l->numbers[SAVE_QUERY_SLOTS];
    return good || fault_number( l, SAVE_QUERY_BITS, "has queries in a state that no space has" );
}

static bool check_numbers( loading* l )
{
    const uint64_t* numbers = l->numbers;
    const uint64_t of_memory = SAVE_SHIFTED | SAVE_MOVED_KNOWN | SAVE_IS_BORROWED | SAVE_HAS_STATE;
    if ( numbers[SAVE_BUILD] != ( l->is_in_memory ? clv_space_save_build() : 0 ) )
    {
        return fault_number(
            l, SAVE_BUILD, "was made by another build of the library: that is for CLV_SAVE_DISK" );
    }
    if ( numbers[SAVE_DEF_BITS] > SAVE_DEF_BITS_ALL ||
        ( has_bit( l, SAVE_DEF_BITS, SAVE_DOUBLES ) && has_bit( l, SAVE_DEF_BITS, SAVE_FLAT ) ) )
    {
        return fault_number( l, SAVE_DEF_BITS, "has a def that no space has" );
    }
    if ( numbers[SAVE_STATE_BITS] > SAVE_STATE_BITS_ALL ||
        ( !l->is_in_memory && has_bit( l, SAVE_STATE_BITS, of_memory ) ) )
    {
        return fault_number( l, SAVE_STATE_BITS, "has a state that no space has" );
    }
    for ( int i = SAVE_MARGIN; i <= SAVE_BY_SPEED; ++i )
    {
        if ( !is_margin_number( l, (save_number)i ) )
        {
            return fault_number( l, (save_number)i, "has a margin that is negative or not finite" );
        }
    }
    if ( numbers[SAVE_SLOTS] > CLV_MAX_OBJECTS || numbers[SAVE_SLOTS] > l->reader.size / 4 )
    {
        return fault_number( l, SAVE_SLOTS, "has more slots than bytes for them" );
    }
    if ( numbers[SAVE_LIVE] > numbers[SAVE_SLOTS] ||
        numbers[SAVE_FREE] > numbers[SAVE_SLOTS] - numbers[SAVE_LIVE] )
    {
        return fault_number( l, SAVE_LIVE, "has more objects and free slots than slots" );
    }
    return check_column_bits( l ) && check_query_bits( l );
}

static bool read_numbers( loading* l )
{
    base_parts_reader* reader = &l->reader;
    if ( !clv_base_part_expect( reader, SAVE_NUMBERS_TAG, UINT64_MAX ) )
    {
        return false;
    }
    l->numbers_offset = reader->payload_offset;
    if ( reader->length % 8 != 0 || reader->length > sizeof( l->numbers ) )
    {
        return clv_base_parts_fault( reader, reader->payload_offset - 16, "has more numbers than are known" );
    }
    l->numbers_count = (uint32_t)( reader->length / 8 );
    return clv_base_part_get_ordered( reader, l->numbers, l->numbers_count, 8 ) &&
        clv_base_part_close( reader ) && check_numbers( l );
}

// Two texts, each with its zero, where they lie.
static bool read_method( loading* l )
{
    base_parts_reader* reader = &l->reader;
    if ( !clv_base_part_expect( reader, SAVE_METHOD_TAG, UINT64_MAX ) )
    {
        return false;
    }
    uint64_t length = reader->length;
    const char* text = (const char*)clv_base_part_view( reader, length );
    if ( text == NULL || !clv_base_part_close( reader ) )
    {
        return false;
    }
    const char* end = length > 0 ? memchr( text, '\0', (size_t)length ) : NULL;
    l->method = text;
    l->settings = end != NULL ? end + 1 : NULL;
    bool is_whole = end != NULL && l->settings < text + length && text[length - 1] == '\0' &&
        strlen( l->settings ) == (size_t)( text + length - 1 - l->settings );
    return is_whole || clv_base_parts_fault( reader, reader->payload_offset, "names no method" );
}

// The last sentence about a def that was refused.
static void hear_line( clv_log_level level, const char* line, void* user )
{
    loading* l = user;
    if ( level == CLV_LOG_ERROR )
    {
        snprintf( l->error->text, sizeof( l->error->text ), "%s", line );
    }
    clv_space_log( &l->logger, level, line );
}

static clv_result create_for( loading* l, const clv_space_def* given )
{
    clv_space_def def = *given;
    def.logger = ( clv_logger ){ hear_line, l };
    def.capacity =
        given->capacity > l->numbers[SAVE_SLOTS] ? given->capacity : (uint32_t)l->numbers[SAVE_SLOTS];
    def.max_pairs = l->numbers[SAVE_MAX_PAIRS];
    def.margin = number_as_float( l, SAVE_MARGIN );
    def.margin_by_size = number_as_float( l, SAVE_BY_SIZE );
    def.margin_by_speed = number_as_float( l, SAVE_BY_SPEED );
    def.sorted = has_bit( l, SAVE_DEF_BITS, SAVE_SORTED );
    def.events = has_bit( l, SAVE_DEF_BITS, SAVE_EVENTS );
    def.skip_static_pairs = has_bit( l, SAVE_DEF_BITS, SAVE_SKIP_STATIC );
    def.pair_data = has_bit( l, SAVE_DEF_BITS, SAVE_PAIR_DATA );
    def.doubles = has_bit( l, SAVE_DEF_BITS, SAVE_DOUBLES );
    def.flat = has_bit( l, SAVE_DEF_BITS, SAVE_FLAT );
    def.method = l->method;
    def.settings = l->settings;
    clv_result result = clv_space_create( &def, &l->space );
    if ( result != CLV_OK )
    {
        if ( l->error->text[0] == '\0' )
        {
            snprintf(
                l->error->text, sizeof( l->error->text ), "the def was not made by clv_default_space_def" );
        }
        return result;
    }
    l->space->def.logger = given->logger;
    l->space->def.capacity = given->capacity;
    l->pass.memory = &l->space->memory;
    bool wants_filter = has_bit( l, SAVE_DEF_BITS, SAVE_FILTER );
    if ( wants_filter != ( given->filter != NULL ) )
    {
        snprintf( l->error->text, sizeof( l->error->text ), "%s",
            wants_filter ? "the space had a filter callback: def.filter must be set"
                         : "the space had no filter callback: def.filter must be NULL" );
        clv_space_log( &l->logger, CLV_LOG_ERROR, l->error->text );
        return CLV_BAD_DEF;
    }
    return CLV_OK;
}

// ---- objects

static bool is_live_at( const object_store* objects, uint32_t slot )
{
    return ( object_generations( objects )[slot] & 1 ) != 0;
}

static bool is_box64( const clv_aabb64* box )
{
    return box->lower.x <= box->upper.x && box->lower.y <= box->upper.y && box->lower.z <= box->upper.z;
}

// Is the value of a column one that a space takes? Only of live slots: others have what was left there.
static bool is_value( const loading* l, const save_column* column, const void* data, uint32_t slot )
{
    const float* floats = (const float*)data + (size_t)slot * ( column->unit == 4 ? column->count : 0 );
    clv_aabb box;
    switch ( column->column )
    {
    case OBJECT_BOX:
    case OBJECT_GIVEN_BOX:
        memcpy( &box, floats, sizeof( box ) );
        return clv_aabb_is_valid( box ) &&
            ( !l->space->def.flat || ( box.lower.z == 0 && box.upper.z == 1 ) );
    case OBJECT_BOX64:
    case OBJECT_GIVEN_BOX64: return is_box64( (const clv_aabb64*)data + slot );
    case OBJECT_MARGIN: return floats[0] >= 0 && !isinf( floats[0] );
    case OBJECT_MARGIN_BY:
        return floats[0] >= 0 && !isinf( floats[0] ) && floats[1] >= 0 && !isinf( floats[1] );
    case OBJECT_MOTION: return isfinite( floats[0] ) && isfinite( floats[1] ) && isfinite( floats[2] );
    case OBJECT_RENEWED: return ( (const uint8_t*)data )[slot] <= has_bit( l, SAVE_STATE_BITS, SAVE_RENEWED );
    case OBJECT_STATIC:
    case OBJECT_ASK: return ( (const uint8_t*)data )[slot] <= 1;
    case OBJECT_REPORTED: return true;
    default: return true;
    }
}

static bool check_column( loading* l, const save_column* column, const void* data )
{
    const object_store* objects = &l->space->objects;
    bool of_all = column->unit == 1;
    for ( uint32_t slot = 0; slot < l->numbers[SAVE_SLOTS]; ++slot )
    {
        if ( ( of_all || is_live_at( objects, slot ) ) && !is_value( l, column, data, slot ) )
        {
            return clv_base_parts_fault( &l->reader,
                l->reader.payload_offset + (uint64_t)slot * column->unit * column->count,
                "has a value of object %lu that no space has", (unsigned long)slot );
        }
    }
    return true;
}

static bool get_filters( loading* l, clv_filter* filters )
{
    bool ok = true;
    for ( uint64_t i = 0; i < l->numbers[SAVE_SLOTS] && ok; ++i )
    {
        uint64_t numbers[3] = { 0 };
        uint64_t at = l->reader.offset;
        ok = clv_base_part_get_ordered( &l->reader, numbers, 3, 8 );
        memset( &filters[i], 0, sizeof( filters[i] ) );
        filters[i].category = numbers[0];
        filters[i].mask = numbers[1];
        filters[i].group = (int32_t)(uint32_t)numbers[2];
        if ( numbers[2] > UINT32_MAX )
        {
            ok = clv_base_parts_fault( &l->reader, at + 16, "has a filter that no space has" );
        }
    }
    return ok;
}

static bool load_column( loading* l, const save_column* column )
{
    object_store* objects = &l->space->objects;
    uint64_t count = l->numbers[SAVE_SLOTS] * column->count;
    void* data = objects->columns[column->column];
    CLV_ASSERT( data != NULL && objects->capacities[column->column] >= l->numbers[SAVE_SLOTS] );
    return clv_base_part_expect( &l->reader, column->tag, count * column->unit ) &&
        ( column->column == OBJECT_FILTER
                ? get_filters( l, data )
                : clv_base_part_get_ordered( &l->reader, data, count, column->unit ) ) &&
        clv_base_part_close( &l->reader ) && ( l->is_in_memory || check_column( l, column, data ) );
}

static bool check_generations( loading* l )
{
    const object_store* objects = &l->space->objects;
    uint64_t live = 0, retired = 0, slots = l->numbers[SAVE_SLOTS];
    for ( uint64_t slot = 0; slot < slots; ++slot )
    {
        uint32_t generation = object_generations( objects )[slot];
        live += generation & 1;
        retired += generation == 0;
    }
    return ( live == l->numbers[SAVE_LIVE] && slots - live - retired == l->numbers[SAVE_FREE] ) ||
        clv_base_parts_fault(
            &l->reader, l->reader.payload_offset, "has other generations than objects and free slots" );
}

// Columns that the def made are among them; the others are begun before there are slots.
static bool reserve_columns( loading* l )
{
    object_store* objects = &l->space->objects;
    bool ok = true;
    for ( uint32_t i = 0; i < SAVE_COLUMNS && ok; ++i )
    {
        object_column column = clv_space_save_columns[i].column;
        if ( has_bit( l, SAVE_COLUMN_BITS, (uint64_t)1 << i ) )
        {
            ok = clv_object_store_use( objects, column );
        }
        else if ( object_store_uses( objects, column ) )
        {
            return fault_number( l, SAVE_COLUMN_BITS, "lacks a column that its def has" );
        }
    }
    ok = ok && clv_object_store_reserve( objects, l->numbers[SAVE_SLOTS] );
    l->pass.is_out_of_memory = !ok;
    return ok;
}

// A walk that ends after as many slots as are free has met each once.
static bool check_free( loading* l )
{
    object_store* objects = &l->space->objects;
    uint64_t free_count = l->numbers[SAVE_FREE];
    uint32_t slot = objects->first_free;
    bool is_row = true, ok = true;
    for ( uint64_t i = 0; i < free_count && ok; ++i )
    {
        ok = slot < l->numbers[SAVE_SLOTS] && !is_live_at( objects, slot ) &&
            object_generations( objects )[slot] != 0;
        is_row = is_row && slot == objects->first_free + i;
        if ( ok )
        {
            memcpy( &slot, &object_boxes( objects )[slot], sizeof( slot ) );
        }
    }
    objects->free_count = (uint32_t)free_count;
    objects->free_is_row =
        free_count == 0 || ( is_row && objects->first_free + free_count == l->numbers[SAVE_SLOTS] );
    return ( ok && slot == NO_SLOT ) || fault_number( l, SAVE_FREE, "has an invalid list of free slots" );
}

// On disk they are a list; here they are a stack in the boxes that they do not need.
static void stack_free( loading* l )
{
    object_store* objects = &l->space->objects;
    objects->first_free = NO_SLOT;
    for ( uint64_t i = l->free_slots.count; i > 0; --i )
    {
        uint32_t slot = l->free_slots.items[i - 1];
        if ( slot < l->numbers[SAVE_SLOTS] )
        {
            memcpy( &object_boxes( objects )[slot], &objects->first_free, sizeof( uint32_t ) );
            objects->first_free = slot;
        }
    }
}

static void derive_box( clv_space* space, uint32_t slot )
{
    object_store* objects = &space->objects;
    const clv_aabb nothing = { 0 };
    if ( object_boxes64( objects ) == NULL )
    {
        object_boxes( objects )[slot] = clv_object_store_test_box( objects, slot );
        return;
    }
    clv_aabb64* box = &object_boxes64( objects )[slot];
    const clv_aabb64* given = objects->columns[OBJECT_GIVEN_BOX64];
    *box = given != NULL ? clv_object_store_test_box64( objects, slot, given[slot] ) : *box;
    object_boxes( objects )[slot] = clv_far_map_box( &space->far.map, box, &nothing );
}

// What is not on disk. Spent motions have swept the boxes that are there.
static void derive_boxes( loading* l )
{
    clv_space* space = l->space;
    object_store* objects = &space->objects;
    for ( uint32_t slot = 0; slot < l->numbers[SAVE_SLOTS]; ++slot )
    {
        if ( is_live_at( objects, slot ) )
        {
            derive_box( space, slot );
        }
    }
    space->far.change_count = l->numbers[SAVE_LIVE];
}

static bool read_objects( loading* l )
{
    object_store* objects = &l->space->objects;
    uint64_t slots = l->numbers[SAVE_SLOTS];
    bool ok = reserve_columns( l ) && clv_base_part_expect( &l->reader, SAVE_GENERATION_TAG, slots * 4 ) &&
        clv_base_part_get_ordered( &l->reader, object_generations( objects ), slots, 4 ) &&
        clv_base_part_close( &l->reader ) && check_generations( l );
    if ( ok && !l->is_in_memory )
    {
        base_pass_array( &l->pass, SAVE_FREE_TAG, &l->free_slots, 4 );
        ok = is_good( l ) &&
            ( l->free_slots.count == l->numbers[SAVE_FREE] ||
                fault_number( l, SAVE_FREE, "has another number of free slots" ) );
    }
    bool derives = false;
    for ( uint32_t i = 0; i < SAVE_COLUMNS && ok; ++i )
    {
        const save_column* column = &clv_space_save_columns[i];
        if ( !has_bit( l, SAVE_COLUMN_BITS, (uint64_t)1 << i ) )
        {
            continue;
        }
        if ( l->is_in_memory || !clv_space_save_is_derived( objects, column ) )
        {
            ok = load_column( l, column );
            continue;
        }
        derives = true;
        memset( objects->columns[column->column], 0, (size_t)slots * column->unit * column->count );
    }
    if ( !ok )
    {
        return false;
    }
    if ( derives )
    {
        derive_boxes( l );
    }
    objects->first_free = l->numbers[SAVE_FREE] > 0 ? (uint32_t)l->numbers[SAVE_FIRST_FREE] : NO_SLOT;
    if ( !l->is_in_memory )
    {
        stack_free( l );
    }
    return check_free( l );
}

static void set_objects( const loading* l )
{
    object_store* objects = &l->space->objects;
    objects->slot_count = (uint32_t)l->numbers[SAVE_SLOTS];
    objects->live_count = (uint32_t)l->numbers[SAVE_LIVE];
    objects->live_is_current = false;
    objects->is_renewed = has_bit( l, SAVE_STATE_BITS, SAVE_RENEWED );
    objects->motion_is_set = has_bit( l, SAVE_STATE_BITS, SAVE_MOTION_SET );
    objects->motion_is_spent = has_bit( l, SAVE_STATE_BITS, SAVE_MOTION_SPENT );
    objects->members_changed = has_bit( l, SAVE_STATE_BITS, SAVE_MEMBERS_CHANGED );
}

// ---- lists

static bool check_loaded_pairs( loading* l, const pair_list* list, bool is_sorted )
{
    for ( uint64_t i = 0; i < list->count; ++i )
    {
        clv_pair pair = list->items[i], last = list->items[i > 0 ? i - 1 : 0];
        bool ascends = i == 0 || last.a < pair.a || ( last.a == pair.a && last.b < pair.b );
        if ( pair.a >= pair.b || pair.b >= l->numbers[SAVE_SLOTS] || ( is_sorted && !ascends ) )
        {
            return clv_base_parts_fault(
                &l->reader, l->reader.payload_offset + 8 * i, "has an invalid pair" );
        }
    }
    return true;
}

static void read_pairs( loading* l, uint32_t tag, pair_list* list, bool is_sorted )
{
    base_pass_array( &l->pass, tag, list, 4 );
    if ( is_good( l ) && !l->is_in_memory )
    {
        check_loaded_pairs( l, list, is_sorted );
    }
}

static void read_events( loading* l, uint32_t tag, pair_id_list* list )
{
    base_pass_array( &l->pass, tag, list, 4 );
    for ( uint64_t i = 0; is_good( l ) && !l->is_in_memory && i < list->count; ++i )
    {
        clv_id_pair pair = list->items[i];
        if ( pair.a.index >= pair.b.index || pair.b.index >= l->numbers[SAVE_SLOTS] )
        {
            clv_base_parts_fault( &l->reader, l->reader.payload_offset + 16 * i, "has an event of no pair" );
        }
    }
}

// Words or user data beside `beside` entries; there is room for one at least where `is_there`.
static void expect_beside( loading* l, uint64_t count, uint64_t beside )
{
    if ( is_good( l ) && count != beside )
    {
        clv_base_parts_fault( &l->reader, l->reader.payload_offset - 16, "has %llu entries beside %llu",
            (unsigned long long)count, (unsigned long long)beside );
    }
}

#define READ_BESIDE( l, tag, array, bit, beside )                                                            \
    do                                                                                                       \
    {                                                                                                        \
        base_pass_array( &( l )->pass, tag, array, 8 );                                                      \
        bool is_there = has_bit( l, SAVE_STATE_BITS, bit );                                                  \
        expect_beside( l, ( array )->count, is_there ? ( beside ) : 0 );                                     \
        if ( is_good( l ) && is_there )                                                                      \
        {                                                                                                    \
            ( l )->pass.is_out_of_memory = !base_array_reserve( array, ( l )->pass.memory, 1 );              \
        }                                                                                                    \
    } while ( 0 )

static bool read_lists( loading* l )
{
    clv_space* space = l->space;
    const clv_space_def* def = &space->def;
    bool is_valid = has_bit( l, SAVE_STATE_BITS, SAVE_LIST_VALID );
    bool has_words = def->pair_data;
    read_pairs( l, SAVE_LIST_TAG, &space->list, def->sorted );
    expect_beside( l, space->list.count, is_valid ? space->list.count : 0 );
    base_pass_array( &l->pass, SAVE_WORDS_TAG, &space->words, 8 );
    expect_beside( l, space->words.count, has_words && is_valid ? space->list.count : 0 );
    read_pairs( l, SAVE_SORTED_TAG, &space->last_sorted, true );
    expect_beside( l, space->last_sorted.count, def->events ? space->last_sorted.count : 0 );
    read_events( l, SAVE_BEGUN_TAG, &space->begun );
    expect_beside( l, space->begun.count, def->events ? space->begun.count : 0 );
    read_events( l, SAVE_ENDED_TAG, &space->ended );
    expect_beside( l, space->ended.count, def->events ? space->ended.count : 0 );
    READ_BESIDE( l, SAVE_BEGUN_USER_TAG, &space->begun_user, SAVE_BEGUN_USER, space->begun.count );
    READ_BESIDE( l, SAVE_ENDED_USER_TAG, &space->ended_user, SAVE_ENDED_USER, space->ended.count );
    READ_BESIDE( l, SAVE_ENDED_WORDS_TAG, &space->ended_words, SAVE_ENDED_WORDS, space->ended.count );
    read_pairs( l, SAVE_LAST_LIST_TAG, &space->last_list, false );
    expect_beside( l, space->last_list.count, has_words && !is_valid ? space->last_list.count : 0 );
    base_pass_array( &l->pass, SAVE_LAST_WORDS_TAG, &space->last_words, 8 );
    expect_beside( l, space->last_words.count, space->last_list.count );
    return is_good( l );
}

static bool read_decisions( loading* l )
{
    clv_space* space = l->space;
    if ( l->is_in_memory )
    {
        space->decisions.count = l->numbers[SAVE_DECISIONS];
        clv_pair_decisions_pass_table( &space->decisions, &l->pass, SAVE_DECISIONS_TAG );
    }
    else
    {
        clv_pair_decisions_pass(
            &space->decisions, &l->pass, SAVE_DECISIONS_TAG, (uint32_t)l->numbers[SAVE_SLOTS] );
        expect_beside( l, space->decisions.count, space->def.filter != NULL ? space->decisions.count : 0 );
    }
    return is_good( l );
}

// ---- queries

static bool check_copy( loading* l, uint64_t offset )
{
    const query_state* state = &l->space->query;
    const uint32_t* generations = state->copies[OBJECT_GENERATION];
    uint64_t live = 0;
    bool ok = true;
    for ( uint32_t slot = 0; slot < l->numbers[SAVE_QUERY_SLOTS] && ok; ++slot )
    {
        bool is_live = ( generations[slot] & 1 ) != 0;
        live += is_live;
        ok = !is_live ||
            ( clv_aabb_is_valid( ( (const clv_aabb*)state->copies[OBJECT_BOX] )[slot] ) &&
                ( !state->copy_is_used[OBJECT_GIVEN_BOX] ||
                    clv_aabb_is_valid( ( (const clv_aabb*)state->copies[OBJECT_GIVEN_BOX] )[slot] ) ) &&
                ( !state->copy_is_used[OBJECT_BOX64] ||
                    is_box64( (const clv_aabb64*)state->copies[OBJECT_BOX64] + slot ) ) &&
                ( !state->copy_is_used[OBJECT_GIVEN_BOX64] ||
                    is_box64( (const clv_aabb64*)state->copies[OBJECT_GIVEN_BOX64] + slot ) ) );
    }
    return ( ok && live == l->numbers[SAVE_QUERY_LIVE] ) ||
        clv_base_parts_fault( &l->reader, offset, "has boxes for queries that no space has" );
}

static bool read_query( loading* l )
{
    query_state* state = &l->space->query;
    uint64_t bits = l->numbers[SAVE_QUERY_BITS], slots = l->numbers[SAVE_QUERY_SLOTS],
             offset = l->reader.offset;
    if ( ( bits & ( SAVE_QUERY_USED | SAVE_QUERY_COPIED ) ) != 0 )
    {
        clv_query_state_use( state ); // it gives the copy back, also if the rest cannot be read
    }
    for ( int i = 0; i < QUERY_COPY_COUNT; ++i )
    {
        if ( ( bits & (uint64_t)SAVE_QUERY_COLUMN << i ) != 0 )
        {
            const save_shape shape = save_query_shape( i );
            clv_base_pass_table( &l->pass, shape.tag, &state->copies[i], &state->copy_capacities[i], slots,
                slots + 1, (size_t)shape.unit * shape.count, shape.unit );
            state->copy_is_used[i] = true;
        }
    }
    bool is_copied = ( bits & SAVE_QUERY_COPIED ) != 0;
    if ( !is_good( l ) || ( is_copied && !check_copy( l, offset ) ) )
    {
        return false;
    }
    state->is_copied = is_copied;
    state->has_boxes = ( bits & SAVE_QUERY_HAS_BOXES ) != 0;
    state->store_is_seen = ( bits & SAVE_QUERY_SEES_STORE ) != 0;
    state->is_lost = ( bits & SAVE_QUERY_LOST ) != 0;
    state->may_be_gone = ( bits & SAVE_QUERY_GONE ) != 0;
    state->members_changed = true; // the tree is made anew
    state->slot_count = (uint32_t)slots;
    state->live_count = (uint32_t)l->numbers[SAVE_QUERY_LIVE];
    return true;
}

// ---- what only memory has

static bool read_machine( loading* l )
{
    clv_space* space = l->space;
    object_store* objects = &space->objects;
    bool is_known = has_bit( l, SAVE_STATE_BITS, SAVE_MOVED_KNOWN );
    uint64_t words = is_known ? base_bits_words( l->numbers[SAVE_SLOTS] ) : 0;
    base_pass_table( &l->pass, SAVE_MOVED_TAG, &objects->moved, words, is_known ? words + 1 : 0, 8 );
    objects->moved_is_known = is_known;
    clv_space_save_pass_far( space, &l->pass );
    if ( is_good( l ) && has_bit( l, SAVE_STATE_BITS, SAVE_HAS_STATE ) )
    {
        clv_method_cleave_pass( space->method_state, &l->pass );
    }
    if ( is_good( l ) && has_bit( l, SAVE_STATE_BITS, SAVE_IS_BORROWED ) )
    {
        pair_list lent = clv_method_cleave_list( space->method_state );
        space->borrowed = lent.items;
        space->borrowed_count = l->numbers[SAVE_BORROWED];
        if ( lent.items == NULL || space->borrowed_count > lent.count )
        {
            return fault_number( l, SAVE_BORROWED, "has a list that is not there" );
        }
    }
    return is_good( l );
}

// ---- all of it

static void set_space( const loading* l )
{
    clv_space* space = l->space;
    space->doubles = space->def.doubles ? &clv_space_doubles : NULL;
    space->doubles_changed = has_bit( l, SAVE_STATE_BITS, SAVE_DOUBLES_CHANGED );
    space->is_shifted = has_bit( l, SAVE_STATE_BITS, SAVE_SHIFTED );
    space->list_is_valid = has_bit( l, SAVE_STATE_BITS, SAVE_LIST_VALID );
    space->list_number = l->numbers[SAVE_LIST_NUMBER];
    space->filters_changed = has_bit( l, SAVE_STATE_BITS, SAVE_FILTERS_CHANGED );
    space->last_failed = has_bit( l, SAVE_STATE_BITS, SAVE_LAST_FAILED );
    space->stats.update_count = l->numbers[SAVE_UPDATES];
    space->stats.pair_count = l->numbers[SAVE_PAIRS];
    space->stats.candidate_count = l->numbers[SAVE_CANDIDATES];
    space->stats.test_count = l->numbers[SAVE_TESTS];
    space->stats.begun_count = l->numbers[SAVE_BEGUN];
    space->stats.ended_count = l->numbers[SAVE_ENDED];
}

static bool read_space( loading* l )
{
    bool ok = read_objects( l ) && read_lists( l ) && read_decisions( l ) && read_query( l ) &&
        ( !l->is_in_memory || read_machine( l ) );
    if ( !ok || !clv_base_part_expect( &l->reader, BASE_PART_END, 0 ) )
    {
        return false;
    }
    set_objects( l );
    set_space( l );
    CLV_VALIDATE( clv_object_store_check( &l->space->objects ) == NULL );
    return true;
}

static clv_result fail_load( loading* l, clv_result result )
{
    clv_load_error* error = l->error;
    if ( l->reader.failed )
    {
        result = CLV_FILE_FAILED;
        error->offset = l->reader.fault_offset;
        snprintf( error->text, sizeof( error->text ), "the snapshot %s, at byte %llu", l->reader.fault,
            (unsigned long long)error->offset );
    }
    else if ( l->pass.is_out_of_memory )
    {
        result = CLV_OUT_OF_MEMORY;
        snprintf( error->text, sizeof( error->text ), "out of memory for what the snapshot holds" );
    }
    return result;
}

static clv_result load_space( loading* l, const clv_space_def* def, const void* bytes, size_t size )
{
    l->reader = ( base_parts_reader ){ .memory = bytes, .size = size };
    l->pass.reader = &l->reader;
    l->is_in_memory =
        size >= BASE_PARTS_HEADER_BYTES && base_get_u32( (const uint8_t*)bytes + 8 ) == SAVE_KIND_MEMORY;
    if ( !clv_base_parts_open(
             &l->reader, l->is_in_memory ? SAVE_KIND_MEMORY : SAVE_KIND_DISK, SAVE_VERSION ) ||
        !read_numbers( l ) || !read_method( l ) )
    {
        return fail_load( l, CLV_FILE_FAILED );
    }
    if ( has_bit( l, SAVE_STATE_BITS, SAVE_HAS_STATE ) !=
        ( l->is_in_memory && strcmp( l->method, METHOD_DEFAULT ) == 0 ) )
    {
        fault_number( l, SAVE_STATE_BITS, "has the state of another method" );
        return fail_load( l, CLV_FILE_FAILED );
    }
    clv_result result = create_for( l, def );
    if ( result == CLV_OK )
    {
        result = read_space( l ) ? CLV_OK : fail_load( l, CLV_FILE_FAILED );
        base_array_free( &l->free_slots, l->pass.memory );
    }
    return result;
}

clv_result clv_space_load(
    const clv_space_def* def, const void* bytes, size_t size, clv_space** space, clv_load_error* error )
{
    CLV_ASSERT( def != NULL && space != NULL && ( bytes != NULL || size == 0 ) );
    *space = NULL;
    clv_load_error own = { 0 };
    loading l = { .error = error != NULL ? error : &own };
    l.error->offset = UINT64_MAX;
    l.error->text[0] = '\0';
    const clv_space_def known = clv_default_space_def();
    if ( def->cookie == known.cookie && def->size == known.size ) // otherwise nothing in it can be trusted
    {
        l.logger = def->logger;
    }
    base_fp_mode mode = base_fp_enter();
    clv_result result = load_space( &l, def, bytes, size );
    if ( result != CLV_OK )
    {
        if ( l.reader.failed || l.pass.is_out_of_memory )
        {
            clv_space_log( &l.logger, CLV_LOG_ERROR, l.error->text );
        }
        clv_space_destroy( l.space );
    }
    else
    {
        *space = l.space;
    }
    base_fp_leave( mode );
    return result;
}
