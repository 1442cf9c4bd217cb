#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the package costs beside C: a query of 10 results with documents and metadata, and batches of records. Prints
`python FIGURE binding_ns c_ns ratio` lines, each the best of interleaved rounds, and the same script beside chromadb where
an interpreter that has it is given. The machine and the sizes come first: figures of another machine are others.

usage: bench.py [--calls CALLS] [--chroma PYTHON] [--rows N]     with the package installed; CALLS is calls.c as a shared library"""

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

DIMENSION, QUERIES, BATCH, ROUNDS = 384, 500, 1000, 7


def made_vectors(rows, seed):
    """Points around some centres, as embeddings lie."""
    draw = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(size=(64, DIMENSION))
    return (centres[draw.integers(0, 64, rows)] + draw.normal(scale=0.7, size=(rows, DIMENSION))).astype(np.float32)


def records(vectors, first, count):
    rows = range(first, first + count)
    return {"ids": [f"record-{row}" for row in rows], "embeddings": vectors[first:first + count],
            "documents": [f"document {row} is a passage of some ninety letters, as a chunk of a text is, and ends with {row}"
                          for row in rows],
            "metadatas": [{"number": row, "topic": "law", "weight": 0.5, "draft": False, "page": row} for row in rows]}


def add_all(collection, vectors):
    """Nanoseconds a record in add(): the program's own making of records is not the package's."""
    taken = 0
    for first in range(0, len(vectors), BATCH):
        batch = records(vectors, first, min(BATCH, len(vectors) - first))
        begin = time.perf_counter_ns()
        collection.add(**batch)
        taken += time.perf_counter_ns() - begin
    return taken // len(vectors)


def query_all(collection, queries):
    """Nanoseconds for all queries, everything in the answer read."""
    begin = time.perf_counter_ns()
    for at in range(len(queries)):
        answer = collection.query(query_embeddings=queries[at:at + 1], n_results=10)
        if len(answer["ids"][0]) != 10:
            raise SystemExit(f"a query found {len(answer['ids'][0])} of 10")
    return time.perf_counter_ns() - begin


def script(module, folder, vectors, queries):
    """The script that is run by both packages: nanoseconds a record and a query."""
    client = module.PersistentClient(folder)
    collection = client.create_collection("bench", embedding_function=None)
    return add_all(collection, vectors), min(query_all(collection, queries) for _ in range(ROUNDS)) // len(queries)


def beside_c(calls, folder, vectors, queries):
    import pigment

    library = ctypes.CDLL(calls)
    library.bench_query.restype = library.bench_add.restype = ctypes.c_int64

    def c_add(collection):
        taken = library.bench_add(*c_arguments(collection, vectors), ctypes.c_size_t(BATCH))
        return must(taken) // len(vectors)

    for home in ("memory", "directory"):
        ours, theirs = [], []
        for number in range(ROUNDS):
            for figures, side, function in ((theirs, "c", c_add), (ours, "python", lambda one: add_all(one, vectors))):
                with (pigment.EphemeralClient() if home == "memory" else pigment.PersistentClient(f"{folder}/{side}")) as client:
                    figures.append(function(client.create_collection("bench", embedding_function=None)))
                if home == "directory" and (side, number) != ("python", ROUNDS - 1):
                    shutil.rmtree(f"{folder}/{side}")
        show(f"add_{home}_record", min(ours), min(theirs))
    with pigment.PersistentClient(f"{folder}/python") as client:
        collection = client.get_collection("bench", embedding_function=None)
        collection.compact()
        ours, theirs = [], []
        for first in [*range(0, QUERIES, 50)] * ROUNDS:  # short turns, so that what else the machine does meets both
            some = queries[first:first + 50]
            theirs.append((first, must(library.bench_query(*c_arguments(collection, some)))))
            ours.append((first, query_all(collection, some)))
        show("query_10", best_of_parts(ours), best_of_parts(theirs))


def best_of_parts(figures):
    """Nanoseconds a query: for each part of the queries the best of its rounds."""
    best = {}
    for part, taken in figures:
        best[part] = min(taken, best.get(part, taken))
    return sum(best.values()) // QUERIES


def c_arguments(collection, vectors):
    return (ctypes.c_void_p(collection._handle.address), ctypes.c_void_p(vectors.ctypes.data), ctypes.c_size_t(len(vectors)),
            ctypes.c_size_t(DIMENSION))


def must(taken):
    if taken < 0:
        raise SystemExit("a call from C failed")
    return taken


def show(figure, ours, theirs):
    print(f"python {figure} {ours} {theirs} {ours / theirs:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", help="calls.c as a shared library")
    parser.add_argument("--chroma", help="an interpreter that has chromadb")
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--script", choices=["pigment", "chromadb"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    vectors, queries = made_vectors(options.rows, 1), made_vectors(QUERIES, 2)
    with tempfile.TemporaryDirectory(prefix="pigment-bench.") as folder:
        if options.script:
            module = __import__(options.script)
            print(*script(module, folder + "/store", vectors, queries))
            return
        print(f"machine {os.cpu_count()} cores, {options.rows} records of {DIMENSION} numbers, batches of {BATCH}, "
              f"{QUERIES} queries, best of {ROUNDS} rounds, load {os.getloadavg()[0]:.1f}", flush=True)
        if options.calls:
            beside_c(options.calls, folder, vectors, queries)
        if options.chroma:
            figures = []
            for interpreter, name in ((sys.executable, "pigment"), (options.chroma, "chromadb")):
                done = subprocess.run([interpreter, __file__, "--script", name, "--rows", str(options.rows)], check=True,
                                      stdout=subprocess.PIPE, env={**os.environ, "ANONYMIZED_TELEMETRY": "False"})
                figures.append([int(one) for one in done.stdout.split()])
            for at, figure in enumerate(("add_record", "query_10")):
                print(f"chromadb {figure} pigment_ns {figures[0][at]} chromadb_ns {figures[1][at]} "
                      f"faster {figures[1][at] / figures[0][at]:.1f}", flush=True)


if __name__ == "__main__":
    main()
