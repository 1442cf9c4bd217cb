// SPDX-License-Identifier: Apache-2.0

//! Pigment: an embedded search engine for AI applications. Records (id, embedding, document, metadata, uri) live in collections; a
//! query gives the records nearest to a vector among those that match a filter. The model and its words are Chroma's.
//!
//! ```
#![doc = include_str!("../examples/first.rs")]
//! ```
//!
//! [`Client`] and [`Collection`] are for any number of threads at once; [`Results`] for one at a time. What a call takes besides its
//! arguments (a [`CancelToken`], a timeout, a deadline) is given to a handle by `with` ([`Call`]). Filters are built by [`field`],
//! [`id`](fn@id), [`uri`](fn@uri), [`document`](fn@document) and [`DocumentFilter`]. Calls as futures: [`asynchronous`]. Features:
//! `ndarray`, `arrow`.

#![warn(missing_docs)]

mod cancel;
mod client;
#[rustfmt::skip]
mod codes;
mod collection;
mod embedding;
mod error;
mod filter;
mod json;
mod open;
mod options;
mod pool;
mod records;
mod reports;
mod requests;
mod result;
mod texts;
mod vectors;

#[cfg(feature = "ndarray")]
mod array;
#[cfg(feature = "arrow")]
pub mod arrow;
pub mod asynchronous;

pub use cancel::{Call, CancelToken, Progress};
pub use client::{build_info, check, limits, repair, version, Client};
pub use codes::{Detail, ErrorKind, Fault};
pub use collection::{Changes, Collection, CollectionOptions};
pub use embedding::{embed_lexical, Embed, EmbedError, EmbeddingFunction, Purpose, Sink, Space};
pub use error::{Error, Result};
pub use filter::{document, field, id, uri, DocumentFilter, Field, Filter, Order, Scalar};
pub use open::{OpenOptions, Sync};
pub use records::Records;
pub use reports::{
    BackupReport, CheckReport, CheckTotals, Compaction, Database, Description, Facet, Finding, Limit, RepairReport,
    RepairedCollection, Segment, StoredFunction, Tenant, Written,
};
pub use requests::{Delete, Facets, Get, Include, Query, Selection, TextSearch};
pub use result::{Results, Row, Rows};
pub use texts::{Column, Text, Texts};
pub use vectors::{Element, Vectors, F16};

/// Metadata of a record or collection, as JSON's values. Anything else that serializes to an object will do where metadata goes in.
pub type Metadata = serde_json::Map<String, serde_json::Value>;
