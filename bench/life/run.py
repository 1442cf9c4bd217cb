#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The life of a collection: rates beside threads and beside ingest, after deletes and updates, with a tail; median and p99."""

import argparse
import json
import pathlib
import sys
import tempfile
import threading
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "common"), str(ROOT / "bench" / "vectors")]

import machine
import pigment_library
import sets
import truth

BATCH_ROWS = 1000
INGEST_TIMES = 4
QUERIES_A_CALL = 50  # of two threads: so few calls that Python's lock is no part of the figure


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"), help="folder of the data set")
    parser.add_argument("--library", default=str(ROOT / "build" / "release" / "libpigment.so"))
    parser.add_argument("--sets", type=lambda text: text.split(","), default=["minilm", "clusters"])
    parser.add_argument("--index", choices=("hnsw", "spann"), default="hnsw", help="what the collection is configured for")
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--recall", type=float, default=0.99, help="what queries ask for")
    parser.add_argument("--seconds", type=float, default=3, help="for each rate")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--seed", type=int, default=20261121)
    options = parser.parse_args()
    options.inserts, options.filter_queries = 1, 1
    return options


class World:
    """What is in the collection: rows by their ids' numbers; those that are gone are NaN."""

    def __init__(self, data, rows):
        self.data = data
        self.vectors = data.base[:rows].copy()
        self.gone = numpy.zeros(rows, bool)

    def add(self, count, random):
        """New rows that lie where the others do."""
        self.vectors = numpy.concatenate([self.vectors, sets.nearby(self.vectors[~self.gone], count, random)])
        self.gone = numpy.concatenate([self.gone, numpy.zeros(count, bool)])

    def limits(self, k):
        """Of each query the distance of the k-th nearest, in double, with room for rounding of f32."""
        found = numpy.empty(len(self.data.queries))
        for begin in range(0, len(found), truth.QUERIES_AT_ONCE):
            some = truth.distances(self.vectors, self.data.queries[begin:begin + truth.QUERIES_AT_ONCE], self.data.metric)
            some[:, self.gone] = numpy.inf
            found[begin:begin + len(some)] = numpy.partition(some, k - 1, axis=1)[:, k - 1]
        return found + 4e-6 * numpy.maximum(1, numpy.abs(found))

    def recall(self, answers, k):
        limits, right = self.limits(k), 0
        for query, answer in enumerate(answers):
            rows = numpy.array([int(name[4:]) for name in answer])
            if len(rows) != k or self.gone[rows].any():
                raise SystemExit(f"bench: query {query} has {len(rows)} rows of {k}, {self.gone[rows].sum()} of them deleted")
            near = truth.distances_of(self.vectors, self.data.queries[query], rows, self.data.metric)
            right += int((near <= limits[query]).sum())
        return right / (k * len(answers))


def batches(collection, world, rows):
    for begin in range(0, len(rows), BATCH_ROWS):
        some = rows[begin:begin + BATCH_ROWS]
        yield collection.prepare([f"row-{row}" for row in some], world.vectors[some],
                                 [json.dumps(world.data.metadata(int(row) % len(world.data.base))) for row in some])


def write(collection, world, rows):
    for batch in batches(collection, world, rows):
        collection.send("collection_upsert", batch)


def one_by_one(collection, data, options, seconds):
    """Queries a second, median and 99th percentile in microseconds, and one answer to each query."""
    times, answers = [], []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < len(data.queries):
        for query in data.queries:
            begin = time.perf_counter()
            answer = collection.query(query, options.k, recall=options.recall)
            times.append(time.perf_counter() - begin)
            if len(answers) < len(data.queries):
                answers.append(answer)
    times = numpy.array(times) * 1e6
    return 1e6 / times.mean(), numpy.percentile(times, 50), numpy.percentile(times, 99), answers


def in_threads(collections, data, options):
    """Queries a second of as many threads as there are handles."""
    done = [0] * len(collections)
    stop = threading.Event()

    def ask(number):
        while not stop.is_set():
            for begin in range(0, len(data.queries), QUERIES_A_CALL):
                collections[number].query_many(data.queries[begin:begin + QUERIES_A_CALL], options.k, recall=options.recall,
                                                threads=1)
                done[number] += QUERIES_A_CALL

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(collections))]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    time.sleep(options.seconds)
    counted, passed = sum(done), time.perf_counter() - begin
    stop.set()
    for thread in threads:
        thread.join()
    return counted / passed


class Report:
    def __init__(self):
        self.short = 0

    def line(self, what, figures, wanted=None, is_reached=True):
        note = "" if wanted is None else f"   (wanted: {wanted})" if not is_reached else f"   (wanted: {wanted}; reached)"
        self.short += not is_reached
        print(f"  {what:38} {figures}{note}", flush=True)


def measure(collection, world, options, report, what, fresh=None):
    rate, median, p99, answers = one_by_one(collection, world.data, options, options.seconds)
    recall = world.recall(answers, options.k)
    figures = f"{rate:8,.0f}/s  recall {recall:.4f}  median {median:6.0f} us  p99 {p99:6.0f} us ({p99 / median:.1f} times)"
    if fresh is None:
        report.line(what, figures, "p99 within 4 times the median", p99 <= 4 * median)
    else:
        report.line(what, figures + f"  {rate / fresh[0]:.2f} of fresh", "0.70 of fresh, recall within 0.005 of it",
                    rate >= 0.7 * fresh[0] and recall >= fresh[1] - 0.005)
    return rate, recall


