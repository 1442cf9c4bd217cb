# SPDX-License-Identifier: Apache-2.0
"""Collections through psql, with the calls and answers of tests/support/libpigment.py."""

import decimal
import json
import subprocess

from libpigment import Refused, bits


class Session:
    """One psql session. An error is reported with its SQLSTATE and leaves the session usable."""

    END = "-- end --"

    def __init__(self):
        self._process = subprocess.Popen(
            ["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "VERBOSITY=verbose"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8")
        self.run("SET client_min_messages = warning")

    def close(self):
        self._process.stdin.close()
        self._process.wait()

    def run(self, statement):
        self._process.stdin.write(f"{statement};\n\\echo {self.END}\n")
        self._process.stdin.flush()
        lines = []
        for line in self._process.stdout:
            if line == self.END + "\n":
                break
            lines.append(line.rstrip("\n"))
        else:
            raise RuntimeError(f"psql ended at {statement[:1000]}: {lines}")
        if lines and lines[0].startswith("ERROR:  "):
            sqlstate, _, message = lines[0][len("ERROR:  "):].partition(": ")
            raise Refused(sqlstate, message)
        return lines

    def value(self, statement):
        lines = self.run(statement)
        return lines[0] if lines else None

    def rows(self, select):
        """The rows of a SELECT as dictionaries."""
        return json.loads("\n".join(self.run(f"SELECT coalesce(json_agg(r), '[]') FROM ({select}) r")))


def quote(value):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        value = value.decode()
    return "'" + value.replace("'", "''") + "'"


def array(values, kind):
    if values is None:
        return "NULL"
    return f"ARRAY[{', '.join(map(quote, values))}]::{kind}[]"


def vector(values):
    return "[" + ",".join(f"{value:.9g}" for value in values) + "]"


def vectors(rows):
    return "NULL" if rows is None else array(map(vector, rows), "vector")


def jsonb(value):
    return "NULL" if value is None else quote(value) + "::jsonb"


def number(value):
    """A double as jsonb keeps it: digits with a point, because jsonb takes 1e2 for the integer 100."""
    digits = format(decimal.Decimal(repr(value)), "f")
    return digits if "." in digits else digits + ".0"


class Client:
    def __init__(self, session):
        self.session = session

    def create_collection(self, name, metadata=None, configuration=None, schema=None):
        self.session.run(f"SELECT pigment.create_collection({quote(name)}, {jsonb(metadata)}, {jsonb(configuration)}, "
                         f"collection_schema => {jsonb(schema)})")
        return Collection(self.session, name)

    def get_collection(self, name):
        self.session.run(f"SELECT pigment.get_collection({quote(name)})")
        return Collection(self.session, name)

    def delete_collection(self, name):
        self.session.run(f"SELECT pigment.delete_collection({quote(name)})")


class Collection:
    def __init__(self, session, name):
        self.session, self.name = session, name

    def write(self, operation, ids, embeddings=None, documents=None, metadatas=None, uris=None):
        counts = self.session.rows(
            f"SELECT * FROM pigment.{operation}({quote(self.name)}, {array(ids, 'text')}, {vectors(embeddings)}, "
            f"{array(documents, 'text')}, {array(metadatas, 'jsonb')}, {array(uris, 'text')})")[0]
        return {"inserted": 0, "updated": 0, "skipped": 0, **counts}

    def delete(self, ids=None, where=None, where_document=None, limit=None):
        return int(self.session.value(
            f"SELECT pigment.delete({quote(self.name)}, {array(ids, 'text')}, {jsonb(where)}, {jsonb(where_document)}, "
            f"{'NULL' if limit is None else limit})"))

    def get(self, ids=None, where=None, where_document=None, limit=None, offset=0):
        rows = self.session.rows(
            "SELECT id, document, metadata, uri, embedding::real[] FROM "
            f"pigment.get({quote(self.name)}, {array(ids, 'text')}, {jsonb(where)}, {jsonb(where_document)}, "
            f"{'NULL' if limit is None else limit}, {offset}, '{{documents,metadatas,uris,embeddings}}')")
        return [self._shape(row) for row in rows]

    def query(self, embeddings, n_results=10, where=None, where_document=None, ids=None):
        return self._answers(
            embeddings, "SELECT query_index, rank, id, distance, document, metadata, uri, embedding::real[] FROM "
            f"pigment.query({quote(self.name)}, {vectors(embeddings)}, {n_results}, {jsonb(where)}, "
            f"{jsonb(where_document)}, {array(ids, 'text')}, '{{documents,metadatas,uris,embeddings,distances}}')")

    def search_text(self, queries, n_results=10, where=None, where_document=None, ids=None, all_of=False):
        return self._answers(
            queries, "SELECT query_index, rank, id, score, document, metadata, uri, embedding::real[] FROM "
            f"pigment.search_text({quote(self.name)}, {array(queries, 'text')}, {n_results}, {jsonb(where)}, {jsonb(where_document)}, "
            f"{array(ids, 'text')}, '{{documents,metadatas,uris,embeddings}}', '{'all' if all_of else 'any'}')")

    def _answers(self, queries, select):
        answers = [[] for _ in queries]
        for row in self.session.rows(select):
            answer = answers[row.pop("query_index") - 1]
            answer.append(self._shape(row))
            if row["rank"] != len(answer):
                raise AssertionError(f"rank {row['rank']} at place {len(answer)}")
        return answers

    def modify(self, name=None, metadata=None, configuration=None):
        self.session.run(f"SELECT pigment.modify_collection({quote(self.name)}, {quote(name)}, {jsonb(metadata)}, {jsonb(configuration)})")
        self.name = name or self.name

    def describe(self):
        return self.session.rows(f"SELECT name, metadata, configuration, schema, dimension FROM pigment.get_collection({quote(self.name)})")[0]

    def count(self):
        return int(self.session.value(f"SELECT pigment.count({quote(self.name)})"))

    def facets(self, keys, where=None, where_document=None, ids=None, limit=None):
        rows = self.session.rows(
            f"SELECT key, value, count FROM pigment.facets({quote(self.name)}, {array(keys, 'text')}, {jsonb(where)}, "
            f"{jsonb(where_document)}, {array(ids, 'text')}, {'NULL' if limit is None else limit})")
        return {key: [{"value": row["value"], "count": row["count"]} for row in rows if row["key"] == key] for key in keys}

    def flush(self):
        """What a flush is to the library: the index takes in what is pending and forgets what is dead."""
        table = self.session.value(f"SELECT relation FROM pigment.get_collection({quote(self.name)})")
        self.session.run(f"VACUUM (INDEX_CLEANUP ON) {table}")

    @staticmethod
    def _shape(row):
        shaped = {name: row[name] for name in ("id", "document", "metadata", "uri")}
        shaped["embedding"] = bits(row["embedding"])
        for number in ("distance", "score"):
            if number in row:
                shaped[number] = bits([row[number]])
        return shaped
