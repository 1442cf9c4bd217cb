#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles alone, as C99 and as C++, with every compiler that is installed, and twice in a row."""

import pathlib
import shutil
import subprocess
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "c_api/include"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
LANGUAGES = [("c", "c99"), ("c", "c17"), ("c++", "c++11"), ("c++", "c++20")]


def main():
    headers = sorted(INCLUDE.rglob("*.h"))
    compilers = [c for c in ("gcc", "clang-14") if shutil.which(c)]
    if not headers or not compilers:
        print(f"nothing to check: {len(headers)} headers, {len(compilers)} compilers")
        return 1
    failed = 0
    for header in headers:
        name = header.relative_to(INCLUDE).as_posix()
        source = f"#include <{name}>\n#include <{name}>\n"
        if header.name != "pigment.h":
            source += "#include <pigment/pigment.h>\n"
        for compiler in compilers:
            for language, standard in LANGUAGES:
                run = subprocess.run(
                    [compiler, "-x", language, f"-std={standard}", *WARNINGS, f"-I{INCLUDE}", "-"],
                    input=source, capture_output=True, text=True)
                if run.returncode != 0:
                    failed += 1
                    print(f"{name} with {compiler} as {standard}:\n{run.stderr}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
