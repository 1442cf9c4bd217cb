#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of indexes change by generic WAL records alone: check_wal.py.

Whatever a file of extension/ calls to change or log a page beside GenericXLog is listed here with its reason; there a buffer that is
marked dirty is logged at once, in a critical section. What a standby or a recovery would not see could come in no other way:
GenericXLogFinish marks buffers dirty itself, and before it the change is in a copy. `--self-test` shows that each kind of breach
is found.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# (file, function): why not a generic record
REASONS = {
    ("pages.c", "write_empty_init_fork"): "generic records skip unlogged relations, whose init fork must be logged",
    ("compat.h", "pig_log_page_reuse"): "changes no page: the core's record of pages that are about to be used again",
}

CALL = re.compile(
    r"\b(MarkBufferDirty(?:Hint)?|log_newpage\w*|XLogInsert\w*|XLogBeginInsert|XLogRegister\w+|smgr(?:write|extend|zeroextend|truncate)|"
    r"PageSetLSN|PageSetChecksum\w*|gistXLog\w+|FlushRelationBuffers)\s*\(")
FUNCTION = re.compile(r"^(\w+)\s*\([^;]*$")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
CRITICAL = re.compile(r"START_CRIT_SECTION\(\);.*?END_CRIT_SECTION\(\);", re.DOTALL)
LOGGED = re.compile(r"MarkBufferDirty\((\w+)\);\s*log_newpage_buffer\(\1,")


def functions(text):
    """(name, body) of each function; comments are gone."""
    name, body = None, []
    for line in COMMENT.sub(" ", text).splitlines():
        begins = FUNCTION.match(line)
        if begins:
            if name:
                yield name, "\n".join(body)
            name, body = begins.group(1), []
        body.append(line)
    if name:
        yield name, "\n".join(body)


def breaches(texts):
    """What breaks the rule in {file name: text}."""
    used = set()
    for file, text in sorted(texts.items()):
        for name, body in functions(text):
            calls = [match.group(1) for match in CALL.finditer(body)]
            if not calls:
                continue
            used.add((file, name))
            if (file, name) not in REASONS:
                yield f"{file}: {name} calls {', '.join(calls)}, and check_wal.py has no reason for it"
            inside = "".join(CRITICAL.findall(body))
            if len(LOGGED.findall(inside)) != sum(call.startswith("MarkBufferDirty") for call in calls):
                yield f"{file}: {name} marks a buffer dirty that it does not log at once in a critical section"
        for place in sorted(place for place in REASONS if place[0] == file and place not in used):
            yield f"{file}: {place[1]} is listed, and calls nothing of the kind"


def self_test():
    listed = "void\nwrite_empty_init_fork(Buffer b)\n{\n\tSTART_CRIT_SECTION();\n\tMarkBufferDirty(b);\n\tlog_newpage_buffer(b, false);\n\tEND_CRIT_SECTION();\n}\n"
    cases = [
        ({"pages.c": listed}, None),
        ({"pages.c": listed + "/* MarkBufferDirty(b) is for others */\nvoid\nother(void)\n{\n}\n"}, None),
        ({"pages.c": listed + "static void\nother(Buffer b)\n{\n\tMarkBufferDirty(b);\n}\n"}, "other calls MarkBufferDirty"),
        ({"pages.c": listed, "am.c": "void\nkill(Buffer b,\n\t int i)\n{\n\tMarkBufferDirtyHint(b, true);\n}\n"}, "kill calls MarkBufferDirtyHint"),
        ({"pages.c": listed.replace("\tlog_newpage_buffer(b, false);\n", "")}, "does not log"),
        ({"pages.c": listed.replace("\tSTART_CRIT_SECTION();\n", "")}, "does not log"),
        ({"pages.c": listed.replace("buffer(b,", "buffer(c,")}, "does not log"),
        ({"pages.c": "void\nwrite_empty_init_fork(Buffer b)\n{\n}\n"}, "is listed, and calls nothing"),
    ]
    failed = 0
    for texts, expected in cases:
        found = list(breaches(texts))
        if (expected is None) != (not found) or expected and not any(expected in line for line in found):
            print(f"self-test: expected {expected}, found {found} in {texts}")
            failed += 1
    return failed


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    paths = sorted((ROOT / "extension").glob("*.[ch]"))
    found = list(breaches({path.name: path.read_text(encoding="utf-8") for path in paths}))
    for line in found:
        print(line)
    if not any(path.name == "pages.c" for path in paths):
        print("extension/pages.c is not there: what is looked at?")
        return 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
