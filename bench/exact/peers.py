# SPDX-License-Identifier: Apache-2.0
"""The peers: brute force by NumPy and by faiss, one thread, one query at a time. Preparing the base is not timed."""

import faiss
import numpy


def unit(vectors):
    return vectors / numpy.linalg.norm(vectors, axis=-1, keepdims=True)


class NumpyScan:
    name = f"numpy {numpy.__version__}"

    def __init__(self, data, k):
        self.k, self.metric = k, data.metric
        self.base = unit(data.base) if data.metric == "cosine" else data.base
        self.squares = (data.base**2).sum(1) if data.metric == "l2" else None

    def query(self, vector):
        scores = self.base @ vector
        # Largest first for products; the query's own length changes no order.
        scores = self.squares - 2 * scores if self.metric == "l2" else -scores
        best = numpy.argpartition(scores, self.k - 1)[:self.k]
        return best[numpy.argsort(scores[best])].tolist()


class FaissFlat:
    name = f"faiss {faiss.__version__} IndexFlat"

    def __init__(self, data, k):
        faiss.omp_set_num_threads(1)
        self.k = k
        kind = faiss.IndexFlatL2 if data.metric == "l2" else faiss.IndexFlatIP
        self.index = kind(data.base.shape[1])
        self.index.add(unit(data.base) if data.metric == "cosine" else data.base)

    def query(self, vector):
        return self.index.search(vector[None], self.k)[1][0].tolist()
