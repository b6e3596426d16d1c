# SPDX-License-Identifier: MIT
# A thin front for CMake: `make help` tells what there is.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
BUILD := build
.DEFAULT_GOAL := all
CLEAVE := $(BUILD)/cleave
SANITIZED := asan ubsan tsan
OTHER_SANITIZED := asan-clang ubsan-gcc msan
# Two tiers: `make test` runs TIERED without the tests that test/CMakeLists.txt labels full in that build;
# `make test-further` runs those and the presets UNTIERED; `make test-full` is both.
TIERED := release $(SANITIZED)
UNTIERED := debug scalar-only
# Release runs every random case; the slower builds look at the same code with a share of them.
SCALE_release := 1
$(foreach preset,$(UNTIERED) $(SANITIZED) $(OTHER_SANITIZED),$(eval SCALE_$(preset) := 0.25))
# Races are looked for where there are threads; everything else would only be slow, to build and to run.
RACING := task gather threads engine rest visit event hub rigid recipe query
none :=
ONLY_tsan := -R '^($(subst $(none) $(none),|,$(RACING))|mpi_workers|lives_readers)$$'
TARGETS_tsan := $(addprefix --target test_,$(RACING)) --target mpi_workers --target lives
# Release shares its folder with `make`, which leaves the tests out.
TESTS_release := -DCLEAVE_TESTS=ON
FOLDER_release := $(BUILD)
$(foreach preset,$(UNTIERED) $(SANITIZED) $(OTHER_SANITIZED),$(eval FOLDER_$(preset) := $(BUILD)/$(preset)))
# Named one by one: a pattern alone would not reach targets that are .PHONY, and nothing would run.
PRESETS := $(TIERED) $(UNTIERED) $(OTHER_SANITIZED)
FUZZ_SECONDS ?= 60
SEED ?= 1
HOURS ?= 1
STAGES ?=
PAPERS ?= hour
STUDIES ?= short
SPEED ?= short
ISA ?=
# The Python that the package is built for: `make python PYTHON=python3.12`.
PYTHON ?= python3
PREFIX ?= /usr/local
DESTDIR ?=
# `./run demo PEERS=yes`: other people's libraries are installed and shown too.
PEERS ?= no
# `make setup FOR="test report"`: purposes of scripts/setup.sh, or targets.
FOR ?= build
# `make guide WAYS='Python|Bullet'`: headings of docs/guide.md.
WAYS ?=
# `make test ONLY=event`: the tests whose names match, in the release build alone.
ONLY ?=

.PHONY: all help setup demo test test-full test-further check fresh fresh-test fresh-full $(addprefix test-,$(PRESETS)) \
	$(addprefix quick-,$(TIERED)) $(addprefix further-,$(TIERED)) test-all test-long test-report papers studies speed speed-raise instructions instructions-store worst cores fuzz fuzz-mpi lint lint-quick flags other-machines coverage mutate campaign wasm test-wasm python playground single rust dist deb site interface guide install uninstall format clean

# What a target needs installed, as purposes of scripts/setup.sh; the others need what
# those they depend on need.
NEEDS_all := build
NEEDS_worst := build
NEEDS_cores := build
NEEDS_install := build
NEEDS_single := single
NEEDS_rust := rust
NEEDS_dist := single
NEEDS_deb := deb
NEEDS_site := site
NEEDS_interface := test
NEEDS_guide := fresh
NEEDS_demo := build $(if $(filter yes,$(PEERS)),peers)
NEEDS_speed := build peers
NEEDS_speed-raise := build peers
$(foreach target,test test-full test-further check lint-quick test-long flags fuzz fuzz-mpi mutate campaign $(addprefix test-,$(PRESETS)) \
	$(addprefix quick-,$(TIERED)) $(addprefix further-,$(TIERED)),$(eval NEEDS_$(target) := test))
NEEDS_test-report := report
NEEDS_test-all := report lint coverage machines fresh wasm
NEEDS_papers := papers
NEEDS_studies := papers
NEEDS_instructions := instructions
NEEDS_instructions-store := instructions
NEEDS_fresh := fresh
NEEDS_fresh-test := fresh
NEEDS_fresh-full := fresh
NEEDS_lint := lint
NEEDS_other-machines := machines
NEEDS_coverage := coverage
NEEDS_wasm := wasm
NEEDS_test-wasm := wasm
NEEDS_python := python
NEEDS_playground := wasm report
NEEDY := $(patsubst NEEDS_%,%,$(filter NEEDS_%,$(.VARIABLES)))
PURPOSES := $(sort $(foreach target,$(NEEDY),$(NEEDS_$(target))))

# Before anything else of a target: missing packages are named, and none is installed.
$(foreach target,$(NEEDY),$(eval $(target): $(addprefix needs-,$(NEEDS_$(target)))))
$(addprefix needs-,$(PURPOSES)): needs-%:
	@scripts/setup.sh --check $*
