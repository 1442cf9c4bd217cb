# SPDX-License-Identifier: Apache-2.0
"""pgvector's Python package, unchanged, against our types: by each driver that it serves; a TAP program."""

import asyncio
import os
import sys

import both
import numpy as np
import psycopg
from pgvector import Bit, HalfVector, SparseVector, Vector

VECTOR = Vector([1.5, -2, 3])
HALFVEC = HalfVector([1.5, -2, 3])
SPARSEVEC = SparseVector({0: 1.5, 2: 3}, 3)
BITS = Bit("101")
ROW = (VECTOR, HALFVEC, SPARSEVEC, BITS)
TABLE = "CREATE TABLE items (id serial PRIMARY KEY, v vector(3), h halfvec(3), s sparsevec(3), b bit(3))"
INSERT = "INSERT INTO items (v, h, s, b) VALUES (%s, %s, %s, %s)"


def check_psycopg(tap):
    from pgvector.psycopg import register_vector

    with psycopg.connect("", autocommit=True) as connection:
        register_vector(connection)
        connection.execute(TABLE)
        connection.execute(INSERT, ROW)
        with connection.cursor(binary=True) as cursor:
            cursor.execute("INSERT INTO items (v, h, s, b) VALUES (%b, %b, %b, %b)", ROW)
        for binary in (False, True):
            rows = connection.cursor(binary=binary).execute("SELECT v, h, s, b FROM items ORDER BY id").fetchall()
            equal = [all(same(got, sent) for got, sent in zip(row, ROW)) for row in rows]
            tap.check(equal == [True, True], f"psycopg, {'binary' if binary else 'text'}: all four types come back", rows)
        distances = connection.execute(
            "SELECT v <-> %s, v <#> %s, v <=> %s, v <+> %s, h <-> %s, s <-> %s, b <~> %s FROM items LIMIT 1",
            (*[np.array([1.5, -2, 4])] * 4, HalfVector([1.5, -2, 4]), SparseVector([1.5, 0, 4]), Bit("100"))).fetchone()
        tap.check(
            np.allclose(distances, [1, -18.25, 1 - 18.25 / np.sqrt(15.25 * 22.25), 1, 1, 1, 1]), "psycopg: distances to parameters", distances)
        with connection.cursor().copy("COPY items (v, h, s) FROM STDIN WITH (FORMAT BINARY)") as copy:
            copy.set_types(["vector", "halfvec", "sparsevec"])
            for i in range(500):
                copy.write_row((np.array([i, 1, 2]), HalfVector([i % 100, 1, 2]), SparseVector({1: i + 1}, 3)))
        count, total = connection.execute("SELECT count(*), sum(v) FROM items WHERE b IS NULL").fetchone()
        tap.check(count == 500 and same(total, Vector([124750, 500, 1000])), "psycopg: COPY in binary", [count, total])
        average = connection.execute("SELECT avg(h), avg(v) FROM items WHERE b IS NULL").fetchone()
        tap.check(
            same(average[0], HalfVector([49.5, 1, 2])) and same(average[1], Vector([249.5, 1, 2])), "psycopg: averages", average)
        connection.execute("CREATE INDEX ON items USING pigment (v vector_l2_ops)")
        connection.execute("SET enable_seqscan = off")
        nearest = connection.execute("SELECT v FROM items ORDER BY v <-> %s LIMIT 1", (np.array([77.2, 1, 2]),)).fetchone()
        tap.check(same(nearest[0], Vector([77, 1, 2])), "psycopg: the nearest by an index", nearest)
        arrays = connection.execute("SELECT ARRAY[v] FROM items ORDER BY id LIMIT 1").fetchone()
        tap.check(same(arrays[0][0], VECTOR), "psycopg: an array of vectors", arrays)
        connection.execute("DROP TABLE items")


def same(got, sent):
    """Equal elements; the package gives numpy arrays or its own types, by driver."""
    if isinstance(sent, Bit):
        return got in (sent, "101", sent.to_binary())  # the package has no loader of its own for the server's bit
    expected = sent.to_list()
    actual = got.to_list() if hasattr(got, "to_list") else list(got)
    return actual == expected


