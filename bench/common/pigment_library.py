# SPDX-License-Identifier: Apache-2.0
"""What a benchmark does with libpigment: matrices without copies, batches that are made before, requests that are used
again. The structs and the plain calls are those of tests/support/libpigment.py. Any thread."""

import ctypes as c
import itertools
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "support"))

import libpigment
from libpigment import F32, INCLUDE, INCLUDE_NOTHING, GetRequest, QueryRequest, Records, TextColumn, TextSearchRequest, Vectors

INCLUDE_DOCUMENTS_AND_METADATAS = INCLUDE["documents"] | INCLUDE["metadatas"]


def texts_of(column, count):
    """A column of a result as strings; a result's first offset is 0."""
    return cut(*bytes_of(column, count))


def bytes_of(column, count):
    """A copy of a column of a result: all its bytes, and where each text begins, then the end of the last."""
    offsets = column.offsets[:count + 1] if count != 0 else [0]
    return c.string_at(column.bytes, offsets[-1]), offsets


def cut(joined, offsets):
    """The texts that bytes_of copied."""
    if joined.isascii():  # one byte a character: cut once it is decoded
        joined = joined.decode()
        return [joined[begin:end] for begin, end in zip(offsets, offsets[1:])]
    return [joined[begin:end].decode() for begin, end in zip(offsets, offsets[1:])]


def text_column(texts):
    """Returns (column, what keeps its memory alive)."""
    joined = "".join(texts)
    encoded = joined.encode()
    lengths = map(len, texts if len(encoded) == len(joined) else [text.encode() for text in texts])
    offsets = (c.c_int64 * (len(texts) + 1))(0, *itertools.accumulate(lengths))
    return TextColumn(offsets, c.cast(c.c_char_p(encoded), c.c_void_p), None), (offsets, encoded)


class Library(libpigment.Library):
    def __init__(self, path, numpy):
        super().__init__(path)
        self.numpy = numpy


def has_text_search(library):
    return hasattr(library.functions, "pigment_collection_search_text")


class Client(libpigment.Client):
    def create_collection(self, name, space, full_vectors="f32", index="hnsw"):
        return self.create_configured(name, {index: {"space": space}, "full_vectors": full_vectors})

    def create_configured(self, name, configuration):
        return Collection(super().create_collection(name, None, json.dumps(configuration)))

    def get_collection(self, name):
        return Collection(super().get_collection(name))

    def compact(self):
        self.library.call("client_compact", self.handle, None, None)

    def statistics(self):
        return self.library.json("client_statistics", self.handle)

    def wait_for_merges(self):
        """Until the library's own thread has nothing to merge."""
        while True:
            maintenance = self.statistics()["maintenance"]
            if maintenance["last_error"]:
                raise RuntimeError(f"a merge failed: {maintenance['last_error']}")
            if maintenance["running"] == 0 and maintenance["queued"] == 0:
                return
            time.sleep(0.005)


