#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing of the interface goes or changes: check_abi.py BUILD_FOLDER.

The built library shows the symbols that tests/abi/symbols.txt lists, the headers declare what tests/abi/signatures.txt lists. What is new is
added to the lists by hand, or by `check_abi.py BUILD_FOLDER --add`, which takes nothing away. What a release declared
(tests/abi/VERSION/pigment/*.h) must be in the lists whatever they say: functions and constants as they were, structs with
the same fields first. A function that the first release has not says since when it is there. What an init function fills has a guard in tests/abi/old_client.c. `--self-test` shows that each kind of breach is found.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ABI = ROOT / "tests/abi"
HEADERS = ROOT / "c_api/include/pigment"


def symbols(library):
    """Names in the dynamic symbol table with the version nodes that they belong to."""
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", "--with-symbol-versions", str(library)],
        check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted({line.split()[-1] for line in lines if line.split()[-2] != "A"})


def signatures(text):
    """A header's declarations, one a line: functions, struct members in order, constants with values, types."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    defines = re.findall(r"^#define (PIGMENT_\w+) +(-?\d+)$", text, flags=re.MULTILINE)
    # The version is meant to change.
    found = [f"define {name} = {value}" for name, value in defines if not name.startswith("PIGMENT_VERSION_M")
             and name != "PIGMENT_VERSION_PATCH"]
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r'extern "C" \{', "", text)
    for name, body in re.findall(r"\bstruct (\w+) \{(.*?)\} *\w*;", text, flags=re.DOTALL):
        fields = [squeeze(field) for field in body.split(";") if field.strip()]
        found += [f"struct {name}[{number}] {field}" for number, field in enumerate(fields)]
    text = re.sub(r"(typedef )?\bstruct \w+ \{.*?\} *\w*;", "", text, flags=re.DOTALL)
    for body in re.findall(r"\benum \{(.*?)\};", text, flags=re.DOTALL):
        found += [f"enum {squeeze(constant)}" for constant in body.split(",") if constant.strip()]
    text = re.sub(r"\benum \{.*?\};", "", text, flags=re.DOTALL)
    for declaration in text.split(";"):
        line = squeeze(declaration.replace("PIGMENT_API", "").replace("PIGMENT_CHECKED", ""))
        if line and line != "}":
            found.append(line)
    return found


def squeeze(text):
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\s*([*(),])\s*", r"\1", text)


def declared(folder):
    return sorted(line for path in sorted(folder.glob("*.h")) for line in signatures(path.read_text(encoding="utf-8")))


def unmarked(text, older):
    """Functions that the older release's headers lack and whose comment, the last one before them, does not say since when they are there."""
    known = {name for line in older for name in re.findall(r"\b(pigment_\w+)\(", line)}
    comment, found = "", []
    for part in re.split(r"(/\*.*?\*/)", text, flags=re.DOTALL):
        if part.startswith("/*"):
            comment = part
            continue
        for name in re.findall(r"PIGMENT_API[^;]*?\b(pigment_\w+)\(", part):
            if name not in known and not re.search(r"\bsince 0\.\d", comment, re.IGNORECASE):
                found.append(f"{name} is new, and its comment does not say since when it is there")
    return found


def compare(what, listed, there):
    findings = [f"{what}: gone or changed: {line}" for line in sorted(set(listed) - set(there))]
    return findings + [f"{what}: new, and not in the list: {line}" for line in sorted(set(there) - set(listed))]


def released(release, lines, now):
    return [f"{release}: gone or changed: {line}" for line in lines if line not in set(now)]


def lines_of(path):
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line]


def add(path, there):
    listed = lines_of(path) if path.exists() else []
    path.write_text("".join(f"{line}\n" for line in sorted({*listed, *there})), encoding="utf-8")


def self_test():
    """Each pair is a release's header and a later one, with whether the later one keeps its promise."""
    old = "typedef struct s { size_t a; int b; } s;\nenum { A = 1, B = 2 };\nPIGMENT_API int f(int a, char *b);\n"
    cases = [
        (old, True),
        (old + "PIGMENT_API int g(void);", True),
        (old.replace("int b;", "int b; int c;"), True),
        (old.replace("B = 2", "B = 2, C = 3"), True),
        (old.replace("char *b", "char\n   *b /* why */"), True),
        (old.replace("int b;", ""), False),
        (old.replace("int b;", "long b;"), False),
        (old.replace("size_t a; int b;", "int b; size_t a;"), False),
        (old.replace("B = 2", "B = 3"), False),
        (old.replace("int f(int a", "int f(long a"), False),
        (old.replace("PIGMENT_API int f(int a, char *b);", ""), False),
    ]
    wrong = 0
    for new, keeps in cases:
        if (not released("old", signatures(old), signatures(new))) != keeps:
            wrong += 1
            print(f"self-test: {new!r} is judged wrongly")
    if "struct t[0] int(*f)(struct t*)" not in signatures("struct t { int (*f)(struct t *); };"):
        wrong += 1
        print("self-test: a struct without a typedef is not seen")
    if len(unguarded(["void pigment_a_init(pigment_a*a)", "void pigment_b_init(pigment_b*b)", "int f(void)"], "INITS(pigment_b);")) != 1:
        wrong += 1
        print("self-test: an init function that is not tried is not seen")
    marks = "/* Old. */ PIGMENT_API int pigment_a(void); /* New. */ PIGMENT_API int pigment_b(void); /* Newer. Since 0.2. */ PIGMENT_API int pigment_c(void);"
    if len(unmarked(marks, ["int pigment_a(void)"])) != 1:
        wrong += 1
        print("self-test: a function without its mark is not seen")
    if len(compare("x", ["a", "b"], ["b", "c"])) != 2:
        wrong += 1
        print("self-test: a list is compared wrongly")
    return wrong


def unguarded(lines, client):
    """Init functions that the old client does not call with bytes behind their struct."""
    names = {match[1] for line in lines if (match := re.match(r"void (pigment_\w+)_init\(\1\*", line))}
    return [f"old_client.c does not try {name}_init" for name in sorted(names) if f"INITS({name});" not in client]


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    shown, now = symbols(pathlib.Path(sys.argv[1]) / "libpigment.so"), declared(HEADERS)
    if sys.argv[2:] == ["--add"]:
        add(ABI / "symbols.txt", shown)
        add(ABI / "signatures.txt", now)
    findings = compare("symbols.txt", lines_of(ABI / "symbols.txt"), shown)
    findings += compare("signatures.txt", lines_of(ABI / "signatures.txt"), now)
    releases = sorted(path for path in ABI.iterdir() if (path / "pigment").is_dir())
    if not releases or len(now) < 100:
        findings.append(f"nothing to compare: {len(releases)} releases, {len(now)} declarations")
    for release in releases:
        findings += released(release.name, declared(release / "pigment"), now)
    oldest = declared(releases[0] / "pigment") if releases else []
    for header in sorted(HEADERS.glob("*.h")):
        findings += unmarked(header.read_text(encoding="utf-8"), oldest)
    findings += unguarded(now, (ABI / "old_client.c").read_text(encoding="utf-8"))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
