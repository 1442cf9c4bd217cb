# SPDX-License-Identifier: Apache-2.0
"""As much of pigment.h as a comparison with SQL needs, through ctypes."""

import ctypes
import json
import struct

i32, i64, u64, size = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_size_t
pointer, text = ctypes.c_void_p, ctypes.c_char_p


class TextColumn(ctypes.Structure):
    _fields_ = [("offsets", ctypes.POINTER(i64)), ("bytes", pointer), ("validity", ctypes.POINTER(ctypes.c_uint8))]


class Vectors(ctypes.Structure):
    _fields_ = [("data", pointer), ("rows", size), ("dimension", size), ("row_stride_bytes", size), ("dtype", i32)]


class CollectionOptions(ctypes.Structure):
    _fields_ = [("struct_size", size), ("metadata_json", text), ("metadata_json_size", size),
                ("configuration_json", text), ("configuration_json_size", size), ("embedding_function", pointer),
                ("get_or_create", ctypes.c_bool)]


class Records(ctypes.Structure):
    _fields_ = [("struct_size", size), ("count", size), ("ids", TextColumn), ("embeddings", Vectors),
                ("documents", TextColumn), ("metadatas", TextColumn), ("uris", TextColumn)]


class WriteResult(ctypes.Structure):
    _fields_ = [("struct_size", size), ("inserted", u64), ("updated", u64), ("skipped", u64), ("deleted", u64),
                ("position", u64)]


FILTERS = [("where_json", text), ("where_json_size", size), ("where_document_json", text),
           ("where_document_json_size", size)]


class DeleteRequest(ctypes.Structure):
    _fields_ = [("struct_size", size), ("ids_count", size), ("ids", TextColumn), *FILTERS,
                ("has_limit", ctypes.c_bool), ("limit", i64)]


class GetRequest(ctypes.Structure):
    _fields_ = [("struct_size", size), ("ids_count", size), ("ids", TextColumn), *FILTERS,
                ("has_limit", ctypes.c_bool), ("limit", i64), ("offset", i64), ("include", i32),
                ("explain", ctypes.c_bool)]


class QueryRequest(ctypes.Structure):
    _fields_ = [("struct_size", size), ("embeddings", Vectors), ("texts_count", size), ("texts", TextColumn),
                ("n_results", i64), ("ids_count", size), ("ids", TextColumn), *FILTERS, ("include", i32),
                ("explain", ctypes.c_bool)]


INCLUDE_ALL_OF_GET = 1 | 2 | 4 | 8
INCLUDE_ALL_OF_QUERY = INCLUDE_ALL_OF_GET | 16


class Refused(Exception):
    """An error of either home, by its SQLSTATE and message."""

    def __init__(self, sqlstate, message):
        super().__init__(f"{sqlstate} {message}")
        self.sqlstate, self.message = sqlstate, message


def to_bytes(value):
    return value if isinstance(value, bytes) else value.encode()


def column(values):
    """A column of texts, None for an absent one; the caller keeps it until the call is over."""
    if values is None:
        return TextColumn()
    encoded = [b"" if value is None else to_bytes(value) for value in values]
    offsets, at = [0], 0
    for value in encoded:
        at += len(value)
        offsets.append(at)
    result = TextColumn()
    result.offsets = (i64 * len(offsets))(*offsets)
    joined = ctypes.create_string_buffer(b"".join(encoded), at + 1)
    result.bytes = ctypes.addressof(joined)
    bits = bytearray(len(values) // 8 + 1)
    for row, value in enumerate(values):
        if value is not None:
            bits[row // 8] |= 1 << row % 8
    result.validity = (ctypes.c_uint8 * len(bits))(*bits)
    result.kept = joined
    return result


def matrix(vectors):
    """Rows of floats as f32."""
    result = Vectors()
    if vectors is None:
        return result
    dimension = len(vectors[0])
    flat = (ctypes.c_float * (len(vectors) * dimension))(*[value for vector in vectors for value in vector])
    result.data, result.rows, result.dimension = ctypes.addressof(flat), len(vectors), dimension
    result.kept = flat
    return result


def set_filters(request, where, where_document):
    for name, value in (("where_json", where), ("where_document_json", where_document)):
        if value is not None:
            encoded = to_bytes(value)
            setattr(request, name, encoded)
            setattr(request, name + "_size", len(encoded))


class Library:
    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))
        for name in ("pigment_error_message", "pigment_status_sqlstate", "pigment_version"):
            getattr(self._library, name).restype = text
        self._library.pigment_result_row_count.restype = u64
        self._library.pigment_result_query_count.restype = u64
        self._library.pigment_result_query_offsets.restype = ctypes.POINTER(u64)
        self._library.pigment_result_distances.restype = ctypes.POINTER(ctypes.c_float)
        self._library.pigment_result_embeddings.restype = ctypes.POINTER(ctypes.c_float)

    def call(self, name, *arguments):
        error = pointer()
        status = getattr(self._library, "pigment_" + name)(*arguments, ctypes.byref(error))
        if status == 0:
            return
        message = self._library.pigment_error_message(error).decode(errors="replace")
        self._library.pigment_error_free(error)
        raise Refused(self._library.pigment_status_sqlstate(i32(status)).decode(), message)

    def free(self, name, handle):
        getattr(self._library, f"pigment_{name}_free")(handle)

    def function(self, name):
        return getattr(self._library, "pigment_" + name)


