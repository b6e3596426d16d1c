#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make site`: the repository's pages as a site of plain files, without a network.

Usage: build.py OUT            writes it; OUT is replaced
       build.py --check OUT    every address and anchor on its pages leads somewhere in it, and nothing is fetched from elsewhere
"""

import html
import html.parser
import json
import pathlib
import posixpath
import re
import shutil
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from markdown import Renderer  # noqa: E402
from reference import reference_pages  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAVIGATION = [("Guide", "docs/guide.html"), ("Reference", "reference/index.html"), ("Coming from", "docs/other-engines.html#coming-from"),
              ("Papers", "bench/papers/README.html"), ("Results", "results.html"), ("All pages", "pages.html")]
GROUPS = [("Start", ["README.md", "docs/guide.md", "docs/hello.md", "docs/use-it.md", "docs/pairs.md", "docs/queries.md", "docs/boxes.md"]),
          ("Languages and engines", ["bindings/", "docs/other-engines.md", "packaging/"]), ("How it works", ["docs/", "src/"]),
          ("Examples", ["examples/"]), ("Lab", ["docs/lab.md", "lab/", "view/", "report/"]), ("Papers", ["bench/papers/"]), ("Results", ["bench/"]), ("Project", [""])]


def version():
    return ".".join(re.findall(r"^#define CLV_VERSION_[A-Z]+ (\d+)$", (ROOT / "include/cleave/base.h").read_text(), re.M))


def pages():
    """The Markdown files of the repository, by path."""
    found = {path.relative_to(ROOT).as_posix(): path for path in ROOT.rglob("*.md")}
    return {path: file for path, file in sorted(found.items())
            if not re.match(r"(\.|build)", path) and "node_modules/" not in path and not path.startswith(("test/", "site/", "bindings/rust/target"))}


class Site:
    def __init__(self, out):
        self.out = out
        self.pages = pages()
        self.copied = set()
        self.index = []  # ( title, address, kind ) for the search
        self.titles = {}

    def write(self, path, title, body, wide=False):
        up = "../" * path.count("/")
        menu = " ".join(f'<a href="{up}{target}">{name}</a>' for name, target in NAVIGATION)
        text = (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
                f'<meta name="color-scheme" content="light dark"><title>{html.escape(title)}</title><link rel="stylesheet" href="{up}style.css"></head>\n'
                f'<body><header><a class="name" href="{up}index.html">Cleave</a><nav>{menu}</nav></header>\n<main{" class=wide-page" if wide else ""}>\n{body}\n</main>\n'
                f'<footer>Cleave {version()}, MIT licence · <a href="{up}CHANGELOG.html">changelog</a></footer></body></html>\n')
        target = self.out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def link_from(self, page, at=None):
        """`at`: where the page will be, if not at its own place. Addresses of a Markdown page as the site has them: pages as HTML, pictures and pages of ours as they are, other files as text."""
        def link(target):
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                return target
            path, _, anchor = target.partition("#")
            there = posixpath.normpath(posixpath.join(posixpath.dirname(page), urllib.parse.unquote(path)))
            file = ROOT / there
            if file.is_dir() and (file / "README.md").exists():
                there, file = posixpath.join(there, "README.md"), file / "README.md"
            if not file.is_file():
                return None
            if there in self.pages:
                there = there[:-3] + ".html"
            elif re.fullmatch(r"include/cleave/\w+\.hp?p?", there):
                there = f"reference/{file.name}.html"
            else:
                is_shown = file.suffix in (".svg", ".png", ".html", ".jpg")
                there += "" if is_shown else ".txt"
                self.copy(file, there)
            made = posixpath.relpath(there, posixpath.dirname(page if at is None else at) or ".")
            return made + (f"#{anchor}" if anchor else "")
        return link

    def copy(self, file, there):
        if there not in self.copied:
            self.copied.add(there)
            (self.out / there).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, self.out / there)

    def markdown(self):
        for page, file in self.pages.items():
            renderer = Renderer(self.link_from(page))
            body = renderer.render(file.read_text())
            title = renderer.headings[0][2] if renderer.headings else page
            self.titles[page] = title
            address = page[:-3] + ".html"
            self.index += [(text if level > 1 else title, address + ("" if level == 1 else f"#{anchor}"), title if level > 1 else "page")
                           for level, anchor, text in renderer.headings if level <= 3]
            self.write(address, f"{title} · Cleave" if title != "Cleave" else "Cleave", body)

    def all_pages(self):
        left, body = dict(self.titles), ["<h1>All pages</h1>"]
        for name, paths in GROUPS:
            mine = [page for path in paths for page in left if page == path or (path.endswith("/") or path == "") and page.startswith(path)]
            mine = list(dict.fromkeys(mine))
            body.append(f"<h2>{name}</h2><ul class=pages>" + "".join(f'<li><a href="{page[:-3]}.html">{html.escape(left.pop(page))}</a> <small>{page}</small></li>' for page in mine) + "</ul>")
        self.write("pages.html", "All pages · Cleave", "\n".join(body))

    def results(self):
        files = sorted((ROOT / "bench/results/suite").glob("*.json"))
        renderer = Renderer(self.link_from("results.md"))
        text = ["# Results per machine", "",
                "Ten fixed scenes whose pairs are known, by `cleave run suite`: median milliseconds per frame on one thread, all boxes handed over and the full list each frame."]
        for file in files:
            data = json.loads(file.read_text())
            machine, rows = data["machine"], {}
            for run in data["runs"]:
                kind = "" if run["type"] == "cubes" else f" {run['type']}"
                rows.setdefault(f"{run['scene']}{kind}, {run['objects']:,}", {})[run["method"]] = run
            methods = list(dict.fromkeys(run["method"] for run in data["runs"]))
            is_known = all(run.get("known_hash") == run["pairs_hash"] for run in data["runs"])
            clock = "; time of the processor, which others used too" if data["runs"][0]["thread_time"] else ""
            text += ["", f"## {machine['cpu']}, {machine['isa']}",
                     f"{machine['cores']} cores, {machine['system']}, {machine['compiler']}, Cleave {data['cleave']}, {data['runs'][0].get('date', 'day not noted')}; "
                     f"load {machine['load']} when it began{clock}. " + ("All hashes are as known." if is_known else "**Some hashes are not as known.**"), "",
                     "| scene | " + " | ".join(f"`{name}`" for name in methods) + " | pairs |", "| --- |" + " --- |" * (len(methods) + 1)]
            text += [f"| {scene} | " + " | ".join(f"{runs[name]['ms_median']:.3g}" if name in runs else "" for name in methods) + f" | {next(iter(runs.values()))['pairs_last']:,} |"
                     for scene, runs in rows.items()]
        text += ["", "## Add yours", "```", "build/cleave run suite --json suite.json", "```",
                 "It takes half a minute to two minutes and ends by saying whether all hashes are as known. Send `suite.json`, or put it into bench/results/suite, named after the "
                 "processor: this page is made of that folder. Quiet machines give better numbers; the load when it began is in the file.", "",
                 "## Elsewhere", "- [Every method on every scene](bench/methods.md), [scenes with physics](bench/tables.md), [worlds that hurt](bench/worst.md)",
                 "- [Beside physics engines](bench/engines.md), [inside Bullet](bench/bullet.md), [Python](bench/python.md), [GPU](bench/gpu.md), [MPI](bench/mpi.md)",
                 "- [All results, and where we fall short](bench/README.md)"]
        self.write("results.html", "Results per machine · Cleave", renderer.render("\n".join(text)))

    def reference(self):
        made = reference_pages(sorted((ROOT / "include/cleave").glob("*.h*")))
        listed = []
        for name, (about, body, items) in made.items():
            self.write(f"reference/{name}.html", f"{name} · Cleave", body, True)
            listed.append(f'<li><a href="{name}.html">{name}</a> <span>{html.escape(about)}</span></li>')
            self.index += [(item, f"reference/{name}.html#{item}", name) for item in items]
        (self.out / "search.json.js").write_text("window.CLEAVE_INDEX = " + json.dumps(self.index, ensure_ascii=False, separators=(",", ":")) + ";\n")
        search = ('<h1>Reference</h1><p><label>Search names and headings <input id="search" type="search" autocomplete="off" placeholder="clv_space_update"></label></p>'
                  '<ul id="found" class="pages"></ul><h2>Headers</h2><ul class="pages">' + "".join(listed) + "</ul>"
                  '<script src="../search.json.js"></script><script src="../search.js"></script>')
        self.write("reference/index.html", "Reference · Cleave", search)

    @staticmethod
    def figure(row):
        """The milliseconds of README's table at 32k, in the row that begins with this name."""
        lines = (ROOT / "README.md").read_text().splitlines()
        column = next(line for line in lines if line.startswith("| ms per frame")).split(" | ").index("32k")
        for line in lines:
            if re.match(rf"\| `?{re.escape(row)}\b", line):
                return line.split(" | ")[column]
        raise SystemExit(f"site/front.md: README's table has no row {row}")

    def front(self):
        renderer = Renderer(self.link_from("site/front.md", "index.md"))
        text = re.sub(r"\{(\w+)\}", lambda found: self.figure(found[1]), (ROOT / "site/front.md").read_text())
        self.copy(ROOT / "view/playground.html", "view/playground.html")
        body = ('<h1 class="front">Boxes in, every touching pair out</h1>'
                '<iframe class="play" src="view/playground.html" title="The playground: bodies to throw, two methods that find the same pairs" loading="eager"></iframe>'
                '<p><a href="view/playground.html">The playground on a page of its own</a></p>\n' + renderer.render(text))
        self.write("index.html", "Cleave: broad-phase collision detection", body, True)

    def build(self):
        if self.out.exists():
            shutil.rmtree(self.out)
        self.out.mkdir(parents=True)
        for name in ("style.css", "search.js"):
            shutil.copyfile(ROOT / "site" / name, self.out / name)
        self.markdown()
        self.all_pages()
        self.results()
        self.reference()
        self.front()


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.ids, self.targets = set(), []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.ids.add(value)
            elif name in ("href", "src", "srcset") and value:
                self.targets.append((tag, value))


