#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One task of one contestant in a process of its own, so that nothing is warm by accident. Prints its figures as JSON."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

BATCH_ROWS = 1000
K = 10
ANSWERS = 10
WRITING_THREADS = (1, 4, 16)
THREAD_BATCHES = 800  # over all threads
THREAD_BATCH_ROWS = 10


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def ingest(contestant, options):
    """Batches with ids, vectors, documents and metadata into a new store, which is then closed."""
    import passages

    data = passages.load(options.data, options.rows)
    pauses = []
    start = time.perf_counter()
    contestant.open(options.folder)
    contestant.create("cosine")
    for begin in range(0, len(data.ids), BATCH_ROWS):
        rows = slice(begin, begin + BATCH_ROWS)
        batch = time.perf_counter()
        contestant.add(data.ids[rows], data.vectors[rows], data.documents[rows], data.metadatas[rows])
        pauses.append(time.perf_counter() - batch)
    acknowledged = time.perf_counter() - start
    contestant.close()
    return {"records": len(data.ids), "seconds": acknowledged, "closed_seconds": time.perf_counter() - start,
            "longest_batch_ms": max(pauses) * 1000}


def threads(contestant, options):
    """Small durable batches from several threads at once, each count of threads into a store of its own."""
    import passages

    data = passages.load(options.data, min(options.rows, THREAD_BATCHES * THREAD_BATCH_ROWS))
    batches = [slice(begin, begin + THREAD_BATCH_ROWS) for begin in range(0, len(data.ids), THREAD_BATCH_ROWS)]
    figures = {}
    for count in WRITING_THREADS:
        folder = os.path.join(options.folder, f"threads-{count}")
        os.mkdir(folder)
        contestant.open(folder)
        contestant.create("cosine")

        def write(first):
            for rows in batches[first::count]:
                contestant.add(data.ids[rows], data.vectors[rows], data.documents[rows], data.metadatas[rows])

        start = time.perf_counter()
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            for done in [pool.submit(write, first) for first in range(count)]:
                done.result()
        figures[f"batches_{count}"] = len(batches) / (time.perf_counter() - start)
        if contestant.count() != len(data.ids):
            raise SystemExit(f"bench: {contestant.name} holds {contestant.count()} of {len(data.ids)} rows")
        contestant.close()
        shutil.rmtree(folder)
    return figures


def reopen(contestant, options):
    """From an existing store to a client that answers, and to its first nearest neighbours."""
    import passages

    data = passages.load_queries(options.data)
    before = resident_bytes()
    start = time.perf_counter()
    contestant.open(options.folder)
    contestant.get_collection()
    contestant.get(["row-0"])
    opened = time.perf_counter() - start
    opened_bytes = resident_bytes() - before
    answer = contestant.query(data[0], K)
    answered = time.perf_counter() - start
    if len(answer) != K:
        raise SystemExit(f"bench: {contestant.name} found {len(answer)} of {K} rows")
    for query in range(1, ANSWERS):  # what the first one left undone shows in these
        contestant.query(data[query], K)
    all_answered = time.perf_counter() - start
    contestant.close()
    return {"open_ms": opened * 1000, "first_answer_ms": answered * 1000, "answers_ms": all_answered * 1000,
            "open_bytes": opened_bytes}


def get(contestant, options):
    """Random ids with documents and metadata, one and a hundred a call; every answer is compared with what was added."""
    import passages

    data = passages.load(options.data, options.rows)
    contestant.open(options.folder)
    contestant.get_collection()
    choice = random.Random(options.seed)
    figures = {}
    for count, calls in ((1, 3000), (100, 200)):
        times = []
        for call in range(calls + 20):
            rows = choice.sample(range(len(data.ids)), count)
            ids = [data.ids[row] for row in rows]
            start = time.perf_counter()
            found, documents, metadatas = contestant.get(ids)
            if call >= 20:  # the first ones warm up
                times.append(time.perf_counter() - start)
            by_id = {name: at for at, name in enumerate(found)}
            for row in rows:
                at = by_id[data.ids[row]]
                if documents[at] != data.documents[row] or metadatas[at] != data.metadatas[row]:
                    raise SystemExit(f"bench: {contestant.name} gives another record for {data.ids[row]}")
        times.sort()
        figures[f"get_{count}_p50_us"] = times[len(times) // 2] * 1e6
        figures[f"get_{count}_mean_us"] = sum(times) / len(times) * 1e6
    contestant.close()
    return figures


TASKS = {"ingest": ingest, "threads": threads, "reopen": reopen, "get": get}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("contestant")
    parser.add_argument("task", choices=sorted(TASKS))
    parser.add_argument("folder")
    parser.add_argument("--data", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    import contestants

    contestant = contestants.ALL[options.contestant](options.library)
    figures = TASKS[options.task](contestant, options)
    print(json.dumps({"name": contestant.name, **figures}))


if __name__ == "__main__":
    main()
