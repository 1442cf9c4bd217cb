#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One task of one contestant in a process of its own: its memory, its thread, its core. Prints figures as JSON."""

import argparse
import json
import os
import pathlib
import sys
import threading
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))

WARM_QUERIES = 20


def resident_bytes(field="VmRSS"):
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    raise SystemExit(f"bench: /proc/self/status has no {field}")


def forget_peak():
    """VmHWM starts again from what is resident now."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as control:
        control.write("5")


class PeakOfOwn:
    """Watches how much of its memory is the process's own, without the pages of files, which the system takes back when it likes."""

    def __enter__(self):
        self.before, self.bytes = resident_bytes("RssAnon"), 0
        self.done = threading.Event()
        self.watch = threading.Thread(target=self.look)
        self.watch.start()
        return self

    def look(self):
        while not self.done.wait(0.02):
            self.bytes = max(self.bytes, resident_bytes("RssAnon") - self.before)

    def __exit__(self, *_):
        self.done.set()
        self.watch.join()


def build(contestant, data, options):
    """From vectors in memory to an index on disk that is complete, and closed."""
    forget_peak()
    before = resident_bytes()
    start = time.perf_counter()
    with PeakOfOwn() as own:
        contestant.build(options.folder, data)
        contestant.close()
        seconds = time.perf_counter() - start
    return {"build_s": seconds, "build_peak_bytes": resident_bytes("VmHWM") - before, "build_own_bytes": own.bytes}


def configure(contestant, data, options):
    """Keeps the setting in the store; another process will read it."""
    contestant.open(options.folder, data)
    contestant.configure(options.settings[0])
    contestant.close()
    return {}


def timed(ask, count, seconds):
    """Answers to the first queries, until they are all there or the time is up, and how many a second."""
    answers = []
    start = time.perf_counter()
    for query in range(count):
        answers.append(ask(query))
        elapsed = time.perf_counter() - start
        if elapsed > seconds:
            break
    return answers, len(answers) / elapsed


def table(contestant, answers, k):
    """Row numbers as a matrix with -1 for none."""
    import numpy

    rows = numpy.full((len(answers), k), -1, numpy.int64)
    for query, answer in enumerate(answers):
        found = contestant.rows_of(answer)[:k]
        rows[query, :len(found)] = found
    return rows


def search(contestant, data, options):
    """One pass for each setting, with and without filters. Answers go to a file, where run.py asks for them."""
    import numpy

    before = resident_bytes()
    start = time.perf_counter()
    contestant.open(options.folder, data)
    opened = time.perf_counter() - start
    queries = contestant.prepare(data.queries)
    points, filtered, answers = [], [], {}

    def ask(query):
        return contestant.query(queries[query], options.k)

    # The first setting is not the one that reads everything from disk.
    contestant.apply(options.settings[0])
    timed(ask, len(queries), options.seconds)
    for setting in options.settings:
        contestant.apply(setting)
        timed(ask, min(WARM_QUERIES, len(queries)), 1)
        found, rate = timed(ask, len(queries), options.seconds)
        start = time.perf_counter()
        together = contestant.query_many(queries[:len(found)], options.k)
        batch_rate = len(found) / (time.perf_counter() - start)
        answers[f"point-{len(points)}"] = table(contestant, found, options.k)
        points.append({"setting": setting, "rate": rate, "batch_rate": None if together is None else batch_rate})
    open_bytes = resident_bytes() - before
    for setting in options.filter_settings if contestant.has_filters else []:
        contestant.apply(setting)
        for name in options.filters:
            some = data.predicates[name]
            found, rate = timed(lambda query: contestant.query_where(queries[query], options.k, some[query]),
                                len(some), options.seconds)
            answers[f"filter-{len(filtered)}"] = table(contestant, found, options.k)
            filtered.append({"filter": name, "setting": setting, "rate": rate})
    contestant.close()
    if options.answers:
        numpy.savez(options.answers, **answers)
    return {"open_s": opened, "open_bytes": open_bytes, "points": points, "filters": filtered}


def cold(contestant, data, options):
    """Opens what the system has forgotten, and asks everything twice."""
    import machine
    import numpy

    machine.forget_files(options.folder)
    start = time.perf_counter()
    contestant.open(options.folder, data)
    figures = {"cold_budget_bytes": options.budget, "cold_open_s": time.perf_counter() - start, "cold_passes": []}
    contestant.apply(options.settings[0])
    queries = contestant.prepare(data.queries)
    answers = {}
    for number in range(2):
        times = []

        def ask(query):
            begin = time.perf_counter()
            answer = contestant.query(queries[query], options.k)
            times.append(time.perf_counter() - begin)
            return answer

        found, rate = timed(ask, len(queries), options.seconds)
        answers[f"cold-{number}"] = table(contestant, found, options.k)
        figures["cold_passes"].append({"rate": rate, "first_s": times[0], "worst_s": max(times)})
    contestant.close()
    numpy.savez(options.answers, **answers)
    return figures


def insert(contestant, data, options):
    """Rows one by one into a copy of the index, until they are all there or the time is up."""
    contestant.open(options.folder, data, len(data.inserts))
    first, rows = len(data.bucket), data.inserts
    done, rate = timed(lambda row: contestant.insert(first + row, rows[row]), len(rows), options.seconds)
    contestant.close()
    return {"inserts": len(done), "insert_rate": rate, "durable_inserts": contestant.durable_inserts}


TASKS = {"build": build, "configure": configure, "search": search, "cold": cold, "insert": insert}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("contestant")
    parser.add_argument("task", choices=sorted(TASKS))
    parser.add_argument("folder", help="of the contestant's index")
    parser.add_argument("--set", required=True, help="folder of the data set that run.py prepared")
    parser.add_argument("--library", required=True)
    parser.add_argument("--k", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True, help="after which a pass is cut short")
    parser.add_argument("--settings", type=json.loads, default=[])
    parser.add_argument("--filter-settings", type=json.loads, default=[])
    parser.add_argument("--filters", type=json.loads, default=[])
    parser.add_argument("--answers", help="file for what was found")
    parser.add_argument("--budget", type=int, default=0, help="bytes of memory for a contestant that can be told; 0: no limit")
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # for threads of the peers' own, too
    import contestants
    import sets

    data = sets.load(options.set, with_base=options.task == "build")
    contestant = contestants.classes()[options.contestant](options.library)
    contestant.budget_bytes = options.budget
    print(json.dumps({"name": contestant.name, **TASKS[options.task](contestant, data, options)}))


if __name__ == "__main__":
    main()
