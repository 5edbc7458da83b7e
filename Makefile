# A thin front to CMake: `make help` lists what there is. Every target installs what is missing, configures and builds by itself.

BUILD      ?= build
BUILD_TYPE ?= Release
PREFIX     ?= /usr/local
JOBS       ?= $(shell nproc 2>/dev/null || echo 2)
# Further arguments of the programs: make bench ARGS=--quick, make test ARGS=--gtest_filter='Metric.*'
ARGS       ?=

PACKAGES = cmake gcc g++ make pkg-config libqhull-dev liblapacke-dev libopenblas-serial-dev libsuitesparse-dev libccd-dev libode-dev libxml2-dev zlib1g-dev libgtest-dev libopenmpi-dev openmpi-bin

# One folder for each kind of build; a kind is configured again only when its options change.
KIND    = release
OPTIONS = -D CMAKE_BUILD_TYPE=$(BUILD_TYPE) -D PCONTACT_WERROR=$(WERROR) -D PCONTACT_SANITIZE=
DIR     = $(BUILD)/$(KIND)
# As the folder was configured before: another value would build everything anew.
WERROR ?= $(or $(shell sed -n 's/.*PCONTACT_WERROR=\([A-Z]*\).*/\1/p' $(DIR)/options 2>/dev/null),OFF)

# CMake's own make must not mistake itself for a part of this one: it would lose its parallel jobs and announce folders.
CMAKE = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake

.PHONY: help setup configure build demo test determinism analyze coverage test-hosts test-report frames figures gallery bench bench-rivals setup-rivals fuzz fuzz-build fuzz-slice fuzz-count soak faults install sanitize tsan format clean

help:
	@echo "make demo            build, and compare ODE with us on a world that balances"
	@echo "make test            build, and run all tests"
	@echo "make determinism     the same bits with 1 and 2 threads and under the preload library, nearly the same at -O0 and -O2"
	@echo "make analyze         gcc's analyzer, clang-tidy and cppcheck: a count of findings of each, which must be 0"
	@echo "make coverage        the tests with counters: how many lines of each folder of plugin/ they reach"
	@echo "make test-hosts      install and run real ODE programs under our solver, 30 seconds each"
	@echo "make test-report     open the pages that --report writes in Chromium and in Firefox (installed if missing)"
	@echo "make frames          how many frames per second a page of a thousand bodies shows without a graphics processor"
	@echo "make gallery         a page for every world of the papers, in $(BUILD)/gallery"
	@echo "make figures         the pictures of the README, from such pages"
	@echo "make bench           build, and time the metric against libccd, solvers and steps against ODE"
	@echo "make bench-rivals    install Bullet and MuJoCo, and play scenes under them as well"
	@echo "make fuzz            build with clang (installed if missing), and run each libFuzzer target for FUZZ_SECONDS ($(FUZZ_SECONDS)) under the"
	@echo "                     sanitizers; then ten million degenerate cases (about six minutes on two cores) and 20,000 damaged world files"
	@echo "                     FUZZ_METRIC, FUZZ_SDF: other arguments for the two programs, such as FUZZ_SDF='1000 7' (files, seed)"
	@echo "make fuzz-slice      five minutes of the libFuzzer targets, all together"
	@echo "make fuzz-count      the libFuzzer targets without sanitizers, EXECUTIONS ($(EXECUTIONS)) each; goes on where it was stopped"
	@echo "make soak            an hour of a wall, a thousand shakes of the Brazil nut, a million steps of worlds in which everything comes and goes"
	@echo "make faults          memory that runs out at every block, LAPACK that fails, full disks, signals, a foreign ODE"
	@echo "make install         install headers, library, tool and package files into PREFIX ($(PREFIX))"
	@echo "make sanitize        the tests under the address and undefined-behaviour sanitizers"
	@echo "make tsan            tests in which threads meet, under the thread sanitizer"
	@echo "make setup           install the Debian packages that are missing; every target above does so too"
	@echo "make format          lay out the sources by .clang-format"
	@echo "make clean           remove $(BUILD)/"
	@echo "Variables: PREFIX, BUILD, BUILD_TYPE, WERROR=ON, JOBS, ARGS (for the program that runs)."

setup:
	@bash .ci/setup $(PACKAGES)

configure: setup
	@if [ "$(OPTIONS)" != "$$(cat $(DIR)/options 2>/dev/null)" ]; then \
		echo "== configure: $(DIR)" && \
		$(CMAKE) -S . -B $(DIR) $(OPTIONS) && echo "$(OPTIONS)" > $(DIR)/options; \
	fi

build: configure
	@echo "== build: $(DIR)"
	@$(CMAKE) --build $(DIR) --parallel $(JOBS)

# Only the tool: tests and benchmarks take twice as long to build.
demo: configure
	@echo "== build: $(DIR), the tool"
	@$(CMAKE) --build $(DIR) --parallel $(JOBS) --target pcontact_tool
	@echo "== demo: pcontact compare balance2"
	@mkdir -p $(BUILD)/demo
	@$(DIR)/pcontact compare balance2 --csv $(BUILD)/demo/balance2 $(ARGS)

