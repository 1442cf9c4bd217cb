# SPDX-License-Identifier: Apache-2.0
"""The extension on a PostgreSQL 15 that checks its own assertions, and those in the macros that the extension uses.

Nobody packages one: it is built from the distribution's source package, which `scripts/install-deps asserts` brings.
"""

import build
import postgres
import servers
from report import StageError

FOLDER = build.ROOT / "build/asserts"
MAJOR = 15
OPTIONS = ["--enable-cassert", "--enable-debug", "--without-readline", "--without-zlib", "CFLAGS=-O1"]


def install_and_build(_report):
    build.call(["scripts/install-deps", "asserts"])
    sources = list(FOLDER.glob("source/postgresql-15.*/configure"))
    if len(sources) != 1:
        raise StageError(f"no source of PostgreSQL {MAJOR} in {FOLDER}; scripts/install-deps asserts brings it")
    source, prefix = sources[0].parent, FOLDER / "installed"
    pg_config = prefix / "bin/pg_config"
    if not pg_config.exists():
        script = f"./configure --quiet --prefix={prefix} {' '.join(OPTIONS)} && make -s -j{build.workers()} && make -s install"
        build.call(["sh", "-c", f"cd {source} && {script}"])
    servers.build_modules({MAJOR: pg_config})


class Workspace(servers.CopiedServer):
    def __init__(self):
        super().__init__(MAJOR)

    def _place_server(self):
        return self._copy_server(FOLDER / "installed", self.folder / "installed")


def run(report):
    postgres.run_regress(report, Workspace, "asserts: ")
    postgres.run_isolation(report, Workspace, "asserts: ")
    postgres.run_tap(report, Workspace, "asserts: ")
