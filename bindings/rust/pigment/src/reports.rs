// SPDX-License-Identifier: Apache-2.0
//
// What the library reports as JSON, as structs. Members are only ever added there, so unknown ones are passed over here.

use crate::Metadata;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A database.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    /// A UUID.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where it lives.
    pub tenant: String,
}

/// A tenant.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    /// Its name.
    pub name: String,
}

/// A collection.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// A UUID.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where it lives.
    pub tenant: String,
    /// Where it lives.
    pub database: String,
    /// What was said of it.
    pub metadata: Option<Metadata>,
    /// As it has effect, with every default.
    pub configuration: Value,
    /// As it has effect, with every default.
    pub schema: Option<Value>,
    /// Which function made its vectors.
    pub embedding_function: Option<StoredFunction>,
    /// Nothing until vectors were added.
    pub dimension: Option<u64>,
}

/// What the catalog keeps of an embedding function.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredFunction {
    /// Its name.
    pub name: String,
    /// How it was made.
    pub config: Option<Value>,
}

/// A segment of a collection.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Its number.
    pub segment: u64,
    /// How its vectors are searched.
    pub kind: String,
    /// Rows in it.
    pub rows: u64,
    /// Rows that were not deleted.
    pub live_rows: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Bytes of its deletions.
    pub deletions_bytes: u64,
    /// How long its vectors are.
    pub dimension: u64,
    /// Whether it has codes, which a search reads in place of vectors.
    pub codes: bool,
    /// Whether a fork uses it too.
    pub shared: bool,
}

/// A limit of the library.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Its name.
    pub name: String,
    /// What is still allowed.
    pub most: u64,
    /// The status of what is beyond.
    pub status: String,
    /// What it is a limit of.
    pub of: String,
}

/// How often a value occurs.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facet {
    /// The value.
    pub value: Value,
    /// Records that have it.
    pub count: u64,
}

/// What a backup copied.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupReport {
    /// The log position of the copy.
    pub position: u64,
    /// Collections in it.
    pub collections: u64,
    /// Files in it.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What a check found.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// Whether no finding is an error.
    pub clean: bool,
    /// The log position that was looked at.
    pub position: u64,
    /// Findings that are errors.
    pub errors: u64,
    /// Findings that are warnings.
    pub warnings: u64,
    /// What was found.
    pub findings: Vec<Finding>,
    /// Findings that are not listed.
    pub findings_left_out: u64,
    /// What was looked at.
    pub totals: CheckTotals,
}

/// What a check looked at.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckTotals {
    /// Collections.
    pub collections: u64,
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Segments.
    pub segments: u64,
    /// Rows.
    pub rows: u64,
    /// Rows that were not deleted.
    pub live_rows: u64,
    /// Writes in the log.
    pub log_batches: u64,
    /// Rows that were searched for by their own vector.
    pub rows_queried: u64,
}

/// One thing that a check found.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// `error` or `warning`.
    pub severity: String,
    /// The name of its status.
    pub code: String,
    /// The number of its detail; [`Detail::code`](crate::Detail::code) gives those of all.
    pub detail: i32,
    /// Where it was found; empty outside collections.
    pub collection: String,
    /// The damaged file; empty when no file is involved.
    pub file: String,
    /// The place in it, or -1.
    pub offset: i64,
    /// What is wrong.
    pub message: String,
}

/// What a repair recovered.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepairReport {
    /// Whether nothing was lost.
    pub lossless: bool,
    /// `whole`, `damaged` or `lost`.
    pub catalog: String,
    /// The log position of the new store.
    pub position: u64,
    /// Writes that the log still had.
    pub log_batches: u64,
    /// Writes that it had lost.
    pub log_batches_lost: u64,
    /// Whether the log was whole.
    pub log_whole: bool,
    /// Records that were lost with what is kept beside segments.
    pub shelf_records_lost: u64,
    /// Collections, with what was lost of each.
    pub collections: Vec<RepairedCollection>,
    /// What else is to say.
    pub messages: Vec<String>,
}

/// What a repair recovered of a collection.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairedCollection {
    /// Its name.
    pub name: String,
    /// Whether it is in the new store.
    pub recovered: bool,
    /// Rows in the new store.
    pub rows: u64,
    /// Rows that were lost.
    pub rows_lost: u64,
    /// Deletions that were lost.
    pub deletions_lost: u64,
    /// Segments that had to be written anew.
    pub segments_rewritten: u64,
}

/// What a compaction did.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// Live records.
    pub records: u64,
    /// Segments before.
    pub segments_in: u64,
    /// Segments after.
    pub segments_out: u64,
    /// Bytes of segments and deletions before.
    pub bytes_before: u64,
    /// Bytes of segments and deletions after.
    pub bytes_after: u64,
}

/// What a write did.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// New records.
    pub inserted: u64,
    /// Changed records.
    pub updated: u64,
    /// Ids that exist in an add, or do not in an update or delete.
    pub skipped: u64,
    /// Records that are gone.
    pub deleted: u64,
    /// The log position of the write.
    pub position: u64,
}
