// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h. Do not edit.

package io.pigment;

/** Numbers of pigment.h: its version, and sizes and offsets of its structs in bytes, where addresses and size_t have eight. */
final class Structs {
  static final int ABI_VERSION = 1;
  static final String VERSION = "0.2.0";
  static final int INCLUDE_DEFAULT = 0;
  static final int INCLUDE_NOTHING = 32;

  private Structs() {}

  /** pigment_text_column. */
  static final class TextColumn {
    private TextColumn() {}

    static final long SIZE = 24;
    static final long OFFSETS = 0;
    static final long BYTES = 8;
    static final long VALIDITY = 16;
  }

  /** pigment_vectors. */
  static final class Vectors {
    private Vectors() {}

    static final long SIZE = 40;
    static final long DATA = 0;
    static final long ROWS = 8;
    static final long DIMENSION = 16;
    static final long ROW_STRIDE_BYTES = 24;
    static final long DTYPE = 32;
  }

  /** pigment_progress. */
  static final class Progress {
    private Progress() {}

    static final long SIZE = 40;
    static final long STRUCT_SIZE = 0;
    static final long PHASE = 8;
    static final long UNIT = 16;
    static final long DONE = 24;
    static final long TOTAL = 32;
  }

  /** pigment_call_options. */
  static final class CallOptions {
    private CallOptions() {}

    static final long SIZE = 32;
    static final long STRUCT_SIZE = 0;
    static final long CANCEL = 8;
    static final long DEADLINE_NS = 16;
    static final long MIN_POSITION = 24;
  }

  /** pigment_embedding_function. */
  static final class EmbeddingFunction {
    private EmbeddingFunction() {}

    static final long SIZE = 80;
    static final long STRUCT_SIZE = 0;
    static final long NAME = 8;
    static final long NAME_SIZE = 16;
    static final long CONFIG_JSON = 24;
    static final long CONFIG_JSON_SIZE = 32;
    static final long SPACE = 40;
    static final long SPACE_SIZE = 48;
    static final long EMBED = 56;
    static final long RELEASE = 64;
    static final long USER_DATA = 72;
  }

  /** pigment_tracing. */
  static final class Tracing {
    private Tracing() {}

    static final long SIZE = 40;
    static final long STRUCT_SIZE = 0;
    static final long KINDS = 8;
    static final long BEGIN = 16;
    static final long END = 24;
    static final long USER_DATA = 32;
  }

  /** pigment_open_options. */
  static final class OpenOptions {
    private OpenOptions() {}

    static final long SIZE = 64;
    static final long STRUCT_SIZE = 0;
    static final long SYNC_MODE = 8;
    static final long SYNC_INTERVAL_MS = 12;
    static final long MEMORY_BUDGET_BYTES = 16;
    static final long FLUSH_ROWS_MAX = 24;
    static final long FLUSH_BYTES_MAX = 32;
    static final long READ_ONLY = 40;
    static final long MUST_EXIST = 41;
    static final long RESERVE_BYTES = 48;
    static final long BACKGROUND_THREADS = 56;
    static final long ERASE_LOG = 60;
    static final long MAP_FILES = 61;
  }

  /** pigment_compaction. */
  static final class Compaction {
    private Compaction() {}

    static final long SIZE = 48;
    static final long STRUCT_SIZE = 0;
    static final long RECORDS = 8;
    static final long SEGMENTS_IN = 16;
    static final long SEGMENTS_OUT = 24;
    static final long BYTES_BEFORE = 32;
    static final long BYTES_AFTER = 40;
  }

  /** pigment_scope. */
  static final class Scope {
    private Scope() {}

    static final long SIZE = 40;
    static final long STRUCT_SIZE = 0;
    static final long TENANT = 8;
    static final long TENANT_SIZE = 16;
    static final long DATABASE = 24;
    static final long DATABASE_SIZE = 32;
  }

  /** pigment_collection_options. */
  static final class CollectionOptions {
    private CollectionOptions() {}

    static final long SIZE = 72;
    static final long STRUCT_SIZE = 0;
    static final long METADATA_JSON = 8;
    static final long METADATA_JSON_SIZE = 16;
    static final long CONFIGURATION_JSON = 24;
    static final long CONFIGURATION_JSON_SIZE = 32;
    static final long EMBEDDING_FUNCTION = 40;
    static final long GET_OR_CREATE = 48;
    static final long SCHEMA_JSON = 56;
    static final long SCHEMA_JSON_SIZE = 64;
  }

  /** pigment_modify_options. */
  static final class ModifyOptions {
    private ModifyOptions() {}

    static final long SIZE = 56;
    static final long STRUCT_SIZE = 0;
    static final long NAME = 8;
    static final long NAME_SIZE = 16;
    static final long METADATA_JSON = 24;
    static final long METADATA_JSON_SIZE = 32;
    static final long CONFIGURATION_JSON = 40;
    static final long CONFIGURATION_JSON_SIZE = 48;
  }

  /** pigment_records. */
  static final class Records {
    private Records() {}