.PHONY: $(addprefix needs-,$(PURPOSES))

# Without the tests: what only they need must not be needed here. `make test-release` switches
# them on in the same folder.
all:
	@cmake --preset release -DCLEAVE_TESTS=OFF -DCLEAVE_FUZZ=OFF >/dev/null
	@scripts/build.sh $(BUILD) -j $(JOBS)

help:
	@echo "make         build $(CLEAVE) and the libraries; V=1 shows every command"
	@echo "make setup   install Debian's packages for building, or FOR=target for a target's; no other target installs any"
	@echo "make demo    the lab in two minutes: bake three scenes, run every method, show that all agree, write the page; PEERS=yes shows other people's libraries too"
	@echo "make check   the quick tests, in the release build: under a minute"
	@echo "make test    the tests of a change, in about 11 minutes on two cores: release, and address, undefined-behaviour and thread sanitizers; ONLY=event for the tests of that name, in the release build alone"
	@echo "make test-full  every test that must pass, in about half an hour: make test, then make test-further"
	@echo "make test-further  what make test leaves out: slow tests of its builds, the debug and the scalar-only build"
	@echo "make fresh   the README's first command, its program, make install and make uninstall, in a bare Debian 12; needs root and mmdebstrap"
	@echo "make fresh-test  the same, and the README's test command there; make fresh-full: all tests there"
	@echo "make test-all  the rest too: clang's and memory sanitizers, long tests, the report's page, lint, flags, other machines, coverage, mutations, a fuzz run, the test command in a bare Debian 12"
	@echo "make studies  what the k-DOP paper leaves open, by sweeps of cleave sim, in a quarter of an hour; STUDIES=full for the paper's size"
	@echo "make papers  the papers' figures and tables again, in an hour; PAPERS=quick or full for less or more"
	@echo "make speed   the default beside other people's libraries; fails below the floors of bench/floors.csv; SPEED=full for 128k too"
	@echo "make speed-raise  the same, and raises floors to 60 % of what was measured; never lowers one"
	@echo "make instructions  instructions per object and frame under callgrind; fails at 3 % more than bench/instructions.csv"
	@echo "make instructions-store  the same, and stores what was counted"
	@echo "make cores   frames of 1, 2, 4 ... workers, as many as there are cores, and their jobs one by one, into build/cores.md; OUT=bench/cores.md to keep them"
	@echo "make worst   scenes that hurt against ordinary ones with as many boxes and pairs; fails above three times"
	@echo "make test-report  the pages of cleave report and cleave view, in headless Chromium too"
	@echo "make fuzz    libFuzzer on calls and scene files for FUZZ_SECONDS=$(FUZZ_SECONDS)"
	@echo "make fuzz-mpi  random steps on 1 to 4 processes, each mirrored in one space, for FUZZ_SECONDS=$(FUZZ_SECONDS); SEED=$(SEED)"
	@echo "make lint    clang-format, cppcheck and clang-tidy"
	@echo "make flags   the library under flags that people use, by gcc and clang, and as plain files"
	@echo "make coverage  lines and branches of src/ that the tests reach"
	@echo "make mutate  break the library on purpose, one place at a time, and see the tests notice"
	@echo "make campaign  every fuzzer and random worlds against their oracles on all cores for HOURS=$(HOURS); adds to bench/trust.md; STAGES=lives,... for some"
	@echo "make other-machines  aarch64, s390x, armhf under qemu, and Windows as far as it compiles"
	@echo "make wasm    the library as WebAssembly, with its JavaScript, ready for npm: $(BUILD)/wasm/js"
	@echo "make test-wasm  its tests in node and Chromium: the same answers as the C library"
	@echo "make python  the Python package: $(BUILD)/python has a wheel for 3.11 and later and an sdist; PYTHON=python3 names the Python"
	@echo "make playground  view/playground.html again, with the library as it is now as WebAssembly in it"
	@echo "make single  the core as one header and one source file: $(BUILD)/single/cleave.h and cleave.c"
	@echo "make rust    the crates of bindings/rust and their tests, offline"
	@echo "make dist    what a release ships: a tarball, the single file and their checksums, in $(BUILD)/dist; the same tree gives the same bytes"
	@echo "make deb     Debian packages from that tarball: $(BUILD)/deb; fails where lintian finds an error"
	@echo "make site    the pages as a site of plain files, the playground first: $(BUILD)/site/index.html; nothing is fetched"
	@echo "make interface  names that the last release has not, into packaging/interface/new.txt; the test interface compares"
	@echo "make guide   every way of docs/guide.md, from nothing, in a bare Debian 12, in about a quarter of an hour, and JavaScript's after that; WAYS=\"Python|Bullet\" some of them; needs root and mmdebstrap"
	@echo "make install  headers, libraries, programs and docs into PREFIX=$(PREFIX), below DESTDIR if one is given; all of it or nothing"
	@echo "make uninstall  removes what make install put there"
	@echo "make format  clang-format over the tree"
	@echo "make clean   remove $(BUILD)"

