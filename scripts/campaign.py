#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks for faults for as long as there is time, and keeps count over all runs.

usage: scripts/campaign.py [--hours H] [--cores C] [--stages NAME,...] [--built] [--page]
       scripts/campaign.py fuzz SECONDS [TARGET...]

Stages that share the hours (default 1) of all cores (default: those there are), a process on each: random worlds lived by several spaces against a sweep of their own (test/lives.c), plain, large, with a
million boxes, with failing memory, with sanitizers, and with 64 reading threads under the thread sanitizer; every libFuzzer target; random lives
over processes; jobs killed at any moment and taken up from their checkpoints. Stages that take as long as they take, once: faults (every allocation and every device call fails in turn, full disks, killed
processes, hostile files), and, where named or with six hours and more: presets (other sanitizers and MSan), long, report, worst, speed, machines,
fresh, coverage, mutate. Each stage adds a row to bench/trust.csv, and bench/trust.md is written from all of its rows; --page writes only the page.
--built: the programs are there, made on another machine, and nothing is compiled. A stage that finds something keeps its output in build/campaign or
build/fuzz and is a fault; exit 1 then, after the other stages. Ctrl-C ends it all; rows of stages that were not over are not written.

fuzz: libFuzzer on each target of test/fuzz in turn, and no row; the seconds are shared by the targets, all of them unless some are named. What it
learns stays in build/fuzz/found-* and is where the next run starts; an input that stops it is named at the end.
"""
import argparse
import csv
import datetime
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build/campaign"
ROWS, PAGE, FOLDERS = ROOT / "bench/trust.csv", ROOT / "bench/trust.md", ROOT / "bench/coverage.csv"
COLUMNS = ["date", "commit", "stage", "seconds", "inputs", "updates", "box_updates", "pairs", "questions", "failed_allocations", "faults", "note"]
COUNTS = COLUMNS[3:11]
LIVES = re.compile(r"lives: (\d+) worlds, (\d+) updates, (\d+) box updates, (\d+) pairs, (\d+) questions, (\d+) failed allocations, ([^:]*)")
JOBS = os.environ.get("JOBS", str(os.cpu_count() or 2))

# name: share of the hours, preset of the build, words after `lives`
LIFE_STAGES = {
    "lives": (2, "release", "--to 600 --failing"),
    "lives-large": (3, "release", "--from 1000 --to 30000 --updates 20"),
    "lives-million": (1, "release", "--from 1000000 --to 1000000 --updates 10"),
    "lives-debug": (1, "debug", "--to 2000 --failing"),
    "lives-asan": (1, "asan", "--to 2000 --failing"),
    "lives-ubsan": (1, "ubsan", "--to 2000 --failing"),
    "readers": (1, "tsan", "--from 20 --to 400 --updates 8 --readers 64"),
}
FUZZ_SHARE = 1  # of each libFuzzer target
# name: share of the seconds among themselves, longest input; calls on a space have the most to be found
FUZZERS = {"space": (2, 1500), "query": (1, 1500), "world": (1, 1500), "near": (1, 1500), "save": (1, 6000), "record": (1, 6000), "scene": (1, 900)}
PROCESS_SHARE = 1
LEAST_SECONDS = 5 # of a process
# name: commands that are run once, whole
WHOLE_STAGES = {
    "faults": [["ctest", "--preset", "release", "-j", JOBS, "-R",
                "^(out_of_memory|allocation|failure|hostile|record|refusal|replay|save|fuzz\\..*|gpu_failure|gpu_driver|mpi_faults|mpi_lost|mpi_memory|mpi_resume)$"]],
    "presets": [["make", "test-asan-clang", "test-ubsan-gcc", "test-msan"]],
    "long": [["make", "test-long"]],
    "report": [["make", "test-report"]],
    "worst": [["make", "worst"]],
    "speed": [["make", "speed"]],
    "machines": [["make", "other-machines"]],
    "fresh": [["make", "fresh-test"]],
    "coverage": [["scripts/coverage.py", "--store"]],
    "mutate": [["make", "mutate"]],
}
ONLY_WHEN_LONG = [name for name in WHOLE_STAGES if name != "faults"]


STOPPING = threading.Event() # Ctrl-C: no further row is written
CHILDREN = set()


def execute(command, file, limit=None):
    """Its exit status; 124 where it took longer. In a group of its own, so that Ctrl-C reaches it by way of us alone."""
    with subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT, start_new_session=True) as child:
        CHILDREN.add(child)
        try:
            return child.wait(limit)
        except subprocess.TimeoutExpired:
            end_group(child)
            file.write(f"campaign.py: ended after {limit} s\n")
            return 124
        finally:
            CHILDREN.discard(child)


def end_group(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(log_name, command, limit=None):
    """Its output goes to a log; returns whether it ended well, and the log."""
    WORK.mkdir(parents=True, exist_ok=True)
    log = WORK / f"{log_name}.log"
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"$ {' '.join( command )}\n")
        file.flush()
        status = execute(command, file, limit)
    return status == 0, log.read_text(encoding="utf-8", errors="replace")


def folder_of(preset):
    return ROOT / "build" if preset == "release" else ROOT / "build" / preset


def build(preset, targets):
    """targets: [] is everything"""
    options = ["-DCLEAVE_TESTS=ON"] if preset != "fuzz" else []
    for command in (["cmake", "--preset", preset] + options, ["cmake", "--build", str(folder_of(preset)), "-j", JOBS] + (["--target"] + targets if targets else [])):
        good, text = run("build", command)
        if not good:
            sys.exit("\n".join(text.splitlines()[-30:]) + f"\ncampaign.py: {' '.join( command )} failed")


def fuzz_one(name, seconds, part=0):
    """Whether no input stopped it, and what it printed, with that input named at the end."""
    build_folder = folder_of("fuzz")
    found, seeds, log = build_folder / f"found-{name}", build_folder / f"seeds-{name}", build_folder / f"{name}.{part}.log"
    for folder in (found, seeds):
        folder.mkdir(parents=True, exist_ok=True)
    for seed in (ROOT / "test/fuzz/corpus").glob(f"{name}-*"):
        shutil.copy(seed, seeds)
    prefix = f"{build_folder}/stopped-{name}-{part}-"
    command = [str(build_folder / f"test/fuzz/fuzz-{name}"), f"-max_total_time={seconds}", f"-max_len={FUZZERS[name][1]}", "-print_final_stats=1",
               "-timeout=120", f"-artifact_prefix={prefix}", str(found), str(seeds)]
    begun = time.time()
    with open(log, "w", encoding="utf-8") as file:
        status = execute(command, file)
    text = log.read_text(encoding="utf-8", errors="replace")
    if status != 0:
        inputs = sorted((path for path in build_folder.glob(f"stopped-{name}-{part}-*") if path.stat().st_mtime >= begun), key=lambda path: path.stat().st_mtime)
        record = build_folder / f"stopped-{name}.clvrec"
        if inputs and name in ("space", "query", "world"):
            subprocess.run([command[0], str(inputs[-1])], cwd=ROOT, env=os.environ | {"CLEAVE_RECORD": str(record)}, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            text += (f"campaign.py: {record}: its calls (those of a second space in {record.name}.1); `cleave replay FILE --judge --shrink OUT --c OUT.c` "
                     "makes them a test\n")
        text += (f"campaign.py: fuzz-{name} was stopped by {inputs[-1] if inputs else 'no input; see ' + str(log)}\n"
                 "campaign.py: cut it down with -minimize_crash=1, fix, and keep it in test/fuzz/corpus with a line in its README\n")
    return status == 0, text


def fuzz(words):
    """`campaign.py fuzz SECONDS [TARGET...]`"""
    seconds, names = words[0] if words else "60", words[1:] or list(FUZZERS)
    unknown = [name for name in names if name not in FUZZERS]
    if unknown or not seconds.isdigit():
        print(f"campaign.py fuzz: no such target: {', '.join( unknown )}; there are: {', '.join( FUZZERS )}" if unknown
              else f"campaign.py fuzz: SECONDS must be a whole number, not '{seconds}'", file=sys.stderr)
        return 2
    shares = sum(FUZZERS[name][0] for name in names)
    subprocess.run(["cmake", "--preset", "fuzz"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["cmake", "--build", "--preset", "fuzz", "-j", JOBS, "--target"] + [f"fuzz-{name}" for name in names], cwd=ROOT, check=True)
    for name in names:
        share = int(seconds) * FUZZERS[name][0] // shares + 1
        print(f"== fuzz-{name}, {share} seconds", flush=True)
        good, text = fuzz_one(name, share)
        lines = text.splitlines()
        if not good:
            sys.exit("\n".join(lines[-40:]))
        print("\n".join(line for line in lines if re.match(r"Done|stat::(number_of_executed|peak_rss)", line)))
        print("\n".join([line for line in lines if "cov:" in line][-1:]), flush=True)
    return 0


# Stages: each is given its name, its seconds and the number of the process among those of the stage, and
# returns whether all was well and the row's columns. Every process sees other worlds: its seed is the time.

def life_stage(name, seconds, part):
    _, preset, words = LIFE_STAGES[name]
    seed = time.time_ns() // 1000 % 10**9 * 10**6 + part * 10**5
    good, text = run(f"{name}.{part}", [str(folder_of(preset) / "test/lives"), "--seconds", str(seconds), "--seed", str(seed)] + words.split(), seconds + 900)
    found = LIVES.search(text)
    keys = ["inputs", "updates", "box_updates", "pairs", "questions", "failed_allocations"]
    return good, dict(zip(keys, map(int, found.groups()))) | {"note": found.group(7)} if found else {}


def fuzz_stage(name, seconds, part):
    good, text = fuzz_one(name.removeprefix("fuzz-"), seconds, part)
    took = sum(map(int, re.findall(r"Done \d+ runs in (\d+) second", text)))
    return good, {"inputs": sum(map(int, re.findall(r"number_of_executed_units: *(\d+)", text)))} | ({"seconds": took} if took else {})


def mpi_stage(name, seconds, part):
    # What `make fuzz-mpi` does, without its build.
    seed = str((time.time_ns() // 1000 + 1000 * part) % 10**6)
    command = ["scripts/check.sh", "mpi-fuzz", str(folder_of("release") / "test/fuzz_mpi"), "4 3 2", seed, str(max(seconds // 3, 1)),
               str(WORK / f"stopped-mpi-{part}.clvrec")]
    good, text = run(f"{name}.{part}", ["env", f"TEST_SECONDS={seconds + 300}"] + command, seconds + 900)
    return good, {"inputs": sum(map(int, re.findall(r"(\d+) lives", text)))}


def kills_stage(name, seconds, part):
    good, text = run(f"{name}.{part}", ["scripts/check.sh", "mpi-kills", str(folder_of("release")), str(seconds)], seconds + 900)
    return good, {"inputs": sum(map(int, re.findall(r"mpi-kills: (\d+) jobs killed", text)))}


def whole_stage(name, _seconds, _part):
    good = True
    for command in WHOLE_STAGES[name]:
        fine, text = run(name, command, 6 * 3600)
        good = good and fine
    notes = {"coverage": r"^(?:lines|branches): .*", "mutate": r"^mutate\.sh: \d+ mutants.*", "faults": r"\d+% tests passed.*", "long": r"\d+% tests passed.*",
             "report": r"\d+% tests passed.*", "presets": r"\d+% tests passed.*"}
    return good, {"note": "; ".join(re.findall(notes[name], text, re.M)) if name in notes else "",
                  "inputs": sum(map(int, re.findall(r"tests failed out of (\d+)", text)))}


def all_stages():
    """name -> (share of the time, function); share 0: as long as it takes"""
    stages = {name: (LIFE_STAGES[name][0], life_stage) for name in LIFE_STAGES}
    stages.update({f"fuzz-{name}": (FUZZ_SHARE, fuzz_stage) for name in FUZZERS})
    stages["fuzz-mpi"] = (PROCESS_SHARE, mpi_stage)
    stages["kills"] = (PROCESS_SHARE, kills_stage)
    stages.update({name: (0, whole_stage) for name in WHOLE_STAGES})
    return stages


def build_for(names):
    """What these stages run."""
    wanted = {}
    for name in names:
        if name in LIFE_STAGES:
            wanted.setdefault(LIFE_STAGES[name][1], []).append("lives")
        elif name == "fuzz-mpi":
            wanted.setdefault("release", []).append("fuzz_mpi")
        elif name.startswith("fuzz-"):
            wanted.setdefault("fuzz", []).append(name)
        elif name == "kills":
            wanted.setdefault("release", []).append("cleave-mpi")
    for preset, targets in wanted.items():
        build(preset, sorted(set(targets)))
    if "faults" in names:
        build("release", [])


def share_out(stages, names, hours, cores):
    """What each core runs, one after the other: [[(stage, seconds, part)]]. All times in one row, which is cut where a core's time is over."""
    shares, wall = sum(stages[name][0] for name in names) or 1, hours * 3600
    plan, left, parts = [[]], wall, {name: 0 for name in names}
    for name in names:
        seconds = wall * cores * stages[name][0] / shares
        while seconds > LEAST_SECONDS or (seconds > 0 and parts[name] == 0):
            if left < LEAST_SECONDS and len(plan) < cores:
                plan.append([])
                left = wall
            piece = min(seconds, max(left, LEAST_SECONDS))
            plan[-1].append((name, max(int(piece), LEAST_SECONDS), parts[name]))
            parts[name] += 1
            seconds -= piece
            left -= piece
    return plan


