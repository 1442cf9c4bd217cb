#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ingest and exact search of both homes beside NumPy and faiss, in one run. See bench/README.md."""

import argparse
import os
import pathlib
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "common"))


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"), help="folder of the data set")
    parser.add_argument("--library", default=str(ROOT / "build" / "release" / "libpigment.so"))
    parser.add_argument("--homes", default="embedded,postgres", help="which of Pigment's homes")
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--k", type=int, default=10)
    return parser.parse_args()


def measure(contestants, queries, rounds):
    """Rounds alternate between the contestants; returns queries per second of the best round and the answers of each."""
    best = {contestant.name: 0.0 for contestant in contestants}
    answers = {}
    for contestant in contestants:
        contestant.query(queries[0])
    for _ in range(rounds):
        for contestant in contestants:
            start = time.perf_counter()
            answers[contestant.name] = [contestant.query(query) for query in queries]
            rate = len(queries) / (time.perf_counter() - start)
            best[contestant.name] = max(best[contestant.name], rate)
    return best, answers


def main():
    options = parse()
    homes = options.homes.split(",")
    import data as data_sets  # after the variables above are set

    sets = data_sets.load(options.data, options.rows, options.queries, options.seed)
    first = next(sets)
    import numpy

    import homes as home_module
    import machine
    import peers
    import pigment_library

    library = pigment_library.Library(options.library, numpy)
    connection = None
    if "postgres" in homes:
        import psycopg

        connection = psycopg.connect(autocommit=True)
    print(f"machine: {machine.describe()}")
    print(f"pigment: {library.build_info()}")
    failed = False
    for data in [first, *sets]:
        seed = f", seed {data.seed}" if data.seed is not None else ""
        print(f"\n{data.name}: {data.base.shape[0]:,} x {data.base.shape[1]} f32, {data.metric}, {len(data.queries)} "
              f"queries one at a time, k = {options.k}{seed}")
        judge = data_sets.Judge(data, options.k)
        ours = []
        if "embedded" in homes:
            ours.append(home_module.Embedded(library, data, options.k))
        if connection is not None:
            ours.append(home_module.Postgres(connection, data, options.k))
        for home in ours:
            print(f"  {home.name:<28} ingest {home.ingest:>9,.0f} records/s   ({home.ingest_text})")
        others = [peers.NumpyScan(data, options.k), peers.FaissFlat(data, options.k)]
        rates, answers = measure(ours + others, data.queries, options.rounds)
        peer = max(rates[other.name] for other in others)
        for contestant in ours + others:
            recall = judge.recall(answers[contestant.name])
            ratio = f"   {rates[contestant.name] / peer:.2f} times the better peer" if contestant in ours else ""
            print(f"  {contestant.name:<28} {rates[contestant.name]:>8.1f} queries/s   recall {recall:.4f}{ratio}")
            failed = failed or (contestant in ours and recall < 1)
        for home in ours:
            home.close()
    if failed:
        print("bench: a recall is below 1.0", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
