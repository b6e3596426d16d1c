// SPDX-License-Identifier: MIT
#include "fuzz_model.h"

#include "fuzz_bytes.h"

#include <stdlib.h>
#include <string.h>

fuzz_model* fuzz_model_open( const clv_space_def* def )
{
    fuzz_model* model = calloc( 1, sizeof( fuzz_model ) );
    FUZZ_CHECK( model != NULL, "no memory for the model" );
    model->def = *def;
    return model;
}

static void free_list( fuzz_list* list )
{
    free( list->pairs );
    free( list->allowed );
}

void fuzz_model_close( fuzz_model* model )
{
    free_list( &model->asked );
    free_list( &model->last_good );
    free_list( &model->next_asked );
    free_list( &model->now );
    free( model );
}

static void append( fuzz_list* list, clv_id a, clv_id b, bool allowed )
{
    if ( list->count == list->capacity )
    {
        list->capacity = list->capacity * 2 + 64;
        list->pairs = realloc( list->pairs, (size_t)list->capacity * sizeof( clv_id_pair ) );
        list->allowed = realloc( list->allowed, (size_t)list->capacity * sizeof( bool ) );
        FUZZ_CHECK( list->pairs != NULL && list->allowed != NULL, "no memory for the model" );
    }
    list->pairs[list->count] = ( clv_id_pair ){ a, b };
    list->allowed[list->count] = allowed;
    list->count += 1;
}

bool fuzz_box_is_valid( const clv_aabb* box )
{
    return !( box->lower.x != box->lower.x || box->upper.x != box->upper.x || box->lower.x > box->upper.x ||
        box->lower.y != box->lower.y || box->upper.y != box->upper.y || box->lower.y > box->upper.y ||
        box->lower.z != box->lower.z || box->upper.z != box->upper.z || box->lower.z > box->upper.z );
}

bool fuzz_model_is_live( const fuzz_model* model, clv_id id )
{
    return id.index < model->slot_count && model->objects[id.index].alive &&
        model->objects[id.index].id.generation == id.generation;
}

bool fuzz_accepts( uint64_t user_data_a, uint64_t user_data_b, uint32_t salt )
{
    return ( fuzz_mix( user_data_a * 31 + user_data_b + salt ) & 3 ) != 0;
}

void fuzz_model_add( fuzz_model* model, clv_id id, clv_aabb box )
{
    FUZZ_CHECK( id.index < FUZZ_SLOTS && id.index <= model->slot_count, "slot %u came too early", id.index );
    fuzz_object* object = &model->objects[id.index];
    FUZZ_CHECK( !object->alive, "slot %u was given out twice", id.index );
    FUZZ_CHECK( id.generation > object->id.generation, "generation %u of slot %u came again", id.generation,
        id.index );
    FUZZ_CHECK( model->removed_any || id.index == model->object_count,
        "the first boxes get the first slots, yet %u came after %u others", id.index, model->object_count );
    *object = ( fuzz_object ){
        .alive = true,
        .id = id,
        .box = box,
        .margin = model->def.margin,
        .filter = { 1, UINT64_MAX, 0 },
        .ask = true,
    };
    model->slot_count = id.index == model->slot_count ? id.index + 1 : model->slot_count;
    model->object_count += 1;
}

void fuzz_model_remove( fuzz_model* model, clv_id id )
{
    model->objects[id.index].alive = false;
    model->object_count -= 1;
    model->removed_any = true;
}

void fuzz_model_clear( fuzz_model* model )
{
    for ( uint32_t slot = 0; slot < model->slot_count; ++slot )
    {
        model->objects[slot].alive = false;
    }
    model->object_count = 0;
    model->removed_any = false;
    model->asked.count = 0;
    model->last_good.count = 0;
    model->list_is_valid = false;
}

