#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scaling over processes: results into CSV, and the model of docs/mpi.md beside what was measured.

usage: scripts/scaling.py collect FOLDER CSV_FOLDER   JSON of `cleave-mpi bench|net|plan` and `cleave bench` into three CSV files
       scripts/scaling.py model CSV_FOLDER OUT.svg    tables on standard output, and the drawing to 4,096 processes
"""
import csv
import json
import math
import pathlib
import sys

RUN_FIELDS = ["name", "scene", "objects", "processes", "threads", "alone", "frames", "ms", "ms_min", "ms_median", "ghosts", "bytes_sent",
              "imbalance", "cuts", "move_ms", "update_ms", "send_ms", "wait_ms", "search_ms", "list_ms", "pairs_hash"]
PLAN_FIELDS = ["scene", "objects", "sample", "processes", "ghosts", "bytes_sent", "letters", "going", "own_most", "load_most", "ghosts_most",
               "bytes_most", "own_imbalance", "load_imbalance", "sample_noise", "neighbours", "neighbours_most"]
NET_FIELDS = ["processes", "bytes", "one_pair_us", "all_pairs_us", "reduce_us"]
STAGES = ["move_ms", "update_ms", "send_ms", "wait_ms", "search_ms", "list_ms"]

# A cluster's network, for the drawing alone: not measured here. Per message, and per node of 16 processes.
NETWORK_ALPHA_US = 2.0
NETWORK_BYTES_PER_US = 12500 / 16


# ---- collecting

def number(value):
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def run_row(name, run):
    frames = run["frame_ms"]
    row = {"name": name, "scene": run["scene"], "objects": run["objects"], "processes": run.get("ranks", ""), "threads": run["threads"],
           "alone": int(run.get("alone", False)), "frames": run["frames"], "ms": sum(frames) / len(frames) if frames else run["ms_mean"], "ms_min": run["ms_min"],
           "ms_median": run["ms_median"], "pairs_hash": run["pairs_hash"]}
    for field in ["ghosts", "bytes_sent", "imbalance", "cuts"]:
        row[field] = run.get(field, "")
    shares = run.get("per_process", [])
    for field in STAGES:
        row[field] = sum(share[field] for share in shares) / len(shares) if shares else ""
    return row


def write_rows(path, fields, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(fields)
        writer.writerows([number(row[field]) for field in fields] for row in rows)


def collect(folder, target):
    runs, plans, nets = [], [], []
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        try:
            data = json.loads(path.read_text())
        except ValueError as error:
            raise OSError(0, f"is no JSON: {error}", path) from error
        runs += [run_row(path.stem, run) for run in data.get("runs", []) if run["status"] == "ok"]
        if "plan" in data:
            plans.append({field: data["plan"].get(field, "") for field in PLAN_FIELDS})
        if "net" in data:
            net = data["net"]
            nets += [{"processes": net["processes"], "bytes": one["bytes"], "one_pair_us": one["us"], "all_pairs_us": every["us"],
                      "reduce_us": net["reduce_us"]} for one, every in zip(net["one_pair"], net["all_pairs"])]
    if not runs and not plans and not nets:
        raise OSError(0, "has no JSON of cleave-mpi or cleave bench", folder)
    target = pathlib.Path(target)
    plans.sort(key=lambda plan: (plan["scene"], plan["objects"], plan["processes"]))
    for rows, fields, name in [(runs, RUN_FIELDS, "mpi.csv"), (plans, PLAN_FIELDS, "mpi_plans.csv"), (nets, NET_FIELDS, "mpi_net.csv")]:
        if rows:
            write_rows(target / name, fields, rows)


# ---- the model

def read_rows(path):
    def value(text):
        try:
            return float(text)
        except ValueError:
            return text
    with open(path, newline="") as file:
        return [{key: value(text) for key, text in row.items()} for row in csv.DictReader(file)]


class Model:
    """t = (c(P) + h) * (own boxes and ghosts of the fullest) + l * (letters of a process) + neighbours * alpha + bytes / beta + 2 reductions"""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.runs = read_rows(folder / "mpi.csv")
        self.plans = {(row["scene"], row["objects"], row["processes"]): row for row in read_rows(folder / "mpi_plans.csv")}
        nets = read_rows(folder / "mpi_net.csv")
        most = max(row["processes"] for row in nets)
        few = [row for row in nets if row["processes"] == min(row["processes"] for row in nets)]
        many = [row for row in nets if row["processes"] == most]
        self.alpha_us = few[0]["one_pair_us"]
        self.beta = self.slope(few, "one_pair_us")
        self.beta_all = self.slope(many, "all_pairs_us")
        self.reduce_us = many[0]["reduce_us"] / math.log2(most)
        # A box, in microseconds, where so many processes are at work that exchange nothing.
        self.box_us = {(row["scene"], row["processes"]): row["ms_median"] * 1000 / row["objects"] for row in self.runs if row["alone"] == 1}
        self.loose_us = self.letter_us = 0
        self.fit()

    def fit(self):
        """What a box costs more where boxes come and go, and what a letter costs: from two and four processes, a million boxes each."""
        rows = []
        for count in (2, 4):
            plan = self.plan("brownian-free", count * 1e6, count)
            missing = self.run("brownian-free", count * 1e6, count)["ms_median"] * 1000 - self.time_us(plan)
            rows.append((self.load(plan), self.letters(plan), missing))
        (a, b, x), (c, d, y) = rows
        self.letter_us = max(0, (a * y - c * x) / (a * d - b * c))
        self.loose_us = (x - b * self.letter_us) / a
        if self.loose_us < 0:
            # Nothing more: then letters alone, so that the two are off by as much on one side as on the
            # other.
            self.loose_us = 0
            self.letter_us = max(0, (b * x + d * y) / (b * b + d * d))

    @staticmethod
    def slope(rows, field):
        """Bytes per microsecond."""
        ends = [row for row in rows if row["bytes"] >= 65536]
        return (ends[-1]["bytes"] - ends[0]["bytes"]) / (ends[-1][field] - ends[0][field])

    def run(self, scene, objects, processes):
        found = [row for row in self.runs if (row["scene"], row["objects"], row["processes"], row["alone"]) == (scene, objects, processes, 0)
                 and not str(row["name"]).startswith("hash")]
        return min(found, key=lambda row: row["ms_median"]) if found else None

    def plan(self, scene, objects, processes):
        return self.plans.get((scene, objects, processes))

    @staticmethod
    def letters(plan):
        """That a process writes and reads, on average: each is written once and read once."""
        return 2 * plan["letters"] / plan["processes"]

    @staticmethod
    def load(plan):
        """Own boxes and ghosts of the fullest; what a sample adds by chance alone is not the cut's."""
        excess = max(0, plan["load_imbalance"] - plan["sample_noise"])
        return (plan["objects"] + plan["ghosts"]) / plan["processes"] * (1 + excess)

    def box_cost(self, scene, processes):
        """Of the scene, or of brownian-free, with the most processes measured up to so many: beyond one machine that is all of it."""
        counts = {count for name, count in self.box_us if name == scene} or {count for name, count in self.box_us if name == "brownian-free"}
        name = scene if any(one == scene for one, _ in self.box_us) else "brownian-free"
        return self.box_us[name, max([count for count in counts if count <= processes], default=min(counts))]

    def time_us(self, plan, network=False):
        processes = plan["processes"]
        if processes == 1:
            return self.box_cost(plan["scene"], 1) * plan["objects"]
        alpha = NETWORK_ALPHA_US if network else self.alpha_us
        beta = NETWORK_BYTES_PER_US if network else self.beta_all
        reduce = (alpha if network else self.reduce_us) * math.log2(processes)
        return ((self.box_cost(plan["scene"], processes) + self.loose_us) * self.load(plan) + self.letter_us * self.letters(plan) + plan["neighbours"] * alpha
                + plan["bytes_sent"] / processes / beta + 2 * reduce)


