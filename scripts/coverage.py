#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines and branches of src/ that the unit tests and the fuzz corpus reach, from what gcc's --coverage leaves behind.

A header that several files compile counts once: a line or branch is reached if it was in one of them. That is what one
wants of kernels written once and compiled per instruction set, and what gcovr 5.2 refuses where a function stands on
another line in each of them.

usage: scripts/coverage.py [--store] [BUILD]   builds the preset coverage there (build/coverage), runs its tests with JOBS jobs, writes
                                               BUILD/lines.txt and BUILD/branches.txt, prints what falls short, each folder and the sums;
                                               exit 1 where the whole or a folder is below 95 % of the lines or 90 % of the branches.
                                               --store keeps the folders in bench/coverage.csv, which bench/trust.md shows.
What is left is explained in CONTRIBUTING.md.
"""
import csv
import json
import os
import pathlib
import subprocess
import sys

LEAST_LINES, LEAST_BRANCHES = 95.0, 90.0


def run(log, command, **settings):
    """Its output goes to the log; where it fails, the log's end is shown and that is all."""
    with open(log, "w", encoding="utf-8") as file:
        status = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False, **settings).returncode
    if status != 0:
        sys.exit("".join(open(log, encoding="utf-8", errors="replace").readlines()[-40:]) + f"coverage.py: {' '.join(command)}: exit {status}")


def run_tests(build, root):
    jobs = os.environ.get("JOBS", "2")
    build.mkdir(parents=True, exist_ok=True)
    run(build / "configure.log", ["cmake", "--preset", "coverage", "-B", str(build)], cwd=root)
    run(build / "build.log", ["cmake", "--build", str(build), "-j", jobs])
    for data in build.rglob("*.gcda"):
        data.unlink()
    # Without optimisation: a share of the random cases reaches the same lines. What runs no code
    # of this build is left out.
    run(build / "tests.log", ["ctest", "--test-dir", str(build), "-j", jobs, "-LE", "long|report|install", "--output-on-failure"],
        env={"CLEAVE_TEST_SCALE": "0.25", **os.environ})


def read_counts(build):
    """One dictionary per compiled file."""
    for data in sorted(build.rglob("*.gcda")):
        command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", data.name]
        found = subprocess.run(command, cwd=data.parent, capture_output=True, check=True)
        for text in found.stdout.splitlines():
            yield json.loads(text)


def merge_line(lines, line):
    counts = lines.setdefault(line["line_number"], [0, []])
    counts[0] += line["count"]
    branches = [branch["count"] for branch in line["branches"] if not branch["throw"]]
    counts[1] += [0] * (len(branches) - len(counts[1]))
    for i, count in enumerate(branches):
        counts[1][i] += count


def merge(build, root):
    """file -> line -> [ times reached, [ times each branch was taken ] ]"""
    files = {}
    for unit in read_counts(build):
        for file in unit["files"]:
            path = pathlib.Path(unit["current_working_directory"], file["file"]).resolve()
            if path.is_relative_to(root / "src"):
                for line in file["lines"]:
                    merge_line(files.setdefault(str(path.relative_to(root)), {}), line)
    return files


def spans(numbers, all_numbers):
    """Missed lines as 12-15, where nothing that was reached lies between."""
    missed, text, first = set(numbers), [], None
    for number in sorted(all_numbers) + [None]:
        if number in missed:
            first = number if first is None else first
            last = number
        elif first is not None:
            text.append(str(first) if first == last else f"{first}-{last}")
            first = None
    return ",".join(text)


def share(part, whole):
    return 100.0 * part / whole if whole > 0 else 100.0


def write_table(path, title, rows):
    head = f"{'file':<36} {title:>9} {'reached':>9} {'%':>6}  missing"
    text = [f"{name:<36} {whole:>9} {part:>9} {share( part, whole ):>6.1f}  {missing}" for name, whole, part, missing in rows]
    path.write_text("\n".join([head] + text) + "\n")
    for line in [head] + [line for line, row in zip(text, rows) if row[1] != row[2]]:
        print(line)


def write_folders(line_rows, branch_rows, stored):
    """True if each has enough of both."""
    folders = {}
    for column, rows in ((0, line_rows), (2, branch_rows)):
        for name, whole, part, _ in rows:
            sums = folders.setdefault(str(pathlib.Path(name).parent), [0, 0, 0, 0])
            sums[column] += whole
            sums[column + 1] += part
    print(f"\n{'folder':<24} {'lines':>7} {'%':>6} {'branches':>9} {'%':>6}")
    good = True
    for name, (lines, reached, branches, taken) in sorted(folders.items()):
        is_low = share(reached, lines) < LEAST_LINES or share(taken, branches) < LEAST_BRANCHES
        good = good and not is_low
        print(f"{name:<24} {lines:>7} {share( reached, lines ):>6.1f} {branches:>9} {share( taken, branches ):>6.1f}" + ("  too low" if is_low else ""))
    if stored is not None:
        with open(stored, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["folder", "lines", "reached", "branches", "taken"])
            writer.writerows([name] + sums for name, sums in sorted(folders.items()))
    return good


def main():
    words = [word for word in sys.argv[1:] if word != "--store"]
    if len(words) > 1 or words[:1] in (["-h"], ["--help"]):
        sys.exit("usage: scripts/coverage.py [--store] [BUILD]")
    root = pathlib.Path(__file__).resolve().parent.parent
    build = pathlib.Path(words[0] if words else root / "build/coverage").resolve()
    run_tests(build, root)
    report(build, root, root / "bench/coverage.csv" if "--store" in sys.argv[1:] else None)


def report(build, root, stored):
    files = merge(build, root)
    if not files:
        sys.exit(f"coverage.py: {build} holds no counts of src/; does the compiler know --coverage?")
    line_rows, branch_rows = [], []
    for name, lines in sorted(files.items()):
        missed = [number for number, (count, _) in lines.items() if count == 0]
        line_rows.append((name, len(lines), len(lines) - len(missed), spans(missed, lines)))
        sides = [side > 0 for _, branches in lines.values() for side in branches]
        short = sorted(number for number, (_, branches) in lines.items() if 0 in branches)
        branch_rows.append((name, len(sides), sum(sides), ",".join(map(str, short))))
    write_table(build / "lines.txt", "lines", line_rows)
    print()
    write_table(build / "branches.txt", "branches", branch_rows)
    ok = write_folders(line_rows, branch_rows, stored)
    print()
    for what, rows, least in (("lines", line_rows, LEAST_LINES), ("branches", branch_rows, LEAST_BRANCHES)):
        whole, part = sum(row[1] for row in rows), sum(row[2] for row in rows)
        print(f"{what}: {share( part, whole ):.1f} % ({part} of {whole}), at least {least:g} % wanted")
        ok = ok and share(part, whole) >= least
    print(f"files and what they miss: {build}/lines.txt, {build}/branches.txt")
    sys.exit(0 if ok else 1)


main()
