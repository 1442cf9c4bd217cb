# SPDX-License-Identifier: Apache-2.0
"""A store of Pigment and one of Chroma, with the same few calls. Both take and give Python's lists and dicts."""

import json
import os


class Pigment:
    """The library through ctypes, in the default sync mode: every batch is durable when its call returns."""

    full_vectors = "f32"

    def __init__(self, library_path):
        import numpy
        import pigment_library

        self.library = pigment_library.Library(library_path, numpy)
        self.open_client = pigment_library.Client
        self.name = "pigment " + self.library.version()

    def open(self, folder):
        self.client = self.open_client(self.library, os.path.join(folder, "store"))

    def create(self, metric):
        self.collection = self.client.create_collection("bench", metric, self.full_vectors)

    def get_collection(self):
        self.collection = self.client.get_collection("bench")

    def add(self, ids, vectors, documents, metadatas):
        self.collection.add(ids, vectors, [json.dumps(metadata) for metadata in metadatas], documents)

    def query(self, vector, k):
        return self.collection.query(vector, k)

    def get(self, ids):
        found, documents, metadatas = self.collection.get(ids)
        return found, documents, json.loads(f"[{','.join(metadatas)}]")

    def count(self):
        return self.collection.count()

    def close(self):
        self.collection.free()
        self.client.close()


class PigmentHalves(Pigment):
    """The same with vectors in 16 bits a number."""

    full_vectors = "f16"


class Chroma:
    """The embedded client of the package registry, with its defaults."""

    def __init__(self, _):
        import chromadb
        from chromadb.config import Settings

        self.module, self.settings = chromadb, Settings(anonymized_telemetry=False)
        self.name = f"chroma {chromadb.__version__}"

    def open(self, folder):
        self.client = self.module.PersistentClient(path=os.path.join(folder, "store"), settings=self.settings)

    def create(self, metric):
        self.collection = self.client.create_collection(
            "bench", configuration={"hnsw": {"space": metric}}, embedding_function=None)

    def get_collection(self):
        self.collection = self.client.get_collection("bench", embedding_function=None)

    def add(self, ids, vectors, documents, metadatas):
        self.collection.add(ids=ids, embeddings=vectors, documents=documents, metadatas=metadatas)

    def query(self, vector, k):
        return self.collection.query(query_embeddings=[vector], n_results=k, include=["distances"])["ids"][0]

    def get(self, ids):
        answer = self.collection.get(ids=ids, include=["documents", "metadatas"])
        return answer["ids"], answer["documents"], answer["metadatas"]

    def count(self):
        return self.collection.count()

    def close(self):
        close = getattr(self.client, "close", None)
        if close is not None:
            close()


ALL = {"pigment": Pigment, "pigment-f16": PigmentHalves, "chroma": Chroma}
