#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Filters on metadata and documents, and ranked text, beside Chroma, SQLite, PostgreSQL and Tantivy, in one run. Every answer
is compared with what plain Python finds before anything is timed. See bench/README.md."""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "common"))

RECALL_MIN = 0.97
AGREEMENT_MIN = 0.8


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"), help="folder of the data set")
    parser.add_argument("--library", default=str(ROOT / "build" / "release" / "libpigment.so"))
    parser.add_argument("--folder", default=str(ROOT / "build" / "bench"), help="a folder on the disk to measure")
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--questions", type=int, default=50, help="of each kind that is drawn")
    parser.add_argument("--rounds", type=int, default=3, help="of each figure at least")
    parser.add_argument("--seconds-least", type=float, default=2, help="of a figure's rounds together: what takes less has more of them")
    parser.add_argument("--seconds", type=float, default=5, help="of a round of one contestant; the rest of its questions is left out")
    parser.add_argument("--seed", type=int, default=20261121)
    return parser.parse_args()


class Bench:
    def __init__(self, options, records, questions):
        self.options, self.records, self.questions = options, records, questions
        self.short = 0

    def row_of(self, answer):
        return [int(one.removeprefix("row-")) if isinstance(one, str) else one for one in answer]

    def must(self, good, contestant, what):
        if not good:
            raise SystemExit(f"bench: {contestant.name}: wrong answer: {what}")

    # ---- Checks: each compares a contestant's answer with the oracle

    def check_few(self, contestant, question, answer):
        self.must(self.row_of(answer) == question.expected[:10], contestant, question.where)

    def check_many(self, contestant, question, answer):
        ids, documents, metadatas = answer
        rows = self.row_of(ids)
        same = rows == question.expected and all(
            documents[at] == self.records.documents[row] and metadatas[at] == self.records.metadatas[row]
            for at, row in enumerate(rows))
        self.must(same, contestant, question.where)

    def check_rows(self, contestant, question, answer):
        self.must(sorted(self.row_of(answer)) == question.expected, contestant, question.text)

    def check_ten(self, contestant, question, answer):
        ids, documents = answer
        rows = self.row_of(ids)
        same = sorted(rows) == question.expected[:10] and documents == [self.records.documents[row] for row in rows]
        self.must(same, contestant, question.text)

    def quality_of_query(self, question, answer):
        import questions

        rows = self.row_of(answer)
        if question.where and not all(matches(question.where, self.records.metadatas[row]) for row in rows):
            return 0.0
        return questions.recall(question, questions.distances(question.vector, self.records.vectors[rows]))

    def quality_of_search(self, question, answer):
        import questions

        return questions.agreement(question, self.row_of(answer))

    # ---- Timing

    def measure(self, what, asked, contestants, call, check=None, quality=None, quality_min=0.0):
        """Asks all once and checks; then in rounds, in turns. Milliseconds a call over the questions that all of them had
        time for, of the best round of each, and the mean quality of each."""
        counts, means = {}, {}
        for contestant in contestants:
            ask, end, found = getattr(contestant, call), time.perf_counter() + 2 * self.options.seconds, []
            for question in asked:
                answer = ask(question)
                if check is not None:
                    check(contestant, question, answer)
                found.append(quality(question, answer) if quality is not None else 1.0)
                if time.perf_counter() > end:
                    break
            counts[contestant], means[contestant] = len(found), sum(found) / len(found)
        self.must(means[contestants[0]] >= quality_min, contestants[0], f"{what}: {means[contestants[0]]:.3f}")
        asked = asked[:min(counts.values())]
        best = {contestant: float("inf") for contestant in contestants}
        rounds, begin = 0, time.perf_counter()
        while rounds < self.options.rounds or time.perf_counter() - begin < self.options.seconds_least:
            rounds += 1
            for contestant in contestants:
                ask = getattr(contestant, call)
                start = time.perf_counter()
                for question in asked:
                    ask(question)
                best[contestant] = min(best[contestant], (time.perf_counter() - start) / len(asked))
        return {contestant: 1000 * seconds for contestant, seconds in best.items()}, means, len(asked)

    def line(self, what, asked, contestants, call, wanted, shows_quality=False, **checks):
        """One line for each peer, each by itself: the slowest would leave the others few rounds. `wanted` has the least ratio by the
        peer's class."""
        ours = contestants[0]
        for peer in contestants[1:]:
            best, means, count = self.measure(what, asked, [ours, peer], call, **checks)
            ratio, least = best[peer] / best[ours], wanted.get(type(peer).__name__)
            falls_short = least is not None and ratio < least
            self.short += falls_short
            said = "" if least is None else f"   (wanted: {least} or more{': SHORT' if falls_short else ''})"
            quality = f"   {means[ours]:.3f} {means[peer]:.3f}" if shows_quality else ""
            print(f"  {what:<44} {best[ours]:>10.3f} {best[peer]:>11.3f} ms {ratio:>9.2f} times  {count:>3} asked  "
                  f"{peer.name}{quality}{said}", flush=True)


