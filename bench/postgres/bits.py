# SPDX-License-Identifier: Apache-2.0
"""Part `bits`: the signs of the vectors as bits, by Hamming and by Jaccard distance: build, size, and queries a second over recall. An answer
counts that is no farther than the k-th nearest: many are equally far."""

import dataclasses
import struct
import time

import client
import contestants
import numpy
import report

FLOORS = (0.95, 0.99)
PER_BYTE = numpy.array([bin(byte).count("1") for byte in range(256)], numpy.uint8)


def ones(rows):
    return PER_BYTE[rows].sum(axis=1, dtype=numpy.int32)


def hamming(query, rows):
    return ones(numpy.bitwise_xor(rows, query))


def jaccard(query, rows):
    shared = ones(numpy.bitwise_and(rows, query))
    return numpy.where(shared == 0, 1.0, 1 - shared / numpy.maximum(ones(numpy.bitwise_or(rows, query)), 1))


@dataclasses.dataclass(frozen=True)
class Space:
    name: str
    operator: str
    operator_class: str
    distances: object


SPACES = (Space("Hamming", "<~>", "bit_hamming_ops", hamming), Space("Jaccard", "<%>", "bit_jaccard_ops", jaccard))


class Judge:
    def __init__(self, space, base, queries, k):
        self.distances, self.base, self.queries, self.k = space.distances, base, queries, k
        self.farthest = [numpy.partition(self.distances(query, base), k - 1)[k - 1] for query in queries]

    def judge(self, answers):
        right = 0
        for query, farthest, row in zip(self.queries, self.farthest, answers):
            found = numpy.unique(row[row >= 0])
            right += int((self.distances(query, self.base[found]) <= farthest).sum())
        return {"recall": right / (len(answers) * self.k)}


def bit_value(packed, dimension):
    return struct.pack(">i", dimension) + packed.tobytes()


def of_bits(contestant):
    return dataclasses.replace(contestant, table=contestant.table.replace("items", "bits"),
                               access=contestant.access.replace(", bucket, source", ""))


def load(bench, contestant, base, dimension):
    with bench.connect(contestant) as connection:
        connection.execute(f"CREATE TABLE {contestant.table} (id integer, embedding bit({dimension}))")
        with connection.cursor() as cursor, cursor.copy(f"COPY {contestant.table} FROM STDIN (FORMAT binary)") as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for row, packed in enumerate(base):
                value = bit_value(packed, dimension)
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


def bits(bench):
    dimension = bench.data.base.shape[1]
    base, queries = (numpy.packbits(vectors > 0, axis=1) for vectors in (bench.data.base, bench.data.queries))
    some = [of_bits(contestant) for contestant in bench.options.contestants if contestant.access]
    parameters = client.write_parameters((bit_value(query, dimension),) for query in queries)
    for contestant in some:
        load(bench, contestant, base, dimension)
    for space in SPACES:
        compare(bench, space, some, Judge(space, base, queries, bench.options.k), dimension, parameters)
    for contestant in some:
        with bench.connect(contestant) as connection:
            connection.execute(f"DROP TABLE {contestant.table}")


def compare(bench, space, some, judge, dimension, parameters):
    bench.report.say(f"\nsigns of the vectors as bit({dimension}), by {space.name} distance; build with one process")
    for contestant in some:
        seconds, size = build(bench, contestant, space)
        bench.report.line(contestant.name, f"{seconds:8,.1f} s  {size / 1e6:8,.1f} MB")
    statement = f"SELECT id FROM {{table}} ORDER BY embedding {space.operator} $1::bit({dimension}) LIMIT {bench.options.k}"
    asked = [(contestant, setting, statement.format(table=contestant.table), parameters)
             for contestant in some for setting in contestant.sweep]
    points = bench.sweep(asked, judge, bench.options.rounds)
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
