# SPDX-License-Identifier: MIT
"""Neighbour lists against brute force in numpy, and against ASE where it is installed. Run as test_cleave.py is."""

import doctest
import itertools
import unittest

import numpy as np

import cleave
import cleave.near

try:
    import ase
    import ase.build
    import ase.neighborlist
except ImportError:
    ase = None

SKEWED = np.array([[6.0, 0.0, 0.0], [1.5, 5.0, 0.0], [-1.0, 2.0, 7.0]])
CELLS = {
    "open": (None, None),
    "right angles": ([6.0, 5.0, 7.0], None),
    "skewed": (SKEWED, None),
    "a slab": (SKEWED, (True, True, False)),
    "a tube": ([6.0, 5.0, 7.0], (False, False, True)),
    "smaller than the cutoff": (SKEWED / 5, None),
}


def brute_force(points, cutoff, cell=None, periodic=None, radii=None):
    """A set of (a, b, shift) from both sides. On a grid of eighths all sums are exact, so that every formula gives the same."""
    axes = points.shape[1]
    edges = np.zeros((axes, axes)) if cell is None else np.diag(cell) if np.ndim(cell) == 1 else np.asarray(cell, float)[:axes, :axes]
    along = np.zeros(axes, bool) if cell is None else np.broadcast_to(True if periodic is None else periodic, axes)
    # So many images that no other can be near: points lie within two cells of the origin.
    reach = [0] * axes
    if cell is not None:
        filled = np.where(along[:, None], edges, np.eye(axes))
        heights = 1 / np.linalg.norm(np.linalg.inv(filled), axis=0)
        spread = np.ptp(points @ np.linalg.inv(filled), axis=0) if len(points) else np.zeros(axes)
        most = cutoff + (2 * max(radii) if radii is not None else 0)
        reach = [int(np.ceil(most / heights[k] + spread[k])) + 1 if along[k] else 0 for k in range(axes)]
    limit = np.full((len(points),) * 2, float(cutoff)) if radii is None else radii[:, None] + radii[None, :] + float(cutoff)
    found = set()
    for shift in itertools.product(*(range(-r, r + 1) for r in reach)):
        apart = points[None, :].astype(float) + np.asarray(shift) @ edges - points[:, None].astype(float)
        is_near = (apart * apart).sum(axis=2) <= limit * limit
        if not any(shift):
            np.fill_diagonal(is_near, False)
        found |= {(a, b, shift) for a, b in zip(*map(np.ndarray.tolist, np.nonzero(is_near)))}
    return found


def eighths(random, count, axes, dtype, size=7):
    return (random.integers(0, 8 * size, (count, axes)) / 8).astype(dtype)


def as_set(near, pairs=None):
    pairs = near.pairs if pairs is None else pairs
    return {(a, b, tuple(s)) for (a, b), s in zip(pairs.tolist(), near.shifts.tolist())}


