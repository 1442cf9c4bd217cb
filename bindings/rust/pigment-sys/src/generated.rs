// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h.

use core::ffi::{c_char, c_void};

/// A code of `PIGMENT_OK` … `PIGMENT_UNPROCESSABLE_ENTITY`.
pub type pigment_status = i32;

pub const PIGMENT_ABI_VERSION: i32 = 1;

pub const PIGMENT_OK: pigment_status = 0;
pub const PIGMENT_CANCELLED: pigment_status = 1;
pub const PIGMENT_UNKNOWN: pigment_status = 2;
pub const PIGMENT_INVALID_ARGUMENT: pigment_status = 3;
pub const PIGMENT_DEADLINE_EXCEEDED: pigment_status = 4;
pub const PIGMENT_NOT_FOUND: pigment_status = 5;
pub const PIGMENT_ALREADY_EXISTS: pigment_status = 6;
pub const PIGMENT_PERMISSION_DENIED: pigment_status = 7;
pub const PIGMENT_RESOURCE_EXHAUSTED: pigment_status = 8;
pub const PIGMENT_FAILED_PRECONDITION: pigment_status = 9;
pub const PIGMENT_ABORTED: pigment_status = 10;
pub const PIGMENT_OUT_OF_RANGE: pigment_status = 11;
pub const PIGMENT_UNIMPLEMENTED: pigment_status = 12;
pub const PIGMENT_INTERNAL: pigment_status = 13;
pub const PIGMENT_UNAVAILABLE: pigment_status = 14;
pub const PIGMENT_DATA_LOSS: pigment_status = 15;
pub const PIGMENT_UNAUTHENTICATED: pigment_status = 16;
pub const PIGMENT_VERSION_MISMATCH: pigment_status = 17;
pub const PIGMENT_UNPROCESSABLE_ENTITY: pigment_status = 18;

pub const PIGMENT_DETAIL_NONE: i32 = 0;
pub const PIGMENT_DETAIL_MISSING: i32 = 1;
pub const PIGMENT_DETAIL_FOREIGN: i32 = 2;
pub const PIGMENT_DETAIL_WRONG_KIND: i32 = 3;
pub const PIGMENT_DETAIL_MISALIGNED: i32 = 4;
pub const PIGMENT_DETAIL_TRUNCATED: i32 = 5;
pub const PIGMENT_DETAIL_MISCOUNTED: i32 = 6;
pub const PIGMENT_DETAIL_CHECKSUM: i32 = 7;
pub const PIGMENT_DETAIL_CLOSED: i32 = 20;
pub const PIGMENT_DETAIL_LOCKED: i32 = 21;
pub const PIGMENT_DETAIL_FORKED: i32 = 22;
pub const PIGMENT_DETAIL_POISONED: i32 = 23;
pub const PIGMENT_DETAIL_READ_ONLY: i32 = 24;
pub const PIGMENT_DETAIL_STALE: i32 = 25;
pub const PIGMENT_DETAIL_NO_EMBEDDING_FUNCTION: i32 = 26;
pub const PIGMENT_DETAIL_DIMENSION: i32 = 40;
pub const PIGMENT_DETAIL_NOT_FINITE: i32 = 41;
pub const PIGMENT_DETAIL_DUPLICATE_ID: i32 = 42;
pub const PIGMENT_DETAIL_FILTER: i32 = 43;
pub const PIGMENT_DETAIL_NAME: i32 = 44;
pub const PIGMENT_DETAIL_METADATA: i32 = 45;
pub const PIGMENT_DETAIL_EMBEDDING_FUNCTION: i32 = 46;
pub const PIGMENT_DETAIL_DISK_FULL: i32 = 60;
pub const PIGMENT_DETAIL_MEMORY: i32 = 61;
pub const PIGMENT_DETAIL_LIMIT: i32 = 62;

pub const PIGMENT_FAULT_NONE: i32 = 0;
pub const PIGMENT_FAULT_CALLER: i32 = 1;
pub const PIGMENT_FAULT_ENVIRONMENT: i32 = 2;
pub const PIGMENT_FAULT_LIBRARY: i32 = 3;

pub const PIGMENT_F32: i32 = 0;
pub const PIGMENT_F16: i32 = 1;
pub const PIGMENT_F64: i32 = 2;
pub const PIGMENT_I32: i32 = 3;
pub const PIGMENT_I64: i32 = 4;

pub const PIGMENT_EMBED_DOCUMENT: i32 = 0;
pub const PIGMENT_EMBED_QUERY: i32 = 1;

pub const PIGMENT_SYNC_FULL: i32 = 0;
pub const PIGMENT_SYNC_INTERVAL: i32 = 1;
pub const PIGMENT_SYNC_OFF: i32 = 2;

pub const PIGMENT_SPAN_QUERY: i32 = 1;
pub const PIGMENT_SPAN_SEGMENT: i32 = 2;
pub const PIGMENT_SPAN_JOB: i32 = 4;

