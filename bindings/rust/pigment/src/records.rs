// SPDX-License-Identifier: Apache-2.0
//
// A batch of records on its way into the library, as columns.

use crate::error::{Error, Result};
use crate::json::print;
use crate::texts::{raw_or_absent, Texts};
use crate::vectors::{self, Vectors};
use pigment_sys as sys;
use serde::Serialize;

/// A batch of records: ids, and what else each has. Columns are borrowed where they lie in one piece.
///
/// ```
/// # fn main() -> pigment::Result<()> {
/// use pigment::{Client, Records};
/// use serde_json::json;
/// let docs = Client::in_memory()?.create_collection("docs", Default::default())?;
/// let records = Records::new(["a", "b"])
///     .embeddings([[0.0f32, 1.0], [1.0, 0.0]])
///     .documents([Some("first"), None])
///     .metadatas([json!({"page": 1}), json!(null)])?;
/// assert_eq!(docs.add(&records)?.inserted, 2);
/// # Ok(()) }
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Records<'a> {
    ids: Texts<'a>,
    embeddings: Option<Vectors<'a>>,
    documents: Option<Texts<'a>>,
    metadatas: Option<Texts<'a>>,
    uris: Option<Texts<'a>>,
}

impl<'a> Records<'a> {
    /// Records by their ids.
    pub fn new(ids: impl Into<Texts<'a>>) -> Self {
        Self { ids: ids.into(), embeddings: None, documents: None, metadatas: None, uris: None }
    }

    /// Their vectors, one row a record.
    pub fn embeddings(mut self, embeddings: impl Into<Vectors<'a>>) -> Self {
        self.embeddings = Some(embeddings.into());
        self
    }

    /// Their documents; without embeddings these are embedded by the collection's function.
    pub fn documents(mut self, documents: impl Into<Texts<'a>>) -> Self {
        self.documents = Some(documents.into());
        self
    }

    /// Their metadata, of what serializes to an object, or to null for a record without. In update and upsert a null value in an object
    /// deletes its key.
    ///
    /// # Errors
    /// Something does not serialize, or is a number that JSON does not have.
    pub fn metadatas<T: Serialize>(mut self, metadatas: impl IntoIterator<Item = T>) -> Result<Self> {
        let mut column = Texts::new();
        for (row, metadata) in metadatas.into_iter().enumerate() {
            let text = print("metadata", &metadata).map_err(|mut error| {
                error.row = Some(row as u64);
                error
            })?;
            column.push(Some(text).filter(|text| text != "null"));
        }
        self.metadatas = Some(column);
        Ok(self)
    }

    /// Their metadata as JSON texts.
    pub fn metadatas_json(mut self, metadatas: impl Into<Texts<'a>>) -> Self {
        self.metadatas = Some(metadatas.into());
        self
    }

    /// Their uris.
    pub fn uris(mut self, uris: impl Into<Texts<'a>>) -> Self {
        self.uris = Some(uris.into());
        self
    }

    /// How many records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The same records with nothing borrowed.
    pub fn into_owned(self) -> Records<'static> {
        Records {
            ids: self.ids.into_owned(),
            embeddings: self.embeddings.map(Vectors::into_owned),
            documents: self.documents.map(Texts::into_owned),
            metadatas: self.metadatas.map(Texts::into_owned),
            uris: self.uris.map(Texts::into_owned),
        }
    }

    /// As the library takes them. It reads as many texts of each column as there are ids, so their number is looked at here.
    pub(crate) fn raw(&self) -> Result<sys::pigment_records> {
        for (name, column) in [("documents", &self.documents), ("metadatas", &self.metadatas), ("uris", &self.uris)] {
            if let Some(got) = column.as_ref().map(Texts::len).filter(|got| *got != self.len()) {
                return Err(Error::invalid(format!("unequal lengths: {} ids, {got} {name}", self.len())));
            }
        }
        let mut raw = sys::pigment_records::new();
        raw.count = self.len();
        raw.ids = self.ids.raw();
        raw.embeddings = vectors::raw_or_absent(self.embeddings.as_ref())?;
        raw.documents = raw_or_absent(self.documents.as_ref());
        raw.metadatas = raw_or_absent(self.metadatas.as_ref());
        raw.uris = raw_or_absent(self.uris.as_ref());
        Ok(raw)
    }
}
