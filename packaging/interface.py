#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The interface of the shared libraries as a list, and what a new version breaks and adds.

Usage: interface.py list HEADERS LIBRARY=HEADER,... [-- COMPILER FLAG...]
           prints it: exported functions with their types, sizes of structs, offsets, sizes and types of members, constants and the
           defaults of defs. HEADERS is the folder include/cleave; LIBRARY a shared library, =HEADER,... the headers that are its
       interface.py compare LIST
           compares LIST, made by `list`, with that of the last release, packaging/interface/X.Y.Z.txt. What is missing or changed
           has to be in packaging/interface/breaks.txt, what is new in packaging/interface/new.txt, with a since-line in its header
       interface.py new LIST
           writes new.txt
       interface.py release LIST
           writes packaging/interface/X.Y.Z.txt of this version, and empties the other two
Exit status: 0; 1 differences that are not written down; 2 called wrongly; 77 where lists cannot be compared: other than 64 bit ELF.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "site"))
from reference import entries, name_of  # noqa: E402

FOLDER = ROOT / "packaging/interface"

# What the generated program prints of a member: numbers as such, of pointers only whether they are set.
SHOW = """
#include <stddef.h>
#include <stdio.h>
static void show_real( const char* name, double value ) { printf( "default %s %.9g\\n", name, value ); }
static void show_whole( const char* name, long long value ) { printf( "default %s %lld\\n", name, value ); }
static void show_pointer( const char* name, const void* value ) { printf( "default %s %s\\n", name, value ? "set" : "NULL" ); }
#define SHOW( name, value ) _Generic( ( value ), float: show_real, double: show_real, _Bool: show_whole, int: show_whole, \\
    unsigned: show_whole, long: show_whole, unsigned long: show_whole, long long: show_whole, unsigned long long: show_whole, \\
    unsigned char: show_whole, unsigned short: show_whole, default: show_pointer )( name, value )
"""


def fail(text, status=1):
    print(f"interface.py: {text}", file=sys.stderr)
    sys.exit(status)


def bare(code):
    """Code without comments, blanks made one."""
    return re.sub(r"\s+", " ", re.sub(r"//.*", "", code)).strip()


def version():
    return ".".join(re.findall(r"^#define CLV_VERSION_\w+ (\d+)$", (ROOT / "include/cleave/base.h").read_text(), re.M))


def types_of(arguments):
    """The types of a list of parameters, without their names."""
    out = []
    for part in arguments.split(","):
        part = part.strip()
        match = re.fullmatch(r"(.*[\w*]) ?\b(\w+)((?: ?\[\w*\])*)", part)
        keeps = not match or match[2] in ("void", "int", "float", "double", "char") or re.fullmatch(r"(const|struct|unsigned)", match[1].strip())
        out.append(part if keeps else (match[1].strip() + match[3]))
    return "( " + ", ".join(out) + " )"


def members_of(code):
    """( name, type ) of the members of a struct; those of anonymous unions are the struct's."""
    inner = bare(code)
    inner = inner[inner.index("{") + 1:inner.rindex("}")]
    for statement in re.sub(r"\b(union|struct) \{|\}", " ", inner).split(";"):
        statement = statement.strip()
        pointer = re.match(r"(.*?)\( ?\* ?(\w+) ?\) ?\((.*)\)$", statement)
        if pointer:
            yield pointer[2], f"{pointer[1].strip()} (*){types_of(pointer[3])}"
        elif statement:
            first, *others = statement.split(",")
            match = re.fullmatch(r"(.*[ *])(\w+)((?: ?\[\w+\])*)", first)
            yield match[2], match[1].strip() + match[3]
            for name in others:
                yield name.strip(), match[1].strip()


class Header:
    """What one header declares."""

    def __init__(self, path):
        self.name = path.stem
        lines = path.read_text().split("\n")
        first = next((i for i, line in enumerate(lines) if re.match(r"///|#define|#if|typedef|CLV_API|struct ", line)), len(lines))
        about = " ".join(line for line in lines[:first] if line.startswith("//"))
        self.functions, self.inlines, self.structs, self.types, self.constants, self.since = {}, {}, {}, {}, [], {}
        comment = []
        declared = list(entries(lines))
        declared += [([], line) for line in lines if re.match(r"#define CLV_\w+ ", line) and line not in [code for _, code in declared]]
        for above, code in declared:
            comment = above or comment  # several functions may share what is said above the first
            text, name = bare(code), name_of(code)
            said = about + " " + " ".join(comment)
            names = [name]
            if text.startswith("CLV_API") or text.startswith("static inline"):
                table = self.functions if text.startswith("CLV_API") else self.inlines
                match = re.match(r"(?:CLV_API|static inline) (.*?[ *]) ?(clv_\w+) ?\((.*?)\)", text)
                table[match[2]] = match[1].strip() + " " + types_of(match[3])
                names = [match[2]]
            elif text.startswith("typedef enum"):
                names = re.findall(r"\b(CLV_\w+)\s*(?=[=,}])", text)
                self.constants += names
                names.append(name)
                self.types[name] = "enum"
            elif re.match(r"typedef (struct|union) \w+ \{|struct \w+ \{", text):
                self.structs[name] = list(members_of(code))
            elif text.startswith("typedef struct"):
                self.types[name] = "opaque"
            elif text.startswith("typedef"):
                match = re.match(r"typedef (.*?[ *]) ?\(? ?\*? ?(clv_\w+) ?\)? ?\((.*)\);", text)
                self.types[name] = match[1].strip() + " " + types_of(match[3]) if match else text[8:-1]
            elif re.match(r"#define CLV_\w+ (\d|0x|U?INT)", text) and "VERSION_M" not in text and "VERSION_P" not in text:
                self.constants.append(name)
            else:
                continue
            for each in names:
                trailing = "".join(line for line in code.split("\n") if re.match(rf"\s*{each}\b", line))
                self.since[each] = said + trailing
            for member, _ in self.structs.get(name, []):
                trailing = "".join(line for line in code.split("\n") if re.search(rf"\b{member}\b.*;", line))
                self.since[f"{name}.{member}"] = said + trailing


