# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the bindings: bindings/LANGUAGE/check, with the library of the release build in a prefix of its own.

A check prints TAP. It finds the library by pkg-config and the loader's path, as a user's program would, and its folder in
$PIGMENT_PREFIX; what it makes goes into $PIGMENT_SCRATCH, which is kept between runs. `sanitizers` says what it has more under them.
"""

import functools
import os
import pathlib
import re
import shlex
import subprocess

import build
import postgres
import programs
from report import StageError

TIMEOUT_S = 900
SANITIZED_TIMEOUT_S = 1800
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
    check(language, report, language, TIMEOUT_S, {})


def sanitized(report):
    """The tests that call the library, once more with that of the sanitized build (stage build-asan)."""
    for language in LANGUAGES:
        check(language, report, language + "-asan", SANITIZED_TIMEOUT_S, sanitizers())


def check(language, report, name, timeout_s, more):
    scratch = build.ROOT / "build/bindings" / language
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(
            [f"bindings/{language}/check"], cwd=build.ROOT, env={**environment(scratch), **more}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise StageError(f"{name}: bindings/{language}/check has not finished in {timeout_s} s")
    postgres.report_tap(report, name, done.returncode, done.stdout, [])


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


# The languages' own run times take the signals that the sanitizer would, and keep what it would take for leaked: leaks are found by
# the tests in C and by Go's -asan.
SANITIZER_OPTIONS = "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:use_sigaltstack=0"


def sanitizers():
    """What a check has when it is to run its tests, and nothing else, with the sanitized library: in $PIGMENT_SANITIZED the file, and
    in $PIGMENT_UNDER the command before that of the tests. A program that was not built for a sanitizer gets its run time loaded before
    all else, and the library from the loader's path.
    """
    library = build.build_directory("asan") / "libpigment.so.1"
    if not library.exists():
        raise StageError(f"there is no {library}: stage build-asan makes it")
    options = programs.SANITIZER_ENVIRONMENT
    under = [
        *programs.fixed_addresses(), "env", f"LD_PRELOAD={sanitizer_run_time()}", f"LD_LIBRARY_PATH={library.parent}",
        f"ASAN_OPTIONS={options['ASAN_OPTIONS']}:{SANITIZER_OPTIONS}", f"UBSAN_OPTIONS={options['UBSAN_OPTIONS']}"]
    return {"PIGMENT_SANITIZED": str(library), "PIGMENT_UNDER": shlex.join(under)}


def sanitizer_run_time():
    """The shared one of the compiler that the sanitized build has."""
    cache = (build.build_directory("asan") / "CMakeCache.txt").read_text(encoding="utf-8")
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache, re.MULTILINE)[1]
    name = f"libclang_rt.asan-{os.uname().machine}.so" if "clang" in compiler else "libasan.so"
    path = pathlib.Path(build.call([compiler, f"-print-file-name={name}"]).strip())
    if not path.is_absolute():
        raise StageError(f"{compiler} has no {name}")
    return path.resolve()
