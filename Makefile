# SPDX-License-Identifier: MIT
# A thin front for CMake: `make help` tells what there is.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
BUILD := build
CLEAVE := $(BUILD)/cleave
SANITIZED := asan ubsan tsan
REST := asan-clang ubsan-gcc msan
# Release runs every random case; the slower builds look at the same code with a share of them.
SCALE_release := 1
$(foreach preset,debug scalar-only $(SANITIZED) $(REST),$(eval SCALE_$(preset) := 0.25))
# Races are looked for where there are threads; everything else would only be slow, to build and to run.
RACING := task gather threads engine rest visit event hub rigid recipe query
none :=
ONLY_tsan := -R '^($(subst $(none) $(none),|,$(RACING))|mpi_workers)$$'
TARGETS_tsan := $(addprefix --target test_,$(RACING)) --target mpi_workers
# Release shares its folder with `make`, which leaves the tests out.
TESTS_release := -DCLEAVE_TESTS=ON
FOLDER_release := $(BUILD)
$(foreach preset,debug scalar-only $(SANITIZED) $(REST),$(eval FOLDER_$(preset) := $(BUILD)/$(preset)))
# Named one by one: a pattern alone would not reach targets that are .PHONY, and nothing would run.
PRESETS := release debug scalar-only $(SANITIZED) $(REST)
FUZZ_SECONDS ?= 60
SEED ?= 1
PAPERS ?= hour
STUDIES ?= short
SPEED ?= short
ISA ?=
PREFIX ?= /usr/local
DESTDIR ?=
# `make demo PEERS=yes`: other people's libraries are installed and shown too.
PEERS ?= no
# `make test ONLY=event`: the tests whose names match, in the release build alone.
ONLY ?=

.PHONY: all help setup setup-test demo test check fresh fresh-test test-release test-debug $(addprefix test-,$(SANITIZED) $(REST)) \
	test-scalar-only test-all test-long test-report papers studies setup-papers speed speed-raise instructions instructions-store worst setup-peers fuzz fuzz-mpi lint lint-quick flags other-machines coverage mutate wasm test-wasm playground install format clean

# Without the tests: what only they need must not be needed here. `make test-release` switches them on in the same folder.
all: setup
	@cmake --preset release -DCLEAVE_TESTS=OFF -DCLEAVE_FUZZ=OFF >/dev/null
	@scripts/build.sh $(BUILD) -j $(JOBS)

help:
	@echo "make         build $(CLEAVE) and the libraries; V=1 shows every command"
	@echo "make demo    the lab in two minutes: bake three scenes, run every method, show that all agree, write the page; PEERS=yes installs other people's libraries and shows them too"
	@echo "make check   the quick tests, in the release build: under a minute"
	@echo "make test    all tests: release, debug, address, undefined-behaviour and thread sanitizers, scalar only; ONLY=event for the tests of that name, in the release build alone"
	@echo "make fresh   the README's first command and its program, in a bare Debian 12; needs root and mmdebstrap"
	@echo "make fresh-test  the README's test command, in a bare Debian 12"
	@echo "make test-all  the rest too: clang's and memory sanitizers, long tests, the report's page, lint, flags, other machines, coverage, mutations, a fuzz run, the test command in a bare Debian 12"
	@echo "make studies  what paper 003 leaves open, by sweeps of cleave sim, in a quarter of an hour; STUDIES=full for the paper's size"
	@echo "make papers  the papers' figures and tables again, in an hour; PAPERS=quick or full for less or more"
	@echo "make speed   the default beside other people's libraries; fails below the floors of bench/floors.csv; SPEED=full for 128k too"
	@echo "make speed-raise  the same, and raises floors to 60 % of what was measured; never lowers one"
	@echo "make instructions  instructions per object and frame under callgrind; fails at 3 % more than bench/instructions.csv"
	@echo "make instructions-store  the same, and stores what was counted"
	@echo "make worst   scenes that hurt against ordinary ones with as many boxes and pairs; fails above three times"
	@echo "make test-report  the pages of cleave report and cleave view, in headless Chromium too"
	@echo "make fuzz    libFuzzer on calls and scene files for FUZZ_SECONDS=$(FUZZ_SECONDS)"
	@echo "make fuzz-mpi  random steps on 1 to 4 processes, each mirrored in one space, for FUZZ_SECONDS=$(FUZZ_SECONDS); SEED=$(SEED)"
	@echo "make lint    clang-format, cppcheck and clang-tidy"
	@echo "make flags   the library under flags that people use, by gcc and clang, and as plain files"
	@echo "make coverage  lines and branches of src/ that the tests reach"
	@echo "make mutate  break the library on purpose, one place at a time, and see the tests notice"
	@echo "make other-machines  aarch64, s390x, armhf under qemu, and Windows as far as it compiles"
	@echo "make wasm    the library as WebAssembly, with its JavaScript, ready for npm: $(BUILD)/wasm/js"
	@echo "make test-wasm  its tests in node: the same pairs in the same order as the C library"
	@echo "make playground  view/playground.html again, with the library as it is now as WebAssembly in it"
	@echo "make install  into PREFIX=$(PREFIX), staged under DESTDIR where one is given"
	@echo "make format  clang-format over the tree"
	@echo "make clean   remove $(BUILD)"

