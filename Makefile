# The front door.  Every build is a CMake preset (CMakePresets.json) in build/PRESET; this file
# only names the common sequences.  `make help` lists them.

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# For bench-scale: the kernels that OpenBLAS is to run, where it does not know the processor.
CORETYPE ?=

# Where gpu-bench writes its CSV, table and picture.
OUT ?= bench/results

# Says and installs what Debian packages are missing; `make INSTALL_PACKAGES=true` leaves that out.
INSTALL_PACKAGES ?= tools/install_packages.sh

GIBBSITE = build/release/cli/gibbsite
BUILD = cmake --preset $(1) && cmake --build --preset $(1) --parallel $(JOBS)

.PHONY: help build demo test bench bench-diag bench-truncnorm bench-bounded bench-scale install deb clean \
        test-clang test-asan test-tsan test-neon test-fuzz test-install test-python test-package test-cuda test-all coverage lint format \
        gpu-build gpu-test gpu-bench

build: packages
	@$(call BUILD,release)

help:
	@echo 'make build         build the library, the program and the tests in build/release'
	@echo 'make demo          build, then sample a model of the 48 contiguous US states'
	@echo 'make test          build, then run the tests that need Debian packages alone'
	@echo 'make bench         build and run the benchmarks (BENCH_OPTIONS=--quick for a first look)'
	@echo 'make bench-scale   threads, few chains and many sites beside bandwidth and OpenBLAS (quiet machine)'
	@echo 'make bench-diag    time the diagnostics beside those of R'"'"'s posterior'
	@echo 'make bench-bounded  sweeps between bounds beside R'"'"'s tmvtnorm'
	@echo 'make bench-truncnorm   draws between bounds beside R'"'"'s msm and truncnorm'
	@echo 'make install       install below PREFIX ($(PREFIX)), staged in DESTDIR if given'
	@echo 'make deb           a Debian package, build/gibbsite_VERSION_ARCHITECTURE.deb'
	@echo 'make test-clang    the same tests, built by clang'
	@echo 'make test-asan     the same tests under AddressSanitizer and UBSan'
	@echo 'make test-tsan     the tests with threads under ThreadSanitizer'
	@echo 'make test-fuzz     fuzz every reader for FUZZ_SECONDS ($(FUZZ_SECONDS)) in all (needs clang)'
	@echo 'make test-neon     the tests of the kernels on 64-bit Arm, under qemu'
	@echo 'make test-install  install into a scratch folder and build programs against that copy'
	@echo 'make test-python   compare with PyTorch and ArviZ in .venv (downloads them)'
	@echo 'make test-package  the Python package and its op in .venv'
	@echo 'make test-cuda     build the CUDA library (needs nvcc) and test what needs no GPU'
	@echo 'make gpu-test      all tests on this machine'"'"'s GPU'
	@echo 'make gpu-bench     its speed, to OUT ($(OUT)); BENCH_OPTIONS=--quick for a first look'
	@echo 'make test-all      all of the tests above, as .ci/run does'
	@echo 'make coverage      line coverage of the tests; make lint: clang-format and clang-tidy'
	@echo 'make format        lay the code out by clang-format; make clean: remove build'

.PHONY: packages packages-clang packages-install packages-python packages-lint packages-coverage packages-bench packages-bench-scale packages-bench-diag packages-bench-truncnorm packages-bench-bounded packages-neon
packages:
	@$(INSTALL_PACKAGES) build
packages-clang packages-install packages-python packages-lint packages-coverage packages-bench packages-bench-scale packages-bench-diag packages-bench-truncnorm packages-bench-bounded packages-neon: packages-%:
	@$(INSTALL_PACKAGES) build $*

demo: packages
	@$(call BUILD,release) --target gibbsite
	@tools/demo.sh $(GIBBSITE)

test: build
	@tools/run_tests.sh release $(JOBS)

