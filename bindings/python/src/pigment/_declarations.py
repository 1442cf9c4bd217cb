# SPDX-License-Identifier: Apache-2.0
"""What pigment.h declares, for ctypes. Written by bindings/tables/generate; never edited."""

import ctypes
import enum

VERSION = "0.2.0"
ABI_VERSION = 1


class Status(enum.IntEnum):
    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16
    VERSION_MISMATCH = 17
    UNPROCESSABLE_ENTITY = 18


class Detail(enum.IntEnum):
    NONE = 0
    MISSING = 1
    FOREIGN = 2
    WRONG_KIND = 3
    MISALIGNED = 4
    TRUNCATED = 5
    MISCOUNTED = 6
    CHECKSUM = 7
    CLOSED = 20
    LOCKED = 21
    FORKED = 22
    POISONED = 23
    READ_ONLY = 24
    STALE = 25
    NO_EMBEDDING_FUNCTION = 26
    DIMENSION = 40
    NOT_FINITE = 41
    DUPLICATE_ID = 42
    FILTER = 43
    NAME = 44
    METADATA = 45
    EMBEDDING_FUNCTION = 46
    DISK_FULL = 60
    MEMORY = 61
    LIMIT = 62


class Fault(enum.IntEnum):
    NONE = 0
    CALLER = 1
    ENVIRONMENT = 2
    LIBRARY = 3


class Dtype(enum.IntEnum):
    F32 = 0
    F16 = 1
    F64 = 2
    I32 = 3
    I64 = 4


class EmbedPurpose(enum.IntEnum):
    DOCUMENT = 0
    QUERY = 1


class Sync(enum.IntEnum):
    FULL = 0
    INTERVAL = 1
    OFF = 2


class Span(enum.IntEnum):
    QUERY = 1
    SEGMENT = 2
    JOB = 4


class Include(enum.IntFlag):
    DEFAULT = 0
    DOCUMENTS = 1
    METADATAS = 2
    EMBEDDINGS = 4
    URIS = 8
    DISTANCES = 16
    NOTHING = 32


class TextOperator(enum.IntEnum):
    ANY = 0
    ALL = 1


# Names in pigment.errors by status, and by detail where that tells more.
EXCEPTIONS = {
    Status.CANCELLED: "CancelledError",
    Status.UNKNOWN: "InternalError",
    Status.INVALID_ARGUMENT: "InvalidArgumentError",
    Status.DEADLINE_EXCEEDED: "DeadlineExceededError",
    Status.NOT_FOUND: "NotFoundError",
    Status.ALREADY_EXISTS: "UniqueConstraintError",
    Status.PERMISSION_DENIED: "AuthorizationError",
    Status.RESOURCE_EXHAUSTED: "ResourceExhaustedError",
    Status.FAILED_PRECONDITION: "FailedPreconditionError",
    Status.ABORTED: "AbortedError",
    Status.OUT_OF_RANGE: "InvalidArgumentError",
    Status.UNIMPLEMENTED: "UnimplementedError",
    Status.INTERNAL: "InternalError",
    Status.UNAVAILABLE: "UnavailableError",
    Status.DATA_LOSS: "DataLossError",
    Status.UNAUTHENTICATED: "ChromaAuthError",
    Status.VERSION_MISMATCH: "VersionMismatchError",
    Status.UNPROCESSABLE_ENTITY: "InvalidArgumentError",
}
DETAIL_EXCEPTIONS = {
    Detail.CLOSED: "ClosedError",
    Detail.LOCKED: "LockedError",
    Detail.FORKED: "ForkedError",
    Detail.STALE: "StaleReadError",
    Detail.DUPLICATE_ID: "DuplicateIDError",
}


class TextColumn(ctypes.Structure):
    _fields_ = [
        ("offsets", ctypes.c_void_p),
        ("bytes", ctypes.c_char_p),
        ("validity", ctypes.c_void_p),
    ]


class Vectors(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("rows", ctypes.c_size_t),
        ("dimension", ctypes.c_size_t),
        ("row_stride_bytes", ctypes.c_size_t),
        ("dtype", ctypes.c_int32),
    ]


