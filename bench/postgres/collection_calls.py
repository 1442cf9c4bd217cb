# SPDX-License-Identifier: Apache-2.0
"""Part `collections`: the SQL functions of collections with arrays of records and of queries, and a fork. Records have a document of
their source's name and two keys of metadata; they and what is asked go as text, as most clients send them."""

import json
import time

import numpy
import server as servers

BATCH_RECORDS, BATCHES = 10000, (10000, 100)
QUERIES_A_CALL = 100
SETTINGS = ("SET search_path = ours, public",)


class Collections:
    def __init__(self, bench):
        self.bench, self.data = bench, bench.data
        self.connection = bench.server.connect()
        for setting in SETTINGS:
            self.connection.execute(setting)

    def create(self, name):
        space = {"cosine": "cosine", "l2": "l2"}[self.data.metric]
        self.connection.execute("SELECT pigment.create_collection(%s, configuration => %s::jsonb)",
                                (name, json.dumps({"hnsw": {"space": space}})))

    def drop(self, *names):
        for name in names:
            self.connection.execute("SELECT pigment.delete_collection(%s)", (name,))

    def columns(self, rows):
        """ids, vectors, documents and metadata of rows, as texts."""
        sources = [self.data.source_names[self.data.source[row]] for row in rows]
        return ([str(row) for row in rows], [vector_text(self.data.base[row]) for row in rows], sources,
                [json.dumps({"bucket": int(self.data.bucket[row]), "source": source}) for row, source in zip(rows, sources)])

    def timed(self, statement, calls):
        begin = time.perf_counter()
        for parameters in calls:
            self.connection.execute(statement, parameters)
        return time.perf_counter() - begin


def vector_text(vector):
    return "[" + ",".join(repr(float(value)) for value in vector.astype(numpy.float32)) + "]"


WRITES = (
    ("add", "SELECT pigment.add(%s, %s::text[], %s::text[]::vector[], %s::text[], %s::text[]::jsonb[])", 4),
    ("upsert, all there", "SELECT pigment.upsert(%s, %s::text[], %s::text[]::vector[], %s::text[], %s::text[]::jsonb[])", 4),
    ("update of metadata", "SELECT pigment.update(%s, %s::text[], metadatas => %s::text[]::jsonb[])", (0, 3)),
    ("get by id", "SELECT count(*) FROM pigment.get(%s, %s::text[])", 1),
    ("delete", "SELECT pigment.delete(%s, %s::text[])", 1),
)


def batches(bench):
    """Each call of functions that take arrays, with all records at once and with some hundred calls."""
    them = Collections(bench)
    count = min(BATCH_RECORDS, len(bench.data.base))
    bench.report.say(f"\nfunctions of collections with arrays: {count:,} records in one call and in calls of {BATCHES[1]}, "
                     "each in a transaction of its own, records a second")
    columns = them.columns(range(count))
    rates = {}
    for size in BATCHES:
        size = min(size, count)
        them.create("batches")
        for name, statement, width in WRITES:
            chosen = [columns[i] for i in (range(width) if isinstance(width, int) else width)]
            calls = [("batches", *(column[begin:begin + size] for column in chosen)) for begin in range(0, count, size)]
            rates.setdefault(name, []).append(count / them.timed(statement, calls))
        them.drop("batches")
    for name, found in rates.items():
        bench.report.line(name, f"{found[0]:10,.0f}/s in one call  {found[1]:10,.0f}/s in calls of {BATCHES[1]}")


def queries(bench, them):
    """Queries one a call and many a call."""
    asked = [vector_text(query) for query in bench.data.queries]
    one = "SELECT id FROM pigment.query(%s, %s::vector, %s, include => '{}') ORDER BY rank"
    many = "SELECT query_index, id FROM pigment.query(%s, %s::text[]::vector[], %s, include => '{}') ORDER BY query_index, rank"
    k = bench.options.k
    for statement, size in ((one, 1), (many, QUERIES_A_CALL)):
        best, answers = 0, []
        for _ in range(bench.options.rounds):
            answers = []
            begin = time.perf_counter()
            for first in range(0, len(asked), size):
                some = asked[first:first + size]
                rows = them.connection.execute(statement, ("fork", some if size > 1 else some[0], k)).fetchall()
                if size == 1:
                    answers.append([int(row[0]) for row in rows])
                else:
                    answers += [[int(row[1]) for row in rows if row[0] == index + 1] for index in range(len(some))]
            best = max(best, len(asked) / (time.perf_counter() - begin))
        recall = bench.judge.judge(numpy.array(answers))["recall"]
        bench.report.line(f"pigment.query, {size} a call", f"{best:10,.0f}/s  recall {recall:.4f}")


def fork(bench):
    """A collection of all rows, forked: rows are copied, and the index is built anew."""
    them = Collections(bench)
    bench.report.say(f"\nfork of a collection of {len(bench.data.base):,} records, after a checkpoint")
    them.create("forked")
    step = 1000
    for begin in range(0, len(bench.data.base), step):
        rows = range(begin, min(begin + step, len(bench.data.base)))
        them.connection.execute(WRITES[0][1], ("forked", *them.columns(rows)))
    said = []
    them.connection.add_notice_handler(lambda notice: said.append(notice.message_primary))
    them.connection.execute("CHECKPOINT")
    with servers.WalMeter(them.connection) as wal:
        seconds = them.timed("SELECT pigment.fork_collection(%s, %s)", [("forked", "fork")])
    bench.report.line("pigment.fork_collection", f"{seconds:8,.1f} s  {len(bench.data.base) / seconds:10,.0f} records/s  "
                      f"WAL {wal.bytes / 1e6:,.1f} MB; it says: {said[-1]}")
    queries(bench, them)
    them.drop("fork", "forked")


def collections(bench):
    batches(bench)
    fork(bench)
