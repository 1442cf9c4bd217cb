# SPDX-License-Identifier: Apache-2.0
"""Part `build`: time, size and WAL of each index, which is built in each round: the best time counts, the last one is asked."""

import contestants

WHOLE_ROWS = 100000  # of what is wanted in seconds and bytes
BUILD_WANTED = {"pigment": 1 / 4, "pigment-spann": 1 / 10}  # of pgvector's time
MEGABYTES_WANTED = {"pigment": 230, "pigment-spann": 100}
WAL_HEADERS = 0.02  # what the heads of records add to the pages in them


def share(bench):
    return len(bench.data.base) / WHOLE_ROWS


def build(bench):
    bench.report.say("\nCREATE INDEX, one process, after a checkpoint")
    found = {}
    for _ in range(bench.options.rounds):
        for contestant in bench.options.contestants:
            if contestant.access:
                found.setdefault(contestant.key, []).append(bench.build(contestant))
    found = {key: (min(seconds for seconds, _, _ in builds), *builds[-1][1:]) for key, builds in found.items()}
    reference = found.get("pgvector")
    for contestant in bench.options.contestants:
        if contestant.key not in found:
            continue
        seconds, size, wal = found[contestant.key]
        note = ""
        if contestant.key in contestants.OURS:
            if reference:
                limit = reference[0] * BUILD_WANTED[contestant.key]
                note += bench.report.wanted(seconds <= limit, f"{limit:,.1f} s or less")
            limit = MEGABYTES_WANTED[contestant.key] * share(bench)
            note += bench.report.wanted(size / 1e6 <= limit, f"{limit:,.1f} MB or less")
            note += bench.report.wanted(wal <= size * (1 + WAL_HEADERS), "WAL no more than the index")
        times = f", {reference[0] / seconds:.2f} times as fast as pgvector" if reference and contestant.key != "pgvector" else ""
        bench.report.line(contestant.name, f"{seconds:8,.1f} s  {size / 1e6:8,.1f} MB  WAL {wal / 1e6:8,.1f} MB{times}", note)