class Progress(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("phase", ctypes.c_char_p),
        ("unit", ctypes.c_char_p),
        ("done", ctypes.c_uint64),
        ("total", ctypes.c_uint64),
    ]


class CallOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("cancel", ctypes.c_void_p),
        ("deadline_ns", ctypes.c_int64),
        ("min_position", ctypes.c_uint64),
    ]


class EmbeddingFunction(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("name_size", ctypes.c_size_t),
        ("config_json", ctypes.c_char_p),
        ("config_json_size", ctypes.c_size_t),
        ("space", ctypes.c_char_p),
        ("space_size", ctypes.c_size_t),
        ("embed", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("user_data", ctypes.c_void_p),
    ]


class Tracing(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("kinds", ctypes.c_int32),
        ("begin", ctypes.c_void_p),
        ("end", ctypes.c_void_p),
        ("user_data", ctypes.c_void_p),
    ]


class OpenOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("sync_mode", ctypes.c_int32),
        ("sync_interval_ms", ctypes.c_uint32),
        ("memory_budget_bytes", ctypes.c_uint64),
        ("flush_rows_max", ctypes.c_uint32),
        ("flush_bytes_max", ctypes.c_uint64),
        ("read_only", ctypes.c_bool),
        ("must_exist", ctypes.c_bool),
        ("reserve_bytes", ctypes.c_uint64),
        ("background_threads", ctypes.c_int32),
        ("erase_log", ctypes.c_bool),
        ("map_files", ctypes.c_bool),
    ]


class Compaction(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("records", ctypes.c_uint64),
        ("segments_in", ctypes.c_uint64),
        ("segments_out", ctypes.c_uint64),
        ("bytes_before", ctypes.c_uint64),
        ("bytes_after", ctypes.c_uint64),
    ]


class Scope(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("tenant", ctypes.c_char_p),
        ("tenant_size", ctypes.c_size_t),
        ("database", ctypes.c_char_p),
        ("database_size", ctypes.c_size_t),
    ]


class CollectionOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("metadata_json", ctypes.c_char_p),
        ("metadata_json_size", ctypes.c_size_t),
        ("configuration_json", ctypes.c_char_p),
        ("configuration_json_size", ctypes.c_size_t),
        ("embedding_function", ctypes.c_void_p),
        ("get_or_create", ctypes.c_bool),
        ("schema_json", ctypes.c_char_p),
        ("schema_json_size", ctypes.c_size_t),
    ]


class ModifyOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("name_size", ctypes.c_size_t),
        ("metadata_json", ctypes.c_char_p),
        ("metadata_json_size", ctypes.c_size_t),
        ("configuration_json", ctypes.c_char_p),
        ("configuration_json_size", ctypes.c_size_t),
    ]


class Records(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("count", ctypes.c_size_t),
        ("ids", TextColumn),
        ("embeddings", Vectors),
        ("documents", TextColumn),
        ("metadatas", TextColumn),
        ("uris", TextColumn),
    ]


class WriteResult(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("inserted", ctypes.c_uint64),
        ("updated", ctypes.c_uint64),
        ("skipped", ctypes.c_uint64),
        ("deleted", ctypes.c_uint64),
        ("position", ctypes.c_uint64),
    ]


class DeleteRequest(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("ids_count", ctypes.c_size_t),
        ("ids", TextColumn),
        ("where_json", ctypes.c_char_p),
        ("where_json_size", ctypes.c_size_t),
        ("where_document_json", ctypes.c_char_p),
        ("where_document_json_size", ctypes.c_size_t),
        ("has_limit", ctypes.c_bool),
        ("limit", ctypes.c_int64),
    ]


