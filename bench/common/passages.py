# SPDX-License-Identifier: Apache-2.0
"""The passages of the data set with their vectors, as records."""

import dataclasses
import io
import json
import os
import sys

import numpy
import zstandard


@dataclasses.dataclass
class Records:
    ids: list
    vectors: numpy.ndarray  # f32
    documents: list
    metadatas: list


def path_of(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        print(f"bench: {folder} lacks {name}; give the folder of the data set with --data", file=sys.stderr)
        sys.exit(2)
    return path


def read(folder):
    """Yields every passage: those of the base rows, then those of the queries."""
    with open(path_of(folder, "passages.jsonl.zst"), "rb") as packed:
        for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), encoding="utf-8"):
            yield json.loads(line)


def load(folder, rows):
    vectors = numpy.load(path_of(folder, "base.f16.npy"))[:rows].astype(numpy.float32)
    records = Records([f"row-{row}" for row in range(len(vectors))], vectors, [], [])
    for row, passage in zip(range(len(vectors)), read(folder)):
        records.documents.append(passage["text"])
        records.metadatas.append({"source": passage["source"], "chars": passage["chars"], "bucket": row % 1000})
    return records


def load_queries(folder):
    return numpy.load(path_of(folder, "queries.f16.npy")).astype(numpy.float32)
