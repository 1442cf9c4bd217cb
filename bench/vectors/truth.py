# SPDX-License-Identifier: Apache-2.0
"""The right answers of a data set, with and without filters, and the recall of an answer. One thread, in double."""

import numpy

QUERIES_AT_ONCE = 64
ROWS_AT_ONCE = 16384
UNFILTERED = ""


def distances(base, queries, metric):
    """Every query's distance to every row, in double, by products of blocks."""
    queries = queries.astype(numpy.float64)
    found = numpy.empty((len(queries), len(base)))
    lengths = numpy.linalg.norm(queries, axis=1)[:, None]
    for begin in range(0, len(base), ROWS_AT_ONCE):
        rows = base[begin:begin + ROWS_AT_ONCE].astype(numpy.float64)
        products = queries @ rows.T
        norms = numpy.linalg.norm(rows, axis=1)
        if metric == "cosine":
            some = 1 - products / (lengths * norms)
        else:
            some = lengths**2 + norms**2 - 2 * products
        found[:, begin:begin + len(rows)] = some
    return found


def distances_of(base, query, rows, metric):
    """One query's distance to some rows, in double."""
    rows, query = base[rows].astype(numpy.float64), query.astype(numpy.float64)
    if metric == "cosine":
        return 1 - rows @ query / (numpy.linalg.norm(rows, axis=1) * numpy.linalg.norm(query))
    return ((rows - query)**2).sum(1)


class Judge:
    """Recall by distance: a row counts where it is as near as the k-th nearest match, but for rounding of f32."""

    def __init__(self, data, k):
        self.data, self.k = data, k
        self.limits, self.wanted = {}, {}  # of each filter: of each query the farthest right distance, how many rows
        for name, some in ((UNFILTERED, data.queries), *data.predicates.items()):
            self.limits[name], self.wanted[name] = numpy.full(len(some), -numpy.inf), numpy.zeros(len(some), int)
        for begin in range(0, len(data.queries), QUERIES_AT_ONCE):
            block = distances(data.base, data.queries[begin:begin + QUERIES_AT_ONCE], data.metric)
            for query, row in enumerate(block, begin):
                self.learn(query, row)
        if data.neighbors is not None and self.judge(data.neighbors[:, :k])["recall"] != 1:
            raise SystemExit("bench: the neighbours of the data set are not those of its vectors")

    def learn(self, query, row):
        self.learn_filter(UNFILTERED, query, row)
        for name, predicates in self.data.predicates.items():
            if query < len(predicates):
                self.learn_filter(name, query, row[self.data.mask(predicates[query])])

    def learn_filter(self, name, query, row):
        count = min(self.k, len(row))
        self.wanted[name][query] = count
        if count:
            limit = numpy.partition(row, count - 1)[count - 1]
            self.limits[name][query] = limit + 4e-6 * max(1, abs(limit))

    def judge(self, answers, name=UNFILTERED):
        """Recall of the first queries' answers (rows, -1 for none), and how many of them lack rows that exist."""
        right = short = 0
        for query, answer in enumerate(answers):
            rows = numpy.unique(answer[answer >= 0])
            if name != UNFILTERED:
                rows = rows[self.data.mask(self.data.predicates[name][query])[rows]]
            near = distances_of(self.data.base, self.data.queries[query], rows, self.data.metric)
            right += int((near <= self.limits[name][query]).sum())
            short += len(rows) < self.wanted[name][query]
        wanted = int(self.wanted[name][:len(answers)].sum())
        return {"recall": right / wanted if wanted else 1.0, "queries": len(answers), "short": int(short)}