pub const PIGMENT_INCLUDE_DEFAULT: i32 = 0;
pub const PIGMENT_INCLUDE_DOCUMENTS: i32 = 1;
pub const PIGMENT_INCLUDE_METADATAS: i32 = 2;
pub const PIGMENT_INCLUDE_EMBEDDINGS: i32 = 4;
pub const PIGMENT_INCLUDE_URIS: i32 = 8;
pub const PIGMENT_INCLUDE_DISTANCES: i32 = 16;
pub const PIGMENT_INCLUDE_NOTHING: i32 = 32;

pub const PIGMENT_TEXT_ANY: i32 = 0;
pub const PIGMENT_TEXT_ALL: i32 = 1;

/// Opaque; only ever behind a pointer.
#[repr(C)]
pub struct pigment_error {
    _private: [u8; 0],
    _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
}

/// Opaque; only ever behind a pointer.
#[repr(C)]
pub struct pigment_buffer {
    _private: [u8; 0],
    _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
}

/// Opaque; only ever behind a pointer.
#[repr(C)]
pub struct pigment_cancel {
    _private: [u8; 0],
    _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
}

/// Opaque; only ever behind a pointer.
#[repr(C)]
pub struct pigment_embedding_sink {
    _private: [u8; 0],
    _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
}

/// Opaque; only ever behind a pointer.
#[repr(C)]
pub struct pigment_client {
    _private: [u8; 0],
    _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
}

/// Opaque; only ever behind a pointer.
#[repr(C)]
pub struct pigment_collection {
    _private: [u8; 0],
    _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
}

/// Opaque; only ever behind a pointer.
#[repr(C)]
pub struct pigment_result {
    _private: [u8; 0],
    _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
}

/// Opaque; only ever behind a pointer.
#[repr(C)]
pub struct ArrowSchema {
    _private: [u8; 0],
    _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
}

/// Opaque; only ever behind a pointer.
#[repr(C)]
pub struct ArrowArray {
    _private: [u8; 0],
    _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
}

/// Opaque; only ever behind a pointer.
#[repr(C)]
pub struct ArrowArrayStream {
    _private: [u8; 0],
    _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_text_column {
    pub offsets: *const i64,
    pub bytes: *const c_char,
    pub validity: *const u8,
}

impl pigment_text_column {
    /// All zero: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        unsafe { core::mem::zeroed() }
    }
}

impl Default for pigment_text_column {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_vectors {
    pub data: *const c_void,
    pub rows: usize,
    pub dimension: usize,
    pub row_stride_bytes: usize,
    pub dtype: i32,
}

impl pigment_vectors {
    /// All zero: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        unsafe { core::mem::zeroed() }
    }
}

