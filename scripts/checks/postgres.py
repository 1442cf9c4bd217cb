# SPDX-License-Identifier: Apache-2.0
"""A temporary PostgreSQL with the extension of a build, and the test drivers that PostgreSQL brings along.

Everything lies in one folder under /tmp: the staged extension (found through Debian's extension_destdir), a copy of
regress/ and the clusters. The server refuses to run as root, so as root the work is done as user postgres. Nothing is
installed into the system, and no cluster of the system is touched.
"""

import getpass
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

import build
from report import StageError

TIMEOUT_S = 900

# Of servers whose segments tests count: merges wait for VACUUM. The test of the worker sets it on.
COUNTED = """\
pigment.background_merge = off
"""
# Of servers whose tests look at what VACUUM took: an autovacuum beside it has a snapshot that keeps dead rows.
ALONE = """\
autovacuum = off
"""


class Workspace:
    """One temporary folder with a staged extension; a context manager that removes it."""

    def __init__(self, preset="release"):
        self._preset = preset

    def __enter__(self):
        # A short path: the server's socket lies below it.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pigment-", dir="/tmp"))
        self.user = "postgres" if os.geteuid() == 0 else getpass.getuser()
        self.configuration = self.folder / "postgresql.conf"
        self.configuration.write_text(self._place_server(), encoding="utf-8")
        if (build.ROOT / "regress").is_dir():
            shutil.copytree(build.ROOT / "regress", self.folder / "regress")
        self.give_away()
        return self

    def _place_server(self):
        """Sets where programs and test drivers are, puts the extension in its place; returns the configuration."""
        self.bindir = pathlib.Path(pg_config("--bindir"))
        # pgxs/src/makefiles/pgxs.mk -> pgxs
        self.pgxs = pathlib.Path(pg_config("--pgxs")).resolve().parents[2]
        stage = self.folder / "stage"
        build.call(
            ["cmake", "--install", str(build.build_directory(self._preset)), "--component", "extension"],
            env={**os.environ, "DESTDIR": str(stage)})
        return configuration(stage)

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def give_away(self):
        """Makes the folder the server's user's."""
        if os.geteuid() == 0:
            build.call(["chown", "-R", f"{self.user}:", str(self.folder)])

    def run(self, command, environment=None, timeout_s=TIMEOUT_S):
        """Runs a command as the server's user; returns (exit status or None after a time-out, output)."""
        variables = {
            "PATH": f"{self.bindir}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "LC_ALL": "C",
            **(environment or {}),
        }
        arguments = [f"{name}={value}" for name, value in variables.items()]
        prefix = ["runuser", "-u", self.user, "--"] if os.geteuid() == 0 else []
        try:
            done = subprocess.run(
                [*prefix, "env", "-i", *arguments, *map(str, command)], cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                errors="replace", timeout=timeout_s)
        except subprocess.TimeoutExpired as expired:
            output = expired.stdout or b""
            return None, output.decode(errors="replace") if isinstance(output, bytes) else output
        return done.returncode, done.stdout

    def configure(self, settings):
        """Settings of the clusters that are created from now on."""
        with open(self.configuration, "a", encoding="utf-8") as configuration:
            configuration.write(settings)

    def start_server(self, settings="", port=None):
        """Creates and starts a cluster, on a TCP port too where one is given; returns the environment that lets libpq find it."""
        data = self.folder / "data"
        self.configure(settings)
        self._must(["initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"])
        self._must(["sh", "-c", f"cat '{self.configuration}' >> '{data}/postgresql.conf'"])
        address = "127.0.0.1" if port else ""
        options = f"-c listen_addresses={address} -c port={port or 5432} -c unix_socket_directories={self.folder}"
        self._must(["pg_ctl", "-w", "-D", data, "-l", self.folder / "server.log", "-o", options, "start"])
        return {"PGHOST": str(self.folder), "PGPORT": str(port or 5432), "PGUSER": "postgres", "PGDATABASE": "postgres"}

    def stop_server(self):
        self.run(["pg_ctl", "-w", "-m", "immediate", "-D", self.folder / "data", "stop"])

    def _must(self, command):
        status, output = self.run(command)
        if status != 0:
            log = self.folder / "server.log"
            said = log.read_text(errors="replace") if log.exists() else ""
            raise StageError(f"{' '.join(map(str, command))}: exit status {status}\n{output}\n{said}")