test-clang: packages-clang
	@$(call BUILD,clang)
	@tools/run_tests.sh clang $(JOBS)

test-asan test-tsan: test-%: packages
	@$(call BUILD,$*)
	@tools/run_tests.sh $* $(JOBS)

# Seconds of all readers together.
FUZZ_SECONDS ?= 600
# 64-bit Arm, compiled here and run under an emulator.
test-neon: packages-neon
	@$(call BUILD,neon)
	@tools/run_tests.sh neon $(JOBS)

test-fuzz: packages-clang
	@$(INSTALL_PACKAGES) fuzz
	@if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	    clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null; then \
	    $(call BUILD,fuzz) && tests/fuzz/run.sh build/fuzz $(FUZZ_SECONDS) $(JOBS); \
	else echo 'skipped: this clang has no libFuzzer'; echo '0 passed, 0 failed, 1 skipped'; fi

test-install: packages-install
	@$(call BUILD,release)
	@tests/install/test_install.sh

test-python: packages-python
	@$(call BUILD,release)
	@tools/test_python.sh

# The Python package, with the PyTorch of .venv, which test-python makes.
test-package: packages-python
	@test -x .venv/bin/python || $(MAKE) --no-print-directory test-python
	@.venv/bin/python tools/test_package.py

test-cuda:
	@tools/test_cuda.sh $(JOBS)

# These need only gcc, CMake, nvcc, and for the op Python with torch; no package is installed.
gpu-build:
	@$(call BUILD,cuda)

gpu-test: gpu-build
	@tools/test_gpu.sh build/cuda

gpu-bench: gpu-build
	@tools/gpu_package.sh build/cuda python3 bench/gpu_bench.py --out '$(OUT)' $(BENCH_OPTIONS)

test-all:
	@.ci/run

coverage: packages-coverage
	@$(call BUILD,coverage)
	@tools/run_tests.sh coverage $(JOBS)
	@tools/coverage.sh build/coverage

bench: packages packages-bench
	@$(call BUILD,bench)
	@bench/run.sh build/bench $(BENCH_OPTIONS)

# OpenBLAS reads its environment when it is loaded: only what is asked for here.
bench-scale: packages-bench-scale
	@$(call BUILD,bench) --target scale_bench
	@env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(if $(CORETYPE),OPENBLAS_CORETYPE=$(CORETYPE)) build/bench/bench/scale_bench $(BENCH_OPTIONS)

# The diagnostics beside R's posterior: two minutes.
bench-diag: packages-bench-diag
	@$(call BUILD,bench) --target diag_bench
	@Rscript bench/diag_posterior.R build/bench/bench/diag_bench

# Some minutes, R's part.
bench-bounded: packages-bench-bounded
	@$(call BUILD,bench) --target bounded_rates
	@python3 bench/compare_bounded.py build/bench

# A few minutes, R's part.
bench-truncnorm: packages-bench-truncnorm
	@$(call BUILD,bench) --target truncnorm_rates
	@python3 bench/compare_truncnorm.py build/bench

lint: packages-lint
	@$(call BUILD,release)
	@tools/lint.sh build/release

format: packages-lint
	@tools/lint.sh --files | xargs clang-format -i

# Configured for PREFIX, since the library folder's name depends on it (Debian's multiarch).
install: packages
	@cmake --preset release -DCMAKE_INSTALL_PREFIX='$(PREFIX)'
	@cmake --build --preset release --parallel $(JOBS)
	@DESTDIR='$(DESTDIR)' cmake --install build/release
	@test -n '$(DESTDIR)' || tools/after_install.sh build/release

# The library's folder and the package's own files follow the prefix, so /usr it is from the start.
deb: packages
	@$(INSTALL_PACKAGES) deb
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=/usr
	@cmake --build --preset release --parallel $(JOBS)
	@cd build/release && cpack -G DEB -B '$(CURDIR)/build'
	@ls build/gibbsite_*.deb

clean:
	rm -rf build
