# SPDX-License-Identifier: Apache-2.0
"""Tables of another type than `vector`, each with one index: loads, builds, and queries a second over recall. An answer counts that is no
farther than the k-th nearest: many are equally far."""

import dataclasses
import struct
import time

import client
import contestants
import numpy
import report

FLOORS = (0.95, 0.99)


@dataclasses.dataclass(frozen=True)
class Space:
    name: str
    operator: str
    operator_class: str
    distances: object  # (number of a query, row numbers or a slice): NumPy's, in double


@dataclasses.dataclass(frozen=True)
class Column:
    table: str  # in the place of "items"
    type: str  # of SQL
    values: list  # of the rows, as the type sends them
    asked: list  # of the queries


class Judge:
    def __init__(self, space, queries, k):
        self.distances, self.k = space.distances, k
        self.farthest = [self.distance_of_last(query) for query in range(queries)]

    def distance_of_last(self, query):
        last = numpy.partition(self.distances(query, slice(None)), self.k - 1)[self.k - 1]
        return last + abs(last) * 1e-6  # servers compute in single precision

    def judge(self, answers):
        right = 0
        for query, (farthest, row) in enumerate(zip(self.farthest, answers)):
            found = numpy.unique(row[row >= 0])
            right += int((self.distances(query, found) <= farthest).sum())
        return {"recall": right / (len(answers) * self.k)}


def of_type(contestant, column):
    return dataclasses.replace(contestant, table=contestant.table.replace("items", column.table),
                               access=contestant.access.replace(", bucket, source", ""))


def load(bench, contestant, column):
    with bench.connect(contestant) as connection:
        connection.execute(f"CREATE TABLE {contestant.table} (id integer, embedding {column.type})")
        with connection.cursor() as cursor, cursor.copy(f"COPY {contestant.table} FROM STDIN (FORMAT binary)") as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for row, value in enumerate(column.values):
                copy.write(struct.pack(">hiii", 2, 4, row, len(value)) + value)
            copy.write(b"\xff\xff")
        connection.execute(f"VACUUM (FREEZE, ANALYZE) {contestant.table}")


def build(bench, contestant, space):
    """Seconds, bytes of the index."""
    with bench.connect(contestant) as connection:
        connection.execute(f"DROP INDEX IF EXISTS {contestant.index}")
        begin = time.perf_counter()
        connection.execute(f"CREATE INDEX {contestant.index} ON {contestant.table} USING {contestant.access.format(ops=space.operator_class)}")
        seconds = time.perf_counter() - begin
        return seconds, connection.execute("SELECT pg_relation_size(%s::regclass)", (contestant.index,)).fetchone()[0]


def measure(bench, some, column, spaces):
    """`some` take part; each space has an index of its own."""
    some = [of_type(contestant, column) for contestant in some if contestant.access]
    parameters = client.write_parameters((value,) for value in column.asked)
    for contestant in some:
        load(bench, contestant, column)
    for space in spaces:
        compare(bench, some, column, space, parameters)
    for contestant in some:
        with bench.connect(contestant) as connection:
            connection.execute(f"DROP TABLE {contestant.table}")


def compare(bench, some, column, space, parameters):
    bench.report.say(f"\n{column.type}, {space.name}; build with one process")
    for contestant in some:
        seconds, size = build(bench, contestant, space)
        bench.report.line(contestant.name, f"{seconds:8,.1f} s  {size / 1e6:8,.1f} MB")
    statement = f"SELECT id FROM {{table}} ORDER BY embedding {space.operator} $1::{column.type} LIMIT {bench.options.k}"
    asked = [(contestant, setting, statement.format(table=contestant.table), parameters)
             for contestant in some for setting in contestant.sweep]
    points = bench.sweep(asked, Judge(space, len(column.asked), bench.options.k), bench.options.rounds)
    of_key = {contestant.key: [point for point in points if point["key"] == contestant.key] for contestant in some}
    bench.report.say(f"\n  {space.name:<20} {'setting':<28} {'recall@' + str(bench.options.k):>9} {'queries/s':>10} "
                     f"{'median us':>10} {'p99 us':>10} {'in server us':>12}")
    for contestant in some:
        report.show_points(bench.report, contestant.key, contestant.name, of_key[contestant.key])
    for floor in FLOORS:
        reference = report.best_at(of_key.get("pgvector", []), floor)
        for contestant in some:
            best = report.best_at(of_key[contestant.key], floor)
            times = f"  {best['rate'] / reference['rate']:6.2f} times pgvector" if best and reference else ""
            figures = f"{best['recall']:.4f} {best['rate']:10,.0f}/s  {contestants.setting_text(best['setting'])}" if best else "not reached"
            bench.report.line(f"{contestant.name}, recall >= {floor}", figures + times)