class NearPoints(unittest.TestCase):
    def check(self, points, cutoff, cell=None, periodic=None, **more):
        expected = brute_force(points, cutoff, cell, periodic, more.get("radii"))
        near = cleave.neighbours(points, cutoff, cell, periodic, full=True, distances=True, vectors=True, shifts=True, **more)
        self.assertEqual(as_set(near), expected)
        self.assertEqual(len(near.pairs), len(expected))
        self.assertTrue(np.all(np.diff(near.pairs[:, 0].astype(int)) >= 0))
        self.assertEqual({array.dtype for array in (near.distances, near.vectors)}, {points.dtype})
        axes = points.shape[1]
        edges = np.zeros((axes, axes)) if cell is None else np.diag(cell) if np.ndim(cell) == 1 else np.asarray(cell, float)
        vectors = points[near.pairs[:, 1]] + near.shifts @ edges - points[near.pairs[:, 0]]
        np.testing.assert_allclose(near.vectors, vectors, atol=1e-5)
        np.testing.assert_allclose(near.distances, np.linalg.norm(vectors, axis=1), atol=1e-5)
        # Half lists have one direction of each; by point they are the same as in pairs.
        half = cleave.neighbours(points, cutoff, cell, periodic, shifts=True, **more)
        one_way = as_set(half)
        self.assertEqual(len(half.pairs), len(one_way))
        self.assertEqual(one_way | {(b, a, tuple(-s for s in shift)) for a, b, shift in one_way}, expected)
        self.assertEqual(2 * len(one_way), len(expected))
        by_point = cleave.neighbours(points, cutoff, cell, periodic, full=True, by_point=True, shifts=True, **more)
        self.assertIsNone(by_point.pairs)
        first = np.repeat(np.arange(len(points)), np.diff(by_point.offsets.astype(int)))
        self.assertEqual(as_set(by_point, np.stack([first, by_point.indices.astype(int)], axis=1)), expected)
        return expected

    def test_every_kind_of_cell(self):
        random = np.random.default_rng(1)
        for (name, (cell, periodic)), dtype in itertools.product(CELLS.items(), (np.float32, np.float64)):
            if name == "smaller than the cutoff":
                cell = np.round(np.asarray(cell) * 8) / 8  # exact sums again
            with self.subTest(name, dtype=dtype):
                points = eighths(random, 20 if name.startswith("smaller") else 120, 3, dtype)
                self.assertGreater(len(self.check(points, 1.5, cell, periodic)), 100)

    def test_flat_points(self):
        random = np.random.default_rng(2)
        for dtype in (np.float32, np.float64):
            points = eighths(random, 150, 2, dtype)
            for cell, periodic in ((None, None), ([6.0, 5.0], None), ([[6.0, 0.0], [1.5, 5.0]], (True, False))):
                self.assertGreater(len(self.check(points, 0.75, cell, periodic)), 100)

    def test_points_outside_the_cell_are_wrapped(self):
        points = eighths(np.random.default_rng(3), 60, 3, np.float64) - 9
        self.assertGreater(len(self.check(points, 1.5, [6.0, 5.0, 7.0])), 50)

    def test_radii(self):
        random = np.random.default_rng(4)
        for dtype in (np.float32, np.float64):
            points = eighths(random, 120, 3, dtype)
            radii = (random.integers(0, 9, 120) / 8).astype(dtype)
            self.assertGreater(len(self.check(points, 0.25, [6.0, 5.0, 7.0], radii=radii)), 100)

    def test_groups_and_excluded_pairs(self):
        points = eighths(np.random.default_rng(5), 100, 3, np.float32)
        every = {(a, b) for a, b, _ in brute_force(points, 2)}
        groups = np.arange(100) // 4
        listed = cleave.neighbours(points, 2, full=True, groups=groups).pairs.tolist()
        self.assertEqual(set(map(tuple, listed)), {(a, b) for a, b in every if groups[a] != groups[b] or groups[a] == 0})
        bonds = [(a, b) for a, b in every if (a + b) % 3 == 0]
        listed = cleave.neighbours(points, 2, full=True, exclude=bonds).pairs.tolist()
        self.assertEqual(set(map(tuple, listed)), every - set(bonds))
        self.assertEqual(len(cleave.neighbours(points, 2, full=True, exclude=[]).pairs), len(every))

    def test_workers_and_instruction_sets_give_the_same_order(self):
        points = np.random.default_rng(6).random((5000, 3)).astype(np.float32)
        first = cleave.neighbours(points, 0.1, [1, 1, 1])
        for more in ({"workers": 3}, {"isa": "scalar"}):
            self.assertTrue(np.array_equal(first.pairs, cleave.neighbours(points, 0.1, [1, 1, 1], **more).pairs))

    def test_layouts(self):
        points = eighths(np.random.default_rng(7), 50, 3, np.float64)
        expected = cleave.neighbours(points, 1.5).pairs
        wide = np.zeros((50, 7))
        wide[:, 2:5] = points
        for layout in (points.tolist(), np.asfortranarray(points), wide[:, 2:5], points[::-1].copy()[::-1]):
            self.assertTrue(np.array_equal(cleave.neighbours(layout, 1.5).pairs, expected))

    def test_few_points(self):
        for points in ([], np.zeros((0, 3)), np.zeros((0, 2), np.float32), [[1.0, 2.0, 3.0]]):
            near = cleave.neighbours(points, 1, distances=True, vectors=True, shifts=True, full=True)
            self.assertEqual((near.pairs.shape, near.distances.shape, len(near.vectors), len(near.shifts)), ((0, 2), (0,), 0, 0))
        near = cleave.neighbours([], 1, by_point=True)
        self.assertEqual((near.offsets.tolist(), len(near.indices)), ([0], 0))
        self.assertEqual(len(cleave.neighbours(np.zeros((9, 3)), 0).pairs), 36)

    def test_arrays_are_the_callers(self):
        near = cleave.neighbours(np.zeros((3, 3)), 1, distances=True, vectors=True, shifts=True)
        for array in near[:4]:
            array[:] = 1

    def test_bad_input_is_refused(self):
        good = np.zeros((4, 3))
        for kind, text, arguments, more in (
                (ValueError, "N x 3 or N x 2", (np.zeros((4, 4)), 1), {}),
                (TypeError, "int64", (np.zeros((4, 3), np.int64), 1), {}),
                (ValueError, "cutoff", (good, -1), {}),
                (ValueError, "cutoff", (good, np.nan), {}),
                (ValueError, "needs a cell", (good, 1), {"periodic": True}),
                (ValueError, "3 lengths", (good, 1, [1, 2]), {}),
                (ValueError, "singular", (good, 1, np.zeros((3, 3))), {}),
                (ValueError, "one truth value", (good, 1, [1, 1, 1], [True]), {}),
                (ValueError, "radii: 4 numbers", (good, 1), {"radii": [1.0]}),
                (TypeError, "radii", (good, 1), {"radii": np.ones(4, np.float32)}),
                (ValueError, "groups", (good, 1), {"groups": [-1, 0, 0, 0]}),
                (TypeError, "groups", (good, 1), {"groups": [0.5, 0, 0, 0]}),
                (ValueError, "rows of two", (good, 1), {"exclude": [[1, 2, 3]]}),
                (ValueError, "instruction set", (good, 1), {"isa": "avx22"}),
                (ValueError, "negative", (good, 1), {"workers": -1})):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                cleave.neighbours(*arguments, **more)
        good[2, 1] = np.inf
        with self.assertRaises(cleave.Error) as raised:
            cleave.neighbours(good, 1)
        self.assertEqual((raised.exception.code, raised.exception.position), ("CLV_BAD_ARGUMENT", 2))
        with self.assertRaises(cleave.Error) as raised:
            cleave.neighbours(np.zeros((9, 3)), 1, max_pairs=35)
        self.assertEqual(raised.exception.code, "CLV_TOO_MANY_PAIRS")

    def test_examples_in_docstrings(self):
        result = doctest.testmod(cleave.near, extraglobs={"cleave": cleave, "np": np})
        self.assertGreater(result.attempted, 3)
        self.assertEqual(result.failed, 0)


