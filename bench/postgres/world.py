# SPDX-License-Identifier: Apache-2.0
"""What a table holds as time goes, row by row, and the recall of answers to it: exact neighbours are NumPy's, in double."""

import dataclasses
import struct

import client
import numpy
import sets
import truth


class World:
    """Row numbers are ids; those of deleted rows stay unused."""

    def __init__(self, data):
        self.data = data
        self.vectors, self.bucket, self.source = data.base.copy(), data.bucket.copy(), data.source.copy()
        self.alive = numpy.ones(len(self.vectors), bool)

    def rows(self, ids):
        """Values of whole rows for an insert."""
        for row in ids:
            yield (client.integer(row), client.vector(self.vectors[row]), client.integer(int(self.bucket[row])),
                   client.text(self.data.source_names[self.source[row]]))

    def add(self, vectors):
        """Ids of new rows; not alive until the server has them."""
        first = len(self.vectors)
        ids = numpy.arange(first, first + len(vectors))
        self.vectors = numpy.concatenate([self.vectors, vectors])
        self.bucket = numpy.concatenate([self.bucket, (ids % sets.BUCKETS).astype(self.bucket.dtype)])
        self.source = numpy.concatenate([self.source, self.source[ids % first]])
        self.alive = numpy.concatenate([self.alive, numpy.zeros(len(ids), bool)])
        return ids

    def judge(self, k):
        return Judge(self, k)


class Judge:
    """Of the rows that are alive now."""

    def __init__(self, world, k):
        self.ids = numpy.flatnonzero(world.alive)
        self.truth = truth.Judge(dataclasses.replace(
            world.data, base=world.vectors[self.ids], bucket=world.bucket[self.ids], source=world.source[self.ids], predicates={},
            neighbors=None), k)

    def judge(self, answers):
        places = numpy.searchsorted(self.ids, answers)
        places[places == len(self.ids)] = 0
        places[self.ids[places] != answers] = -1  # none, or a row that is gone
        return self.truth.judge(places)


def binary_rows(world):
    """COPY's binary form of every row, some hundred kilobytes at a time."""
    yield b"PGCOPY\n\xff\r\n\0" + bytes(8)
    ids = range(len(world.vectors))
    for begin in range(0, len(ids), 500):
        piece = b""
        for values in world.rows(ids[begin:begin + 500]):
            piece += struct.pack(">h", len(values)) + b"".join(struct.pack(">i", len(value)) + value for value in values)
        yield piece
    yield b"\xff\xff"
