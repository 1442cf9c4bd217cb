# Thin names for people; CMakeLists.txt is the build. `make help` lists what there is.

.PHONY: help build format clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## build       everything of the release preset, into build/release             5 min, then seconds
build:
	cmake --preset release
	cmake --build --preset release

## format      clang-format over the C++ sources, in place                     10 s
format:
	git ls-files '*.cc' '*.h' ':!extension' | xargs -r clang-format -i

## clean       remove build/                                                    1 s
clean:
	rm -rf build
