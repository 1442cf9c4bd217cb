# SPDX-License-Identifier: Apache-2.0
"""Configures and builds presets, and knows the test programs of a build."""

import json
import os
import pathlib
import subprocess
import sys

from report import StageError

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(preset, targets=(), gives_way=False):
    """Builds a preset, quietly when there is nothing to do. Output appears only when something fails.

    One that `gives_way` takes what tests beside it leave of the machine.
    """
    directory = build_directory(preset)
    if not (directory / "build.ninja").exists():
        call(["cmake", "--preset", preset])
    priority = ["nice", "-n", "19"] if gives_way else []
    call([*priority, "ninja", "-C", str(directory), *targets], progress=True)


def build_directory(preset):
    return ROOT / "build" / preset


def test_programs(preset, wanted):
    """The test programs of a build that carry one of the labels: a list of (name, command, labels)."""
    output = subprocess.run(
        ["ctest", "--test-dir", str(build_directory(preset)), "--show-only=json-v1"],
        check=True, capture_output=True, text=True,
    ).stdout
    programs = []
    for test in json.loads(output)["tests"]:
        labels = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        if not set(labels) & set(wanted):
            continue
        if "command" not in test:
            raise StageError(f"{test['name']} is not in build/{preset}")
        programs.append((test["name"], test["command"], labels))
    return programs


def call(command, progress=False, **options):
    """Runs a command from the root; on failure its output becomes the error."""
    if progress and sys.stdout.isatty():
        result = subprocess.run(command, cwd=ROOT, **options)
        output = ""
    else:
        result = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", **options)
        output = result.stdout
    if result.returncode != 0:
        tail = "\n".join(output.splitlines()[-120:])
        raise StageError(f"{' '.join(map(str, command))}: exit status {result.returncode}\n{tail}")
    return output


def workers():
    return len(os.sched_getaffinity(0))
