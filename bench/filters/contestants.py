# SPDX-License-Identifier: Apache-2.0
"""Pigment and its peers with the same calls, each in a folder of its own. Answers are what the peer gives at least cost: ids
as texts, or row numbers where it has those."""

import importlib.metadata
import json
import os
import sqlite3

from questions import K

BATCH_ROWS = 1000
ENGLISH = {"analyzer": {"language": "english"}, "k1": 1.2, "b": 0.75}


def batches(records):
    for begin in range(0, len(records.ids), BATCH_ROWS):
        yield slice(begin, begin + BATCH_ROWS)


class Pigment:
    """Through ctypes; filters are given as printed JSON, printing is timed."""

    def __init__(self, folder, library, with_text):
        import pigment_library

        self.module, self.name, self.with_text = pigment_library, f"pigment {library.version()}", with_text
        self.client = pigment_library.Client(library, os.path.join(folder, "store"))

    def build(self, records):
        configuration = {"hnsw": {"space": "cosine"}, **({"text_index": ENGLISH} if self.with_text else {})}
        self.collection = self.client.create_configured("bench", configuration)
        for rows in batches(records):
            self.collection.add(records.ids[rows], records.vectors[rows], list(map(json.dumps, records.metadatas[rows])),
                                records.documents[rows])
        self.client.compact()

    def get_few(self, question):
        return self.collection.get(where=printed(question.where), limit=K, include=self.module.INCLUDE_NOTHING)[0]

    def get_many(self, question):
        ids, documents, metadatas = self.collection.get(where=printed(question.where))
        return ids, documents, json.loads(f"[{','.join(metadatas)}]")

    def query(self, question):
        return self.collection.query(question.vector, K, printed(question.where))

    def substring(self, question):
        return self.collection.get(where_document=printed({"$contains": question.text}), include=self.module.INCLUDE_NOTHING)[0]

    def substring_ten(self, question):
        return self.collection.get(where_document=printed({"$contains": question.text}), limit=10,
                                   include=self.module.INCLUDE["documents"])[:2]

    def regex(self, question):
        return self.collection.get(where_document=printed({"$regex": question.text}), include=self.module.INCLUDE_NOTHING)[0]

    def search(self, question):
        return self.collection.search_text(question.text, K)

    def close(self):
        self.collection.free()
        self.client.close()


def printed(value):
    return json.dumps(value).encode()


class Chroma:
    """The embedded client with its defaults."""

    def __init__(self, folder):
        import chromadb
        from chromadb.config import Settings

        self.name = f"chroma {chromadb.__version__}"
        self.client = chromadb.PersistentClient(os.path.join(folder, "store"), Settings(anonymized_telemetry=False))

    def build(self, records):
        self.collection = self.client.create_collection(
            "bench", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None)
        for rows in batches(records):
            self.collection.add(ids=records.ids[rows], embeddings=records.vectors[rows],
                                metadatas=records.metadatas[rows], documents=records.documents[rows])

    def get_few(self, question):
        return self.collection.get(where=question.where, limit=K, include=[])["ids"]

    def get_many(self, question):
        answer = self.collection.get(where=question.where, include=["documents", "metadatas"])
        return answer["ids"], answer["documents"], answer["metadatas"]

    def query(self, question):
        return self.collection.query(query_embeddings=[question.vector], n_results=K, where=question.where, include=[])["ids"][0]

    def substring(self, question):
        return self.collection.get(where_document={"$contains": question.text}, include=[])["ids"]

    def substring_ten(self, question):
        answer = self.collection.get(where_document={"$contains": question.text}, limit=10, include=["documents"])
        return answer["ids"], answer["documents"]

    def regex(self, question):
        return self.collection.get(where_document={"$regex": question.text}, include=[])["ids"]

    def close(self):
        self.client.close()


class Fts5:
    """SQLite's trigram index, case-sensitive as our substrings are; texts alone, rows by their numbers."""

    def __init__(self, folder):
        self.name = f"SQLite {sqlite3.sqlite_version} FTS5"
        self.database = sqlite3.connect(os.path.join(folder, "fts5.sqlite3"), isolation_level=None)
        self.database.execute("PRAGMA cache_size = -1000000")

    def build(self, records):
        run = self.database.execute
        run("CREATE VIRTUAL TABLE passages USING fts5(document, tokenize = 'trigram case_sensitive 1')")
        run("BEGIN")
        self.database.executemany("INSERT INTO passages (rowid, document) VALUES (?, ?)", enumerate(records.documents))
        run("COMMIT")
        run("INSERT INTO passages (passages) VALUES ('optimize')")

    @staticmethod
    def phrase(text):
        return '"' + text.replace('"', '""') + '"'

    def substring(self, question):
        found = self.database.execute("SELECT rowid FROM passages WHERE passages MATCH ?", (self.phrase(question.text),))
        return [row for row, in found.fetchall()]

    def substring_ten(self, question):
        found = self.database.execute("SELECT rowid, document FROM passages WHERE passages MATCH ? ORDER BY rowid LIMIT 10",
                                      (self.phrase(question.text),)).fetchall()
        return [row for row, _ in found], [document for _, document in found]

    def close(self):
        self.database.close()


class Tantivy:
    """The same analysis as ours by its parts: words, stop words, English stems; ids stored, texts not."""

    def __init__(self, folder):
        import tantivy

        self.module, self.folder = tantivy, os.path.join(folder, "tantivy")
        self.name = f"Tantivy {importlib.metadata.version('tantivy')}"

    def build(self, records):
        tantivy = self.module
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        schema.add_text_field("document", stored=False, tokenizer_name="english")
        os.mkdir(self.folder)
        self.index = tantivy.Index(schema.build(), path=self.folder)
        analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.remove_long(40)).filter(
            tantivy.Filter.lowercase()).filter(tantivy.Filter.stopword("english")).filter(
            tantivy.Filter.stemmer("english")).build()
        self.index.register_tokenizer("english", analyzer)
        writer = self.index.writer(heap_size=500_000_000, num_threads=1)
        for name, document in zip(records.ids, records.documents):
            writer.add_document(tantivy.Document(id=[name], document=[document]))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def search(self, question):
        query = self.index.parse_query(question.text, ["document"])
        found = self.searcher.search(query, K, count=False).hits
        return [self.searcher.doc(address)["id"][0] for _, address in found]

    def close(self):
        del self.searcher, self.index


class Trigrams:
    """PostgreSQL's pg_trgm: a table with a GIN index, through psycopg."""

    def __init__(self, connection):
        self.connection = connection
        version, = connection.execute("SHOW server_version").fetchone()
        self.name = f"PostgreSQL {version.split()[0]} pg_trgm"

    def build(self, records):
        run = self.connection.execute
        run("CREATE EXTENSION IF NOT EXISTS pg_trgm")
        run("CREATE TABLE bench_passages (row integer PRIMARY KEY, document text)")
        with self.connection.cursor() as cursor, cursor.copy("COPY bench_passages FROM STDIN") as copy:
            for row in enumerate(records.documents):
                copy.write_row(row)
        run("CREATE INDEX bench_trigrams ON bench_passages USING gin (document gin_trgm_ops)")
        run("VACUUM ANALYZE bench_passages")

    def bytes(self):
        return self.connection.execute("SELECT pg_relation_size('bench_trigrams')").fetchone()[0]

    def regex(self, question):
        found = self.connection.execute("SELECT row FROM bench_passages WHERE document ~ %s", (question.text,))
        return [row for row, in found.fetchall()]

    def close(self):
        self.connection.execute("DROP TABLE bench_passages")
