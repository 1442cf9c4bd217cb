#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/promises.md has every sentence of pigment.h, tests/promises_host.md of pigment_host.h: those that promise something with the tests that hold it, the others with what they are.

A sentence is what the header's comments say between full stops, colons and semicolons before a capital letter; a row of the table of objects is one, too. Tests are named
as in complaints.md. `--self-test` shows that each kind of fault is found; `--list` prints the sentences.
"""

import pathlib
import re
import sys
import tempfile

import check_complaints

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / "c_api/include/pigment"
PAGES = {HEADERS / "pigment.h": ROOT / "tests/promises.md", HEADERS / "pigment_host.h": ROOT / "tests/promises_host.md"}
HEADS = ("sentence", "---")

# What a sentence may be that no test holds.
KINDS = {
    "a name": "says what something is called or where it stands, which compiling it shows",
    "a demand": "says what the caller must do",
    "no test yet": "promises something, and a test is wanted",
    "an explanation": "says nothing that the sentences around it do not promise",
}


def sentences(text):
    found = []
    for comment in re.findall(r"/\*(.*?)\*/", text, re.DOTALL):
        if re.match(r"\s*(-{3,}|SPDX)", comment):
            continue
        running = []
        for line in comment.splitlines():
            line = re.sub(r"^\s*\*\s?(?: *- (?=[A-Z`]))?", "", line)
            if re.search(r"\S {3,}\S.* {3,}\S", line):  # a row of a table
                found.append(squeeze(line))
                continue
            running.append(re.sub(r"^\s*\d+\.\s+", "", line))
            if not line.strip():
                running.append(". ")
        for sentence in re.split(r"(?<=[.;:])\s+(?=[A-Z`])", squeeze(" ".join(running))):
            if re.search(r"\w", sentence) and not re.fullmatch(r"Since 0\.\d\.?|ARROW_\w+|PIGMENT_\w+_H", sentence):
                found.append(sentence.strip(" ."))
    return list(dict.fromkeys(found))


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def rows(page):
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("| "):
            sentence, last = re.split(r" (?<!\\)\| ", line.removeprefix("| ").removesuffix(" |"), maxsplit=1)
            if not sentence.startswith(HEADS):
                yield number, sentence.removeprefix("`` ").removesuffix(" ``").replace("\\|", "|"), last


def findings(header, page, root):
    wanted = sentences(header.read_text(encoding="utf-8"))
    seen = {}
    for number, sentence, last in rows(page):
        if sentence in seen:
            yield f"{page.name}:{number}: stands there twice"
        seen[sentence] = number
        if sentence not in wanted:
            yield f"{page.name}:{number}: the header does not say \"{sentence}\""
        if last in KINDS:
            continue
        for test in re.split(r"; (?=`)", last):
            named = check_complaints.TEST.fullmatch(test)
            if not named:
                yield f"{page.name}:{number}: no test is named by \"{test}\""
            elif not (root / named[1]).is_file():
                yield f"{page.name}:{number}: {named[1]} is not there"
            elif not check_complaints.has_test(root / named[1], named[2]):
                yield f"{page.name}:{number}: {named[1]} has no {named[2]}"
    for sentence in wanted:
        if sentence not in seen:
            yield f"{header.name} says what {page.name} has not: {sentence}"
    if not wanted:
        yield f"{header.name} says nothing"


GOOD_HEADER = """/* SPDX-License-Identifier: X */
/* ---- Title ---- */
/*  1. One is
 *     kept. Two is: not
 *  name     made by      ended by
 */
int f(void); /* a | b. Since 0.2. */
"""
GOOD_PAGE = """| sentence | tests |
|---|---|
| `` One is kept `` | `a.cc` Suite.Case |
| `` Two is: not `` | a demand |
| `` name made by ended by `` | a name |
| `` a \\| b `` | `a.cc` Suite.Case; `a.cc` Suite.Other |
"""
FAULTS = [
    ("One is kept", "One is lost", 2), ("Suite.Case |", "Suite.None |", 1), ("`a.cc` Suite.Other", "soon", 1), ("a demand", "a wish", 1),
    ("| `` Two is: not `` | a demand |\n", "", 1), ("`a.cc` Suite.Case;", "`b.cc` Suite.Case;", 1),
]


def self_test():
    with tempfile.TemporaryDirectory(prefix="pigment-promises.") as name:
        root = pathlib.Path(name)
        (root / "a.cc").write_text("TEST(Suite, Case) {}\nTEST(Suite, Other) {}\n", encoding="utf-8")
        header, page = root / "h.h", root / "page.md"
        header.write_text(GOOD_HEADER, encoding="utf-8")
        page.write_text(GOOD_PAGE, encoding="utf-8")
        wrong = list(findings(header, page, root))
        for old, new, count in FAULTS:
            assert old in GOOD_PAGE
            page.write_text(GOOD_PAGE.replace(old, new), encoding="utf-8")
            found = list(findings(header, page, root))
            if len(found) != count:
                wrong.append(f"planted {new!r}: found {found}")
    return wrong


def main():
    if sys.argv[1:] == ["--list"]:
        for header in PAGES:
            print("\n".join(sentences(header.read_text(encoding="utf-8"))))
        return 0
    if "--self-test" in sys.argv:
        found = self_test()
    else:
        found = [finding for header, page in PAGES.items() for finding in findings(header, page, ROOT)]
        found += [f"{header.name} has no page" for header in HEADERS.glob("*.h") if header not in PAGES]
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