class Collection:
    def __init__(self, plain):
        self.library, self.handle = plain.library, plain.handle
        self.count, self.delete, self.free = plain.count, plain.delete, plain.free
        self.request = QueryRequest(struct_size=c.sizeof(QueryRequest), include=INCLUDE["distances"])
        self.request.embeddings.dtype = F32
        self.request_address = c.byref(self.request)
        self.result, self.error, self.ids = c.c_void_p(), c.c_void_p(), TextColumn()
        self.addresses = c.byref(self.result), c.byref(self.error), c.byref(self.ids)
        self.text_offsets = (c.c_int64 * 2)()
        self.text_request = TextSearchRequest(struct_size=c.sizeof(TextSearchRequest), queries_count=1, include=INCLUDE_NOTHING)
        self.text_request.queries.offsets = self.text_offsets
        self.text_request_address = c.byref(self.text_request)

    def add(self, ids, vectors, metadatas, documents=None):
        self.send("collection_add", self.prepare(ids, vectors, metadatas, documents))

    def upsert(self, ids, vectors, metadatas):
        self.send("collection_upsert", self.prepare(ids, vectors, metadatas))

    def prepare(self, ids, vectors, metadatas, documents=None):
        """A batch in the form that the library takes, to be sent any number of times, and what keeps its memory alive."""
        numpy = self.library.numpy
        vectors = numpy.ascontiguousarray(vectors, dtype=numpy.float32)
        records = Records(struct_size=c.sizeof(Records), count=len(ids))
        records.ids, keep_ids = text_column(ids)
        records.metadatas, keep_metadatas = text_column(metadatas)
        keep_documents = None
        if documents is not None:
            records.documents, keep_documents = text_column(documents)
        records.embeddings = Vectors(vectors.ctypes.data, len(ids), vectors.shape[1], 0, F32)
        return records, (vectors, keep_ids, keep_metadatas, keep_documents)

    def send(self, function, batch):
        self.library.call(function, self.handle, c.byref(batch[0]), None, None)

    def get(self, ids=None, where=None, where_document=None, limit=None, include=INCLUDE_DOCUMENTS_AND_METADATAS):
        """Ids, documents and metadata (JSON) of the records that exist and satisfy the filters (JSON, bytes), as lists of
        strings; None for a column that `include` leaves out."""
        request = GetRequest(struct_size=c.sizeof(GetRequest), include=include)
        keep = None
        if ids is not None:
            request.ids_count = len(ids)
            request.ids, keep = text_column(ids)
        libpigment.set_texts(request, where_json=where, where_document_json=where_document)
        request.has_limit, request.limit = limit is not None, limit or 0
        result = c.c_void_p()
        self.library.call("collection_get", self.handle, c.byref(request), None, c.byref(result))
        del keep
        return self.texts(result)

    def texts(self, result):
        """The columns of a result, which is freed."""
        count = self.library.functions.pigment_result_row_count(result)
        columns = []
        for name in ("ids", "documents", "metadatas"):
            column = TextColumn()
            has_it = self.library.function("result_" + name)(result, c.byref(column))
            columns.append(texts_of(column, count) if has_it else None)
        self.library.functions.pigment_result_free(result)
        return columns

    def query(self, vector, k, where=None, recall=0.0, search_width=0):
        """The ids of the k nearest records that satisfy the filter (JSON, bytes), as strings."""
        return self.take_ids(self.answer(vector, 1, k, where, recall, search_width))

    def ask(self, vector, k, where=None, recall=0.0, search_width=0):
        """What query gives, as bytes_of has it: cut makes texts of it when its time has been taken. Little beside the search;
        the vector's memory can be written to."""
        address = c.addressof(c.c_char.from_buffer(vector))
        self.set_request(address, 1, len(vector), k, where, recall, search_width)
        result, error, ids = self.addresses
        functions = self.library.functions
        status = functions.pigment_collection_query(self.handle, self.request_address, None, result, error)
        if status != 0:
            self.library.refuse(status, self.error)
        functions.pigment_result_ids(self.result, ids)
        found = bytes_of(self.ids, functions.pigment_result_row_count(self.result))
        functions.pigment_result_free(self.result)
        return found

    def query_many(self, vectors, k, where=None, recall=0.0, search_width=0, threads=0):
        """The same for each row of a matrix, in one call, on so many threads (0: one a core)."""
        self.request.threads = threads
        result = self.answer(vectors, len(vectors), k, where, recall, search_width)
        offsets = self.library.functions.pigment_result_query_offsets(result)[:len(vectors) + 1]
        ids = self.take_ids(result)
        return [ids[begin:end] for begin, end in zip(offsets, offsets[1:])]

    def answer(self, vectors, rows, k, where, recall, search_width):
        """A result, to be freed; `vectors` is contiguous f32."""
        self.set_request(vectors.__array_interface__["data"][0], rows, vectors.shape[-1], k, where, recall, search_width)
        result = c.c_void_p()
        self.library.call("collection_query", self.handle, self.request_address, None, c.byref(result))
        return result

    def set_request(self, address, rows, dimension, k, where, recall, search_width):
        """0 is the library's default."""
        request, embeddings = self.request, self.request.embeddings
        request.n_results, request.recall, request.search_width = k, recall, search_width
        embeddings.data, embeddings.rows, embeddings.dimension = address, rows, dimension
        request.where_json, request.where_json_size = where, len(where) if where is not None else 0

    def take_ids(self, result):
        """The ids of a result, which is freed."""
        functions, column = self.library.functions, TextColumn()
        if not functions.pigment_result_ids(result, c.byref(column)):
            raise RuntimeError("a result has no ids")
        ids = texts_of(column, functions.pigment_result_row_count(result))
        functions.pigment_result_free(result)
        return ids

    def search_text(self, text, k):
        """The ids of the k records whose documents have the best scores."""
        encoded, request = text.encode(), self.text_request
        self.text_offsets[1], request.queries.bytes, request.n_results = len(encoded), c.cast(encoded, c.c_void_p), k
        result = c.c_void_p()
        self.library.call("collection_search_text", self.handle, self.text_request_address, None, c.byref(result))
        return self.take_ids(result)
