#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/complaints.md names tests that are there: every complaint has one, every file has what is named in it.

How a test is named in each kind of file is at `has_test`. `--self-test` shows that each kind of fault is found.
"""

import json
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "tests/complaints.md"

TEST = re.compile(r"`([^`]+)` (.+)")


# A statement that a TAP test only runs, and the text of it, which is no description.
RUN_SQL = re.compile(r"""\b(?:\w*psql|append_conf)\((?:'[\w.]+'|\$\w+), (?P<quote>['"]).*?(?P=quote)\)""")


def has_description(text, name):
    """TAP: as it stands in the source, the last argument of a call, or what that is formatted by."""
    called = re.compile(rf"""(['"]){re.escape(name)}\1\)|\bsprintf\((['"]){re.escape(name)}\2,""")
    return any(called.search(RUN_SQL.sub("", line)) for line in text.splitlines() if not line.lstrip().startswith("#"))


def has_member(text, name):
    """Python: a function or a constant of the module, or a method after the name of its class and a point."""
    owner, _, member = name.rpartition(".")
    if owner:
        held = re.search(rf"^class {re.escape(owner)}\b.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
        return bool(held and re.search(rf"^    (async )?def {re.escape(member)}\(", held[0], re.MULTILINE))
    return bool(re.search(rf"^((async )?def {re.escape(name)}\(|{re.escape(name)} = )", text, re.MULTILINE))


def has_marked(text, name, mark, function):
    """Java and Rust: a function under the mark of a test, with nothing but other marks and comments between."""
    return bool(re.search(rf"^\s*{mark}\n(\s*[@#/*].*\n)*\s*{function} {re.escape(name)}\(", text, re.MULTILINE))


def has_test(path, name):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".cc":
        suite, _, case = name.partition(".")
        return bool(re.search(rf"^TEST(_F|_P)?\({re.escape(suite)},\s*{re.escape(case)}\)", text, re.MULTILINE))
    if path.suffix == ".jsonl":
        return any(json.loads(line).get("script") == name for line in text.splitlines() if line.startswith('{"script"'))
    if path.suffix == ".sql":
        return f"-- {name}" in text.splitlines()
    if path.suffix == ".spec":
        return f"# {name}" in text.splitlines() or f"permutation {name}" in text.splitlines()
    if path.suffix == ".pl":
        return has_description(text, name)
    if path.suffix == ".py":
        return has_member(text, name) and (name.startswith("test_") or not path.name.startswith("test_"))
    if path.suffix == ".go":
        return bool(name.startswith("Test") and re.search(rf"^func {re.escape(name)}\(t \*testing\.T\)", text, re.MULTILINE))
    if path.suffix == ".java":
        return has_marked(text, name, r"@(Test|ParameterizedTest|TestFactory)\b.*", r"[\w<>\[\] ]+")
    if path.suffix == ".rs":
        return has_marked(text, name, r"#\[test\]", "fn")
    if path.suffix == "":  # a script of the shell: what it says is well
        return bool(re.search(rf"""^\s*(echo "ok |consumer "){re.escape(name)}\"""", text, re.MULTILINE))
    return False


def answers(path):
    """Of a file of SQL or a specification the answers that it is compared with, without which nobody runs it."""
    if path.parent.name in ("sql", "specs"):
        return path.parent.parent / "expected" / f"{path.stem}.out"
    return path


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
            elif not answers(root / named[1]).is_file():
                yield f"{page.name}:{number}: {named[1]} has no answers"
            elif not has_test(root / named[1], named[2]):
                yield f"{page.name}:{number}: {named[1]} has no {named[2]}"
    if complaints == 0:
        yield f"{page.name}: no complaint is there"


FILES = {
    "a.cc": "TEST_F(Suite, Case) {}\n// TEST(Suite, Other)\n",
    "b.jsonl": '{"script": "a title"}\n{"op": "get"}\n',
    "c.sql": "-- All of it.\nSELECT 1;\n",
    "d.py": "def works():\n    pass\n\n\nclass Table:\n    def compare(self):\n        pass\n\n    def change(self):\n        pass\n\n\n"
            "class Other:\n    def run(self):\n        pass\n",
    "test_d.py": "def test_works():\n    pass\n\n\ndef helper():\n    pass\n",
    "sql/e.sql": "-- In answers.\nSELECT 1;\n",
    "expected/e.out": "-- In answers.\n",
    "sql/f.sql": "-- Never run.\nSELECT 1;\n",
    "specs/g.spec": "# Both wait.\npermutation one two\n# permutation two one\n",
    "expected/g.out": "starting permutation: one two\n",
    "h.pl": "is($n->safe_psql('postgres', 'SELECT 1'), 1, \"$round: is one\") or diag($e);\n$n->safe_psql('postgres', 'VACUUM t');\n"
            "cmp_ok(1, '<', 2, sprintf('%d of them', 1));\n"
            "# is(1, 1, 'is gone');\ncompare($n, 'after all');\n",
    "i_test.go": "func TestCloses(t *testing.T) {\n}\n\nfunc helper(t *testing.T) {\n}\n\nfunc TestOfNobody() {\n}\n",
    "j.java": "  @Test\n  void closes() throws Exception {\n  }\n\n  void helper() {\n  }\n",
    "k.rs": "#[test]\n#[cfg(unix)]\nfn closes() {\n}\n\nfn helper() {\n}\n",
    "l": "echo \"ok one\"\n# echo \"ok two\"\n",
    "m.txt": "anything\n",
}
GOOD = (
    "| complaint | tests |\n|---|---|\n"
    "| Slow | `a.cc` Suite.Case; `b.jsonl` a title; `c.sql` All of it.; `d.py` works; `d.py` Table.change; `test_d.py` test_works; `sql/e.sql` In answers.; "
    "`specs/g.spec` Both wait.; `specs/g.spec` one two; `h.pl` $round: is one; `h.pl` after all; `h.pl` %d of them; `i_test.go` TestCloses; "
    "`j.java` closes; `k.rs` closes; `l` one |\n")
FAULTS = {
    "no test is named by \"soon\"": ("`a.cc` Suite.Case", "soon"),
    "z.cc is not there": ("`a.cc`", "`z.cc`"),
    "a.cc has no Suite.Other": ("Suite.Case", "Suite.Other"),
    "b.jsonl has no title": ("a title", "title"),
    "c.sql has no All": ("All of it.", "All"),
    "d.py has no work": ("`d.py` works", "`d.py` work"),
    "d.py has no Table.run": ("Table.change", "Table.run"),
    "d.py has no change": ("Table.change", "change"),
    "test_d.py has no helper": ("test_works", "helper"),
    "sql/e.sql has no Answers.": ("In answers.", "Answers."),
    "sql/f.sql has no answers": ("`sql/e.sql` In answers.", "`sql/f.sql` Never run."),
    "specs/g.spec has no Both": ("Both wait.", "Both"),
    "specs/g.spec has no two one": ("one two", "two one"),
    "h.pl has no is one": ("$round: is one", "is one"),
    "h.pl has no VACUUM t": ("$round: is one", "VACUUM t"),
    "h.pl has no is gone": ("$round: is one", "is gone"),
    "i_test.go has no helper": ("TestCloses", "helper"),
    "i_test.go has no TestOfNobody": ("TestCloses", "TestOfNobody"),
    "j.java has no helper": ("`j.java` closes", "`j.java` helper"),
    "k.rs has no helper": ("`k.rs` closes", "`k.rs` helper"),
    "l has no two": ("`l` one", "`l` two"),
    "m.txt has no anything": ("`l` one", "`m.txt` anything"),
    "no complaint is there": (GOOD.splitlines()[2], ""),
}


def self_test():
    with tempfile.TemporaryDirectory(prefix="pigment-complaints.") as name:
        root = pathlib.Path(name)
        for file, text in FILES.items():
            (root / file).parent.mkdir(exist_ok=True)
            (root / file).write_text(text, encoding="utf-8")
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
