#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests of the installed package and prints TAP; names of modules as arguments run these alone. --sanitized leaves
out what has no place beside a sanitizer's run time: the wheel as it was made, programs that tests start (chromadb, those of the
guide, the command line), and how much memory the process has, because the run time keeps for a while what was freed."""

import importlib
import sys

import tap

MODULES = ["test_package", "test_surface", "test_values", "test_beyond", "test_arrow", "test_embedding", "test_schema", "test_search", "test_threads", "test_aio",
           "test_names", "test_chroma", "test_docs"]
NOT_SANITIZED = ["test_package", "test_names", "test_chroma", "test_docs", "test_files_of_the_command_line_are_files_of_arrow",
                 "test_nothing_leaks", "test_a_matrix_of_float32_takes_no_memory_on_its_way"]


def main():
    results = tap.Tap()
    without = NOT_SANITIZED if sys.argv[1:] == ["--sanitized"] else []
    wanted = sys.argv[1:] if sys.argv[1:] and not without else [name for name in [*MODULES, "conformance"] if name not in without]
    for name in wanted:
        module = importlib.import_module(name)
        if name == "conformance":
            module.main(results)
        else:
            results.module(module, without)
    return results.finish()


if __name__ == "__main__":
    sys.exit(main())
