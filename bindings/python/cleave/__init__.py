# SPDX-License-Identifier: MIT
"""Boxes in, every touching pair out: broad-phase collision detection for numpy arrays.

>>> import numpy as np, cleave
>>> boxes = np.array([[0, 0, 0, 1, 1, 1], [1, 0, 0, 2, 1, 1], [5, 5, 5, 6, 6, 6]], np.float32)
>>> cleave.pairs(boxes)
array([[0, 1]], dtype=uint32)

`pairs` is one call for one set of boxes; `Space` keeps boxes that move from frame to frame, tells what began and ended, and
answers questions: rays, casts, overlaps, nearest. `neighbours` lists points within a cutoff, also in periodic cells. Touching counts; every pair is found, or an exception says why not.

Boxes are arrays of N x 6 (lower corner, upper corner), N x 2 x 3, or a tuple `(lower, upper)` of two N x 3; with two axes N x 4,
N x 2 x 2 or two N x 2. They are float32 or float64 as the space is: arrays of another type are refused and not rounded in silence;
lists of numbers are converted. Arrays are read where they are, if the numbers of a corner lie side by side and all rows are
equally far apart; other layouts are copied first.

Ids are numbers of type uint64 that name an object until it is removed; compare them and keep them, but do not compute with
them (`slots(ids)` tells their rows in pairs). Pairs are rows of two slots; in a new space the slots are the rows of the boxes.

No array dangles. `pairs`, `begun` and `ended` return copies, which are yours. With `copy=False` they lend the space's own memory, which
costs nothing however many pairs there are: such an array keeps the space alive, and as long as it exists `update`, `visit`, `clear`
and `shrink` raise BufferError in place of writing over it. Delete it before the next update, or leave the function it is in.

Errors are `cleave.Error` with `code`, `position` (of the first bad entry, or None), `id` and `pair_count`; a refused call has changed
nothing. Bad input is a ValueError too, missing memory a MemoryError.

`update`, `visit` and questions release the GIL but for callbacks. Any number of threads may ask the same space at once; a change meanwhile, or a question
during an update, raises CLV_BUSY.
"""

from __future__ import annotations

import sys
from operator import index
from typing import Any, Callable, Iterator, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _cleave
from .near import Neighbours, ase_neighbor_list, neighbours
from .scenes import Results, Scene, results, scene, write_scene

__all__ = [
    "Error", "InputError", "OutOfMemory", "HitLists", "NO_HIT", "Neighbours", "Queries", "Results", "Scene", "Space", "ase_neighbor_list", "box_casts",
    "boxes", "capsule_casts", "capsules", "filters", "half_spaces", "match", "neighbourhoods", "neighbours", "oriented_boxes", "pairs", "points", "rays",
    "results", "scene", "slots", "sphere_casts", "spheres", "write_scene",
]

__version__: str = _cleave.VERSION

#: The slot of a hit that there is none of.
NO_HIT = 0xFFFFFFFF

Boxes = Union[npt.ArrayLike, Tuple[npt.ArrayLike, npt.ArrayLike]]
Ids = npt.NDArray[np.uint64]
Array = npt.NDArray[Any]
Callback = Callable[[int, int, float, float], Union[bool, Tuple[bool, float]]]

_FILTER = np.dtype([("category", np.uint64), ("mask", np.uint64), ("group", np.int32)], align=True)
_HIT = {
    np.dtype(np.float32): np.dtype([("index", np.uint32), ("t", np.float32)]),
    np.dtype(np.float64): np.dtype([("index", np.uint32), ("t", np.float64)], align=True),
}
_ALL, _ANY, _CLOSEST, _NEAREST = range(4)


class Error(Exception):
    """What the library answers in place of a result.

    >>> try:
    ...     cleave.pairs([[0, 0, 0, 1, 1, 1], [3, 0, 0, 2, 1, 1]])
    ... except cleave.Error as error:
    ...     print(error.code, error.position)
    CLV_BAD_BOX 1
    """

    code: str  #: such as "CLV_BAD_BOX"
    position: Optional[int]  #: of the first bad entry in the batch
    id: Optional[int]  #: of that entry
    pair_count: int  #: pairs found before an update failed


class InputError(Error, ValueError):
    """A def, box, id or other value that is refused."""


class OutOfMemory(Error, MemoryError):
    """Objects and boxes are as before."""


_INPUT = {"CLV_BAD_DEF", "CLV_BAD_ARGUMENT", "CLV_BAD_BOX", "CLV_BAD_ID", "CLV_DUPLICATE_ID", "CLV_UNSUPPORTED"}


