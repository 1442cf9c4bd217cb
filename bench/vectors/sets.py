# SPDX-License-Identifier: Apache-2.0
"""The data sets of the vector benchmark with their columns and predicates, and the folder where a worker finds them.

A set is made once by run.py and saved; every worker loads what it needs of it, so that no peer pays for making it.
"""

import dataclasses
import functools
import json
import os

import numpy
import passages

BUCKETS = 1000
BUCKET_WIDTHS = {"50 %": 500, "10 %": 100, "1 %": 10, "0.1 %": 1}  # of the rows, whatever their vectors
OWN_SOURCE, OTHER_SOURCE, RARE_SOURCE = "own source", "other source", "rare source"
FILTERS = (*BUCKET_WIDTHS, OWN_SOURCE, OTHER_SOURCE, RARE_SOURCE)
RARE_SOURCES = 10
ARRAYS = ("base", "queries", "inserts", "bucket", "source")


@dataclasses.dataclass
class Predicate:
    """Rows whose column lies in [low, high)."""

    column: str  # bucket, source
    low: int
    high: int


@dataclasses.dataclass
class DataSet:
    key: str
    title: str
    metric: str  # cosine, l2
    seed: int
    base: numpy.ndarray  # f32
    queries: numpy.ndarray
    inserts: numpy.ndarray  # rows to add one by one
    bucket: numpy.ndarray  # of each row
    source: numpy.ndarray  # of each row, as place in source_names
    source_names: list
    predicates: dict  # name of a filter: a predicate for each of the first queries
    neighbors: object = None  # the data set's own, where it has some

    def mask(self, predicate):
        """True for every row that satisfies the predicate."""
        column = self.bucket if predicate.column == "bucket" else self.source
        if predicate.high - predicate.low == 1:
            return column == predicate.low
        return (column >= predicate.low) & (column < predicate.high)

    def metadata(self, row):
        return {"bucket": row % BUCKETS, "source": self.source_names[self.source[row]]}


def build_minilm(options, random):
    """The passages as they are: unit length, numbers that f16 holds."""
    rows = numpy.load(passages.path_of(options.data, "base.f16.npy"))
    neighbors = numpy.load(passages.path_of(options.data, "neighbors.i32.npy"))[:options.queries]
    base = numpy.ascontiguousarray(rows[:options.rows], dtype=numpy.float32)
    queries = passages.load_queries(options.data)[:options.queries]
    text = [passage["source"] for passage in passages.read(options.data)]
    names, codes = numpy.unique(text, return_inverse=True)
    own = codes[len(rows):len(rows) + len(queries)]
    return finish("minilm", "MiniLM passages", "cosine", options, random, base, queries, codes[:len(base)],
                  names.tolist(), own, neighbors if len(base) == len(rows) else None)


def build_scaled(options, random):
    """The same with lengths from 0.2 to 5 and noise that only f32 holds: halves and mixed-up metrics show."""
    data = build_minilm(options, random)
    base = data.base * random.uniform(0.2, 5, (len(data.base), 1)).astype(numpy.float32)
    base += random.uniform(-1e-3, 1e-3, base.shape).astype(numpy.float32)
    return dataclasses.replace(data, key="scaled", title="MiniLM passages, lengths 0.2 to 5, f32 noise", metric="l2",
                               base=base, inserts=nearby(base, options.inserts, random), neighbors=None)


def build_short(options, random):
    """The same along their 64 principal directions, as short embeddings are: signs alone say little of them."""
    data = build_minilm(options, random)
    _, directions = numpy.linalg.eigh(numpy.cov(data.base[:20000].T))
    kept = directions[:, :-65:-1].astype(numpy.float32)
    base = numpy.ascontiguousarray(data.base @ kept)
    return dataclasses.replace(data, key="short", title="MiniLM passages, 64 principal directions", metric="l2", base=base,
                               queries=numpy.ascontiguousarray(data.queries @ kept),
                               inserts=nearby(base, options.inserts, random), neighbors=None)


