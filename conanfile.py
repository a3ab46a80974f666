# SPDX-License-Identifier: Apache-2.0
"""Conan 2's recipe (docs/packaging.md). Libraries that Halftone takes from the system, LLVM among them, must be installed."""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class HalftoneRecipe(ConanFile):
    name = "halftone"
    description = "Compile-time DSL and code generator for mixed-precision kernels"
    license = "Apache-2.0"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"generator": [True, False]}  # False: no halftonec, whose place HALFTONE_HALFTONEC takes
    default_options = {"generator": True}
    exports_sources = ("CMakeLists.txt", "LICENSE", "codegen/*", "docs/CMakeLists.txt", "docs/Doxyfile.in", "docs/halftone.spdx.json",
                       "dsl/*", "encoding/*", "kernels/*", "runtime/*")

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "runtime/manifest/include/halftone/manifest/version.hpp"))
        self.version = re.search(r'kVersionOfHalftone = "(.*)"', text)[1]

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["HALFTONE_BUILD_CODEGEN"] = bool(self.options.generator)
        toolchain.cache_variables["HALFTONE_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["HALFTONE_BUILD_TESTS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package has its own HalftoneConfig.cmake
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "Halftone"))
