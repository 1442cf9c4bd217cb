# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of README.md and docs/sql.md as they stand: the C program on an installed library, the SQL in a server."""

import os
import pathlib
import re
import subprocess
import tempfile

import build
import postgres

BLOCK = re.compile(r"^```(c|sql)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(report):
    readme = (build.ROOT / "README.md").read_text(encoding="utf-8")
    for number, (language, text) in enumerate(BLOCK.findall(readme), 1):
        name = f"README.md, block {number} ({language})"
        status, output = run_c(text) if language == "c" else run_sql(text)
        if status != 0 or not output.strip():
            report.failed(name, f"exit status {status}\n{output}")
        elif language == "c" and output not in readme:
            report.failed(name, f"README.md does not show what the program prints:\n{output}")
        else:
            report.passed()
    guide = (build.ROOT / "docs/sql.md").read_text(encoding="utf-8")
    status, output = run_sql("".join(text for _, text in BLOCK.findall(guide)))  # each goes on from the one before
    if status == 0 and output.strip():
        report.passed()
    else:
        report.failed("docs/sql.md", f"exit status {status}\n{output}")


def run_c(text):
    with tempfile.TemporaryDirectory(prefix="pigment-readme.") as name:
        folder = pathlib.Path(name)
        build.call([
            "cmake", "--install", str(build.build_directory("release")), "--prefix", f"{folder}/prefix",
            "--component", "library"])
        lib = next(folder.rglob("libpigment.so")).parent
        (folder / "example.c").write_text(text, encoding="utf-8")
        compiled = subprocess.run(
            f"cc -std=c99 -Wall -Wextra -Werror example.c -o example $(pkg-config --cflags --libs pigment)",
            shell=True, cwd=folder, env={**os.environ, "PKG_CONFIG_PATH": f"{lib}/pkgconfig"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if compiled.returncode != 0:
            return compiled.returncode, compiled.stdout
        ran = subprocess.run(
            ["./example"], cwd=folder, env={**os.environ, "LD_LIBRARY_PATH": str(lib)}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=60)
        return ran.returncode, ran.stdout


def run_sql(text):
    with postgres.Workspace() as workspace:
        try:
            environment = workspace.start_server()
            script = workspace.folder / "example.sql"
            script.write_text(text, encoding="utf-8")
            return workspace.run(["psql", "-X", "-v", "ON_ERROR_STOP=1", "-f", script], environment)
        finally:
            workspace.stop_server()
