#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pairs from Python: cleave beside C, scipy's cKDTree, rtree, shapely and GEOS. The table of bench/python.md.

Usage: bench/python.py FRAMES_PROGRAM [COUNT...]; FRAMES_PROGRAM is build/bench/python_frames, which is measured in turn with Python; beside it is
geos_tree, for GEOS by itself. Libraries that are not installed are left out, and so are runs that would take longer than a minute.
"""

import importlib
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import cleave


def world(count, density, dtype, axes, frames, seed=1):
    """Cubes with about `density` pairs per box, which move by a tenth of their side each frame: frames x count x 2 * axes."""
    random = np.random.default_rng(seed)
    side = 1.0
    length = (count * (2 * side) ** axes / (2 * density)) ** (1 / axes)
    lower = random.random((count, axes)) * length
    boxes = np.empty((frames, count, 2 * axes), dtype)
    for frame in range(frames):
        lower = lower + (random.random((count, axes)) - 0.5) * 0.2 * side
        boxes[frame, :, :axes] = lower
        boxes[frame, :, axes:] = boxes[frame, :, :axes] + dtype(side)
    return boxes


def least(frames, call):
    times = []
    for frame in frames:
        start = time.process_time()  # as clock() in C: other programs do not count
        call(frame)
        times.append((time.process_time() - start) * 1e3)
    return min(times)


def kept(frames, copy):
    space = cleave.Space(dtype=frames.dtype, axes=frames.shape[2] // 2, capacity=frames.shape[1])
    ids = space.add(frames[0])
    space.update()

    def frame(boxes):
        space.move(ids, boxes)
        space.update()
        return len(space.pairs(copy=copy))

    return least(frames[1:], frame)


def in_c(program, frames, doubles):
    with tempfile.NamedTemporaryFile() as file:
        frames.tofile(file.name)
        said = subprocess.run([program, file.name, str(frames.shape[1]), str(len(frames))] + (["doubles"] if doubles else []),
                              check=True, capture_output=True, text=True).stdout.split()
    return float(said[0]), float(said[1])


def by_scipy(frames):
    from scipy.spatial import cKDTree
    axes = frames.shape[2] // 2

    def search(boxes):  # cubes of one size: centres closer than a side on every axis
        return cKDTree(boxes[:, :axes]).query_pairs(1.0, p=np.inf, output_type="ndarray")

    return least(frames[:3], search)


def by_rtree(frames):
    from rtree import index
    axes = frames.shape[2] // 2
    form = index.Property(dimension=axes)

    def search(boxes):
        tree = index.Index(((i, box, None) for i, box in enumerate(boxes.tolist())), properties=form)
        return sum(len(list(tree.intersection(box))) for box in boxes.tolist())

    return least(frames[:1], search)


def by_shapely(frames):
    import shapely.geometry
    import shapely.strtree
    shapes = [shapely.geometry.box(*box) for box in frames[0].tolist()]  # not timed

    def search(_):
        tree = shapely.strtree.STRtree(shapes)
        return sum(len(tree.query(shape)) for shape in shapes)

    return least(frames[:1], search)


def by_geos(program, frames):
    """The tree under shapely's, from C: no loop in Python, and no objects of it."""
    with tempfile.NamedTemporaryFile() as file:
        frames[0].tofile(file.name)
        ms, pairs = subprocess.run([program, file.name, str(frames.shape[1])], check=True, capture_output=True, text=True).stdout.split()
    assert int(pairs) == len(cleave.pairs(frames[0])), "GEOS finds other pairs"
    return float(ms)


def has(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    program = sys.argv[1]
    geos = pathlib.Path(program).with_name("geos_tree")
    counts = [int(word) for word in sys.argv[2:]] or [10_000, 100_000, 1_000_000]
    print("| boxes, pairs per box | C, kept | Python, kept | its copy | C, one shot | Python, one shot | scipy | rtree | shapely, flat | GEOS in C, flat |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for count in counts:
        for dtype, density in ((np.float32, 1), (np.float32, 6), (np.float64, 6)):
            frames = world(count, density, dtype, 3, max(5, min(60, 3_000_000 // count)))
            rounds = []
            for _ in range(9):  # in turn, and so often that others on the machine do not decide
                c_kept, c_once = in_c(program, frames, dtype == np.float64)
                rounds.append((c_kept, kept(frames, False), kept(frames, True), c_once,
                               least(frames, lambda boxes: len(cleave.pairs(boxes)))))
            c_kept, own, copied, c_once, once = np.min(rounds, axis=0)
            row = [f"{count:,}, {density}, {np.dtype(dtype)}", f"{c_kept:.3f}", f"{own:.3f} ({own / c_kept:.2f} ×)",
                   f"{copied:.3f} ({copied / c_kept:.2f} ×)", f"{c_once:.3f}", f"{once:.3f} ({once / c_once:.2f} ×)"]
            others = dtype == np.float32
            row.append(f"{by_scipy(frames):.0f}" if others and has("scipy") and count <= 1_000_000 else "")
            row.append(f"{by_rtree(frames):.0f}" if others and has("rtree") and count <= 10_000 else "")
            flat = world(count, density, np.float32, 2, 1)
            row.append(f"{by_shapely(flat):.0f}" if others and has("shapely") and count <= 100_000 else "")
            row.append(f"{by_geos(geos, flat):.1f}" if others and geos.exists() else "")
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