def _error(code: str, position: int, id: int, pair_count: int, text: str) -> Error:
    kind = InputError if code in _INPUT else OutOfMemory if code == "CLV_OUT_OF_MEMORY" else Error
    error = kind(f"{code}: {text}" + (f", at {position}" if position >= 0 and f"{position} of the batch" not in text else ""))
    error.code = code
    error.position = position if position >= 0 else None
    error.id = id if id != 0 else None
    error.pair_count = pair_count
    return error


_cleave.set_error(_error)


def _array(values: Any, dtype: np.dtype[Any], what: str) -> Array:
    """Arrays as they are, if they are of that type; numbers and lists of them converted."""
    if isinstance(values, np.ndarray) and values.dtype != dtype:
        raise TypeError(f"{what}: an array of {values.dtype}, where {dtype} is needed; nothing is rounded in silence, .astype converts")
    given = np.asarray(values, dtype)
    return given if given.flags.aligned else given.copy()


def _whole(values: Any, dtype: npt.DTypeLike, what: str) -> Array:
    """Whole numbers that fit that type: others would be cut off in silence."""
    limits = np.iinfo(dtype)
    if not isinstance(values, (np.ndarray, np.generic)):  # one by one: numpy takes [1, 2**63] for floats
        given = np.asarray(values, object)
        values = np.array([index(value) for value in given.reshape(-1)], object).reshape(given.shape)
    given = np.asarray(values)
    if given.size > 0 and given.dtype.kind not in "buiO":
        raise TypeError(f"{what}: whole numbers are needed, not {given.dtype}")
    if given.size > 0 and given.dtype.kind != "b" and (given.min() < limits.min or given.max() > limits.max):
        raise OverflowError(f"{what}: numbers from {limits.min} to {limits.max} are needed")
    return given.astype(dtype)


def _filter_rows(values: Any) -> Array:
    given = np.asarray(values)
    if given.dtype != _FILTER:
        raise TypeError(f"filters: what cleave.filters makes is needed, not {given.dtype}")
    return given


def _boxes(values: Boxes, dtype: np.dtype[Any], axes: int) -> Any:
    def rows(given: Any, what: str, width: int) -> Array:
        table = np.atleast_1d(_array(given, dtype, what))
        return table.reshape(0, width) if table.shape == (0,) else table  # an empty list: no boxes

    if isinstance(values, tuple) and len(values) == 2:
        return rows(values[0], "lower", axes), rows(values[1], "upper", axes)
    return rows(values, "boxes", 2 * axes)


def _ids(values: npt.ArrayLike) -> Ids:
    ids = np.asarray(values)
    if ids.dtype != np.uint64 and not (ids.size == 0 or (ids.dtype.kind in "iu" and ids.dtype.itemsize == 8)):
        raise TypeError(f"ids: an array of {ids.dtype}, where uint64 is needed")
    return np.ascontiguousarray(ids, np.uint64).reshape(-1)


def slots(ids: npt.ArrayLike) -> npt.NDArray[np.uint32]:
    """The slots of ids: the numbers that pairs and hits name their objects by.

    >>> space = cleave.Space()
    >>> cleave.slots(space.add([[0, 0, 0, 1, 1, 1]]))
    array([0], dtype=uint32)
    """
    given = np.asarray(ids)
    if given.size > 0 and given.dtype.kind not in "ui":
        raise TypeError(f"ids are whole numbers, not {given.dtype}")
    given = np.ascontiguousarray(given, np.uint64)
    return given.view(np.uint32).reshape(given.shape + (2,))[..., 0]


def filters(category: npt.ArrayLike = 1, mask: npt.ArrayLike = 0xFFFFFFFFFFFFFFFF, group: npt.ArrayLike = 0) -> Array:
    """Filters for `add`, `set_filter` and questions, one for each element of the arguments.

    Two objects may be a pair if each one's category is in the other's mask. Equal groups that are not 0 decide first: positive
    ones always pair, negative ones never.

    >>> cleave.filters(category=[1, 2]).shape
    (2,)
    """
    columns = np.broadcast_arrays(_whole(category, np.uint64, "category"), _whole(mask, np.uint64, "mask"), _whole(group, np.int32, "group"))
    made = np.zeros(columns[0].size, _FILTER)
    for name, column in zip(("category", "mask", "group"), columns):
        made[name] = column.reshape(-1)
    return made


