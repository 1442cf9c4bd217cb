#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pigment in PostgreSQL beside sequential scans and pgvector, in one server and one run. See bench/README.md.

Finds the server of scripts/with-postgres --server through its environment, and restarts it with settings of its own.
"""

import argparse
import os
import pathlib
import sys

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(1, str(ROOT / "bench" / "common"))
sys.path.append(str(ROOT / "bench" / "vectors"))  # data sets and exact neighbours; our own modules come first

import bits
import builds
import changes
import collection_calls
import contestants
import machine
import measure
import psycopg
import search
import server
import sets
import sparse
import states
import truth
import world

PARTS = ("build", "rates", "filters", "clients", "cold", "buffers", "memory", "collections", "bits", "sparse", "inserts", "updates", "vacuum")


def names(text):
    return text.split(",") if text else []


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    known = [contestant.key for contestant in contestants.ALL]
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"), help="folder of the data set")
    parser.add_argument("--client", default=str(ROOT / "build" / "release" / "bench" / "postgres_client"))
    parser.add_argument("--set", choices=list(sets.SETS), default="minilm", help="of bench/vectors")
    parser.add_argument("--parts", type=names, default=list(PARTS), help="of: " + ",".join(PARTS) + "; indexes are always built")
    parser.add_argument("--peers", type=names, default=known, help="who takes part, of: " + ",".join(known))
    parser.add_argument("--filters", type=names, default=list(search.FILTERS), help="of: " + ",".join(sets.FILTERS).replace("%", "%%"))
    parser.add_argument("--rows", type=int, default=100000, help="the passages have no more than 100,000")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--filter-queries", type=int, default=100, help="the first so many, for each filter")
    parser.add_argument("--rounds", type=int, default=2, help="passes of every setting; the best of each counts")
    parser.add_argument("--seconds", type=float, default=1, help="of a pass at least; all queries are asked once")
    parser.add_argument("--seconds-max", type=float, default=5, help="after which a pass is cut short")
    parser.add_argument("--cpus", type=names, help="processors: of everything, of the second client; default: the first two")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--k", type=int, default=10)
    options = parser.parse_args()
    for what, given, all_of_them in (("part", options.parts, PARTS), ("peer", options.peers, known),
                                     ("filter", options.filters, sets.FILTERS)):
        for name in given:
            if name not in all_of_them:
                parser.error(f'no {what} "{name}"; there are: {", ".join(all_of_them)}')
    if "sequential" in options.peers and "pigment" not in options.peers:
        parser.error("a sequential scan is of pigment's table: --peers lacks pigment")
    options.cpus = [int(cpu) for cpu in options.cpus] if options.cpus else sorted(os.sched_getaffinity(0))[:2]
    options.inserts = changes.INSERTS
    return options


def has_clusters(bench_server):
    """Whether this build has WITH (kind = 'spann')."""
    with bench_server.connect() as connection:
        connection.execute("SET search_path = ours, public")
        connection.execute("CREATE TEMPORARY TABLE asks (embedding vector(3))")
        try:
            connection.execute("CREATE INDEX ON asks USING pigment (embedding) WITH (kind = 'spann')")
        except psycopg.Error as error:
            return False, str(error).splitlines()[0]
        return True, ""


def choose(options, bench_server, report):
    """Who takes part, with the settings that the module has."""
    known = bench_server.pigment_settings()
    chosen = []
    for contestant in contestants.ALL:
        if contestant.key not in options.peers:
            continue
        if contestant.key == "pigment-spann":
            there, said = has_clusters(bench_server)
            if not there:
                report(f"pigment, spann: takes no part: {said}")
                continue
        if contestant.key in contestants.OURS:
            contestant = contestants.with_settings(contestant, known)
            if len(contestant.sweep) == 1:
                report(f"{contestant.name}: has neither pigment.target_recall nor pigment.search_width: every search is exact")
        chosen.append(contestant)
    return chosen


def main():
    options = parse()
    os.sched_setaffinity(0, {options.cpus[0]})  # and so the server, when it starts again
    data = sets.build(options.set, options)
    print(f"machine: {machine.describe()}")
    bench_server = server.Server()
    print(bench_server.describe())
    print(f"{data.title}: {len(data.base):,} x {data.base.shape[1]}, {data.metric}, {len(data.queries)} queries, "
          f"k = {options.k}, seed {data.seed}; one prepared connection over a Unix socket, client and server on "
          f"one core; pgvector: hnsw, m 16, ef_construction 64; best of {options.rounds} rounds in turns", flush=True)
    options.contestants = choose(options, bench_server, print)
    bench = measure.Bench(options, bench_server, data, truth.Judge(data, options.k))
    worlds = {}
    run_parts(bench, lambda key: worlds.setdefault(key, world.World(data)))
    short = bench.report.short
    print(f"\n{short} figures fall short of what is wanted" if short else "\nno figure falls short of what is wanted")
    print(f"load at the end: {os.getloadavg()[0]:.1f}")
    return 0


def run_parts(bench, world_of):
    for table in {contestant.table: contestant for contestant in bench.options.contestants}.values():
        bench.load(table)
    builds.build(bench)
    plain = {"rates": search.rates, "filters": search.filters, "clients": states.clients, "cold": states.cold,
             "buffers": states.buffers, "memory": states.memory, "collections": collection_calls.collections,
             "bits": bits.bits, "sparse": sparse.sparse}
    changing = {"inserts": changes.inserts, "updates": changes.updates, "vacuum": changes.vacuum}
    for part in bench.options.parts:
        if part in plain:
            plain[part](bench)
    for contestant in bench.options.contestants:
        bench.choice(contestant)  # while its table is what the exact neighbours are of
    for part in bench.options.parts:
        if part in changing:
            changing[part](bench, world_of)


if __name__ == "__main__":
    sys.exit(main())