# The unit tests come last and by themselves: their closing line ends the output.
test: build
	@echo "== test: package and tool"
	@cd $(DIR) && ctest --output-on-failure --exclude-regex '^unit$$'
	@echo "== test: unit tests"
	@$(DIR)/pcontact_tests $(ARGS)

ANALYZED = -D CMAKE_BUILD_TYPE=Debug -D CMAKE_EXPORT_COMPILE_COMMANDS=ON -D PCONTACT_BUILD_TESTS=OFF -D PCONTACT_WERROR=OFF

analyze:
	@bash .ci/setup clang-tidy cppcheck
	@$(MAKE) --no-print-directory configure KIND=analyze OPTIONS="$(ANALYZED)"
	@echo "== analyze"
	@.ci/analyze $(BUILD)/analyze $(JOBS) $(ARGS)

coverage:
	@bash .ci/setup gcovr
	@$(MAKE) --no-print-directory coverage-build KIND=coverage OPTIONS="-D CMAKE_BUILD_TYPE=$(BUILD_TYPE) -D PCONTACT_COVERAGE=ON"
	@echo "== coverage"
	@.ci/coverage $(BUILD)/coverage $(ARGS)

coverage-build: configure
	@$(CMAKE) --build $(DIR) --parallel $(JOBS) --target pcontact_tests

# The library at -O0 and at -O2, each in a folder of its own, against the build at hand.
determinism: build
	@$(MAKE) --no-print-directory determinism-part KIND=O0 OPTIONS="$(call optimized,-O0)"
	@$(MAKE) --no-print-directory determinism-part KIND=O2 OPTIONS="$(call optimized,-O2)"
	@echo "== determinism"
	@test_worlds/package/determinism $(DIR)/host_determinism $(DIR)/libpcontact-preload.so test_worlds/hosts/golden.txt $(BUILD_TYPE) \
		$(BUILD)/O0/host_determinism $(BUILD)/O2/host_determinism

determinism-part: configure
	@$(CMAKE) --build $(DIR) --parallel $(JOBS) --target host_determinism

optimized = -D CMAKE_BUILD_TYPE=None -D CMAKE_C_FLAGS=$(1) -D PCONTACT_WERROR=OFF -D PCONTACT_SANITIZE=

test-hosts: build
	@bash .ci/setup python3-pyode mokomaze mu-cade xmoto stormbaancoureur xvfb xdotool
	@echo "== test-hosts"
	@test_worlds/hosts/run $(DIR)/pcontact $(or $(ARGS),30)

test-report: build
	@bash .ci/setup chromium firefox-esr xvfb libgl1-mesa-dri
	@echo "== test-report"
	@test_worlds/browser/run $(DIR)/pcontact $(BUILD)/browser

frames: build
	@bash .ci/setup chromium
	@echo "== frames"
	@mkdir -p $(BUILD)/frames
	@$(DIR)/pcontact run pile1000 --model quick --time 2 --quiet --report $(BUILD)/frames/pile1000.html
	@test_worlds/browser/run $(DIR)/pcontact $(BUILD)/browser frames.mjs $(BUILD)/frames/pile1000.html $(ARGS)

# The README's pictures, from pages of the tool.
figures: build
	@bash .ci/setup chromium
	@echo "== figures"
	@mkdir -p $(BUILD)/figures
	@$(DIR)/pcontact compare stack10 --time 10 --report $(BUILD)/figures/stack10.html >$(BUILD)/figures/stack10.txt
	@$(DIR)/pcontact compare balance2 --report $(BUILD)/figures/balance2.html >$(BUILD)/figures/balance2.txt
	@$(DIR)/pcontact run balance2 --quiet --report $(BUILD)/figures/balance2_lcp.html >$(BUILD)/figures/balance2_lcp.txt
	@$(DIR)/pcontact bench papers --report $(BUILD)/figures/papers.html >$(BUILD)/figures/papers.txt
	@$(DIR)/pcontact sweep grasp --report $(BUILD)/figures/grasp.html >$(BUILD)/figures/grasp.txt
	@test_worlds/browser/run $(DIR)/pcontact $(BUILD)/browser figures.mjs $(BUILD)/figures test_worlds/pictures

gallery: build
	@test_worlds/browser/gallery $(DIR)/pcontact $(BUILD)/gallery $(ARGS)

bench: build
	@echo "== bench: pcontact bench metric"
	@$(DIR)/pcontact bench metric $(ARGS)
	@echo "== bench: pcontact bench solver"
	@$(DIR)/pcontact bench solver $(ARGS)
	@echo "== bench: pcontact bench step"
	@$(DIR)/pcontact bench step $(ARGS)

bench-rivals: setup-rivals build
	@$(CMAKE) $(DIR) >/dev/null && $(CMAKE) --build $(DIR) --parallel $(JOBS) --target rivals
	@$(DIR)/pcontact bench step $(or $(ARGS),stack10 stackmass under1e4 wall55 domino20 chain10)

