#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same random operations to Pigment, through its C interface, and to Chroma's embedded client: every answer and every
refusal must be equal, but for the differences of README.md, which are probed first and counted. Prints one TAP line a check."""

import argparse
import collections
import json
import logging
import pathlib
import random
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import libpigment
from compare import difference
from differences import DIFFERENCES, Context
from stores import Chroma, Pigment
from stream import Stream

LIFE_STEPS = 250  # then both begin again with empty stores
SHRINK_SECONDS = 60


class Failure(Exception):
    def __init__(self, steps, what, ours, theirs):
        super().__init__(what)
        self.steps, self.what, self.ours, self.theirs = steps, what, ours, theirs


class Pair:
    """A store of each, in a temporary folder."""

    def __init__(self, library):
        self.folder = tempfile.TemporaryDirectory(prefix="pigment-chroma.")
        self.ours = Pigment(self.folder.name + "/ours", library)
        self.theirs = Chroma(self.folder.name + "/theirs")
        self.steps, self.excused = [], collections.Counter()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for store in (self.ours, self.theirs):
            store.close()
        self.folder.cleanup()

    def do(self, step):
        """Both do it; raises Failure for a difference that the list does not explain."""
        self.steps.append(step)
        ours, theirs = self.ours.do(step), self.theirs.do(step)
        left = [one for one in DIFFERENCES if one.explain is not None]
        while (what := difference(step, ours, theirs)) is not None:
            context = Context(step, ours, theirs, self.rows, self.space)
            explained = ((one, one.explain(context)) for one in left)
            reason, without = next((pair for pair in explained if pair[1] is not None), (None, None))
            if reason is None:
                raise Failure(list(self.steps), what, ours, theirs)
            left.remove(reason)
            self.excused[reason.tag] += 1
            theirs = without

    def rows(self, handle):
        return self.ours.collections[handle].get()

    def space(self, handle):
        return self.ours.describe(handle)["configuration"]["space"]

    def known(self, handle):
        return self.ours.collections[handle].get_columns(include=libpigment.INCLUDE_NOTHING)[0]["ids"]


def live(library, seed, life, count):
    """One life of both stores; returns how often each difference was met."""
    with Pair(library) as pair:
        stream = Stream(random.Random(f"{seed}:{life}"), pair.known)
        while len(pair.steps) < count:
            pair.do(stream.next())
        return pair.excused


def fails_alike(library, steps, failure):
    """Whether the steps still end in the same difference; those whose collection is gone are left out."""
    with Pair(library) as pair:
        for step in steps:
            handle = step.get("args", {}).get("collection")
            if handle is not None and handle not in pair.ours.collections:
                continue
            try:
                pair.do(step)
            except Failure as found:
                return found.what == failure.what and found.steps[-1] == failure.steps[-1]
    return False


def shortest(library, failure):
    """As few of the steps as can be found in a minute by leaving out ever smaller parts of them."""
    steps, part = failure.steps, len(failure.steps) // 2
    end = time.monotonic() + SHRINK_SECONDS
    while part > 0 and time.monotonic() < end:
        begin = 0
        while begin < len(steps) - 1 and time.monotonic() < end:
            fewer = steps[:begin] + steps[min(begin + part, len(steps) - 1):]
            if fails_alike(library, fewer, failure):
                steps = fewer
            else:
                begin += part
        part //= 2
    return steps


class Tap:
    def __init__(self):
        self.number, self.failures = 0, 0

    def check(self, name, good, detail=""):
        self.number += 1
        print(f"{'ok' if good else 'not ok'} {self.number} - {name}", flush=True)
        if not good:
            self.failures += 1
            print("\n".join("# " + line for line in detail.splitlines()), flush=True)

    def finish(self):
        print(f"1..{self.number}")
        return 1 if self.failures else 0


def probe(tap, library):
    """Each difference of the list: Chroma still does what the list says, we do not, and README.md has its tag."""
    readme = pathlib.Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    for one in DIFFERENCES:
        with Pair(library) as pair:
            (theirs, their_answer), (ours, our_answer) = one.probe(pair.theirs), one.probe(pair.ours)
        tap.check(f"probe of {one.tag}: Chroma still does so, we do not", theirs and not ours,
                  f"theirs: {their_answer}\nours: {our_answer}\nOr README.md and the list are wrong.")
        tap.check(f"README.md has {one.tag}", f"| `{one.tag}` |" in readme)


def report(library, seed, life, failure):
    lines = [f"seed {seed}, life {life}, step {len(failure.steps)}: {failure.what} differs",
             f"step: {json.dumps(failure.steps[-1], ensure_ascii=False)}", f"ours: {failure.ours}"[:3000],
             f"theirs: {failure.theirs}"[:3000],
             f"again: tests/conformance/chroma/run.py LIBRARY --seed {seed} --life {life}", "shortest script:"]
    lines += [json.dumps(step, ensure_ascii=False) for step in shortest(library, failure)]
    return "\n".join(lines)


def stream(tap, library, options):
    lives = [options.life] if options.life is not None else range(-(-options.operations // LIFE_STEPS))
    excused, done = collections.Counter(), 0
    for life in lives:
        count = min(LIFE_STEPS, options.operations - done)
        try:
            excused += live(library, options.seed, life, count)
            tap.check(f"{count} operations of life {life}, seed {options.seed}", True)
        except Failure as failure:
            tap.check(f"life {life}, seed {options.seed}", False, report(library, options.seed, life, failure))
        done += count
    for one in DIFFERENCES:
        if one.explain is not None:
            most = one.per_thousand * max(done, 1000) / 1000
            tap.check(f"{one.tag}: {excused[one.tag]} times in {done} operations, at most {most:.0f}", excused[one.tag] <= most)
    print(f"effort: operations beside Chroma {done} (floor {options.operations if options.life is None else 1})")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", help="libpigment.so")
    parser.add_argument("--operations", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=None, help="without one a new one is drawn and printed")
    parser.add_argument("--life", type=int, help="this one alone")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(2**32)
    logging.disable(logging.CRITICAL)  # Chroma tells on its own what it also answers
    library, tap = libpigment.Library(options.library), Tap()
    probe(tap, library)
    stream(tap, library, options)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
