# SPDX-License-Identifier: MIT
"""Points within a cutoff: neighbour lists of particles, open and in periodic cells."""

from __future__ import annotations

import importlib
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _cleave

Array = npt.NDArray[Any]


class Neighbours(NamedTuple):
    """What `neighbours` returns; None for what was not asked for. Row k of each array is about the same entry. The arrays are yours."""

    pairs: Optional[npt.NDArray[np.uint32]]  #: rows (a, b) of positions in `points`; None with by_point
    distances: Optional[Array]
    vectors: Optional[Array]  #: from a to b, or to the image of b
    shifts: Optional[npt.NDArray[np.int32]]  #: the image of b is b + shift @ cell
    offsets: Optional[npt.NDArray[np.uint64]]  #: with by_point: the neighbours of i are indices[offsets[i]:offsets[i + 1]]
    indices: Optional[npt.NDArray[np.uint32]]


def _points(points: npt.ArrayLike) -> Array:
    if isinstance(points, np.ndarray) and points.dtype not in (np.float32, np.float64):
        raise TypeError(f"points: an array of {points.dtype}, where float32 or float64 is needed; .astype converts")
    given = points if isinstance(points, np.ndarray) else np.asarray(points, np.float64)
    if given.shape == (0,):
        given = given.reshape(0, 3)
    if given.ndim != 2 or given.shape[1] not in (2, 3):
        raise ValueError(f"points are N x 3 or N x 2, not {' x '.join(map(str, given.shape)) or 'a number'}")
    return np.ascontiguousarray(given)


def _edges(cell: Optional[npt.ArrayLike], periodic: Union[None, bool, Sequence[bool]], axes: int) -> Tuple[Optional[Array], int]:
    """The edges as 3 x 3, and a bit for each axis that is periodic."""
    if cell is None:
        if periodic is not None and np.any(periodic):
            raise ValueError("periodic: needs a cell")
        return None, 0
    given = np.asarray(cell, np.float64)
    if given.shape not in ((axes,), (axes, axes)):
        raise ValueError(f"cell: {axes} lengths or {axes} x {axes} (each row an edge), as the points have {axes} axes")
    edges = np.eye(3)
    edges[:axes, :axes] = np.diag(given) if given.ndim == 1 else given
    along = np.asarray(True if periodic is None else periodic, bool)
    if along.shape not in ((), (axes,)):
        raise ValueError(f"periodic: one truth value, or {axes}")
    return edges, sum(1 << axis for axis, is_on in enumerate(np.broadcast_to(along, axes)) if is_on)


def _column(values: Optional[npt.ArrayLike], dtype: npt.DTypeLike, what: str, count: int) -> Optional[Array]:
    if values is None:
        return None
    wanted = np.dtype(dtype)
    given = np.asarray(values)
    if given.size > 0 and given.dtype != wanted:
        if wanted.kind == "u":
            if given.dtype.kind not in "iu":
                raise TypeError(f"{what}: whole numbers are needed, not {given.dtype}")
            if given.min() < 0 or given.max() > np.iinfo(wanted).max:
                raise ValueError(f"{what}: numbers from 0 to {np.iinfo(wanted).max} are needed")
        elif isinstance(values, np.ndarray):
            raise TypeError(f"{what}: an array of {given.dtype}, where {wanted} is needed, as the points are")
    table = np.ascontiguousarray(given, wanted)
    shape = (count,) if count >= 0 else (-1, 2)
    if count < 0 and table.size == 0:
        return table.reshape(0, 2)
    if table.ndim != len(shape) or (count >= 0 and table.shape != shape) or (count < 0 and table.shape[1] != 2):
        raise ValueError(f"{what}: {count} numbers are needed" if count >= 0 else f"{what}: rows of two positions are needed")
    return table


