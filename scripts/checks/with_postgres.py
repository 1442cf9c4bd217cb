# SPDX-License-Identifier: Apache-2.0
"""Runs a command against a temporary PostgreSQL that has the extension: see scripts/with-postgres."""

import os
import signal
import subprocess
import sys

import postgres
from report import StageError


def main():
    settings, command = [], sys.argv[1:]
    while command and command[0] == "--set":
        settings.append(command[1] + "\n")
        command = command[2:]
    if not command:
        print("usage: with-postgres [--set 'name = value']... COMMAND...", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGHUP):  # an end by signal also tidies up
        signal.signal(number, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with postgres.Workspace() as workspace:
            try:
                environment = workspace.start_server("".join(settings))
                path = f"{workspace.bindir}:{os.environ['PATH']}"
                # Its temporary files go when the server goes, whatever ends it.
                mine = {"PATH": path, "TMPDIR": str(workspace.folder)}
                return subprocess.run(command, env={**os.environ, **environment, **mine}).returncode
            finally:
                workspace.stop_server()
    except StageError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