def pairs(boxes: Boxes, *, sorted: bool = False, workers: int = 1, margin: float = 0.0) -> npt.NDArray[np.uint32]:
    """Every two boxes that touch: an array of rows (a, b), a < b, of their positions in `boxes`.

    Boxes of two axes in float64 are searched as boxes of three, which takes a copy. The array is read only and keeps the memory of the search;
    `pairs(...).copy()` is yours to write to, and lets it go.

    >>> lower = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0]])
    >>> cleave.pairs((lower, lower + 1), sorted=True)
    array([[0, 2],
           [1, 2]], dtype=uint32)
    """
    lower = boxes[0] if isinstance(boxes, tuple) and len(boxes) == 2 else boxes
    first = np.atleast_1d(np.asarray(lower))
    dtype = np.dtype(np.float64 if first.dtype == np.float64 and isinstance(lower, np.ndarray) else np.float32)
    width = first.shape[-1] * (2 if lower is not boxes or first.ndim == 3 else 1) if first.ndim > 1 else 6
    given = _boxes(boxes, dtype, 2 if width == 4 else 3)
    if width == 4 and dtype == np.float64:
        sides = given if isinstance(given, tuple) else (given[:, :2], given[:, 2:]) if given.ndim == 2 else (given[:, 0], given[:, 1])
        if any(side.shape != (len(first), 2) for side in sides) or first.ndim == 3 and first.shape[1] != 2:
            raise ValueError("boxes of 2 axes are N x 4, N x 2 x 2 or a tuple of two N x 2")
        corners = np.zeros((len(first), 2, 3))
        corners[:, 0, :2], corners[:, 1, :2] = sides
        given, width = corners, 6
    space = Space(dtype=dtype, axes=2 if width == 4 else 3, sorted=sorted, workers=workers, margin=margin, capacity=len(first))
    space._space.add(given, None, None, None, None, None, None)  # the ids are not needed
    space.update()
    return space.pairs(copy=False)


