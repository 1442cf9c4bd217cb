# SPDX-License-Identifier: Apache-2.0
"""The PostgreSQL manual in both homes of Pigment, asked the same questions: see the script `run` beside this file.

usage: quickstart.py EXAMPLE_PROGRAM; the server is found through libpq's environment variables.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import passages

PASSAGES_MIN = 10_000
BATCH_ROWS = 500
RESULTS = 5
LENGTH_LONG = 450

# Text, where, where_document.
QUESTIONS = [
    ("left outer join of two tables", None, None),
    ("create an index without blocking writes", {"chapter": "SQL Commands"}, None),
    ("recover from a crash by replaying the write-ahead log", None, {"$contains": "checkpoint"}),
    ("which privileges does a role need to read a table",
     {"$and": [{"chapter": {"$ne": "Appendix E. Release Notes"}}, {"length": {"$gt": LENGTH_LONG}}]}, None),
    ("text search in a language with stemming", {"position": {"$lte": 3}},
     {"$and": [{"$regex": "(?i)diction|stem"}, {"$not_contains": "hunspell"}]}),
]


class Progress:
    """A bar on a terminal; elsewhere a line at each quarter."""

    WIDTH = 40

    def __init__(self, name, total):
        self._name, self._total, self._quarter = name, total, 0
        self._terminal = sys.stdout.isatty()

    def show(self, done):
        share = done / self._total
        if self._terminal:
            filled = int(self.WIDTH * share)
            bar = "#" * filled + "." * (self.WIDTH - filled)
            print(f"\r  {self._name:<12} [{bar}] {done:>6,} of {self._total:,}", end="", flush=True)
            if done >= self._total:
                print()
        elif int(4 * share) > self._quarter:
            self._quarter = int(4 * share)
            print(f"  {self._name:<12} {done:>6,} of {self._total:,}", flush=True)


class Failure(Exception):
    pass


# ---- The embedded home -------------------------------------------------------------------------


def run_embedded(program, folder, rows):
    """Returns (seconds of ingest, answers, seconds) with a list of (id, distance) per question."""
    (folder / "questions.tsv").write_text("".join(
        "\t".join([text, as_json(where), as_json(document)]) + "\n" for text, where, document in QUESTIONS))
    progress = Progress("embedded", len(rows))
    ingest_s, answers, seconds = None, [[] for _ in QUESTIONS], [0.0] * len(QUESTIONS)
    command = [program, folder / "database", folder / "passages.tsv", folder / "questions.tsv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            word, *values = line.split()
            if word == "stored":
                progress.show(int(values[0]))
            elif word == "ingest":
                ingest_s = float(values[0])
            elif word == "asked":
                seconds[int(values[0]) - 1] = float(values[1])
            elif word == "answer":
                answers[int(values[0]) - 1].append((values[2], as_f32(values[3])))
    if process.returncode != 0:
        raise Failure(f"{program} ended with status {process.returncode}")
    return ingest_s, answers, seconds


def as_f32(digits):
    """The float that digits stand for, which each home prints in its own way."""
    return struct.unpack("<f", struct.pack("<f", float(digits)))[0]


def as_json(value):
    return "" if value is None else json.dumps(value)


# ---- The home in PostgreSQL --------------------------------------------------------------------


class Psql:
    """One session."""

    END = "-- end --"

    def __enter__(self):
        self._process = subprocess.Popen(
            ["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--field-separator=\t",
             "--set", "ON_ERROR_STOP=1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(self, statement):
        """The rows of one statement, as lists of texts."""
        return self.command(statement + ";")

    def command(self, line):
        """The same for a command of psql's own."""
        try:
            self._process.stdin.write(f"{line}\n\\echo {self.END}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Failure("psql has ended") from None
        rows = []
        for answer in self._process.stdout:
            if answer == self.END + "\n":
                return rows
            rows.append(answer.rstrip("\n").split("\t"))
        raise Failure(f"psql ended at: {line}")


def run_postgres(folder, rows):
    with Psql() as psql:
        psql.run("SET client_min_messages = warning")
        psql.run("CREATE EXTENSION pigment")
        # Texts go in; the collection's function embeds them. Without fields quoted, a tab ends a field and a line a row.
        psql.run("SELECT name FROM pigment.create_collection('manual', embedding_function => 'pigment.lexical_v1')")
        psql.run("CREATE TEMP TABLE passages (number int GENERATED ALWAYS AS IDENTITY, id text, page text, chapter text, "
                 "position int, length int, content text)")
        psql.command("\\copy passages (id, page, chapter, position, length, content) "
                     f"from '{folder / 'passages.tsv'}' with (format csv, delimiter E'\\t', quote E'\\x01')")

        progress = Progress("PostgreSQL", len(rows))
        began = time.monotonic()
        for first in range(1, len(rows) + 1, BATCH_ROWS):
            psql.run(
                "SELECT inserted FROM (SELECT array_agg(id ORDER BY number) AS ids, "
                "array_agg(content ORDER BY number) AS texts, array_agg(jsonb_build_object('page', page, 'chapter', chapter, "
                "'position', position, 'length', length) ORDER BY number) AS metadatas FROM passages "
                f"WHERE number BETWEEN {first} AND {first + BATCH_ROWS - 1}) batch, "
                "pigment.add('manual', ids, documents => texts, metadatas => metadatas)")
            progress.show(min(first + BATCH_ROWS - 1, len(rows)))
        ingest_s = time.monotonic() - began

        psql.run("SET pigment.target_recall = 1")  # exact: both homes give the same then, whatever their indexes are like
        answers, seconds = [], []
        for text, where, document in QUESTIONS:
            began = time.monotonic()
            hits = psql.run(
                f"SELECT id, distance FROM pigment.query('manual', query_texts => ARRAY[{quote(text)}], "
                f"n_results => {RESULTS}, where_metadata => {quote_json(where)}, where_document => {quote_json(document)})")
            seconds.append(time.monotonic() - began)
            answers.append([(id, as_f32(distance)) for id, distance in hits])
    return ingest_s, answers, seconds


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def quote_json(value):
    return "NULL" if value is None else quote(json.dumps(value)) + "::jsonb"


# ---- Both --------------------------------------------------------------------------------------


def show(rows, embedded, postgres):
    """Prints the answers side by side and returns how many questions were answered differently."""
    texts = {row[0]: row[5] for row in rows}
    differing = 0
    for number, (text, where, document) in enumerate(QUESTIONS):
        filters = [f"{name} {json.dumps(value)}" for name, value in
                   (("where", where), ("where_document", document)) if value is not None]
        print(f"\n{number + 1}. {text}")
        if filters:
            print("   " + ", ".join(filters))
        left, right = embedded[1][number], postgres[1][number]
        print(f"   {'embedded, %.1f ms' % (embedded[2][number] * 1e3):<47}"
              f"{'PostgreSQL, %.1f ms' % (postgres[2][number] * 1e3)}")
        for rank in range(max(len(left), len(right))):
            cells = [f"{hits[rank][1]:.4f} {hits[rank][0]}" if rank < len(hits) else "-" for hits in (left, right)]
            print(f"   {cells[0][:45]:<45}  {cells[1][:45]}")
        if left:
            print(f"   > {texts[left[0][0]][:110]} ...")
        if [id for id, _ in left] != [id for id, _ in right]:
            differing += 1
            print("   DIFFERENT")
    return differing


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if not passages.MANUAL.is_dir():
        raise Failure(f"the PostgreSQL manual is not in {passages.MANUAL}: apt-get install postgresql-doc-15")
    print("Pigment quickstart: the PostgreSQL manual in both homes", flush=True)
    rows = passages.read_manual()
    if len(rows) < PASSAGES_MIN:
        raise Failure(f"{passages.MANUAL} gave {len(rows)} passages, expected at least {PASSAGES_MIN}")

    with tempfile.TemporaryDirectory(prefix="pigment-quickstart-") as name:
        folder = pathlib.Path(name)
        with open(folder / "passages.tsv", "w", encoding="utf-8") as file:
            file.writelines("\t".join(map(str, row)) + "\n" for row in rows)
        embedded = run_embedded(sys.argv[1], folder, rows)
        postgres = run_postgres(folder, rows)

    for home, (seconds, _, _) in (("embedded", embedded), ("PostgreSQL", postgres)):
        print(f"  {home:<12} {len(rows):,} passages embedded and stored durably in {seconds:.1f} s: "
              f"{len(rows) / seconds:,.0f} per second")
    differing = show(rows, embedded, postgres)
    empty = sum(not hits for hits in embedded[1])
    if differing or empty:
        raise Failure(f"{differing} of {len(QUESTIONS)} questions answered differently, {empty} without an answer")
    same = sum(left == right for left, right in zip(embedded[1], postgres[1]))
    print(f"\nBoth homes gave the same records for all {len(QUESTIONS)} questions, "
          f"and the same distances to the last bit for {same}.")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"quickstart: {failure}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
