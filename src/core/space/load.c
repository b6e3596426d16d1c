// SPDX-License-Identifier: MIT
// A space from a snapshot. What comes from disk is checked value by value before it is used; what comes from
// memory was written by this build, and only its lengths are.
#include "cleave/save.h"
#include "space/save_format.h"
#include "space/space_internal.h"

#include "base/assertion.h"
#include "base/fp_mode.h"
#include "method/cleave_save.h"
#include "object/test_box.h"

#include <stdio.h>
#include <string.h>

#define NO_SLOT UINT32_MAX

typedef struct loading
{
    save_walk walk;
    base_parts_reader reader;
    clv_load_error* error;
    clv_logger logger;
    uint64_t numbers_offset;
    uint32_t numbers_count;        ///< that the snapshot has; the rest is 0
    const char *method, *settings; ///< in the bytes
    base_u32_array free_slots;
} loading;

static bool has_bit( const loading* l, save_number number, uint64_t bit )
{
    return save_walk_has( &l->walk, number, bit );
}

// A number that the snapshot lacks would be behind the last that it has.
static bool fault_number( loading* l, save_number number, const char* text )
{
    uint64_t place = (uint64_t)number < l->numbers_count ? (uint64_t)number : l->numbers_count;
    return clv_base_parts_fault( &l->reader, l->numbers_offset + 8 * place, "%s", text );
}

static bool is_good( const loading* l )
{
    return base_pass_is_good( &l->walk.pass );
}

// ---- the def

static float number_as_float( const loading* l, save_number number )
{
    uint32_t bits = (uint32_t)l->walk.numbers[number];
    float value;
    memcpy( &value, &bits, sizeof( value ) );
    return value;
}

static bool is_margin_number( const loading* l, save_number number )
{
    return l->walk.numbers[number] <= UINT32_MAX && object_is_margin( number_as_float( l, number ) );
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
    bool good = l->walk.numbers[SAVE_COLUMN_BITS] < (uint64_t)1 << SAVE_COLUMNS && uses( l, OBJECT_BOX ) &&
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
    uint64_t bits = l->walk.numbers[SAVE_QUERY_BITS], columns = bits / SAVE_QUERY_COLUMN;
    bool is_copied = ( bits & SAVE_QUERY_COPIED ) != 0,
         has_doubles = has_bit( l, SAVE_DEF_BITS, SAVE_DOUBLES );
    uint64_t needed = (uint64_t)1 << OBJECT_BOX | (uint64_t)1 << OBJECT_GENERATION |
        ( has_doubles ? (uint64_t)1 << OBJECT_BOX64 : 0 );
    uint64_t given = (uint64_t)1 << ( has_doubles ? OBJECT_GIVEN_BOX64 : OBJECT_GIVEN_BOX );
    bool good = is_copied ? ( columns & ~given ) == needed && ( bits & SAVE_QUERY_HAS_BOXES ) != 0 &&
            ( bits & SAVE_QUERY_SEES_STORE ) == 0
                          : columns == 0;
    good = good && l->walk.numbers[SAVE_QUERY_SLOTS] <= ( is_copied ? l->walk.numbers[SAVE_SLOTS] : 0 ) &&
        l->walk.numbers[SAVE_QUERY_LIVE] <= l->walk.numbers[SAVE_QUERY_SLOTS];
    return good || fault_number( l, SAVE_QUERY_BITS, "has queries in a state that no space has" );
}

static bool check_numbers( loading* l )
{
    const uint64_t* numbers = l->walk.numbers;
    if ( numbers[SAVE_BUILD] != ( l->walk.is_in_memory ? clv_space_save_build() : 0 ) )
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
        ( !l->walk.is_in_memory && has_bit( l, SAVE_STATE_BITS, SAVE_EXACT_BITS ) ) )
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
    if ( reader->length % 8 != 0 || reader->length > sizeof( l->walk.numbers ) )
    {
        return clv_base_parts_fault( reader, reader->payload_offset - 16, "has more numbers than are known" );
    }
    l->numbers_count = (uint32_t)( reader->length / 8 );
    return clv_base_part_get_ordered( reader, l->walk.numbers, l->numbers_count, 8 ) &&
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
    def.capacity = given->capacity > l->walk.numbers[SAVE_SLOTS] ? given->capacity
                                                                 : (uint32_t)l->walk.numbers[SAVE_SLOTS];
    def.max_pairs = l->walk.numbers[SAVE_MAX_PAIRS];
    def.margin = number_as_float( l, SAVE_MARGIN );
    def.margin_by_size = number_as_float( l, SAVE_BY_SIZE );
    def.margin_by_speed = number_as_float( l, SAVE_BY_SPEED );
#define SET_FLAG( bit, member ) def.member = has_bit( l, SAVE_DEF_BITS, bit );
    SAVE_DEF_FLAGS( SET_FLAG )
