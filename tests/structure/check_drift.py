#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is written down in several places says the same in all: the version, the soname, a README for each folder."""

import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Folders of the tree that hold only what their parent's README explains.
EXPLAINED_BY_PARENT = re.compile(
    r"\.ci|c_api/include(/.*)?|docs/design|regress/.*|scripts/.*|tests/.*|examples/.*/.*|bench/.*|sql/.*|packages/debian(/.*)?|bindings/[^/]+/.*")

NOT_SOURCES = {".git", "build", "tmp", ".cache", "__pycache__", ".idea", ".vscode"}


def read(path):
    return (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).exists() else ""


def find(path, pattern):
    match = re.search(pattern, read(path), re.MULTILINE)
    return match.group(1) if match else f"nothing that matches {pattern}"


def version_findings():
    version = find("CMakeLists.txt", r"^project\(pigment VERSION (\S+)")
    header = "c_api/include/pigment/pigment.h"
    said = {
        header: ".".join(find(header, rf"^#define PIGMENT_VERSION_{part}\s+(\d+)") for part in ("MAJOR", "MINOR", "PATCH")),
        "CHANGELOG.md": find("CHANGELOG.md", r"^## (\d+\.\d+\.\d+)"),
        "bindings/java/pom.xml": find("bindings/java/pom.xml", r"^  <version>([^<]+)<"),
        "bindings/rust/Cargo.toml": find("bindings/rust/Cargo.toml", r'^version = "([^"]+)"'),
        "packages/debian/changelog": find("packages/debian/changelog", r"^pigment \((\d+\.\d+\.\d+)-"),
        "sql/pigment.control": find("sql/pigment.control", r"^default_version\s*=\s*'([^']+)'"),
    }
    findings = [f"{path} says version {text}, CMakeLists.txt {version}" for path, text in said.items() if text != version]
    abi, soname = find(header, r"^#define PIGMENT_ABI_VERSION\s+(\d+)"), find("CMakeLists.txt", r"PIGMENT_ABI_VERSION (\d+)")
    if abi != soname:
        findings.append(f"{header} says ABI {abi}, CMakeLists.txt {soname}")
    return findings


def pgxn_findings():
    """META.json is what PGXN reads: of the version that the control file names, about files that are there."""
    path = "META.json"
    meta, version = json.loads(read(path) or "{}"), find("sql/pigment.control", r"^default_version\s*=\s*'([^']+)'")
    provided = meta.get("provides", {}).get("pigment", {})
    said = {"version": meta.get("version"), "provides.pigment.version": provided.get("version")}
    findings = [f"{path}: {key} is {text}, sql/pigment.control says {version}" for key, text in said.items() if text != version]
    findings += [f"{path}: {key} is missing" for key in ("name", "abstract", "maintainer", "license", "meta-spec") if not meta.get(key)]
    return findings + [
        f"{path}: provides.pigment.{key} names {provided.get(key)}, which is not there"
        for key in ("file", "docfile") if not provided.get(key) or not (ROOT / provided[key]).is_file()]


def readme_findings():
    findings = []
    for folder, folders, files in os.walk(ROOT):
        name = pathlib.Path(folder).relative_to(ROOT).as_posix()
        folders[:] = sorted(set(folders) - NOT_SOURCES)
        if files and "README.md" not in files and not EXPLAINED_BY_PARENT.fullmatch(name):
            findings.append(f"{name} has no README.md")
    return findings


def main():
    findings = version_findings() + pgxn_findings() + readme_findings()
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
