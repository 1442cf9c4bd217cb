# SPDX-License-Identifier: Apache-2.0
"""The few calls of libpigment's C interface that a benchmark needs, through ctypes. Any thread."""

import ctypes as c
import itertools
import json
import time

PIGMENT_F32 = 0
INCLUDE_DOCUMENTS_AND_METADATAS = 3
INCLUDE_DISTANCES = 16


class TextColumn(c.Structure):
    _fields_ = [("offsets", c.c_void_p), ("bytes", c.c_void_p), ("validity", c.c_void_p)]


class Vectors(c.Structure):
    _fields_ = [("data", c.c_void_p), ("rows", c.c_size_t), ("dimension", c.c_size_t),
                ("row_stride_bytes", c.c_size_t), ("dtype", c.c_int32)]


class Records(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("count", c.c_size_t), ("ids", TextColumn), ("embeddings", Vectors),
                ("documents", TextColumn), ("metadatas", TextColumn), ("uris", TextColumn)]


class QueryRequest(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("embeddings", Vectors), ("texts_count", c.c_size_t),
                ("texts", TextColumn), ("n_results", c.c_int64), ("ids_count", c.c_size_t), ("ids", TextColumn),
                ("where_json", c.c_char_p), ("where_json_size", c.c_size_t),
                ("where_document_json", c.c_char_p), ("where_document_json_size", c.c_size_t),
                ("include", c.c_int32), ("explain", c.c_bool),
                ("recall", c.c_double), ("search_width", c.c_int64)]


class GetRequest(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("ids_count", c.c_size_t), ("ids", TextColumn),
                ("where_json", c.c_char_p), ("where_json_size", c.c_size_t),
                ("where_document_json", c.c_char_p), ("where_document_json_size", c.c_size_t),
                ("has_limit", c.c_bool), ("limit", c.c_int64), ("offset", c.c_int64),
                ("include", c.c_int32), ("explain", c.c_bool)]


class DeleteRequest(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("ids_count", c.c_size_t), ("ids", TextColumn),
                ("where_json", c.c_char_p), ("where_json_size", c.c_size_t),
                ("where_document_json", c.c_char_p), ("where_document_json_size", c.c_size_t),
                ("has_limit", c.c_bool), ("limit", c.c_int64)]


class CollectionOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("metadata_json", c.c_char_p), ("metadata_json_size", c.c_size_t),
                ("configuration_json", c.c_char_p), ("configuration_json_size", c.c_size_t),
                ("embedding_function", c.c_void_p), ("get_or_create", c.c_bool)]


def texts_of(column, count):
    """A column of a result as strings; a result's first offset is 0."""
    if count == 0:
        return []
    offsets = (c.c_int64 * (count + 1)).from_address(column.offsets)[:]
    joined = c.string_at(column.bytes, offsets[count])
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
    return TextColumn(c.addressof(offsets), c.cast(c.c_char_p(encoded), c.c_void_p), None), (offsets, encoded)


class Library:
    def __init__(self, path, numpy):
        self.numpy = numpy
        self.lib = c.CDLL(path)
        for name, result in (("pigment_version", c.c_char_p), ("pigment_build_info", c.c_char_p),
                             ("pigment_error_message", c.c_char_p), ("pigment_buffer_data", c.c_char_p),
                             ("pigment_result_row_count", c.c_uint64),
                             ("pigment_result_query_offsets", c.POINTER(c.c_uint64))):
            getattr(self.lib, name).restype = result
        for name in ("pigment_result_ids", "pigment_result_documents", "pigment_result_metadatas"):
            getattr(self.lib, name).restype = c.c_bool

    def call(self, name, *arguments):
        """Calls a fallible function; its error becomes an exception."""
        error = c.c_void_p()
        status = getattr(self.lib, name)(*arguments, c.byref(error))
        if status != 0:
            message = self.lib.pigment_error_message(error)
            raise RuntimeError(f"{name}: {status}: {message.decode(errors='replace')}")

    def build_info(self):
        return self.lib.pigment_build_info().decode()


