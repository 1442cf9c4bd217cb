# SPDX-License-Identifier: Apache-2.0
"""The peers from the package registry, one thread each, with M = 16 and ef_construction = 200 (Chroma: its defaults).

Each is imported by its constructor, in the process that measures it. Filters are what each offers: a Python callable
for hnswlib, a bitmap for faiss, metadata for Chroma, nothing in usearch. Evaluating the predicate is timed for all.
"""

import math
import os

import contestants
import numpy

M = 16
EF_CONSTRUCTION = 200
WIDTHS = (10, 14, 20, 24, 28, 34, 40, 48, 56, 68, 80, 100, 140, 200, 400, 800, 1600)
FILTER_WIDTHS = (20, 40, 100, 200, 400, 1000)


def widths(name, values):
    return [{name: value} for value in values]


def unit(vectors):
    return vectors / numpy.linalg.norm(vectors, axis=-1, keepdims=True)


class Hnswlib(contestants.Contestant):
    settings = widths("ef", WIDTHS)
    filter_settings = widths("ef", FILTER_WIDTHS)
    batch_rows = 10000

    def __init__(self, _):
        import importlib.metadata

        import hnswlib

        self.module, self.name = hnswlib, "hnswlib " + importlib.metadata.version("hnswlib")

    def build(self, folder, data):
        self.index = self.module.Index(data.metric, data.base.shape[1])
        self.index.init_index(len(data.base), M=M, ef_construction=EF_CONSTRUCTION, random_seed=data.seed)
        self.index.set_num_threads(1)
        for begin in range(0, len(data.base), self.batch_rows):
            rows = numpy.arange(begin, min(begin + self.batch_rows, len(data.base)))
            self.index.add_items(data.base[rows[0]:rows[-1] + 1], rows, num_threads=1)
        self.index.save_index(os.path.join(folder, "index"))

    def open(self, folder, data, more_rows=0):
        self.data = data
        self.index = self.module.Index(data.metric, data.queries.shape[1])
        self.index.load_index(os.path.join(folder, "index"), max_elements=len(data.bucket) + more_rows)
        self.index.set_num_threads(1)

    def apply(self, setting):
        self.index.set_ef(setting["ef"])

    def query(self, vector, k):
        return self.index.knn_query(vector, k, num_threads=1)[0]

    def query_where(self, vector, k, predicate):
        matches = self.data.mask(predicate)
        k = min(k, int(numpy.count_nonzero(matches)))
        try:
            # A method of bytes is the cheapest callable there is.
            return self.index.knn_query(vector, k, num_threads=1, filter=matches.tobytes().__getitem__)[0]
        except RuntimeError:  # it found fewer than k, and gives none of them; or k is 0
            return numpy.empty((1, 0), numpy.int64)

    def query_many(self, vectors, k):
        return self.index.knn_query(vectors, k, num_threads=1)[0]

    def rows_of(self, answer):
        return answer.reshape(-1)

    def insert(self, row, vector):
        self.index.add_items(vector, row, num_threads=1)


class Usearch(contestants.Contestant):
    settings = widths("expansion", WIDTHS)
    has_filters = False  # its Python package has none

    def __init__(self, _):
        import usearch
        import usearch.index

        self.module, self.name = usearch.index, f"usearch {usearch.__version__} f32"

    def build(self, folder, data):
        self.index = self.module.Index(ndim=data.base.shape[1], metric={"cosine": "cos", "l2": "l2sq"}[data.metric],
                                       dtype="f32", connectivity=M, expansion_add=EF_CONSTRUCTION)
        self.index.add(numpy.arange(len(data.base)), data.base, threads=1)
        self.index.save(os.path.join(folder, "index"))

    def open(self, folder, data, more_rows=0):
        self.index = self.module.Index.restore(os.path.join(folder, "index"))
        self.index.expansion_add = EF_CONSTRUCTION

    def apply(self, setting):
        self.index.expansion_search = setting["expansion"]

    def query(self, vector, k):
        return self.index.search(vector, k, threads=1).keys

    def query_many(self, vectors, k):
        return self.index.search(vectors, k, threads=1).keys

    def insert(self, row, vector):
        self.index.add(row, vector, threads=1)


