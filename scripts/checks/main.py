# SPDX-License-Identifier: Apache-2.0
"""Runs the stages of a check in order; see scripts/check."""

import argparse
import concurrent.futures
import itertools
import os
import signal
import subprocess
import sys
from typing import Callable, NamedTuple

import asserts
import bindings
import build
import packages
import peers
import postgres
import programs
import readme
import servers
from report import Report

FUZZ_SECONDS = 30
SANITIZED_SHARE = 0.01  # of what the harnesses do in the release build

effort = 1.0  # of the harnesses; --effort

# What the sanitizers see: everything that runs engine code in a process of ours.
ENGINE_LABELS = ["engine", "assumptions", "fixtures"]
# What does as much as it is told to, and fails below its floors: tests/support/effort.h. The longest first.
HARNESS_LABELS = ["planted", "crash", "process", "fault", "corruption"]
ABI_LABELS = ["c_api", "c99"]
TOOL_LABELS = ["tools"]


def build_release(report):
    build.build("release")


def build_asan(report):
    build.call(["scripts/install-deps", "clang"])
    build.build("asan", gives_way=True)


def engine(report):
    programs.run_programs(report, "release", ENGINE_LABELS)


def harness(report):
    programs.run_programs(report, "release", HARNESS_LABELS, effort)


def c_api(report):
    programs.run_programs(report, "release", ABI_LABELS + TOOL_LABELS)


def differential(report):
    programs.run_programs(report, "release", ["differential"], effort)


def structure(report):
    """Rules about the tree and the built files; each is a script that prints what breaks it."""
    release = str(build.build_directory("release"))
    for command in (
        ["check_layers.py", "--self-test"], ["check_layers.py"], ["check_drift.py"],
        ["check_headers.py", "--self-test"], ["check_headers.py"],
        ["check_symbols.py", release], ["check_abi.py", "--self-test"], ["check_abi.py", release],
        ["check_layout.py", "--self-test"], ["check_layout.py"],
        ["check_markdown.py", "--self-test"], ["check_markdown.py"], ["check_sql_reference.py"],
        ["check_complaints.py", "--self-test"], ["check_complaints.py"],
        ["check_promises.py", "--self-test"], ["check_promises.py"],
        ["check_wal.py", "--self-test"], ["check_wal.py"],
    ):
        run_script(report, [sys.executable, "tests/structure/" + command[0], *command[1:]])


def install(report):
    command = ["tests/install/run", str(build.build_directory("release"))]
    run = subprocess.run(command, cwd=build.ROOT, capture_output=True, text=True)
    report.passed(sum(line.startswith("ok ") for line in run.stdout.splitlines()))
    if run.returncode != 0:
        report.failed("tests/install/run", run.stdout + run.stderr)