def read_rows():
    if not ROWS.exists():
        return []
    with open(ROWS, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def add_row(row):
    is_new = not ROWS.exists()
    with open(ROWS, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def grouped(number):
    return f"{number:,}" if number else ""


def percent(part, whole):
    return f"{100.0 * int( part ) / int( whole ):.1f} %" if int(whole) > 0 else ""


def write_page():
    rows = read_rows()
    stages = {}
    for row in rows:
        sums = stages.setdefault(row["stage"], {"runs": 0, **{key: 0 for key in COUNTS}})
        sums["runs"] += 1
        for key in COUNTS:
            sums[key] += int(row[key] or 0)
        sums["last"] = f"{row['date']}, {row['commit']}"
        sums["note"] = row["note"]
    total = {key: sum(sums[key] for sums in stages.values()) for key in COUNTS}
    lines = ["# How much was compared, and what was found", "",
             "Written by `make campaign` from [trust.csv](trust.csv), which has a row for each run of each stage; a run adds to what earlier ones",
             "counted. `scripts/campaign.py --help` tells what each stage does.", "",
             f"In all: **{total['box_updates']:,} box updates** in {total['updates']:,} updates and {total['pairs']:,} pairs compared with a sweep that",
             f"uses no code of the library, {total['questions']:,} questions of reading threads, {total['failed_allocations']:,} allocations that failed,",
             f"{total['inputs']:,} worlds, inputs and tests, in {total['seconds'] / 3600:.1f} hours. **Runs that found a fault: {total['faults']}**.", "",
             "| stage | runs | minutes | worlds, inputs, tests | box updates | pairs | faults | last run | what it said |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name, sums in stages.items():
        lines.append(f"| {name} | {sums['runs']} | {sums['seconds'] / 60:.0f} | {grouped( sums['inputs'] )} | {grouped( sums['box_updates'] )} | "
                     f"{grouped( sums['pairs'] )} | {sums['faults']} | {sums['last']} | {sums['note']} |")
    found = [row for row in rows if int(row["faults"] or 0) > 0]
    if found:
        lines += ["", "What was found, each mended with a test:", ""] + [f"- {row['date']}, {row['stage']}, {row['commit']}: {row['note']}" for row in found]
    if FOLDERS.exists():
        lines += ["", "Lines and branches that the tests reach, folder by folder, as `make coverage` counted them last; CONTRIBUTING.md tells why the rest",
                  "is not reached.", "", "| folder | lines | reached | branches | taken |", "| --- | --- | --- | --- | --- |"]
        with open(FOLDERS, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                lines.append(f"| {row['folder']} | {int( row['lines'] ):,} | {percent( row['reached'], row['lines'] )} | {int( row['branches'] ):,} | "
                             f"{percent( row['taken'], row['branches'] )} |")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    if sys.argv[1:2] == ["fuzz"]:
        return fuzz(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--stages", default="")
    parser.add_argument("--built", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if options.page:
        write_page()
        return 0
    stages = all_stages()
    names = [name for name in options.stages.split(",") if name]
    unknown = [name for name in names if name not in stages]
    if unknown or not 0 < options.hours <= 10000 or not 0 < options.cores <= 1024:
        parser.error(f"no such stage: {', '.join( unknown )}; there are: {', '.join( stages )}" if unknown
                     else "--hours wants a number above 0, --cores one from 1 to 1024")
    if not names:
        names = [name for name in stages if options.hours >= 6 or name not in ONLY_WHEN_LONG]
    return campaign(stages, names, options)


def campaign(stages, names, options):
    """Runs these stages; a row for each, written when its last process ends."""
    commit = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip() or "unknown"
    if not options.built:
        build_for(names)
    plan = share_out(stages, names, options.hours, options.cores)
    rows = {name: {key: 0 for key in COUNTS} | {"date": datetime.date.today().isoformat(), "commit": commit, "stage": name, "note": ""} for name in names}
    left = {name: sum(one[0] == name for row in plan for one in row) or 1 for name in names}
    lock = threading.Lock()

    def live(name, seconds, part):
        start = time.monotonic()
        (WORK / f"{name}.{part}.log").unlink(missing_ok=True)
        good, columns = stages[name][1](name, seconds, part)
        columns.setdefault("seconds", round(time.monotonic() - start))
        with lock:
            if STOPPING.is_set():
                return
            end_process(name, good, columns, rows[name], left)

    def live_all(row):
        for process in row:
            if not STOPPING.is_set():
                live(*process)

    timed = [name for name in names if stages[name][0]]
    if timed:
        print(f"campaign: {', '.join( timed )}: {sum( map( len, plan ) )} processes on {options.cores} cores, {options.hours:g} hours", flush=True)
    with ThreadPoolExecutor(options.cores) as pool:
        try:
            for one in [pool.submit(live_all, row) for row in plan]:
                one.result()
        except KeyboardInterrupt:
            STOPPING.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for child in list(CHILDREN):
                end_group(child)
            raise
    for name in names:
        if not stages[name][0]:
            print(f"campaign: {name}", flush=True)
            live(name, 0, 0)
    return 1 if any(row["faults"] for row in rows.values()) else 0


def end_process(name, good, columns, row, left):
    """Adds what one process counted to its stage's row; the last one has the row written."""
    for key in COUNTS:
        row[key] += columns.get(key, 0)
    row["note"] = columns.get("note", "") or row["note"]
    row["faults"] += not good
    left[name] -= 1
    if not good:
        print(f"campaign: {name}: FAULT, see build/campaign or build/fuzz", flush=True)
    if left[name] == 0:
        add_row(row)
        write_page()
        print(f"campaign: {name}: {'FAULT' if row['faults'] else 'nothing found'}, {row['seconds']} s" +
              (f", {int( row['box_updates'] ):,} box updates" if int(row["box_updates"]) else ""), flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("campaign.py: stopped; the stages that ended are in bench/trust.csv")
