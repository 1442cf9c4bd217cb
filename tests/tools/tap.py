# SPDX-License-Identifier: Apache-2.0
"""Runs checks one after the other and prints TAP (testanything.org)."""

import traceback


def run(checks, call):
    """Each check through `call(check)`; its title is its docstring, else its name. The exit status: 1 where one raised."""
    failures = 0
    for number, check in enumerate(checks, 1):
        title = check.__doc__ or check.__name__
        try:
            call(check)
            print(f"ok {number} - {title}", flush=True)
        except Exception:
            failures += 1
            said = "".join(f"# {line}\n" for line in traceback.format_exc().splitlines())
            print(f"not ok {number} - {title}\n{said}", end="", flush=True)
    print(f"1..{len(checks)}")
    return 1 if failures else 0