setup-rivals: setup
	@bash .ci/setup libbullet-dev libmujoco-dev

FUZZ_METRIC ?= $(or $(ARGS),--cases 10000000 --jobs $(JOBS))
FUZZ_SDF    ?= 20000

# Seconds of each libFuzzer target; FUZZ_TARGETS names some of them.
FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?=

# Of each, without sanitizers.
EXECUTIONS ?= 10000000

# Only the targets and what they need, under sanitizers (fuzzer) or without (fuzzer-fast).
FUZZER = fuzzer
fuzz-build: setup
	@bash .ci/setup clang libclang-rt-dev
	@$(MAKE) --no-print-directory configure KIND=$(FUZZER) OPTIONS="-D CMAKE_C_COMPILER=clang -D CMAKE_BUILD_TYPE=Release -D PCONTACT_SANITIZE=$(FUZZER)"
	@echo "== build: $(BUILD)/$(FUZZER)"
	@$(CMAKE) --build $(BUILD)/$(FUZZER) --parallel $(JOBS) --target fuzz_targets

# The same inputs each time: what it finds is of the change before it, and not somebody's luck.
fuzz-slice: fuzz-build
	@echo "== fuzz: five minutes"
	@FUZZ_SEED=1 test_worlds/fuzz/run_targets $(BUILD)/fuzzer 37s $(JOBS) $(FUZZ_TARGETS)

fuzz-count:
	@$(MAKE) --no-print-directory fuzz-build FUZZER=fuzzer-fast
	@echo "== fuzz: $(EXECUTIONS) executions each"
	@test_worlds/fuzz/run_targets $(BUILD)/fuzzer-fast $(EXECUTIONS) $(JOBS) $(FUZZ_TARGETS)

fuzz: build fuzz-build
	@echo "== fuzz: libFuzzer, $(FUZZ_SECONDS) seconds each"
	@test_worlds/fuzz/run_targets $(BUILD)/fuzzer $(FUZZ_SECONDS)s $(JOBS) $(FUZZ_TARGETS)
	@echo "== fuzz: metric_fuzz"
	@$(DIR)/metric_fuzz $(FUZZ_METRIC)
	@echo "== fuzz: sdf_fuzz"
	@if [ -x $(DIR)/sdf_fuzz ]; then $(DIR)/sdf_fuzz $(FUZZ_SDF); else echo "not built: there is no ODE"; fi

# Steps that missed their tolerance are kept in $(BUILD)/soak.
soak: build
	@mkdir -p $(BUILD)/soak
	@echo "== soak: random worlds"
	@$(DIR)/pcontact_soak random 1000000 1 dump=$(BUILD)/soak/random
	@echo "== soak: an hour of wall55"
	@$(DIR)/pcontact_soak test_worlds/peers/scenes/wall55.world 3600 dump=$(BUILD)/soak/wall55
	@echo "== soak: a thousand shakes of the Brazil nut"
	@$(DIR)/pcontact_soak test_worlds/papers/brazil_nut_balls.world 1000 shakes dump=$(BUILD)/soak/nut

faults: build
	@echo "== faults: memory, LAPACK, signals, full disks"
	@$(DIR)/pcontact_tests --gtest_filter='Faults.*:OdeFaults.*:OdeTrouble.*'
	@cd $(DIR) && ctest --output-on-failure -R '^(faults|exec)$$'

install: build
	@echo "== install: $(PREFIX)"
	@$(CMAKE) --install $(DIR) --prefix "$(abspath $(PREFIX))"

# Assertions stay on under the sanitizers: hence Debug.
sanitize:
	@$(MAKE) --no-print-directory test KIND=address OPTIONS="$(call sanitized,address)"

# Under the thread sanitizer everything takes ten to thirty times as long: only tests in which threads meet, unless ARGS says otherwise.
THREADED = *Thread*:Pool.*:StepMemory.*:StepRandom.*:OdeReports.*:OdeDestroyed.*:Sparse.ComesTo*

# The thread sanitizer's fixed address map does not fit kernels that randomize more bits than it knows: hence setarch, where it may run.
tsan:
	@$(MAKE) --no-print-directory build KIND=thread OPTIONS="$(call sanitized,thread)"
	@echo "== test: threads"
	@TSAN_OPTIONS="suppressions=.tsan $$TSAN_OPTIONS" $(shell setarch -R true 2>/dev/null && echo setarch -R) $(BUILD)/thread/pcontact_tests $(or $(ARGS),--gtest_filter='$(THREADED)')

sanitized = -D CMAKE_BUILD_TYPE=Debug -D PCONTACT_WERROR=$(WERROR) -D PCONTACT_SANITIZE=$(1)

format:
	@bash .ci/setup clang-format
	@echo "== format"
	@find include plugin adapters test_worlds \( -name '*.h' -o -name '*.c' -o -name '*.cpp' \) -exec clang-format -i {} +

clean:
	@echo "== clean: $(BUILD)/"
	@rm -rf $(BUILD)