def terminal(report):
    """The command line on a pseudo-terminal; the emulator is a package of Debian's Python."""
    run = subprocess.run(
        ["/usr/bin/python3", "tests/tools/check_browse.py", str(build.build_directory("release") / "tools/pigment")], cwd=build.ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    postgres.report_tap(report, "terminal", run.returncode, run.stdout, [])


def asan(report):
    programs.run_programs(report, "asan", ABI_LABELS + ENGINE_LABELS + ["differential"])  # the longest is of the first


def harness_asan(report):
    programs.run_programs(report, "asan", HARNESS_LABELS, effort * SANITIZED_SHARE)


def tools_asan(report):
    """The command line, which is compiled for it here: most of it calls what `asan` has tested."""
    build.build("asan", ["pigment_tool", "tools_test"])
    programs.run_programs(report, "asan", TOOL_LABELS)


def beside_peers(report):
    peers.run(report, effort)


def quickstart(report):
    """It fails by itself when the two homes differ."""
    run_script(report, ["/bin/sh", "examples/quickstart/run"])


def build_tsan(report):
    build.build("tsan")


def tsan(report):
    programs.run_programs(
        report, "tsan", ENGINE_LABELS + ABI_LABELS + ["crash", "fault", "corruption"], effort * SANITIZED_SHARE)


def build_clang(report):
    build.call(["scripts/install-deps", "clang"])
    build.build("clang")


def clang(report):
    """The second compiler: the tests, and the same symbols."""
    programs.run_programs(
        report, "clang", ENGINE_LABELS + ABI_LABELS + TOOL_LABELS + HARNESS_LABELS + ["differential"], effort * SANITIZED_SHARE)
    run_script(report, [sys.executable, "tests/structure/check_symbols.py", str(build.build_directory("clang"))])


def fuzz(report):
    """Each fuzz target for half a minute in the sanitized build, as many at once as there are cores."""
    targets = sorted((build.ROOT / "tests/fuzz").glob("*_fuzz.cc"))
    with concurrent.futures.ThreadPoolExecutor(build.workers()) as pool:
        runs = [pool.submit(run_fuzz_target, path.stem) for path in targets]
        for path, run in zip(targets, runs):
            status, output = run.result()
            print(f"   {path.stem}: {output.strip().splitlines()[-1] if output.strip() else 'no output'}")
            if status == 0:
                report.passed()
            else:
                report.failed(path.stem, f"exit status {status}\n{output[-8000:]}")


def run_fuzz_target(name):
    directory = build.build_directory("asan") / "fuzz"
    corpus = build.ROOT / "tests/fuzz/corpus" / name
    # A new seed each time: the run prints it, and a failing input is kept beside the program.
    seed = int.from_bytes(os.urandom(4), "little")
    command = [*programs.fixed_addresses(), str(directory / name), "--seconds", str(FUZZ_SECONDS), "--seed", str(seed)]
    if corpus.is_dir():
        command.append(str(corpus))
    try:
        run = subprocess.run(
            command, cwd=directory, env={**os.environ, **programs.SANITIZER_ENVIRONMENT}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=FUZZ_SECONDS * 5)
    except subprocess.TimeoutExpired:
        return None, f"seed {seed}: an input hangs"
    return run.returncode, f"seed {seed}\n{run.stdout}"


def run_script(report, command):
    run = subprocess.run(command, cwd=build.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode == 0:
        report.passed()
    else:
        report.failed(" ".join(command[1:2]), run.stdout)


class Stage(NamedTuple):
    name: str
    run: Callable[[Report], None]
    has_tests: bool
    runs: str  # "quick": all; "full": all but --quick; "asked": none
    folder: str | None  # without which it does not exist
    share: str  # of the time, that it counts to
    lane: str = ""  # stages of lanes in a row run beside each other: most of them keep less than one core busy


STAGES = [Stage(*stage) for stage in [
    ("build", build_release, False, "quick", None, "builds"),
    ("structure", structure, True, "quick", None, "engine and storage"),
    ("engine", engine, True, "quick", None, "engine and storage"),
    ("harness", harness, True, "full", None, "engine and storage"),
    ("c_api", c_api, True, "quick", None, "engine and storage"),
    ("differential", differential, True, "quick", "tests/differential", "engine and storage"),
    ("regress", postgres.run_regress, True, "full", None, "PostgreSQL", "server"),
    ("isolation", postgres.run_isolation, True, "full", "regress/specs", "PostgreSQL", "server"),
    ("tap", postgres.run_tap, True, "full", None, "PostgreSQL", "server"),
    ("homes", postgres.run_homes, True, "full", "regress/differential", "PostgreSQL", "server"),
    ("filters", postgres.run_filters, True, "full", "regress/differential", "PostgreSQL", "server"),
    ("corpus", postgres.run_corpus, True, "full", None, "PostgreSQL", "server"),
    ("copies", postgres.run_copies, True, "full", None, "PostgreSQL", "server"),
    ("build-servers", servers.install_and_build, False, "full", None, "builds", "server"),
    ("servers", servers.run, True, "full", None, "PostgreSQL", "server"),
    ("pgvector", servers.run_beside_pgvector, True, "full", "regress/pgvector", "PostgreSQL", "server"),
    ("pgvector-clients", servers.run_clients, True, "full", "regress/pgvector/clients", "bindings", "server"),
    ("peers", beside_peers, True, "full", "tests/conformance/chroma", "peers", "client"),
    ("terminal", terminal, True, "full", None, "engine and storage", "client"),
    ("install", install, True, "full", None, "engine and storage", "client"),
    ("readme", readme.run, True, "full", None, "engine and storage", "client"),
    *[(*stage, "client") for stage in bindings.stages()],
    ("packages", packages.run, True, "full", "tests/packages", "bindings", "client"),
    ("quickstart", quickstart, True, "full", "examples/quickstart", "engine and storage", "client"),
    ("build-asan", build_asan, False, "full", None, "builds", "build"),
    ("asan", asan, True, "full", None, "engine and storage"),
    ("harness-asan", harness_asan, True, "full", None, "engine and storage"),
    ("fuzz", fuzz, True, "full", None, "engine and storage"),
    ("build-asserts", asserts.install_and_build, False, "asked", None, "builds"),
    ("asserts", asserts.run, True, "asked", None, "PostgreSQL"),
    ("bindings-asan", bindings.sanitized, True, "asked", None, "bindings"),
    ("tools-asan", tools_asan, True, "asked", None, "engine and storage"),
    ("packages-chroot", packages.run_in_chroot, True, "asked", "tests/packages", "bindings"),
    ("build-tsan", build_tsan, False, "asked", None, "builds"),
    ("tsan", tsan, True, "asked", None, "engine and storage"),
    ("build-clang", build_clang, False, "asked", None, "builds"),
    ("clang", clang, True, "asked", None, "engine and storage"),
]]


def run_stages(report, stages):
    """In order; stops behind a build that failed, because nothing can be tested that is not built."""
    for stage in stages:
        good = report.run_stage(stage.name, lambda: stage.run(report), stage.share, stage.has_tests)
        if not good and not stage.has_tests:
            return False
    return True


def run_all(report, stages):
    """As run_stages, lanes beside each other."""
    for _, group in itertools.groupby(stages, key=lambda stage: stage.lane != ""):
        lanes = {}
        for stage in group:
            lanes.setdefault(stage.lane, []).append(stage)
        with concurrent.futures.ThreadPoolExecutor(len(lanes)) as pool:
            if not all(pool.map(lambda lane: run_stages(report, lane), lanes.values())):
                return


def main():
    parser = argparse.ArgumentParser(prog="scripts/check", description="Builds and tests Pigment.")
    parser.add_argument("--stage", nargs="+", metavar="NAME", help="run these stages alone")
    parser.add_argument("--quick", action="store_true", help="release build, no server, no sanitizers")
    parser.add_argument("--list", action="store_true", help="list the stages")
    parser.add_argument(
        "--effort", type=float, metavar="N", help="how much the harnesses do; 1 is what a check does, 10 a soak")
    arguments = parser.parse_args()

    # A shell's job in the background has it ignored, and so would the tests that send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    global effort
    effort = arguments.effort or float(os.environ.get("PIGMENT_EFFORT") or 1)
    if not 0 < effort < float("inf"):
        parser.error(f"an effort of {effort}")

    stages = [stage for stage in STAGES if stage.folder is None or (build.ROOT / stage.folder).is_dir()]
    if arguments.list:
        print("\n".join(stage.name for stage in stages))
        return 0
    if arguments.stage:
        unknown = set(arguments.stage) - {stage.name for stage in stages}
        if unknown:
            parser.error(f"no stage {', '.join(sorted(unknown))}")
        stages = [stage for stage in stages if stage.name in arguments.stage]
    else:
        runs = ["quick"] if arguments.quick else ["quick", "full"]
        stages = [stage for stage in stages if stage.runs in runs]

    report = Report(build.ROOT / "tests/skips.txt")
    run_all(report, stages)
    report.print_times()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
