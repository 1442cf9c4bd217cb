# SPDX-License-Identifier: Apache-2.0
"""A store of Pigment and one of Chroma that take the steps of the conformance scripts (tests/conformance/README.md).

Each step is answered by an Outcome: an answer in the form of those scripts, with None for a column that was not asked for,
or a refusal by its kind. What a step creates is known by its handle.
"""

import copy
import dataclasses
import json
import time

import libpigment

# Kinds of refusal: what both sides can tell apart.
INVALID, MISSING, EXISTS, OTHER = "invalid", "missing", "exists", "other"

EXACT_WIDTH = 4096  # more than a collection of the stream has rows: Chroma's search is then exhaustive
LETTERS = 4
LOCKED_TRIES = 100
COLUMNS = ("ids", "documents", "metadatas", "uris", "distances", "embeddings")


@dataclasses.dataclass
class Outcome:
    answer: object = None
    refusal: str = ""  # a kind
    message: str = ""

    def __str__(self):
        return f"{self.refusal}: {self.message}" if self.refusal else json.dumps(self.answer, ensure_ascii=False)


def letters(text):
    """The embedding function of the conformance scripts: component i counts the letter a + i."""
    return [float(text.count(chr(ord("a") + at))) for at in range(LETTERS)]


class Store:
    """What both have in common: a step goes to the method of its name."""

    def __init__(self, folder):
        self.folder, self.collections = folder, {}
        self.open()

    def do(self, step):
        try:
            return Outcome(getattr(self, step["op"])(**copy.deepcopy(step.get("args", {}))))  # Chroma writes to what it gets
        except self.Refusal as refusal:
            return self.refused(refusal)

    def reopen(self):
        self.close()
        self.collections = {}
        self.open()


class Pigment(Store):
    """Through the C interface. Queries ask for a recall of 1, which is exact."""

    Refusal = libpigment.Refused
    KINDS = {3: INVALID, 5: MISSING, 6: EXISTS, 9: INVALID}  # 9: texts, and no function to embed them

    def __init__(self, folder, library):
        self.library = library
        self.function = libpigment.embedding_function(library, "letters", lambda texts: [letters(t) for t in texts])
        super().__init__(folder)

    def refused(self, refusal):
        return Outcome(None, self.KINDS.get(refusal.status, OTHER), refusal.message)

    def open(self):
        self.client = libpigment.Client(self.library, self.folder)

    def close(self):
        for collection in self.collections.values():
            collection.free()
        self.client.close()

    def flush(self):
        self.client.flush()

    def create_collection(self, name, metadata=None, configuration=None, get_or_create=False, function=None, **handle):
        return self._keep(handle.get("as", name), self.client.create_collection(
            name, printed(metadata), printed(configuration), get_or_create, self.function if function else None))

    def get_collection(self, name, function=None, **handle):
        return self._keep(handle.get("as", name), self.client.get_collection(name, self.function if function else None))

    def _keep(self, handle, collection):
        if handle in self.collections:
            self.collections[handle].free()
        self.collections[handle] = collection
        return self.describe(handle)

    def delete_collection(self, name):
        self.client.delete_collection(name)

    def list_collections(self, limit=None, offset=0):
        return [described(one) for one in self.client.list_collections(-1 if limit is None else limit, offset)]

    def count_collections(self):
        return self.client.count_collections()

    def describe(self, collection):
        return described(self.collections[collection].describe())

    def modify(self, collection, name=None, metadata=None, configuration=None):
        self.collections[collection].modify(name, printed(metadata), printed(configuration))

    def add(self, **columns):
        self._write("add", **columns)

    def update(self, **columns):
        self._write("update", **columns)

    def upsert(self, **columns):
        self._write("upsert", **columns)

    def _write(self, operation, collection, ids, embeddings=None, documents=None, metadatas=None, uris=None):
        rows = None if metadatas is None else [printed(metadata) for metadata in metadatas]
        self.collections[collection].write(operation, ids, embeddings, documents, rows, uris)

    def delete(self, collection, ids=None, where=None, where_document=None, limit=None):
        return {"deleted": self.collections[collection].delete(ids, printed(where), printed(where_document), limit)}

    def get(self, collection, ids=None, where=None, where_document=None, limit=None, offset=0, include=None):
        return self.collections[collection].get_columns(
            ids, printed(where), printed(where_document), limit, offset, libpigment.included(include, 0))[0]

    def peek(self, collection, limit=10):
        return self.collections[collection].peek_columns(limit)[0]

    def query(self, collection, embeddings=None, texts=None, n_results=10, ids=None, where=None, where_document=None,
              include=None):
        return self.collections[collection].query_columns(
            embeddings, n_results, printed(where), printed(where_document), ids, texts,
            libpigment.included(include, 0), recall=1.0)

    def count(self, collection):
        return self.collections[collection].count()


