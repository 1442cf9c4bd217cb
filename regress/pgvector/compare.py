# SPDX-License-Identifier: Apache-2.0
"""The same catalog and the same random expressions for pgvector and for Pigment, in one server; a TAP program.

    compare.py [SEED] [EXPRESSIONS]

What differs on purpose is in `known_difference` and in `catalog.py`, with its reason, and is counted.
"""

import collections
import math
import random
import re
import sys

import both
import catalog
import expressions

EXPRESSIONS = 20000
SHOWN = 8  # of the failures of a group

# Parts of a relative error of two sums of floats that are added in another order.
TOLERANCE = 4e-6
FLT_MAX, FLT_TRUE_MIN = 3.4028234663852886e38, 1.401298464324817e-45
NUMBER = re.compile(r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?")


def known_difference(expression, theirs, ours, sums):
    """Why two answers may differ, or None; `sums` as of reach_of_sums()."""
    if sums > FLT_MAX:
        return "sums that overflow a float on the way, or not, by the order of adding"
    if theirs.state == ours.state != "" and theirs.message != ours.message:
        return "messages name more, or count from 1"
    if ("<=>" in expression or "cosine" in expression) and not theirs.state:
        if re.search(r"e\+?(18|19|3\d)\b", expression):
            return "sums of squares that overflow a float: pgvector's cosine distance is NaN or wrong, ours is right"
        if re.search(r"e-(19|[234]\d)\b", expression):
            return "squares below the normal range of a float: pgvector's cosine distance is NaN or wrong, ours is right"
    return None


def as_number(answer):
    try:
        return float(answer.value)
    except (TypeError, ValueError):
        return None


def reach_of_sums(expression):
    """What the absolute products of an inner product add up to, as far as rounding is concerned; 0 for other expressions.

    Terms of both signs cancel, so that an error is a part of this and not of the result. FLT_TRUE_MIN for each term is what
    a product below the normal range may lose."""
    if "<#>" not in expression and "inner_product" not in expression:
        return 0
    (a, a_kind), (b, b_kind) = re.findall(r"'([^']*)'::(\w+)", expression)
    a, b = ([float(number) for number in NUMBER.findall(text.split("]")[0].split("}")[0])] for text in (a, b))
    if "sparsevec" in (a_kind, b_kind):
        a, b = (dict(zip(map(int, numbers[::2]), numbers[1::2])) for numbers in (a, b))
        pairs = [(a[place], b[place]) for place in a.keys() & b.keys()]
    else:
        pairs = list(zip(a, b))
    return sum(abs(x * y) for x, y in pairs) + len(pairs) * FLT_TRUE_MIN / TOLERANCE


def is_close(theirs, ours, floor):
    a, b = as_number(theirs), as_number(ours)
    if a is None or b is None:
        return False
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= max(TOLERANCE * max(abs(a), abs(b)), floor)


class Comparison:
    def __init__(self, tap, theirs, ours):
        self._tap, self._theirs, self._ours = tap, theirs, ours
        self.differences = collections.Counter()
        self.examples = {}

    def group(self, name, count, make, close=False, **options):
        """Asks both for `count` expressions of make(): text, or (text, bytes, type) for the receive function."""
        failures, errors = [], 0
        for _ in range(count):
            made = make()
            expression, received, kind = made if isinstance(made, tuple) else (made, None, None)
            theirs, ours = (
                side.ask(expression, received, kind, **options) for side in (self._theirs, self._ours))
            errors += theirs.state != ""
            if theirs == ours:
                continue
            sums = reach_of_sums(expression) if close and not theirs.state and not ours.state else 0
            if close and is_close(theirs, ours, 1e-6 if "<=>" in expression or "cosine" in expression else TOLERANCE * sums):
                continue
            reason = known_difference(expression, theirs, ours, sums)
            if reason:
                self.differences[reason] += 1
                self.examples.setdefault(reason, f"{expression[:120]!r}: {theirs} | {ours}")
                continue
            failures.append(f"{expression[:300]!r} {received.hex() if received else ''}: theirs {theirs}, ours {ours}")
        self._tap.check(
            not failures and errors < count, f"{name}: {count} expressions, {errors} refused by both",
            [f"{len(failures)} differ"] + failures[:SHOWN])


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(2 ** 32)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else EXPRESSIONS
    print(f"# seed {seed}, {count} expressions")
    tap = both.Tap()
    theirs, ours = both.install()
    catalog.compare(tap, theirs.connection)

    source = expressions.Source(random.Random(seed))
    comparison = Comparison(tap, theirs, ours)
    share = count // 20
    for kind in both.TYPES:
        comparison.group(f"{kind}, text in and out", 2 * share, lambda: source.input(kind))
        comparison.group(f"{kind}, text in, bytes out", share, lambda: source.value(kind), binary=True)
        comparison.group(f"{kind}, bytes in, text out", 2 * share, lambda: ("$1", source.bytes(kind), kind))
    comparison.group("distances", share, source.distance, close=True)
    comparison.group("norms", share // 2, source.norm, close=True)
    comparison.group("distances of bit", share // 2, source.bits)
    comparison.group("comparison", share, source.comparison)
    comparison.group("functions and arithmetic", share, source.function)
    comparison.group("casts", share, source.cast)
    comparison.group("aggregates", share // 2, source.aggregate)
    for reason, number in comparison.differences.items():
        print(f"# differs on purpose, {number} times: {reason}; for example {comparison.examples[reason]}")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
