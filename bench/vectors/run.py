#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Search beside hnswlib, usearch, faiss and Chroma: rates over recall, builds, filters. See bench/README.md."""

import argparse
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "common"))

import contestants
import machine
import numpy
import plot
import report
import sets
import truth

COLD_SETTING = {"recall": 0.99}


def names(text):
    return text.split(",") if text else []


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"), help="folder of the data set")
    parser.add_argument("--library", default=str(ROOT / "build" / "release" / "libpigment.so"))
    parser.add_argument("--folder", default=str(ROOT / "build" / "bench" / "vectors"), help="for indexes and results")
    parser.add_argument("--sets", type=names, default=sets.DEFAULT_SETS, help="of: " + ",".join(sets.SETS))
    parser.add_argument("--peers", type=names, default=list(contestants.classes()),
                        help="who takes part, of: " + ",".join(contestants.classes()))
    parser.add_argument("--filters", type=names, default=list(sets.FILTERS), help="of: " + ",".join(sets.FILTERS).replace("%", "%%"))
    parser.add_argument("--rows", type=int, default=100000, help="the passages have no more than 100,000")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--filter-queries", type=int, default=50, help="the first so many, for each filter")
    parser.add_argument("--inserts", type=int, default=1000, help="one by one, into a copy of the index")
    parser.add_argument("--rounds", type=int, default=3, help="passes of every setting; the best of each counts")
    parser.add_argument("--seconds", type=float, default=20, help="after which a pass is cut short")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--memory", type=float, default=0, metavar="GB",
                        help="that Pigment builds within; then it is also asked within a quarter of its size, with nothing in memory")
    parser.add_argument("--k", type=int, default=10)
    options = parser.parse_args()
    for what, given, known in (("set", options.sets, sets.SETS), ("peer", options.peers, contestants.classes()),
                               ("filter", options.filters, sets.FILTERS)):
        for name in given:
            if name not in known:
                parser.error(f'no {what} "{name}"; there are: {", ".join(known)}')
    return options


def work(options, set_folder, name, task, folder, **more):
    """Runs a task of worker.py; its figures."""
    print(f"bench: {os.path.basename(set_folder)}, {name}, {task}", file=sys.stderr, flush=True)
    command = [sys.executable, str(ROOT / "bench" / "vectors" / "worker.py"), name, task, folder, "--set", set_folder,
               "--library", options.library, "--k", str(options.k), "--seconds", str(options.seconds)]
    for option, value in more.items():
        command += ["--" + option.replace("_", "-"), value if isinstance(value, str) else json.dumps(value)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"bench: {name} failed at {task} with {run.returncode}")
    return json.loads(run.stdout.splitlines()[-1])


def disk_bytes(folder):
    """What the file system has given to the files, not what their sizes say."""
    return sum(os.lstat(os.path.join(path, name)).st_blocks * 512
               for path, _, names in os.walk(folder) for name in names)


def build(options, set_folder, name, folder):
    """Builds, weighs, and inserts one by one into a copy."""
    within = {"budget": int(options.memory * 1e9)} if contestants.classes()[name].has_budget else {}
    figures = work(options, set_folder, name, "build", folder, **within)
    figures["disk_bytes"] = disk_bytes(folder)
    if options.inserts > 0:
        copy = tempfile.mkdtemp(prefix=f"inserts-{name}-", dir=options.folder)
        try:
            shutil.copytree(folder, copy, dirs_exist_ok=True)
            figures.update(work(options, set_folder, name, "insert", copy))
        finally:
            shutil.rmtree(copy, ignore_errors=True)
    return figures