class Faiss(contestants.Contestant):
    """Cosine is l2 between vectors of unit length; making the queries so is not timed."""

    def __init__(self, _):
        import faiss

        faiss.omp_set_num_threads(1)
        self.module, self.name = faiss, f"faiss {faiss.__version__} {self.kind}"
        self.search_parameters = None

    def form(self, vectors):
        return unit(vectors) if self.metric == "cosine" else vectors

    def build(self, folder, data):
        self.metric = data.metric
        base = self.form(data.base)
        self.index = self.create(base)
        self.index.add(base)
        self.module.write_index(self.index, os.path.join(folder, "index"))

    def open(self, folder, data, more_rows=0):
        self.data, self.metric = data, data.metric
        self.index = self.module.read_index(os.path.join(folder, "index"))

    def prepare(self, queries):
        return self.form(queries)

    def apply(self, setting):
        self.setting = setting
        self.search_parameters = self.parameters(setting)

    def query(self, vector, k):
        return self.index.search(vector[None], k, params=self.search_parameters)[1][0]

    def query_where(self, vector, k, predicate):
        bits = numpy.packbits(self.data.mask(predicate), bitorder="little")
        chosen = self.parameters(self.setting, sel=self.module.IDSelectorBitmap(bits))
        return self.index.search(vector[None], k, params=chosen)[1][0]

    def query_many(self, vectors, k):
        return self.index.search(vectors, k, params=self.search_parameters)[1]

    def insert(self, row, vector):
        self.index.add(self.form(vector[None]))


class FaissHnsw(Faiss):
    kind = f"HNSW{M}"
    settings = widths("ef", WIDTHS)
    filter_settings = widths("ef", FILTER_WIDTHS)

    def create(self, base):
        index = self.module.IndexHNSWFlat(base.shape[1], M)
        index.hnsw.efConstruction = EF_CONSTRUCTION
        return index

    def parameters(self, setting, **more):
        return self.module.SearchParametersHNSW(efSearch=setting["ef"], **more)


class FaissIvf(Faiss):
    """Codes of 4 bits for four dimensions together, scanned by SIMD, then the best by their vectors."""

    kind = "IVF,PQx4fs,RFlat"
    settings = [{"nprobe": nprobe, "refine": refine} for nprobe, refine in (
        (8, 2), (16, 4), (32, 4), (32, 8), (64, 8), (64, 16), (128, 16), (128, 32), (256, 32), (256, 64),
        (512, 128), (1024, 256))]
    filter_settings = [{"nprobe": nprobe, "refine": refine} for nprobe, refine in (
        (16, 4), (64, 16), (128, 32), (256, 64), (1024, 256))]

    def create(self, base):
        lists = 2**round(math.log2(4 * math.sqrt(len(base))))
        index = self.module.index_factory(base.shape[1], f"IVF{lists},PQ{base.shape[1] // 4}x4fs,RFlat")
        index.train(base)
        return index

    def parameters(self, setting, **more):
        probes = self.module.SearchParametersIVF(nprobe=setting["nprobe"], **more)
        return self.module.IndexRefineSearchParameters(k_factor=setting["refine"], base_index_params=probes)


class Chroma(contestants.Contestant):
    """The embedded client with its defaults; it reads ef_search when a process opens the collection."""

    settings = widths("ef", (10, 20, 40, 100, 200, 400, 1000))
    filter_settings = widths("ef", (100,))
    one_setting_a_process = True
    durable_inserts = True
    batch_rows = 1000

    def __init__(self, _):
        import chromadb
        from chromadb.config import Settings

        self.module, self.settings_of_client = chromadb, Settings(anonymized_telemetry=False)
        self.name = f"chroma {chromadb.__version__}"

    def connect(self, folder):
        self.client = self.module.PersistentClient(path=os.path.join(folder, "store"), settings=self.settings_of_client)

    def build(self, folder, data):
        self.connect(folder)
        self.collection = self.client.create_collection(
            "bench", configuration={"hnsw": {"space": data.metric}}, embedding_function=None)
        for begin in range(0, len(data.base), self.batch_rows):
            rows = range(begin, min(begin + self.batch_rows, len(data.base)))
            self.collection.add(ids=[f"row-{row}" for row in rows], embeddings=data.base[begin:begin + self.batch_rows],
                                metadatas=[data.metadata(row) for row in rows])

    def open(self, folder, data, more_rows=0):
        self.data = data
        self.connect(folder)
        self.collection = self.client.get_collection("bench", embedding_function=None)

    def close(self):
        close = getattr(self.client, "close", None)
        if close is not None:
            close()

    def configure(self, setting):
        self.collection.modify(configuration={"hnsw": {"ef_search": setting["ef"]}})

    def apply(self, setting):
        kept = self.collection.configuration["hnsw"]["ef_search"]
        if kept != setting["ef"]:
            raise SystemExit(f"bench: chroma searches with ef {kept}, not {setting['ef']}")

    def query(self, vector, k):
        return self.collection.query(query_embeddings=[vector], n_results=k, include=["distances"])["ids"][0]

    def query_where(self, vector, k, predicate):
        return self.collection.query(query_embeddings=[vector], n_results=k, include=["distances"],
                                     where=contestants.where_of(self.data, predicate))["ids"][0]

    def query_many(self, vectors, k):
        return self.collection.query(query_embeddings=list(vectors), n_results=k, include=["distances"])["ids"]

    def rows_of(self, answer):
        return [int(name[4:]) for name in answer]

    def insert(self, row, vector):
        self.collection.add(ids=[f"new-{row}"], embeddings=[vector], metadatas=[{"bucket": 1000, "source": "new"}])
