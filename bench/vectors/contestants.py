# SPDX-License-Identifier: Apache-2.0
"""What every contestant of the vector benchmark does, and Pigment through its C library. The peers are in peers.py.

One process holds one contestant and uses it from one thread. `folder` is an empty folder of the contestant's own; what
`build` leaves there after `close` is weighed, copied, and opened again.
"""

import json
import os


class Contestant:
    """Settings are what a search may be asked for, from fast to right; each becomes a point of the plot."""

    settings = [{}]
    filter_settings = [{}]
    one_setting_a_process = False  # where a changed setting takes effect in the next process only
    has_filters = True
    durable_inserts = False  # False: an insert is in memory only when its call returns
    has_budget = False
    budget_bytes = 0  # of the memory to build and to search within, where one has such a thing; 0: none

    def build(self, folder, data):
        """Everything from nothing to an index on disk that is complete."""
        raise NotImplementedError

    def open(self, folder, data, more_rows=0):
        """The index of a build, with room for more rows; `data` has no base."""
        raise NotImplementedError

    def close(self):
        pass

    def configure(self, setting):
        """Keeps a setting in an open store for the next process."""

    def apply(self, setting):
        """Makes a setting that of the following searches."""

    def prepare(self, queries):
        """The queries in the form that the contestant is asked in; not timed."""
        return queries

    def query(self, vector, k):
        raise NotImplementedError

    def query_where(self, vector, k, predicate):
        """The same among the rows that satisfy a predicate, which nobody has evaluated yet."""
        raise NotImplementedError

    def query_many(self, vectors, k):
        """All queries in one call, or None where there is no such call."""
        return None

    def rows_of(self, answer):
        """The row numbers of one query's answer; not timed."""
        return answer

    def insert(self, row, vector):
        raise NotImplementedError


RECALLS = (0.8, 0.85, 0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.965, 0.97, 0.975, 0.977, 0.98, 0.982, 0.984, 0.986, 0.99, 0.995, 0.999)


class Pigment(Contestant):
    """The embedded library in its defaults: every batch is durable when its call returns, then all is compacted.

    The first setting is none: what somebody gets who asks for nothing.
    """

    settings = [{}, *({"recall": recall} for recall in RECALLS)]
    filter_settings = [{}, {"recall": 0.995}]
    batch_rows = 1000
    full_vectors = "f32"
    index = "hnsw"
    durable_inserts = True
    has_budget = True

    def __init__(self, library_path):
        import numpy
        import pigment_library

        self.library = pigment_library.Library(library_path, numpy)
        self.open_client, self.cut = pigment_library.Client, pigment_library.cut
        self.effort = {}
        self.name = f"pigment {self.library.version()} {self.full_vectors}"
        if self.index != "hnsw":
            self.name += f" {self.index}"

    def build(self, folder, data):
        self.client = self.open_store(folder)
        self.collection = self.client.create_collection("bench", data.metric, self.full_vectors, self.index)
        for begin in range(0, len(data.base), self.batch_rows):
            rows = range(begin, min(begin + self.batch_rows, len(data.base)))
            self.collection.add([f"row-{row}" for row in rows], data.base[begin:begin + self.batch_rows],
                                [json.dumps(data.metadata(row)) for row in rows])
        self.client.compact()

    def open(self, folder, data, more_rows=0):
        self.data = data
        self.client = self.open_store(folder)
        self.collection = self.client.get_collection("bench")

    def open_store(self, folder):
        return self.open_client(self.library, os.path.join(folder, "store"), memory_budget_bytes=self.budget_bytes)

    def close(self):
        self.collection.free()
        self.client.close()

    def apply(self, setting):
        self.effort = setting

    def query(self, vector, k):
        return self.collection.ask(vector, k, **self.effort)

    def query_where(self, vector, k, predicate):
        return self.collection.ask(vector, k, json.dumps(where_of(self.data, predicate)).encode(), **self.effort)

    def query_many(self, vectors, k):
        return self.collection.query_many(vectors, k, **self.effort)

    def rows_of(self, answer):
        return [int(name[4:]) for name in self.cut(*answer)]

    def insert(self, row, vector):
        self.collection.add([f"new-{row}"], vector[None], ['{"bucket": 1000, "source": "new"}'])


class PigmentHalves(Pigment):
    """The same with vectors in 16 bits a number."""

    full_vectors = "f16"


class PigmentClusters(Pigment):
    """Collections that are configured for clusters of vectors in place of graphs."""

    index = "spann"


class PigmentClustersOfHalves(PigmentClusters):
    full_vectors = "f16"


def where_of(data, predicate):
    """A predicate in the grammar that Chroma and Pigment share."""
    if predicate.column == "source":
        return {"source": data.source_names[predicate.low]}
    if predicate.high - predicate.low == 1:
        return {"bucket": predicate.low}
    return {"$and": [{"bucket": {"$gte": predicate.low}}, {"bucket": {"$lt": predicate.high}}]}


def classes():
    """Every contestant by the name that --peers takes, in the order of the tables; loads no peer's library."""
    import peers

    return {"pigment": Pigment, "pigment-f16": PigmentHalves, "pigment-spann": PigmentClusters,
            "pigment-spann-f16": PigmentClustersOfHalves, "hnswlib": peers.Hnswlib, "usearch": peers.Usearch,
            "faiss-hnsw": peers.FaissHnsw, "faiss-ivf": peers.FaissIvf, "chroma": peers.Chroma}