#undef SET_FLAG
    def.method = l->method;
    def.settings = l->settings;
    clv_result result = clv_space_create( &def, &l->walk.space );
    if ( result != CLV_OK )
    {
        if ( l->error->text[0] == '\0' )
        {
            snprintf(
                l->error->text, sizeof( l->error->text ), "the def was not made by clv_default_space_def" );
        }
        return result;
    }
    l->walk.space->def.logger = given->logger;
    l->walk.space->def.capacity = given->capacity;
    l->walk.pass.memory = &l->walk.space->memory;
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

static bool check_generations( loading* l )
{
    const object_store* objects = &l->walk.space->objects;
    uint64_t live = 0, retired = 0, slots = l->walk.numbers[SAVE_SLOTS];
    for ( uint64_t slot = 0; slot < slots; ++slot )
    {
        uint32_t generation = object_generations( objects )[slot];
        live += generation & 1;
        retired += generation == 0;
    }
    return ( live == l->walk.numbers[SAVE_LIVE] && slots - live - retired == l->walk.numbers[SAVE_FREE] ) ||
        clv_base_parts_fault(
            &l->reader, l->reader.payload_offset, "has other generations than objects and free slots" );
}

// Columns that the def made are among them; the others are begun before there are slots.
static bool reserve_columns( loading* l )
{
    object_store* objects = &l->walk.space->objects;
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
    ok = ok && clv_object_store_reserve( objects, l->walk.numbers[SAVE_SLOTS] );
    l->walk.pass.is_out_of_memory = !ok;
    return ok;
}

// A walk that ends after as many slots as are free has met each once.
static bool check_free( loading* l )
{
    object_store* objects = &l->walk.space->objects;
    uint64_t free_count = l->walk.numbers[SAVE_FREE];
    uint32_t slot = objects->first_free;
    bool is_row = true, ok = true;
    for ( uint64_t i = 0; i < free_count && ok; ++i )
    {
        ok = slot < l->walk.numbers[SAVE_SLOTS] && !object_is_live_at( objects, slot ) &&
            object_generations( objects )[slot] != 0;
        is_row = is_row && slot == objects->first_free + i;
        if ( ok )
        {
            memcpy( &slot, &object_boxes( objects )[slot], sizeof( slot ) );
        }
    }
    objects->free_count = (uint32_t)free_count;
    objects->free_is_row =
        free_count == 0 || ( is_row && objects->first_free + free_count == l->walk.numbers[SAVE_SLOTS] );
    return ( ok && slot == NO_SLOT ) || fault_number( l, SAVE_FREE, "has an invalid list of free slots" );
}