def neighbours(points: npt.ArrayLike, cutoff: float, cell: Optional[npt.ArrayLike] = None,
               periodic: Union[None, bool, Sequence[bool]] = None, *, full: bool = False, by_point: bool = False,
               distances: bool = False, vectors: bool = False, shifts: bool = False, radii: Optional[npt.ArrayLike] = None,
               groups: Optional[npt.ArrayLike] = None, exclude: Optional[npt.ArrayLike] = None, max_pairs: int = 0,
               workers: int = 1, isa: Optional[str] = None) -> Neighbours:
    """Every two points that are `cutoff` apart or less.

    `points` are N x 3 or N x 2, float32 or float64, and computed in that type; lists of numbers are taken as float64.
    `cell` has the lengths of a right-angled cell, or its edges as rows; it repeats along all axes, or those that `periodic` names.
    It may be as small as you like: a point meets every image within the cutoff, also its own. Points outside are wrapped.

    Each pair is listed once, a < b (a = b for a point and its image); with `full` from both sides, by ascending a. `by_point` gives
    `offsets` and `indices` in place of pairs. With `radii` the limit is cutoff + both radii. Two points of the same group other than 0
    are no pair, nor are those that `exclude` has as rows of two. More than `max_pairs` pairs raise CLV_TOO_MANY_PAIRS; 0 is no limit.

    A distance equal to the cutoff counts, exactly as cleave/near.h computes it. The order depends on the arguments alone, not on
    `workers` or `isa`. The search releases the GIL.

    >>> near = cleave.neighbours([[0.5, 5, 5], [9.5, 5, 5], [5, 5, 5]], 1.0, cell=[10, 10, 10], distances=True, shifts=True)
    >>> near.pairs, near.distances, near.shifts
    (array([[0, 1]], dtype=uint32), array([1.]), array([[-1,  0,  0]], dtype=int32))
    """
    given = _points(points)
    count, axes = given.shape
    edges, along = _edges(cell, periodic, axes)
    sizes = _column(radii, given.dtype, "radii", count)
    members = _column(groups, np.uint32, "groups", count)
    never = _column(exclude, np.uint32, "exclude", -1)
    if max_pairs < 0 or workers < 0:
        raise ValueError("max_pairs and workers are not negative")
    listed, starts, squared, ways, moves = _cleave.near(
        given, given.dtype == np.float64, axes == 2, cutoff, sizes, members, never, edges, along, full, by_point, distances, vectors,
        shifts, max_pairs, workers, isa)
    entries = np.frombuffer(listed, np.uint32)
    rows = len(entries) if by_point else len(entries) // 2

    def column(data: Optional[bytearray], is_wanted: bool, dtype: npt.DTypeLike, width: int) -> Any:
        if not is_wanted:
            return None
        flat = np.frombuffer(data if data is not None else bytearray(), dtype)
        return flat.reshape(rows, width)[:, :axes] if width > 1 else flat

    lengths = column(squared, distances, given.dtype, 1)
    return Neighbours(
        None if by_point else entries.reshape(-1, 2), None if lengths is None else np.sqrt(lengths),
        column(ways, vectors, given.dtype, 3), column(moves, shifts, np.int32, 3),
        np.frombuffer(starts, np.uint64) if by_point and starts is not None else None, entries if by_point else None)


def _ase_system(a: Any) -> Tuple[Array, Array, Array, Optional[Array]]:
    """pbc, cell, positions, numbers: of an Atoms object, or of a tuple of the first three or all."""
    if isinstance(a, tuple):
        if len(a) not in (3, 4):
            raise ValueError("a tuple has pbc, cell, positions and perhaps numbers")
        pbc, cell, positions, numbers = a if len(a) == 4 else (*a, None)
    else:
        pbc, cell, positions, numbers = a.pbc, np.asarray(a.cell), a.positions, a.numbers
    return (np.broadcast_to(np.asarray(pbc, bool), 3), np.asarray(cell, np.float64).reshape(3, 3),
            np.ascontiguousarray(positions, np.float64).reshape(-1, 3), None if numbers is None else np.asarray(numbers))


def _ase_number(kind: Any) -> int:
    if isinstance(kind, str):
        return int(importlib.import_module("ase.data").atomic_numbers[kind])  # only names of elements need ASE
    return int(kind)


