# The short way to everything; cmake --preset ... is the long one. `make help` lists the targets.
WERROR ?= OFF
PREFIX ?= /usr/local
PAPERS ?= short
BENCH_FLAGS ?=
DEVICE_FLAGS ?=

TIME ?= 600

.PHONY: help run build build-tests test test-all test-release docs gallery install bench bench-siconos bench-soft device-check format lint \
	coverage fuzz attack soak sbom reproduce clean

help:
	@echo "make run               build Talus and run the hopper scene into runs/hopper-<n>"
	@echo "make test              build with asserts and run the tests (6 minutes on two cores)"
	@echo "make test-all          all tests, long ones and those of the release program too (13 minutes)"
	@echo "make docs              build the documentation, build/docs/site/index.html [PAPERS=none|short|full]"
	@echo "make gallery           run all ready-made scenes and draw the pictures of docs/scene-gallery.md (15 minutes)"
	@echo "make build             build the release program, ./talus"
	@echo "make install PREFIX=   install program, library, headers and scenes [$(PREFIX)]"
	@echo "make bench             build and run the benchmarks [BENCH_FLAGS=--quick]"
	@echo "make bench-siconos     compare with Siconos on contact problems of FCLIB (5 minutes)"
	@echo "make bench-soft        compare the soft method with LAMMPS and YADE (10 minutes)"
	@echo "make device-check      compare all ready-made scenes on a graphics card with the CPU, bit for bit [DEVICE_FLAGS=--device gpu:1]"
	@echo "make format            format all C files"
	@echo "make lint              check format, include graph, public headers, clang-tidy"
	@echo "make coverage          lines and branches that the tests reach, room by room"
	@echo "make fuzz TIME=600      feed all that is read with broken input, for so many seconds in all (libFuzzer)"
	@echo "make attack            let every call of the system and every allocation fail, kill, lose power (hours)"
	@echo "make soak TIME=3600    long runs: memory, overlap, energy, size of files"
	@echo "make sbom              list what the programs are linked with, build/sbom.json (CycloneDX)"
	@echo "make reproduce         build twice and compare the bytes"
	@echo "make clean             remove build/ and ./talus (results in runs/ stay)"

build:
	@scripts/install-deps.sh build python
	cmake --preset release -DTALUS_WERROR=$(WERROR)
	cmake --build --preset release
	@ln -sfn build/release/talus talus # so that ./talus is the program, in this tree

# Every run gets a folder of its own; nothing is ever overwritten.
run: build
	@n=1; while [ -e runs/hopper-$$n ]; do n=$$((n + 1)); done; mkdir -p runs; \
	./talus run hopper -o runs/hopper-$$n

build-tests:
	@scripts/install-deps.sh build python test docs
	cmake --preset test -DTALUS_WERROR=$(WERROR)
	cmake --build --preset test

test: build-tests
	ctest --preset test --label-exclude long

test-all: build-tests
	ctest --preset test
	$(MAKE) test-release

# The program that gets installed, without asserts: the tests that call it, but the long ones and
# those of which the program with asserts tells as much.
test-release:
	@scripts/install-deps.sh build python test docs
	cmake --preset release -DTALUS_WERROR=$(WERROR) -DTALUS_PROGRAM_TESTS=ON
	cmake --build --preset release
	ctest --preset release --label-exclude 'long|papers|once'

docs: build
	@scripts/install-deps.sh docs
	scripts/docs/build.py --talus build/release/talus --output build/docs --papers $(PAPERS)

gallery: build
	@scripts/install-deps.sh docs
	scripts/draw-gallery.py build/release/talus

install:
	@scripts/install-deps.sh build python
	cmake --preset release -DCMAKE_INSTALL_PREFIX="$(abspath $(PREFIX))"
	cmake --build --preset release
	cmake --install build/release

bench:
	@scripts/install-deps.sh build
	@scripts/install-deps.sh bench || true # without Bullet the other benchmarks still run
	cmake --preset release -DTALUS_WERROR=$(WERROR)
	cmake --build --preset release --target bench
	@for program in build/release/bench/*; do \
	    if [ -x "$$program" ]; then echo "== $$program"; "$$program" $(BENCH_FLAGS) || exit 1; fi; \
	done

bench-siconos:
	@scripts/install-deps.sh build
	@scripts/install-deps.sh bench || true # without Siconos it says so and does nothing
	cmake --preset release -DTALUS_WERROR=$(WERROR)
	cmake --build --preset release --target talus_program
	/usr/bin/python3 bench/siconos/compare.py build/release/talus

bench-soft:
	@scripts/install-deps.sh build
	cmake --preset release -DTALUS_WERROR=$(WERROR)
	cmake --build --preset release --target talus_program
	/usr/bin/python3 bench/soft/compare.py build/release/talus # says what is not installed

# With a card only; without one it says so and fails. docs/gpu.md has the driver of the tests.
device-check: build
	scripts/device-check.py build/release/talus $(DEVICE_FLAGS)

format:
	@scripts/install-deps.sh ci
	scripts/check-format.sh --fix

lint:
	@scripts/install-deps.sh build test ci
	scripts/check-format.sh
	scripts/check-includes.py
	scripts/check-headers.sh
	scripts/check-outside.sh
	scripts/check-portable.sh
	scripts/check-tidy.sh

coverage:
	@scripts/install-deps.sh build python test docs coverage
	cmake --preset coverage
	cmake --build --preset coverage
	ctest --preset coverage
	scripts/coverage.py build/coverage

fuzz:
	@scripts/install-deps.sh build python ci
	cmake --preset fuzz
	cmake --build --preset fuzz -- $(patsubst fuzz/%.c,fuzz_%,$(filter-out fuzz/replay.c,$(wildcard fuzz/*.c)))
	fuzz/run.sh $(TIME)

attack: build-tests
	TALUS_ATTACK=1 ctest --preset test --timeout 36000 -V -R '^test_(faults|no_memory|view_server)$$'

soak: build
	scripts/soak.py build/release/talus --seconds $(TIME)

sbom: build
	scripts/sbom.py build/release > build/sbom.json
	@echo "build/sbom.json"

reproduce:
	scripts/check-reproducible.sh

clean:
	rm -rf build talus
