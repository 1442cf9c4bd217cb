#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the built library and extension show to the dynamic linker: check_symbols.py BUILD_FOLDER.

The library shows exactly the functions that the public headers declare, all called pigment_*, under the soname of its
ABI; the extension shows PostgreSQL's entry points and nothing of the engine. None of them holds a trace of the planted
bugs of tests/planted. The library calls nothing that reaches a network, so it tells nobody anything, and nothing that reads the environment: that
is what the bindings' from_env are for.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY_SYMBOL = re.compile(r"pigment_[a-z0-9_]+")
EXTENSION_SYMBOL = re.compile(r"Pg_magic_func|_PG_init|pg_finfo_pigment_pg_[a-z0-9_]+|pigment_pg_[a-z0-9_]+")
NETWORK = {"socket", "socketpair", "connect", "bind", "listen", "accept", "getaddrinfo", "gethostbyname", "send", "sendto", "sendmsg"}
ENVIRONMENT = {"getenv", "secure_getenv", "__secure_getenv", "environ", "__environ", "_environ"}
DECLARATION = re.compile(r"PIGMENT_API\b[^;{}]*?\b(pigment_[a-z0-9_]+)\s*\(")


def shown_symbols(path):
    """Names in the dynamic symbol table that the file defines, without the version nodes themselves."""
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", str(path)], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] != "A"}


def called_symbols(path):
    """Names that the file takes from others."""
    lines = subprocess.run(
        ["nm", "-D", "--undefined-only", str(path)], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def declared_functions():
    names = set()
    for header in (ROOT / "c_api/include").rglob("*.h"):
        text = header.read_text(encoding="utf-8")
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
        text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
        names.update(DECLARATION.findall(text))
    return names


def check_library(build):
    findings = []
    path = build / "libpigment.so"
    shown, declared = shown_symbols(path), declared_functions()
    if not declared:
        findings.append("c_api/include: no function with PIGMENT_API is declared")
    for name in sorted(shown):
        if not LIBRARY_SYMBOL.fullmatch(name):
            findings.append(f"{path.name} shows {name}")
    for name in sorted(shown - declared):
        findings.append(f"{path.name} shows {name}, which no public header declares")
    for name in sorted(declared - shown):
        findings.append(f"{path.name} lacks {name}, which a public header declares")
    called = called_symbols(path)
    if "open" not in called and "open64" not in called:  # otherwise the search below would find nothing anywhere
        findings.append(f"{path.name} opens no file")
    findings += [f"{path.name} calls {name}, which reaches a network" for name in sorted(called & NETWORK)]
    findings += [f"{path.name} takes {name}, which is the environment" for name in sorted(called & ENVIRONMENT)]
    dynamic = subprocess.run(["readelf", "-dW", str(path)], check=True, capture_output=True, text=True).stdout
    if "soname: [libpigment.so.1]" not in dynamic:
        findings.append(f"{path.name}: the soname is not libpigment.so.1")
    return findings


def check_extension(build):
    findings = []
    path = build / "extension/pigment.so"
    shown = shown_symbols(path)
    for name in sorted(shown):
        if not EXTENSION_SYMBOL.fullmatch(name):
            findings.append(f"{path.name} of the extension shows {name}")
    for name in ("Pg_magic_func", "_PG_init"):
        if name not in shown:
            findings.append(f"{path.name} of the extension lacks {name}")
    return findings


def planted_texts():
    """What a build with planted bugs holds and no other: the switch's symbols, names and descriptions of the bugs."""
    table = (ROOT / "engine/base/planted_bugs.def").read_text(encoding="utf-8")
    bugs = re.findall(r'^PIGMENT_PLANTED_BUG\((\w+),\s*"([^"]+)"\)', table, re.MULTILINE)
    return [b"IsPlanted", b"SetPlantedBug"] + [text.encode() for bug in bugs for text in bug]


def check_planted(build):
    findings = []
    texts = planted_texts()
    harness = (build / "tests/planted_test").read_bytes()
    for text in texts:  # otherwise the search below would find nothing anywhere
        if text not in harness:
            findings.append(f"planted_test lacks {text.decode()}")
    for name in ("libpigment.so", "libpigment.a", "extension/pigment.so"):
        shipped = (build / name).read_bytes()
        for text in texts:
            if text in shipped:
                findings.append(f"{name} holds {text.decode()} of the planted bugs")
    for folder in ("engine", "c_api", "extension"):
        for path in sorted((ROOT / folder).rglob("*.h")):
            asks = "PIGMENT_PLANTED(" in path.read_text(encoding="utf-8")
            if asks and path.name != "planted_bugs.h":
                findings.append(f"{path.relative_to(ROOT)} asks for a planted bug: only .cc files may")
    return findings


def main():
    build = pathlib.Path(sys.argv[1])
    findings = check_library(build) + check_extension(build) + check_planted(build)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
