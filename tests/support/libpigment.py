# SPDX-License-Identifier: Apache-2.0
"""pigment.h through ctypes, as far as tests and benchmarks in Python need it: the one declaration of its structs in Python,
and a client and a collection with Chroma's calls. Needs the standard library alone. Any thread."""

import ctypes
import json
import struct

i32, i64, u64, size = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_size_t
pointer, text = ctypes.c_void_p, ctypes.c_char_p


class TextColumn(ctypes.Structure):
    _fields_ = [("offsets", ctypes.POINTER(i64)), ("bytes", pointer), ("validity", ctypes.POINTER(ctypes.c_uint8))]


class Vectors(ctypes.Structure):
    _fields_ = [("data", pointer), ("rows", size), ("dimension", size), ("row_stride_bytes", size), ("dtype", i32)]


class OpenOptions(ctypes.Structure):
    _fields_ = [("struct_size", size), ("sync_mode", i32), ("sync_interval_ms", ctypes.c_uint32), ("memory_budget_bytes", u64),
                ("flush_rows_max", ctypes.c_uint32), ("flush_bytes_max", u64), ("read_only", ctypes.c_bool), ("must_exist", ctypes.c_bool),
                ("reserve_bytes", u64), ("background_threads", i32), ("erase_log", ctypes.c_bool), ("map_files", ctypes.c_bool)]


class CollectionOptions(ctypes.Structure):
    _fields_ = [("struct_size", size), ("metadata_json", text), ("metadata_json_size", size),
                ("configuration_json", text), ("configuration_json_size", size), ("embedding_function", pointer),
                ("get_or_create", ctypes.c_bool), ("schema_json", text), ("schema_json_size", size)]


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


class FacetsRequest(ctypes.Structure):
    _fields_ = [("struct_size", size), ("keys_count", size), ("keys", TextColumn), ("ids_count", size), ("ids", TextColumn), *FILTERS,
                ("has_limit", ctypes.c_bool), ("limit", i64)]


class QueryRequest(ctypes.Structure):
    _fields_ = [("struct_size", size), ("embeddings", Vectors), ("texts_count", size), ("texts", TextColumn),
                ("n_results", i64), ("ids_count", size), ("ids", TextColumn), *FILTERS, ("include", i32),
                ("explain", ctypes.c_bool), ("recall", ctypes.c_double), ("search_width", i64),
                ("has_max_distance", ctypes.c_bool), ("max_distance", ctypes.c_double), ("threads", i32)]


class TextSearchRequest(ctypes.Structure):
    _fields_ = [("struct_size", size), ("queries_count", size), ("queries", TextColumn), ("n_results", i64),
                ("ids_count", size), ("ids", TextColumn), *FILTERS, ("operator_", i32), ("include", i32),
                ("highlights", ctypes.c_bool), ("explain", ctypes.c_bool)]


class ModifyOptions(ctypes.Structure):
    _fields_ = [("struct_size", size), ("name", text), ("name_size", size), ("metadata_json", text),
                ("metadata_json_size", size), ("configuration_json", text), ("configuration_json_size", size)]


EMBED = ctypes.CFUNCTYPE(i32, pointer, i32, size, ctypes.POINTER(TextColumn), pointer)


class EmbeddingFunction(ctypes.Structure):
    _fields_ = [("struct_size", size), ("name", text), ("name_size", size), ("config_json", text),
                ("config_json_size", size), ("space", text), ("space_size", size), ("embed", EMBED),
                ("release", pointer), ("user_data", pointer)]


F32, F64 = 0, 2
INVALID_ARGUMENT = 3

INCLUDE = {"documents": 1, "metadatas": 2, "embeddings": 4, "uris": 8, "distances": 16}
INCLUDE_NOTHING = 32
INCLUDE_ALL_OF_GET = 1 | 2 | 4 | 8
INCLUDE_ALL_OF_QUERY = INCLUDE_ALL_OF_GET | 16