class Client:
    """A store in memory."""

    def __init__(self, library):
        self.library, self.handle = library, pointer()
        library.call("client_open", None, size(0), None, ctypes.byref(self.handle))

    def create_collection(self, name, metadata=None, configuration=None):
        options = CollectionOptions(struct_size=ctypes.sizeof(CollectionOptions))
        for field, value in (("metadata_json", metadata), ("configuration_json", configuration)):
            if value is not None:
                setattr(options, field, to_bytes(value))
                setattr(options, field + "_size", len(to_bytes(value)))
        handle, encoded = pointer(), to_bytes(name)
        self.library.call("client_create_collection", self.handle, None, encoded, size(len(encoded)),
                          ctypes.byref(options), ctypes.byref(handle))
        return Collection(self.library, handle)

    def get_collection(self, name):
        handle, encoded = pointer(), to_bytes(name)
        self.library.call("client_get_collection", self.handle, None, encoded, size(len(encoded)), None,
                          ctypes.byref(handle))
        return Collection(self.library, handle)

    def delete_collection(self, name):
        encoded = to_bytes(name)
        self.library.call("client_delete_collection", self.handle, None, encoded, size(len(encoded)))


class Collection:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle

    def write(self, operation, ids, embeddings=None, documents=None, metadatas=None, uris=None):
        records = Records(struct_size=ctypes.sizeof(Records), count=len(ids))
        kept = [column(ids), matrix(embeddings), column(documents), column(metadatas), column(uris)]
        records.ids, records.embeddings, records.documents, records.metadatas, records.uris = kept
        result = WriteResult(struct_size=ctypes.sizeof(WriteResult))
        self.library.call("collection_" + operation, self.handle, ctypes.byref(records), None, ctypes.byref(result))
        return {"inserted": result.inserted, "updated": result.updated, "skipped": result.skipped}

    def delete(self, ids=None, where=None, where_document=None, limit=None):
        request, kept = DeleteRequest(struct_size=ctypes.sizeof(DeleteRequest)), column(ids)
        request.ids, request.ids_count = kept, len(ids or ())
        set_filters(request, where, where_document)
        request.has_limit, request.limit = limit is not None, limit or 0
        result = WriteResult(struct_size=ctypes.sizeof(WriteResult))
        self.library.call("collection_delete", self.handle, ctypes.byref(request), None, ctypes.byref(result))
        return result.deleted

    def get(self, ids=None, where=None, where_document=None, limit=None, offset=0):
        request, kept = GetRequest(struct_size=ctypes.sizeof(GetRequest)), column(ids)
        request.ids, request.ids_count = kept, len(ids or ())
        set_filters(request, where, where_document)
        request.has_limit, request.limit, request.offset = limit is not None, limit or 0, offset
        request.include = INCLUDE_ALL_OF_GET
        return self._read("collection_get", request)[0]

    def query(self, embeddings, n_results=10, where=None, where_document=None, ids=None):
        request = QueryRequest(struct_size=ctypes.sizeof(QueryRequest))
        kept = [matrix(embeddings), column(ids)]
        request.embeddings, request.ids = kept
        request.ids_count, request.n_results, request.include = len(ids or ()), n_results, INCLUDE_ALL_OF_QUERY
        set_filters(request, where, where_document)
        return self._read("collection_query", request)

    def count(self):
        counted = u64()
        self.library.call("collection_count", self.handle, None, ctypes.byref(counted))
        return counted.value

    def flush(self):
        self.library.call("collection_flush", self.handle)

    def _read(self, name, request):
        """Per query, its rows as dictionaries; numbers of vectors and distances by their bits."""
        result = pointer()
        self.library.call(name, self.handle, ctypes.byref(request), None, ctypes.byref(result))
        try:
            function = self.library.function
            count = function("result_row_count")(result)
            columns = {name: self._texts(result, name, count) for name in ("ids", "documents", "metadatas", "uris")}
            distances = function("result_distances")(result)
            dimension = size()
            embeddings = function("result_embeddings")(result, ctypes.byref(dimension))
            rows = [{
                "id": columns["ids"][row],
                "document": columns["documents"][row],
                "metadata": None if columns["metadatas"][row] is None else json.loads(columns["metadatas"][row]),
                "uri": columns["uris"][row],
                "embedding": bits(embeddings[row * dimension.value:(row + 1) * dimension.value]),
                **({"distance": bits([distances[row]])} if distances else {}),
            } for row in range(count)]
            queries = function("result_query_count")(result)
            offsets = function("result_query_offsets")(result)
            return [rows[offsets[query]:offsets[query + 1]] for query in range(queries)]
        finally:
            self.library.free("result", result)

    def _texts(self, result, name, count):
        texts = TextColumn()
        if not self.library.function("result_" + name)(result, ctypes.byref(texts)):
            return [None] * count
        values = []
        for row in range(count):
            if texts.validity and not texts.validity[row // 8] >> row % 8 & 1:
                values.append(None)
            else:
                begin, end = texts.offsets[row], texts.offsets[row + 1]
                values.append(ctypes.string_at(texts.bytes + begin, end - begin).decode() if end > begin else "")
        return values


def bits(values):
    """f32 values as what they are made of, so that equal means equal to the last bit."""
    return [struct.unpack("<I", struct.pack("<f", value))[0] for value in values]
