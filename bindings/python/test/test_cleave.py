# SPDX-License-Identifier: MIT
"""The package against brute force in numpy. Run by `check.sh python`, or: python3 -m unittest test_cleave"""

import doctest
import gc
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import weakref

import numpy as np

import cleave

SCALE = float(os.environ.get("CLEAVE_TEST_SCALE", "1"))
WORLDS = [(np.float32, 3), (np.float64, 3), (np.float32, 2)]


def random_boxes(random, count, dtype, axes, offset=0.0):
    """Whole numbers, so that many just touch."""
    lower = random.integers(0, 30, (count, axes)).astype(dtype) + dtype(offset)
    return np.concatenate([lower, lower + random.integers(0, 4, (count, axes)).astype(dtype)], axis=1)


def touching(boxes, others):
    axes = boxes.shape[1] // 2
    return np.all((boxes[:, None, :axes] <= others[None, :, axes:]) & (others[None, :, :axes] <= boxes[:, None, axes:]), axis=2)


def brute_force(boxes):
    a, b = np.nonzero(np.triu(touching(boxes, boxes), 1))
    return set(zip(a.tolist(), b.tolist()))


def as_set(pairs):
    return set(map(tuple, pairs.tolist()))


class Layouts(unittest.TestCase):
    def test_slots_of_what_are_no_ids_are_refused(self):
        self.assertEqual(cleave.slots([]).shape, (0,))
        with self.assertRaisesRegex(TypeError, "float64"):
            cleave.slots([1.5])

    def test_every_layout_gives_the_pairs_of_brute_force(self):
        random = np.random.default_rng(1)
        for dtype, axes in WORLDS + [(np.float64, 2)]:
            boxes = random_boxes(random, 300, dtype, axes)
            lower, upper = boxes[:, :axes], boxes[:, axes:]
            expected = brute_force(boxes)
            self.assertGreater(len(expected), 50)
            wide = np.zeros((300, 2 * axes + 5), dtype)
            wide[:, 2:2 * axes + 2] = boxes
            layouts = {
                "packed": boxes,
                "three dimensions": boxes.reshape(-1, 2, axes),
                "two views": (lower, upper),
                "two arrays": (lower.copy(), upper.copy()),
                "columns": np.asfortranarray(boxes),
                "records": wide[:, 2:2 * axes + 2],
                "every second row": np.repeat(boxes, 2, axis=0)[::2],
                "backwards": boxes[::-1].copy()[::-1],
                "unequal strides": (wide[:, 2:axes + 2], upper.copy()),
                "swapped axes": np.ascontiguousarray(boxes.reshape(-1, 2, axes).transpose(1, 0, 2)).transpose(1, 0, 2),
            }
            for name, layout in layouts.items():
                with self.subTest(name, dtype=dtype, axes=axes):
                    found = cleave.pairs(layout)
                    self.assertEqual(found.dtype, np.uint32)
                    self.assertEqual(found.shape, (len(expected), 2))
                    self.assertEqual(as_set(found), expected)

    def test_lists_are_taken(self):
        self.assertEqual(as_set(cleave.pairs([[0, 0, 0, 1, 1, 1], [1, 1, 1, 2, 2, 2]])), {(0, 1)})
        self.assertEqual(as_set(cleave.pairs(([[0, 0], [1, 1]], [[1, 1], [2, 2]]))), {(0, 1)})

    def test_no_boxes_are_no_pairs(self):
        for shape in ((0, 6), (0, 2, 3), (0, 4)):
            self.assertEqual(cleave.pairs(np.empty(shape, np.float32)).shape, (0, 2))
        self.assertEqual(cleave.pairs(np.zeros((1, 6), np.float32)).shape, (0, 2))
        self.assertEqual(cleave.pairs([]).shape, (0, 2))
        for axes in (2, 3):
            space = cleave.Space(axes=axes)
            self.assertEqual(len(space.add([])), 0)
            space.move([], [])

    def test_other_types_and_shapes_are_refused(self):
        space = cleave.Space()
        with self.assertRaises(TypeError):
            space.add(np.zeros((3, 6), np.float64))
        for shape in ((3, 5), (3, 4), (6,), (3, 3, 2), (2, 3, 2, 3)):
            with self.assertRaises(ValueError):
                space.add(np.zeros(shape, np.float32))
        with self.assertRaises(ValueError):
            space.add((np.zeros((3, 3), np.float32), np.zeros((2, 3), np.float32)))
        with self.assertRaises(ValueError):
            cleave.Space(axes=2, dtype=np.float64)
        with self.assertRaises(ValueError):
            cleave.Space(axes=4)
        self.assertEqual(len(space), 0)

    def test_arrays_are_not_converted(self):
        for dtype in (np.int64, np.uint8, np.bool_, np.float16, np.complex64, "U3", object, ">f4"):
            with self.subTest(dtype=dtype), self.assertRaises(TypeError):
                cleave.pairs(np.ones((3, 6)).astype(dtype))
        far = 2 ** 24  # floats of this size are whole even numbers: rounded, these two would touch
        apart = np.array([[far, 0, 0, far, 1, 1], [far + 1, 0, 0, far + 1, 1, 1]])
        with self.assertRaises(TypeError):
            cleave.pairs(apart)
        self.assertEqual(len(cleave.pairs(apart.astype(np.float64))), 0)

    def test_wrong_shapes_say_what_is_needed(self):
        three = np.zeros((3, 3), np.float32)
        for boxes, text in (
            (None, "boxes"), (3, "N x 6"), (np.float32(3), "N x 6"), ((three, three[:1]), "3 lower corners and 1 upper"),
            ((three[:, :2].astype(np.float64), np.ones((1, 2))), "two N x 2"), (np.zeros((4, 3, 2)), "N x 4"),
        ):
            with self.subTest(boxes=boxes), self.assertRaisesRegex((ValueError, TypeError), text):
                cleave.pairs(boxes)
        space = cleave.Space()
        ids = space.add(np.zeros((3, 6), np.float32))
        with self.assertRaisesRegex(ValueError, "ids: there are 3, and 2 are needed"):
            space.move(ids, np.zeros((2, 6), np.float32))

    def test_boxes_inside_other_records_are_taken(self):
        boxes = np.zeros((2000, 9), np.float32)[:, 1:7]
        self.assertFalse(boxes.flags.owndata)
        self.assertEqual(len(cleave.pairs(boxes)), 2000 * 1999 // 2)

    def test_infinite_boxes_are_boxes(self):
        everything = [-np.inf] * 3 + [np.inf] * 3
        self.assertEqual(as_set(cleave.pairs([everything, [0, 0, 0, 1, 1, 1], [5, 5, 5, 6, 6, 6]])), {(0, 1), (0, 2)})

    def test_sorted_workers_and_margins(self):
        boxes = random_boxes(np.random.default_rng(2), 20000, np.float32, 3)
        one = cleave.pairs(boxes[:, :], sorted=True)
        two = cleave.pairs(boxes, sorted=True, workers=3)
        np.testing.assert_array_equal(one, two)
        self.assertTrue(np.all(np.diff(one[:, 0].astype(np.int64)) >= 0))
        self.assertEqual(len(cleave.pairs([[0, 0, 0, 1, 1, 1], [2, 0, 0, 3, 1, 1]], margin=0.5)), 1)


class Lives(unittest.TestCase):
    def test_random_lives_match_brute_force(self):
        for (dtype, axes), seed in itertools.product(WORLDS, range(max(1, int(4 * SCALE)))):
            random = np.random.default_rng(seed)
            offset = 1e9 if dtype == np.float64 else 0
            space = cleave.Space(dtype=dtype, axes=axes, events=True, workers=1 + seed % 2, sorted=seed % 2 == 1)
            boxes = {}  # by id
            last = set()
            for step in range(12):
                fresh = random_boxes(random, 50, dtype, axes, offset)
                ids = space.add(fresh)
                self.assertEqual(len(set(ids.tolist()) | set(boxes)), len(boxes) + 50)
                boxes.update(zip(ids.tolist(), fresh))
                alive = np.array(list(boxes), np.uint64)
                moving = alive[random.random(len(alive)) < 0.5]
                moved = random_boxes(random, len(moving), dtype, axes, offset)
                space.move(moving, moved if step % 2 else (moved[:, :axes], moved[:, axes:]))
                boxes.update(zip(moving.tolist(), moved))
                leaving = alive[random.random(len(alive)) < 0.2]
                space.remove(leaving)
                for id in leaving.tolist():
                    del boxes[id]
                self.assertFalse(space.contains(leaving).any())
                if step % 3 == 2:
                    every = space.ids()
                    moved = random_boxes(random, len(every), dtype, axes, offset)
                    space.move_all(moved if step % 2 else (moved[:, :axes], moved[:, axes:]))
                    boxes.update(zip(every.tolist(), moved))
                    with self.assertRaisesRegex(cleave.InputError, f"CLV_BAD_ARGUMENT: {len(every) - 1} boxes .* there are {len(every)}"):
                        space.move_all(moved[1:])
                space.update()
                names = np.array(list(boxes), np.uint64)
                a, b = np.nonzero(np.triu(touching(np.array(list(boxes.values())), np.array(list(boxes.values()))), 1))
                now = {frozenset(pair) for pair in zip(names[a].tolist(), names[b].tolist())}
                self.assertEqual({frozenset(pair) for pair in space.pair_ids().tolist()}, now)
                self.assertEqual({frozenset(pair) for pair in space.begun().tolist()}, now - last)
                self.assertEqual({frozenset(pair) for pair in space.ended().tolist()}, last - now)
                self.assertEqual(set(space.ids().tolist()), set(boxes))
                np.testing.assert_array_equal(space.get_boxes(names), np.array(list(boxes.values())))
                np.testing.assert_array_equal(cleave.slots(space.pair_ids()), space.pairs())
                last = now

    def test_visits_give_the_pairs_in_chunks(self):
        boxes = random_boxes(np.random.default_rng(3), 1000, np.float32, 3)
        space = cleave.Space()
        space.add(boxes)
        chunks = []
        space.visit(chunks.append)
        self.assertEqual(as_set(np.concatenate(chunks)), brute_force(boxes))
        self.assertFalse(space.valid)
        with self.assertRaises(cleave.Error) as stopped:
            space.visit(lambda chunk: False)
        self.assertEqual(stopped.exception.code, "CLV_STOPPED")
        with self.assertRaises(ZeroDivisionError):
            space.visit(lambda chunk: 1 / 0)

        def inside(chunk):
            space.update()

        with self.assertRaises(cleave.Error) as busy:
            space.visit(inside)
        self.assertEqual(busy.exception.code, "CLV_BUSY")
        space.update()
        self.assertEqual(as_set(space.pairs()), brute_force(boxes))

    def test_columns_are_set_and_read(self):
        for dtype, axes in WORLDS:
            space = cleave.Space(dtype=dtype, axes=axes)
            boxes = np.array([[0] * axes + [1] * axes, [2] + [0] * (axes - 1) + [3] + [1] * (axes - 1)], dtype)
            ids = space.add(boxes, user_data=[7, 8], margin=0.5, filters=cleave.filters(category=[1, 2]), is_static=[True, False],
                            motion=[[1, 0, 0], [0, 0, 0]])
            self.assertEqual(space.get_user_data(ids).tolist(), [7, 8])
            self.assertEqual(space.get_margin(ids).tolist(), [0.5, 0.5])
            self.assertEqual(space.get_filter(ids)["category"].tolist(), [1, 2])
            self.assertEqual(space.get_static(ids).tolist(), [True, False])
            self.assertEqual(space.get_motion(ids).tolist(), [[1, 0, 0], [0, 0, 0]])
            self.assertEqual(space.get_test_boxes(ids)[0, axes], 2.5)
            space.update()
            self.assertEqual(len(space.pairs()), 1)
            space.set_filter(ids, cleave.filters(mask=0))
            space.update()
            self.assertEqual(len(space.pairs()), 0)
            space.set_user_data(ids, 9)
            space.set_margin_rule(ids, [0, 0.25, 0])
            space.set_motion(ids, [0, 0, 0])
            space.set_static(ids, False)
            space.set_margin(ids, [0, 1])
            space.refilter(ids)
            self.assertEqual(space.get_user_data(ids).tolist(), [9, 9])
            self.assertEqual(space.get_margin_rule(ids).tolist(), [[0, 0, 0], [1, 0, 0]])
            space.shift_origin(1, 0)
            self.assertEqual(space.get_boxes(ids)[0, 0], -1)
            space.shrink()
            space.clear()
            self.assertEqual(len(space), 0)

    def test_words_stay_with_their_pairs(self):
        space = cleave.Space(pair_data=True, events=True)
        ids = space.add(np.zeros((3, 6), np.float32), user_data=[1, 2, 3])
        space.update()
        space.pair_data()[:] = 42
        self.assertEqual(space.begun_user().tolist(), [[1, 2], [1, 3], [2, 3]])
        space.remove(ids[:1])
        space.update()
        self.assertEqual(space.pair_data().tolist(), [42])
        self.assertEqual(space.ended_data().tolist(), [42, 42])
        self.assertEqual(space.ended_user().tolist(), [[1, 2], [1, 3]])
        plain = cleave.Space()
        self.assertIsNone(plain.pair_data())
        self.assertIsNone(plain.ended_user())


class Regions(unittest.TestCase):
    def test_regions_of_one_to_eight_axes_match_brute_force(self):
        for axes in range(1, 9):
            random = np.random.default_rng(axes)
            lower = random.integers(0, 12, (200, axes)).astype(np.float64)
            upper = lower + random.integers(1, 8, (200, axes))
            regions = np.concatenate([lower, upper], axis=1)
            expected = brute_force(regions)
            self.assertGreater(len(expected), 10)
            for layout in (regions, regions.reshape(-1, 2, axes), (lower, upper), regions.tolist(), regions.astype(np.float32)):
                self.assertEqual(as_set(cleave.match(layout)), expected)
            a, b = np.nonzero(touching(regions[:50], regions[50:]))
            self.assertEqual(as_set(cleave.match(regions[:50], regions[50:])), set(zip(a.tolist(), b.tolist())))

    def test_bad_regions_are_refused(self):
        with self.assertRaises(cleave.Error) as refused:
            cleave.match([[0, 1], [3, 2]])
        self.assertEqual((refused.exception.code, refused.exception.position), ("CLV_BAD_BOX", 1))
        for bad in ([[0, 1, 2]], np.zeros((2, 18)), [0, 1], np.zeros((2, 3, 2)), (np.zeros((2, 3)), np.zeros((2, 2)))):
            with self.assertRaises(ValueError):
                cleave.match(bad)
        with self.assertRaises(ValueError):
            cleave.match([[0, 1]], [[0, 0, 1, 1]])
        self.assertEqual(cleave.match(np.empty((0, 4))).shape, (0, 2))


class BadInput(unittest.TestCase):
    def refused(self, code, position, call, kind=ValueError):
        with self.assertRaises(cleave.Error) as refused:
            call()
        self.assertEqual((refused.exception.code, refused.exception.position), (code, position))
        self.assertIsInstance(refused.exception, kind)
        self.assertIn(code, str(refused.exception))

    def test_refusals_name_the_position(self):
        space = cleave.Space()
        boxes = random_boxes(np.random.default_rng(4), 20, np.float32, 3)
        bad = boxes.copy()
        bad[13, 1] = np.nan
        self.refused("CLV_BAD_BOX", 13, lambda: space.add(bad))
        self.assertEqual(len(space), 0)
        ids = space.add(boxes)
        self.refused("CLV_BAD_BOX", 13, lambda: space.move(ids, bad))
        self.refused("CLV_BAD_BOX", 13, lambda: cleave.pairs(np.asfortranarray(bad)))
        forged = ids.copy()
        forged[5] += np.uint64(1 << 40)
        self.refused("CLV_BAD_ID", 5, lambda: space.remove(forged))
        self.refused("CLV_BAD_ID", 5, lambda: space.get_boxes(forged))
        self.refused("CLV_DUPLICATE_ID", 1, lambda: space.remove([ids[3], ids[3]]))
        self.refused("CLV_BAD_ARGUMENT", 2, lambda: space.set_margin(ids[:4], [0, 1, -1, 0]))
        self.refused("CLV_BAD_DEF", None, lambda: cleave.Space(method="nonsense"))
        self.assertIn("nonsense", self.text(lambda: cleave.Space(method="nonsense")))
        self.refused("CLV_BAD_DEF", None, lambda: cleave.Space(margin=-1))
        space.update()
        space.move(ids, boxes[::-1])
        self.refused("CLV_STALE", None, lambda: space.query_any(cleave.points([[0, 0, 0]])), cleave.Error)
        space.refresh()
        rays = np.zeros((9, 7), np.float32)
        rays[4, 2] = np.nan
        self.refused("CLV_BAD_ARGUMENT", 4, lambda: space.query_all(cleave.rays(rays[:, :3], rays[:, 3:6])))
        self.refused("CLV_BAD_ARGUMENT", 0, lambda: space.query_closest(cleave.points([[0, 0, 0]])))
        small = cleave.Space(max_pairs=3)
        small.add(np.zeros((9, 6), np.float32))
        self.refused("CLV_TOO_MANY_PAIRS", None, small.update, cleave.Error)
        self.assertFalse(small.valid)
        self.assertEqual(len(small.pairs()), 0)

    def text(self, call):
        try:
            call()
        except cleave.Error as error:
            return str(error)
        return ""

    def test_what_are_no_questions_is_named(self):
        space = cleave.Space()
        space.add(np.zeros((3, 6), np.float32))
        for ask in (space.query_all, space.query_any, space.query_closest, lambda what: space.query_nearest(what, 1),
                    lambda what: space.query_visit(what, print), space.query_pairs):
            for what in (np.zeros((3, 6), np.float32), [[0, 0, 0]], None, ("points", 1, 2)):
                with self.assertRaisesRegex(TypeError, "queries: made by|another Space"):
                    ask(what)

    def test_whole_numbers_are_not_cut_off(self):
        space = cleave.Space()
        ids = space.add(np.zeros((2, 6), np.float32), user_data=[1, 2 ** 64 - 1])
        self.assertEqual(space.get_user_data(ids).tolist(), [1, 2 ** 64 - 1])
        for values in (1.5, [0, 1.5], np.array([1.0, 2.0]), "12"):
            with self.subTest(values=values), self.assertRaises(TypeError):
                space.set_user_data(ids, values)
        for values in (-1, np.array([3, -1]), 2 ** 64, [0, 2 ** 64]):
            with self.subTest(values=values), self.assertRaises(OverflowError):
                space.set_user_data(ids, values)
        self.assertEqual(space.get_user_data(ids).tolist(), [1, 2 ** 64 - 1])
        for make in (lambda: cleave.filters(group=np.array([2 ** 40])), lambda: cleave.filters(category=-1)):
            self.assertRaises(OverflowError, make)
        self.assertRaises(TypeError, cleave.filters, mask=1.5)
        for filters in (3, [1, 2], np.array([1, 2], np.uint64)):
            self.assertRaises(TypeError, space.set_filter, ids, filters)
            self.assertRaises(TypeError, space.add, np.zeros((2, 6), np.float32), filters=filters)
            self.assertRaises(TypeError, space.query_all, cleave.points(np.zeros((2, 3), np.float32)), filters=filters)

    def test_boxes_at_odd_addresses_are_taken(self):
        records = np.zeros(3, np.dtype([("tag", "u1"), ("box", np.float32, 6)]))
        records["box"] = [[0, 0, 0, 1, 1, 1], [1, 0, 0, 2, 1, 1], [5, 5, 5, 6, 6, 6]]
        self.assertEqual(cleave.pairs(records["box"]).tolist(), [[0, 1]])

    def test_wrong_python_is_refused(self):
        space = cleave.Space()
        ids = space.add(np.zeros((3, 6), np.float32))
        space.update()
        for call in (
            lambda: space.move(ids[:2], np.zeros((3, 6), np.float32)),
            lambda: space.move(ids.astype(np.float64), np.zeros((3, 6), np.float32)),
            lambda: space.query_all(cleave.points([[0, 0]])),
            lambda: space.query_all(cleave.rays(np.zeros((3, 3)), np.zeros((2, 3)))),
            lambda: space.query_all(cleave.points(np.zeros((2, 3), np.float64))),
            lambda: space.query_all(cleave.points([[0, 0, 0]] * 3), filters=cleave.filters(category=[1, 2])),
            lambda: space.query_all(cleave.half_spaces([[[1, 0, 0, 5]]], origin=[0, 0, 0])),
            lambda: cleave.Space(workers=-1),
            lambda: cleave.Space(isa="z80"),
            lambda: cleave.Space(dtype=np.int32),
            lambda: cleave.pairs("boxes"),
            lambda: cleave.pairs(None),
        ):
            with self.assertRaises((ValueError, TypeError, OverflowError)):
                call()
        # The private module checks lengths itself.
        inner = space._space
        room = np.empty(3, np.uint64)
        for call in (
            lambda: inner.add(np.zeros((3, 6), np.float32), np.empty(2, np.uint64), None, None, None, None, None),
            lambda: inner.add(np.zeros((3, 6), np.float32), room, np.empty(2, np.uint64), None, None, None, None),
            lambda: inner.set("margin", ids, np.zeros(2, np.float32)),
            lambda: inner.get("box", ids, np.zeros(17, np.float32)),
            lambda: inner.set("box", ids, np.zeros(18, np.float32)),
            lambda: inner.get("nonsense", ids, room),
            lambda: inner.view("nonsense"),
            lambda: inner.ids(np.empty(2, np.uint64)),
            lambda: inner.pair_ids(np.empty(2, np.uint64)),
            lambda: inner.query(9, 0, b"", None, False, 0, 0.0, None, bytearray(), None, None),
            lambda: inner.query(0, 0, bytes(12), None, False, 0, 0.0, bytearray(8), bytearray(8), None, None),
            lambda: inner.query(1, 0, bytes(12), None, False, 0, 0.0, None, bytearray(0), None, None),
            lambda: inner.query(0, 6, bytes(16), None, False, 0, 0.0, bytearray(16), bytearray(8),
                                np.array([0, 2], np.uint32), None),
        ):
            with self.assertRaises((ValueError, TypeError)):
                call()
        self.assertEqual(len(space), 3)


class Buffers(unittest.TestCase):
    def setUp(self):
        self.space = cleave.Space(events=True, pair_data=True)
        self.ids = self.space.add(np.zeros((5, 6), np.float32))
        self.space.update()

    def test_lent_arrays_hold_off_updates(self):
        for lend in (lambda: self.space.pairs(copy=False), lambda: self.space.begun(copy=False), self.space.pair_data,
                     lambda: self.space.pairs(copy=False)[2:, 0], lambda: memoryview(self.space.pairs(copy=False))):
            lent = lend()
            before = np.array(lent)
            for call in (self.space.update, self.space.clear, self.space.shrink, lambda: self.space.visit(print)):
                with self.assertRaises(BufferError):
                    call()
            np.testing.assert_array_equal(before, np.array(lent))
            self.space.move(self.ids, np.zeros((5, 6), np.float32))  # does not touch the list
            del lent
            self.space.update()

    def test_copies_hold_nothing_off(self):
        before = self.space.pairs()
        self.assertEqual(len(before), 10)
        self.space.remove(self.ids[:4])
        self.space.update()
        self.assertEqual(len(before), 10)
        self.assertEqual(len(self.space.pairs()), 0)
        before[0] = 77  # it is ours

    def test_lent_arrays_are_read_only_but_for_the_words(self):
        with self.assertRaises(ValueError):
            self.space.pairs(copy=False)[0, 0] = 1
        with self.assertRaises((ValueError, BufferError)):
            np.frombuffer(self.space._space.view("pairs"), np.uint32).flags.writeable = True
        self.space.pair_data()[3] = 5
        self.assertEqual(self.space.pair_data()[3], 5)

    def test_a_view_of_an_older_update_raises(self):
        view = self.space._space.view("pairs")
        self.space.update()
        with self.assertRaises(BufferError):
            memoryview(view)

    def test_a_lent_array_outlives_its_space(self):
        lent = self.space.pairs(copy=False)
        watch = weakref.ref(self.space)
        del self.space
        gc.collect()
        self.assertIsNone(watch())  # the package's object is gone, the memory is not
        churn = [np.random.default_rng(i).random(10000) for i in range(50)]
        self.assertEqual(as_set(lent), {(a, b) for a in range(5) for b in range(a + 1, 5)})
        del churn

    def test_one_call_lends_its_memory(self):
        found = cleave.pairs(np.zeros((100, 6), np.float32))
        gc.collect()
        self.assertEqual(len(as_set(found)), 4950)

    def test_input_is_copied_at_once(self):
        boxes = np.zeros((5, 6), np.float32)
        self.space.move(self.ids, boxes)
        boxes[:] = np.nan
        del boxes
        self.space.update()
        self.assertEqual(len(self.space.pairs()), 10)


class Questions(unittest.TestCase):
    """Boxes, points and balls against numpy; the other shapes against what they become in simple cases."""

    def space(self, dtype, axes, count=400):
        random = np.random.default_rng(5)
        offset = 0
        boxes = random_boxes(random, count, dtype, axes, offset)
        space = cleave.Space(dtype=dtype, axes=axes, workers=2)
        space.add(boxes)
        space.update()
        return random, boxes, space

    def test_overlaps_match_brute_force(self):
        for dtype, axes in WORLDS:
            random, boxes, space = self.space(dtype, axes)
            asked = random_boxes(random, 300, dtype, axes)
            lists = space.query_all(cleave.boxes(asked))
            expected = touching(asked, boxes)
            self.assertEqual(len(lists), 300)
            for i, hits in enumerate(lists):
                np.testing.assert_array_equal(hits["index"], np.nonzero(expected[i])[0])
            np.testing.assert_array_equal(lists.queries(), np.nonzero(expected)[0])
            some = space.query_any(cleave.boxes((asked[:, :axes], asked[:, axes:])))
            np.testing.assert_array_equal(some["index"] == cleave.NO_HIT, ~expected.any(axis=1))
            points = asked[:, :axes]
            inside = touching(np.concatenate([points, points], axis=1), boxes)
            self.assertEqual(len(space.query_all(cleave.points(points)).hits), inside.sum())

    def test_distances_match_brute_force(self):
        for dtype, axes in WORLDS:
            random, boxes, space = self.space(dtype, axes)
            points = random.integers(0, 30, (50, axes)).astype(dtype)
            gaps = np.maximum(0, np.maximum(boxes[None, :, :axes] - points[:, None], points[:, None] - boxes[None, :, axes:]))
            distance = np.sqrt((gaps.astype(np.float64) ** 2).sum(axis=2))
            near = space.query_nearest(cleave.points(points), 7)
            self.assertEqual(near.shape, (50, 7))
            np.testing.assert_allclose(near["t"], np.sort(distance, axis=1)[:, :7], rtol=1e-6)
            few = space.query_nearest(cleave.points(points), 5, 0.5)
            np.testing.assert_array_equal((few["index"] != cleave.NO_HIT).sum(axis=1), np.minimum(5, (distance <= 0.5).sum(axis=1)))
            for queries in (cleave.spheres(points, 3), cleave.neighbourhoods((points, points), [3] * 50),
                            cleave.capsules(points, points, 3)):
                lists = space.query_all(queries)
                np.testing.assert_array_equal(np.diff(lists.offsets.astype(int)), (distance <= 3).sum(axis=1))

    def test_turned_boxes_and_half_spaces_match_boxes(self):
        for dtype, axes in WORLDS:
            _, boxes, space = self.space(dtype, axes)
            lower, upper = np.full(axes, 10, dtype), np.full(axes, 14, dtype)
            expected = np.nonzero(touching(np.concatenate([lower, upper])[None], boxes)[0])[0]
            turn = [0, 0, 0, 1] if axes == 3 else [1, 0]
            turned = space.query_all(cleave.oriented_boxes([[12] * axes], [[2] * axes], [turn]))
            np.testing.assert_array_equal(turned.hits["index"], expected)
            planes = np.concatenate([np.concatenate([np.eye(axes), np.full((axes, 1), 14)], axis=1),
                                     np.concatenate([-np.eye(axes), np.full((axes, 1), -10)], axis=1)]).tolist()
            regions = space.query_all(cleave.half_spaces([planes, [], planes[:1]]))
            np.testing.assert_array_equal(regions[0]["index"], expected)
            self.assertEqual(len(regions[1]), len(boxes))
            np.testing.assert_array_equal(regions[2]["index"], np.nonzero(boxes[:, 0] <= 14)[0])
            if dtype == np.float64:
                shifted = np.array(planes)
                shifted[:, axes] -= shifted[:, :axes] @ np.full(axes, 12.0)
                seen = space.query_all(cleave.half_spaces([shifted], origin=[12, 12, 12]))
                np.testing.assert_array_equal(seen[0]["index"], expected)

    def test_rays_and_casts_match_brute_force(self):
        for dtype, axes in WORLDS:
            random, boxes, space = self.space(dtype, axes)
            origin = random.integers(0, 30, (60, axes)).astype(dtype)
            origin[:, 0] = -5
            direction = np.zeros((60, axes), dtype)
            direction[:, 0] = 1
            on_line = np.all((boxes[None, :, 1:axes] <= origin[:, None, 1:]) & (origin[:, None, 1:] <= boxes[None, :, axes + 1:]), axis=2)
            time = np.where(on_line, boxes[None, :, 0] + 5, np.inf)
            rays = cleave.rays(origin, direction)
            first = space.query_closest(rays)
            missed = ~on_line.any(axis=1)
            np.testing.assert_array_equal(first["index"] == cleave.NO_HIT, missed)
            np.testing.assert_array_equal(first["t"][~missed], time.min(axis=1)[~missed])
            np.testing.assert_array_equal(first["index"][~missed], time.argmin(axis=1)[~missed])
            self.assertEqual(len(space.query_all(rays).hits), on_line.sum())
            casts = (cleave.box_casts((origin, origin), direction, 100), cleave.sphere_casts(origin, 0, direction, 100),
                     cleave.capsule_casts(origin, origin, 0, direction, 100))
            for cast in casts:
                np.testing.assert_array_equal(space.query_closest(cast)["index"], first["index"])
            short = space.query_closest(cleave.rays(origin, direction, 1))
            self.assertTrue((short["index"] == cleave.NO_HIT).all())

    def test_filters_and_margins_of_questions(self):
        space = cleave.Space(margin=1)
        space.add([[0, 0, 0, 1, 1, 1], [3, 0, 0, 4, 1, 1]], filters=cleave.filters(category=[1, 2]))
        space.update()
        where = cleave.points([[1.5, 0.5, 0.5], [2.5, 0.5, 0.5]])
        self.assertEqual(space.query_any(where)["index"].tolist(), [0, 1])
        self.assertEqual(space.query_any(where, as_given=True)["index"].tolist(), [cleave.NO_HIT] * 2)
        self.assertEqual(space.query_any(where, filters=cleave.filters(mask=2))["index"].tolist(), [cleave.NO_HIT, 1])
        self.assertEqual(space.query_any(where, filters=cleave.filters(mask=[1, 1]))["index"].tolist(), [0, cleave.NO_HIT])

    def test_no_questions_have_no_answers(self):
        _, _, space = self.space(np.float32, 3)
        self.assertEqual(len(space.query_all(cleave.points(np.empty((0, 3), np.float32)))), 0)
        self.assertEqual(len(space.query_any(cleave.spheres(np.empty((0, 3), np.float32), 1))), 0)
        self.assertEqual(space.query_nearest(cleave.points(np.empty((0, 3), np.float32)), 3).shape, (0, 3))
        self.assertEqual(len(space.query_all(cleave.half_spaces([]))), 0)

    def test_spaces_are_compared_with_each_other(self):
        _, boxes, first = self.space(np.float32, 3)
        other = random_boxes(np.random.default_rng(9), 500, np.float32, 3)
        second = cleave.Space()
        second.add(other)
        second.update()
        a, b = np.nonzero(touching(boxes, other))
        np.testing.assert_array_equal(first.query_pairs(second), np.stack([a, b], axis=1))


class Threads(unittest.TestCase):
    def test_many_threads_ask_one_space(self):
        boxes = random_boxes(np.random.default_rng(6), 5000, np.float32, 3)
        space = cleave.Space(workers=2)
        space.add(boxes)
        space.update()
        queries = cleave.boxes(boxes)
        expected = space.query_all(queries)
        failures = []

        def ask():
            for _ in range(5):
                found = space.query_all(queries)
                if not np.array_equal(found.hits, expected.hits):
                    failures.append("other hits")

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_threads_that_meet_are_told(self):
        """Changes and questions from four threads at once: each call is done or refused with CLV_BUSY, and the end is right."""
        boxes = random_boxes(np.random.default_rng(7), 3000, np.float32, 3)
        space = cleave.Space()
        ids = space.add(boxes)
        space.update()
        other_errors, done = [], [0, 0]

        def work(kind):
            for _ in range(30):
                try:
                    if kind == 0:
                        space.update()
                    elif kind == 1:
                        space.move(ids, boxes)
                    else:
                        space.query_any(cleave.points(boxes[:300, :3]))
                    done[0] += 1
                except cleave.Error as error:
                    done[1] += 1
                    if error.code not in ("CLV_BUSY", "CLV_STALE"):
                        other_errors.append(error)

        threads = [threading.Thread(target=work, args=(kind,)) for kind in (0, 1, 2, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(other_errors, [])
        self.assertEqual(sum(done), 120)
        space.update()
        self.assertEqual(as_set(space.pairs()), brute_force(boxes))

    def test_update_releases_the_gil(self):
        boxes = random_boxes(np.random.default_rng(8), 60000, np.float32, 3).astype(np.float32)
        boxes *= 3
        space = cleave.Space()
        space.add(boxes)
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0)

        interval = sys.getswitchinterval()
        sys.setswitchinterval(60)  # from here on a thread runs only where another releases the GIL itself
        thread = threading.Thread(target=count)
        try:
            thread.start()
            before = counted[0]
            space.update()
            after = counted[0]
        finally:
            sys.setswitchinterval(interval)
            stop.set()
            thread.join()
        self.assertGreater(after, before)


class Callbacks(unittest.TestCase):
    def crowd(self, **settings):
        boxes = random_boxes(np.random.default_rng(5), 120, settings.get("dtype", np.float32), settings.get("axes", 3))
        space = cleave.Space(**settings)
        return space, space.add(boxes), boxes

    def test_filters_decide_about_pairs(self):
        for (dtype, axes), ordered in itertools.product(WORLDS, (False, True)):
            asked = []

            def odd(a, b):
                asked.append((a, b))
                return (a + b) % 2 == 1

            space, ids, boxes = self.crowd(dtype=dtype, axes=axes, sorted=ordered, filter=odd)
            space.update()
            a, b = np.nonzero(np.triu(touching(boxes, boxes), 1))
            every = set(zip(a.tolist(), b.tolist()))
            self.assertEqual(set(asked), every)
            self.assertEqual({tuple(pair) for pair in space.pairs().tolist()}, {pair for pair in every if sum(pair) % 2 == 1})
            asked.clear()
            space.update()
            self.assertEqual(asked, [])  # remembered
            space.refilter(ids[:1])
            space.update()
            self.assertEqual(set(asked), {pair for pair in every if pair[0] == 0})

    def test_what_a_filter_raises_is_raised_and_it_is_asked_again(self):
        fails = [True]

        def stop(a, b):
            if fails[0] and a + b > 60:
                raise KeyError((a, b))
            return True

        space, _, boxes = self.crowd(filter=stop, events=True)
        every = int(np.triu(touching(boxes, boxes), 1).sum())
        for _ in range(2):
            with self.assertRaises(KeyError):
                space.update()
            self.assertLess(len(space.pairs()), every)
        fails[0] = False
        before = len(space.pairs())
        space.update()
        self.assertEqual(len(space.pairs()), every)
        self.assertEqual(len(space.begun()), every - before)
        self.assertEqual(len(space.ended()), 0)

    def test_a_filter_may_not_call_the_space(self):
        held = []

        def nosy(a, b):
            held[0].pairs()

        space, _, _ = self.crowd(filter=nosy)
        held.append(space)
        with self.assertRaisesRegex(cleave.Error, "CLV_BUSY"):
            space.update()
        with self.assertRaises(TypeError):
            cleave.Space(filter=3)

    def test_rings_of_filter_and_space_are_collected(self):
        class Held:
            pass

        token = Held()
        gone = weakref.ref(token)
        space = cleave.Space(filter=lambda a, b: space is not None and token is not None)
        space.add([[0, 0, 0, 1, 1, 1]] * 2)
        space.update()
        self.assertEqual(len(space.pairs()), 1)
        del space, token
        gc.collect()
        self.assertIsNone(gone())

    def test_visitors_see_what_filters_leave_and_stop_on_exceptions(self):
        space, _, boxes = self.crowd(filter=lambda a, b: a % 3 == 0)
        chunks = []
        space.visit(chunks.append)
        a, b = np.nonzero(np.triu(touching(boxes, boxes), 1))
        expected = {pair for pair in zip(a.tolist(), b.tolist()) if pair[0] % 3 == 0}
        self.assertEqual({tuple(pair) for chunk in chunks for pair in chunk.tolist()}, expected)

        def fail(chunk):
            raise LookupError("here")

        with self.assertRaisesRegex(LookupError, "here"):
            space.visit(fail)
        space.update()
        self.assertEqual(len(space.pairs()), len(expected))

    def test_callbacks_decide_about_hits(self):
        for dtype, axes in WORLDS:
            space, _, boxes = self.crowd(dtype=dtype, axes=axes)
            space.update()
            asked = cleave.boxes(boxes[:9])
            plain = space.query_all(asked)
            seen = []

            def even(query, slot, t, reach):
                seen.append((query, slot))
                return slot % 2 == 0

            lists = space.query_all(asked, callback=even)
            for hits, every in zip(lists, plain):
                self.assertEqual(hits["index"].tolist(), [slot for slot in every["index"].tolist() if slot % 2 == 0])
            self.assertEqual(set(seen), {(query, slot) for query, hits in enumerate(plain) for slot in hits["index"].tolist()})
            visited = {}
            space.query_visit(asked, lambda query, hits: visited.update({query: hits["index"].tolist()}), callback=even)
            self.assertEqual([visited[i] for i in range(9)], [hits["index"].tolist() for hits in lists])
            near = space.query_nearest(cleave.points(boxes[:9, :axes]), 3, callback=even)
            self.assertTrue(((near["index"] % 2 == 0) | (near["index"] == cleave.NO_HIT)).all())

    def test_callbacks_shorten_rays(self):
        space = cleave.Space()
        space.add([[i, 0, 0, i + 0.5, 1, 1] for i in range(2, 40, 2)])
        space.update()
        ray = cleave.rays([[0, 0.5, 0.5]], [[1, 0, 0]], 100)
        self.assertEqual(len(space.query_all(ray)[0]), 19)
        first = space.query_all(ray, callback=lambda query, slot, t, reach: (True, min(reach, 10.0)))
        self.assertEqual(first[0]["t"].max(), 10)
        found = space.query_closest(ray, callback=lambda query, slot, t, reach: slot >= 3)
        self.assertEqual(found["index"].tolist(), [3])

    def test_what_callbacks_raise_is_raised(self):
        space, _, boxes = self.crowd()
        space.update()
        calls = []

        def fail(*told):
            calls.append(told)
            raise ZeroDivisionError

        for ask in (lambda: space.query_all(cleave.boxes(boxes), callback=fail), lambda: space.query_visit(cleave.boxes(boxes), fail),
                    lambda: space.query_any(cleave.boxes(boxes), callback=fail)):
            calls.clear()
            with self.assertRaises(ZeroDivisionError):
                ask()
            self.assertEqual(len(calls), 1)
        with self.assertRaisesRegex(TypeError, "None"):
            space.query_all(cleave.boxes(boxes), callback=lambda *told: None)
        with self.assertRaises(TypeError):
            space.query_all(cleave.boxes(boxes), callback=lambda *told: (True, "far"))
        with self.assertRaises(TypeError):
            space.query_all(cleave.boxes(boxes), callback=7)
        with self.assertRaisesRegex(cleave.Error, "CLV_STOPPED"):
            space.query_visit(cleave.boxes(boxes), lambda query, hits: query < 3)
        self.assertEqual(len(space.query_all(cleave.boxes(boxes))), len(boxes))  # nothing is left over

    def test_a_callback_that_changes_its_mind_leaves_no_garbage(self):
        boxes = np.tile(np.array([0, 0, 0, 1, 1, 1], np.float32), (500, 1))
        space = cleave.Space()
        space.add(boxes)
        space.update()
        for first, later in ((lambda slot: True, lambda slot: slot < 9), (lambda slot: slot < 100, lambda slot: True)):
            asked = []

            def wavering(query, slot, t, reach):
                asked.append(slot)
                return (first if len(asked) <= 500 else later)(slot)

            lists = space.query_all(cleave.points([[0.5, 0.5, 0.5]]), callback=wavering)
            self.assertEqual(len(lists.hits), int(lists.offsets[-1]))
            self.assertEqual(lists[0]["index"].tolist(), list(range(len(lists.hits))))

    def test_a_callback_may_ask_the_space_and_not_change_it(self):
        space, ids, boxes = self.crowd()
        space.update()
        self.assertTrue(len(space.query_all(cleave.boxes(boxes[:1]), callback=lambda *told: len(space.query_any(cleave.boxes(boxes[:1]))) == 1)[0]))
        with self.assertRaisesRegex(cleave.Error, "CLV_BUSY"):
            space.query_all(cleave.boxes(boxes[:1]), callback=lambda *told: space.remove(ids[:1]))

    def test_copies_use_memory_again_only_when_it_is_free(self):
        space, ids, boxes = self.crowd(events=True)
        space.update()
        held = space.pairs()
        before = held.copy()
        for _ in range(3):
            boxes += 1
            space.move(ids, boxes)
            space.remove(ids[-10:])
            ids, boxes = ids[:-10], boxes[:-10]
            space.update()
            part = space.pairs()[1:3]
            kept = part.copy()
            space.pairs()[:] = 7  # yours to write to
            np.testing.assert_array_equal(part, kept)
            np.testing.assert_array_equal(held, before)
        self.assertFalse((space.pairs() == 7).all())


class Files(unittest.TestCase):
    def test_scenes_come_back(self):
        random = np.random.default_rng(3)
        boxes = np.stack([random_boxes(random, 40, np.float32, 3) for _ in range(5)])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.aabbs")
            cleave.write_scene(path, boxes, name="mine", type="cubes")
            scene = cleave.scene(path)
            self.assertEqual((scene.name, scene.type, len(scene), scene[0].shape), ("mine", "cubes", 5, (40, 2, 3)))
            np.testing.assert_array_equal(scene.rows(), boxes)
            self.assertTrue((scene.world[0] <= boxes[..., :3].min(axis=(0, 1))).all() and (scene.world[1] >= boxes[..., 3:].max(axis=(0, 1))).all())
            space = cleave.Space(sorted=True)
            space.add(scene[0])
            for frame, given in zip(scene, boxes):
                space.move_all(frame)
                space.update()
                np.testing.assert_array_equal(space.pairs(), cleave.pairs(given, sorted=True))
            with self.assertRaises(ValueError):
                scene[0][0, 0, 0] = 1  # the file is read only
            data = pathlib.Path(path).read_bytes()
            self.assertEqual(len(data), 304 + 32 * 40 * 5)
            for damaged, why in ((data[:100], "304"), (data[:-1], "take"), (data[:256] + b"\xff" * 4 + data[260:], "byte 256"),
                                 (data[:260] + b"\0" * 4 + data[264:], "byte 260")):
                with open(path + "2", "wb") as file:
                    file.write(damaged)
                with self.assertRaisesRegex(ValueError, why):
                    cleave.scene(path + "2")
            boxes[3, 7, 4] = np.nan
            with self.assertRaisesRegex(ValueError, "frame 3, box 7"):
                cleave.write_scene(path, boxes)
            for wrong in (boxes[0], boxes[:1], boxes[:, :, :5]):
                with self.assertRaises(ValueError):
                    cleave.write_scene(path, wrong)
            with self.assertRaises(FileNotFoundError):
                cleave.scene(path + "3")

    def test_the_lab_reads_scenes_and_its_results_are_read(self):
        program = os.environ.get("CLEAVE_PROGRAM")
        if program is None:
            self.skipTest("CLEAVE_PROGRAM is not set")
        boxes = np.stack([random_boxes(np.random.default_rng(seed), 60, np.float32, 3) for seed in range(4)])
        with tempfile.TemporaryDirectory() as folder:
            path, told = os.path.join(folder, "a.aabbs"), os.path.join(folder, "a.json")
            cleave.write_scene(path, boxes)
            subprocess.run([program, "bench", path, "-m", "cleave,kd", "--json", told], check=True, stdout=subprocess.DEVNULL)
            found = cleave.results(told)
            self.assertEqual([run["method"] for run in found.runs], ["cleave", "kd"])
            self.assertEqual(found.column("pairs_last").tolist(), [len(cleave.pairs(boxes[-1]))] * 2)
            self.assertEqual(found.runs[0]["frame_ms"].shape, (3,))
            self.assertIsInstance(found.runs[0]["pairs_hash"], int)
            self.assertTrue((found.column("ms_median") > 0).all())

    def test_other_files_are_no_results(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.json")
            for text, why in (("[", "a.json"), ("[1]", "no list of runs"), ('{"runs": 3}', "no list of runs")):
                with open(path, "w") as file:
                    file.write(text)
                with self.assertRaisesRegex(ValueError, why):
                    cleave.results(path)


class Docs(unittest.TestCase):
    def test_examples_in_docstrings(self):
        for module, least in ((cleave, 25), (cleave.scenes, 10)):
            result = doctest.testmod(module, extraglobs={"cleave": cleave, "np": np})
            self.assertGreater(result.attempted, least)
            self.assertEqual(result.failed, 0)

    def test_examples_in_the_readme(self):
        readme = os.environ.get("CLEAVE_PYTHON_README")
        if readme is None:
            self.skipTest("CLEAVE_PYTHON_README is not set")
        result = doctest.testfile(readme, module_relative=False)
        self.assertGreater(result.attempted, 5)
        self.assertEqual(result.failed, 0)

    def test_what_is_public_has_a_docstring(self):
        for name in cleave.__all__:
            if isinstance(getattr(cleave, name), int):
                continue
            self.assertTrue(getattr(cleave, name).__doc__, name)
        space = cleave.Space()
        self.assertIn("0 boxes of 3 axes, float32", repr(space))
        self.assertEqual(space.stats["object_count"], 0)
        self.assertEqual((space.method, space.workers), ("cleave", 1))


if __name__ == "__main__":
    unittest.main()