def printed(value):
    return None if value is None else json.dumps(value, ensure_ascii=False)


def described(collection):
    configuration = collection["configuration"]["hnsw"]
    return {"name": collection["name"], "metadata": collection["metadata"],
            "configuration": {name: configuration[name] for name in CONFIGURED}}


CONFIGURED = ("space", "ef_construction", "ef_search", "max_neighbors", "resize_factor", "sync_threshold")


class Chroma(Store):
    """The embedded client in a directory."""

    Refusal = BaseException  # its bindings also panic, which is none of Exception

    def __init__(self, folder):
        import chromadb
        from chromadb import errors

        class Letters(chromadb.EmbeddingFunction):
            def __init__(self):
                pass

            def __call__(self, input):
                return [letters(text) for text in input]

            @staticmethod
            def name():
                return "letters"

            @staticmethod
            def build_from_config(config):
                return Letters()

            def get_config(self):
                return {}

        self.module, self.errors, self.function = chromadb, errors, Letters()
        super().__init__(folder)

    def refused(self, refusal):
        if isinstance(refusal, (KeyboardInterrupt, SystemExit)):
            raise refusal
        errors = self.errors
        kinds = (((errors.NotFoundError,), MISSING), ((errors.UniqueConstraintError,), EXISTS),
                 ((errors.InvalidArgumentError, errors.InvalidDimensionException, errors.DuplicateIDError, ValueError,
                   TypeError, OverflowError, IndexError), INVALID))
        kind = next((kind for classes, kind in kinds if isinstance(refusal, classes)), OTHER)
        return Outcome(None, kind, f"{type(refusal).__name__}: {refusal}")

    def do(self, step):
        """Its background work can lock its own database: "database is locked" is asked again, everything else is an answer."""
        outcome = super().do(step)
        for _ in range(LOCKED_TRIES):
            if "database is locked" not in outcome.message:
                break
            time.sleep(0.02)
            outcome = super().do(step)
        return outcome

    def open(self):
        settings = self.module.config.Settings(anonymized_telemetry=False)
        self.client = self.module.PersistentClient(path=self.folder, settings=settings)

    def close(self):
        self.client.close()

    def flush(self):
        pass

    def create_collection(self, name, metadata=None, configuration=None, get_or_create=False, function=None, **handle):
        return self._keep(handle.get("as", name), self.client.create_collection(
            name, metadata=metadata, configuration=configuration, get_or_create=get_or_create,
            embedding_function=self.function if function else None))

    def get_collection(self, name, function=None, **handle):
        return self._keep(handle.get("as", name), self.client.get_collection(
            name, embedding_function=self.function if function else None))

    def _keep(self, handle, collection):
        self.collections[handle] = collection
        return self._described(collection)

    def delete_collection(self, name):
        self.client.delete_collection(name)

    def list_collections(self, limit=None, offset=None):
        return [self._described(one) for one in self.client.list_collections(limit, offset)]

    def count_collections(self):
        return self.client.count_collections()

    def describe(self, collection):
        return self._described(self.client.get_collection_by_id(self.collections[collection].id, None))

    @staticmethod
    def _described(collection):
        configuration = collection.configuration_json["hnsw"]
        return {"name": collection.name, "metadata": collection.metadata,
                "configuration": {name: configuration[name] for name in CONFIGURED}}

    def modify(self, collection, name=None, metadata=None, configuration=None):
        self.collections[collection].modify(name, metadata, configuration)

    def add(self, collection, **columns):
        self.collections[collection].add(**columns)

    def update(self, collection, **columns):
        self.collections[collection].update(**columns)

    def upsert(self, collection, **columns):
        self.collections[collection].upsert(**columns)

    def delete(self, collection, **request):
        return self.collections[collection].delete(**request)

    def get(self, collection, include=("metadatas", "documents"), **request):
        return columns_of(self.collections[collection].get(include=list(include), **request))

    def peek(self, collection, limit=10):
        return columns_of(self.collections[collection].peek(limit))

    def query(self, collection, embeddings=None, texts=None, include=("metadatas", "documents", "distances"), **request):
        answer = self.collections[collection].query(
            query_embeddings=embeddings, query_texts=texts, include=list(include), **request)
        count = len(answer["ids"])
        return [columns_of({name: None if answer.get(name) is None else answer[name][query] for name in COLUMNS})
                for query in range(count)]

    def count(self, collection):
        return self.collections[collection].count()


def columns_of(answer):
    columns = {name: answer.get(name) for name in COLUMNS}
    for name in ("embeddings", "distances"):
        if columns[name] is not None:
            columns[name] = [plain(value) for value in columns[name]]
    return columns


def plain(value):
    return value.tolist() if hasattr(value, "tolist") else value
