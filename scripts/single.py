#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The core as one header and one source file.

    single.py OUT VERSION FILE.c ...

OUT gets cleave.h, which is cleave/cleave.h with all that it includes, and cleave.c, which is all FILEs with the
private headers they include. Comments stay in the header, which is read, and go from the source, which is not: both
are made from the repository, where they are. Recordings (record.h) and CLV_VALIDATE are left to the library. Files that are compiled for one instruction set repeat the same names,
so each gets an ending of its own.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLIC = ROOT / "include"
PRIVATE = ROOT / "src" / "core"
QUOTED = re.compile(r'\s*#\s*include\s+"([^"]+)"')
LEFT_OUT = ("cleave/record.h",)
LONGEST = 500  # columns of the source that are made of several lines
# Of the names in a file for one instruction set: short, since there are 5,000 of them.
ENDINGS = {"sse2": "s2", "avx2": "a2", "avx512": "a5", "neon": "n"}
# Types that are named 6,000 times.
TYPES = {"uint32_t": "u32", "uint64_t": "u64"}
BANNER = """// SPDX-License-Identifier: MIT
// Cleave {version}, {what}. Made by `make single`; do not edit.
"""
# Assertions cost a fifth of the time. The library that CMake builds leaves them out where it is optimised.
QUIET = """#if defined( __OPTIMIZE__ ) && !defined( NDEBUG ) && !defined( CLV_KEEP_ASSERTIONS )
#define NDEBUG
#endif"""
# The kernels are loops over arrays of known length, half as fast where gcc does not unroll
# them. clang does at -O2.
FAST = """#if defined( __GNUC__ ) && !defined( __clang__ ) && defined( __OPTIMIZE__ ) && !defined( __OPTIMIZE_SIZE__ )
#pragma GCC optimize( "O3" )
#endif"""
# Not every instruction set needs every function of the headers that they share.
UNUSED = """#if defined( __clang__ )
#pragma clang diagnostic ignored "-Wunused-function"
#endif"""
# Lines are joined, so how far they are indented says nothing.
JOINED = """#if defined( __GNUC__ )
#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#endif"""
LICENCE = "\n".join("// " + line if line else "//" for line in (ROOT / "LICENSE").read_text().rstrip().split("\n"))


def fail(sentence):
    sys.exit(f"single.py: {sentence}")