def configuration(stage):
    """Of a server that has the extension below a folder: its first setting is for extensions, the second for libraries that settings name."""
    return f"""\
extension_destdir = '{stage}'
dynamic_library_path = '$libdir:{stage}{pg_config("--pkglibdir")}'
fsync = off
jit = off
"""


def pg_config(option):
    tool = shutil.which("pg_config") or "/usr/lib/postgresql/15/bin/pg_config"
    return subprocess.run([tool, option], check=True, capture_output=True, text=True).stdout.strip()


# ---- pg_regress and the isolation tester -------------------------------------------------------

# "test types ... ok 123 ms", "     operators ... FAILED 45 ms", "test x ... failed (ignored)"
REGRESS_LINE = re.compile(r"^(?:test)?\s+(\S+)\s+\.\.\.\s+(ok|FAILED|failed \(ignored\))", re.MULTILINE)


def run_regress(report, make_workspace=Workspace, prefix="", translate=None):
    """`translate` makes of what a server printed what the distribution's would have printed."""
    with make_workspace() as workspace:
        schedule = workspace.folder / "regress/schedule"
        tool = workspace.pgxs / "src/test/regress/pg_regress"
        _run_driver(report, workspace, tool, "sql", [f"--schedule={schedule}"], prefix, translate)


def run_isolation(report, make_workspace=Workspace, prefix=""):
    specs = sorted(path.stem for path in (build.ROOT / "regress/specs").glob("*.spec"))
    with make_workspace() as workspace:
        tool = workspace.pgxs / "src/test/isolation/pg_isolation_regress"
        _run_driver(report, workspace, tool, "isolation", ["--load-extension=pigment", *specs], prefix)


def _run_driver(report, workspace, tool, name, arguments, prefix="", translate=None):
    output_folder = workspace.folder / name
    output_folder.mkdir()
    workspace.configure(COUNTED + ALONE)
    workspace.give_away()
    status, output = workspace.run([
        tool, f"--inputdir={workspace.folder}/regress", f"--outputdir={output_folder}",
        f"--bindir={workspace.bindir}", f"--temp-instance={workspace.folder}/instance",
        f"--temp-config={workspace.configuration}", "--no-locale", "--encoding=UTF8", *arguments])
    failures, translated = 0, 0
    for test, outcome in REGRESS_LINE.findall(output):
        if outcome == "ok":
            report.passed()
        elif translate and _is_same(workspace, output_folder, test, translate):
            translated += 1
            report.passed()
        else:
            failures += 1
            report.failed(prefix + test, f"differs from regress/expected/{test}.out")
    if failures:
        print(_tail(output_folder / "regression.diffs", 400), flush=True)
    elif status != 0 and not (translated and re.search(rf"\b{translated} of \d+ tests failed", output)):
        log = _tail(output_folder / "log/postmaster.log", 60)
        report.failed(prefix + name, f"{tool.name}: exit status {status}\n{output[-4000:]}\n{log}")


def _is_same(workspace, output_folder, test, translate):
    expected = (workspace.folder / f"regress/expected/{test}.out").read_text(encoding="utf-8")
    return translate((output_folder / f"results/{test}.out").read_text(encoding="utf-8", errors="replace")) == expected


def _tail(path, lines):
    if not path.exists():
        return ""
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])


# ---- TAP ---------------------------------------------------------------------------------------

# Only lines at the left edge: those of subtests are indented and counted by their parent.
TAP_LINE = re.compile(r"^(not )?ok \d+(?: - )?(.*)$")
TAP_DIRECTIVE = re.compile(r"(?:^|\s)#\s*(skip|todo)\b\s*(.*)$", re.IGNORECASE)
TAP_SKIP_ALL = re.compile(r"^1\.\.0 # SKIP ?(.*)$", re.IGNORECASE)


