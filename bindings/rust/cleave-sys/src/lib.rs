// SPDX-License-Identifier: MIT
//! The part of Cleave's C interface that the crate `cleave` stands on, by hand: `include/cleave/` tells
//! what each call does. Types have the names and the layout they have in C; the tests compare their
//! sizes with the library's own.
#![allow(non_camel_case_types)]
use std::os::raw::{c_char, c_int, c_uint, c_void};

#[repr(C)]
pub struct clv_space {
    _private: [u8; 0],
}

pub type clv_result = c_uint;
pub const CLV_OK: clv_result = 0;
pub const CLV_BAD_DEF: clv_result = 1;
pub const CLV_NO_ROOM: clv_result = 12;
pub const CLV_NO_HIT: u32 = u32::MAX;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct clv_vec3 {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct clv_aabb {
    pub lower: clv_vec3,
    pub upper: clv_vec3,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct clv_id {
    pub index: u32,
    pub generation: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct clv_pair {
    pub a: u32,
    pub b: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct clv_id_pair {
    pub a: clv_id,
    pub b: clv_id,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct clv_filter {
    pub category: u64,
    pub mask: u64,
    pub group: i32,
}

#[repr(C)]
pub struct clv_error {
    pub code: clv_result,
    pub position: u32,
    pub id: clv_id,
    pub pair_count: u64,
    pub text: *const c_char,
}

#[repr(C)]
pub struct clv_pair_view {
    pub pairs: *const clv_pair,
    pub count: u64,
    pub valid: bool,
    pub data: *mut u64,
    pub number: u64,
}

#[repr(C)]
pub struct clv_event_view {
    pub begun: *const clv_id_pair,
    pub begun_count: u64,
    pub ended: *const clv_id_pair,
    pub ended_count: u64,
    pub begun_user: *const c_void,
    pub ended_user: *const c_void,
    pub ended_data: *const u64,
}

pub type clv_hook = Option<unsafe extern "C" fn()>; // of a signature that is not used from here; NULL

#[repr(C)]
pub struct clv_space_def {
    pub size: u32,
    pub cookie: u32,
    pub capacity: u32,
    pub pair_capacity: u64,
    pub max_pairs: u64,
    pub margin: f32,
    pub sorted: bool,
    pub events: bool,
    pub skip_static_pairs: bool,
    pub stage_times: bool,
    pub method: *const c_char,
    pub settings: *const c_char,
    pub isa: c_int,
    pub worker_count: u32,
    pub tasks_run: clv_hook,
    pub tasks_user: *mut c_void,
    pub filter: clv_hook,
    pub filter_user: *mut c_void,
    pub allocate: clv_hook,
    pub release: clv_hook,
    pub allocator_user: *mut c_void,
    pub logger_write: clv_hook,
    pub logger_user: *mut c_void,
    pub margin_by_size: f32,
    pub margin_by_speed: f32,
    pub pair_data: bool,
    pub doubles: bool,
    pub flat: bool,
    pub worker_spin_ms: f64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct clv_hit {
    pub index: u32,
    pub t: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct clv_ray {
    pub origin: clv_vec3,
    pub direction: clv_vec3,
    pub max_t: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct clv_sphere {
    pub center: clv_vec3,
    pub radius: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct clv_box_cast {
    pub aabb: clv_aabb,
    pub motion: clv_vec3,
    pub max_t: f32,
}

pub const CLV_QUERY_POINT: c_uint = 1;
pub const CLV_QUERY_BOX: c_uint = 2;
pub const CLV_QUERY_SPHERE: c_uint = 3;
pub const CLV_QUERY_RAY: c_uint = 8;
pub const CLV_QUERY_BOX_CAST: c_uint = 9;

#[repr(C)]
pub struct clv_queries {
    pub kind: c_uint,
    pub count: u32,
    pub items: *const c_void, // a union of pointers in C
    pub filters: *const clv_filter,
    pub filter_each: bool,
    pub as_given: bool,
    pub callback: clv_hook,
    pub user: *mut c_void,
}

#[repr(C)]
pub struct clv_query_lists {
    pub offsets: *mut u64,
    pub hits: *mut clv_hit,
    pub capacity: u64,
    pub count: u64,
    pub position: u32,
}

extern "C" {
    pub fn clv_version_text() -> *const c_char;
    pub fn clv_result_text(result: clv_result) -> *const c_char;
    pub fn clv_default_space_def() -> clv_space_def;
    pub fn clv_space_create(def: *const clv_space_def, space: *mut *mut clv_space) -> clv_result;
    pub fn clv_space_destroy(space: *mut clv_space);
    pub fn clv_space_add(space: *mut clv_space, boxes: *const clv_aabb, count: u32, ids: *mut clv_id) -> clv_result;
    pub fn clv_space_move(space: *mut clv_space, ids: *const clv_id, boxes: *const clv_aabb, count: u32) -> clv_result;
    pub fn clv_space_move_all(space: *mut clv_space, boxes: *const clv_aabb, count: u32) -> clv_result;
    pub fn clv_space_remove(space: *mut clv_space, ids: *const clv_id, count: u32) -> clv_result;
    pub fn clv_space_clear(space: *mut clv_space);
    pub fn clv_space_set_filter(space: *mut clv_space, ids: *const clv_id, filters: *const clv_filter, count: u32) -> clv_result;
    pub fn clv_space_set_margin(space: *mut clv_space, ids: *const clv_id, margins: *const f32, count: u32) -> clv_result;
    pub fn clv_space_set_motion(space: *mut clv_space, ids: *const clv_id, motions: *const clv_vec3, count: u32) -> clv_result;
    pub fn clv_space_set_user_data(space: *mut clv_space, ids: *const clv_id, values: *const u64, count: u32) -> clv_result;
    pub fn clv_space_get_user_data(space: *const clv_space, id: clv_id, value: *mut u64) -> clv_result;
    pub fn clv_space_get_box(space: *const clv_space, id: clv_id, aabb: *mut clv_aabb) -> clv_result;
    pub fn clv_space_contains(space: *const clv_space, id: clv_id) -> bool;
    pub fn clv_space_id_at(space: *const clv_space, index: u32) -> clv_id;
    pub fn clv_space_object_count(space: *const clv_space) -> u32;
    pub fn clv_space_update(space: *mut clv_space) -> clv_result;
    pub fn clv_space_refresh(space: *mut clv_space) -> clv_result;
    pub fn clv_space_pairs(space: *const clv_space) -> clv_pair_view;
    pub fn clv_space_events(space: *const clv_space) -> clv_event_view;
    pub fn clv_space_error(space: *const clv_space) -> clv_error;
    pub fn clv_space_query_all(space: *const clv_space, queries: *const clv_queries, lists: *mut clv_query_lists) -> clv_result;
    pub fn clv_space_query_any(space: *const clv_space, queries: *const clv_queries, hits: *mut clv_hit, position: *mut u32) -> clv_result;
    pub fn clv_space_query_closest(space: *const clv_space, queries: *const clv_queries, hits: *mut clv_hit, position: *mut u32) -> clv_result;
    pub fn clv_space_query_nearest(space: *const clv_space, queries: *const clv_queries, k: u32, max_distance: f32, hits: *mut clv_hit, position: *mut u32) -> clv_result;
}
