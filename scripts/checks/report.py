# SPDX-License-Identifier: Apache-2.0
"""Counts what the stages of a check report, and decides at the end whether the run is good.

A stage calls passed(), failed() and skipped() for each test. A skip must be listed with its reason in
tests/skips.txt. A stage that reports no test at all is a failure: it has checked nothing.
"""

import fnmatch
import time

# Minutes that the stages of a share may take together on two cores, from nothing.
SHARES = {"builds": 20, "engine and storage": 14, "PostgreSQL": 12, "peers": 4, "bindings": 8}
# Of a single stage, within its share.
STAGE_MINUTES = {"harness": 10}


class Report:
    def __init__(self, skips_path):
        self._allowed_skips = read_skips(skips_path)
        self._passed = 0
        self._failures = []
        self._skips = []
        self._stage = ""
        self._times = []  # stage, share, seconds

    def run_stage(self, name, stage, share, has_tests=True):
        """Runs one stage, prints what it took, returns whether it is good."""
        print(f"== {name}", flush=True)
        self._stage = name
        start = time.monotonic()
        passed, failed, skipped = self._passed, len(self._failures), len(self._skips)
        try:
            stage()
            if has_tests and (self._passed, len(self._failures), len(self._skips)) == (passed, failed, skipped):
                self.failed("stage", "it ran no test")
        except StageError as error:
            self.failed("stage", str(error))
        counts = (
            f"{self._passed - passed} passed, {len(self._failures) - failed} failed, "
            f"{len(self._skips) - skipped} skipped, " if has_tests else "")
        seconds = time.monotonic() - start
        self._times.append((name, share, seconds))
        print(f"== {name}: {counts}{seconds:.1f} s", flush=True)
        return len(self._failures) == failed

    def passed(self, count=1):
        self._passed += count

    def failed(self, test, why):
        self._failures.append(f"{self._stage}: {test}")
        print(f"FAILED {self._stage}: {test}\n{indent(why)}", flush=True)

    def skipped(self, test, why):
        self._skips.append(f"{self._stage}: {test}")
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
        print(f"  {against('total', sum(s for _, _, s in self._times), total)}", flush=True)

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