def matches(where, metadata):
    """The two forms that the questions have."""
    if "$and" in where:
        (_, lower), (_, upper) = (next(iter(one.items())) for one in where["$and"])
        return lower["$gte"] <= metadata["bucket"] < upper["$lt"]
    (key, value), = where.items()
    return metadata[key] == value


def disk_bytes(folder):
    return sum(os.lstat(os.path.join(path, name)).st_blocks * 512 for path, _, names in os.walk(folder) for name in names)


def load(options):
    """Passages with metadata of every type, and the texts of the passages that are none of the records."""
    import itertools

    import passages

    records = passages.load(options.data, options.rows)
    for row, metadata in enumerate(records.metadatas):
        metadata.update(score=row * 37 % 1000 / 8, fresh=row % 3 == 0, tags=[f"tag-{row % 100}", f"topic-{row // 7 % 50}"])
    texts = [passage["text"] for passage in itertools.islice(passages.read(options.data), 100000, None)]
    return records, passages.load_queries(options.data), texts


def built(make, records, folders, options):
    """A contestant with its records, the seconds and the bytes on disk that it took."""
    folder = tempfile.mkdtemp(prefix="filters-", dir=options.folder)
    folders.append(folder)
    contestant = make(folder)
    start = time.perf_counter()
    contestant.build(records)
    seconds = time.perf_counter() - start
    size = contestant.bytes() if hasattr(contestant, "bytes") else disk_bytes(folder)
    return contestant, seconds, size


def run(options, folders):
    import contestants as all_contestants
    import machine
    import numpy
    import pigment_library
    import psycopg
    import questions

    library = pigment_library.Library(options.library, numpy)
    print(f"machine: {machine.describe()}\n{library.build_info()}")
    records, queries, texts = load(options)
    asked = questions.Questions(records, queries, texts, options.seed, options.questions)
    has_text = pigment_library.has_text_search(library)
    print(f"passages: {len(records.ids):,} x 384 f32, cosine, documents of {sum(map(len, records.documents)) / 1e6:.1f} million "
          f"characters, metadata of six keys; {options.rounds} rounds and {options.seconds_least:.0f} s at least, seed {options.seed}", flush=True)
    makers = {
        "pigment without text index": lambda folder: all_contestants.Pigment(folder, library, False),
        **({"pigment": lambda folder: all_contestants.Pigment(folder, library, True)} if has_text else {}),
        "chroma": all_contestants.Chroma, "fts5": all_contestants.Fts5,
        "trigrams": lambda _: all_contestants.Trigrams(psycopg.connect(autocommit=True)),
        **({"tantivy": all_contestants.Tantivy} if has_text else {})}
    made = {}
    print("build, complete and on disk (ours and Chroma: with vectors and metadata; pg_trgm: bytes of the index alone)")
    for key, make in makers.items():
        made[key], seconds, size = built(make, records, folders, options)
        said = "" if not key.startswith("pigment") else " without text index" if "without" in key else " with text index"
        print(f"  {made[key].name + said:<44} {seconds:>10.1f} s {size / 1e6:>11.1f} MB", flush=True)
    ours = made.get("pigment", made["pigment without text index"])
    bench = Bench(options, records, asked)
    ask(bench, asked, ours, made)
    if not has_text:
        print("  ranked text: no ranked text in this build")
    for contestant in made.values():
        contestant.close()
    return bench.short


def ask(bench, asked, ours, made):
    import questions

    print("milliseconds a call, ours and the peer's; of queries: recall of both, of searches: agreement of both with the oracle")
    chroma, texts = made["chroma"], made["fts5"]
    bench.line("get, 100 rows match, ids of 10", asked.get_few, [ours, chroma], "get_few", {"Chroma": 100},
               check=bench.check_few)
    bench.line("get, 1,000 rows, documents and metadata", asked.get_many, [ours, chroma], "get_many", {"Chroma": 20},
               check=bench.check_many)
    for name, some in asked.query.items():
        bench.line(f"query, filter of {name}, 10 nearest", some, [ours, chroma], "query", {"Chroma": 200}, True,
                   quality=bench.quality_of_query, quality_min=RECALL_MIN)
    bench.line("substring, all ids", asked.substring, [ours, texts, chroma], "substring", {"Fts5": 1}, check=bench.check_rows)
    bench.line("substring, first ten with documents", asked.substring, [ours, texts, chroma], "substring_ten", {},
               check=bench.check_ten)
    bench.line("regular expression, all ids", asked.regex, [ours, made["trigrams"], chroma], "regex", {"Trigrams": 3},
               check=bench.check_rows)
    if "tantivy" in made:
        for name, some in asked.search.items():
            bench.line(f"ranked text, {name}, best 10", some, [ours, made["tantivy"]], "search", {"Tantivy": 1}, True,
                       quality=bench.quality_of_search, quality_min=AGREEMENT_MIN)


def main():
    options = parse()
    os.makedirs(options.folder, exist_ok=True)
    folders = []
    try:
        short = run(options, folders)
    finally:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{short} figures fall short of what is wanted" if short else "no figure falls short of what is wanted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