# The one target that installs packages. A target stands for what it needs.
PLAIN := setup help format clean uninstall
UNKNOWN = $(filter-out $(NEEDY) $(PURPOSES) $(PLAIN),$(FOR))
setup:
	$(if $(UNKNOWN),$(error no target or purpose is called $(firstword $(UNKNOWN)); make help lists the targets))
	@scripts/setup.sh $(sort $(foreach what,$(FOR),$(or $(NEEDS_$(what)),$(filter $(what),$(PURPOSES)),build)))

demo: all
	@scripts/demo.sh $(CLEAVE)

# The tests that are quick, with a quarter of the random cases: a look before `make test`, no substitute for
# it.
check:
	@cmake --preset release -DCLEAVE_TESTS=ON >/dev/null
	@scripts/build.sh $(BUILD) -j $(JOBS)
	@CLEAVE_TEST_SCALE=0.25 ctest --preset release -j $(JOBS) -LE 'long|report|install|slow|full' --progress

# A machine that cannot make a bare root says why, and that is no failure of ours: status 77.
fresh:
	@scripts/check-fresh.sh || [ $$? = 77 ]

fresh-test:
	@scripts/check-fresh.sh test || [ $$? = 77 ]

fresh-full:
	@scripts/check-fresh.sh test-full || [ $$? = 77 ]

ifneq ($(ONLY),)
test test-full: test-release
	@echo "tests matching $(ONLY) passed, in the release build"
else
test: lint-quick $(addprefix quick-,$(TIERED))
	@echo "the tests passed; make test-further runs those left out, make test-full all of them"

test-full: test test-further
	@echo "all tests passed"
endif

test-further: $(addprefix further-,$(TIERED)) $(addprefix test-,$(UNTIERED))
	@echo "the tests that make test leaves out passed"

test-all: test-full $(addprefix test-,$(OTHER_SANITIZED)) test-long test-report test-wasm lint flags other-machines coverage mutate fuzz fresh-test
	@echo "all tests passed, the long ones too"

test-long: test-release
	@ctest --preset release -L long

# PAPERS=tiny, quick, hour or full: how much of the papers' schedules is run; scripts/papers/plan.mjs.
papers: all
	@node scripts/papers/papers.mjs --cleave $(CLEAVE) --grade $(PAPERS) --work $(BUILD)/papers

# STUDIES=tiny, short, middle or full: how large the towers are; scripts/studies/studies.mjs.
studies: all
	@node scripts/studies/studies.mjs --cleave $(CLEAVE) --grade $(STUDIES) --work $(BUILD)/studies

# Libraries that are missing are named, and are no failure.
speed: all
	@SPEED=$(SPEED) ISA=$(ISA) scripts/speed.sh floors $(CLEAVE) bench/floors.csv

speed-raise: all
	@SPEED=$(SPEED) ISA=$(ISA) scripts/speed.sh floors $(CLEAVE) bench/floors.csv --raise

instructions: all
	@scripts/speed.sh count $(CLEAVE) $(BUILD)/instructions >/dev/null
	@scripts/speed.sh compare bench/instructions.csv $(BUILD)/instructions/instructions.csv

instructions-store: all
	@scripts/speed.sh count $(CLEAVE) $(BUILD)/instructions
	@cp $(BUILD)/instructions/instructions.csv bench/instructions.csv

# A page about this machine, build/cores.md unless OUT names another: OUT=bench/cores.md stores it.
cores: all
	@cmake --build $(BUILD) -j $(JOBS) --target workers
	@scripts/speed.sh cores $(CLEAVE) $(or $(OUT),$(BUILD)/cores.md)
	@cat $(or $(OUT),$(BUILD)/cores.md)

worst: all
	@cmake --build $(BUILD) -j $(JOBS) --target space_moments
	@$(BUILD)/bench/space_moments
	@scripts/speed.sh verify $(CLEAVE)
	@scripts/speed.sh worst $(CLEAVE)

test-report: test-release
	@ctest --preset release -L report

# $(call run_tests,PRESET,OPTIONS): builds the preset and runs those of its tests that
# ctest picks by these options.
define run_tests
@echo "== $1"
@cmake --preset $1 $(TESTS_$1) >/dev/null
@scripts/build.sh $(FOLDER_$1) -j $(JOBS) $(if $(ONLY),,$(TARGETS_$1))
@CLEAVE_TEST_SCALE=$(SCALE_$1) ctest --preset $1 -j $(JOBS) $(if $(ONLY),-R '$(ONLY)',$2 $(ONLY_$1))
endef

