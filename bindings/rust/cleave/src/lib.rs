// SPDX-License-Identifier: MIT
//! Boxes in, every overlapping pair out.
//!
//! ```
//! use cleave::{Aabb, Options, Space};
//!
//! let mut space = Space::new(&Options::default())?;
//! let boxes = [Aabb::new([0., 0., 0.], [1., 1., 1.]), Aabb::new([1., 0., 0.], [2., 1., 1.]), Aabb::new([5., 0., 0.], [6., 1., 1.])];
//! let ids = space.add(&boxes)?;
//! space.update()?;
//! assert_eq!(space.pairs().len(), 1); // faces that just touch count
//! let pair = space.pairs()[0];
//! assert_eq!((space.id_at(pair.a), space.id_at(pair.b)), (Some(ids[0]), Some(ids[1])));
//! # Ok::<(), cleave::Error>(())
//! ```
//!
//! What changes a space takes it by `&mut`, so the slices that [`Space::pairs`] and its like lend cannot
//! outlive the list they show. Questions take it by `&`, and any number of threads may ask at once.
// The README's program is run by `cargo test` too.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

use cleave_sys as sys;
use std::ffi::{c_void, CStr, CString};
use std::{fmt, ptr, slice};

pub use sys::{clv_filter as Filter, clv_hit as Hit, clv_id as Id, clv_id_pair as IdPair, clv_pair as Pair};

/// What went wrong: nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The number of the result in `cleave/types.h`.
    pub code: u32,
    /// Of the first bad entry in the slice, where one is to blame.
    pub position: Option<usize>,
    pub text: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(at) => write!(f, "{} (entry {})", self.text, at),
            None => f.write_str(&self.text),
        }
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