class Refused(Exception):
    """An error of either home, by its SQLSTATE and message; of the library, also by its status."""

    def __init__(self, sqlstate, message, status=None):
        super().__init__(f"{sqlstate} {message}")
        self.sqlstate, self.message, self.status = sqlstate, message, status


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


def texts_of(texts, count):
    """A column as a list, None for an absent one."""
    values = []
    for row in range(count):
        if texts.validity and not texts.validity[row // 8] >> row % 8 & 1:
            values.append(None)
        else:
            begin, end = texts.offsets[row], texts.offsets[row + 1]
            values.append(ctypes.string_at(texts.bytes + begin, end - begin).decode() if end > begin else "")
    return values


def matrix(vectors):
    """Rows of floats as f32; of different lengths: refused, as nothing that the library could be asked."""
    result = Vectors()
    if vectors is None:
        return result
    if len({len(vector) for vector in vectors}) != 1:
        raise Refused("22023", "rows of different lengths are no matrix", INVALID_ARGUMENT)
    dimension = len(vectors[0])
    flat = (ctypes.c_float * (len(vectors) * dimension))(*[value for vector in vectors for value in vector])
    result.data, result.rows, result.dimension = ctypes.addressof(flat), len(vectors), dimension
    result.kept = flat
    return result


def set_texts(request, **values):
    """Fields that are a pointer and a size."""
    for name, value in values.items():
        if value is not None:
            encoded = to_bytes(value)
            setattr(request, name, encoded)
            setattr(request, name + "_size", len(encoded))


def included(names, default):
    """The bits of an include list; None: `default`."""
    if names is None:
        return default
    return sum(INCLUDE[name] for name in names) or INCLUDE_NOTHING


class Library:
    def __init__(self, path):
        self.functions = ctypes.CDLL(str(path))
        for name in ("error_message", "status_sqlstate", "version", "build_info", "buffer_data"):
            self.function(name).restype = text
        for name in ("result_ids", "result_documents", "result_metadatas", "result_uris"):
            self.function(name).restype = ctypes.c_bool
        for name in ("result_row_count", "result_query_count"):
            self.function(name).restype = u64
        for name in ("result_distances", "result_embeddings", "result_scores"):
            self.function(name).restype = ctypes.POINTER(ctypes.c_float)
        self.function("result_query_offsets").restype = ctypes.POINTER(u64)

    def call(self, name, *arguments):
        """Calls a fallible function; its error becomes an exception."""
        error = pointer()
        status = getattr(self.functions, "pigment_" + name)(*arguments, ctypes.byref(error))
        if status != 0:
            self.refuse(status, error)

    def refuse(self, status, error):
        """Raises an error that a call gave."""
        message = self.functions.pigment_error_message(error).decode(errors="replace")
        self.functions.pigment_error_free(error)
        raise Refused(self.functions.pigment_status_sqlstate(i32(status)).decode(), message, status)

    def json(self, name, *arguments):
        """Calls a function whose last output is a buffer of JSON."""
        buffer = pointer()
        self.call(name, *arguments, ctypes.byref(buffer))
        answer = json.loads(self.functions.pigment_buffer_data(buffer, None))
        self.free("buffer", buffer)
        return answer

    def version(self):
        return self.functions.pigment_version().decode()

    def build_info(self):
        return self.functions.pigment_build_info().decode()

    def free(self, name, handle):
        getattr(self.functions, f"pigment_{name}_free")(handle)

    def function(self, name):
        return getattr(self.functions, "pigment_" + name)


def embedding_function(library, name, embed):
    """A function for create_collection and get_collection; `embed` takes a list of texts and gives a list of vectors. The
    caller keeps it as long as there are collections with it."""
    def call(_, __, count, texts, sink):
        made = matrix(embed(texts_of(texts.contents, count)))
        return library.function("embedding_sink_put")(pointer(sink), pointer(made.data), size(count), size(made.dimension))

    function = EmbeddingFunction(struct_size=ctypes.sizeof(EmbeddingFunction), embed=EMBED(call))
    set_texts(function, name=name)
    return function


class Client:
    """A store in a directory, or in memory. Options are fields of pigment_open_options; what is not named is the default."""

    def __init__(self, library, path="", **options):
        self.library, self.handle = library, pointer()
        encoded = to_bytes(path)
        given = OpenOptions(struct_size=ctypes.sizeof(OpenOptions), **options)
        library.call("client_open", encoded or None, size(len(encoded)), ctypes.byref(given), ctypes.byref(self.handle))

    def create_collection(self, name, metadata=None, configuration=None, get_or_create=False, function=None, schema=None):
        options = CollectionOptions(struct_size=ctypes.sizeof(CollectionOptions), get_or_create=get_or_create)
        if function is not None:
            options.embedding_function = ctypes.addressof(function)
        set_texts(options, metadata_json=metadata, configuration_json=configuration, schema_json=schema)
        return self._named("client_create_collection", name, ctypes.byref(options))

    def get_collection(self, name, function=None):
        return self._named("client_get_collection", name, None if function is None else ctypes.byref(function))

    def delete_collection(self, name):
        encoded = to_bytes(name)
        self.library.call("client_delete_collection", self.handle, None, encoded, size(len(encoded)))

    def list_collections(self, limit=-1, offset=0):
        return self.library.json("client_list_collections", self.handle, None, i64(limit), i64(offset))

    def count_collections(self):
        counted = u64()
        self.library.call("client_count_collections", self.handle, None, ctypes.byref(counted))
        return counted.value

    def flush(self):
        self.library.call("client_flush", self.handle)

    def close(self):
        self.library.call("client_close", self.handle)
        self.library.free("client", self.handle)

    def _named(self, function, name, options):
        handle, encoded = pointer(), to_bytes(name)
        self.library.call(function, self.handle, None, encoded, size(len(encoded)), options, ctypes.byref(handle))
        return Collection(self.library, handle)


class Collection:
    def __init__(self, library, handle):
        self.library, self.handle = library, handle

    def describe(self):
        return self.library.json("collection_describe", self.handle)

    def modify(self, name=None, metadata=None, configuration=None):
        options = ModifyOptions(struct_size=ctypes.sizeof(ModifyOptions))
        set_texts(options, name=name, metadata_json=metadata, configuration_json=configuration)
        self.library.call("collection_modify", self.handle, ctypes.byref(options))

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
        set_texts(request, where_json=where, where_document_json=where_document)
        request.has_limit, request.limit = limit is not None, limit or 0
        result = WriteResult(struct_size=ctypes.sizeof(WriteResult))
        self.library.call("collection_delete", self.handle, ctypes.byref(request), None, ctypes.byref(result))
        return result.deleted

    def get(self, ids=None, where=None, where_document=None, limit=None, offset=0):
        """Its rows with every column, as dictionaries."""
        return rows_of(self.get_columns(ids, where, where_document, limit, offset))[0]

    def get_columns(self, ids=None, where=None, where_document=None, limit=None, offset=0, include=INCLUDE_ALL_OF_GET):
        request, kept = GetRequest(struct_size=ctypes.sizeof(GetRequest), include=include), column(ids)
        request.ids, request.ids_count = kept, len(ids or ())
        set_texts(request, where_json=where, where_document_json=where_document)
        request.has_limit, request.limit, request.offset = limit is not None, limit or 0, offset
        return self._read("collection_get", ctypes.byref(request))

    def query(self, embeddings, n_results=10, where=None, where_document=None, ids=None):
        """For each query its rows with every column, as dictionaries."""
        return rows_of(self.query_columns(embeddings, n_results, where, where_document, ids))

    def query_columns(self, embeddings, n_results=10, where=None, where_document=None, ids=None, texts=None,
                      include=INCLUDE_ALL_OF_QUERY, recall=0.0):
        request = QueryRequest(struct_size=ctypes.sizeof(QueryRequest), include=include, recall=recall)
        kept = [matrix(embeddings), column(ids), column(texts)]
        request.embeddings, request.ids, request.texts = kept
        request.ids_count, request.texts_count, request.n_results = len(ids or ()), len(texts or ()), n_results
        set_texts(request, where_json=where, where_document_json=where_document)
        return self._read("collection_query", ctypes.byref(request))

    def search_text(self, queries, n_results=10, where=None, where_document=None, ids=None, all_of=False):
        """For each query its rows with every column and the score, as dictionaries."""
        request = TextSearchRequest(struct_size=ctypes.sizeof(TextSearchRequest), include=INCLUDE_ALL_OF_GET, operator_=int(all_of))
        kept = [column(queries), column(ids)]
        request.queries, request.ids = kept
        request.queries_count, request.ids_count, request.n_results = len(queries or ()), len(ids or ()), n_results
        set_texts(request, where_json=where, where_document_json=where_document)
        return rows_of(self._read("collection_search_text", ctypes.byref(request)))

    def peek_columns(self, limit):
        return self._read("collection_peek", i64(limit))

    def count(self):
        counted = u64()
        self.library.call("collection_count", self.handle, None, ctypes.byref(counted))
        return counted.value

    def facets(self, keys, where=None, where_document=None, ids=None, limit=None):
        """{key: [{"value": .., "count": n}, ..]}."""
        request, kept = FacetsRequest(struct_size=ctypes.sizeof(FacetsRequest)), [column(keys), column(ids)]
        request.keys, request.ids = kept
        request.keys_count, request.ids_count = len(keys), len(ids or ())
        set_texts(request, where_json=where, where_document_json=where_document)
        request.has_limit, request.limit = limit is not None, limit or 0
        return self.library.json("collection_facets", self.handle, ctypes.byref(request), None)

    def flush(self):
        self.library.call("collection_flush", self.handle)

    def free(self):
        self.library.free("collection", self.handle)

    def _read(self, name, request):
        """For each query its columns by name, None for one that is not included."""
        result = pointer()
        self.library.call(name, self.handle, request, None, ctypes.byref(result))
        try:
            return self._columns(result)
        finally:
            self.library.free("result", result)

    def _columns(self, result):
        function = self.library.function
        count = function("result_row_count")(result)
        columns = {name: self._texts(result, name, count) for name in ("ids", "documents", "metadatas", "uris")}
        if columns["metadatas"] is not None:
            columns["metadatas"] = [None if value is None else json.loads(value) for value in columns["metadatas"]]
        distances, dimension = function("result_distances")(result), size()
        columns["distances"] = distances[:count] if distances else None
        scores = function("result_scores")(result)
        if scores:  # of ranked texts alone
            columns["scores"] = scores[:count]
        embeddings, wide = function("result_embeddings")(result, ctypes.byref(dimension)), dimension.value
        columns["embeddings"] = (
            [embeddings[row * wide:(row + 1) * wide] for row in range(count)] if embeddings else None)
        offsets = function("result_query_offsets")(result)[:function("result_query_count")(result) + 1]
        return [{name: None if values is None else values[begin:end] for name, values in columns.items()}
                for begin, end in zip(offsets, offsets[1:])]

    def _texts(self, result, name, count):
        texts = TextColumn()
        if not self.library.function("result_" + name)(result, ctypes.byref(texts)):
            return None
        return texts_of(texts, count)


def rows_of(answers):
    """Columns with every column of get, query or search_text as rows; numbers of vectors, distances and scores by their bits."""
    singular = {"ids": "id", "documents": "document", "metadatas": "metadata", "uris": "uri"}
    found = []
    for columns in answers:
        rows = [{singular[name]: columns[name][row] for name in singular} for row in range(len(columns["ids"]))]
        for at, row in enumerate(rows):
            row["embedding"] = bits(columns["embeddings"][at])
            if columns["distances"] is not None:
                row["distance"] = bits([columns["distances"][at]])
            if "scores" in columns:
                row["score"] = bits([columns["scores"][at]])
        found.append(rows)
    return found


def bits(values):
    """f32 values as what they are made of, so that equal means equal to the last bit."""
    return [struct.unpack("<I", struct.pack("<f", value))[0] for value in values]