# ---- tables

def size(value):
    for unit, text in [(1e6, "m"), (1e3, "k")]:
        if value >= unit:
            return f"{value / unit:.4g}{text}"
    return f"{value:.0f}"


def checked(model):
    """Every run with a plan: (scene, objects, processes, measured ms, model ms)."""
    for (scene, objects, processes), plan in sorted(model.plans.items(), key=lambda item: (item[0][0], item[0][1], item[0][2])):
        run = model.run(scene, objects, processes)
        if run and processes > 1:
            yield scene, objects, processes, run, plan, model.time_us(plan) / 1000


def print_measured(model):
    """Processes beside threads, medians: the same worlds, and millions of objects in a second."""
    def median(objects, processes, threads):
        found = [row for row in model.runs if (row["scene"], row["objects"], row["processes"], row["threads"], row["alone"]) ==
                 ("brownian-free", objects, processes, threads, 0) and row["name"] != "scattered-16"]
        return min(found, key=lambda row: row["ms_median"]) if found else None

    print("| objects | workers | threads, ms | processes, ms | of the threads' throughput | ghosts | imbalance | bytes sent |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for objects, workers in [(p * 1e6, p) for p in (1, 2, 4, 8)] + [(16e6, p) for p in (1, 2, 4, 8, 16)]:
        threads, many = median(objects, "", workers), median(objects, workers, 1)
        if not many:
            continue
        ratio = f"{threads['ms_median'] / many['ms_median']:.2f}" if threads else "–"
        print(f"| {size(objects)} | {workers} | {format(threads['ms_median'], '.0f') if threads else '–'} | {many['ms_median']:.0f} | {ratio} "
              f"| {100 * many['ghosts'] / objects:.2f} % | {100 * many['imbalance']:.1f} % | {many['bytes_sent'] / 1e6:.1f} MB |")
    print()


def print_tables(model):
    print_measured(model)
    print(f"alpha {model.alpha_us:.2f} us, beta {model.beta / 1000:.2f} GB/s for one pair, {model.beta_all / 1000:.2f} for each of all pairs at once, "
          f"a reduction {model.reduce_us:.2f} us times log2 of the processes")
    print("a box " + ", ".join(f"{1000 * cost:.1f} ns on {count:.0f} ({scene})" for (scene, count), cost in sorted(model.box_us.items()))
          + f"; {1000 * model.loose_us:.0f} ns more where boxes come and go; a letter {1000 * model.letter_us:.0f} ns\n")
    print("| scene | objects | processes | ghosts, counted | planned | imbalance | ms, measured | model | off by |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for scene, objects, processes, run, plan, ms in checked(model):
        print(f"| {scene} | {size(objects)} | {processes:.0f} | {100 * run['ghosts'] / objects:.2f} % | {100 * plan['ghosts'] / objects:.2f} % "
              f"| {100 * run['imbalance']:.1f} % | {run['ms_median']:.1f} | {ms:.1f} | {100 * (ms / run['ms_median'] - 1):+.0f} % |")


# ---- the drawing

LEFT, TOP, WIDTH, HEIGHT, GAP = 70, 50, 380, 300, 120
INK = json.loads(pathlib.Path(__file__).with_name("colours.json").read_text(encoding="utf-8"))
COLORS = dict(zip(["brownian-free", "settling", "cluster"], INK["series"]))


class Panel:
    def __init__(self, place, title, xs, ys, y_name, is_log=False):
        self.left = LEFT + place * (WIDTH + GAP)
        self.scale = math.log if is_log else lambda value: value
        self.xs, self.ys = xs, [self.scale(y) for y in ys]
        self.out = [f'<text x="{self.left}" y="{TOP - 18}" font-size="15" font-weight="600">{title}</text>',
                    f'<text x="{self.left + WIDTH / 2}" y="{TOP + HEIGHT + 40}" text-anchor="middle" fill="{INK["muted"]}">processes</text>',
                    f'<text transform="translate({self.left - 48},{TOP + HEIGHT / 2}) rotate(-90)" text-anchor="middle" fill="{INK["muted"]}">{y_name}</text>']

    def x(self, value):
        return self.left + WIDTH * math.log(value / self.xs[0]) / math.log(self.xs[1] / self.xs[0])

    def y(self, value):
        return TOP + HEIGHT * (1 - (self.scale(value) - self.ys[0]) / (self.ys[1] - self.ys[0]))

    def grid(self, x_marks, y_marks, y_text):
        for mark in x_marks:
            self.out.append(f'<path d="M{self.x(mark):.1f} {TOP}v{HEIGHT}" stroke="{INK["grid"]}"/><text x="{self.x(mark):.1f}" y="{TOP + HEIGHT + 18}" '
                            f'text-anchor="middle" fill="{INK["muted"]}">{mark}</text>')
        for mark in y_marks:
            self.out.append(f'<path d="M{self.left} {self.y(mark):.1f}h{WIDTH}" stroke="{INK["grid"]}"/><text x="{self.left - 8}" y="{self.y(mark) + 4:.1f}" '
                            f'text-anchor="end" fill="{INK["muted"]}">{y_text(mark)}</text>')

    def line(self, points, color, dash=""):
        path = "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)
        self.out.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"{dash and f" stroke-dasharray={chr(34)}{dash}{chr(34)}"}/>')

    def dots(self, points, color):
        self.out += [f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="4.5" fill="{INK["ground"]}" stroke="{color}" stroke-width="2"/>' for x, y in points]

    def note(self, row, color, text, dash=""):
        top = TOP + HEIGHT + 66 + 18 * row
        mark = f' stroke-dasharray="{dash}"' if dash else ""
        self.out.append(f'<path d="M{self.left} {top - 4}h26" stroke="{color}" stroke-width="2"{mark}/><text x="{self.left + 34}" y="{top}">{text}</text>')

    def ring(self, row, color, text):
        top = TOP + HEIGHT + 66 + 18 * row
        self.out.append(f'<circle cx="{self.left + 13}" cy="{top - 4}" r="4.5" fill="#fff" stroke="{color}" stroke-width="2"/>'
                        f'<text x="{self.left + 34}" y="{top}">{text}</text>')


def far_plans(model, scene):
    """Plans of about 244,141 objects for each process, by processes."""
    return sorted((plan["processes"], plan) for (name, objects, processes), plan in model.plans.items()
                  if name == scene and abs(objects / processes / 244141 - 1) < 0.01)


def draw(model, path):
    marks = [1, 4, 16, 64, 256, 1024, 4096]
    time = Panel(0, "Time of an update, 244,141 objects per process", (1, 4096), (0.8, 32), "times that of one process", is_log=True)
    time.grid(marks, [1, 2, 4, 8, 16, 32], str)
    ghosts = Panel(1, "Ghosts, per cent of the objects", (1, 4096), (0, 80), "ghosts, %")
    ghosts.grid(marks, range(0, 81, 20), str)
    for row, scene in enumerate(COLORS):
        plans = far_plans(model, scene)
        if not plans:
            continue
        color = COLORS[scene]
        base = model.box_cost(scene, 1) * 244141
        time.line([(p, min(32, model.time_us(plan) / base)) for p, plan in plans], color)
        time.line([(p, min(32, model.time_us(plan, network=p > 16) / base)) for p, plan in plans], color, "5 4")
        ghosts.line([(p, min(80, 100 * plan["ghosts"] / plan["objects"])) for p, plan in plans], color)
        time.note(row, color, scene)
        ghosts.note(row, color, scene)
    weak = [(p, model.run("brownian-free", p * 1e6, p)) for p in (1, 2, 4, 8, 16)]
    base = model.box_cost("brownian-free", 1) * 1e6 / 1000
    time.dots([(p, run["ms_median"] / base) for p, run in weak if run], COLORS["brownian-free"])
    ghosts.dots([(p, 100 * run["ghosts"] / run["objects"]) for p, run in weak if run], COLORS["brownian-free"])
    time.note(len(COLORS), INK["muted"], f"with a network beyond 16 processes: {NETWORK_ALPHA_US:g} µs, 12.5 GB/s (assumed)", "5 4")
    ghosts.ring(len(COLORS), COLORS["brownian-free"], "measured: brownian-free, 1m objects per process")
    width, height = LEFT + 2 * WIDTH + GAP + 40, TOP + HEIGHT + 66 + 18 * (len(COLORS) + 1)
    pathlib.Path(path).write_text("\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" fill="{INK["text"]}">',
         "<title>Time of an update over processes, and ghosts, to 4,096 of them</title>",
         f'<rect width="{width}" height="{height}" fill="{INK["ground"]}"/>'] + time.out + ghosts.out + ["</svg>"]) + "\n")


def print_far(model):
    print("\n| scene | processes | objects | ghosts | change owner | neighbours | imbalance | bytes in a frame, each | ms, model |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for scene in COLORS:
        for processes, plan in far_plans(model, scene):
            if processes in (16, 256, 4096):
                excess = max(0, plan["load_imbalance"] - plan["sample_noise"])
                print(f"| {scene} | {processes:,.0f} | {size(plan['objects'])} | {100 * plan['ghosts'] / plan['objects']:.1f} % "
                      f"| {100 * plan['going'] / plan['objects']:.1f} % | {plan['neighbours']:.1f} | {100 * excess:.0f} % "
                      f"| {plan['bytes_sent'] / processes / 1e6:.2f} MB | {model.time_us(plan) / 1000:.1f} |")


def main(words):
    if len(words) == 3 and words[0] == "collect":
        collect(words[1], words[2])
    elif len(words) == 3 and words[0] == "model":
        model = Model(words[1])
        print_tables(model)
        print_far(model)
        draw(model, words[2])
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError as error:
        print(f"scaling.py: {error.filename or sys.argv[-1]}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