fn text_of(text: *const std::os::raw::c_char) -> String {
    // The library's texts are never NULL and end with a zero.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

fn plain_error(code: sys::clv_result, position: u32) -> Error {
    let position = if position == u32::MAX { None } else { Some(position as usize) };
    Error { code, position, text: text_of(unsafe { sys::clv_result_text(code) }) }
}

/// Too long for one call, which counts in 32 bits.
fn count_of<T>(items: &[T]) -> Result<u32> {
    u32::try_from(items.len()).map_err(|_| Error { code: 2, position: None, text: "more than 2^32 - 1 entries in one call".into() })
}

fn same_length<A, B>(a: &[A], b: &[B]) -> Result<u32> {
    if a.len() != b.len() {
        return Err(Error { code: 2, position: None, text: format!("{} ids but {} values", a.len(), b.len()) });
    }
    count_of(a)
}

/// The version of the library that was linked.
pub fn version() -> String {
    text_of(unsafe { sys::clv_version_text() })
}

/// A box with its faces: touching counts. Faces may be infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
pub struct Aabb(sys::clv_aabb);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
pub struct Vec3(sys::clv_vec3);

impl From<[f32; 3]> for Vec3 {
    fn from(v: [f32; 3]) -> Self {
        Vec3(sys::clv_vec3 { x: v[0], y: v[1], z: v[2] })
    }
}

impl From<Vec3> for [f32; 3] {
    fn from(v: Vec3) -> Self {
        [v.0.x, v.0.y, v.0.z]
    }
}

impl Aabb {
    pub fn new(lower: [f32; 3], upper: [f32; 3]) -> Self {
        Aabb(sys::clv_aabb { lower: Vec3::from(lower).0, upper: Vec3::from(upper).0 })
    }

    pub fn lower(&self) -> [f32; 3] {
        Vec3(self.0.lower).into()
    }

    pub fn upper(&self) -> [f32; 3] {
        Vec3(self.0.upper).into()
    }
}

/// From `origin`, `max_t` times along `direction`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub struct Ray(sys::clv_ray);

impl Ray {
    pub fn new(origin: [f32; 3], direction: [f32; 3], max_t: f32) -> Self {
        Ray(sys::clv_ray { origin: Vec3::from(origin).0, direction: Vec3::from(direction).0, max_t })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub struct Sphere(sys::clv_sphere);

impl Sphere {
    pub fn new(center: [f32; 3], radius: f32) -> Self {
        Sphere(sys::clv_sphere { center: Vec3::from(center).0, radius })
    }
}

/// A box that moves by `motion` times 0 to `max_t`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub struct BoxCast(sys::clv_box_cast);

impl BoxCast {
    pub fn new(aabb: Aabb, motion: [f32; 3], max_t: f32) -> Self {
        BoxCast(sys::clv_box_cast { aabb: aabb.0, motion: Vec3::from(motion).0, max_t })
    }
}

/// What may be asked about, in slices.
pub trait Question: sealed::Kind {}
/// Of these also what is met first.
pub trait Cast: Question {}
/// Of these also the nearest.
pub trait Place: Question {}

mod sealed {
    pub trait Kind {
        const KIND: std::os::raw::c_uint;
    }
}

macro_rules! question {
    ($type:ty, $kind:expr, $($also:ident),*) => {
        impl sealed::Kind for $type {
            const KIND: std::os::raw::c_uint = $kind;
        }
        impl Question for $type {}
        $(impl $also for $type {})*
    };
}
question!(Vec3, sys::CLV_QUERY_POINT, Place);
question!(Aabb, sys::CLV_QUERY_BOX, Place);
question!(Sphere, sys::CLV_QUERY_SPHERE,);
question!(Ray, sys::CLV_QUERY_RAY, Cast);
question!(BoxCast, sys::CLV_QUERY_BOX_CAST, Cast);

fn queries_of<Q: Question>(items: &[Q], filter: Option<&Filter>) -> Result<sys::clv_queries> {
    Ok(sys::clv_queries {
        kind: Q::KIND,
        count: count_of(items)?,
        items: items.as_ptr() as *const c_void,
        filters: filter.map_or(ptr::null(), |f| f as *const Filter),
        filter_each: false,
        as_given: false,
        callback: None,
        user: ptr::null_mut(),
    })
}

fn found(hit: Hit) -> Option<Hit> {
    if hit.index == sys::CLV_NO_HIT {
        None
    } else {
        Some(hit)
    }
}

/// The hits of a list of questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Hits {
    offsets: Vec<u64>,
    hits: Vec<Hit>,
}

impl Hits {
    /// Of question `i`, by slot.
    pub fn of(&self, i: usize) -> &[Hit] {
        &self.hits[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Of all questions, one behind the other.
    pub fn all(&self) -> &[Hit] {
        &self.hits
    }
}

/// Settings of a space. The defaults are right for nearly every program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Boxes to reserve for.
    pub capacity: u32,
    /// An update that finds more pairs fails; 0: no limit.
    pub max_pairs: u64,
    /// Metres around every box.
    pub margin: f32,
    /// The list sorted by (a, b).
    pub sorted: bool,
    /// Keep what began and ended.
    pub events: bool,
    /// Threads, the caller's included; 0 or 1: no other.
    pub workers: u32,
    /// An algorithm by name; None: the default.
    pub method: Option<String>,
}

/// Boxes, and which of them touch.
#[derive(Debug)]
pub struct Space {
    raw: *mut sys::clv_space,
}

// A space belongs to one thread at a time; calls that take it const may run on many.
unsafe impl Send for Space {}
unsafe impl Sync for Space {}

impl Drop for Space {
    fn drop(&mut self) {
        unsafe { sys::clv_space_destroy(self.raw) }
    }
}

impl Space {
    pub fn new(options: &Options) -> Result<Space> {
        let method = match &options.method {
            Some(name) => Some(CString::new(name.as_str()).map_err(|_| plain_error(sys::CLV_BAD_DEF, u32::MAX))?),
            None => None,
        };
        let mut def = unsafe { sys::clv_default_space_def() };
        assert_eq!(def.size as usize, std::mem::size_of::<sys::clv_space_def>(), "this crate is for another version of Cleave");
        def.capacity = options.capacity;
        def.max_pairs = options.max_pairs;
        def.margin = options.margin;
        def.sorted = options.sorted;
        def.events = options.events;
        def.worker_count = options.workers.max(1);
        def.method = method.as_ref().map_or(ptr::null(), |name| name.as_ptr());
        let mut raw = ptr::null_mut();
        match unsafe { sys::clv_space_create(&def, &mut raw) } {
            sys::CLV_OK => Ok(Space { raw }),
            code => Err(plain_error(code, u32::MAX)),
        }
    }

    /// After a call that changes the space, which keeps what went wrong.
    fn done(&self, code: sys::clv_result) -> Result<()> {
        if code == sys::CLV_OK {
            return Ok(());
        }
        let error = unsafe { sys::clv_space_error(self.raw) };
        Err(Error { text: text_of(error.text), ..plain_error(code, error.position) })
    }

    /// `ids[i]` of the answer names `boxes[i]` until it is removed. All of them, or none.
    pub fn add(&mut self, boxes: &[Aabb]) -> Result<Vec<Id>> {
        let count = count_of(boxes)?;
        let mut ids = vec![Id::default(); boxes.len()];
        let code = unsafe { sys::clv_space_add(self.raw, boxes.as_ptr() as *const _, count, ids.as_mut_ptr()) };
        self.done(code).map(|()| ids)
    }

    pub fn move_to(&mut self, ids: &[Id], boxes: &[Aabb]) -> Result<()> {
        let count = same_length(ids, boxes)?;
        let code = unsafe { sys::clv_space_move(self.raw, ids.as_ptr(), boxes.as_ptr() as *const _, count) };
        self.done(code)
    }

    /// All live objects, in the order of their slots; as many boxes as there are objects.
    pub fn move_all(&mut self, boxes: &[Aabb]) -> Result<()> {
        let count = count_of(boxes)?;
        let code = unsafe { sys::clv_space_move_all(self.raw, boxes.as_ptr() as *const _, count) };
        self.done(code)
    }

    pub fn remove(&mut self, ids: &[Id]) -> Result<()> {
        let count = count_of(ids)?;
        let code = unsafe { sys::clv_space_remove(self.raw, ids.as_ptr(), count) };
        self.done(code)
    }

    pub fn clear(&mut self) {
        unsafe { sys::clv_space_clear(self.raw) }
    }

    pub fn set_filter(&mut self, ids: &[Id], filters: &[Filter]) -> Result<()> {
        let count = same_length(ids, filters)?;
        let code = unsafe { sys::clv_space_set_filter(self.raw, ids.as_ptr(), filters.as_ptr(), count) };
        self.done(code)
    }

    /// Metres around these objects' boxes, in place of the space's margin.
    pub fn set_margin(&mut self, ids: &[Id], margins: &[f32]) -> Result<()> {
        let count = same_length(ids, margins)?;
        let code = unsafe { sys::clv_space_set_margin(self.raw, ids.as_ptr(), margins.as_ptr(), count) };
        self.done(code)
    }

    /// How far these objects go in the step that the next update looks ahead to.
    pub fn set_motion(&mut self, ids: &[Id], motions: &[Vec3]) -> Result<()> {
        let count = same_length(ids, motions)?;
        let code = unsafe { sys::clv_space_set_motion(self.raw, ids.as_ptr(), motions.as_ptr() as *const _, count) };
        self.done(code)
    }

    pub fn set_user_data(&mut self, ids: &[Id], values: &[u64]) -> Result<()> {
        let count = same_length(ids, values)?;
        let code = unsafe { sys::clv_space_set_user_data(self.raw, ids.as_ptr(), values.as_ptr(), count) };
        self.done(code)
    }

    /// None for an id that names no object here.
    pub fn user_data(&self, id: Id) -> Option<u64> {
        let mut value = 0;
        let code = unsafe { sys::clv_space_get_user_data(self.raw, id, &mut value) };
        (code == sys::CLV_OK).then(|| value)
    }

    pub fn aabb(&self, id: Id) -> Option<Aabb> {
        let mut aabb = sys::clv_aabb::default();
        let code = unsafe { sys::clv_space_get_box(self.raw, id, &mut aabb) };
        (code == sys::CLV_OK).then(|| Aabb(aabb))
    }

    pub fn contains(&self, id: Id) -> bool {
        unsafe { sys::clv_space_contains(self.raw, id) }
    }

    /// The object in a slot, as pairs and hits name it.
    pub fn id_at(&self, index: u32) -> Option<Id> {
        let id = unsafe { sys::clv_space_id_at(self.raw, index) };
        (id.generation != 0).then(|| id)
    }

    pub fn len(&self) -> usize {
        unsafe { sys::clv_space_object_count(self.raw) as usize }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Find every pair whose boxes touch: all of them, or an error.
    pub fn update(&mut self) -> Result<()> {
        let code = unsafe { sys::clv_space_update(self.raw) };
        self.done(code)
    }

    /// From here on questions see the boxes as they are now, without a search for pairs.
    pub fn refresh(&mut self) -> Result<()> {
        let code = unsafe { sys::clv_space_refresh(self.raw) };
        self.done(code)
    }

    /// The pairs of the last update, as slots.
    pub fn pairs(&self) -> &[Pair] {
        let view = unsafe { sys::clv_space_pairs(self.raw) };
        // The space's own memory, which lives until the next call with &mut.
        unsafe { slice_of(view.pairs, view.count) }
    }

    pub fn begun(&self) -> &[IdPair] {
        let view = unsafe { sys::clv_space_events(self.raw) };
        unsafe { slice_of(view.begun, view.begun_count) }
    }

    /// May name objects that are gone.
    pub fn ended(&self) -> &[IdPair] {
        let view = unsafe { sys::clv_space_events(self.raw) };
        unsafe { slice_of(view.ended, view.ended_count) }
    }

    /// Everything that each question finds, as of the last update or refresh.
    pub fn query_all<Q: Question>(&self, questions: &[Q], filter: Option<&Filter>) -> Result<Hits> {
        let queries = queries_of(questions, filter)?;
        let mut offsets = vec![0; questions.len() + 1];
        let mut hits: Vec<Hit> = Vec::new();
        loop {
            let mut lists = sys::clv_query_lists {
                offsets: offsets.as_mut_ptr(),
                hits: hits.as_mut_ptr(),
                capacity: hits.len() as u64,
                count: 0,
                position: u32::MAX,
            };
            match unsafe { sys::clv_space_query_all(self.raw, &queries, &mut lists) } {
                sys::CLV_OK => {
                    hits.truncate(lists.count as usize);
                    return Ok(Hits { offsets, hits });
                }
                sys::CLV_NO_ROOM => hits.resize(lists.count as usize, Hit { index: 0, t: 0. }),
                code => return Err(plain_error(code, lists.position)),
            }
        }
    }

    /// One of what each question finds, whichever comes first.
    pub fn query_any<Q: Question>(&self, questions: &[Q], filter: Option<&Filter>) -> Result<Vec<Option<Hit>>> {
        self.one_each(questions, filter, sys::clv_space_query_any)
    }

    /// What each ray or cast meets first.
    pub fn query_closest<Q: Cast>(&self, questions: &[Q], filter: Option<&Filter>) -> Result<Vec<Option<Hit>>> {
        self.one_each(questions, filter, sys::clv_space_query_closest)
    }

    fn one_each<Q: Question>(
        &self,
        questions: &[Q],
        filter: Option<&Filter>,
        ask: unsafe extern "C" fn(*const sys::clv_space, *const sys::clv_queries, *mut Hit, *mut u32) -> sys::clv_result,
    ) -> Result<Vec<Option<Hit>>> {
        let queries = queries_of(questions, filter)?;
        let mut hits = vec![Hit { index: 0, t: 0. }; questions.len()];
        let mut position = u32::MAX;
        match unsafe { ask(self.raw, &queries, hits.as_mut_ptr(), &mut position) } {
            sys::CLV_OK => Ok(hits.into_iter().map(found).collect()),
            code => Err(plain_error(code, position)),
        }
    }

    /// The `k` objects nearest to each point or box, nearest first, none farther than `max_distance`.
    pub fn query_nearest<Q: Place>(&self, questions: &[Q], k: u32, max_distance: f32, filter: Option<&Filter>) -> Result<Vec<Vec<Hit>>> {
        let queries = queries_of(questions, filter)?;
        let room = questions.len().checked_mul(k as usize).ok_or_else(|| plain_error(6, u32::MAX))?;
        let mut hits = vec![Hit { index: sys::CLV_NO_HIT, t: 0. }; room];
        let mut position = u32::MAX;
        match unsafe { sys::clv_space_query_nearest(self.raw, &queries, k, max_distance, hits.as_mut_ptr(), &mut position) } {
            sys::CLV_OK if k == 0 => Ok(vec![Vec::new(); questions.len()]),
            sys::CLV_OK => Ok(hits.chunks(k as usize).map(|of| of.iter().copied().filter_map(found).collect()).collect()),
            code => Err(plain_error(code, position)),
        }
    }
}

unsafe fn slice_of<'a, T>(items: *const T, count: u64) -> &'a [T] {
    if count == 0 {
        &[]
    } else {
        slice::from_raw_parts(items, count as usize)
    }
}