def check_psycopg2(tap):
    import psycopg2
    from pgvector.psycopg2 import register_vector

    with psycopg2.connect("") as connection:
        register_vector(connection)
        cursor = connection.cursor()
        cursor.execute(TABLE)
        cursor.execute(INSERT.replace(", b)", ")").replace(", %s)", ")", 1), ROW[:3])
        cursor.execute("SELECT v, h, s FROM items WHERE v <-> %s < 1 AND v = %s", (VECTOR, VECTOR))
        row = cursor.fetchone()
        tap.check(row is not None and all(same(a, b) for a, b in zip(row, ROW)), "psycopg2: three types come back", [row])
        cursor.execute("DROP TABLE items")


async def ask_asyncpg(tap):
    import asyncpg
    from pgvector.asyncpg import register_vector

    connection = await asyncpg.connect(host=os.environ["PGHOST"], port=int(os.environ["PGPORT"]), user=os.environ["PGUSER"],
                                       database=os.environ["PGDATABASE"])
    await register_vector(connection)
    await connection.execute(TABLE)
    await connection.execute("INSERT INTO items (v, h, s) VALUES ($1, $2, $3)", *ROW[:3])
    row = await connection.fetchrow("SELECT v, h, s FROM items WHERE v <-> $1 < 1", VECTOR)
    tap.check(row is not None and all(same(a, b) for a, b in zip(row, ROW)), "asyncpg: three types come back", [row])
    await connection.executemany("INSERT INTO items (v) VALUES ($1)", [(np.array([i, 0, 0]),) for i in range(50)])
    nearest = await connection.fetch("SELECT v FROM items ORDER BY v <-> $1 LIMIT 2", [7.1, 0, 0])
    tap.check([list(r[0].to_list()) for r in nearest] == [[7, 0, 0], [8, 0, 0]], "asyncpg: the nearest", nearest)
    await connection.execute("DROP TABLE items")
    await connection.close()


def check_sqlalchemy(tap):
    from pgvector.sqlalchemy import BIT, HALFVEC, SPARSEVEC, VECTOR, avg
    from sqlalchemy import Column, Integer, MetaData, Table, create_engine, insert, inspect, select

    engine = create_engine("postgresql+psycopg://")
    metadata = MetaData()
    items = Table(
        "items", metadata, Column("id", Integer, primary_key=True), Column("v", VECTOR(3)), Column("h", HALFVEC(3)),
        Column("s", SPARSEVEC(3)), Column("b", BIT(3)))
    metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(insert(items), [
            {"v": [i, 1, 1], "h": [i, 1, 1], "s": SparseVector([i, 1, 0]), "b": "101"} for i in range(10)])
        row = connection.execute(select(items.c.v, items.c.h, items.c.s).order_by(items.c.v.l2_distance([3.1, 1, 1])).limit(1)).one()
        tap.check(
            same(row[0], Vector([3, 1, 1])) and same(row[1], HalfVector([3, 1, 1])) and same(row[2], SparseVector([3, 1, 0])),
            "SQLAlchemy: the nearest by l2, three types", [row])
        for name, distance in (
                ("max_inner_product", items.c.v.max_inner_product([1, 0, 0])), ("cosine", items.c.h.cosine_distance([0, 1, 1])),
                ("l1", items.c.s.l1_distance(SparseVector([9, 1, 0]))), ("hamming", items.c.b.hamming_distance("100"))):
            found = connection.execute(select(distance).order_by(distance).limit(1)).scalar()
            wanted = {"max_inner_product": -9, "cosine": 0, "l1": 0, "hamming": 1}[name]
            tap.check(abs(found - wanted) < 1e-6, f"SQLAlchemy: {name}", [found])
        average = connection.execute(select(avg(items.c.v))).scalar()
        tap.check(same(average, Vector([4.5, 1, 1])), "SQLAlchemy: average", [average])
    columns = {c["name"]: str(c["type"]) for c in inspect(engine).get_columns("items")}
    tap.check(columns["v"] == "VECTOR(3)" and columns["s"] == "SPARSEVEC(3)", "SQLAlchemy: reflected types", [columns])


def main():
    tap = both.Tap()
    with psycopg.connect("", autocommit=True) as connection:
        connection.execute("CREATE EXTENSION pigment")
    check_psycopg(tap)
    check_psycopg2(tap)
    asyncio.run(ask_asyncpg(tap))
    check_sqlalchemy(tap)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