def run(library, options, key, report):
    data = sets.build(key, options)
    data.queries = numpy.ascontiguousarray(data.queries, dtype=numpy.float32)
    print(f"\n{data.title}: {options.rows:,} x {data.base.shape[1]}, {data.metric}, {len(data.queries)} queries, "
          f"k = {options.k}, recall {options.recall}, {options.index}, seed {data.seed}")
    world = World(data, options.rows)
    random = numpy.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        client = pigment_library.Client(library, folder)
        collection = client.create_collection("bench", data.metric, index=options.index)
        begin = time.process_time()
        write(collection, world, numpy.arange(options.rows))
        client.compact()
        pace = options.rows / (time.process_time() - begin)
        fresh = measure(collection, world, options, report, "fresh, one thread")
        other = client.get_collection("bench")
        alone = in_threads([collection], data, options)
        both = in_threads([collection, other], data, options)
        report.line("two threads", f"{both:8,.0f}/s against {alone:,.0f}/s of one: {both / alone:.2f} times",
                    "1.8 times", both >= 1.8 * alone)

        tenth = random.choice(options.rows, options.rows // 5, replace=False)
        gone, moved = tenth[:len(tenth) // 2], tenth[len(tenth) // 2:]
        collection.delete([f"row-{row}" for row in gone])
        world.gone[gone] = True
        world.vectors[moved] = sets.nearby(world.vectors, len(moved), random)
        write(collection, world, moved)
        measure(collection, world, options, report, "10 % deleted and 10 % updated, tail", fresh)
        client.wait_for_merges()
        measure(collection, world, options, report, "the same, merged", fresh)
        client.compact()
        anew = measure(collection, world, options, report, "the same, compacted")

        back = gone[:10000]
        world.gone[back] = False
        write(collection, world, back)
        measure(collection, world, options, report, f"with {len(back):,} rows just written", anew)
        client.wait_for_merges()
        client.compact()
        rate_beside_ingest(collection, world, options, report, anew, pace, is_new=False)
        rate_beside_ingest(collection, world, options, report, anew, None, is_new=False)
        client.wait_for_merges()
        client.compact()
        anew = measure(collection, world, options, report, "compacted once more")
        rate_beside_ingest(collection, world, options, report, anew, pace, is_new=True)
        other.free()
        collection.free()
        client.close()


def rate_beside_ingest(collection, world, options, report, idle, pace, is_new):
    """One thread writes, another asks; batches are made before, so that Python takes no part. What is written are new rows
    that lie where the others do, or all rows again. With a pace of so many rows a second, which a core writes and indexes, so
    that ingest may go on for ever; without one as fast as it can. The recall is that of what is there in the end."""
    seconds = options.seconds if pace is None else INGEST_TIMES * options.seconds  # so that there are merges
    rows = numpy.flatnonzero(~world.gone)
    if is_new:
        first = len(world.vectors)
        rows = numpy.arange(first, first + (int(pace * seconds) // BATCH_ROWS + 2) * BATCH_ROWS)
        world.add(len(rows), numpy.random.default_rng(options.seed))
    stop, written = threading.Event(), [0]
    made = list(batches(collection, world, rows))
    begin = time.perf_counter()

    def ingest():
        while not stop.is_set() and not (is_new and written[0] == len(made)):
            collection.send("collection_upsert", made[written[0] % len(made)])
            written[0] += 1
            if pace is not None:
                stop.wait(max(0, begin + written[0] * BATCH_ROWS / pace - time.perf_counter()))

    thread = threading.Thread(target=ingest)
    thread.start()
    rate, median, p99, _ = one_by_one(collection, world.data, options, seconds)
    passed = time.perf_counter() - begin
    stop.set()
    thread.join()
    if is_new:
        world.gone[rows[written[0] * BATCH_ROWS:]] = True  # never written
    answers = [collection.query(query, options.k, recall=options.recall) for query in world.data.queries]
    figures = (f"{rate:8,.0f}/s  recall {world.recall(answers, options.k):.4f}  median {median:6.0f} us  p99 {p99:6.0f} us  "
               f"{rate / idle[0]:.2f} of idle; {written[0] * BATCH_ROWS / passed:,.0f} rows/s written")
    if is_new:
        report.line("beside ingest", f"{figures} of {pace:,.0f}", "0.50 of idle", rate >= 0.5 * idle[0])
    elif pace is not None:
        report.line("while all rows are written again", f"{figures} of {pace:,.0f}")
    else:
        report.line("beside a burst of writes", figures)


def main():
    options = parse()
    library = pigment_library.Library(options.library, numpy)
    print("machine:", machine.describe())
    print("pigment:", library.build_info())
    report = Report()
    for key in options.sets:
        run(library, options, key, report)
    print(f"\n{report.short} figures fall short")


if __name__ == "__main__":
    main()
