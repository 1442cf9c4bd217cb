#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recall with no setting touched: k = 1, 10 and 100, with a filter and without, in one segment and in as many as merges leave."""

import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "common"), str(ROOT / "bench" / "vectors")]

import machine
import pigment_library
import sets
import truth

WANTED = 0.975
NEIGHBORS = (1, 10, 100)
BATCH_ROWS = 1000


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"), help="folder of the data set")
    parser.add_argument("--library", default=str(ROOT / "build" / "release" / "libpigment.so"))
    parser.add_argument("--sets", type=lambda text: text.split(","), default=sets.DEFAULT_SETS)
    parser.add_argument("--index", choices=("hnsw", "spann"), default="hnsw", help="what the collection is configured for")
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--seed", type=int, default=20261121)
    options = parser.parse_args()
    options.k, options.inserts, options.filter_queries = max(NEIGHBORS), 1, options.queries
    return options


def nearest(distances, mask, k):
    """The distances of the k nearest rows of each query, in double."""
    among = distances if mask is None else distances[:, mask]
    return numpy.sort(numpy.partition(among, k - 1, axis=1)[:, :k], axis=1)


def measure(collection, data, distances, mask, where):
    recalls = []
    for k in NEIGHBORS:
        limit = nearest(distances, mask, k)[:, -1] * (1 + 1e-6)
        right = 0
        begin = time.perf_counter()
        answers = [collection.query(query, k, where) for query in data.queries]
        rate = len(answers) / (time.perf_counter() - begin)
        for query, answer in enumerate(answers):
            rows = [int(name[4:]) for name in answer]
            if len(rows) != k:
                raise RuntimeError(f"{len(rows)} rows of {k}")
            right += sum(distances[query, row] <= limit[query] for row in rows)
        recalls.append((right / (k * len(answers)), rate))
    return recalls


def segments_of(folder):
    path = os.path.join(folder, "segments")
    return len([name for name in os.listdir(path) if name.endswith(".seg")])


def run(library, options, key):
    data = sets.build(key, options)
    data.queries = numpy.ascontiguousarray(data.queries, dtype=numpy.float32)
    distances = numpy.stack([truth.distances(data.base, query[None], data.metric)[0] for query in data.queries])
    print(f"\n{data.title}: {len(data.base):,} x {data.base.shape[1]}, {data.metric}, {len(data.queries)} queries, "
          f"{options.index}, seed {data.seed}")
    mask = data.bucket < 100
    where = json.dumps({"bucket": {"$lt": 100}}).encode()
    short = 0
    with tempfile.TemporaryDirectory() as folder:
        client = pigment_library.Client(library, folder)
        collection = client.create_collection("bench", data.metric, index=options.index)
        for begin in range(0, len(data.base), BATCH_ROWS):
            rows = range(begin, min(begin + BATCH_ROWS, len(data.base)))
            collection.add([f"row-{row}" for row in rows], data.base[begin:begin + BATCH_ROWS],
                           [json.dumps(data.metadata(row)) for row in rows])
        for state, prepare in (("after ingest", client.flush), ("merged", client.wait_for_merges),
                               ("compacted", client.compact)):
            prepare()
            count = segments_of(folder)
            for name, chosen, predicate in (("all rows", None, None), ("10 % of the rows", mask, where)):
                figures = measure(collection, data, distances, chosen, predicate)
                worst = min(recall for recall, _ in figures)
                short += worst < WANTED
                print(f"  {state + f', {count} segments':26} {name:18}"
                      + "".join(f"  k = {k}: {recall:.4f} at {rate:7,.0f}/s" for k, (recall, rate) in zip(NEIGHBORS, figures))
                      + ("" if worst >= WANTED else f"   (wanted: {WANTED} or more)"))
        collection.free()
        client.close()
    return short


def main():
    options = parse()
    library = pigment_library.Library(options.library, numpy)
    print("machine:", machine.describe())
    print("pigment:", library.build_info())
    short = sum(run(library, options, key) for key in options.sets)
    sys.exit(1 if short else 0)


if __name__ == "__main__":
    main()
