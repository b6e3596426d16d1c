// SPDX-License-Identifier: MIT
// The space's memory is taken and given under the lock of its queries: other threads may ask at the same time.
#include "space/hit_room.h"

void clv_space_room_open( hit_room* room, const clv_space* space, const query_family* family )
{
    room->space = space_unlocked( space );
    room->family = family;
    room->hits = room->few;
    room->capacity = SPACE_FEW_HITS;
}

void clv_space_room_close( hit_room* room )
{
    if ( room->hits != NULL && room->hits != room->few )
    {
        clv_task_lock_take( &room->space->query.lock );
        clv_base_memory_give( &room->space->memory, room->hits, room->capacity, room->family->hit_size );
        clv_task_lock_give( &room->space->query.lock );
    }
}

bool clv_space_room_widen( hit_room* room, uint64_t needed )
{
    if ( needed <= room->capacity )
    {
        return true;
    }
    clv_space_room_close( room );
    clv_task_lock_take( &room->space->query.lock );
    room->hits = clv_base_memory_take( &room->space->memory, needed + needed / 4, room->family->hit_size );
    clv_task_lock_give( &room->space->query.lock );
    room->capacity = room->hits != NULL ? needed + needed / 4 : 0;
    return room->hits != NULL;
}

bool clv_space_room_find(
    hit_room* room, const query_scene* scene, const clv_queries* list, uint32_t index, uint64_t* count )
{
    *count = room->family->find_all( scene, list, index, room->hits, room->capacity );
    if ( *count <= room->capacity )
    {
        return true;
    }
    if ( !clv_space_room_widen( room, *count ) )
    {
        return false;
    }
    room->family->find_all( scene, list, index, room->hits, room->capacity );
    return true;
}
