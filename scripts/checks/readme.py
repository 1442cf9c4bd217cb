# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of README.md as they stand: the C program on an installed library, the SQL in a server."""

import os
import pathlib
import re
import subprocess
import tempfile

import build
import postgres

BLOCK = re.compile(r"^```(c|sql)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(report):
    blocks = BLOCK.findall((build.ROOT / "README.md").read_text(encoding="utf-8"))
    for number, (language, text) in enumerate(blocks, 1):
        example = run_c if language == "c" else run_sql
        status, output = example(text)
        if status == 0 and output.strip():
            report.passed()
        else:
            report.failed(f"README.md, block {number} ({language})", f"exit status {status}\n{output}")


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
