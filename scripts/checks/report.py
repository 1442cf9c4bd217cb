# SPDX-License-Identifier: Apache-2.0
"""Counts what the stages of a check report, and decides at the end whether the run is good.

A stage calls passed(), failed() and skipped() for each test. A skip must be listed with its reason in
tests/skips.txt. A stage that reports no test at all is a failure: it has checked nothing.
"""

import fnmatch
import threading
import time

# Minutes that the stages of a share may take together on two cores, from nothing.
SHARES = {"builds": 20, "engine and storage": 14, "PostgreSQL": 12, "peers": 4, "bindings": 8}
# Of a single stage, within its share.
STAGE_MINUTES = {"harness": 10}


class _Counts(threading.local):
    """Of the stage that the thread runs."""

    stage = ""
    passed = failed = skipped = 0


class Report:
    """Stages report from the thread that runs them; several threads may run one each."""

    def __init__(self, skips_path):
        self._allowed_skips = read_skips(skips_path)
        self._lock = threading.Lock()
        self._passed = 0
        self._failures = []
        self._skips = []
        self._counts = _Counts()
        self._start = time.monotonic()
        self._times = []  # stage, share, seconds

    def run_stage(self, name, stage, share, has_tests=True):
        """Runs one stage, prints what it took, returns whether it is good."""
        print(f"== {name}", flush=True)
        counts = self._counts
        counts.stage = name
        counts.passed = counts.failed = counts.skipped = 0
        start = time.monotonic()
        try:
            stage()
            if has_tests and counts.passed + counts.failed + counts.skipped == 0:
                self.failed("stage", "it ran no test")
        except StageError as error:
            self.failed("stage", str(error))
        said = f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped, " if has_tests else ""
        seconds = time.monotonic() - start
        with self._lock:
            self._times.append((name, share, seconds))
        print(f"== {name}: {said}{seconds:.1f} s", flush=True)
        return counts.failed == 0

    def passed(self, count=1):
        self._counts.passed += count
        with self._lock:
            self._passed += count

    def failed(self, test, why):
        self._counts.failed += 1
        with self._lock:
            self._failures.append(f"{self._counts.stage}: {test}")
        print(f"FAILED {self._counts.stage}: {test}\n{indent(why)}", flush=True)

    def skipped(self, test, why):
        self._counts.skipped += 1
        with self._lock:
            self._skips.append(f"{self._counts.stage}: {test}")
        if not any(fnmatch.fnmatchcase(test, pattern) for pattern in self._allowed_skips):
            self.failed(test, f"skipped ({why or 'no reason given'}), and tests/skips.txt does not list it")

    def print_times(self):
        """What each stage took, against the share of the time that it has with others."""
        print("\ntime: minutes taken of the minutes there are")
        taken = {share: [(name, s) for name, of, s in self._times if of == share] for share in SHARES}
        for share, minutes in SHARES.items():
            if not taken[share]:
                continue
            stages = ", ".join(
                against(name, s, STAGE_MINUTES[name]) if name in STAGE_MINUTES else f"{name} {s / 60:.1f}"
                for name, s in taken[share])
            print(f"  {against(share, sum(s for _, s in taken[share]), minutes)}: {stages}")
        total = sum(SHARES[share] for share in SHARES if taken[share])
        print(f"  {against('total', time.monotonic() - self._start, total)}; stages beside each other count in both shares", flush=True)

    def finish(self):
        """Prints the list of failures and, as the very last line, the counts. Returns the exit status."""
        if self._failures:
            print("\nfailures:")
            for failure in self._failures:
                print(f"  {failure}")
        print(f"{self._passed} passed, {len(self._failures)} failed, {len(self._skips)} skipped", flush=True)
        return 1 if self._failures else 0


def against(name, seconds, minutes):
    over = " OVER" if seconds > minutes * 60 else ""
    return f"{name} {seconds / 60:.1f} of {minutes}{over}"


class StageError(Exception):
    """The stage could not do its work: a build that failed, a server that did not start."""


def read_skips(path):
    """Patterns of tests/skips.txt: `pattern: reason` per line, # for comments."""
    patterns = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            pattern, colon, reason = line.partition(": ")
            if not colon or not reason.strip():
                raise SystemExit(f"{path}:{number}: a skip needs a reason: `pattern: reason`")
            patterns.append(pattern.strip())
    return patterns


def indent(text):
    return "\n".join("    " + line for line in str(text).rstrip().splitlines())