def shown(structs, kind, path, value):
    """The lines of C that print a default, struct in struct."""
    for member, kind in structs[kind]:
        where = f"{path}.{member}"
        if member in ("size", "cookie"):
            continue
        if kind in structs:
            yield from shown(structs, kind, where, f"{value}.{member}")
        elif "[" not in kind:
            yield f'SHOW( "{where}", {value}.{member} );'


def make_list(folder, parts, compiler):
    libraries = [part.split("=") for part in parts]
    headers = {name: Header(folder / f"{name}.h") for _, names in libraries for name in names.split(",") if (folder / f"{name}.h").exists()}
    structs = {name: members for header in headers.values() for name, members in header.structs.items()}
    out = []
    for library, names in libraries:
        label = re.sub(r"^lib|\.so.*$", "", pathlib.Path(library).name)
        nm = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        exported = set(re.findall(r" T (clv_\w+)", nm))
        mine = [headers[name] for name in names.split(",") if name in headers]
        code = [f"#include <cleave/{header.name}.h>" for header in mine] + [SHOW, "int main( void )\n{"]
        if label == "cleave-mpi":
            code.insert(len(mine), "#ifndef OPEN_MPI\n#error the list is that of Open MPI\n#endif")
        found = []
        for header in mine:
            found += [f"function {name} {label}: {kind}" for name, kind in header.functions.items() if name in exported]
            exported -= set(header.functions)
            found += [f"inline {name} {kind}" for name, kind in header.inlines.items()]
            found += [f"type {name} {kind}" for name, kind in header.types.items()]
            for name, members in header.structs.items():
                code.append(f'printf( "struct {name} %zu\\n", sizeof( {name} ) );')
                code += [f'printf( "member {name}.{member} %zu %zu {kind}\\n", offsetof( {name}, {member} ), sizeof( ( ({name}*)NULL )->{member} ) );'
                         for member, kind in members]
            code += [f'printf( "constant {name} %lld\\n", (long long)( {name} ) );' for name in header.constants]
            for name, kind in {**header.functions, **header.inlines}.items():
                made = kind.split(" (")[0]
                if re.fullmatch(r"clv_default_\w+", name) and kind.endswith("( void )") and made in structs:
                    code += [f"{{ {made} value = {name}();", *shown(structs, made, made, "value"), "}"]
        if exported:
            fail(f"{library} exports {', '.join(sorted(exported))}, which no header declares")
        code.append("return 0;\n}")
        with tempfile.TemporaryDirectory() as temporary:
            source, program = f"{temporary}/interface.c", f"{temporary}/interface"
            pathlib.Path(source).write_text("\n".join(code))
            places = sorted({str(pathlib.Path(other).resolve().parent) for other, _ in libraries})
            command = [*compiler, "-std=c17", "-w", "-I", str(folder.parent), source, *[each for each, _ in libraries], *[f"-Wl,-rpath,{place}" for place in places], "-o", program]
            made = subprocess.run(command, capture_output=True, text=True)
            if "Open MPI" in made.stderr:
                print(f"interface.py: {label} is left out: its list was made with Open MPI, and this is another", file=sys.stderr)
                continue
            if made.returncode != 0:
                fail(f"the program of {label} does not compile:\n{made.stderr[-4000:]}")
            said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        out += [f"library {label}", *sorted(found + said.split("\n")[:-1])]
    return out


def read_list(path):
    """( libraries, key: value ), a key as `member clv_pair.a`."""
    libraries, items, label = [], {}, None
    for line in path.read_text().split("\n"):
        kind, _, rest = line.partition(" ")
        if kind == "library":
            label = rest
            libraries.append(rest)
        elif line and not line.startswith("#"):
            name, _, value = rest.partition(" ")
            items[f"{kind} {name}"] = (label, value)
    return libraries, items


