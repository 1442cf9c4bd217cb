# SPDX-License-Identifier: Apache-2.0
"""Runs functions as tests and prints TAP. A test fails by an exception; every line of it is printed as a comment."""

import traceback

from pigment.api.client import SharedSystemClient


class Tap:
    def __init__(self):
        self.number, self.failures = 0, 0

    def report(self, name, good, detail=""):
        self.number += 1
        print(f"{'ok' if good else 'not ok'} {self.number} - {name}", flush=True)
        if not good:
            self.failures += 1
            print("\n".join("# " + line for line in detail.splitlines()), flush=True)

    def test(self, name, function, *arguments):
        SharedSystemClient.clear_system_cache()  # the clients in memory share a store, and an earlier test may have left its own open
        try:
            function(*arguments)
        except BaseException:
            self.report(name, False, traceback.format_exc())
        else:
            self.report(name, True)

    def module(self, module, without=()):
        """Every function of a module whose name begins with test_, but those; the name is the sentence."""
        for name, function in list(vars(module).items()):
            if name.startswith("test_") and name not in without:
                self.test(f"{module.__name__}: {name.removeprefix('test_').replace('_', ' ')}", function)

    def finish(self):
        print(f"1..{self.number}", flush=True)
        return 1 if self.failures else 0


def raises(kind, function, *arguments, **keywords):
    """The exception, which must be of this kind or below it, or of one of several; given (kind, text) the text must be in it."""
    kind, text = kind if isinstance(kind, tuple) and isinstance(kind[1], str) else (kind, "")
    try:
        answer = function(*arguments, **keywords)
    except kind as error:
        assert text in str(error), f"{text!r} is not in {error!r}"
        return error
    raise AssertionError(f"{kind} expected, got {answer!r}")