def _regions(regions: Boxes) -> Tuple[Array, Array]:
    if isinstance(regions, tuple) and len(regions) == 2:
        lower, upper = (np.ascontiguousarray(corner, np.float64) for corner in regions)
    else:
        given = np.asarray(regions, np.float64)
        if given.ndim not in (2, 3) or (given.ndim == 2 and given.shape[1] % 2 != 0) or (given.ndim == 3 and given.shape[1] != 2):
            raise ValueError("regions of k axes are N x 2k, N x 2 x k or a tuple of two N x k")
        given = given.reshape(len(given), 2, given[:1].size // 2 if len(given) else given.shape[-1])
        lower, upper = np.ascontiguousarray(given[:, 0]), np.ascontiguousarray(given[:, 1])
    if lower.ndim != 2 or lower.shape != upper.shape:
        raise ValueError("regions of k axes are N x 2k, N x 2 x k or a tuple of two N x k")
    return lower, upper


def match(regions: Boxes, others: Optional[Boxes] = None) -> npt.NDArray[np.uint32]:
    """Regions of one to eight axes: every two that overlap, as `pairs` does for boxes; with `others`, every overlap of one of `regions`
    with one of these. Computed in float64; no arrangement of regions is slow.

    >>> cleave.match([[0, 10], [5, 15], [20, 30]])                   # intervals
    array([[0, 1]], dtype=uint32)
    >>> cleave.match([[0, 10], [5, 15]], others=[[12, 13], [15, 20]])
    array([[1, 0],
           [1, 1]], dtype=uint32)
    """
    lower, upper = _regions(regions)
    more: Tuple[Optional[Array], Optional[Array]] = (None, None) if others is None else _regions(others)
    if more[0] is not None and more[0].shape[1] != lower.shape[1]:
        raise ValueError(f"regions of {lower.shape[1]} axes beside others of {more[0].shape[1]}")
    return np.frombuffer(_cleave.match(lower.shape[1], lower, upper, *more), np.uint32).reshape(-1, 2)


# ---- questions


class Queries(NamedTuple):
    """A list of questions of one kind, made by `rays`, `boxes`, `spheres` and their like."""

    kind: str
    columns: Tuple[Any, ...]
    layout: str  # of each column: v a vector, s a number, b a box, q a rotation


class HitLists:
    """What `query_all` finds: `lists[i]` are the hits of query i; `hits` are all of them, those of query i from `offsets[i]` on."""

    def __init__(self, offsets: npt.NDArray[np.uint64], hits: Array) -> None:
        self.offsets = offsets
        self.hits = hits

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> Array:
        at = range(len(self))[query]
        return self.hits[int(self.offsets[at]):int(self.offsets[at + 1])]

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    def queries(self) -> npt.NDArray[np.int64]:
        """For each of `hits` the number of its query."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets.astype(np.int64)))


def points(position: npt.ArrayLike) -> Queries:
    """What contains each point, or is nearest to it. N x 3, or N x 2 in a flat space."""
    return Queries("points", (position,), "v")


def boxes(box: Boxes) -> Queries:
    """What touches each box."""
    return Queries("boxes", (box,), "b")


def spheres(center: npt.ArrayLike, radius: npt.ArrayLike) -> Queries:
    """What touches each ball; a circle in a flat space."""
    return Queries("spheres", (center, radius), "vs")


def neighbourhoods(box: Boxes, distance: npt.ArrayLike) -> Queries:
    """What is no farther than `distance` from each box."""
    return Queries("neighbourhoods", (box, distance), "bs")


def capsules(a: npt.ArrayLike, b: npt.ArrayLike, radius: npt.ArrayLike) -> Queries:
    """What is no farther than `radius` from each line between a and b."""
    return Queries("capsules", (a, b, radius), "vvs")


def oriented_boxes(center: npt.ArrayLike, half_size: npt.ArrayLike, rotation: npt.ArrayLike) -> Queries:
    """What touches each turned box. The rotation is a quaternion x, y, z, w of any length; in a flat space (cos, sin)."""
    return Queries("oriented_boxes", (center, half_size, rotation), "vvq")


def half_spaces(regions: Sequence[npt.ArrayLike], origin: Optional[npt.ArrayLike] = None) -> Queries:
    """What lies inside all planes of each region. A region is an array of rows (normal, offset) and means
    dot(normal, p - origin) <= offset; origins other than 0 only in float64."""
    return Queries("half_spaces", (tuple(regions), origin), "")


def rays(origin: npt.ArrayLike, direction: npt.ArrayLike, max_t: npt.ArrayLike = np.inf) -> Queries:
    """What is met on the way from `origin` along `direction`, `max_t` times as far at most."""
    return Queries("rays", (origin, direction, max_t), "vvs")


def box_casts(box: Boxes, motion: npt.ArrayLike, max_t: npt.ArrayLike = 1.0) -> Queries:
    """What a box meets that moves by `motion` times 0 to `max_t`."""
    return Queries("box_casts", (box, motion, max_t), "bvs")


def sphere_casts(center: npt.ArrayLike, radius: npt.ArrayLike, motion: npt.ArrayLike, max_t: npt.ArrayLike = 1.0) -> Queries:
    """What a ball meets that moves."""
    return Queries("sphere_casts", (center, radius, motion, max_t), "vsvs")


def capsule_casts(a: npt.ArrayLike, b: npt.ArrayLike, radius: npt.ArrayLike, motion: npt.ArrayLike, max_t: npt.ArrayLike = 1.0) -> Queries:
    """What a capsule meets that moves."""
    return Queries("capsule_casts", (a, b, radius, motion, max_t), "vvsvs")


class Space:
    """Boxes that live on: add, move and remove them, update once per frame, then read the pairs or ask.

    >>> space = cleave.Space(events=True)
    >>> ids = space.add([[0, 0, 0, 1, 1, 1], [1, 0, 0, 2, 1, 1], [5, 5, 5, 6, 6, 6]])
    >>> space.update()
    >>> space.pairs()
    array([[0, 1]], dtype=uint32)
    >>> space.move(ids[2:], [[2, 0, 0, 3, 1, 1]])
    >>> space.update()
    >>> cleave.slots(space.begun())
    array([[1, 2]], dtype=uint32)
    >>> space.query_closest(cleave.rays([[-1, 0.5, 0.5]], [[1, 0, 0]]))
    array([(0, 1.)], dtype=[('index', '<u4'), ('t', '<f4')])
    """

    def __init__(self, *, dtype: npt.DTypeLike = np.float32, axes: int = 3, workers: int = 1, events: bool = False, sorted: bool = False,
                 margin: float = 0.0, margin_by_size: float = 0.0, margin_by_speed: float = 0.0, pair_data: bool = False,
                 skip_static_pairs: bool = False, capacity: int = 0, pair_capacity: int = 0, max_pairs: int = 0,
                 stage_times: bool = False, worker_spin_ms: float = 0.0, method: Optional[str] = None, settings: Optional[str] = None,
                 isa: Optional[str] = None, filter: Optional[Callable[[int, int], bool]] = None) -> None:
        """The settings of clv_space_def. `axes` is 3 or 2; a space of two axes is float32.

        `filter(a, b)` is asked about the slots of each pair that touches and that categories, masks and groups allow; the answer is remembered while
        the pair lasts, until `refilter`. It may not call the space. What it raises, `update` raises: then pairs that it had not decided are
        left out, and it is asked about them in the next update.

        >>> space = cleave.Space(filter=lambda a, b: (a + b) % 2 == 0)
        >>> ids = space.add(np.tile(np.array([0, 0, 0, 1, 1, 1], np.float32), (4, 1)))
        >>> space.update()
        >>> sorted(space.pairs().tolist())
        [[0, 2], [1, 3]]
        """
        self.dtype = np.dtype(dtype)
        self.axes = axes
        if self.dtype not in _HIT or axes not in (2, 3):
            raise ValueError("a space is of float32 or float64, and of 2 or 3 axes")
        self._flat = axes == 2
        self._world = 1 if self._flat else 2 if self.dtype == np.float64 else 0
        self._space = _cleave.Space(dict(
            doubles=self.dtype == np.float64, flat=self._flat, worker_count=workers, events=events, sorted=sorted, margin=margin,
            margin_by_size=margin_by_size, margin_by_speed=margin_by_speed, pair_data=pair_data,
            skip_static_pairs=skip_static_pairs, capacity=capacity, pair_capacity=pair_capacity, max_pairs=max_pairs,
            stage_times=stage_times, worker_spin_ms=worker_spin_ms, method=method, settings=settings), isa, filter)
        self._spare: dict[str, Array] = {}  # memory of the last copies, used again once nothing else has it

    # ---- objects in

    def add(self, boxes: Boxes, *, user_data: Optional[npt.ArrayLike] = None, filters: Optional[Array] = None,
            margin: Optional[npt.ArrayLike] = None, is_static: Optional[npt.ArrayLike] = None,
            motion: Optional[npt.ArrayLike] = None) -> Ids:
        """Adds boxes, with what they carry, and returns their ids."""
        given = _boxes(boxes, self.dtype, self.axes)
        count = len(given[0] if isinstance(given, tuple) else given)
        ids = np.empty(count, np.uint64)

        def column(values: Any, dtype: npt.DTypeLike, shape: Tuple[int, ...] = ()) -> Any:
            return None if values is None else np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype), (count,) + shape))

        self._space.add(given, ids, None if user_data is None else column(_whole(user_data, np.uint64, "user_data"), np.uint64),
                        None if filters is None else column(_filter_rows(filters), _FILTER), column(margin, np.float32),
                        column(is_static, np.bool_), column(motion, np.float32, (3,)))
        return ids

    def move(self, ids: npt.ArrayLike, boxes: Boxes) -> None:
        """Replaces boxes: all of them, or none. Fastest for ids in the order in which `add` returned them."""
        self._space.move(_ids(ids), _boxes(boxes, self.dtype, self.axes))

    def move_all(self, boxes: Boxes) -> None:
        """Replaces the boxes of all objects, without ids: row i is for the i-th object in the order of the slots, as `ids()` lists them.

        >>> space = cleave.Space()
        >>> ids = space.add([[0, 0, 0, 1, 1, 1], [3, 0, 0, 4, 1, 1], [6, 0, 0, 7, 1, 1]])
        >>> space.remove(ids[:1])
        >>> space.move_all([[0, 0, 0, 1, 1, 1], [1, 0, 0, 2, 1, 1]])
        >>> space.update()
        >>> space.pairs()
        array([[1, 2]], dtype=uint32)
        """
        self._space.move(None, _boxes(boxes, self.dtype, self.axes))

    def remove(self, ids: npt.ArrayLike) -> None:
        """Removes objects; their pairs end at the next update."""
        self._space.remove(_ids(ids))

    def clear(self) -> None:
        """Removes every object and forgets every pair, without events."""
        self._space.clear()

    def shift_origin(self, x: float, y: float, z: float = 0.0) -> None:
        """Makes that point the new 0: every box moves by its opposite."""
        self._space.shift_origin(x, y, z)

    # ---- what objects carry

    def _set(self, column: str, ids: npt.ArrayLike, values: Any, dtype: npt.DTypeLike, shape: Tuple[int, ...] = ()) -> None:
        named = _ids(ids)
        self._space.set(column, named, np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype), named.shape + shape)))

    def _get(self, column: str, ids: npt.ArrayLike, dtype: npt.DTypeLike, shape: Tuple[int, ...] = ()) -> Array:
        named = _ids(ids)
        values: Array = np.empty(named.shape + shape, dtype)
        self._space.get(column, named, values)
        return values

    def set_user_data(self, ids: npt.ArrayLike, values: npt.ArrayLike) -> None:
        """A number of yours for each object, which the library never reads."""
        self._set("user_data", ids, _whole(values, np.uint64, "user_data"), np.uint64)

    def set_margin(self, ids: npt.ArrayLike, margin: npt.ArrayLike) -> None:
        """Metres around these boxes in place of the space's margin."""
        self._set("margin", ids, margin, np.float32)

    def set_margin_rule(self, ids: npt.ArrayLike, rule: npt.ArrayLike) -> None:
        """Rows of (fixed, by_size, by_speed)."""
        self._set("margin_rule", ids, rule, np.float32, (3,))

    def set_motion(self, ids: npt.ArrayLike, motion: npt.ArrayLike) -> None:
        """How far these objects go before the update after the next: the next one tests swept boxes. Rows of x, y, z."""
        self._set("motion", ids, motion, np.float32, (3,))

    def set_filter(self, ids: npt.ArrayLike, filters: Array) -> None:
        """Which objects may be pairs; see `cleave.filters`."""
        self._set("filter", ids, _filter_rows(filters), _FILTER)

    def set_static(self, ids: npt.ArrayLike, is_static: npt.ArrayLike) -> None:
        """A hint that these objects seldom move."""
        self._set("static", ids, is_static, np.bool_)

    def refilter(self, ids: npt.ArrayLike) -> None:
        """Has the filter of the space asked again, in the next update, about every pair of these objects."""
        self._space.refilter(_ids(ids))

    def get_boxes(self, ids: npt.ArrayLike) -> Array:
        """The boxes as they were given: N x 6, or N x 4."""
        return self._get("box" + ("", "2", "64")[self._world], ids, self.dtype, (2 * self.axes,))

    def get_test_boxes(self, ids: npt.ArrayLike) -> Array:
        """The boxes that the next update would test: grown by their margins, swept along their motions."""
        return self._get("test_box" + ("", "2", "64")[self._world], ids, self.dtype, (2 * self.axes,))

    def get_user_data(self, ids: npt.ArrayLike) -> npt.NDArray[np.uint64]:
        return self._get("user_data", ids, np.uint64)

    def get_margin(self, ids: npt.ArrayLike) -> npt.NDArray[np.float32]:
        return self._get("margin", ids, np.float32)

    def get_margin_rule(self, ids: npt.ArrayLike) -> npt.NDArray[np.float32]:
        return self._get("margin_rule", ids, np.float32, (3,))

    def get_motion(self, ids: npt.ArrayLike) -> npt.NDArray[np.float32]:
        return self._get("motion", ids, np.float32, (3,))

    def get_filter(self, ids: npt.ArrayLike) -> Array:
        return self._get("filter", ids, _FILTER)

    def get_static(self, ids: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        return self._get("static", ids, np.bool_)

    def contains(self, ids: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which of these objects are in this space now?"""
        return self._get("contains", ids, np.bool_)

    def ids(self) -> Ids:
        """Of all objects, in the order of their slots."""
        ids = np.empty(len(self), np.uint64)
        self._space.ids(ids)
        return ids

    # ---- pairs out

    def update(self) -> None:
        """Finds every pair. BufferError if arrays of the last update are still in use."""
        self._space.update()

    def visit(self, visitor: Callable[[npt.NDArray[np.uint32]], Optional[bool]]) -> None:
        """The same search without a list: the visitor gets the pairs in chunks, and may return False to stop (CLV_STOPPED). Not with
        `sorted`, `events` or `pair_data`."""
        self._space.visit(lambda chunk: visitor(np.frombuffer(chunk, np.uint32).reshape(-1, 2)))

    def _optional(self, name: str, copy: bool) -> Optional[Array]:
        view = self._space.view(name)
        return None if view is None else self._copy(name, np.asarray(view)) if copy else np.asarray(view)

    def _copy(self, name: str, lent: Array) -> Array:
        """Into the memory of the copy before, if that is gone: fresh memory costs the system more than the copy."""
        spare = self._spare.pop(name, None)  # so that no other thread has it
        if spare is None or sys.getrefcount(spare) > 2 or not len(lent) <= len(spare) <= 4 * len(lent) + 1024:
            spare = np.empty((len(lent) + len(lent) // 8,) + lent.shape[1:], lent.dtype)
        copy = spare[:len(lent)]
        np.copyto(copy, lent)
        self._spare[name] = spare
        return copy

    def _list(self, name: str, copy: bool) -> Array:
        found = self._optional(name, copy)
        assert found is not None
        return found

    def pairs(self, copy: bool = True) -> npt.NDArray[np.uint32]:
        """The pairs of the last update: rows of two slots, a < b. With `copy=False` lent, until you delete the array."""
        return self._list("pairs", copy)

    def pair_ids(self) -> Ids:
        """The ids of these pairs, 0 in place of an object that was removed since."""
        ids = np.empty((len(self.pairs(copy=False)), 2), np.uint64)
        self._space.pair_ids(ids)
        return ids

    def pair_data(self) -> Optional[npt.NDArray[np.uint64]]:
        """A number of yours beside each pair, to write and to find again as long as the pair lasts. Always
        lent, as `pairs(copy=False)` is; None unless the space was made with `pair_data`."""
        return self._optional("pair_data", False)

    def begun(self, copy: bool = True) -> Ids:
        """Rows of the ids of pairs that began with the last update; empty without `events`."""
        return self._list("begun", copy)

    def ended(self, copy: bool = True) -> Ids:
        """Rows of the ids of pairs that ended with it."""
        return self._list("ended", copy)

    def begun_user(self, copy: bool = True) -> Optional[npt.NDArray[np.uint64]]:
        """Beside `begun` the user data of the objects; None where none was set."""
        return self._optional("begun_user", copy)

    def ended_user(self, copy: bool = True) -> Optional[npt.NDArray[np.uint64]]:
        """Beside `ended` the user data as it was."""
        return self._optional("ended_user", copy)

    def ended_data(self, copy: bool = True) -> Optional[npt.NDArray[np.uint64]]:
        """Beside `ended` the numbers of `pair_data`."""
        return self._optional("ended_data", copy)

    # ---- questions

    def refresh(self) -> None:
        """From here on questions see the boxes as they are now, without a search for pairs."""
        self._space.refresh()

    def query_all(self, queries: Queries, *, filters: Optional[Array] = None, as_given: bool = False,
                  callback: Optional[Callback] = None) -> HitLists:
        """Everything that each query finds, by slot.

        `callback(query, slot, t, reach)`, in every question, is asked about each object that is found: True, it counts; False, it does not; or a tuple of
        that and of how far the query still looks, in the unit of `t`, which shortens a ray. It is asked in an order of its own, twice if there
        was no room for the hits, and may ask the space. What it raises, the question raises.

        >>> space = cleave.Space(axes=2)
        >>> ids = space.add([[0, 0, 1, 1], [2, 0, 3, 1]])
        >>> space.update()
        >>> [hits["index"].tolist() for hits in space.query_all(cleave.spheres([[0, 0], [1.5, 0.5]], 1))]
        [[0], [0, 1]]
        """
        items, rest, count = self._items(queries)
        offsets = np.empty(count + 1, np.uint64)
        hits = np.empty(4 * count + 64, _HIT[self.dtype])
        while True:  # until there is room: an update between two tries, or a callback that answers otherwise, changes how many they are
            found = self._ask(_ALL, queries, items, rest, filters, as_given, callback, 0, 0.0, offsets, hits)
            if found <= len(hits):
                return HitLists(offsets, hits[:found])
            hits = np.empty(found, _HIT[self.dtype])

    def query_any(self, queries: Queries, *, filters: Optional[Array] = None, as_given: bool = False,
                  callback: Optional[Callback] = None) -> Array:
        """One hit of each query, with the index NO_HIT where there is none. The quickest question."""
        return self._each(_ANY, queries, filters, as_given, callback)

    def query_closest(self, queries: Queries, *, filters: Optional[Array] = None, as_given: bool = False,
                  callback: Optional[Callback] = None) -> Array:
        """What each ray or cast meets first."""
        return self._each(_CLOSEST, queries, filters, as_given, callback)

    def query_nearest(self, queries: Queries, k: int, max_distance: float = np.inf, *, filters: Optional[Array] = None,
                      as_given: bool = False, callback: Optional[Callback] = None) -> Array:
        """The k objects nearest to each point or box: N x k hits, nearest first."""
        return self._each(_NEAREST, queries, filters, as_given, callback, k, max_distance)

    def query_visit(self, queries: Queries, visitor: Callable[[int, Array], Optional[bool]], *, filters: Optional[Array] = None,
                    as_given: bool = False, callback: Optional[Callback] = None) -> None:
        """As `query_all`, one query after the other: `visitor(query, hits)` gets the hits of each, also of those that find nothing, and may
        return False to stop (CLV_STOPPED).

        >>> space = cleave.Space(axes=2)
        >>> ids = space.add([[0, 0, 1, 1], [2, 0, 3, 1]])
        >>> space.update()
        >>> space.query_visit(cleave.points([[0, 0], [9, 9]]), lambda query, hits: print(query, hits["index"]))
        0 [0]
        1 []
        """
        items, rest, _ = self._items(queries)
        self._space.query_visit(lambda query, hits: visitor(query, np.frombuffer(hits, _HIT[self.dtype])), _cleave.KINDS[queries.kind][0], items,
                                self._filters(filters), as_given, callback, *rest)

    def query_pairs(self, other: Space, *, as_given: bool = False) -> npt.NDArray[np.uint32]:
        """Every pair of an object of this space and one of another: rows of a slot here and a slot there."""
        if not isinstance(other, Space):
            raise TypeError(f"query_pairs: another Space is needed, not {type(other).__name__}")
        found = np.empty((256, 2), np.uint32)
        while True:  # as in query_all
            count = self._space.query_pairs(other._space, as_given, found)
            if count <= len(found):
                return found[:count]
            found = np.empty((count, 2), np.uint32)

    def _column(self, values: Any, layout: str) -> Array:
        """A column of queries as a table with a row for each query, or with one row for all."""
        if layout == "b" and isinstance(values, tuple) and len(values) == 2:
            return np.concatenate(np.broadcast_arrays(self._column(values[0], "v"), self._column(values[1], "v")), axis=1)
        table = _array(values, self.dtype, "queries")
        if layout == "s":
            return table.reshape(-1, 1)
        width = {"b": 2 * self.axes, "v": self.axes, "q": 2 if self._flat else 4}[layout]
        if table.ndim == 0 or table.size % width != 0 or (table.ndim < 3 and table.shape[-1] != width):
            raise ValueError(f"queries: rows of {table.shape[-1:]}, where {width} numbers are needed in this space")
        return table.reshape(-1, width)

    def _items(self, queries: Queries) -> Tuple[Array, Tuple[Any, Any], int]:
        """The list as C takes it: items side by side, what half-spaces need besides, and how many there are."""
        if not isinstance(queries, Queries):
            raise TypeError(f"queries: made by cleave.points, cleave.boxes, cleave.rays and so on, not {type(queries).__name__}")
        if queries.kind == "half_spaces":
            regions = [_array(region, self.dtype, "half_spaces").reshape(-1, self.axes + 1) for region in queries.columns[0]]
            offsets = np.cumsum([0] + [len(region) for region in regions], dtype=np.uint32)
            origins = np.zeros((len(regions), 3), np.float64)
            if queries.columns[1] is not None:
                if self._world != 2:
                    raise ValueError("half_spaces: an origin is for spaces of float64")
                origins[:] = queries.columns[1]
            planes = np.concatenate(regions) if regions else np.empty((0, self.axes + 1), self.dtype)
            return np.ascontiguousarray(planes), (offsets, origins), len(regions)
        columns = [self._column(values, layout) for values, layout in zip(queries.columns, queries.layout)]
        count = max(len(column) for column in columns) if all(len(column) for column in columns) else 0
        for column in columns:
            if len(column) not in (1, count):
                raise ValueError(f"queries: {len(column)} rows beside {count}")
        if queries.kind == "oriented_boxes" and self._world == 2:  # a rotation is of floats there too
            items = np.zeros(count, np.dtype([("place", np.float64, 6), ("rotation", np.float32, 4)], align=True))
            items["place"][:, :3], items["place"][:, 3:], items["rotation"] = columns
        elif len(columns) == 1:
            items = np.ascontiguousarray(columns[0])
        else:
            items = np.concatenate([np.broadcast_to(column, (count, column.shape[1])) for column in columns], axis=1)
        return items, (None, None), count

    def _ask(self, question: int, queries: Queries, items: Array, rest: Tuple[Any, Any], filters: Any, as_given: bool,
             callback: Optional[Callback], k: int, max_distance: float, offsets: Any, hits: Array) -> int:
        return self._space.query(question, _cleave.KINDS[queries.kind][0], items, self._filters(filters), as_given, callback, k, max_distance, offsets,
                                 hits, *rest)

    def _filters(self, filters: Any) -> Any:
        return None if filters is None else np.ascontiguousarray(_filter_rows(filters))

    def _each(self, question: int, queries: Queries, filters: Any, as_given: bool, callback: Optional[Callback], k: int = 1,
              max_distance: float = 0.0) -> Array:
        items, rest, count = self._items(queries)
        hits = np.empty((count, k) if question == _NEAREST else count, _HIT[self.dtype])
        self._ask(question, queries, items, rest, filters, as_given, callback, k, max_distance, None, hits)
        return hits

    # ---- about the space

    def __len__(self) -> int:
        """Objects that are alive."""
        return self._space.about()[0]

    def __repr__(self) -> str:
        return f"<cleave.Space: {len(self)} boxes of {self.axes} axes, {self.dtype}, method {self.method}, {self.isa}>"

    @property
    def valid(self) -> bool:
        """Are the pairs those of a good update?"""
        return self._space.about()[1]

    @property
    def method(self) -> str:
        return self._space.about()[2]

    @property
    def isa(self) -> str:
        """The instruction set at work."""
        return self._space.about()[3]

    @property
    def workers(self) -> int:
        return self._space.about()[4]

    @property
    def stats(self) -> dict[str, Any]:
        """Counters of the last update, sizes and memory: the members of clv_stats."""
        return self._space.stats()

    def shrink(self) -> None:
        """Gives back memory beyond what the objects and the last list need."""
        self._spare.clear()
        self._space.shrink()