def search(options, set_folder, name, folder, judge):
    """One pass of every setting; with a judge also the recall of each."""
    kind = contestants.classes()[name]
    shares = [(kind.settings, kind.filter_settings if options.filters else [])]
    if kind.one_setting_a_process:
        shares = [([setting], [other for other in shares[0][1] if other == setting]) for setting in kind.settings]
    whole = {"points": [], "filters": [], "open_bytes": 0}
    for settings, filter_settings in shares:
        if kind.one_setting_a_process:
            work(options, set_folder, name, "configure", folder, settings=settings)
        with tempfile.TemporaryDirectory(prefix="answers-", dir=options.folder) as found:
            path = os.path.join(found, "answers.npz")
            part = work(options, set_folder, name, "search", folder, settings=settings, filters=options.filters,
                        filter_settings=filter_settings, answers=path)
            if judge is not None:
                judge_all(part, numpy.load(path), judge)
        whole["points"] += part["points"]
        whole["filters"] += part["filters"]
        whole["open_bytes"] = max(whole["open_bytes"], part["open_bytes"])
    return whole


def cold(options, set_folder, name, folder, judge, bytes_of_disk):
    """What somebody meets whose memory holds a quarter of the index and nothing of it yet."""
    with tempfile.TemporaryDirectory(prefix="answers-", dir=options.folder) as found:
        path = os.path.join(found, "answers.npz")
        figures = work(options, set_folder, name, "cold", folder, settings=[COLD_SETTING], answers=path, budget=bytes_of_disk // 4)
        answers = numpy.load(path)
        for number, point in enumerate(figures["cold_passes"]):
            point.update(judge.judge(answers[f"cold-{number}"]))
    return figures


def judge_all(part, answers, judge):
    for number, point in enumerate(part["points"]):
        point.update(judge.judge(answers[f"point-{number}"]))
    for number, point in enumerate(part["filters"]):
        point.update(judge.judge(answers[f"filter-{number}"], point["filter"]))


def keep_best(figures, again):
    """Other work on a machine only ever slows one down: the best rate of each setting."""
    for kind in ("points", "filters"):
        for point, other in zip(figures[kind], again[kind], strict=True):
            for rate in ("rate", "batch_rate"):
                if point.get(rate) is not None:
                    point[rate] = max(point[rate], other[rate])


def run_set(options, key, results):
    """Everything about one data set; the peers take turns in each round."""
    data = sets.build(key, options)
    data.predicates = {name: data.predicates[name] for name in options.filters}
    judge = truth.Judge(data, options.k)
    set_folder = os.path.join(options.folder, key)
    shutil.rmtree(set_folder, ignore_errors=True)
    os.makedirs(set_folder)
    sets.save(data, set_folder)
    result = {"title": data.title, "metric": data.metric, "seed": data.seed, "rows": len(data.base),
              "dimension": data.base.shape[1], "queries": len(data.queries), "raw_bytes": data.base.nbytes,
              "contestants": {}}
    folders = {name: tempfile.mkdtemp(prefix=f"{name}-", dir=options.folder) for name in options.peers}
    try:
        for name, folder in folders.items():
            result["contestants"][name] = build(options, set_folder, name, folder)
        for round_ in range(options.rounds):
            for name, folder in folders.items():
                passed = search(options, set_folder, name, folder, judge if round_ == 0 else None)
                figures = result["contestants"][name]
                if round_ == 0:
                    figures.update(passed)
                    if options.memory and contestants.classes()[name].has_budget:
                        figures.update(cold(options, set_folder, name, folder, judge, figures["disk_bytes"]))
                else:
                    keep_best(figures, passed)
    finally:
        for folder in (*folders.values(), set_folder):
            shutil.rmtree(folder, ignore_errors=True)
    results["sets"][key] = result
    return result


def main():
    options = parse()
    os.makedirs(options.folder, exist_ok=True)
    import pigment_library

    results = {"machine": machine.describe(), "pigment": pigment_library.Library(options.library, numpy).build_info(),
               "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "k": options.k,
               "rounds": options.rounds, "seed": options.seed, "memory_bytes": int(options.memory * 1e9), "sets": {}}
    print(f"machine: {results['machine']}\npigment: {results['pigment']}")
    for key in options.sets:
        result = run_set(options, key, results)
        report.show(results, result)
        with open(os.path.join(options.folder, "results.json"), "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
        for path in plot.draw(results, key, options.folder):
            print(f"  {path}")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
