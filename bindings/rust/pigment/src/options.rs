// SPDX-License-Identifier: Apache-2.0
//
// What a collection is made with and what can be changed of it later. JSON arguments are printed when they are given, and what
// did not print is refused by the call that takes the options.

use crate::embedding::{EmbeddingFunction, Given, Space};
use crate::error::{Error, Result};
use crate::json::print;
use pigment_sys as sys;
use serde::Serialize;
use std::ffi::c_char;

/// Why the first JSON argument that did not print did not.
#[derive(Clone, Debug, Default)]
struct Unprinted {
    error: Option<Error>,
}

impl Unprinted {
    fn print<T: Serialize + ?Sized>(&mut self, what: &str, value: &T) -> Option<String> {
        print(what, value).map_err(|error| self.error.get_or_insert(error).clone()).ok()
    }

    fn checked(&self) -> Result<()> {
        self.error.clone().map_or(Ok(()), Err)
    }
}

/// A text as the library takes it, absent when there is none.
pub(crate) fn raw_text(text: Option<&str>) -> (*const c_char, usize) {
    text.map_or((std::ptr::null(), 0), |text| (text.as_ptr().cast(), text.len()))
}

/// What a collection is made with.
///
/// ```
/// # fn main() -> pigment::Result<()> {
/// use pigment::{Client, CollectionOptions, Space};
/// use serde_json::json;
/// let options = CollectionOptions::new().metadata(&json!({"owner": "me"})).space(Space::Cosine);
/// let docs = Client::in_memory()?.create_collection("docs", options)?;
/// assert_eq!(docs.describe()?.configuration["hnsw"]["space"], "cosine");
/// # Ok(()) }
/// ```
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct CollectionOptions {
    metadata: Option<String>,
    configuration: Option<String>,
    schema: Option<String>,
    function: Option<EmbeddingFunction>,
    get_or_create: bool,
    texts: Unprinted,
}

impl CollectionOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Scalars by their keys, kept with the collection.
    pub fn metadata<T: Serialize + ?Sized>(mut self, metadata: &T) -> Self {
        self.metadata = self.texts.print("metadata", metadata);
        self
    }

    /// As [`metadata`](Self::metadata), from JSON text.
    pub fn metadata_json(mut self, text: impl Into<String>) -> Self {
        self.metadata = Some(text.into());
        self
    }

    /// Chroma's configuration: `{"hnsw": {"space": "cosine", ...}}` or `{"spann": ...}`, with `full_vectors`, `text_index` and
    /// `nested_metadata` beside them; see `docs/operations.md` and `docs/text-search.md`.
    pub fn configuration<T: Serialize + ?Sized>(mut self, configuration: &T) -> Self {
        self.configuration = self.texts.print("configuration", configuration);
        self
    }

    /// As [`configuration`](Self::configuration), from JSON text.
    pub fn configuration_json(mut self, text: impl Into<String>) -> Self {
        self.configuration = Some(text.into());
        self
    }

    /// A configuration that says the space alone.
    pub fn space(self, space: Space) -> Self {
        self.configuration(&serde_json::json!({"hnsw": {"space": space}}))
    }

    /// Chroma's schema: which values can be filtered by, and the vector index in place of a configuration; see `docs/schema.md`.
    pub fn schema<T: Serialize + ?Sized>(mut self, schema: &T) -> Self {
        self.schema = self.texts.print("schema", schema);
        self
    }

    /// As [`schema`](Self::schema), from JSON text.
    pub fn schema_json(mut self, text: impl Into<String>) -> Self {
        self.schema = Some(text.into());
        self
    }

    /// What makes vectors from texts.
    pub fn embedding_function(mut self, function: &EmbeddingFunction) -> Self {
        self.function = Some(function.clone());
        self
    }

    /// A collection that exists is returned as it is; its function must not be another.
    pub fn get_or_create(mut self, yes: bool) -> Self {
        self.get_or_create = yes;
        self
    }

    pub(crate) fn checked(self) -> Result<Self> {
        self.texts.checked()?;
        Ok(self)
    }

    pub(crate) fn function(&self) -> Option<&EmbeddingFunction> {
        self.function.as_ref()
    }

    pub(crate) fn raw(&self, function: Option<&Given<'_>>) -> sys::pigment_collection_options {
        let mut raw = sys::pigment_collection_options::new();
        (raw.metadata_json, raw.metadata_json_size) = raw_text(self.metadata.as_deref());
        (raw.configuration_json, raw.configuration_json_size) = raw_text(self.configuration.as_deref());
        (raw.schema_json, raw.schema_json_size) = raw_text(self.schema.as_deref());
        raw.embedding_function = function.map_or(std::ptr::null(), Given::raw);
        raw.get_or_create = self.get_or_create;
        raw
    }
}

/// What changes of a collection; what is not said stays.
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct Changes {
    name: Option<String>,
    metadata: Option<String>,
    configuration: Option<String>,
    texts: Unprinted,
}

impl Changes {
    /// Nothing changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Another name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Replaces the metadata as a whole.
    pub fn metadata<T: Serialize + ?Sized>(mut self, metadata: &T) -> Self {
        self.metadata = self.texts.print("metadata", metadata);
        self
    }

    /// As [`metadata`](Self::metadata), from JSON text.
    pub fn metadata_json(mut self, text: impl Into<String>) -> Self {
        self.metadata = Some(text.into());
        self
    }

    /// Merged with the configuration; the space cannot change.
    pub fn configuration<T: Serialize + ?Sized>(mut self, configuration: &T) -> Self {
        self.configuration = self.texts.print("configuration", configuration);
        self
    }

    /// As [`configuration`](Self::configuration), from JSON text.
    pub fn configuration_json(mut self, text: impl Into<String>) -> Self {
        self.configuration = Some(text.into());
        self
    }

    pub(crate) fn raw(&self) -> Result<sys::pigment_modify_options> {
        self.texts.checked()?;
        let mut raw = sys::pigment_modify_options::new();
        (raw.name, raw.name_size) = raw_text(self.name.as_deref());
        (raw.metadata_json, raw.metadata_json_size) = raw_text(self.metadata.as_deref());
        (raw.configuration_json, raw.configuration_json_size) = raw_text(self.configuration.as_deref());
        Ok(raw)
    }
}
