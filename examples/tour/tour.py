# SPDX-License-Identifier: MIT
"""A tour of the Python package: one call, a space that lives, questions, two axes, doubles, regions of time, errors.

All coordinates are multiples of 1/64 and made without a random generator, so every machine prints the same.
Run it with the package on the path: python3 examples/tour/tour.py
"""

import numpy as np

import cleave


def scattered(count, axes, length, seed=1):
    """Points of a lattice of 1/64, scattered over a cube of that length."""
    numbers = np.arange(1, count * axes + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    numbers ^= numbers >> np.uint64(29)
    numbers *= np.uint64(0xBF58476D1CE4E5B9)
    return ((numbers >> np.uint64(33)) % np.uint64(length * 64)).astype(np.float32).reshape(count, axes) / np.float32(64)


# One call: all pairs of 10,000 unit cubes.
lower = scattered(10000, 3, 30)
print("one call:", len(cleave.pairs((lower, lower + 1))), "pairs")

# A space that lives: what began and ended when everything moved a little, and some left.
space = cleave.Space(events=True, sorted=True)
ids = space.add((lower, lower + 1))
space.update()
lower += scattered(10000, 3, 1, seed=2) / 4
space.move(ids, (lower, lower + 1))
space.remove(ids[:500])
space.update()
print("a frame later:", len(space.pairs()), "pairs,", len(space.begun()), "began,", len(space.ended()), "ended")
busiest = np.bincount(space.pairs().reshape(-1)).max()
print("the busiest cube touches", busiest)

# Questions, in lists.
origin = np.stack([np.full(100, -5), np.arange(100) / 4, np.arange(100) / 4], axis=1).astype(np.float32)
first = space.query_closest(cleave.rays(origin, [[1, 0, 0]]))
hit = first["index"] != cleave.NO_HIT
print("rays:", hit.sum(), "of 100 meet a cube, the nearest at", first["t"][hit].min())
lists = space.query_all(cleave.spheres([[5, 5, 5], [15, 15, 15], [25, 25, 25]], radius=3))
print("in three balls:", [len(hits) for hits in lists])
near = space.query_nearest(cleave.points([[15, 15, 15]]), k=4)
print("the four nearest to the middle are no farther than", near["t"].max())

# Two axes, and doubles a billion metres away.
flat = scattered(5000, 2, 100)
print("flat:", len(cleave.pairs((flat, flat + 1))), "pairs")
far = lower.astype(np.float64) + 1e9
print("far away:", len(cleave.pairs((far, far + 1))), "pairs, near:", len(cleave.pairs((lower, lower + 1))))

# Regions of other dimensions: who was in the room at the same time?
visits = [[8.0, 12.0], [9.5, 10.0], [12.0, 18.0], [18.5, 19.0]]
print("met:", cleave.match(visits).tolist())

# What is wrong is told, with its position, and nothing has changed.
bad = np.concatenate([lower, lower + 1], axis=1)[500:]
bad[17, 0] = np.nan
try:
    space.move(ids[500:], bad)
except cleave.Error as error:
    print("refused:", error.code, "at", error.position)
