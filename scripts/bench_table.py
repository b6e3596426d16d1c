#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results of `cleave run … --csv` as a table for a page of bench/.

usage: scripts/bench_table.py scenes|methods FILE.csv… [--of ms_median] [--only METHOD,…] [--least]

scenes: a row per scene, a column per method, and how many times as long the fastest of the other libraries takes as `cleave`.
methods: a row per method, a column per size; with --least the least time in brackets; with --of memory_bytes in MiB.
"""
import csv
import sys

PEERS = ("embree", "fcl", "bullet", "cgal", "ode")


def number(value):
    """Three digits, as the pages have them."""
    return "–" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def size(count):
    return f"{count // 1000000}m" if count % 1000000 == 0 else f"{count // 1000}k" if count % 1000 == 0 else str(count)


def read(files):
    rows = []
    for name in files:
        with open(name, newline="") as file:
            rows += list(csv.DictReader(file))
    if not rows:
        sys.exit(f"bench_table.py: no runs in {', '.join(files)}")
    return rows


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("| " + " | ".join(["---"] * len(header)) + " |")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def in_order(values):
    return list(dict.fromkeys(values))


def by_scene(rows, of):
    methods = in_order(row["method"] for row in rows)
    windows = in_order((row["scene"], row["type"], row["objects"], row["pairs_hash"]) for row in rows if row["status"] == "ok")
    lines = []
    for window in windows:
        runs = {r["method"]: r for r in rows if (r["scene"], r["type"], r["objects"], r["pairs_hash"]) == window}
        times = {name: float(run[of]) for name, run in runs.items()}
        pairs = float(runs["cleave"]["pairs_last"]) / float(window[2])
        peers = [name for name in times if name.startswith(PEERS)]
        best = min(peers, key=times.get)
        lines.append([f"{window[0]} {size(int(window[2]))}, {window[1]} ({pairs:.2g})"] + [number(times.get(m)) for m in methods]
                     + [f"{times[best] / times['cleave']:.1f}, {best}"])
    table(["scene"] + methods + ["fastest peer / cleave"], lines)


def by_method(rows, of, least):
    sizes = in_order(int(row["objects"]) for row in rows)
    lines = []
    for method in in_order(row["method"] for row in rows):
        cells = []
        for count in sizes:
            run = next((r for r in rows if r["method"] == method and int(r["objects"]) == count and r["status"] == "ok"), None)
            value = float(run[of]) / (2**20 if of == "memory_bytes" else 1) if run and run[of] else None
            cells.append(number(value) + (f" ({number(float(run['ms_min']))})" if least and run else ""))
        lines.append([f"`{method}`"] + cells)
    table(["method"] + [size(count) for count in sizes], lines)


def main():
    words = sys.argv[1:]
    options = {"--of": "ms_median", "--only": None}
    for name in options:
        if name in words:
            at = words.index(name)
            options[name] = words[at + 1]
            del words[at : at + 2]
    least = "--least" in words
    words = [word for word in words if word != "--least"]
    if len(words) < 2 or words[0] not in ("scenes", "methods"):
        sys.exit(__doc__)
    rows = read(words[1:])
    if options["--only"]:
        wanted = options["--only"].split(",")
        rows = sorted((r for r in rows if r["method"] in wanted), key=lambda r: wanted.index(r["method"]))
    if words[0] == "scenes":
        by_scene(rows, options["--of"])
    else:
        by_method(rows, options["--of"], least)


main()
