# SPDX-License-Identifier: Apache-2.0
"""Part `sparse`: the passages by their words, as sparsevec: of each of the commonest words (1 + log of how often it is there) times the log of how
rare it is. Queries are other passages. By inner product and by cosine."""

import collections
import math
import re
import struct

import numpy
import passages
import typed

DIMENSION = 30000
WORD = re.compile(r"[a-z0-9_]+")


def counts_of(options):
    """How often each passage has each word: of the rows, and of the queries."""
    texts = [collections.Counter(WORD.findall(passage["text"].lower())) for passage in passages.read(options.data)]
    queries = len(passages.load_queries(options.data))
    rows = len(texts) - queries
    return texts[:min(rows, options.rows)], texts[rows:][:options.queries]


class Words:
    def __init__(self, texts):
        self.documents = collections.Counter(word for text in texts for word in text)
        self.places = {word: place for place, (word, _) in enumerate(self.documents.most_common(DIMENSION))}
        self.rows = len(texts)

    def vector(self, text):
        """Places, ascending, and values."""
        weights = {self.places[word]: (1 + math.log(count)) * math.log(1 + self.rows / self.documents[word])
                   for word, count in text.items() if word in self.places}
        places = sorted(weights)
        return numpy.array(places, numpy.int64), numpy.array([weights[place] for place in places], numpy.float32)


def value(vector):
    places, values = vector
    return struct.pack(">iii", DIMENSION, len(places), 0) + places.astype(">i4").tobytes() + values.astype(">f4").tobytes()


class Products:
    """Of queries with all rows, by the rows that each word has."""

    def __init__(self, rows, queries):
        self.queries = queries
        numbers = numpy.repeat(numpy.arange(len(rows)), [len(places) for places, _ in rows])
        places, values = (numpy.concatenate(parts) for parts in zip(*rows))
        order = numpy.argsort(places, kind="stable")
        self.numbers, self.values = numbers[order], values[order].astype(numpy.float64)
        self.starts = numpy.searchsorted(places[order], numpy.arange(DIMENSION + 1))
        self.norms = numpy.sqrt([float((values.astype(numpy.float64) ** 2).sum()) for _, values in rows])

    def of(self, query):
        sums = numpy.zeros(len(self.norms))
        for place, weight in zip(*self.queries[query]):
            some = slice(self.starts[place], self.starts[place + 1])
            sums[self.numbers[some]] += self.values[some] * weight
        return sums

    def inner(self, query, rows):
        return -self.of(query)[rows]

    def cosine(self, query, rows):
        norm = math.sqrt(float((self.queries[query][1].astype(numpy.float64) ** 2).sum()))
        with numpy.errstate(invalid="ignore", divide="ignore"):
            return numpy.nan_to_num(1 - self.of(query) / (self.norms * norm), nan=numpy.inf)[rows]


def sparse(bench):
    texts, asked = counts_of(bench.options)
    words = Words(texts)
    rows, queries = [words.vector(text) for text in texts], [words.vector(text) for text in asked]
    products = Products(rows, queries)
    bench.report.say(f"\nwords of the passages: {numpy.mean([len(places) for places, _ in rows]):.0f} values a row, "
                     f"{numpy.mean([len(places) for places, _ in queries]):.0f} a query")
    column = typed.Column("sparse", f"sparsevec({DIMENSION})", [value(row) for row in rows], [value(query) for query in queries])
    spaces = (typed.Space("inner product", "<#>", "sparsevec_ip_ops", products.inner),
              typed.Space("cosine distance", "<=>", "sparsevec_cosine_ops", products.cosine))
    # an index of ours has no settings for it: it is exact, and there is one kind
    some = [contestant if contestant.key == "pgvector" else contestant.without_settings()
            for contestant in bench.options.contestants if contestant.key in ("pigment", "pgvector")]
    typed.measure(bench, some, column, spaces)
