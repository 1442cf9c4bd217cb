# SPDX-License-Identifier: Apache-2.0
"""Pigment's two homes: a store in a directory through the C interface, and a PostgreSQL server through SQL."""

import shutil
import tempfile
import time

import numpy
import pigment_library


class Embedded:
    batch_rows = 1000

    def __init__(self, library, data, k):
        self.name, self.k = "pigment, embedded", k
        self.folder = tempfile.mkdtemp(prefix="pigment-bench-")
        start = time.perf_counter()
        self.client = pigment_library.Client(library, self.folder + "/store")
        self.collection = self.client.create_collection("bench", data.metric)
        for begin in range(0, len(data.base), self.batch_rows):
            rows = range(begin, min(begin + self.batch_rows, len(data.base)))
            self.collection.add([f"row-{row}" for row in rows], data.base[begin:begin + self.batch_rows],
                                [f'{{"bucket": {row % 1000}}}' for row in rows])
        self.client.flush()
        self.ingest = len(data.base) / (time.perf_counter() - start)
        self.ingest_text = f"batches of {self.batch_rows} with id and metadata, each durable, then flushed to segments"

    def query(self, vector):
        return [int(name[4:]) for name in self.collection.query(vector, self.k, recall=1.0)]

    def close(self):
        self.collection.free()
        self.client.close()
        shutil.rmtree(self.folder)


def binary_rows(base):
    """COPY's binary form of (row number, vector), a few megabytes at a time."""
    dimension = base.shape[1]
    row = numpy.dtype([("fields", ">i2"), ("id_bytes", ">i4"), ("id", ">i4"), ("vector_bytes", ">i4"),
                       ("dimension", ">i2"), ("unused", ">i2"), ("vector", ">f4", (dimension,))])
    yield b"PGCOPY\n\xff\r\n\0" + bytes(8)
    for begin in range(0, len(base), 2000):
        some = base[begin:begin + 2000]
        rows = numpy.zeros(len(some), dtype=row)
        rows["fields"], rows["id_bytes"], rows["id"] = 2, 4, numpy.arange(begin, begin + len(some))
        rows["vector_bytes"], rows["dimension"], rows["vector"] = 4 + 4 * dimension, dimension, some
        yield rows.tobytes()
    yield b"\xff\xff"


class Postgres:
    operators = {"cosine": ("<=>", "vector_cosine_ops"), "l2": ("<->", "vector_l2_ops"), "ip": ("<#>", "vector_ip_ops")}

    def __init__(self, connection, data, k):
        self.name, self.connection = "pigment, PostgreSQL", connection
        operator, operator_class = self.operators[data.metric]
        dimension = data.base.shape[1]
        run = connection.execute
        run("CREATE EXTENSION IF NOT EXISTS pigment")
        run("DROP TABLE IF EXISTS bench_items")
        start = time.perf_counter()
        run(f"CREATE TABLE bench_items (id integer PRIMARY KEY, embedding vector({dimension}))")
        with connection.cursor() as cursor, cursor.copy("COPY bench_items FROM STDIN (FORMAT binary)") as copy:
            for piece in binary_rows(data.base):
                copy.write(piece)
        copied = time.perf_counter()
        run(f"CREATE INDEX ON bench_items USING pigment (embedding {operator_class})")
        end = time.perf_counter()
        self.ingest = len(data.base) / (end - start)
        self.ingest_text = f"binary COPY {copied - start:.1f} s, CREATE INDEX {end - copied:.1f} s"
        run("SET enable_seqscan = off")
        self.sql = f"SELECT id FROM bench_items ORDER BY embedding {operator} %s::vector LIMIT {k}"
        plan = run("EXPLAIN " + self.sql, (self.text(data.queries[0]),)).fetchall()
        if not any("Index Scan" in line[0] for line in plan):
            raise SystemExit(f"bench: the plan is no index scan: {plan}")

    @staticmethod
    def text(vector):
        return str(vector.tolist())

    def query(self, vector):
        return [row[0] for row in self.connection.execute(self.sql, (self.text(vector),), prepare=True).fetchall()]

    def close(self):
        self.connection.execute("DROP TABLE bench_items")