def check(out):
    """Sentences about what is wrong."""
    read = {}
    for file in sorted(out.rglob("*.html")):
        if file.parent.name != "view":  # pages of their own, whose tests look at them
            reader = Reader()
            reader.feed(file.read_text())
            read[file.relative_to(out).as_posix()] = reader
    wrong = []
    for page, reader in read.items():
        for tag, target in reader.targets:
            if re.match(r"[a-z]+:", target):
                if tag != "a":
                    wrong.append(f"{page}: fetches {target}")
                continue
            path, _, anchor = target.partition("#")
            there = posixpath.normpath(posixpath.join(posixpath.dirname(page), urllib.parse.unquote(path))) if path else page
            if not (out / there).is_file():
                wrong.append(f"{page}: {target} is not there")
            elif anchor and there in read and urllib.parse.unquote(anchor) not in read[there].ids:
                wrong.append(f"{page}: {target}: nothing there is #{anchor}")
    return wrong, len(read), sum(len(reader.targets) for reader in read.values())


def main():
    words = sys.argv[1:]
    if words[:1] == ["--check"] and len(words) == 2:
        wrong, count, targets = check(pathlib.Path(words[1]))
        print("\n".join(wrong), end="\n" if wrong else "")
        print(f"build.py: {count} pages, {targets} addresses, {len(wrong)} of them wrong")
        raise SystemExit(1 if wrong or count == 0 else 0)
    if len(words) != 1 or words[0].startswith("-"):
        raise SystemExit("usage: build.py OUT, or build.py --check OUT")
    site = Site(pathlib.Path(words[0]))
    site.build()
    print(f"build.py: {words[0]}/index.html")


if __name__ == "__main__":
    main()