class Client:
    def __init__(self, library, path):
        self.library, self.handle = library, c.c_void_p()
        encoded = path.encode()
        library.call("pigment_client_open", encoded, c.c_size_t(len(encoded)), None, c.byref(self.handle))

    def create_collection(self, name, space, full_vectors="f32", index="hnsw"):
        configuration = f'{{"{index}": {{"space": "{space}"}}, "full_vectors": "{full_vectors}"}}'.encode()
        options = CollectionOptions(c.sizeof(CollectionOptions), None, 0, configuration, len(configuration), None, False)
        collection = c.c_void_p()
        self.library.call("pigment_client_create_collection", self.handle, None, name.encode(),
                          c.c_size_t(len(name)), c.byref(options), c.byref(collection))
        return Collection(self.library, collection)

    def get_collection(self, name):
        collection = c.c_void_p()
        self.library.call("pigment_client_get_collection", self.handle, None, name.encode(), c.c_size_t(len(name)),
                          None, c.byref(collection))
        return Collection(self.library, collection)

    def flush(self):
        self.library.call("pigment_client_flush", self.handle)

    def compact(self):
        self.library.call("pigment_client_compact", self.handle, None, None)

    def statistics(self):
        buffer = c.c_void_p()
        self.library.call("pigment_client_statistics", self.handle, c.byref(buffer))
        text = self.library.lib.pigment_buffer_data(buffer, None)
        self.library.lib.pigment_buffer_free(buffer)
        return json.loads(text)

    def wait_for_merges(self):
        """Until the library's own thread has nothing to merge."""
        while True:
            maintenance = self.statistics()["maintenance"]
            if maintenance["last_error"]:
                raise RuntimeError(f"a merge failed: {maintenance['last_error']}")
            if maintenance["running"] == 0 and maintenance["queued"] == 0:
                return
            time.sleep(0.005)

    def close(self):
        self.library.call("pigment_client_close", self.handle)
        self.library.lib.pigment_client_free(self.handle)


class Collection:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle
        self.request = QueryRequest(struct_size=c.sizeof(QueryRequest), include=INCLUDE_DISTANCES)
        self.request.embeddings.dtype = PIGMENT_F32
        self.request_address = c.byref(self.request)

    def add(self, ids, vectors, metadatas, documents=None):
        self.write("pigment_collection_add", ids, vectors, metadatas, documents)

    def upsert(self, ids, vectors, metadatas):
        self.write("pigment_collection_upsert", ids, vectors, metadatas, None)

    def delete(self, ids):
        request = DeleteRequest(struct_size=c.sizeof(DeleteRequest), ids_count=len(ids))
        request.ids, keep = text_column(ids)
        self.library.call("pigment_collection_delete", self.handle, c.byref(request), None, None)
        del keep

    def write(self, function, ids, vectors, metadatas, documents):
        self.send(function, self.prepare(ids, vectors, metadatas, documents))

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
        records.embeddings = Vectors(vectors.ctypes.data, len(ids), vectors.shape[1], 0, PIGMENT_F32)
        return records, (vectors, keep_ids, keep_metadatas, keep_documents)

    def send(self, function, batch):
        self.library.call(function, self.handle, c.byref(batch[0]), None, None)

    def get(self, ids):
        """Ids, documents and metadata (JSON) of the records that exist, as lists of strings."""
        request = GetRequest(struct_size=c.sizeof(GetRequest), ids_count=len(ids),
                             include=INCLUDE_DOCUMENTS_AND_METADATAS)
        request.ids, keep = text_column(ids)
        result = c.c_void_p()
        self.library.call("pigment_collection_get", self.handle, c.byref(request), None, c.byref(result))
        count = self.library.lib.pigment_result_row_count(result)
        columns = []
        for name in ("ids", "documents", "metadatas"):
            column = TextColumn()
            if not getattr(self.library.lib, "pigment_result_" + name)(result, c.byref(column)):
                raise RuntimeError(f"a result has no {name}")
            columns.append(texts_of(column, count))
        self.library.lib.pigment_result_free(result)
        del keep
        return columns

    def count(self):
        count = c.c_uint64()
        self.library.call("pigment_collection_count", self.handle, None, c.byref(count))
        return count.value

    def query(self, vector, k, where=None, recall=0.0, search_width=0):
        """The ids of the k nearest records that satisfy the filter (JSON, bytes), as strings."""
        result, ids = self.answer(vector, 1, k, where, recall, search_width)
        self.library.lib.pigment_result_free(result)
        return ids

    def query_many(self, vectors, k, where=None, recall=0.0, search_width=0):
        """The same for each row of a matrix, in one call."""
        result, ids = self.answer(vectors, len(vectors), k, where, recall, search_width)
        offsets = self.library.lib.pigment_result_query_offsets(result)[:len(vectors) + 1]
        self.library.lib.pigment_result_free(result)
        return [ids[begin:end] for begin, end in zip(offsets, offsets[1:])]

    def answer(self, vectors, rows, k, where, recall, search_width):
        """A result, to be freed, and the ids in it; `vectors` is contiguous f32. 0 is the library's default."""
        request, embeddings = self.request, self.request.embeddings
        request.n_results, request.recall, request.search_width = k, recall, search_width
        embeddings.data = vectors.__array_interface__["data"][0]
        embeddings.rows, embeddings.dimension = rows, vectors.shape[-1]
        request.where_json, request.where_json_size = where, len(where) if where is not None else 0
        result = c.c_void_p()
        self.library.call("pigment_collection_query", self.handle, self.request_address, None, c.byref(result))
        count = self.library.lib.pigment_result_row_count(result)
        column = TextColumn()
        if not self.library.lib.pigment_result_ids(result, c.byref(column)):
            raise RuntimeError("a result has no ids")
        return result, texts_of(column, count)

    def free(self):
        self.library.lib.pigment_collection_free(self.handle)
