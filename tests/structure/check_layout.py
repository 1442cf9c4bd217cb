#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No type of the interface changes its layout: check_layout.py.

What a release declared (tests/abi/VERSION/pigment/*.h) and what the headers declare now are compiled with debugging
information into a library each, which has a variable for every function and every struct, and abidiff (Debian's
abigail-tools) compares the two: sizes, offsets, enumerations and the types of parameters as the compiler sees them, through
typedefs and through structs within structs, which a comparison of declarations as texts does not see. A struct that begins with
its size may get fields at its end; no other struct may change. `--self-test` shows that each kind of breach is found.

A struct that says its size is compared with the fields that it had, and must stand in no other struct by value, which would
change with it.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import check_abi

FUNCTION = re.compile(r"\b(pigment_\w+)\s*\(")
STRUCT = re.compile(r"\bstruct (\w+) \{(.*?)\}( *\w*;)", re.DOTALL)


def without_comments(path):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)


def struct_bodies(headers):
    return {name: body for path in headers for name, body, _ in STRUCT.findall(without_comments(path))}


def says_its_size(body):
    return body.strip().startswith("size_t struct_size")


def cut(headers, old, folder):
    """Copies of headers in which structs that say their size have as many fields as in `old`."""
    bodies = struct_bodies(old)

    def shorter(match):
        name, body, end = match.groups()
        fields = body.split(";")
        if name in bodies and says_its_size(bodies[name]):
            fields = [*fields[:bodies[name].count(";")], ""]
        return f"struct {name} {{{';'.join(fields)}}}{end}"

    copies = folder / "cut/pigment"
    copies.mkdir(parents=True, exist_ok=True)
    for path in headers:
        (copies / path.name).write_text(STRUCT.sub(shorter, without_comments(path)), encoding="utf-8")
    return sorted(copies.glob("*.h"))


def functions(headers):
    """Names of the functions that the headers declare."""
    return sorted({
        FUNCTION.search(declaration).group(1) for path in headers
        for declaration in re.findall(r"PIGMENT_API[^;]*;", path.read_text(encoding="utf-8")) if FUNCTION.search(declaration)})


def program(headers):
    """C in which every struct and every function's type has a variable that is seen from outside."""
    lines = [f'#include "{path}"' for path in headers]
    lines += [f"struct {name} *struct_{name};" for name in sorted(struct_bodies(headers))]
    lines += [f"__typeof__({name}) *function_{name};" for name in functions(headers)]
    return "\n".join(lines) + "\n"


def compile_headers(headers, library):
    source = library.with_suffix(".c")
    source.write_text(program(headers), encoding="utf-8")
    # The headers include one another as <pigment/...>.
    subprocess.run(["cc", "-g", "-fPIC", "-shared", "-fno-eliminate-unused-debug-types", "-I", str(headers[0].parent.parent),
                    "-o", str(library), str(source)], check=True)


def held(headers):
    """Structs that say their size and stand in another by value."""
    bodies = struct_bodies(headers)
    growing = {name for name, body in bodies.items() if says_its_size(body)}
    return [f"struct {name} holds a {type}, which may grow" for name, body in sorted(bodies.items())
            for type in re.findall(r"(?:^|;)\s*(?:const )?(\w+) \w+(?:\[\w+\])?(?=;)", body) if type in growing]


def breaches(old, new, folder):
    """What is wrong with the new headers for who has the old ones, as a text; nothing when all is well."""
    for name, headers in (("old", old), ("new", cut(new, old, folder))):
        compile_headers(headers, folder / f"{name}.so")
    run = subprocess.run(["abidiff", "--no-added-syms", str(folder / "old.so"), str(folder / "new.so")], capture_output=True, text=True)
    if run.returncode & 3:  # it did not compare
        raise RuntimeError(f"abidiff: exit status {run.returncode}\n{run.stdout}{run.stderr}")
    return "\n".join([*held(new), *([run.stdout] if run.returncode else [])])


def self_test():
    """Each pair is a release's header and a later one, with whether the later one keeps the layout."""
    old = """#include <stddef.h>
#include <stdint.h>
#define PIGMENT_API
typedef int32_t pigment_status;
typedef struct pigment_text { const char *bytes; size_t size; } pigment_text;
typedef struct pigment_options { size_t struct_size; pigment_text name; int32_t mode; } pigment_options;
typedef struct pigment_request { size_t struct_size; const pigment_options *options; pigment_text text; int64_t limit; } pigment_request;
typedef struct pigment_error pigment_error;
PIGMENT_API pigment_status pigment_ask(const pigment_request *request, pigment_error **error);
PIGMENT_API void pigment_each(void (*visit)(void *user_data, pigment_text text), void *user_data);
"""
    holder = "typedef struct pigment_holder { size_t struct_size; {} int32_t last; } pigment_holder;\n"
    cases = [
        (old, True),
        (old + "PIGMENT_API int pigment_more(void);\ntypedef struct pigment_new { int a; } pigment_new;\n", True),
        (old.replace("int64_t limit;", "int64_t limit; int64_t offset;"), True),
        (old.replace("int32_t mode;", "int32_t mode; int64_t more; int64_t yet_more;"), True),
        (old.replace("pigment_text name; int32_t mode;", "pigment_text name; int64_t more; int32_t mode;"), False),
        (old.replace("size_t struct_size; pigment_text name;", "size_t struct_size; int64_t more; pigment_text name;"), False),
        (old.replace("size_t size; } pigment_text;", "size_t size; int64_t more; } pigment_text;"), False),
        (old.replace("size_t size; } pigment_text;", "size_t size; /* a; b; */ } pigment_text; // int64_t more;"), True),
        (old.replace("int32_t mode;", "int64_t mode;"), False),
        (old.replace("int32_t mode;", ""), False),
        (old.replace("typedef int32_t pigment_status", "typedef int64_t pigment_status"), False),
        (old.replace("pigment_text text), void", "pigment_text text, int more), void"), False),
        (old.replace("const pigment_request *request,", "int64_t request,"), False),
        (old[:old.index("PIGMENT_API void pigment_each")], False),
    ]
    cases += [(old + holder.replace("{}", field), keeps) for field, keeps in (
        ("const pigment_options *options;", True), ("pigment_text text;", True), ("pigment_options options;", False),
        ("int32_t first; pigment_options options[2];", False))]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, (text, keeps) in enumerate(cases):
            headers = []
            for name, header in (("before", old), ("after", text)):
                headers.append(folder / f"{name}{number}/pigment/pigment.h")
                headers[-1].parent.mkdir(parents=True)
                headers[-1].write_text(header, encoding="utf-8")
            said = breaches(headers[:1], headers[1:], folder)
            if (not said) != keeps:
                wrong += 1
                print(f"self-test: case {number} is judged wrongly:\n{text}\n{said}")
    return wrong


def main():
    if not shutil.which("abidiff"):
        print("no abidiff: scripts/install-deps test installs it")
        return 1
    if sys.argv[1:] == ["--self-test"]:
        return 1 if self_test() else 0
    now = sorted(check_abi.HEADERS.glob("*.h"))
    releases = sorted(path for path in check_abi.ABI.iterdir() if (path / "pigment").is_dir())
    findings = 0
    if not releases or len(functions(now)) < 100 or len(struct_bodies(now)) < 20:
        findings += 1
        print(f"nothing to compare: {len(releases)} releases, {len(functions(now))} functions, {len(struct_bodies(now))} structs")
    for release in releases:
        with tempfile.TemporaryDirectory() as folder:
            said = breaches(sorted((release / "pigment").glob("*.h")), now, pathlib.Path(folder))
        if said:
            findings += 1
            print(f"{release.name}: the layout is another\n{said}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
