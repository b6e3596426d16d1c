# SPDX-License-Identifier: MIT
# A thin front for CMake: `make help` tells what there is.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
BUILD := build
CLEAVE := $(BUILD)/cleave
SANITIZED := asan ubsan tsan

.PHONY: all help setup demo test test-release test-debug $(addprefix test-,$(SANITIZED)) test-scalar-only format clean

all: setup
	@cmake --preset release >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)

help:
	@echo "make         build $(CLEAVE) and the libraries"
	@echo "make demo    build, bake a small scene, run every method on it, show that all agree"
	@echo "make test    all tests: release, debug, address, undefined-behaviour and thread sanitizers, scalar only"
	@echo "make format  clang-format over the tree"
	@echo "make clean   remove $(BUILD)"

setup:
	@scripts/setup.sh build

demo: all
	@scripts/demo.sh $(CLEAVE)

test: test-release test-debug $(addprefix test-,$(SANITIZED)) test-scalar-only
	@echo "all tests passed"

setup-test:
	@scripts/setup.sh test

test-%: setup-test
	@echo "== $*"
	@cmake --preset $* >/dev/null
	@cmake --build --preset $* -j $(JOBS)
	@ctest --preset $* -j $(JOBS) -LE long

format:
	@git ls-files '*.c' '*.h' '*.cpp' | grep -v '^extern/' | xargs clang-format -i

clean:
	@rm -rf $(BUILD)
