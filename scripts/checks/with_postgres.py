# SPDX-License-Identifier: Apache-2.0
"""Runs a command against a temporary PostgreSQL that has the extension: see scripts/with-postgres."""

import os
import signal
import subprocess
import sys

import postgres
import servers
from report import StageError


def workspace_of(server):
    """Of the distribution's server, or of one of those that come with pgvector, by its major version."""
    if server is None:
        return postgres.Workspace()
    if not server.isdigit() or int(server) not in servers.INSTALLATIONS:
        raise StageError(f"no server \"{server}\"; there are: {' '.join(map(str, servers.INSTALLATIONS))}")
    servers.install_and_build(None)
    return servers.Workspace(int(server))


def main():
    settings, server, command = [], None, sys.argv[1:]
    while len(command) > 1 and command[0] in ("--set", "--server"):
        if command[0] == "--set":
            settings.append(command[1] + "\n")
        else:
            server = command[1]
        command = command[2:]
    if not command:
        print("usage: with-postgres [--server MAJOR] [--set 'name = value']... COMMAND...", file=sys.stderr)
        return 2
    for number in (signal.SIGTERM, signal.SIGHUP):  # an end by signal also tidies up
        signal.signal(number, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        with workspace_of(server) as workspace:
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
