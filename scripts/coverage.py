#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines and branches of src/ that a run of the tests reached, from what gcc's --coverage left behind.

A header that several files compile counts once: a line or branch is reached if it was in one of them. That is what one
wants of kernels written once and compiled per instruction set, and what gcovr 5.2 refuses where a function stands on
another line in each of them.

usage: scripts/coverage.py BUILD   writes BUILD/lines.txt and BUILD/branches.txt, prints what falls short and the sums;
                                   exit 1 below 95 % of the lines or 90 % of the branches
"""
import json
import pathlib
import subprocess
import sys

LEAST_LINES, LEAST_BRANCHES = 95.0, 90.0


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


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("usage: scripts/coverage.py BUILD, a folder built by the preset coverage whose tests have run")
    build, root = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).resolve().parent.parent
    files = merge(build, root)
    if not files:
        sys.exit(f"coverage.py: {build} holds no counts of src/; build the preset coverage there and run its tests")
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
    ok = True
    print()
    for what, rows, least in (("lines", line_rows, LEAST_LINES), ("branches", branch_rows, LEAST_BRANCHES)):
        whole, part = sum(row[1] for row in rows), sum(row[2] for row in rows)
        print(f"{what}: {share( part, whole ):.1f} % ({part} of {whole}), at least {least:g} % wanted")
        ok = ok and share(part, whole) >= least
    sys.exit(0 if ok else 1)


main()
