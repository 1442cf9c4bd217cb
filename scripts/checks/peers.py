# SPDX-License-Identifier: Apache-2.0
"""Runs what compares the library with its peers; they come from the package registry, pinned, into build/peers."""

import os
import shutil
import subprocess
import tempfile

import build
import postgres
from report import StageError

OPERATIONS = 10000  # at an effort of 1
TIMEOUT_S = 900


def run(report, effort):
    """The same operations to the library and to Chroma: tests/conformance/chroma."""
    folder = build.ROOT / "tests/conformance/chroma"
    command = [environment(folder / "requirements.txt"), str(folder / "run.py"),
               str(build.build_directory("release") / "libpigment.so"), "--operations", str(max(1, round(OPERATIONS * effort)))]
    run_command(report, "chroma", command, effort)
    # Directories of Chroma by the command line, into directories and a database.
    command = [command[0], str(build.ROOT / "tests/tools/check_import_chroma.py"), str(build.build_directory("release") / "tools/pigment")]
    with postgres.Workspace() as workspace:
        try:
            server = workspace.start_server()
            run_command(report, "import-chroma", command, effort, {**server, "PATH": f"{workspace.bindir}:{os.environ['PATH']}"})
        finally:
            workspace.stop_server()


def run_command(report, name, command, effort, more=None):
    with tempfile.TemporaryDirectory(prefix="pigment-peers.", dir=memory_folder()) as scratch:
        try:
            done = subprocess.run(
                command, env={**os.environ, "TMPDIR": scratch, "PYTHONDONTWRITEBYTECODE": "1", **(more or {})}, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace", timeout=TIMEOUT_S * max(1, effort))
        except subprocess.TimeoutExpired:
            raise StageError(f"{' '.join(command)}: not finished in time")
    for line in done.stdout.splitlines():
        if line.startswith("effort: "):
            print(f"   {line.removeprefix('effort: ')}", flush=True)
        if line.startswith("# "):  # seed, step and both answers of what failed
            print(f"    {line[2:]}", flush=True)
    postgres.report_tap(report, name, done.returncode, done.stdout, [])


def memory_folder():
    """Chroma waits for the disk at every write, which is not what this compares."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def environment(requirements):
    """The interpreter of a virtual environment with these packages, made when they have changed."""
    folder = build.ROOT / "build/peers/venv"
    installed = folder / "requirements.txt"
    if not installed.exists() or installed.read_bytes() != requirements.read_bytes():
        shutil.rmtree(folder, ignore_errors=True)
        build.call(["/usr/bin/python3", "-m", "venv", str(folder)])
        build.call([str(folder / "bin/pip"), "install", "--quiet", "--no-deps", "-r", str(requirements)])
        shutil.copyfile(requirements, installed)
    return str(folder / "bin/python")