    static final long SIZE = 152;
    static final long STRUCT_SIZE = 0;
    static final long COUNT = 8;
    static final long IDS = 16;
    static final long EMBEDDINGS = 40;
    static final long DOCUMENTS = 80;
    static final long METADATAS = 104;
    static final long URIS = 128;
  }

  /** pigment_write_result. */
  static final class WriteResult {
    private WriteResult() {}

    static final long SIZE = 48;
    static final long STRUCT_SIZE = 0;
    static final long INSERTED = 8;
    static final long UPDATED = 16;
    static final long SKIPPED = 24;
    static final long DELETED = 32;
    static final long POSITION = 40;
  }

  /** pigment_delete_request. */
  static final class DeleteRequest {
    private DeleteRequest() {}

    static final long SIZE = 88;
    static final long STRUCT_SIZE = 0;
    static final long IDS_COUNT = 8;
    static final long IDS = 16;
    static final long WHERE_JSON = 40;
    static final long WHERE_JSON_SIZE = 48;
    static final long WHERE_DOCUMENT_JSON = 56;
    static final long WHERE_DOCUMENT_JSON_SIZE = 64;
    static final long HAS_LIMIT = 72;
    static final long LIMIT = 80;
  }

  /** pigment_get_request. */
  static final class GetRequest {
    private GetRequest() {}

    static final long SIZE = 136;
    static final long STRUCT_SIZE = 0;
    static final long IDS_COUNT = 8;
    static final long IDS = 16;
    static final long WHERE_JSON = 40;
    static final long WHERE_JSON_SIZE = 48;
    static final long WHERE_DOCUMENT_JSON = 56;
    static final long WHERE_DOCUMENT_JSON_SIZE = 64;
    static final long HAS_LIMIT = 72;
    static final long LIMIT = 80;
    static final long OFFSET = 88;
    static final long INCLUDE = 96;
    static final long EXPLAIN = 100;
    static final long ORDER_BY_JSON = 104;
    static final long ORDER_BY_JSON_SIZE = 112;
    static final long CURSOR = 120;
    static final long CURSOR_SIZE = 128;
  }

  /** pigment_count_request. */
  static final class CountRequest {
    private CountRequest() {}

    static final long SIZE = 72;
    static final long STRUCT_SIZE = 0;
    static final long IDS_COUNT = 8;
    static final long IDS = 16;
    static final long WHERE_JSON = 40;
    static final long WHERE_JSON_SIZE = 48;
    static final long WHERE_DOCUMENT_JSON = 56;
    static final long WHERE_DOCUMENT_JSON_SIZE = 64;
  }

  /** pigment_facets_request. */
  static final class FacetsRequest {
    private FacetsRequest() {}

    static final long SIZE = 120;
    static final long STRUCT_SIZE = 0;
    static final long KEYS_COUNT = 8;
    static final long KEYS = 16;
    static final long IDS_COUNT = 40;
    static final long IDS = 48;
    static final long WHERE_JSON = 72;
    static final long WHERE_JSON_SIZE = 80;
    static final long WHERE_DOCUMENT_JSON = 88;
    static final long WHERE_DOCUMENT_JSON_SIZE = 96;
    static final long HAS_LIMIT = 104;
    static final long LIMIT = 112;
  }

  /** pigment_query_request. */
  static final class QueryRequest {
    private QueryRequest() {}

    static final long SIZE = 200;
    static final long STRUCT_SIZE = 0;
    static final long EMBEDDINGS = 8;
    static final long TEXTS_COUNT = 48;
    static final long TEXTS = 56;
    static final long N_RESULTS = 80;
    static final long IDS_COUNT = 88;
    static final long IDS = 96;
    static final long WHERE_JSON = 120;
    static final long WHERE_JSON_SIZE = 128;
    static final long WHERE_DOCUMENT_JSON = 136;
    static final long WHERE_DOCUMENT_JSON_SIZE = 144;
    static final long INCLUDE = 152;
    static final long EXPLAIN = 156;
    static final long RECALL = 160;
    static final long SEARCH_WIDTH = 168;
    static final long HAS_MAX_DISTANCE = 176;
    static final long MAX_DISTANCE = 184;
    static final long THREADS = 192;
  }

  /** pigment_text_search_request. */
  static final class TextSearchRequest {
    private TextSearchRequest() {}

    static final long SIZE = 128;
    static final long STRUCT_SIZE = 0;
    static final long QUERIES_COUNT = 8;
    static final long QUERIES = 16;
    static final long N_RESULTS = 40;
    static final long IDS_COUNT = 48;
    static final long IDS = 56;
    static final long WHERE_JSON = 80;
    static final long WHERE_JSON_SIZE = 88;
    static final long WHERE_DOCUMENT_JSON = 96;
    static final long WHERE_DOCUMENT_JSON_SIZE = 104;
    static final long OPERATOR = 112;
    static final long INCLUDE = 116;
    static final long HIGHLIGHTS = 120;
    static final long EXPLAIN = 121;
  }
}
