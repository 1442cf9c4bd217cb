# SPDX-License-Identifier: Apache-2.0
"""Part `bits`: the signs of the vectors as bits, by Hamming and by Jaccard distance."""

import struct

import numpy
import typed

PER_BYTE = numpy.array([bin(byte).count("1") for byte in range(256)], numpy.uint8)


def ones(rows):
    return PER_BYTE[rows].sum(axis=1, dtype=numpy.int32)


def hamming(query, rows):
    return ones(numpy.bitwise_xor(rows, query))


def jaccard(query, rows):
    shared = ones(numpy.bitwise_and(rows, query))
    return numpy.where(shared == 0, 1.0, 1 - shared / numpy.maximum(ones(numpy.bitwise_or(rows, query)), 1))


def bits(bench):
    dimension = bench.data.base.shape[1]
    base, queries = (numpy.packbits(vectors > 0, axis=1) for vectors in (bench.data.base, bench.data.queries))
    values, asked = ([struct.pack(">i", dimension) + packed.tobytes() for packed in rows] for rows in (base, queries))
    spaces = [typed.Space(name, operator, operator_class, lambda query, rows, distances=distances: distances(queries[query], base[rows]))
              for name, operator, operator_class, distances in (("Hamming distance", "<~>", "bit_hamming_ops", hamming),
                                                                ("Jaccard distance", "<%>", "bit_jaccard_ops", jaccard))]
    bench.report.say("\nsigns of the vectors")
    typed.measure(bench, bench.options.contestants, typed.Column("bits", f"bit({dimension})", values, asked), spaces)
