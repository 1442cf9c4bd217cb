# SPDX-License-Identifier: Apache-2.0
"""What docs/python.md, docs/from-chroma.md and README.md show runs, and prints what they say."""

import contextlib
import io
import os
import pathlib
import re
import tempfile

from pigment.api.client import SharedSystemClient

ROOT = pathlib.Path(os.environ["PIGMENT_ROOT"])


def run_page(path):
    """Every ```python block of a page in order, in one namespace and an empty folder; a ```text block after one is what it prints."""
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert any(kind == "python" for kind, _ in blocks), path
    names, output = {}, io.StringIO()
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for kind, block in blocks:
                if kind == "text":
                    assert output.getvalue() == block, f"{path.name} says\n{block}and this was printed\n{output.getvalue()}"
                    continue
                output = io.StringIO()
                with contextlib.redirect_stdout(output):
                    exec(compile(block, str(path), "exec"), names)
        finally:
            os.chdir(before)
            SharedSystemClient.clear_system_cache()
    return blocks


def test_the_guide_runs():
    blocks = run_page(ROOT / "docs/python.md")
    assert len(blocks[0][1].strip().splitlines()) <= 15, "the first example has fifteen lines at most"


def test_the_migration_guide_runs():
    run_page(ROOT / "docs/from-chroma.md")


def test_the_readme_runs():
    run_page(ROOT / "bindings/python/README.md")