// Round to nearest, once, when handed over.
static clv_aabb grown( const fuzz_object* object )
{
    clv_aabb box = object->box;
    float margin = object->margin;
    box.lower = ( clv_vec3 ){ box.lower.x - margin, box.lower.y - margin, box.lower.z - margin };
    box.upper = ( clv_vec3 ){ box.upper.x + margin, box.upper.y + margin, box.upper.z + margin };
    return box;
}

static bool touch( const clv_aabb* a, const clv_aabb* b )
{
    return !( a->lower.x > b->upper.x || b->lower.x > a->upper.x || a->lower.y > b->upper.y ||
        b->lower.y > a->upper.y || a->lower.z > b->upper.z || b->lower.z > a->upper.z );
}

static bool filters_allow( const fuzz_model* model, const fuzz_object* a, const fuzz_object* b )
{
    if ( model->def.skip_static_pairs && a->is_static && b->is_static )
    {
        return false;
    }
    if ( a->filter.group == b->filter.group && a->filter.group != 0 )
    {
        return a->filter.group > 0;
    }
    return ( a->filter.category & b->filter.mask ) && ( b->filter.category & a->filter.mask );
}

// The remembered answer about two slots; the list is sorted and searched from `*from` on, which moves along.
static bool recall( const fuzz_list* asked, uint64_t* from, uint32_t a, uint32_t b, bool* allowed )
{
    while ( *from < asked->count &&
        ( asked->pairs[*from].a.index < a ||
            ( asked->pairs[*from].a.index == a && asked->pairs[*from].b.index < b ) ) )
    {
        *from += 1;
    }
    bool known = *from < asked->count && asked->pairs[*from].a.index == a && asked->pairs[*from].b.index == b;
    *allowed = known && asked->allowed[*from];
    return known;
}

static bool ask(
    fuzz_model* model, const fuzz_object* a, const fuzz_object* b, uint64_t* from, bool remembers )
{
    bool allowed = true;
    if ( model->def.filter == NULL )
    {
        return true;
    }
    bool known = recall( &model->asked, from, a->id.index, b->id.index, &allowed );
    if ( !known || !remembers || a->ask || b->ask )
    {
        allowed = fuzz_accepts( a->user_data, b->user_data, model->salt );
        model->ask_count += 1;
    }
    append( &model->next_asked, a->id, b->id, allowed );
    return allowed;
}

void fuzz_model_search( fuzz_model* model, bool remembers )
{
    static clv_aabb boxes[FUZZ_SLOTS];
    uint64_t from = 0;
    model->now.count = 0;
    model->next_asked.count = 0;
    model->ask_count = 0;
    model->candidate_count = 0;
    model->test_count += (uint64_t)model->object_count * model->object_count / 2;
    for ( uint32_t slot = 0; slot < model->slot_count; ++slot )
    {
        boxes[slot] = grown( &model->objects[slot] );
    }
    for ( uint32_t i = 0; i < model->slot_count; ++i )
    {
        const fuzz_object* a = &model->objects[i];
        for ( uint32_t j = i + 1; j < model->slot_count && a->alive; ++j )
        {
            const fuzz_object* b = &model->objects[j];
            if ( !b->alive || !touch( &boxes[i], &boxes[j] ) )
            {
                continue;
            }
            model->candidate_count += 1;
            if ( filters_allow( model, a, b ) && ask( model, a, b, &from, remembers ) )
            {
                append( &model->now, a->id, b->id, true );
            }
        }
    }
}

static void swap_lists( fuzz_list* a, fuzz_list* b )
{
    fuzz_list swap = *a;
    *a = *b;
    *b = swap;
}

void fuzz_model_commit( fuzz_model* model )
{
    swap_lists( &model->asked, &model->next_asked );
    swap_lists( &model->last_good, &model->now );
    for ( uint32_t slot = 0; slot < model->slot_count; ++slot )
    {
        model->objects[slot].ask = false;
    }
    model->list_is_valid = true;
    model->update_count += 1;
}
