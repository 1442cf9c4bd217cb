# SPDX-License-Identifier: Apache-2.0
"""Users of pgvector switch by `USING pigment`: pigment.adopt_pgvector() in a server that has both; a TAP program."""

import pathlib
import random
import re
import subprocess
import sys
import tempfile

import both
import psycopg

DIMENSION = 8
ROWS = 2000
QUERIES = 25
OPERATORS = {"l2": "<->", "cosine": "<=>", "ip": "<#>", "l1": "<+>"}
BIT_OPERATORS = {"hamming": "<~>", "jaccard": "<%>"}
# column, operator class, operator
CLASSES = [
    *(("b", f"bit_{metric}_ops", symbol) for metric, symbol in BIT_OPERATORS.items()),
    *((column, f"{kind}_{metric}_ops", symbol) for column, kind in (("s", "sparsevec"), ("h", "halfvec"), ("v", "vector")) for metric, symbol in OPERATORS.items()),
]


def vectors(generator, count):
    return [[generator.uniform(-1, 1) for _ in range(DIMENSION)] for _ in range(count)]


def refusal(connection, statement):
    """SQLSTATE of a statement that is refused, '' of one that is not."""
    try:
        connection.execute(statement)
        return ""
    except psycopg.Error as error:
        return error.sqlstate


def check_refusals(tap, connection):
    connection.execute("CREATE EXTENSION pigment SCHEMA ours")
    state = refusal(connection, "SELECT pigment.adopt_pgvector()")
    tap.check(state == "42704", "without pgvector there is nothing to adopt", [state])
    connection.execute("CREATE EXTENSION vector")
    connection.execute("CREATE ROLE plain")
    with psycopg.connect("", autocommit=True) as plain:
        plain.execute("SET ROLE plain")
        state = refusal(plain, "SELECT pigment.adopt_pgvector()")
        tap.check(state == "42501", "an ordinary role may not adopt", [state])


def check_classes(tap, connection):
    adopted = connection.execute("SELECT operator_class, operator FROM pigment.adopt_pgvector()").fetchall()
    expected = [(f"public.{kind}_{metric}_ops", f"public.{symbol}(public.{kind},public.{kind})")
                for kind in ("vector", "halfvec", "sparsevec") for metric, symbol in OPERATORS.items()]
    expected += [(f"public.bit_{metric}_ops", f'public.{symbol}(pg_catalog."bit",pg_catalog."bit")') for metric, symbol in BIT_OPERATORS.items()]
    tap.check(sorted(adopted) == sorted(expected), "operator classes are made in pgvector's schema, one for each operator", adopted)
    again = connection.execute("SELECT operator_class, operator FROM pigment.adopt_pgvector()").fetchall()
    tap.check(again == adopted, "a second call finds them", again)
    valid = connection.execute("""
        SELECT count(*), count(*) FILTER (WHERE amvalidate(c.oid)), count(*) FILTER (WHERE opcdefault)
        FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
        WHERE amname = 'pigment' AND opcnamespace = 'public'::regnamespace""").fetchone()
    tap.check(valid == (14, 14, 3), "all are valid, one of each type of pgvector's is the default", [valid])


def distances(connection, column, symbol, query, index):
    """Distances of the ten nearest, with the index or without; and whether the plan is an index scan of ours."""
    connection.execute(f"SET enable_seqscan = {'off' if index else 'on'}")
    connection.execute(f"SET enable_indexscan = {'on' if index else 'off'}")
    statement = f"SELECT id, {column} {symbol} '{query}' FROM items ORDER BY {column} {symbol} '{query}' LIMIT 10"
    plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN (COSTS OFF) {statement}").fetchall())
    return [row[1] for row in connection.execute(statement).fetchall()], "Index Scan using items_pigment" in plan


