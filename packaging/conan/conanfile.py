# SPDX-License-Identifier: MIT
# Not tested: Conan is not in Debian. For Conan 2: conan create packaging/conan
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class CleaveRecipe(ConanFile):
    name = "cleave"
    license = "MIT"
    description = "Broad-phase collision detection: boxes in, every overlapping pair out"
    topics = ("collision-detection", "broad-phase", "spatial", "physics")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    languages = ["C"]
    implements = ["auto_shared_fpic"]

    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root(), "include", "cleave", "base.h"))
        self.version = ".".join(re.findall(r"^#define CLV_VERSION_[A-Z]+ (\d+)$", header, re.M))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, self._root(), self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("LAB", "TESTS", "FUZZ", "PEERS", "MPI"):
            toolchain.cache_variables[f"CLEAVE_{part}"] = "OFF"
        toolchain.cache_variables["CLEAVE_INSTALL"] = "ON"
        toolchain.cache_variables["CLEAVE_SHARED"] = "ON" if self.options.shared else "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="installed")

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    # CMake's own package is used: find_package( cleave COMPONENTS … ) means what docs/use-it.md says.
    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "cleave"))
