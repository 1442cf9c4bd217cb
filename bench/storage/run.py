#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Durable ingest, disk, reopening and get by id beside Chroma's embedded client, in one run. See bench/README.md."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "common"))

OURS, OURS_IN_F16, PEER = "pigment", "pigment-f16", "chroma"


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"), help="folder of the data set")
    parser.add_argument("--library", default=str(ROOT / "build" / "release" / "libpigment.so"))
    parser.add_argument("--folder", default=str(ROOT / "build" / "bench"), help="a folder on the disk to measure")
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--rounds", type=int, default=3, help="of reopening and get; the best of each counts")
    parser.add_argument("--seed", type=int, default=20261121)
    return parser.parse_args()


def work(options, contestant, task, folder):
    command = [sys.executable, str(ROOT / "bench" / "storage" / "worker.py"), contestant, task, folder, "--data",
               options.data, "--library", options.library, "--rows", str(options.rows), "--seed", str(options.seed)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(run.returncode)
    return json.loads(run.stdout.splitlines()[-1])


def disk_bytes(folder):
    """What the file system has given to the files, not what their sizes say."""
    return sum(os.lstat(os.path.join(path, name)).st_blocks * 512
               for path, _, names in os.walk(folder) for name in names)


def best(rounds):
    """Other work on a machine only ever slows one down: the least of each figure."""
    return {key: value if isinstance(value, str) else min(round_[key] for round_ in rounds)
            for key, value in rounds[0].items()}


def line(what, unit, figures, key, ratio, wanted):
    ours, theirs = figures[OURS][key], figures[PEER][key]
    factor = ratio(ours, theirs)
    print(f"  {what:<42} {ours:>12,.1f}  {theirs:>12,.1f} {unit:<11} {factor:>8.2f} times   (wanted: {wanted})")


def faster(ours, theirs):
    return ours / theirs


def sooner(ours, theirs):
    return theirs / ours


def smaller(ours, theirs):
    return ours / theirs


def main():
    options = parse()
    import machine

    os.makedirs(options.folder, exist_ok=True)
    folders = {name: tempfile.mkdtemp(prefix=f"storage-{name}-", dir=options.folder) for name in (OURS, PEER)}
    figures = {OURS: {}, PEER: {}}
    try:
        for name, folder in folders.items():
            figures[name].update(work(options, name, "ingest", folder))
            figures[name]["rate"] = figures[name]["records"] / figures[name]["seconds"]
            figures[name]["closed_rate"] = figures[name]["records"] / figures[name]["closed_seconds"]
            figures[name]["disk_mb"] = disk_bytes(folder) / 1e6
        halves = tempfile.mkdtemp(prefix="storage-halves-", dir=options.folder)
        try:
            work(options, OURS_IN_F16, "ingest", halves)
            figures[OURS]["disk_f16_mb"] = disk_bytes(halves) / 1e6
        finally:
            shutil.rmtree(halves, ignore_errors=True)
        figures[PEER]["disk_f16_mb"] = figures[PEER]["disk_mb"]
        for name in (OURS, PEER):
            elsewhere = tempfile.mkdtemp(prefix=f"threads-{name}-", dir=options.folder)
            try:
                figures[name].update(work(options, name, "threads", elsewhere))
            finally:
                shutil.rmtree(elsewhere, ignore_errors=True)
        for task in ("reopen", "get"):
            rounds = {OURS: [], PEER: []}
            for _ in range(options.rounds):  # alternating
                for name, folder in folders.items():
                    rounds[name].append(work(options, name, task, folder))
            for name in folders:
                figures[name].update(best(rounds[name]))
    finally:
        for folder in folders.values():
            shutil.rmtree(folder, ignore_errors=True)
    for name in folders:
        figures[name]["open_mb"] = figures[name]["open_bytes"] / 1e6

    print(f"machine: {machine.describe()}")
    print(f"MiniLM passages: {options.rows:,} x 384 f32, cosine, with documents and metadata, batches of 1,000, each "
          f"durable; {options.rounds} rounds of reopening and get; seed {options.seed}")
    print(f"  {'':<42} {figures[OURS]['name']:>12}  {figures[PEER]['name']:>12}")
    line("ingest, acknowledged", "records/s", figures, "rate", faster, "10 or more")
    line("ingest, closed", "records/s", figures, "closed_rate", faster, "10 or more")
    line("longest batch", "ms", figures, "longest_batch_ms", sooner, "-")
    for count in (1, 4, 16):
        what = f"batches of 10 from {count} thread" + ("s" if count > 1 else "")
        line(what, "batches/s", figures, f"batches_{count}", faster, "-")
    line("disk after closing", "MB", figures, "disk_mb", smaller, "0.67 or less")
    line("disk after closing, ours with f16 vectors", "MB", figures, "disk_f16_mb", smaller, "0.50 or less")
    line("reopened, first record read", "ms", figures, "open_ms", sooner, "20 or more")
    line("reopened, first 10 neighbours", "ms", figures, "first_answer_ms", sooner, "20 or more")
    line("reopened, first ten times 10 neighbours", "ms", figures, "answers_ms", sooner, "-")
    line("memory of the open store", "MB", figures, "open_mb", smaller, "-")
    line("get of one id, median", "us", figures, "get_1_p50_us", sooner, "10 or more")
    line("get of one id, mean", "us", figures, "get_1_mean_us", sooner, "10 or more")
    line("get of 100 ids, median", "us", figures, "get_100_p50_us", sooner, "10 or more")
    return 0


if __name__ == "__main__":
    sys.exit(main())
