#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles alone, as C99 and as C++, with every compiler that is installed, and twice in a row.

And each function has words: a comment before it, behind it, or before the lines of functions that it stands among. `--self-test` shows that one
without is found.
"""

import pathlib
import re
import shutil
import subprocess
import sys

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "c_api/include"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
LANGUAGES = [("c", "c99"), ("c", "c17"), ("c++", "c++11"), ("c++", "c++20")]

TITLE = re.compile(r"/\* -{3,}")
PIECE = re.compile(r"/\*.*?\*/|PIGMENT_API[^;]*;|typedef [^;{]*;|(?:typedef )?struct \w+ \{.*?\}[^;]*;|enum \{.*?\};|^#.*?$|\n[ \t]*\n", re.DOTALL | re.MULTILINE)


def wordless(text):
    """Functions that no comment belongs to. Titles of sections belong to none, and an empty line or another declaration ends what a comment belongs to."""
    found, has_words, last = [], False, None
    for match in PIECE.finditer(text):
        piece = match[0]
        if piece.startswith("PIGMENT_API"):
            last = re.search(r"\b(pigment_\w+)\s*\(", re.sub(r"/\*.*?\*/", "", piece, flags=re.DOTALL))[1]
            if not has_words:
                found.append(last)
        elif piece.startswith("/*"):
            line = text[:match.start()].rpartition("\n")[2]
            if "PIGMENT_API" in line or line.rstrip().endswith(";"):  # behind a declaration
                found = [name for name in found if name != last]
            else:
                has_words = not TITLE.match(piece)
        else:
            has_words, last = False, None
    return found


def self_test():
    good = "/* Says. */\nPIGMENT_API int pigment_a(void);\nPIGMENT_API int pigment_b(void);\n\nPIGMENT_API int pigment_c(void); /* so */\n"
    faults = {
        good: [],
        good.replace("/* Says. */", "/* ---- Title ---- */"): ["pigment_a", "pigment_b"],
        good.replace("/* so */", ""): ["pigment_c"],
        good.replace("/* Says. */", "/* Says. */\ntypedef struct pigment_s {\n  int a; /* b */\n} pigment_s;"): ["pigment_a", "pigment_b"],
        good.replace("(void);\nPIGMENT", "(void);\n\nPIGMENT"): ["pigment_b"],
    }
    wrong = [(text, wordless(text)) for text, expected in faults.items() if wordless(text) != expected]
    for text, found in wrong:
        print(f"self-test: {found} are said to have no words in\n{text}")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    headers = sorted(INCLUDE.rglob("*.h"))
    compilers = [c for c in ("gcc", "clang-14") if shutil.which(c)]
    if not headers or not compilers:
        print(f"nothing to check: {len(headers)} headers, {len(compilers)} compilers")
        return 1
    failed = 0
    for header in headers:
        for function in wordless(header.read_text(encoding="utf-8")):
            failed += 1
            print(f"{header.name}: nothing is said of {function}")
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