setup:
	@scripts/setup.sh build

ifeq ($(PEERS),yes)
all: setup-peers
endif

demo: all
	@scripts/demo.sh $(CLEAVE)

# The tests that are quick, with a quarter of the random cases: a look before `make test`, no substitute for it.
check: setup-test
	@cmake --preset release -DCLEAVE_TESTS=ON >/dev/null
	@scripts/build.sh $(BUILD) -j $(JOBS)
	@CLEAVE_TEST_SCALE=0.25 ctest --preset release -j $(JOBS) -LE 'long|report|install|slow' --progress

# A machine that cannot make a bare root says why, and that is no failure of ours: status 77.
fresh:
	-@scripts/setup.sh fresh
	@scripts/check-fresh.sh || [ $$? = 77 ]

fresh-test:
	-@scripts/setup.sh fresh
	@scripts/check-fresh.sh test || [ $$? = 77 ]

ifneq ($(ONLY),)
test: test-release
	@echo "tests matching $(ONLY) passed, in the release build"
else
test: lint-quick test-release test-debug $(addprefix test-,$(SANITIZED)) test-scalar-only
	@echo "all tests passed"
endif

test-all: test $(addprefix test-,$(REST)) test-long test-report test-wasm lint flags other-machines coverage mutate fuzz fresh-test
	@echo "all tests passed, the long ones too"

test-long: test-release
	@ctest --preset release -L long

# What is missing is named, and what needs it skipped.
# PAPERS=tiny, quick, hour or full: how much of the papers' schedules is run; scripts/papers/grades.mjs.
papers: setup-papers all
	@command -v node >/dev/null || { echo "make papers: node is missing (Debian: nodejs)" >&2; exit 2; }
	@node scripts/papers/papers.mjs --cleave $(CLEAVE) --grade $(PAPERS) --work $(BUILD)/papers

# STUDIES=tiny, short, middle or full: how large the towers are; scripts/studies/sweeps.mjs.
studies: setup-papers all
	@command -v node >/dev/null || { echo "make studies: node is missing (Debian: nodejs)" >&2; exit 2; }
	@node scripts/studies/studies.mjs --cleave $(CLEAVE) --grade $(STUDIES) --work $(BUILD)/studies

setup-papers:
	-@scripts/setup.sh papers

# Libraries that are missing are named by the run, and are no failure.
setup-peers:
	-@scripts/setup.sh peers

speed: setup-peers all
	@SPEED=$(SPEED) ISA=$(ISA) scripts/speed.sh $(CLEAVE) bench/floors.csv

speed-raise: setup-peers all
	@SPEED=$(SPEED) ISA=$(ISA) scripts/speed.sh $(CLEAVE) bench/floors.csv --raise

instructions: all
	@scripts/setup.sh instructions
	@scripts/instructions.sh count $(CLEAVE) $(BUILD)/instructions >/dev/null
	@scripts/instructions.sh compare bench/instructions.csv $(BUILD)/instructions/instructions.csv

