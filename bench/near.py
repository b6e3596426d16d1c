# SPDX-License-Identifier: MIT
"""Points within 1 of each other from Python: cleave.neighbours beside others. ns per point, the least of three or more.

Usage: PYTHONPATH=where the package is: python3 near.py [--others PROGRAM [--only NAME]] [--scene WORD] [COUNT...]; bench/near.md has the results.
Without --others beside scipy's cKDTree alone, half lists of pairs. With it also beside nanoflann (PROGRAM is build/bench/near_nanoflann),
ASE's neighbor_list, MDAnalysis and LAMMPS (lmp), as far as they are installed; --only one of them. --scene: those whose name has WORD.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy.spatial import cKDTree

import cleave

SCENES = (("liquid, 40 neighbours", 40), ("liquid, 80 neighbours", 80), ("gas, 2 neighbours", 2))
LAMMPS_STEPS = 5
SLOW_SECONDS = 10  # what takes longer is done once
QUICK_SECONDS = 0.5  # what takes less is done more often than three times


def least(call, count):
    times = []
    while len(times) < 3 or (sum(times) < QUICK_SECONDS and len(times) < 20):
        if times and times[0] > SLOW_SECONDS:
            break
        before = time.perf_counter()
        found = len(call())
        times.append(time.perf_counter() - before)
    return min(times) * 1e9 / count, found


def make_points(count, neighbours):
    edge = (count * 4 / 3 * np.pi / neighbours) ** (1 / 3)
    return edge, np.random.default_rng(1).random((count, 3)) * edge


def by_nanoflann(program, points, edge, periodic):
    if periodic:
        return None  # it has no periodic cells
    with tempfile.NamedTemporaryFile(suffix=".xyz") as file:
        points.tofile(file.name)
        said = subprocess.run([program, file.name], check=True, capture_output=True, text=True).stdout.split()
    return float(said[1]) / len(points), int(said[0])


def by_ase(_, points, edge, periodic):
    from ase.neighborlist import primitive_neighbor_list

    if len(points) > 200000:
        return None  # gigabytes
    # Four times as large, which is exact: its bins are at least 3 wide, and would hold
    # hundreds of points each.
    cell, scaled = np.eye(3) * edge * 4, points * 4
    cost, found = least(lambda: primitive_neighbor_list("ij", [periodic] * 3, cell, scaled, 4.0)[0], len(points))
    return cost, found // 2  # a full list


def by_mdanalysis(_, points, edge, periodic):
    from MDAnalysis.lib.distances import self_capped_distance

    box = np.array([edge, edge, edge, 90, 90, 90], dtype=np.float32) if periodic else None
    rounded = points.astype(np.float32)
    return least(lambda: self_capped_distance(rounded, 1.0, box=box, method="nsgrid", return_distances=False), len(points))


def by_lammps(_, points, edge, periodic):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "points.data")
        with open(data, "w") as file:
            file.write(f"points\n\n{len(points)} atoms\n1 atom types\n\n")
            file.writelines(f"0 {edge!r} {k}lo {k}hi\n" for k in "xyz")
            file.write("\nAtoms\n\n")
            file.writelines(f"{i + 1} 1 {x!r} {y!r} {z!r}\n" for i, (x, y, z) in enumerate(points.tolist()))
        script = f"""units lj
atom_style atomic
boundary {"p p p" if periodic else "f f f"}
read_data {data}
mass 1 1
pair_style zero 1.0
pair_coeff * *
neighbor 0.0 bin
neigh_modify delay 0 every 1 check no one 10000
thermo 1000
run {LAMMPS_STEPS}
"""
        said = subprocess.run(["lmp", "-log", "none"], input=script, check=True, capture_output=True, text=True,
                              env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout
    seconds = float(re.search(r"^Neigh\s*\|\s*([0-9.e+-]+)", said, re.M).group(1))
    return seconds * 1e9 / LAMMPS_STEPS / len(points), int(re.search(r"Total # of neighbors = (\d+)", said).group(1))


def by_scipy(_, points, edge, periodic):
    return least(lambda: cKDTree(points, boxsize=[edge] * 3 if periodic else None).query_pairs(1.0, output_type="ndarray"), len(points))


def beside_scipy(counts, scenes):
    print("| points | count | cell | cKDTree | cleave, double | cleave, float | cKDTree : cleave, double |\n| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for name, neighbours in scenes:
        for count in counts:
            edge, points = make_points(count, neighbours)
            rounded = points.astype(np.float32)
            for cell in (None, [edge] * 3):
                theirs, their_count = by_scipy(None, points, edge, cell is not None)
                ours, our_count = least(lambda: cleave.neighbours(points, 1.0, cell).pairs, count)
                floats, _ = least(lambda: cleave.neighbours(rounded, 1.0, cell).pairs, count)
                if their_count != our_count:
                    sys.exit(f"{name}, {count}: scipy has {their_count} pairs, cleave {our_count}")
                print(f"| {name} | {count} | {'open' if cell is None else 'periodic'} | {theirs:.0f} | {ours:.0f} | {floats:.0f} | {theirs / ours:.1f} |",
                      flush=True)


# A column that has other pairs than ours says how many more or fewer.
def beside_all(counts, scenes, nanoflann, only):
    others = (("scipy", by_scipy), ("nanoflann", by_nanoflann), ("ASE", by_ase), ("MDAnalysis", by_mdanalysis), ("LAMMPS", by_lammps))
    others = [other for other in others if only in ("", other[0])]
    print("| points | count | cell | pairs | cleave, double | cleave, float |" + "".join(f" {name} |" for name, _ in others))
    print("| --- | ---: | --- |" + " ---: |" * (3 + len(others)))
    for name, neighbours in scenes:
        for count in counts:
            edge, points = make_points(count, neighbours)
            rounded = points.astype(np.float32)
            for periodic in (False, True):
                cell = [edge] * 3 if periodic else None
                ours, found = least(lambda: cleave.neighbours(points, 1.0, cell).pairs, count)
                floats, _ = least(lambda: cleave.neighbours(rounded, 1.0, cell).pairs, count)
                row = f"| {name} | {count} | {'periodic' if periodic else 'open'} | {found} | {ours:.0f} | {floats:.0f} |"
                for _, call in others:
                    try:
                        answer = call(nanoflann, points, edge, periodic)
                    except (ImportError, FileNotFoundError):
                        answer = None
                    differing = "" if answer is None or answer[1] == found else f" ({answer[1] - found:+d} pairs)"
                    row += " |" if answer is None else f" {answer[0]:.0f}{differing} |"
                print(row, flush=True)


def main():
    options, counts, words = {"--others": None, "--only": "", "--scene": ""}, [], iter(sys.argv[1:])
    for word in words:
        if word in options:
            options[word] = next(words)
        else:
            counts.append(int(word))
    counts = counts or [10000, 100000]
    scenes = [scene for scene in SCENES if options["--scene"] in scene[0]]
    if options["--others"] is None:
        beside_scipy(counts, scenes)
    else:
        beside_all(counts, scenes, options["--others"], options["--only"])


if __name__ == "__main__":
    main()
