#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes point downward only, in the order of docs/architecture.md.

Reports every `#include "..."` of the tree that reaches a higher layer, a sibling of the same height, or a header that
its folder must not see. `--self-test` shows on a small tree that each kind of breach is found. Reads files, writes
nothing.
"""

import pathlib
import re
import sys
import tempfile

# Lowest first; folders of one row do not include each other.
LAYERS = [
    ["engine/base"],
    ["engine/record", "engine/embedding"],
    ["engine/block", "engine/log", "engine/catalog"],
    ["engine/vector", "engine/inverted", "engine/fulltext", "engine/sparse"],
    ["engine/segment"],
    ["engine/collection"],
    ["engine/query"],
    ["c_api"],
]
HEIGHT = {folder: height for height, row in enumerate(LAYERS) for folder in row}

PUBLIC_HEADERS = {"pigment/pigment.h", "pigment/pigment_host.h"}
POSTGRES_HEADERS = {"postgres.h", "fmgr.h", "c.h", "libpq-fe.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(path):
    parts = path.split("/")
    return "c_api" if parts[0] == "c_api" else "/".join(parts[:2])


def breach_of(source, included, quoted):
    """Why `source` must not include `included`; None when it may. Both are paths from the root."""
    top = source.split("/")[0]
    if top == "extension":
        if included.startswith(("engine/", "c_api/", "tests/")):
            return "the extension sees only the public headers and its own"
        if included.startswith("pigment/") and included not in PUBLIC_HEADERS:
            return "not one of the two public headers"
        return None
    if top in ("examples", "bindings") or source.startswith("tests/c_api/"):
        if included.startswith(("engine/", "c_api/", "extension/")):
            return f"{top} sees only the public headers"
        return None
    if top not in ("engine", "c_api"):
        return None
    if included in POSTGRES_HEADERS or included.startswith(("server/", "extension/", "tests/")):
        return "the engine knows no server, no extension and no test"
    if source.startswith("c_api/include/"):
        if quoted and included.startswith(("engine/", "c_api/")):
            return "a public header stands alone"
        return None
    if included in PUBLIC_HEADERS:
        return None if top == "c_api" else "the public headers are above the engine"
    if not included.startswith(("engine/", "c_api/")):
        return None
    below, above = layer_of(included), layer_of(source)
    for layer in (below, above):
        if layer not in HEIGHT:
            return f"{layer} has no place in the order of layers"
    if below == above or HEIGHT[below] < HEIGHT[above]:
        return None
    return f"{above} is not above {below}"


def check(root):
    """Returns (files read, breaches)."""
    files, breaches = 0, []
    for top in ("engine", "c_api", "extension", "examples", "bindings", "tests"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".cc", ".c", ".hpp") or not path.is_file():
                continue
            files += 1
            source = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8")
            for match in INCLUDE.finditer(text):
                why = breach_of(source, match.group(2), match.group(1) == '"')
                if why:
                    line = text.count("\n", 0, match.start(2)) + 1
                    breaches.append(f"{source}:{line}: includes {match.group(2)}: {why}")
    return files, breaches


def self_test():
    """Each line of the table is a tree of one file; the check must say what the table says."""
    cases = [
        ("engine/log/a.cc", '#include "engine/base/status.h"', False),
        ("engine/log/a.cc", '#include "engine/log/b.h"', False),
        ("c_api/a.cc", '#include "engine/query/b.h"', False),
        ("c_api/a.cc", '#include "pigment/pigment.h"', False),
        ("extension/a.c", '#include "pigment/pigment_host.h"', False),
        ("extension/a.c", '#include "postgres.h"', False),
        ("tests/engine/log/a_test.cc", '#include "engine/log/b.h"', False),
        ("engine/base/a.h", '#include "engine/log/b.h"', True),
        ("engine/log/a.h", '#  include "engine/block/b.h"', True),
        ("engine/query/a.cc", '#include "c_api/shim.h"', True),
        ("engine/base/a.cc", '#include "pigment/pigment.h"', True),
        ("engine/segment/a.cc", '#include "postgres.h"', True),
        ("engine/misc/a.cc", '#include "engine/base/status.h"', True),
        ("engine/segment/a.cc", '#include "tests/support/b.h"', True),
        ("c_api/include/pigment/pigment.h", '#include "engine/base/status.h"', True),
        ("extension/a.c", '#include "engine/base/status.h"', True),
        ("extension/a.c", "#include <pigment/internal.h>", True),
        ("tests/c_api/a_test.cc", '#include "engine/base/status.h"', True),
        ("examples/quickstart/a.c", '#include "engine/base/status.h"', True),
    ]
    wrong = 0
    for source, line, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / source
            path.parent.mkdir(parents=True)
            path.write_text(f"// A file.\n{line}\n", encoding="utf-8")
            _, breaches = check(pathlib.Path(folder))
        if bool(breaches) != expected:
            wrong += 1
            print(f"self-test: {source} with {line}: {'no breach found' if expected else breaches}")
    return wrong


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    files, breaches = check(pathlib.Path(__file__).resolve().parents[2])
    for breach in breaches:
        print(breach)
    if files == 0:
        print("no source file found")
    return 1 if breaches or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
