# Thin names for people; CMakeLists.txt is the build and scripts/ does the work.

# Budgets are for two cores, from nothing and then again; installing packages for the first time adds some minutes.

.PHONY: help quickstart check build test soak tsan clang fuzz bench bench-vectors bench-filters bench-postgres bench-bindings packages wheel crates jar format install clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## quickstart  real text into both homes, questions to both, side by side         10 min, again 1 min
quickstart:
	@examples/quickstart/run

## check       build, every test, sanitizers, PostgreSQL; last line: counts       60 min, again 35 min
check:
	@scripts/check

## build       library, extension, tests and examples into build/release          10 min, again seconds
build:
	@scripts/install-deps build postgres
	@[ -f build/release/build.ninja ] || cmake --preset release
	@cmake --build --preset release

## test        build, then the tests without server and sanitizers                10 min, again 2 min
test:
	@scripts/check --quick

## soak        ten times harness and peers of check; sanitized tools; asserts     120 min, after the build
soak:
	@scripts/install-deps build postgres
	@scripts/check --effort 10 --stage build harness peers build-asserts asserts build-asan harness-asan tools-asan bindings-asan

## tsan        engine and ABI tests under the thread sanitizer                    15 min, again 5 min
tsan:
	@scripts/install-deps build postgres
	@scripts/check --stage build-tsan tsan

## clang       the second compiler: build, tests, symbols                         10 min, again 2 min
clang:
	@scripts/install-deps build postgres
	@scripts/check --stage build-clang clang

## fuzz        libFuzzer on every target, FUZZ_SECONDS each (600)                 10 min per target
fuzz:
	@scripts/fuzz $(FUZZ_SECONDS)

## bench       search beside NumPy and faiss, storage beside Chroma; ../shared/data 20 min, after the build
bench:
	@scripts/bench

## bench-vectors  rates over recall beside hnswlib, usearch, faiss, Chroma        60 min, after the build
bench-vectors:
	@scripts/bench vectors

## bench-filters  filters and ranked text beside Chroma, SQLite, pg_trgm, Tantivy  10 min, after the build
bench-filters:
	@scripts/bench filters

## bench-postgres  SQL beside pgvector and sequential scans: rates, filters, changes 30 min, after the build
bench-postgres:
	@scripts/bench postgres

## bench-bindings  what Go, Rust, Java and Python cost beside C                   5 min, after the build
bench-bindings:
	@scripts/bench bindings

## packages    Debian packages of the release build, into build/packages               1 min, after the build
packages:
	@scripts/packages

## wheel, crates, jar  the same for Python, Rust and Java                         1 min each, after the build
wheel crates jar:
	@scripts/packages $@

## format      clang-format over the C++ sources, in place                        10 s
format:
	@scripts/install-deps format
	git ls-files '*.cc' '*.h' ':!extension' ':!c_api/include' | xargs -r clang-format-14 -i

## install     headers, libraries, extension into the system (DESTDIR= stages)    10 s after build
install: build
	cmake --install build/release

## clean       remove build/                                                      1 s
clean:
	rm -rf build