class GetRequest(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("ids_count", ctypes.c_size_t),
        ("ids", TextColumn),
        ("where_json", ctypes.c_char_p),
        ("where_json_size", ctypes.c_size_t),
        ("where_document_json", ctypes.c_char_p),
        ("where_document_json_size", ctypes.c_size_t),
        ("has_limit", ctypes.c_bool),
        ("limit", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("include", ctypes.c_int32),
        ("explain", ctypes.c_bool),
        ("order_by_json", ctypes.c_char_p),
        ("order_by_json_size", ctypes.c_size_t),
        ("cursor", ctypes.c_char_p),
        ("cursor_size", ctypes.c_size_t),
    ]


class CountRequest(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("ids_count", ctypes.c_size_t),
        ("ids", TextColumn),
        ("where_json", ctypes.c_char_p),
        ("where_json_size", ctypes.c_size_t),
        ("where_document_json", ctypes.c_char_p),
        ("where_document_json_size", ctypes.c_size_t),
    ]


class FacetsRequest(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("keys_count", ctypes.c_size_t),
        ("keys", TextColumn),
        ("ids_count", ctypes.c_size_t),
        ("ids", TextColumn),
        ("where_json", ctypes.c_char_p),
        ("where_json_size", ctypes.c_size_t),
        ("where_document_json", ctypes.c_char_p),
        ("where_document_json_size", ctypes.c_size_t),
        ("has_limit", ctypes.c_bool),
        ("limit", ctypes.c_int64),
    ]


class QueryRequest(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("embeddings", Vectors),
        ("texts_count", ctypes.c_size_t),
        ("texts", TextColumn),
        ("n_results", ctypes.c_int64),
        ("ids_count", ctypes.c_size_t),
        ("ids", TextColumn),
        ("where_json", ctypes.c_char_p),
        ("where_json_size", ctypes.c_size_t),
        ("where_document_json", ctypes.c_char_p),
        ("where_document_json_size", ctypes.c_size_t),
        ("include", ctypes.c_int32),
        ("explain", ctypes.c_bool),
        ("recall", ctypes.c_double),
        ("search_width", ctypes.c_int64),
        ("has_max_distance", ctypes.c_bool),
        ("max_distance", ctypes.c_double),
        ("threads", ctypes.c_int32),
    ]


class TextSearchRequest(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("queries_count", ctypes.c_size_t),
        ("queries", TextColumn),
        ("n_results", ctypes.c_int64),
        ("ids_count", ctypes.c_size_t),
        ("ids", TextColumn),
        ("where_json", ctypes.c_char_p),
        ("where_json_size", ctypes.c_size_t),
        ("where_document_json", ctypes.c_char_p),
        ("where_document_json_size", ctypes.c_size_t),
        ("operator_", ctypes.c_int32),
        ("include", ctypes.c_int32),
        ("highlights", ctypes.c_bool),
        ("explain", ctypes.c_bool),
    ]


def declare(library: ctypes.CDLL) -> None:
    """Gives the functions of a loaded library their types."""
    library.pigment_abi_version.restype = ctypes.c_int32
    library.pigment_abi_version.argtypes = []
    library.pigment_version.restype = ctypes.c_char_p
    library.pigment_version.argtypes = []
    library.pigment_build_info.restype = ctypes.c_char_p
    library.pigment_build_info.argtypes = []
    library.pigment_status_name.restype = ctypes.c_char_p
    library.pigment_status_name.argtypes = [ctypes.c_int32]
    library.pigment_status_sqlstate.restype = ctypes.c_char_p
    library.pigment_status_sqlstate.argtypes = [ctypes.c_int32]
    library.pigment_status_retryable.restype = ctypes.c_bool
    library.pigment_status_retryable.argtypes = [ctypes.c_int32]
    library.pigment_status_fault.restype = ctypes.c_int32
    library.pigment_status_fault.argtypes = [ctypes.c_int32]
    library.pigment_error_status.restype = ctypes.c_int32
    library.pigment_error_status.argtypes = [ctypes.c_void_p]
    library.pigment_error_detail.restype = ctypes.c_int32
    library.pigment_error_detail.argtypes = [ctypes.c_void_p]
    library.pigment_error_message.restype = ctypes.c_char_p
    library.pigment_error_message.argtypes = [ctypes.c_void_p]
    library.pigment_error_hint.restype = ctypes.c_char_p
    library.pigment_error_hint.argtypes = [ctypes.c_void_p]
    library.pigment_error_row.restype = ctypes.c_int64
    library.pigment_error_row.argtypes = [ctypes.c_void_p]
    library.pigment_error_file.restype = ctypes.c_char_p
    library.pigment_error_file.argtypes = [ctypes.c_void_p]
    library.pigment_error_offset.restype = ctypes.c_int64
    library.pigment_error_offset.argtypes = [ctypes.c_void_p]
    library.pigment_error_free.restype = None
    library.pigment_error_free.argtypes = [ctypes.c_void_p]
    library.pigment_buffer_data.restype = ctypes.c_char_p
    library.pigment_buffer_data.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]
    library.pigment_buffer_free.restype = None
    library.pigment_buffer_free.argtypes = [ctypes.c_void_p]
    library.pigment_limits.restype = ctypes.c_int32
    library.pigment_limits.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_cancel_new.restype = ctypes.c_int32
    library.pigment_cancel_new.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_cancel_set.restype = None
    library.pigment_cancel_set.argtypes = [ctypes.c_void_p]
    library.pigment_cancel_is_set.restype = ctypes.c_bool
    library.pigment_cancel_is_set.argtypes = [ctypes.c_void_p]
    library.pigment_cancel_free.restype = None
    library.pigment_cancel_free.argtypes = [ctypes.c_void_p]
    library.pigment_cancel_progress.restype = ctypes.c_int32
    library.pigment_cancel_progress.argtypes = [ctypes.c_void_p, ctypes.POINTER(Progress), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_now_ns.restype = ctypes.c_int64
    library.pigment_now_ns.argtypes = []
    library.pigment_call_options_init.restype = None
    library.pigment_call_options_init.argtypes = [ctypes.POINTER(CallOptions)]
    library.pigment_embedding_sink_put.restype = ctypes.c_int32
    library.pigment_embedding_sink_put.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_float), ctypes.c_size_t, ctypes.c_size_t]
    library.pigment_embedding_sink_fail.restype = None
    library.pigment_embedding_sink_fail.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    library.pigment_embed_lexical.restype = ctypes.c_int32
    library.pigment_embed_lexical.argtypes = [ctypes.c_size_t, ctypes.POINTER(TextColumn), ctypes.c_size_t, ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_embedding_function_lexical.restype = ctypes.c_int32
    library.pigment_embedding_function_lexical.argtypes = [ctypes.c_size_t, ctypes.POINTER(EmbeddingFunction), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_open_options_init.restype = None
    library.pigment_open_options_init.argtypes = [ctypes.POINTER(OpenOptions)]
    library.pigment_client_open.restype = ctypes.c_int32
    library.pigment_client_open.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(OpenOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_open_traced.restype = ctypes.c_int32
    library.pigment_client_open_traced.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(OpenOptions), ctypes.POINTER(Tracing), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_close.restype = ctypes.c_int32
    library.pigment_client_close.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_free.restype = None
    library.pigment_client_free.argtypes = [ctypes.c_void_p]
    library.pigment_client_flush.restype = ctypes.c_int32
    library.pigment_client_flush.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_flush_with.restype = ctypes.c_int32
    library.pigment_client_flush_with.argtypes = [ctypes.c_void_p, ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_compact.restype = ctypes.c_int32
    library.pigment_client_compact.argtypes = [ctypes.c_void_p, ctypes.POINTER(CallOptions), ctypes.POINTER(Compaction), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_statistics.restype = ctypes.c_int32
    library.pigment_client_statistics.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_backup.restype = ctypes.c_int32
    library.pigment_client_backup.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_check.restype = ctypes.c_int32
    library.pigment_client_check.argtypes = [ctypes.c_void_p, ctypes.c_bool, ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_check.restype = ctypes.c_int32
    library.pigment_check.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_bool, ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_repair.restype = ctypes.c_int32
    library.pigment_repair.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_position.restype = ctypes.c_int32
    library.pigment_client_position.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_refresh.restype = ctypes.c_int32
    library.pigment_client_refresh.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_create_tenant.restype = ctypes.c_int32
    library.pigment_client_create_tenant.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_get_tenant.restype = ctypes.c_int32
    library.pigment_client_get_tenant.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_list_tenants.restype = ctypes.c_int32
    library.pigment_client_list_tenants.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_delete_tenant.restype = ctypes.c_int32
    library.pigment_client_delete_tenant.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_create_database.restype = ctypes.c_int32
    library.pigment_client_create_database.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_get_database.restype = ctypes.c_int32
    library.pigment_client_get_database.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_list_databases.restype = ctypes.c_int32
    library.pigment_client_list_databases.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_delete_database.restype = ctypes.c_int32
    library.pigment_client_delete_database.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_options_init.restype = None
    library.pigment_collection_options_init.argtypes = [ctypes.POINTER(CollectionOptions)]
    library.pigment_client_create_collection.restype = ctypes.c_int32
    library.pigment_client_create_collection.argtypes = [ctypes.c_void_p, ctypes.POINTER(Scope), ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(CollectionOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_get_collection.restype = ctypes.c_int32
    library.pigment_client_get_collection.argtypes = [ctypes.c_void_p, ctypes.POINTER(Scope), ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(EmbeddingFunction), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_get_collection_by_id.restype = ctypes.c_int32
    library.pigment_client_get_collection_by_id.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(EmbeddingFunction), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_list_collections.restype = ctypes.c_int32
    library.pigment_client_list_collections.argtypes = [ctypes.c_void_p, ctypes.POINTER(Scope), ctypes.c_int64, ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_count_collections.restype = ctypes.c_int32
    library.pigment_client_count_collections.argtypes = [ctypes.c_void_p, ctypes.POINTER(Scope), ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_client_delete_collection.restype = ctypes.c_int32
    library.pigment_client_delete_collection.argtypes = [ctypes.c_void_p, ctypes.POINTER(Scope), ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_describe.restype = ctypes.c_int32
    library.pigment_collection_describe.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_modify.restype = ctypes.c_int32
    library.pigment_collection_modify.argtypes = [ctypes.c_void_p, ctypes.POINTER(ModifyOptions), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_fork.restype = ctypes.c_int32
    library.pigment_collection_fork.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_flush.restype = ctypes.c_int32
    library.pigment_collection_flush.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_flush_with.restype = ctypes.c_int32
    library.pigment_collection_flush_with.argtypes = [ctypes.c_void_p, ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_segments.restype = ctypes.c_int32
    library.pigment_collection_segments.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_compact.restype = ctypes.c_int32
    library.pigment_collection_compact.argtypes = [ctypes.c_void_p, ctypes.POINTER(CallOptions), ctypes.POINTER(Compaction), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_free.restype = None
    library.pigment_collection_free.argtypes = [ctypes.c_void_p]
    library.pigment_collection_add.restype = ctypes.c_int32
    library.pigment_collection_add.argtypes = [ctypes.c_void_p, ctypes.POINTER(Records), ctypes.POINTER(CallOptions), ctypes.POINTER(WriteResult), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_update.restype = ctypes.c_int32
    library.pigment_collection_update.argtypes = [ctypes.c_void_p, ctypes.POINTER(Records), ctypes.POINTER(CallOptions), ctypes.POINTER(WriteResult), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_upsert.restype = ctypes.c_int32
    library.pigment_collection_upsert.argtypes = [ctypes.c_void_p, ctypes.POINTER(Records), ctypes.POINTER(CallOptions), ctypes.POINTER(WriteResult), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_delete.restype = ctypes.c_int32
    library.pigment_collection_delete.argtypes = [ctypes.c_void_p, ctypes.POINTER(DeleteRequest), ctypes.POINTER(CallOptions), ctypes.POINTER(WriteResult), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_get.restype = ctypes.c_int32
    library.pigment_collection_get.argtypes = [ctypes.c_void_p, ctypes.POINTER(GetRequest), ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_peek.restype = ctypes.c_int32
    library.pigment_collection_peek.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_count.restype = ctypes.c_int32
    library.pigment_collection_count.argtypes = [ctypes.c_void_p, ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_count_where.restype = ctypes.c_int32
    library.pigment_collection_count_where.argtypes = [ctypes.c_void_p, ctypes.POINTER(CountRequest), ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_facets.restype = ctypes.c_int32
    library.pigment_collection_facets.argtypes = [ctypes.c_void_p, ctypes.POINTER(FacetsRequest), ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_contains.restype = ctypes.c_int32
    library.pigment_collection_contains.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(TextColumn), ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_uint8), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_query_request_init.restype = None
    library.pigment_query_request_init.argtypes = [ctypes.POINTER(QueryRequest)]
    library.pigment_collection_query.restype = ctypes.c_int32
    library.pigment_collection_query.argtypes = [ctypes.c_void_p, ctypes.POINTER(QueryRequest), ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_text_search_request_init.restype = None
    library.pigment_text_search_request_init.argtypes = [ctypes.POINTER(TextSearchRequest)]
    library.pigment_collection_search_text.restype = ctypes.c_int32
    library.pigment_collection_search_text.argtypes = [ctypes.c_void_p, ctypes.POINTER(TextSearchRequest), ctypes.POINTER(CallOptions), ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_result_query_count.restype = ctypes.c_uint64
    library.pigment_result_query_count.argtypes = [ctypes.c_void_p]
    library.pigment_result_row_count.restype = ctypes.c_uint64
    library.pigment_result_row_count.argtypes = [ctypes.c_void_p]
    library.pigment_result_query_offsets.restype = ctypes.POINTER(ctypes.c_uint64)
    library.pigment_result_query_offsets.argtypes = [ctypes.c_void_p]
    library.pigment_result_ids.restype = ctypes.c_bool
    library.pigment_result_ids.argtypes = [ctypes.c_void_p, ctypes.POINTER(TextColumn)]
    library.pigment_result_documents.restype = ctypes.c_bool
    library.pigment_result_documents.argtypes = [ctypes.c_void_p, ctypes.POINTER(TextColumn)]
    library.pigment_result_metadatas.restype = ctypes.c_bool
    library.pigment_result_metadatas.argtypes = [ctypes.c_void_p, ctypes.POINTER(TextColumn)]
    library.pigment_result_uris.restype = ctypes.c_bool
    library.pigment_result_uris.argtypes = [ctypes.c_void_p, ctypes.POINTER(TextColumn)]
    library.pigment_result_distances.restype = ctypes.POINTER(ctypes.c_float)
    library.pigment_result_distances.argtypes = [ctypes.c_void_p]
    library.pigment_result_embeddings.restype = ctypes.POINTER(ctypes.c_float)
    library.pigment_result_embeddings.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]
    library.pigment_result_scores.restype = ctypes.POINTER(ctypes.c_float)
    library.pigment_result_scores.argtypes = [ctypes.c_void_p]
    library.pigment_result_highlights.restype = ctypes.c_bool
    library.pigment_result_highlights.argtypes = [ctypes.c_void_p, ctypes.POINTER(TextColumn)]
    library.pigment_result_included.restype = ctypes.c_int32
    library.pigment_result_included.argtypes = [ctypes.c_void_p]
    library.pigment_result_position.restype = ctypes.c_uint64
    library.pigment_result_position.argtypes = [ctypes.c_void_p]
    library.pigment_result_explain.restype = ctypes.c_char_p
    library.pigment_result_explain.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]
    library.pigment_result_cursor.restype = ctypes.c_char_p
    library.pigment_result_cursor.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)]
    library.pigment_result_free.restype = None
    library.pigment_result_free.argtypes = [ctypes.c_void_p]
    library.pigment_result_arrow_stream.restype = ctypes.c_int32
    library.pigment_result_arrow_stream.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_add_arrow.restype = ctypes.c_int32
    library.pigment_collection_add_arrow.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(CallOptions), ctypes.POINTER(WriteResult), ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_update_arrow.restype = ctypes.c_int32
    library.pigment_collection_update_arrow.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(CallOptions), ctypes.POINTER(WriteResult), ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)]
    library.pigment_collection_upsert_arrow.restype = ctypes.c_int32
    library.pigment_collection_upsert_arrow.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(CallOptions), ctypes.POINTER(WriteResult), ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)]