def build_clusters(options, random, key="clusters", dimension=128):
    """Gaussians of uneven weight and width in 24 of the dimensions, noise in all; queries lie between two rows.

    With each cluster in a plane of its own, or far from the others, no graph of the peers reaches a recall of 0.99, and
    there is nothing to compare with.
    """
    inner, clusters, sources = 24, 200, 32
    weights = 1 / numpy.arange(1, clusters + 1)
    member = random.choice(clusters, options.rows, p=weights / weights.sum())
    centres = random.normal(0, 1, (clusters, inner))
    widths = random.uniform(0.3, 0.8, (clusters, 1))
    places = centres[member] + widths[member] * random.normal(0, 1, (options.rows, inner))
    plane = random.normal(0, 1 / numpy.sqrt(dimension), (inner, dimension))
    base = (places @ plane + random.normal(0, 0.05, (options.rows, dimension))).astype(numpy.float32)
    first, second = random.choice(options.rows, (2, options.queries))
    share = random.uniform(0.5, 0.9, (options.queries, 1))
    queries = share * base[first] + (1 - share) * base[second] + random.normal(0, 0.05, (options.queries, dimension))
    # Every 32nd cluster by rank is of the same source: sources are of uneven size and go with the vectors.
    source = member % sources
    names = [f"source-{number:02}" for number in range(sources)]
    return finish(key, "clusters, queries between them", "l2", options, random, base,
                  queries.astype(numpy.float32), source, names, source[first], None)


SETS = {"minilm": build_minilm, "scaled": build_scaled, "short": build_short, "clusters": build_clusters,
        "wide-clusters": functools.partial(build_clusters, key="wide-clusters", dimension=384)}
DEFAULT_SETS = ["minilm", "scaled", "short", "clusters"]  # the others when they are asked for


def build(key, options):
    return SETS[key](options, numpy.random.default_rng(options.seed))


def finish(key, title, metric, options, random, base, queries, source, source_names, own, neighbors):
    bucket = (numpy.arange(len(base)) % BUCKETS).astype(numpy.int16)
    count = min(options.filter_queries, len(queries))
    predicates = bucket_predicates(count, random) | source_predicates(own[:count], source, options.k, random)
    return DataSet(key, title, metric, options.seed, base, queries, nearby(base, options.inserts, random), bucket,
                   source.astype(numpy.int16), source_names, predicates, neighbors)


def nearby(base, count, random):
    """New rows that lie where the others lie: rows drawn at random, moved by a fifth of their length."""
    rows = base[random.choice(len(base), count)]
    noise = random.normal(0, 1, rows.shape)
    noise *= 0.2 * numpy.linalg.norm(rows, axis=1, keepdims=True) / numpy.linalg.norm(noise, axis=1, keepdims=True)
    return (rows + noise).astype(numpy.float32)


def bucket_predicates(count, random):
    """A window of buckets of its own for every query: row numbers modulo 1000 go with nothing."""
    return {name: [Predicate("bucket", int(low), int(low) + width)
                   for low in random.choice(BUCKETS - width + 1, count)] for name, width in BUCKET_WIDTHS.items()}


def source_predicates(own, source, k, random):
    """The query's own source, another one, and the ten rarest, among those that have k rows."""
    sizes = numpy.bincount(source)
    enough = numpy.flatnonzero(sizes >= k)
    rarest = enough[numpy.argsort(sizes[enough], kind="stable")][:RARE_SOURCES]
    other = [random.choice(enough[enough != code]) if len(enough) > 1 else code for code in own]
    rare = [rarest[query % len(rarest)] for query in range(len(own))]
    return {name: [Predicate("source", int(code), int(code) + 1) for code in codes]
            for name, codes in ((OWN_SOURCE, own), (OTHER_SOURCE, other), (RARE_SOURCE, rare))}


def save(data, folder):
    for name in ARRAYS:
        numpy.save(os.path.join(folder, name + ".npy"), getattr(data, name))
    rest = {"key": data.key, "title": data.title, "metric": data.metric, "seed": data.seed,
            "source_names": data.source_names,
            "predicates": {name: [dataclasses.astuple(predicate) for predicate in some]
                           for name, some in data.predicates.items()}}
    with open(os.path.join(folder, "set.json"), "w", encoding="utf-8") as file:
        json.dump(rest, file)


def load(folder, with_base):
    """The set of a folder; without its base (None) for a worker whose memory is weighed."""
    with open(os.path.join(folder, "set.json"), encoding="utf-8") as file:
        rest = json.load(file)
    predicates = {name: [Predicate(*fields) for fields in some] for name, some in rest.pop("predicates").items()}
    arrays = {name: numpy.load(os.path.join(folder, name + ".npy")) if with_base or name != "base" else None
              for name in ARRAYS}
    return DataSet(**rest, **arrays, predicates=predicates)
