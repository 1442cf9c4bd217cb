#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Markdown of the tree reads as it is meant: links lead to files and headings that are there, rows of a table have its columns.

`--self-test` shows that each kind of fault is found.
"""

import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

FENCE = re.compile(r"^ *(```|~~~)")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
LINK = re.compile(r"!?\[[^\]]*\]\(<?([^)\s>]+)>?(?: +\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")
RULE = re.compile(r"^ *\|?( *:?-+:? *\|)+ *(:?-+:?)? *$")
NOT_SOURCES = {".git", "build", "tmp", ".cache", "target", "node_modules"}
CELL_BREAK = re.compile(r"(?<!\\)\|")


def prose(text):
    """Lines with their numbers, without blocks of code."""
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if mark and fence in (None, mark[1]):
            fence = None if fence else mark[1]
        elif not fence:
            yield number, line


def anchors(text):
    """What a heading is called in a link: as GitHub does, the second of one name with -1."""
    found = {}
    for _, line in prose(text):
        if heading := HEADING.match(line):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            count = found[name] = found.get(name, -1) + 1
            if count:
                found[f"{name}-{count}"] = 0
    return set(found)


def link_findings(path, text):
    for number, line in prose(text):
        for target in LINK.findall(CODE.sub("", line)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = path.parent / name if name else path
            if not file.exists():
                yield number, f"{target} is not there"
            elif anchor and anchor not in anchors(file.read_text(encoding="utf-8") if file != path else text):
                yield number, f"{target} is no heading"


def cells(line):
    """A bar parts cells in code too, unless it is written \\|."""
    return len(CELL_BREAK.findall(line.strip().removeprefix("|").removesuffix("|"))) + 1


def table_findings(text):
    lines = dict(prose(text))
    for number, line in lines.items():
        if not RULE.match(line) or "|" not in lines.get(number - 1, ""):
            continue
        columns, row = cells(line), number - 1
        if lines.get(row - 1, "").strip():
            yield row, "a table begins without an empty line before it"
        while lines.get(row, "").strip():
            if cells(lines[row]) != columns:
                yield row, f"{cells(lines[row])} cells in a table of {columns} columns"
            row += 1


def findings(path):
    text = path.read_text(encoding="utf-8")
    return [f"{path}:{number}: {what}" for number, what in sorted([*link_findings(path, text), *table_findings(text)])]


def pages():
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(set(folders) - NOT_SOURCES)
        yield from (pathlib.Path(folder) / name for name in sorted(files) if name.endswith(".md"))


GOOD = """# One, `two`: three

[here](#one-two-three) [there](other.md#again-1) [far](https://example.org/x#y) `[code](gone.md)`

| a | b |
|---|---|
| `x\\|y` | [there](other.md) |

```
[code](gone.md)
| a |
|---|---|
```
"""
FAULTS = {
    "gone.md is not there": "[x](gone.md)",
    "#four is no heading": "[x](#four)",
    "other.md#again-2 is no heading": "[x](other.md#again-2)",
    "3 cells in a table of 2 columns": "| a | b |\n|---|---|\n| `x|y` | z |",
    "1 cells in a table of 2 columns": "| a | b |\n|---|---|\n| z |",
    "a table begins without an empty line before it": "text\n| a | b |\n|---|---|\n| y | z |",
}


def self_test():
    with tempfile.TemporaryDirectory(prefix="pigment-markdown.") as name:
        page = pathlib.Path(name) / "page.md"
        (page.parent / "other.md").write_text("# Again\n\n# Again\n", encoding="utf-8")
        page.write_text(GOOD, encoding="utf-8")
        wrong = findings(page)
        for fault, text in FAULTS.items():
            page.write_text(f"{GOOD}\n{text}\n", encoding="utf-8")
            found = findings(page)
            if len(found) != 1 or not found[0].endswith(fault):
                wrong.append(f"planted {text!r}: found {found}")
    return wrong


def main():
    found = self_test() if "--self-test" in sys.argv else [finding for path in pages() for finding in findings(path)]
    for finding in found:
        print(finding.removeprefix(f"{ROOT}/"))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