def name_in(key):
    return key.split(" ")[1]


def released():
    lists = [(tuple(map(int, path.stem.split("."))), path) for path in FOLDER.glob("[0-9]*.txt")]
    return max(lists)[1]


def new_names(old, now):
    """Names that the last release has not; of new structs not their members."""
    fresh = [key for key in now if key not in old]
    structs = {name_in(key) for key in fresh if key.startswith("struct ")}
    return sorted({name_in(key) for key in fresh if not key.startswith("default ") and name_in(key).split(".")[0] not in structs} | structs)


def lines_of(name):
    return [line.rstrip() for line in (FOLDER / name).read_text().split("\n") if line.strip() and not line.startswith("#")]


def breaks_section():
    """The part of CHANGELOG.md about what this version breaks, as one line."""
    text = (ROOT / "CHANGELOG.md").read_text()
    match = re.search(rf"^## {re.escape(version())}\b.*?(?=^## |\Z)", text, re.M | re.S)
    part = re.search(r"^### Breaks\n(.*?)(?=^### |\Z)", match[0], re.M | re.S) if match else None
    return re.sub(r"\s+", " ", part[1]) if part else ""


def compare(path):
    last = released()
    old_libraries, old = read_list(last)
    libraries, now = read_list(path)
    old = {key: value for key, value in old.items() if value[0] in libraries}
    wrong, used = [], set()
    allowed = dict(line.split(": ", 1) for line in lines_of("breaks.txt"))
    for key, (_, value) in sorted(old.items()):
        if key in now and now[key][1] == value:
            continue
        name = name_in(key)
        reason = next((each for each in (key, name, name.split(".")[0]) if each in allowed), None)
        used.add(reason)
        if reason is None:
            wrong.append(f"{key} is {'missing' if key not in now else 'now ' + now[key][1]}; {last.stem} has {value}. Put it back, or write it into "
                         "packaging/interface/breaks.txt and CHANGELOG.md")
    section = breaks_section()
    for name, sentence in allowed.items():
        if name not in used and set(old_libraries) <= set(libraries):
            wrong.append(f"breaks.txt names {name}, which is as in {last.stem}")
        if sentence not in section:
            wrong.append(f"CHANGELOG.md, {version()}, 'Breaks' does not say of {name}: {sentence}")
    listed, fresh = set(lines_of("new.txt")), set(new_names(old, now))
    wrong += [f"{name} is new and not in packaging/interface/new.txt (interface.py new writes it)" for name in sorted(fresh - listed)]
    if set(old_libraries) <= set(libraries):
        wrong += [f"new.txt names {name}, which is not new" for name in sorted(listed - fresh)]
    since = {}
    for header in (ROOT / "include/cleave").glob("*.h"):
        since.update(Header(header).since)
    wrong += [f"{name} has no line 'Since {version()}.' in its header" for name in sorted(fresh) if f"ince {version()}" not in since.get(name, "")]
    for line in wrong:
        print(f"interface.py: {line}", file=sys.stderr)
    if wrong:
        sys.exit(1)
    print(f"interface.py: {len(old)} lines of {last.stem} in {', '.join(libraries)}; {len(allowed)} breaks and {len(fresh)} new names, all written down")


def write_names(text, names, head):
    (FOLDER / text).write_text("".join(f"# {line}\n" for line in head) + "".join(f"{name}\n" for name in names))


def write_new(path):
    names = new_names(read_list(released())[1], read_list(path)[1])
    write_names("new.txt", names, [f"What the next version has and {released().stem} has not; written by `packaging/interface.py new`, which `make interface` calls."])
    print(f"interface.py: {len(names)} new names")


def release(path):
    (FOLDER / f"{version()}.txt").write_text(f"# The interface of Cleave {version()} on 64 bit ELF; written by packaging/interface.py, never edited.\n" + path.read_text())
    write_names("new.txt", [], ["What the next version has and the last has not; written by `packaging/interface.py new`, which `make interface` calls."])
    write_names("breaks.txt", [], ["What the next version breaks: NAME: a sentence of CHANGELOG.md. A struct's name stands for its members and defaults, `struct NAME` for its size alone."])


def main():
    words = sys.argv[1:]
    if len(words) >= 3 and words[0] == "list":
        end = words.index("--") if "--" in words else len(words)
        if sys.byteorder != "little" or sys.maxsize < 2**32 or not sys.platform.startswith("linux"):
            fail("lists are of 64 bit ELF, little end first", 77)
        print("\n".join(make_list(pathlib.Path(words[1]), words[2:end], words[end + 1:] or ["cc"])))
    elif len(words) == 2 and words[0] in ("compare", "new", "release"):
        {"compare": compare, "new": write_new, "release": release}[words[0]](pathlib.Path(words[1]))
    else:
        fail(__doc__.split("\n\n")[1], 2)


main()