def _ase_limits(cutoff: Any, numbers: Optional[Array], i: Array, j: Array) -> Any:
    """The cutoff of each entry, where these differ by kind."""
    if numbers is None:
        raise ValueError("a cutoff by kinds of atoms needs their numbers")
    limits = np.zeros(len(i))
    for kinds, limit in cutoff.items():
        first, second = map(_ase_number, kinds)
        of_kind = (numbers[i] == first) & (numbers[j] == second) | (numbers[i] == second) & (numbers[j] == first)
        limits[of_kind] = limit
    return limits


def ase_neighbor_list(quantities: str, a: Any, cutoff: Union[float, npt.ArrayLike, Mapping[Any, float]], self_interaction: bool = False, *,
                      workers: int = 1) -> Any:
    """What `ase.neighborlist.neighbor_list` returns, with its rules: both directions, by ascending i, and closer than the cutoff, not equal to it.

    `quantities` has a letter for each array wanted: i and j (positions of the atoms), d (distance), D (vector from i to j), S (cell shift:
    D = positions[j] - positions[i] + S @ cell). `a` is an ase.Atoms or a tuple (pbc, cell, positions) or (pbc, cell, positions, numbers), which
    needs no ASE. The cutoff is a number, a list of a radius for each atom (closer than the sum), or a dict of kinds of atoms, such as
    {("H", "O"): 1.2}, where kinds that are not in it are never neighbours. `self_interaction` lists each atom as its own neighbour. The
    order of the neighbours of an atom is not ASE's.

    >>> positions = [[0.5, 5, 5], [9.5, 5, 5], [5, 5, 5]]
    >>> cleave.ase_neighbor_list("ijS", (True, np.diag([10.0, 10, 10]), positions), 1.5)
    (array([0, 1]), array([1, 0]), array([[-1,  0,  0],
           [ 1,  0,  0]]))
    """
    unknown = set(quantities) - set("ijdDS")
    if unknown or not quantities:
        raise ValueError(f"quantities: letters of i j d D S, not {''.join(sorted(unknown)) or 'none'}")
    pbc, cell, positions, numbers = _ase_system(a)
    radii: Optional[Array] = None
    longest = 0.0
    if isinstance(cutoff, Mapping):
        longest = max(cutoff.values(), default=0.0)
    elif np.ndim(cutoff) == 0:
        longest = float(np.asarray(cutoff, np.float64))
    else:
        radii = np.ascontiguousarray(cutoff, np.float64)
    # Wrapped points are rounded and ASE's formula is not of these: a little farther, and
    # then the formula decides.
    scale = max(np.abs(positions).max(initial=0.0), np.abs(cell[pbc]).sum(), longest, np.max(radii, initial=0.0) if radii is not None else 0.0)
    found = neighbours(positions, longest + 64 * np.finfo(np.float64).eps * scale, cell, tuple(pbc), full=True, shifts=True,
                       radii=radii, workers=workers)
    assert found.pairs is not None and found.shifts is not None
    i, j, shift = found.pairs[:, 0].astype(np.int64), found.pairs[:, 1].astype(np.int64), found.shifts.astype(np.int64)
    if self_interaction:
        every = np.arange(len(positions))
        order = np.argsort(np.concatenate([i, every]), kind="stable")
        i, j = np.concatenate([i, every])[order], np.concatenate([j, every])[order]
        shift = np.concatenate([shift, np.zeros((len(every), 3), np.int64)])[order]
    vector = positions[j] - positions[i] + shift @ np.where(pbc[:, None], cell, 0.0)
    distance = np.sqrt((vector * vector).sum(axis=1))
    limit = _ase_limits(cutoff, numbers, i, j) if isinstance(cutoff, Mapping) else radii[i] + radii[j] if radii is not None else longest
    kept = distance < limit
    columns = {"i": i, "j": j, "d": distance, "D": vector, "S": shift}
    answer = tuple(columns[letter][kept] for letter in quantities)
    return answer[0] if len(answer) == 1 else answer