def check_queries(tap, connection, generator, when):
    for column, kind, symbol in CLASSES:
        connection.execute(f"CREATE INDEX items_pigment ON items USING pigment ({column} {kind})")
        wrong, planned = 0, 0
        for query in vectors(generator, QUERIES):
            if column == "b":
                query = "".join(str(int(number > 0)) for number in query)
            elif column == "s":
                query = "{" + ",".join(f"{place}:{number}" for place, number in enumerate(query, 1)) + f"}}/{DIMENSION}"
            exact, _ = distances(connection, column, symbol, query, False)
            found, used = distances(connection, column, symbol, query, True)
            planned += used
            wrong += len(found) != len(exact) or any(abs(a - b) > 1e-6 for a, b in zip(exact, found))
        tap.check(
            planned == QUERIES and wrong == 0, f"{when}: {QUERIES} queries of {column} by {symbol} use the index and find the nearest",
            [f"{planned} plans, {wrong} wrong"])
        if (column, kind, symbol) != CLASSES[-1]:
            connection.execute("DROP INDEX items_pigment")


def check_changes(tap, connection, generator):
    """The last index of check_queries goes on through changes, beside one of pgvector's own."""
    connection.execute("CREATE INDEX items_hnsw ON items USING hnsw (v vector_l2_ops)")
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO items (v) VALUES (%s::real[]::vector)", [(v,) for v in vectors(generator, 300)])
    connection.execute("UPDATE items SET v = v + v WHERE id % 7 = 0")
    connection.execute("DELETE FROM items WHERE id % 5 = 0")
    connection.execute("VACUUM items")
    live = connection.execute("SELECT count(*) FROM items").fetchone()[0]
    checked = connection.execute("SELECT live_rows FROM pigment.check('items_pigment')").fetchone()[0]
    tap.check(checked >= live, "the index has every row after inserts, updates, deletes and VACUUM", [f"{checked} of {live}"])
    state = refusal(connection, "INSERT INTO items (v) VALUES ('[1]')")
    tap.check(state == "22000", "pgvector's own checks stay", [state])


def check_dump(tap, connection):
    connection.execute("CREATE DATABASE restored")
    dump = subprocess.run(["pg_dump", "--no-owner"], capture_output=True, text=True)
    restore = subprocess.run(
        ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "restored"], input=dump.stdout, capture_output=True, text=True)
    tap.check(dump.returncode == 0 and restore.returncode == 0, "a dump is restored", [dump.stderr[-500:], restore.stderr[-500:]])
    if restore.returncode != 0:
        return
    with psycopg.connect("dbname=restored", autocommit=True) as copy:
        rows = copy.execute("SELECT live_rows, (SELECT count(*) FROM items) FROM pigment.check('items_pigment')").fetchone()
        tap.check(rows[0] == rows[1] > 0, "the restored index has the restored rows", [rows])
        adopted = copy.execute("SELECT count(*) FROM pigment.adopt_pgvector()").fetchone()[0]
        tap.check(adopted == 14, "adoption finds the restored classes")


def check_farewell(tap, connection):
    connection.execute("DROP INDEX items_pigment")
    connection.execute("""
        ALTER TABLE items ADD COLUMN moved ours.vector;
        UPDATE items SET moved = v::real[]::ours.vector""")
    moved = connection.execute("""
        SELECT count(*), count(*) FILTER (WHERE vector_send(v) = ours.vector_send(moved)) FROM items""").fetchone()
    tap.check(moved[0] == moved[1] > 0, "a column moves to our type through real[], bit for bit", [moved])
    connection.execute("DROP EXTENSION pigment CASCADE")
    left = connection.execute("""
        SELECT (SELECT count(*) FROM pg_opclass WHERE opcname LIKE 'vector%ops' AND opcmethod NOT IN (SELECT oid FROM pg_am)),
            (SELECT count(*) FROM items WHERE v IS NOT NULL) > 0""").fetchone()
    tap.check(left == (0, True), "without the extension pgvector's column is as it was", [left])


# ---- docs/from-pgvector.md -----------------------------------------------------------------------------------------