$(addprefix test-,$(PRESETS)): test-%:
	$(call run_tests,$*,-LE 'long|report')

$(addprefix quick-,$(TIERED)): quick-%:
	$(call run_tests,$*,-LE 'long|report|full')

$(addprefix further-,$(TIERED)): further-%:
	$(call run_tests,$*,-L full -LE 'long|report')

lint-quick:
	@JOBS=$(JOBS) scripts/lint.sh --quick

lint:
	@JOBS=$(JOBS) scripts/lint.sh $(BUILD)/lint

flags: test-release
	@JOBS=$(JOBS) scripts/check.sh flags $(BUILD)

fuzz:
	@JOBS=$(JOBS) scripts/campaign.py fuzz $(FUZZ_SECONDS)

# Needs MPI; a life that fails names its seed and is recorded, and `make fuzz-mpi SEED=n
# FUZZ_SECONDS=0` lives that one again.
fuzz-mpi:
	@cmake --preset release -DCLEAVE_TESTS=ON >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target fuzz_mpi
	@TEST_SECONDS=$$(($(FUZZ_SECONDS) + 300)) scripts/check.sh mpi-fuzz $(BUILD)/test/fuzz_mpi "4 3 2" $(SEED) $$(($(FUZZ_SECONDS) / 3)) $(BUILD)/test/stopped-mpi.clvrec

other-machines:
	@JOBS=$(JOBS) scripts/other-machines.sh $(BUILD)/other

coverage:
	@JOBS=$(JOBS) scripts/coverage.py $(BUILD)/coverage

mutate:
	@JOBS=$(JOBS) scripts/mutate.sh $(BUILD)/mutate

# As long as there is time for: `make campaign HOURS=8`, `make campaign STAGES=lives,readers HOURS=0.1`.
campaign:
	@JOBS=$(JOBS) scripts/campaign.py --hours $(HOURS) --stages "$(STAGES)"

single: all
	@cmake --build $(BUILD) --target single >/dev/null
	@wc -c $(BUILD)/single/cleave.h $(BUILD)/single/cleave.c

dist: single
	@packaging/dist.sh $(BUILD)/single $(BUILD)/dist

deb: dist
	@JOBS=$(JOBS) packaging/deb.sh $(BUILD)/dist $(BUILD)/deb

interface:
	@cmake --preset release -DCLEAVE_TESTS=ON >/dev/null
	@MAKEFLAGS=--no-print-directory cmake --build $(BUILD) -j $(JOBS) --target interface | grep interface.py

site:
	@python3 site/build.py $(BUILD)/site
	@python3 site/build.py --check $(BUILD)/site

# A machine that cannot make a bare root says why, and that is no failure of ours: status 77.
guide:
	@WAYS='$(WAYS)' scripts/check-fresh.sh guide || [ $$? = 77 ]

rust: all
	@CLEAVE_LIB_DIR=$(abspath $(BUILD)) cargo test --offline --manifest-path bindings/rust/Cargo.toml --target-dir $(abspath $(BUILD))/rust

wasm:
	@JOBS=$(JOBS) scripts/wasm.sh build $(abspath $(BUILD))/wasm

test-wasm: all
	@JOBS=$(JOBS) scripts/wasm.sh test $(abspath $(BUILD))/wasm $(abspath $(CLEAVE)) $(abspath $(BUILD))
	@JOBS=$(JOBS) scripts/wasm.sh playground $(abspath $(BUILD))/wasm --check || [ $$? = 77 ]

# The wheel has this build's library in it; the sdist has its sources. Nothing is fetched.
python: all
	@CLEAVE_LIBRARY=$(abspath $(BUILD))/libcleave.a $(PYTHON) bindings/python/backend.py wheel $(BUILD)/python
	@$(PYTHON) bindings/python/backend.py sdist $(BUILD)/python

playground:
	@JOBS=$(JOBS) scripts/wasm.sh playground $(abspath $(BUILD))/wasm

# Built in a folder of its own: only what is installed, without -Werror, and the build in
# $(BUILD) stays as it is.
install:
	@cmake -S . -B $(BUILD)/install -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX))" \
		-DCLEAVE_TESTS=OFF -DCLEAVE_FUZZ=OFF -DCLEAVE_PEERS=OFF >/dev/null
	@scripts/build.sh $(BUILD)/install -j $(JOBS) --target installed
	@scripts/install.sh install $(BUILD)/install "$(abspath $(PREFIX))" "$(DESTDIR)"

uninstall:
	@scripts/install.sh uninstall "$(abspath $(PREFIX))" "$(DESTDIR)"

format:
	@git ls-files '*.c' '*.h' '*.cpp' '*.hpp' | grep -v '^extern/' | xargs clang-format -i

clean:
	@rm -rf $(BUILD)
