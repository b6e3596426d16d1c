# SPDX-License-Identifier: MIT
"""Builds the wheel and the sdist of cleave: a backend of PEP 517 for pip, and a program for `make python`.

Usage: backend.py wheel|sdist FOLDER

One wheel serves Python 3.11 and later (stable ABI). The library is linked into it: the archive that CLEAVE_LIBRARY names, or else all
sources of the core, compiled here. CC and CFLAGS are heeded. Needs a C compiler, Python's headers, and no package.
"""

import base64
import hashlib
import io
import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
# An sdist has the library in a folder of its own, the repository has it above.
NATIVE = HERE / "native" if (HERE / "native").is_dir() else HERE.parent.parent
WARNINGS = ["-Wall", "-Wextra"]
FLAGS = ["-std=c17", "-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections", "-ffp-contract=off", "-pthread"]


def project():
    about = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    header = (NATIVE / "include/cleave/base.h").read_text()
    about["version"] = ".".join(re.findall(r"^#define CLV_VERSION_[A-Z]+ (\d+)$", header, re.M))
    return about


def run(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 or done.stdout:
        sys.stderr.write(done.stdout)
    if done.returncode != 0:
        raise SystemExit(f"backend.py: {shlex.join(map(str, command))} failed")


def build_extension(folder):
    """The shared object, in that folder. Of it one name is visible: the one that Python calls."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    flags = FLAGS + shlex.split(os.environ.get("CFLAGS", ""))
    include = ["-I", NATIVE / "include", "-I", NATIVE / "src/core", "-isystem", sysconfig.get_path("include")]
    sources = sorted((HERE / "src").glob("*.c"))
    own = len(sources)
    libraries = [os.environ["CLEAVE_LIBRARY"]] if "CLEAVE_LIBRARY" in os.environ else []
    if not libraries:
        sources += sorted((NATIVE / "src/core").rglob("*.c"))

    def compile_one(numbered):
        number, source = numbered
        target = folder / f"{number}.o"
        run(compiler + flags + (WARNINGS if number < own else []) + include + ["-c", source, "-o", target])
        return target

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, enumerate(sources)))
    target = folder / "_cleave.abi3.so"
    run(compiler + flags + ["-shared", *objects, *libraries, "-Wl,--gc-sections", "-Wl,--exclude-libs,ALL", "-lm", "-o", target])
    return target


def metadata(about):
    return "\n".join([
        "Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {about['version']}", f"Summary: {about['description']}",
        f"License: {about['license']['text']}", f"Requires-Python: {about['requires-python']}",
        *(f"Requires-Dist: {name}" for name in about["dependencies"]), "Description-Content-Type: text/markdown", "",
        (HERE / "README.md").read_text()])


def package_files():
    return sorted(path for path in (HERE / "cleave").iterdir() if path.suffix in (".py", ".pyi", ".typed"))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    about = project()
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"cp311-abi3-{platform}"
    name = f"{about['name']}-{about['version']}"
    info = f"{name}.dist-info"
    files = {f"cleave/{path.name}": path.read_bytes() for path in package_files()}
    with tempfile.TemporaryDirectory() as folder:
        files["cleave/_cleave.abi3.so"] = build_extension(pathlib.Path(folder)).read_bytes()
    files[f"{info}/METADATA"] = metadata(about).encode()
    files[f"{info}/LICENSE"] = licence().read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: cleave\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{name}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return wheel


def licence():
    return next(path for path in (HERE / "LICENSE", NATIVE / "LICENSE") if path.exists())


def build_sdist(sdist_directory, config_settings=None):
    about = project()
    name = f"{about['name']}-{about['version']}"
    files = {"PKG-INFO": metadata(about).encode(), "LICENSE": licence().read_bytes()}
    for path in [HERE / "pyproject.toml", HERE / "backend.py", HERE / "README.md", *sorted((HERE / "test").glob("*.py")),
                 *sorted((HERE / "src").glob("*.[ch]")), *package_files()]:
        files[path.relative_to(HERE).as_posix()] = path.read_bytes()
    for path in sorted([*(NATIVE / "include/cleave").glob("*.h"), *(NATIVE / "src/core").rglob("*.[ch]"),
                        *(NATIVE / "src/core").rglob("*.inc"), *(NATIVE / "src/core").rglob("*.def")]):
        files["native/" + path.relative_to(NATIVE).as_posix()] = path.read_bytes()
    sdist = f"{name}.tar.gz"
    with tarfile.open(pathlib.Path(sdist_directory) / sdist, "w:gz") as archive:
        for path, data in files.items():
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return sdist


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def main():
    builders = {"wheel": build_wheel, "sdist": build_sdist}
    if len(sys.argv) != 3 or sys.argv[1] not in builders:
        raise SystemExit("usage: backend.py wheel|sdist FOLDER")
    os.makedirs(sys.argv[2], exist_ok=True)
    print(os.path.join(sys.argv[2], builders[sys.argv[1]](sys.argv[2])))


if __name__ == "__main__":
    main()
