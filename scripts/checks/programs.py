# SPDX-License-Identifier: Apache-2.0
"""Runs test programs, GoogleTest and plain ones, several at once, and reports each of their tests."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import tempfile
from typing import NamedTuple

import build

TIMEOUT_S = 1500  # of a program at an effort of 1 or less
LONG_S = 30  # tests that take longer are named
SHARDED = ["planted"]  # labels of programs that run in as many parts as there are cores: they take longest

SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "second_deadlock_stack=1",
}


def run_programs(report, preset, labels, effort=None):
    """Runs the programs of a build that carry one of the labels, as many at once as there are cores, in the labels' order.

    `effort` is how much those of them do that are harnesses (tests/support/effort.h); None: what the environment says.
    """
    wrapper = fixed_addresses() if preset in ("asan", "tsan") else []
    programs = [
        Program(name, wrapper + command, its_labels, shard)
        for name, command, its_labels in build.test_programs(preset, labels)
        for shard in range(shards_of(its_labels))
    ]
    programs.sort(key=lambda program: min(labels.index(label) for label in program.labels if label in labels))
    with tempfile.TemporaryDirectory(prefix="pigment-check.") as folder:
        os.chmod(folder, 0o711)  # tests as another user pass through it
        with concurrent.futures.ThreadPoolExecutor(build.workers()) as pool:
            runs = [pool.submit(run_one, program, pathlib.Path(folder), effort) for program in programs]
            for program, run in zip(programs, runs):
                report_one(report, program, *run.result())


class Program(NamedTuple):
    name: str
    command: list[str]
    labels: list[str]
    shard: int


def shards_of(labels):
    return build.workers() if set(labels) & set(SHARDED) else 1


def fixed_addresses():
    """The sanitizers of gcc 12 and clang 14 cannot place their shadow where a kernel randomises 32 bits of addresses."""
    command = ["setarch", "-R"]
    try:
        works = subprocess.run([*command, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        works = False
    return command if works else []


def run_one(program, folder, effort):
    """Returns (exit status or None after a time-out, output, parsed GoogleTest results or None)."""
    result_path = folder / f"{program.name}.{program.shard}.json"
    scratch = folder / f"{program.name}.{program.shard}"
    scratch.mkdir()
    arguments = [] if "c99" in program.labels else [f"--gtest_output=json:{result_path}", "--gtest_brief=1"]
    environment = {**os.environ, **SANITIZER_ENVIRONMENT, "TMPDIR": str(scratch)}
    if (shards := shards_of(program.labels)) > 1:
        environment |= {"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(program.shard)}
    if effort is not None:
        environment["PIGMENT_EFFORT"] = repr(effort)
    try:
        run = subprocess.run(
            [*program.command, *arguments], cwd=scratch, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout_s(effort))
        status, output = run.returncode, run.stdout
    except subprocess.TimeoutExpired as expired:
        output = expired.stdout or b""
        status, output = None, output.decode(errors="replace") if isinstance(output, bytes) else output
    results = None
    if result_path.exists():
        results = json.loads(result_path.read_text(encoding="utf-8", errors="replace"))
    return status, output, results


def timeout_s(effort):
    return TIMEOUT_S * max(1, effort or 1)


SANITIZER_REPORT = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:")


def excerpt(output):
    """What a failure shows of a program's output: the end, and before it the first report of a sanitizer."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if SANITIZER_REPORT.search(line)), None)
    if first is None:
        return "\n".join(lines[-80:])
    begin, end = max(first - 5, 0), first + 100
    return "\n".join(lines[begin:end] + lines[max(end, len(lines) - 40):])


def report_one(report, program, status, output, results):
    name, labels = program.name, program.labels
    tail = excerpt(output)
    for line in output.splitlines():
        if line.startswith("effort: "):
            print(f"   {name}: {line.removeprefix('effort: ')}", flush=True)
    if status is None:
        report.failed(name, f"not finished in time\n{tail}")
        return
    if "c99" in labels:
        if status == 0:
            report.passed()
        else:
            report.failed(name, f"exit status {status}\n{tail}")
        return
    if results is None:
        report.failed(name, f"exit status {status}, no results\n{tail}")
        return
    failures = 0
    tests = [(suite["name"], test) for suite in results["testsuites"] for test in suite["testsuite"]]
    for suite, test in tests:
        full_name = f"{suite}.{test['name']}"
        if (seconds := float(test["time"].removesuffix("s"))) >= LONG_S:
            print(f"   {name}: {full_name} took {seconds:.0f} s", flush=True)
        if test["status"] == "NOTRUN":
            report.skipped(full_name, "disabled")
        elif test["result"] == "SKIPPED":
            report.skipped(full_name, "skipped by the test")
        elif test.get("failures"):
            failures += 1
            report.failed(full_name, "\n".join(failure["failure"] for failure in test["failures"]))
        else:
            report.passed()
    if not tests:
        report.failed(name, "the program has no test")
    # A sanitizer's report at exit leaves every test green.
    if status != 0 and failures == 0:
        report.failed(name, f"exit status {status}\n{tail}")
