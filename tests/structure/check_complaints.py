#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/complaints.md names tests that are there: every complaint has one, every file has what is named in it.

`--self-test` shows that each kind of fault is found.
"""

import json
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "tests/complaints.md"

TEST = re.compile(r"`([^`]+)` (.+)")


def has_test(path, name):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".cc":
        suite, _, case = name.partition(".")
        return bool(re.search(rf"^TEST(_F|_P)?\({re.escape(suite)},\s*{re.escape(case)}\)", text, re.MULTILINE))
    if path.suffix == ".jsonl":
        return any(json.loads(line).get("script") == name for line in text.splitlines() if line.startswith('{"script"'))
    if path.suffix == ".sql":
        return f"-- {name}" in text.splitlines()
    if path.suffix == ".py":
        return bool(re.search(rf"^(def {re.escape(name)}\(|{re.escape(name)} = )", text, re.MULTILINE))
    return False


def findings(page, root):
    complaints = 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("| ") or line == "| complaint | tests |":
            continue
        complaints += 1
        complaint, tests = line.strip("| ").split(" | ")
        for test in re.split(r"; (?=`)", tests):
            named = TEST.fullmatch(test)
            if not named:
                yield f"{page.name}:{number}: no test is named by \"{test}\""
            elif not (root / named[1]).is_file():
                yield f"{page.name}:{number}: {named[1]} is not there"
            elif not has_test(root / named[1], named[2]):
                yield f"{page.name}:{number}: {named[1]} has no {named[2]}"
    if complaints == 0:
        yield f"{page.name}: no complaint is there"


GOOD = "| complaint | tests |\n|---|---|\n| Slow | `a.cc` Suite.Case; `b.jsonl` a title; `c.sql` All of it.; `d.py` works |\n"
FAULTS = {
    "no test is named by \"soon\"": ("`a.cc` Suite.Case", "soon"),
    "z.cc is not there": ("`a.cc`", "`z.cc`"),
    "a.cc has no Suite.Other": ("Suite.Case", "Suite.Other"),
    "b.jsonl has no title": ("a title", "title"),
    "c.sql has no All": ("All of it.", "All"),
    "d.py has no work": ("works", "work"),
    "no complaint is there": (GOOD.splitlines()[2], ""),
}


def self_test():
    with tempfile.TemporaryDirectory(prefix="pigment-complaints.") as name:
        root = pathlib.Path(name)
        (root / "a.cc").write_text("TEST_F(Suite, Case) {}\n// TEST(Suite, Other)\n", encoding="utf-8")
        (root / "b.jsonl").write_text('{"script": "a title"}\n{"op": "get"}\n', encoding="utf-8")
        (root / "c.sql").write_text("-- All of it.\nSELECT 1;\n", encoding="utf-8")
        (root / "d.py").write_text("def works():\n    pass\n", encoding="utf-8")
        page = root / "page.md"
        page.write_text(GOOD, encoding="utf-8")
        wrong = list(findings(page, root))
        for fault, (old, new) in FAULTS.items():
            page.write_text(GOOD.replace(old, new), encoding="utf-8")
            found = list(findings(page, root))
            if len(found) != 1 or not found[0].endswith(fault):
                wrong.append(f"planted {new!r}: found {found}")
    return wrong


def main():
    found = self_test() if "--self-test" in sys.argv else list(findings(PAGE, ROOT))
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
