# SPDX-License-Identifier: Apache-2.0
"""The data sets of the exact benchmark, and what the right answers are."""

import dataclasses
import os
import sys

import numpy


@dataclasses.dataclass
class DataSet:
    name: str
    metric: str  # cosine, l2, ip
    base: numpy.ndarray  # f32
    queries: numpy.ndarray
    seed: object
    neighbors: object = None  # the data set's own, where it has some


def load(folder, rows, queries, seed):
    """Yields the data sets; ends the program where the files are missing."""
    names = ("base.f16.npy", "queries.f16.npy", "neighbors.i32.npy")
    missing = [name for name in names if not os.path.exists(os.path.join(folder, name))]
    if missing:
        print(f"bench: {folder} lacks {', '.join(missing)}; give the folder of the data set with --data", file=sys.stderr)
        sys.exit(2)
    base, query, neighbors = (numpy.load(os.path.join(folder, name)) for name in names)
    whole = rows >= len(base)
    base = numpy.ascontiguousarray(base[:rows], dtype=numpy.float32)
    query = numpy.ascontiguousarray(query[:queries], dtype=numpy.float32)
    yield DataSet("MiniLM passages", "cosine", base, query, None, neighbors[:queries] if whole else None)
    # Unit vectors in half precision hide mistakes: lengths from 0.2 to 5, and noise that only f32 holds.
    random = numpy.random.default_rng(seed)
    base = base * random.uniform(0.2, 5, (len(base), 1)).astype(numpy.float32)
    base += random.uniform(-1e-3, 1e-3, base.shape).astype(numpy.float32)
    query = query * random.uniform(0.2, 5, (len(query), 1)).astype(numpy.float32)
    for metric in ("cosine", "l2", "ip"):
        yield DataSet("derived, lengths 0.2 to 5, f32 noise", metric, base, query, seed)


def exact_distances(data):
    """Every query's distance to every row, in double."""
    base, queries = data.base.astype(numpy.float64), data.queries.astype(numpy.float64)
    products = queries @ base.T
    if data.metric == "ip":
        return 1 - products
    if data.metric == "cosine":
        norms = numpy.linalg.norm(queries, axis=1)[:, None] * numpy.linalg.norm(base, axis=1)
        return 1 - products / norms
    return (queries**2).sum(1)[:, None] + (base**2).sum(1) - 2 * products


class Judge:
    """Recall by distance: a row counts where it is as near as the k-th nearest, but for rounding of f32."""

    def __init__(self, data, k):
        self.k = k
        self.distances = exact_distances(data)
        self.limits = numpy.partition(self.distances, k - 1, axis=1)[:, k - 1]
        self.limits += 4e-6 * numpy.maximum(1, numpy.abs(self.limits))
        if data.neighbors is not None and self.recall(data.neighbors[:, :k].tolist()) != 1:
            raise SystemExit("bench: the neighbours of the data set are not those of its vectors")

    def recall(self, answers):
        right = 0
        for query, answer in enumerate(answers):
            rows = set(answer)
            right += sum(1 for row in rows if self.distances[query, row] <= self.limits[query])
        return right / (self.k * len(answers))