def run_tap(report, make_workspace=Workspace, prefix=""):
    for path in sorted((build.ROOT / "regress/t").glob("*.pl")):
        with make_workspace() as workspace:
            _run_tap_file(report, workspace, path.name, prefix)


def _run_tap_file(report, workspace, name, prefix):
    for folder in ("tap", "log"):
        (workspace.folder / folder).mkdir()
    workspace.configure(COUNTED)
    workspace.give_away()
    status, output = workspace.run(
        ["perl", "-I", workspace.pgxs / "src/test/perl", "-I", workspace.folder / "regress/t",
         workspace.folder / "regress/t" / name],
        {
            "PG_REGRESS": workspace.pgxs / "src/test/regress/pg_regress",
            "PGPORT": str(free_port()),
            "TESTDIR": workspace.folder,
            "TESTDATADIR": workspace.folder / "tap",
            "TESTLOGDIR": workspace.folder / "log",
            "TEMP_CONFIG": workspace.configuration,
        })
    logs = sorted((workspace.folder / "log").glob("*.log"))
    report_tap(report, f"{prefix}t/{name}", status, output, logs)


def report_tap(report, name, status, output, logs):
    """Counts the lines of a TAP program; when something fails, shows those but of what passed, and what the servers said."""
    failures, tests = 0, 0
    for line in output.splitlines():
        match, skip_all = TAP_LINE.match(line), TAP_SKIP_ALL.match(line)
        if skip_all:
            tests += 1
            report.skipped(name, skip_all.group(1))
        if not match:
            continue
        tests += 1
        directive = TAP_DIRECTIVE.search(match.group(2))
        kind = directive.group(1).lower() if directive else ""
        if kind:  # a test that is known to fail must be listed like one that is skipped
            report.skipped(f"{name}: {match.group(2)[:directive.start()] or 'unnamed'}", directive.group(2))
        elif match.group(1):
            failures += 1
            report.failed(f"{name}: {match.group(2)}", "")
        else:
            report.passed()
    if status != 0 or failures or tests == 0:
        servers = "\n".join(_tail(path, 60) for path in logs)
        said = "\n".join(line for line in output.splitlines() if not line.startswith("ok "))
        detail = f"exit status {status}, {tests} tests\n{said[-6000:]}\n{servers[-8000:]}"
        if failures:
            print(detail, flush=True)
        else:
            report.failed(name, detail)


# ---- Both homes against each other -------------------------------------------------------------


def run_homes(report):
    """The same calls through the C library and through SQL."""
    _run_beside_library(report, "regress/differential/compare.py")


def run_filters(report):
    """Random conditions with an index and without; then on tables with graphs and clusters, with no setting touched; ranked texts beside the formula."""
    _run_beside_library(report, "regress/differential/filters.py")
    _run_beside_library(report, "regress/differential/ranked.py")
    _run_beside_library(report, "regress/differential/recall.py")


def run_corpus(report):
    """The conformance scripts through SQL."""
    _run_beside_library(report, "tests/conformance/sql_runner.py")


def run_copies(report):
    """The command line's copies between directories and a server."""
    _run_beside_library(report, "tests/tools/check_copy.py", "tools/pigment")


def _run_beside_library(report, name, built="libpigment.so"):
    """A program that takes a file of the build, the library, and finds a new server."""
    program = build.ROOT / name
    library = build.build_directory("release") / built
    with Workspace() as workspace:
        try:
            environment = workspace.start_server()
            path = f"{workspace.bindir}:{os.environ['PATH']}"
            run = subprocess.run(
                [sys.executable, str(program), str(library)],
                env={**os.environ, **environment, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=TIMEOUT_S)
        finally:
            workspace.stop_server()
        report_tap(report, program.name, run.returncode, run.stdout, [workspace.folder / "server.log"])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
