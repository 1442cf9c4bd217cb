# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the bindings: bindings/LANGUAGE/check, with the library of the release build in a prefix of its own.

A check prints TAP. It finds the library by pkg-config and the loader's path, as a user's program would, and its folder in
$PIGMENT_PREFIX; what it makes goes into $PIGMENT_SCRATCH, which is kept between runs.
"""

import functools
import os
import subprocess

import build
import postgres
from report import StageError

TIMEOUT_S = 900
LANGUAGES = ["go", "rust", "java", "python"]


def stages():
    """As in main.STAGES, without a lane; a language whose folder has no check has no stage."""
    return [("tables", tables, True, "quick", "bindings/tables", "bindings")] + [
        (language, functools.partial(run, language), True, "full", f"bindings/{language}", "bindings") for language in LANGUAGES
    ]


def tables(report):
    """What is generated from the header is what would be generated from it now."""
    done = subprocess.run(["bindings/tables/generate", "--check"], cwd=build.ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        report.passed()
    else:
        report.failed("bindings/tables/generate --check", done.stdout)


def run(language, report):
    scratch = build.ROOT / "build/bindings" / language
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            [f"bindings/{language}/check"], cwd=build.ROOT, env=environment(scratch), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise StageError(f"bindings/{language}/check: not finished in {TIMEOUT_S} s")
    postgres.report_tap(report, language, done.returncode, done.stdout, [])


def environment(scratch):
    prefix = install_prefix()
    library = next(prefix.glob("**/libpigment.so")).parent
    return {
        **os.environ, "PIGMENT_PREFIX": str(prefix), "PIGMENT_SCRATCH": str(scratch),
        "PKG_CONFIG_PATH": str(library / "pkgconfig"), "LD_LIBRARY_PATH": str(library),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@functools.cache
def install_prefix():
    """The release build, installed."""
    prefix = build.ROOT / "build/bindings/prefix"
    build.call(["cmake", "--install", str(build.build_directory("release")), "--prefix", str(prefix), "--component", "library"])
    return prefix
