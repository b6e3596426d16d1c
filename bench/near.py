# SPDX-License-Identifier: MIT
"""Points within 1 of each other from Python: scipy's cKDTree beside cleave.neighbours. ns per point, least of three, half lists of pairs.

Usage: PYTHONPATH=where the package is: python3 near.py [COUNT...]; bench/near.md has the results.
"""

import sys
import time

import numpy as np
from scipy.spatial import cKDTree

import cleave


def least(call, count):
    times = []
    for _ in range(3):
        before = time.perf_counter()
        found = len(call())
        times.append(time.perf_counter() - before)
    return min(times) * 1e9 / count, found


def main():
    print("| points | count | cell | cKDTree | cleave, double | cleave, float | cKDTree : cleave, double |\n| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for name, neighbours in (("liquid, 40 neighbours", 40), ("liquid, 80 neighbours", 80), ("gas, 2 neighbours", 2)):
        for count in map(int, sys.argv[1:] or ("10000", "100000")):
            edge = (count * 4 / 3 * np.pi / neighbours) ** (1 / 3)
            points = np.random.default_rng(1).random((count, 3)) * edge
            rounded = points.astype(np.float32)
            for cell in (None, [edge] * 3):
                theirs, their_count = least(lambda: cKDTree(points, boxsize=cell).query_pairs(1.0, output_type="ndarray"), count)
                ours, our_count = least(lambda: cleave.neighbours(points, 1.0, cell).pairs, count)
                floats, _ = least(lambda: cleave.neighbours(rounded, 1.0, cell).pairs, count)
                if their_count != our_count:
                    sys.exit(f"{name}, {count}: scipy has {their_count} pairs, cleave {our_count}")
                print(f"| {name} | {count} | {'open' if cell is None else 'periodic'} | {theirs:.0f} | {ours:.0f} | {floats:.0f} | {theirs / ours:.1f} |",
                      flush=True)


if __name__ == "__main__":
    main()
