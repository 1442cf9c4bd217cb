#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests of the installed package and prints TAP; names of modules as arguments run these alone."""

import importlib
import sys

import tap

MODULES = ["test_package", "test_surface", "test_values", "test_beyond", "test_arrow", "test_embedding", "test_schema", "test_search", "test_threads", "test_aio",
           "test_names", "test_chroma", "test_docs"]


def main():
    results = tap.Tap()
    wanted = sys.argv[1:] or [*MODULES, "conformance"]
    for name in wanted:
        module = importlib.import_module(name)
        if name == "conformance":
            module.main(results)
        else:
            results.module(module)
    return results.finish()


if __name__ == "__main__":
    sys.exit(main())