def without_comments(text):
    """C without its comments, and without the spaces inside parentheses, behind commas, keywords and pointers and around operators; strings are left alone."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[(,] +(?=\S)|(?<=\S) +\)|(?<=[;{]) (?=\S)|(?<=\w)\* (?=\w)|(?:(?<=\bif)|(?<=\bfor)|(?<=\bwhile)|(?<=\bswitch)) (?=\()|(?<=\S) (?=[{}])|(?<=\S) = (?=\S)|'
                         r'(?<=[\w)\]]) (?:[=!<>]=|&&|\|\||<<|>>|[-+*/&|^]=|[*/%<>&|^?:]) (?=[\w(])|(?<=[\w)\]])(?<![eEpP]) [-+] (?=[\w(])', re.S)
    text = pattern.sub(lambda m: " " if m[0].startswith("/") else m[0].strip() if m[0][0] in "(,* " else m[0], text)
    lines = (without_columns(line.rstrip()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def without_columns(line):
    """One space in place of four that indent, since names_of looks for what is not indented, and before the backslash that ends a line."""
    text = line.lstrip(" ")
    text = re.sub(r" +\\$", r" \\", text)
    return " " * ((len(line) - len(line.lstrip(" "))) // 4) + text


def with_lines_joined(text):
    """A brace alone on its line goes to the end of the line before, and so does any line where that ends a statement, a block or
    a part of a list, until it is long; but nothing goes to or from a directive, a macro or a comment."""
    lines = []
    joins = continues = False  # may what was read last be longer; is it a directive that goes on?
    for line in text.split("\n"):
        alone = not line or line.startswith(("#", "//"))
        if joins and not alone and (line in "{}" or (lines[-1][-1] in ";,{}(" and len(lines[-1] + line) <= LONGEST)):
            lines[-1] += line
            continue
        joins = not alone and not continues
        continues = (continues or line.startswith("#")) and line.endswith("\\")
        lines.append(line)
    return "\n".join(lines)


class Reader:
    """Files with their includes put in. A header with `#pragma once` is put in once; one that is met under a
    condition gets a guard of its own, since elsewhere the condition may not hold."""

    def __init__(self, folder, keeps_comments):
        self.folder, self.keeps_comments, self.seen = folder, keeps_comments, set()

    def read(self, path, depth=0):
        text = path.read_text()
        if not self.keeps_comments:
            text = re.sub(r"^ +CLV_VALIDATE\([^;]*\);\n", "", without_comments(text), flags=re.M)
        out = []
        lines = text.split("\n")
        # Texts of the header name each other's files: where the includes of one are over, its name is said.
        own = max((i + 1 for i, line in enumerate(lines) if QUOTED.match(line)), default=0)
        for i, line in enumerate(lines):
            if i == own and self.keeps_comments and any(lines[i:]):
                out.append(f"// ---- {path.relative_to(self.folder)}")
            word = re.match(r"\s*#\s*(\w+)", line)
            directive = word.group(1) if word else ""
            depth += directive in ("if", "ifdef", "ifndef")
            depth -= directive == "endif"
            include = QUOTED.match(line)
            if include:
                out.append(self.include(include.group(1), depth))
            elif not re.match(r"\s*#\s*pragma once", line) and "SPDX-License-Identifier" not in line:
                out.append(line)
        return "\n".join(out)

    def include(self, name, depth):
        path = self.folder / name
        if name in self.seen or name in LEFT_OUT:
            return ""
        if name.startswith("cleave/") and self.folder != PUBLIC:
            fail(f"{name} is not among the headers of the library")
        if not path.exists():
            fail(f"{name}: not found below {self.folder}")
        if "#pragma once" not in path.read_text():
            return self.read(path, depth)
        if depth == 0:
            self.seen.add(name)
            return self.read(path)
        guard = "CLV_SINGLE_" + re.sub(r"\W", "_", name).upper()
        return f"#ifndef {guard}\n#define {guard}\n{self.read(path, depth)}\n#endif"


def names_of(text):
    """What a piece of C without comments defines at its outermost level: functions, types, constants, macros."""
    names = set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M))
    body = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    names |= set(re.findall(r"^static\b[^;={}]*?\b(\w+)\s*\((?!\s*\()", body, re.M))
    names |= set(re.findall(r"^static\b[^;(={}]*?\b(\w+)(?:\s*\[[^\]]*\])*\s*=", body, re.M))
    names |= set(re.findall(r"^typedef\s+[^;{}]*?\b(\w+);", body, re.M))
    names |= set(re.findall(r"^typedef\s+struct\s+(\w+)", body, re.M))
    names |= set(re.findall(r"^[A-Z_]+\((\w+),[^;{}()]*\)$", body, re.M))  # macros that define what is named first
    for constants in re.findall(r"^enum\s*\{(.*?)\}", body, re.M | re.S):
        names |= set(re.findall(r"(?:^|,)\s*(\w+)\s*(?==|,|$)", constants))
    return names


def with_ending(text, ending):
    """Every name that the text defines with this ending, but where it is a member."""
    names = {n for n in names_of(text) if not n.startswith("__") and n != "__attribute__"}
    pattern = re.compile(r"(?<![\w.])(?<!->)(" + "|".join(sorted(names, key=len, reverse=True)) + r")\b")
    return pattern.sub(lambda m: f"{m.group(1)}_{ending}", text)


def main():
    if len(sys.argv) < 4:
        fail("usage: single.py OUT VERSION FILE.c ...")
    out, version, files = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    out.mkdir(parents=True, exist_ok=True)
    public = Reader(PUBLIC, True)
    header = public.include("cleave/cleave.h", 0)
    header += public.include("cleave/method.h", 0)  # a method of one's own
    (out / "cleave.h").write_text(
        BANNER.format(version=version, what="boxes in, every overlapping pair out") + LICENCE + "\n#pragma once\n" +
        re.sub(r"\n{3,}", "\n\n", header) + "\n")

    private = Reader(PRIVATE, False)
    private.seen = set(public.seen)
    # First, as it has to come before any header of the system.
    source = [QUIET, private.include("base/exact.h", 0), FAST, '#include "cleave.h"', "\n".join(f"typedef {long} {short};" for long, short in TYPES.items()), UNUSED, JOINED]
    for name in files:
        ending = ENDINGS.get(pathlib.Path(name).stem.rsplit("_", 1)[-1])
        text = private.read(ROOT / name)
        if ending:
            text = with_ending(text, ending)
        text = re.sub(r"\b(" + "|".join(TYPES) + r")\b", lambda m: TYPES[m[1]], text)
        source.append(f"// ---- {name}\n{text}")
    (out / "cleave.c").write_text(
        BANNER.format(version=version, what="its core: pairs and questions; cleave.h tells how it is called, "
                      "the repository how it works") + with_lines_joined(re.sub(r"^ +", "", "\n".join(source), flags=re.M)) + "\n")


main()