instructions-store: all
	@scripts/setup.sh instructions
	@scripts/instructions.sh count $(CLEAVE) $(BUILD)/instructions
	@cp $(BUILD)/instructions/instructions.csv bench/instructions.csv

worst: all
	@cmake --build $(BUILD) -j $(JOBS) --target space_moments
	@$(BUILD)/bench/space_moments
	@scripts/worst.sh verify $(CLEAVE)
	@scripts/worst.sh run $(CLEAVE)

test-report: test-release
	-@scripts/setup.sh report
	@ctest --preset release -L report

setup-test:
	@scripts/setup.sh test

$(addprefix test-,$(PRESETS)): test-%: setup-test
	@echo "== $*"
	@cmake --preset $* $(TESTS_$*) >/dev/null
	@scripts/build.sh $(FOLDER_$*) -j $(JOBS) $(if $(ONLY),,$(TARGETS_$*))
	@CLEAVE_TEST_SCALE=$(SCALE_$*) ctest --preset $* -j $(JOBS) $(if $(ONLY),-R '$(ONLY)',-LE 'long|report' $(ONLY_$*))

lint-quick: setup-test
	@JOBS=$(JOBS) scripts/lint.sh --quick

lint:
	@scripts/setup.sh lint
	@JOBS=$(JOBS) scripts/lint.sh $(BUILD)/lint

flags: test-release
	@JOBS=$(JOBS) scripts/check-flags.sh $(BUILD)

fuzz: setup-test
	@JOBS=$(JOBS) scripts/fuzz.sh $(FUZZ_SECONDS)

# Needs MPI; a life that fails names its seed, and `make fuzz-mpi SEED=n FUZZ_SECONDS=0` lives that one again.
fuzz-mpi: setup-test
	@cmake --preset release -DCLEAVE_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target fuzz_mpi
	@for count in 4 3 2; do MPI_SECONDS=$$(($(FUZZ_SECONDS) + 300)) scripts/check-mpi.sh $(BUILD)/test/fuzz_mpi $$count $(SEED) $$(($(FUZZ_SECONDS) / 3)) || exit 1; done

other-machines:
	-@scripts/setup.sh machines
	@JOBS=$(JOBS) scripts/other-machines.sh $(BUILD)/other

coverage:
	@scripts/setup.sh coverage
	@JOBS=$(JOBS) scripts/coverage.sh $(BUILD)/coverage

mutate: setup-test
	@JOBS=$(JOBS) scripts/mutate.sh $(BUILD)/mutate

wasm:
	@scripts/setup.sh wasm
	@JOBS=$(JOBS) scripts/wasm.sh build $(abspath $(BUILD))/wasm

test-wasm: all
	@scripts/setup.sh wasm
	@JOBS=$(JOBS) scripts/wasm.sh test $(abspath $(BUILD))/wasm $(abspath $(CLEAVE)) $(abspath $(BUILD))
	@JOBS=$(JOBS) scripts/wasm.sh playground $(abspath $(BUILD))/wasm --check || [ $$? = 77 ]

playground:
	@scripts/setup.sh wasm
	@scripts/setup.sh report
	@JOBS=$(JOBS) scripts/wasm.sh playground $(abspath $(BUILD))/wasm

# In a folder of its own: what is installed and nothing else, without -Werror, and the build of whoever works here stays.
install: setup
	@cmake -S . -B $(BUILD)/install -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$(PREFIX) \
		-DCLEAVE_TESTS=OFF -DCLEAVE_FUZZ=OFF -DCLEAVE_PEERS=OFF >/dev/null
	@cmake --build $(BUILD)/install -j $(JOBS) --target cleave_static --target cleave_shared --target cleave_methods_static \
		--target cleave_methods_shared --target cleave_physics_static --target cleave_physics_shared --target cleave
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD)/install

format:
	@git ls-files '*.c' '*.h' '*.cpp' | grep -v '^extern/' | xargs clang-format -i

clean:
	@rm -rf $(BUILD)