impl Default for pigment_vectors {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_progress {
    pub struct_size: usize,
    pub phase: *const c_char,
    pub unit: *const c_char,
    pub done: u64,
    pub total: u64,
}

impl pigment_progress {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_progress {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_call_options {
    pub struct_size: usize,
    pub cancel: *const pigment_cancel,
    pub deadline_ns: i64,
    pub min_position: u64,
}

impl pigment_call_options {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_call_options {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_embedding_function {
    pub struct_size: usize,
    pub name: *const c_char,
    pub name_size: usize,
    pub config_json: *const c_char,
    pub config_json_size: usize,
    pub space: *const c_char,
    pub space_size: usize,
    pub embed: Option<unsafe extern "C" fn(user_data: *mut c_void, purpose: i32, count: usize, texts: *const pigment_text_column, sink: *mut pigment_embedding_sink) -> pigment_status>,
    pub release: Option<unsafe extern "C" fn(user_data: *mut c_void)>,
    pub user_data: *mut c_void,
}

impl pigment_embedding_function {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_embedding_function {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_tracing {
    pub struct_size: usize,
    pub kinds: i32,
    pub begin: Option<unsafe extern "C" fn(user_data: *mut c_void, span: u64, parent: u64, kind: i32, name: *const c_char, collection_id: *const c_char)>,
    pub end: Option<unsafe extern "C" fn(user_data: *mut c_void, span: u64, status: pigment_status, count: usize, keys: *const *const c_char, values: *const i64)>,
    pub user_data: *mut c_void,
}

impl pigment_tracing {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_tracing {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_open_options {
    pub struct_size: usize,
    pub sync_mode: i32,
    pub sync_interval_ms: u32,
    pub memory_budget_bytes: u64,
    pub flush_rows_max: u32,
    pub flush_bytes_max: u64,
    pub read_only: bool,
    pub must_exist: bool,
    pub reserve_bytes: u64,
    pub background_threads: i32,
    pub erase_log: bool,
    pub map_files: bool,
}

impl pigment_open_options {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_open_options {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_compaction {
    pub struct_size: usize,
    pub records: u64,
    pub segments_in: u64,
    pub segments_out: u64,
    pub bytes_before: u64,
    pub bytes_after: u64,
}

impl pigment_compaction {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_compaction {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_scope {
    pub struct_size: usize,
    pub tenant: *const c_char,
    pub tenant_size: usize,
    pub database: *const c_char,
    pub database_size: usize,
}

impl pigment_scope {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_scope {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_collection_options {
    pub struct_size: usize,
    pub metadata_json: *const c_char,
    pub metadata_json_size: usize,
    pub configuration_json: *const c_char,
    pub configuration_json_size: usize,
    pub embedding_function: *const pigment_embedding_function,
    pub get_or_create: bool,
    pub schema_json: *const c_char,
    pub schema_json_size: usize,
}

impl pigment_collection_options {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_collection_options {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_modify_options {
    pub struct_size: usize,
    pub name: *const c_char,
    pub name_size: usize,
    pub metadata_json: *const c_char,
    pub metadata_json_size: usize,
    pub configuration_json: *const c_char,
    pub configuration_json_size: usize,
}

impl pigment_modify_options {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_modify_options {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_records {
    pub struct_size: usize,
    pub count: usize,
    pub ids: pigment_text_column,
    pub embeddings: pigment_vectors,
    pub documents: pigment_text_column,
    pub metadatas: pigment_text_column,
    pub uris: pigment_text_column,
}

impl pigment_records {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_records {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_write_result {
    pub struct_size: usize,
    pub inserted: u64,
    pub updated: u64,
    pub skipped: u64,
    pub deleted: u64,
    pub position: u64,
}

impl pigment_write_result {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_write_result {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_delete_request {
    pub struct_size: usize,
    pub ids_count: usize,
    pub ids: pigment_text_column,
    pub where_json: *const c_char,
    pub where_json_size: usize,
    pub where_document_json: *const c_char,
    pub where_document_json_size: usize,
    pub has_limit: bool,
    pub limit: i64,
}

impl pigment_delete_request {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_delete_request {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_get_request {
    pub struct_size: usize,
    pub ids_count: usize,
    pub ids: pigment_text_column,
    pub where_json: *const c_char,
    pub where_json_size: usize,
    pub where_document_json: *const c_char,
    pub where_document_json_size: usize,
    pub has_limit: bool,
    pub limit: i64,
    pub offset: i64,
    pub include: i32,
    pub explain: bool,
    pub order_by_json: *const c_char,
    pub order_by_json_size: usize,
    pub cursor: *const c_char,
    pub cursor_size: usize,
}

impl pigment_get_request {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_get_request {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_count_request {
    pub struct_size: usize,
    pub ids_count: usize,
    pub ids: pigment_text_column,
    pub where_json: *const c_char,
    pub where_json_size: usize,
    pub where_document_json: *const c_char,
    pub where_document_json_size: usize,
}

impl pigment_count_request {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_count_request {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_facets_request {
    pub struct_size: usize,
    pub keys_count: usize,
    pub keys: pigment_text_column,
    pub ids_count: usize,
    pub ids: pigment_text_column,
    pub where_json: *const c_char,
    pub where_json_size: usize,
    pub where_document_json: *const c_char,
    pub where_document_json_size: usize,
    pub has_limit: bool,
    pub limit: i64,
}

impl pigment_facets_request {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_facets_request {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_query_request {
    pub struct_size: usize,
    pub embeddings: pigment_vectors,
    pub texts_count: usize,
    pub texts: pigment_text_column,
    pub n_results: i64,
    pub ids_count: usize,
    pub ids: pigment_text_column,
    pub where_json: *const c_char,
    pub where_json_size: usize,
    pub where_document_json: *const c_char,
    pub where_document_json_size: usize,
    pub include: i32,
    pub explain: bool,
    pub recall: f64,
    pub search_width: i64,
    pub has_max_distance: bool,
    pub max_distance: f64,
    pub threads: i32,
}

impl pigment_query_request {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_query_request {
    fn default() -> Self {
        Self::new()
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct pigment_text_search_request {
    pub struct_size: usize,
    pub queries_count: usize,
    pub queries: pigment_text_column,
    pub n_results: i64,
    pub ids_count: usize,
    pub ids: pigment_text_column,
    pub where_json: *const c_char,
    pub where_json_size: usize,
    pub where_document_json: *const c_char,
    pub where_document_json_size: usize,
    pub operator_: i32,
    pub include: i32,
    pub highlights: bool,
    pub explain: bool,
}

impl pigment_text_search_request {
    /// All zero, with its size: every default.
    #[must_use]
    pub const fn new() -> Self {
        // SAFETY: null pointers, absent functions, zero and false are values of all its fields.
        let mut value: Self = unsafe { core::mem::zeroed() };
        value.struct_size = core::mem::size_of::<Self>();
        value
    }
}

impl Default for pigment_text_search_request {
    fn default() -> Self {
        Self::new()
    }
}

extern "C" {
    pub fn pigment_abi_version() -> i32;
    pub fn pigment_version() -> *const c_char;
    pub fn pigment_build_info() -> *const c_char;
    pub fn pigment_status_name(status: pigment_status) -> *const c_char;
    pub fn pigment_status_sqlstate(status: pigment_status) -> *const c_char;
    pub fn pigment_status_retryable(status: pigment_status) -> bool;
    pub fn pigment_status_fault(status: pigment_status) -> i32;
    pub fn pigment_error_status(error: *const pigment_error) -> pigment_status;
    pub fn pigment_error_detail(error: *const pigment_error) -> i32;
    pub fn pigment_error_message(error: *const pigment_error) -> *const c_char;
    pub fn pigment_error_hint(error: *const pigment_error) -> *const c_char;
    pub fn pigment_error_row(error: *const pigment_error) -> i64;
    pub fn pigment_error_file(error: *const pigment_error) -> *const c_char;
    pub fn pigment_error_offset(error: *const pigment_error) -> i64;
    pub fn pigment_error_free(error: *mut pigment_error);
    pub fn pigment_buffer_data(buffer: *const pigment_buffer, size: *mut usize) -> *const c_char;
    pub fn pigment_buffer_free(buffer: *mut pigment_buffer);
    #[must_use]
    pub fn pigment_limits(json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_cancel_new(cancel: *mut *mut pigment_cancel, error: *mut *mut pigment_error) -> pigment_status;
    pub fn pigment_cancel_set(cancel: *mut pigment_cancel);
    pub fn pigment_cancel_is_set(cancel: *const pigment_cancel) -> bool;
    pub fn pigment_cancel_free(cancel: *mut pigment_cancel);
    #[must_use]
    pub fn pigment_cancel_progress(cancel: *const pigment_cancel, progress: *mut pigment_progress, error: *mut *mut pigment_error) -> pigment_status;
    pub fn pigment_now_ns() -> i64;
    pub fn pigment_call_options_init(options: *mut pigment_call_options);
    #[must_use]
    pub fn pigment_embedding_sink_put(sink: *mut pigment_embedding_sink, values: *const f32, rows: usize, dimension: usize) -> pigment_status;
    pub fn pigment_embedding_sink_fail(sink: *mut pigment_embedding_sink, message: *const c_char, message_size: usize);
    #[must_use]
    pub fn pigment_embed_lexical(count: usize, texts: *const pigment_text_column, dimension: usize, values: *mut f32, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_embedding_function_lexical(dimension: usize, function: *mut pigment_embedding_function, error: *mut *mut pigment_error) -> pigment_status;
    pub fn pigment_open_options_init(options: *mut pigment_open_options);
    #[must_use]
    pub fn pigment_client_open(path: *const c_char, path_size: usize, options: *const pigment_open_options, client: *mut *mut pigment_client, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_open_traced(path: *const c_char, path_size: usize, options: *const pigment_open_options, tracing: *const pigment_tracing, client: *mut *mut pigment_client, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_close(client: *mut pigment_client, error: *mut *mut pigment_error) -> pigment_status;
    pub fn pigment_client_free(client: *mut pigment_client);
    #[must_use]
    pub fn pigment_client_flush(client: *mut pigment_client, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_flush_with(client: *mut pigment_client, options: *const pigment_call_options, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_compact(client: *mut pigment_client, options: *const pigment_call_options, result: *mut pigment_compaction, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_statistics(client: *mut pigment_client, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_backup(client: *mut pigment_client, path: *const c_char, path_size: usize, options: *const pigment_call_options, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_check(client: *mut pigment_client, full: bool, options: *const pigment_call_options, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_check(path: *const c_char, path_size: usize, full: bool, options: *const pigment_call_options, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_repair(from: *const c_char, from_size: usize, to: *const c_char, to_size: usize, options: *const pigment_call_options, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_position(client: *mut pigment_client, position: *mut u64, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_refresh(client: *mut pigment_client, position: *mut u64, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_create_tenant(client: *mut pigment_client, name: *const c_char, name_size: usize, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_get_tenant(client: *mut pigment_client, name: *const c_char, name_size: usize, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_list_tenants(client: *mut pigment_client, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_delete_tenant(client: *mut pigment_client, name: *const c_char, name_size: usize, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_create_database(client: *mut pigment_client, tenant: *const c_char, tenant_size: usize, name: *const c_char, name_size: usize, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_get_database(client: *mut pigment_client, tenant: *const c_char, tenant_size: usize, name: *const c_char, name_size: usize, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_list_databases(client: *mut pigment_client, tenant: *const c_char, tenant_size: usize, limit: i64, offset: i64, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_delete_database(client: *mut pigment_client, tenant: *const c_char, tenant_size: usize, name: *const c_char, name_size: usize, error: *mut *mut pigment_error) -> pigment_status;
    pub fn pigment_collection_options_init(options: *mut pigment_collection_options);
    #[must_use]
    pub fn pigment_client_create_collection(client: *mut pigment_client, scope: *const pigment_scope, name: *const c_char, name_size: usize, options: *const pigment_collection_options, collection: *mut *mut pigment_collection, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_get_collection(client: *mut pigment_client, scope: *const pigment_scope, name: *const c_char, name_size: usize, function: *const pigment_embedding_function, collection: *mut *mut pigment_collection, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_get_collection_by_id(client: *mut pigment_client, id: *const c_char, id_size: usize, function: *const pigment_embedding_function, collection: *mut *mut pigment_collection, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_list_collections(client: *mut pigment_client, scope: *const pigment_scope, limit: i64, offset: i64, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_count_collections(client: *mut pigment_client, scope: *const pigment_scope, count: *mut u64, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_client_delete_collection(client: *mut pigment_client, scope: *const pigment_scope, name: *const c_char, name_size: usize, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_describe(collection: *mut pigment_collection, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_modify(collection: *mut pigment_collection, options: *const pigment_modify_options, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_fork(collection: *mut pigment_collection, new_name: *const c_char, new_name_size: usize, fork: *mut *mut pigment_collection, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_flush(collection: *mut pigment_collection, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_flush_with(collection: *mut pigment_collection, options: *const pigment_call_options, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_segments(collection: *mut pigment_collection, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_compact(collection: *mut pigment_collection, options: *const pigment_call_options, result: *mut pigment_compaction, error: *mut *mut pigment_error) -> pigment_status;
    pub fn pigment_collection_free(collection: *mut pigment_collection);
    #[must_use]
    pub fn pigment_collection_add(collection: *mut pigment_collection, records: *const pigment_records, options: *const pigment_call_options, result: *mut pigment_write_result, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_update(collection: *mut pigment_collection, records: *const pigment_records, options: *const pigment_call_options, result: *mut pigment_write_result, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_upsert(collection: *mut pigment_collection, records: *const pigment_records, options: *const pigment_call_options, result: *mut pigment_write_result, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_delete(collection: *mut pigment_collection, request: *const pigment_delete_request, options: *const pigment_call_options, result: *mut pigment_write_result, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_get(collection: *mut pigment_collection, request: *const pigment_get_request, options: *const pigment_call_options, result: *mut *mut pigment_result, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_peek(collection: *mut pigment_collection, limit: i64, options: *const pigment_call_options, result: *mut *mut pigment_result, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_count(collection: *mut pigment_collection, options: *const pigment_call_options, count: *mut u64, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_count_where(collection: *mut pigment_collection, request: *const pigment_count_request, options: *const pigment_call_options, count: *mut u64, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_facets(collection: *mut pigment_collection, request: *const pigment_facets_request, options: *const pigment_call_options, json: *mut *mut pigment_buffer, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_contains(collection: *mut pigment_collection, count: usize, ids: *const pigment_text_column, options: *const pigment_call_options, present: *mut u8, error: *mut *mut pigment_error) -> pigment_status;
    pub fn pigment_query_request_init(request: *mut pigment_query_request);
    #[must_use]
    pub fn pigment_collection_query(collection: *mut pigment_collection, request: *const pigment_query_request, options: *const pigment_call_options, result: *mut *mut pigment_result, error: *mut *mut pigment_error) -> pigment_status;
    pub fn pigment_text_search_request_init(request: *mut pigment_text_search_request);
    #[must_use]
    pub fn pigment_collection_search_text(collection: *mut pigment_collection, request: *const pigment_text_search_request, options: *const pigment_call_options, result: *mut *mut pigment_result, error: *mut *mut pigment_error) -> pigment_status;
    pub fn pigment_result_query_count(result: *const pigment_result) -> u64;
    pub fn pigment_result_row_count(result: *const pigment_result) -> u64;
    pub fn pigment_result_query_offsets(result: *const pigment_result) -> *const u64;
    pub fn pigment_result_ids(result: *const pigment_result, column: *mut pigment_text_column) -> bool;
    pub fn pigment_result_documents(result: *const pigment_result, column: *mut pigment_text_column) -> bool;
    pub fn pigment_result_metadatas(result: *const pigment_result, column: *mut pigment_text_column) -> bool;
    pub fn pigment_result_uris(result: *const pigment_result, column: *mut pigment_text_column) -> bool;
    pub fn pigment_result_distances(result: *const pigment_result) -> *const f32;
    pub fn pigment_result_embeddings(result: *const pigment_result, dimension: *mut usize) -> *const f32;
    pub fn pigment_result_scores(result: *const pigment_result) -> *const f32;
    pub fn pigment_result_highlights(result: *const pigment_result, column: *mut pigment_text_column) -> bool;
    pub fn pigment_result_included(result: *const pigment_result) -> i32;
    pub fn pigment_result_position(result: *const pigment_result) -> u64;
    pub fn pigment_result_explain(result: *const pigment_result, size: *mut usize) -> *const c_char;
    pub fn pigment_result_cursor(result: *const pigment_result, size: *mut usize) -> *const c_char;
    pub fn pigment_result_free(result: *mut pigment_result);
    #[must_use]
    pub fn pigment_result_arrow_stream(result: *const pigment_result, stream: *mut ArrowArrayStream, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_add_arrow(collection: *mut pigment_collection, stream: *mut ArrowArrayStream, options: *const pigment_call_options, result: *mut pigment_write_result, batches: *mut u64, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_update_arrow(collection: *mut pigment_collection, stream: *mut ArrowArrayStream, options: *const pigment_call_options, result: *mut pigment_write_result, batches: *mut u64, error: *mut *mut pigment_error) -> pigment_status;
    #[must_use]
    pub fn pigment_collection_upsert_arrow(collection: *mut pigment_collection, stream: *mut ArrowArrayStream, options: *const pigment_call_options, result: *mut pigment_write_result, batches: *mut u64, error: *mut *mut pigment_error) -> pigment_status;
}

/// How a struct lies in memory: its name, its size, its fields with their offsets.
pub struct Layout {
    pub name: &'static str,
    pub size: usize,
    pub fields: &'static [(&'static str, usize)],
}

/// All structs.
pub const LAYOUTS: &[Layout] = &[
    Layout {
        name: "pigment_text_column",
        size: core::mem::size_of::<pigment_text_column>(),
        fields: &[
            ("offsets", core::mem::offset_of!(pigment_text_column, offsets)),
            ("bytes", core::mem::offset_of!(pigment_text_column, bytes)),
            ("validity", core::mem::offset_of!(pigment_text_column, validity)),
        ],
    },
    Layout {
        name: "pigment_vectors",
        size: core::mem::size_of::<pigment_vectors>(),
        fields: &[
            ("data", core::mem::offset_of!(pigment_vectors, data)),
            ("rows", core::mem::offset_of!(pigment_vectors, rows)),
            ("dimension", core::mem::offset_of!(pigment_vectors, dimension)),
            ("row_stride_bytes", core::mem::offset_of!(pigment_vectors, row_stride_bytes)),
            ("dtype", core::mem::offset_of!(pigment_vectors, dtype)),
        ],
    },
    Layout {
        name: "pigment_progress",
        size: core::mem::size_of::<pigment_progress>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_progress, struct_size)),
            ("phase", core::mem::offset_of!(pigment_progress, phase)),
            ("unit", core::mem::offset_of!(pigment_progress, unit)),
            ("done", core::mem::offset_of!(pigment_progress, done)),
            ("total", core::mem::offset_of!(pigment_progress, total)),
        ],
    },
    Layout {
        name: "pigment_call_options",
        size: core::mem::size_of::<pigment_call_options>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_call_options, struct_size)),
            ("cancel", core::mem::offset_of!(pigment_call_options, cancel)),
            ("deadline_ns", core::mem::offset_of!(pigment_call_options, deadline_ns)),
            ("min_position", core::mem::offset_of!(pigment_call_options, min_position)),
        ],
    },
    Layout {
        name: "pigment_embedding_function",
        size: core::mem::size_of::<pigment_embedding_function>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_embedding_function, struct_size)),
            ("name", core::mem::offset_of!(pigment_embedding_function, name)),
            ("name_size", core::mem::offset_of!(pigment_embedding_function, name_size)),
            ("config_json", core::mem::offset_of!(pigment_embedding_function, config_json)),
            ("config_json_size", core::mem::offset_of!(pigment_embedding_function, config_json_size)),
            ("space", core::mem::offset_of!(pigment_embedding_function, space)),
            ("space_size", core::mem::offset_of!(pigment_embedding_function, space_size)),
            ("embed", core::mem::offset_of!(pigment_embedding_function, embed)),
            ("release", core::mem::offset_of!(pigment_embedding_function, release)),
            ("user_data", core::mem::offset_of!(pigment_embedding_function, user_data)),
        ],
    },
    Layout {
        name: "pigment_tracing",
        size: core::mem::size_of::<pigment_tracing>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_tracing, struct_size)),
            ("kinds", core::mem::offset_of!(pigment_tracing, kinds)),
            ("begin", core::mem::offset_of!(pigment_tracing, begin)),
            ("end", core::mem::offset_of!(pigment_tracing, end)),
            ("user_data", core::mem::offset_of!(pigment_tracing, user_data)),
        ],
    },
    Layout {
        name: "pigment_open_options",
        size: core::mem::size_of::<pigment_open_options>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_open_options, struct_size)),
            ("sync_mode", core::mem::offset_of!(pigment_open_options, sync_mode)),
            ("sync_interval_ms", core::mem::offset_of!(pigment_open_options, sync_interval_ms)),
            ("memory_budget_bytes", core::mem::offset_of!(pigment_open_options, memory_budget_bytes)),
            ("flush_rows_max", core::mem::offset_of!(pigment_open_options, flush_rows_max)),
            ("flush_bytes_max", core::mem::offset_of!(pigment_open_options, flush_bytes_max)),
            ("read_only", core::mem::offset_of!(pigment_open_options, read_only)),
            ("must_exist", core::mem::offset_of!(pigment_open_options, must_exist)),
            ("reserve_bytes", core::mem::offset_of!(pigment_open_options, reserve_bytes)),
            ("background_threads", core::mem::offset_of!(pigment_open_options, background_threads)),
            ("erase_log", core::mem::offset_of!(pigment_open_options, erase_log)),
            ("map_files", core::mem::offset_of!(pigment_open_options, map_files)),
        ],
    },
    Layout {
        name: "pigment_compaction",
        size: core::mem::size_of::<pigment_compaction>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_compaction, struct_size)),
            ("records", core::mem::offset_of!(pigment_compaction, records)),
            ("segments_in", core::mem::offset_of!(pigment_compaction, segments_in)),
            ("segments_out", core::mem::offset_of!(pigment_compaction, segments_out)),
            ("bytes_before", core::mem::offset_of!(pigment_compaction, bytes_before)),
            ("bytes_after", core::mem::offset_of!(pigment_compaction, bytes_after)),
        ],
    },
    Layout {
        name: "pigment_scope",
        size: core::mem::size_of::<pigment_scope>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_scope, struct_size)),
            ("tenant", core::mem::offset_of!(pigment_scope, tenant)),
            ("tenant_size", core::mem::offset_of!(pigment_scope, tenant_size)),
            ("database", core::mem::offset_of!(pigment_scope, database)),
            ("database_size", core::mem::offset_of!(pigment_scope, database_size)),
        ],
    },
    Layout {
        name: "pigment_collection_options",
        size: core::mem::size_of::<pigment_collection_options>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_collection_options, struct_size)),
            ("metadata_json", core::mem::offset_of!(pigment_collection_options, metadata_json)),
            ("metadata_json_size", core::mem::offset_of!(pigment_collection_options, metadata_json_size)),
            ("configuration_json", core::mem::offset_of!(pigment_collection_options, configuration_json)),
            ("configuration_json_size", core::mem::offset_of!(pigment_collection_options, configuration_json_size)),
            ("embedding_function", core::mem::offset_of!(pigment_collection_options, embedding_function)),
            ("get_or_create", core::mem::offset_of!(pigment_collection_options, get_or_create)),
            ("schema_json", core::mem::offset_of!(pigment_collection_options, schema_json)),
            ("schema_json_size", core::mem::offset_of!(pigment_collection_options, schema_json_size)),
        ],
    },
    Layout {
        name: "pigment_modify_options",
        size: core::mem::size_of::<pigment_modify_options>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_modify_options, struct_size)),
            ("name", core::mem::offset_of!(pigment_modify_options, name)),
            ("name_size", core::mem::offset_of!(pigment_modify_options, name_size)),
            ("metadata_json", core::mem::offset_of!(pigment_modify_options, metadata_json)),
            ("metadata_json_size", core::mem::offset_of!(pigment_modify_options, metadata_json_size)),
            ("configuration_json", core::mem::offset_of!(pigment_modify_options, configuration_json)),
            ("configuration_json_size", core::mem::offset_of!(pigment_modify_options, configuration_json_size)),
        ],
    },
    Layout {
        name: "pigment_records",
        size: core::mem::size_of::<pigment_records>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_records, struct_size)),
            ("count", core::mem::offset_of!(pigment_records, count)),
            ("ids", core::mem::offset_of!(pigment_records, ids)),
            ("embeddings", core::mem::offset_of!(pigment_records, embeddings)),
            ("documents", core::mem::offset_of!(pigment_records, documents)),
            ("metadatas", core::mem::offset_of!(pigment_records, metadatas)),
            ("uris", core::mem::offset_of!(pigment_records, uris)),
        ],
    },
    Layout {
        name: "pigment_write_result",
        size: core::mem::size_of::<pigment_write_result>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_write_result, struct_size)),
            ("inserted", core::mem::offset_of!(pigment_write_result, inserted)),
            ("updated", core::mem::offset_of!(pigment_write_result, updated)),
            ("skipped", core::mem::offset_of!(pigment_write_result, skipped)),
            ("deleted", core::mem::offset_of!(pigment_write_result, deleted)),
            ("position", core::mem::offset_of!(pigment_write_result, position)),
        ],
    },
    Layout {
        name: "pigment_delete_request",
        size: core::mem::size_of::<pigment_delete_request>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_delete_request, struct_size)),
            ("ids_count", core::mem::offset_of!(pigment_delete_request, ids_count)),
            ("ids", core::mem::offset_of!(pigment_delete_request, ids)),
            ("where_json", core::mem::offset_of!(pigment_delete_request, where_json)),
            ("where_json_size", core::mem::offset_of!(pigment_delete_request, where_json_size)),
            ("where_document_json", core::mem::offset_of!(pigment_delete_request, where_document_json)),
            ("where_document_json_size", core::mem::offset_of!(pigment_delete_request, where_document_json_size)),
            ("has_limit", core::mem::offset_of!(pigment_delete_request, has_limit)),
            ("limit", core::mem::offset_of!(pigment_delete_request, limit)),
        ],
    },
    Layout {
        name: "pigment_get_request",
        size: core::mem::size_of::<pigment_get_request>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_get_request, struct_size)),
            ("ids_count", core::mem::offset_of!(pigment_get_request, ids_count)),
            ("ids", core::mem::offset_of!(pigment_get_request, ids)),
            ("where_json", core::mem::offset_of!(pigment_get_request, where_json)),
            ("where_json_size", core::mem::offset_of!(pigment_get_request, where_json_size)),
            ("where_document_json", core::mem::offset_of!(pigment_get_request, where_document_json)),
            ("where_document_json_size", core::mem::offset_of!(pigment_get_request, where_document_json_size)),
            ("has_limit", core::mem::offset_of!(pigment_get_request, has_limit)),
            ("limit", core::mem::offset_of!(pigment_get_request, limit)),
            ("offset", core::mem::offset_of!(pigment_get_request, offset)),
            ("include", core::mem::offset_of!(pigment_get_request, include)),
            ("explain", core::mem::offset_of!(pigment_get_request, explain)),
            ("order_by_json", core::mem::offset_of!(pigment_get_request, order_by_json)),
            ("order_by_json_size", core::mem::offset_of!(pigment_get_request, order_by_json_size)),
            ("cursor", core::mem::offset_of!(pigment_get_request, cursor)),
            ("cursor_size", core::mem::offset_of!(pigment_get_request, cursor_size)),
        ],
    },
    Layout {
        name: "pigment_count_request",
        size: core::mem::size_of::<pigment_count_request>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_count_request, struct_size)),
            ("ids_count", core::mem::offset_of!(pigment_count_request, ids_count)),
            ("ids", core::mem::offset_of!(pigment_count_request, ids)),
            ("where_json", core::mem::offset_of!(pigment_count_request, where_json)),
            ("where_json_size", core::mem::offset_of!(pigment_count_request, where_json_size)),
            ("where_document_json", core::mem::offset_of!(pigment_count_request, where_document_json)),
            ("where_document_json_size", core::mem::offset_of!(pigment_count_request, where_document_json_size)),
        ],
    },
    Layout {
        name: "pigment_facets_request",
        size: core::mem::size_of::<pigment_facets_request>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_facets_request, struct_size)),
            ("keys_count", core::mem::offset_of!(pigment_facets_request, keys_count)),
            ("keys", core::mem::offset_of!(pigment_facets_request, keys)),
            ("ids_count", core::mem::offset_of!(pigment_facets_request, ids_count)),
            ("ids", core::mem::offset_of!(pigment_facets_request, ids)),
            ("where_json", core::mem::offset_of!(pigment_facets_request, where_json)),
            ("where_json_size", core::mem::offset_of!(pigment_facets_request, where_json_size)),
            ("where_document_json", core::mem::offset_of!(pigment_facets_request, where_document_json)),
            ("where_document_json_size", core::mem::offset_of!(pigment_facets_request, where_document_json_size)),
            ("has_limit", core::mem::offset_of!(pigment_facets_request, has_limit)),
            ("limit", core::mem::offset_of!(pigment_facets_request, limit)),
        ],
    },
    Layout {
        name: "pigment_query_request",
        size: core::mem::size_of::<pigment_query_request>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_query_request, struct_size)),
            ("embeddings", core::mem::offset_of!(pigment_query_request, embeddings)),
            ("texts_count", core::mem::offset_of!(pigment_query_request, texts_count)),
            ("texts", core::mem::offset_of!(pigment_query_request, texts)),
            ("n_results", core::mem::offset_of!(pigment_query_request, n_results)),
            ("ids_count", core::mem::offset_of!(pigment_query_request, ids_count)),
            ("ids", core::mem::offset_of!(pigment_query_request, ids)),
            ("where_json", core::mem::offset_of!(pigment_query_request, where_json)),
            ("where_json_size", core::mem::offset_of!(pigment_query_request, where_json_size)),
            ("where_document_json", core::mem::offset_of!(pigment_query_request, where_document_json)),
            ("where_document_json_size", core::mem::offset_of!(pigment_query_request, where_document_json_size)),
            ("include", core::mem::offset_of!(pigment_query_request, include)),
            ("explain", core::mem::offset_of!(pigment_query_request, explain)),
            ("recall", core::mem::offset_of!(pigment_query_request, recall)),
            ("search_width", core::mem::offset_of!(pigment_query_request, search_width)),
            ("has_max_distance", core::mem::offset_of!(pigment_query_request, has_max_distance)),
            ("max_distance", core::mem::offset_of!(pigment_query_request, max_distance)),
            ("threads", core::mem::offset_of!(pigment_query_request, threads)),
        ],
    },
    Layout {
        name: "pigment_text_search_request",
        size: core::mem::size_of::<pigment_text_search_request>(),
        fields: &[
            ("struct_size", core::mem::offset_of!(pigment_text_search_request, struct_size)),
            ("queries_count", core::mem::offset_of!(pigment_text_search_request, queries_count)),
            ("queries", core::mem::offset_of!(pigment_text_search_request, queries)),
            ("n_results", core::mem::offset_of!(pigment_text_search_request, n_results)),
            ("ids_count", core::mem::offset_of!(pigment_text_search_request, ids_count)),
            ("ids", core::mem::offset_of!(pigment_text_search_request, ids)),
            ("where_json", core::mem::offset_of!(pigment_text_search_request, where_json)),
            ("where_json_size", core::mem::offset_of!(pigment_text_search_request, where_json_size)),
            ("where_document_json", core::mem::offset_of!(pigment_text_search_request, where_document_json)),
            ("where_document_json_size", core::mem::offset_of!(pigment_text_search_request, where_document_json_size)),
            ("operator_", core::mem::offset_of!(pigment_text_search_request, operator_)),
            ("include", core::mem::offset_of!(pigment_text_search_request, include)),
            ("highlights", core::mem::offset_of!(pigment_text_search_request, highlights)),
            ("explain", core::mem::offset_of!(pigment_text_search_request, explain)),
        ],
    },
];