def check_guide(tap):
    """Its commands as they stand, and a dump of pgvector's restored into a database with Pigment."""
    guide = (pathlib.Path(__file__).parents[2] / "docs/from-pgvector.md").read_text(encoding="utf-8")
    keep, change = re.findall(r"^```sql\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    with psycopg.connect("", autocommit=True) as connection:
        connection.execute("CREATE DATABASE guide")
        connection.execute("CREATE DATABASE moved")
    with psycopg.connect("dbname=guide", autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE TABLE items (id serial, embedding vector(768))")
        connection.execute("INSERT INTO items (embedding) SELECT array_fill(i, ARRAY[768])::vector FROM generate_series(1, 50) i")
        connection.execute("CREATE INDEX items_embedding_idx ON items USING hnsw (embedding vector_cosine_ops)")
        check_move(tap)
        for command in filter(None, (part.strip() for part in re.sub("--.*", "", keep).split(";"))):
            connection.execute(command)
        left = connection.execute("SELECT array_agg(amname::text) FROM pg_index JOIN pg_class c ON c.oid = indexrelid "
                                  "JOIN pg_am a ON a.oid = relam WHERE indrelid = 'items'::regclass").fetchone()[0]
        tap.check(left == ["pigment"], "the guide's first way leaves an index of ours", [left])
        connection.execute("DROP INDEX items_embedding_idx1")
        connection.execute(change)
        moved = connection.execute("SELECT (SELECT count(*) FROM items), format_type(atttypid, atttypmod) FROM pg_attribute "
                                   "WHERE attrelid = 'items'::regclass AND attname = 'embedding'").fetchone()
        tap.check(moved == (50, "vectors.vector(768)"), "the guide's second way leaves our type", [moved])


def check_move(tap):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["pg_dump", "-Fc", "-d", "guide", "-f", f"{folder}/dump"], check=True)
        listed = subprocess.run(["pg_restore", "-l", f"{folder}/dump"], check=True, capture_output=True, text=True).stdout
        kept = [line for line in listed.splitlines() if " EXTENSION " not in line and " INDEX " not in line]
        pathlib.Path(f"{folder}/list").write_text("\n".join(kept) + "\n", encoding="utf-8")
        with psycopg.connect("dbname=moved", autocommit=True) as connection:
            connection.execute("CREATE EXTENSION pigment")
            done = subprocess.run(
                ["pg_restore", "-d", "moved", "-L", f"{folder}/list", f"{folder}/dump"], capture_output=True, text=True)
            count = connection.execute("SELECT count(*) FROM items WHERE embedding <-> embedding = 0").fetchone()[0]
        tap.check(done.returncode == 0 and count == 50, "a dump of pgvector's is restored into our types", [done.stderr[-500:], count])


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(2 ** 32)
    print(f"# seed {seed}")
    generator, tap = random.Random(seed), both.Tap()
    with psycopg.connect("", autocommit=True) as connection:
        connection.execute("CREATE SCHEMA ours")
        check_refusals(tap, connection)
        check_classes(tap, connection)
        connection.execute(f"CREATE TABLE items (id serial PRIMARY KEY, v vector({DIMENSION}), h halfvec({DIMENSION}), "
                           f"s sparsevec({DIMENSION}), b bit({DIMENSION}) GENERATED ALWAYS AS (binary_quantize(v)) STORED)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO items (v, h, s) VALUES (%s::real[]::vector, %s::real[]::halfvec, %s::real[]::sparsevec)",
                               [(v, v, [max(number, 0.0) for number in v]) for v in vectors(generator, ROWS)])
        if connection.execute("SELECT FROM pg_settings WHERE name = 'pigment.target_recall'").fetchone():
            connection.execute("SET pigment.target_recall = 1")
        check_queries(tap, connection, generator, "after a build")
        check_changes(tap, connection, generator)
        check_dump(tap, connection)
        check_farewell(tap, connection)
    check_guide(tap)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