class AsAse(unittest.TestCase):
    def test_closer_than_the_cutoff_and_not_equal(self):
        line = (False, np.zeros((3, 3)), [[0.0, 0, 0], [1.0, 0, 0], [2.5, 0, 0]])
        self.assertEqual(cleave.ase_neighbor_list("i", line, 1.0).tolist(), [])
        i, j, d = cleave.ase_neighbor_list("ijd", line, np.nextafter(1.0, 2.0))
        self.assertEqual((i.tolist(), j.tolist(), d.tolist()), ([0, 1], [1, 0], [1.0, 1.0]))
        self.assertEqual(cleave.ase_neighbor_list("j", line, [0.5, 0.5, 1.1]).tolist(), [2, 1])
        self.assertEqual(cleave.ase_neighbor_list("j", (*line, [1, 1, 8]), {(1, 8): 1.6}).tolist(), [2, 1])
        self.assertEqual(cleave.ase_neighbor_list("ij", line, 1.2, self_interaction=True)[1].tolist(), [1, 0, 0, 1, 2])

    def test_bad_letters_and_kinds_are_refused(self):
        line = (False, np.zeros((3, 3)), [[0.0, 0, 0], [1.0, 0, 0]])
        for text, arguments in (("not x", ("ix", line, 1)), ("not none", ("", line, 1)), ("numbers", ("i", line, {(1, 1): 1.5})),
                                ("a tuple has", ("i", line[:2], 1))):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                cleave.ase_neighbor_list(*arguments)

    def same(self, atoms, cutoff, **more):
        expected = ase.neighborlist.neighbor_list("ijdDS", atoms, cutoff, **more)
        found = cleave.ase_neighbor_list("ijdDS", atoms, cutoff, **more)
        orders = [np.lexsort((*lists[4].T, lists[1], lists[0])) for lists in (expected, found)]
        for wanted, ours, is_exact in zip(expected, found, (True, True, False, False, True)):
            self.assertEqual(wanted.shape, ours.shape)
            self.assertEqual(wanted.dtype.kind, ours.dtype.kind)
            wanted, ours = wanted[orders[0]], ours[orders[1]]
            self.assertTrue(np.array_equal(wanted, ours) if is_exact else np.allclose(wanted, ours, rtol=0, atol=1e-12))
        self.assertTrue(np.all(np.diff(found[0]) >= 0))
        return len(found[0])

    @unittest.skipIf(ase is None, "ASE is not installed (Debian: python3-ase)")
    def test_the_lists_of_ase(self):
        copper = ase.build.bulk("Cu", "fcc", a=3.6)  # one atom, which meets its own images
        self.assertEqual(self.same(copper, 2.6), 12)
        self.same(copper, 9.0)
        self.same(copper, 3.6, self_interaction=True)
        salt = ase.build.bulk("NaCl", "rocksalt", a=5.6) * (3, 2, 1)
        random = np.random.default_rng(1)
        salt.positions += random.normal(0, 0.3, salt.positions.shape)
        salt.positions[::3] += 40  # outside of the cell
        for pbc in itertools.product((False, True), repeat=3):
            salt.pbc = pbc
            self.same(salt, 4.0)
        self.same(salt, {("Na", "Cl"): 3.5, (11, 11): 4.5})
        self.same(salt, random.uniform(1, 2.5, len(salt)))
        water = ase.build.molecule("H2O")
        self.assertEqual(self.same(water, 1.2), 4)


if __name__ == "__main__":
    unittest.main()
