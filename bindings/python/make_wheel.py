# SPDX-License-Identifier: Apache-2.0
"""The wheel, made with the library of an install prefix: for check and for scripts/packages."""

import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"  # as the environment of the stage `peers`


class Failed(Exception):
    """A command failed; its text is the command and what it printed."""


def run(command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(str(part) for part in command)}\n{done.stdout}")


def environment(folder):
    """The interpreter of a virtual environment with what building and testing need, made again when that has changed."""
    requirements, installed = HERE / "tests/requirements.txt", folder / "requirements.txt"
    if not installed.exists() or installed.read_bytes() != requirements.read_bytes():
        shutil.rmtree(folder, ignore_errors=True)
        run([PYTHON, "-m", "venv", folder])
        run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements])
        shutil.copyfile(requirements, installed)
    return folder / "bin/python"


def build(python, prefix, scratch, folder):
    """Puts the wheel into `folder`; `scratch` is kept for the next time."""
    run([python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--wheel-dir", folder,
         f"--config-settings=cmake.define.PIGMENT_PREFIX={prefix}", f"--config-settings=build-dir={scratch}", HERE])