// On disk they are a list; here they are a stack in the boxes that they do not need.
static void stack_free( loading* l )
{
    object_store* objects = &l->walk.space->objects;
    objects->first_free = NO_SLOT;
    for ( uint64_t i = l->free_slots.count; i > 0; --i )
    {
        uint32_t slot = l->free_slots.items[i - 1];
        if ( slot < l->walk.numbers[SAVE_SLOTS] )
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

// What is not on disk, of free slots zeros. Spent motions have swept the boxes that are there.
static void derive_boxes( loading* l )
{
    clv_space* space = l->walk.space;
    object_store* objects = &space->objects;
    bool derives = false;
    for ( uint32_t i = 0; i < SAVE_COLUMNS; ++i )
    {
        const save_column* column = &clv_space_save_columns[i];
        if ( has_bit( l, SAVE_COLUMN_BITS, (uint64_t)1 << i ) &&
            clv_space_save_is_derived( objects, column ) )
        {
            size_t size = (size_t)column->unit * column->count;
            memset( objects->columns[column->column], 0, (size_t)l->walk.numbers[SAVE_SLOTS] * size );
            derives = true;
        }
    }
    for ( uint32_t slot = 0; derives && slot < l->walk.numbers[SAVE_SLOTS]; ++slot )
    {
        if ( object_is_live_at( objects, slot ) )
        {
            derive_box( space, slot );
        }
    }
    space->far.change_count = derives ? l->walk.numbers[SAVE_LIVE] : 0;
}

static bool read_objects( loading* l )
{
    object_store* objects = &l->walk.space->objects;
    uint64_t slots = l->walk.numbers[SAVE_SLOTS];
    if ( !reserve_columns( l ) )
    {
        return false;
    }
    clv_base_pass_numbers( &l->walk.pass, SAVE_GENERATION_TAG, object_generations( objects ), slots, 4 );
    if ( !is_good( l ) || !check_generations( l ) )
    {
        return false;
    }
    if ( !l->walk.is_in_memory )
    {
        base_pass_array( &l->walk.pass, SAVE_FREE_TAG, &l->free_slots, 4 );
        if ( is_good( l ) && l->free_slots.count != l->walk.numbers[SAVE_FREE] )
        {
            fault_number( l, SAVE_FREE, "has another number of free slots" );
        }
    }
    clv_space_save_pass_columns( &l->walk );
    if ( !is_good( l ) )
    {
        return false;
    }
    objects->first_free =
        l->walk.numbers[SAVE_FREE] > 0 ? (uint32_t)l->walk.numbers[SAVE_FIRST_FREE] : NO_SLOT;
    if ( !l->walk.is_in_memory )
    {
        derive_boxes( l );
        stack_free( l );
    }
    return check_free( l );
}

// ---- all of it

static bool set_borrowed( loading* l )
{
    clv_space* space = l->walk.space;
    pair_list lent = clv_method_cleave_list( space->method_state );
    space->borrowed = lent.items;
    space->borrowed_count = l->walk.numbers[SAVE_BORROWED];
    return ( lent.items != NULL && space->borrowed_count <= lent.count ) ||
        fault_number( l, SAVE_BORROWED, "has a list that is not there" );
}

static void set_space( const loading* l )
{
    clv_space* space = l->walk.space;
    query_state* state = &space->query;
    space->doubles = space->def.doubles ? &clv_space_doubles : NULL;
#define SET_MEMBER( number, type, member ) space->member = (type)l->walk.numbers[number];
    SAVE_MEMBERS( SET_MEMBER )
#undef SET_MEMBER
#define SET_FLAG( bit, member ) space->member = has_bit( l, SAVE_STATE_BITS, bit );
    SAVE_STATE_FLAGS( SET_FLAG )
#undef SET_FLAG
#define SET_FLAG( bit, member ) state->member = has_bit( l, SAVE_QUERY_BITS, bit );
    SAVE_QUERY_FLAGS( SET_FLAG )
#undef SET_FLAG
    space->objects.live_is_current = false;
    state->is_copied = has_bit( l, SAVE_QUERY_BITS, SAVE_QUERY_COPIED );
    state->members_changed = true; // the tree is made anew
    state->slot_count = (uint32_t)l->walk.numbers[SAVE_QUERY_SLOTS];
    state->live_count = (uint32_t)l->walk.numbers[SAVE_QUERY_LIVE];
}

static bool read_space( loading* l )
{
    if ( !read_objects( l ) )
    {
        return false;
    }
    clv_space_save_pass_rest( &l->walk );
    if ( !is_good( l ) || ( has_bit( l, SAVE_STATE_BITS, SAVE_IS_BORROWED ) && !set_borrowed( l ) ) ||
        !clv_base_part_expect( &l->reader, BASE_PART_END, 0 ) )
    {
        return false;
    }
    set_space( l );
    CLV_VALIDATE( clv_object_store_check( &l->walk.space->objects ) == NULL );
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
    else if ( l->walk.pass.is_out_of_memory )
    {
        result = CLV_OUT_OF_MEMORY;
        snprintf( error->text, sizeof( error->text ), "out of memory for what the snapshot holds" );
    }
    return result;
}

static clv_result load_space( loading* l, const clv_space_def* def, const void* bytes, size_t size )
{
    l->reader = ( base_parts_reader ){ .memory = bytes, .size = size };
    l->walk.pass.reader = &l->reader;
    l->walk.is_in_memory =
        size >= BASE_PARTS_HEADER_BYTES && base_get_u32( (const uint8_t*)bytes + 8 ) == SAVE_KIND_MEMORY;
    if ( !clv_base_parts_open(
             &l->reader, l->walk.is_in_memory ? SAVE_KIND_MEMORY : SAVE_KIND_DISK, SAVE_VERSION ) ||
        !read_numbers( l ) || !read_method( l ) )
    {
        return fail_load( l, CLV_FILE_FAILED );
    }
    if ( has_bit( l, SAVE_STATE_BITS, SAVE_HAS_STATE ) !=
        ( l->walk.is_in_memory && strcmp( l->method, METHOD_DEFAULT ) == 0 ) )
    {
        fault_number( l, SAVE_STATE_BITS, "has the state of another method" );
        return fail_load( l, CLV_FILE_FAILED );
    }
    clv_result result = create_for( l, def );
    if ( result == CLV_OK )
    {
        result = read_space( l ) ? CLV_OK : fail_load( l, CLV_FILE_FAILED );
        base_array_free( &l->free_slots, l->walk.pass.memory );
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
        if ( l.reader.failed || l.walk.pass.is_out_of_memory )
        {
            clv_space_log( &l.logger, CLV_LOG_ERROR, l.error->text );
        }
        clv_space_destroy( l.walk.space );
    }
    else
    {
        *space = l.walk.space;
    }
    base_fp_leave( mode );
    return result;
}
