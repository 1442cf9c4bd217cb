// SPDX-License-Identifier: Apache-2.0
//
// A collection: its calls one after the other, each one call of the library.

use crate::cancel::Call;
use crate::client::{compaction, parsed};
use crate::error::{call, Result};
use crate::records::Records;
use crate::reports::{Compaction, Description, Facet, Segment, Written};
use crate::requests::{Delete, Facets, Get, Query, Selection, TextSearch};
use crate::result::Results;
use crate::texts::Texts;
use pigment_sys as sys;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;

pub use crate::options::{Changes, CollectionOptions};

/// A collection of records. Cheap to clone, for any number of threads; it keeps its store open, survives a rename, and gives
/// *not found* when the collection was deleted.
#[derive(Clone, Debug)]
pub struct Collection {
    handle: Arc<Handle>,
    call: Call,
}

#[derive(Debug)]
struct Handle(NonNull<sys::pigment_collection>);

// SAFETY: the library lets any thread use and free a collection.
unsafe impl Send for Handle {}
// SAFETY: as above, concurrently.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: ours, and freed once.
        unsafe { sys::pigment_collection_free(self.0.as_ptr()) }
    }
}

type WriteFunction = unsafe extern "C" fn(
    *mut sys::pigment_collection,
    *const sys::pigment_records,
    *const sys::pigment_call_options,
    *mut sys::pigment_write_result,
    *mut *mut sys::pigment_error,
) -> sys::pigment_status;

fn written(raw: &sys::pigment_write_result) -> Written {
    let sys::pigment_write_result { inserted, updated, skipped, deleted, position, .. } = *raw;
    Written { inserted, updated, skipped, deleted, position }
}

impl Collection {
    pub(crate) fn new(raw: *mut sys::pigment_collection, call: Call) -> Self {
        Self { handle: Arc::new(Handle(NonNull::new(raw).expect("a collection that was found"))), call }
    }

    fn raw(&self) -> *mut sys::pigment_collection {
        self.handle.0.as_ptr()
    }

    pub(crate) fn call_mut(&mut self) -> &mut Call {
        &mut self.call
    }

    /// The same collection with what its calls take: a token, time, a log position.
    #[must_use]
    pub fn with(&self, call: Call) -> Self {
        Self { handle: Arc::clone(&self.handle), call }
    }

    /// Name, id, where it lives, metadata, configuration, schema, function, dimension.
    ///
    /// # Errors
    /// It was deleted.
    pub fn describe(&self) -> Result<Description> {
        // SAFETY: alive; outputs are ours.
        parsed(|json, error| unsafe { sys::pigment_collection_describe(self.raw(), json, error) })
    }

    /// Changes name, metadata or configuration.
    ///
    /// # Errors
    /// The name is taken or none; something that cannot change.
    pub fn modify(&self, changes: &Changes) -> Result<()> {
        let raw = changes.raw()?;
        // SAFETY: as above; the changes are read during the call.
        call(|error| unsafe { sys::pigment_collection_modify(self.raw(), &raw, error) })
    }

    /// A new collection with the same records; segments are shared, later writes are not.
    ///
    /// # Errors
    /// The name is taken or none.
    pub fn fork(&self, new_name: &str) -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: as above.
        call(|error| unsafe {
            sys::pigment_collection_fork(self.raw(), new_name.as_ptr().cast(), new_name.len(), &mut raw, error)
        })?;
        Ok(Self::new(raw, self.call.clone()))
    }

    // ---- Writing: a batch is atomic, all of it is durable and visible, or none ----

    /// Adds records; ids that exist are left as they are.
    ///
    /// # Errors
    /// A wrong row, which [`Error::row`](crate::Error::row) tells.
    pub fn add(&self, records: &Records<'_>) -> Result<Written> {
        self.write(sys::pigment_collection_add, records)
    }

    /// Changes records; ids that do not exist are skipped, metadata merges by key.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub fn update(&self, records: &Records<'_>) -> Result<Written> {
        self.write(sys::pigment_collection_update, records)
    }

    /// Changes records that exist and adds the others.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
    pub fn upsert(&self, records: &Records<'_>) -> Result<Written> {
        self.write(sys::pigment_collection_upsert, records)
    }

    fn write(&self, function: WriteFunction, records: &Records<'_>) -> Result<Written> {
        let (raw, mut result) = (records.raw()?, sys::pigment_write_result::new());
        // SAFETY: as above; the records are read during the call, and their columns have a row for each id.
        call(|error| unsafe { function(self.raw(), &raw, &self.call.raw(), &mut result, error) })?;
        Ok(written(&result))
    }

    /// Deletes records by ids, by filters, or by both.
    ///
    /// ```
    /// # fn main() -> pigment::Result<()> {
    /// # let docs = pigment::Client::in_memory()?.create_collection("docs", Default::default())?;
    /// use pigment::{field, Selection};
    /// docs.delete(["a", "b"])?;
    /// docs.delete(field("year").lt(2000))?;
    /// docs.delete(Selection::new().filter(field("draft").eq(true)).limit(100))?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Neither is given.
    pub fn delete<'a>(&self, what: impl Into<Delete<'a>>) -> Result<Written> {
        let (what, mut result) = (what.into(), sys::pigment_write_result::new());
        // SAFETY: as above.
        call(|error| unsafe {
            sys::pigment_collection_delete(self.raw(), &what.raw(), &self.call.raw(), &mut result, error)
        })?;
        Ok(written(&result))
    }

    // ---- Reading ----

    /// Records in insertion order, or in the order that is asked for; ids that do not exist are left out.
    ///
    /// # Errors
    /// A filter that is none; cancelled.
    pub fn get(&self, request: &Get<'_>) -> Result<Results> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: as above.
        call(|error| unsafe {
            sys::pigment_collection_get(self.raw(), &request.raw(), &self.call.raw(), &mut raw, error)
        })?;
        Results::new(raw)
    }

    /// The first records, with documents, metadata and embeddings.
    ///
    /// # Errors
    /// Cancelled.
    pub fn peek(&self, limit: u64) -> Result<Results> {
        let (limit, mut raw) = (i64::try_from(limit).unwrap_or(i64::MAX), std::ptr::null_mut());
        // SAFETY: as above.
        call(|error| unsafe { sys::pigment_collection_peek(self.raw(), limit, &self.call.raw(), &mut raw, error) })?;
        Results::new(raw)
    }

    /// How many records there are.
    ///
    /// # Errors
    /// Cancelled.
    pub fn count(&self) -> Result<u64> {
        let mut count = 0;
        // SAFETY: as above.
        call(|error| unsafe { sys::pigment_collection_count(self.raw(), &self.call.raw(), &mut count, error) })?;
        Ok(count)
    }

    /// How many records are selected.
    ///
    /// # Errors
    /// A filter that is none; cancelled.
    pub fn count_where(&self, selection: &Selection<'_>) -> Result<u64> {
        let mut count = 0;
        // SAFETY: as above.
        call(|error| unsafe {
            sys::pigment_collection_count_where(self.raw(), &selection.raw_count(), &self.call.raw(), &mut count, error)
        })?;
        Ok(count)
    }

    /// How many of the selected records have each value of some keys, the most frequent first.
    ///
    /// # Errors
    /// A key twice; a filter that is none; cancelled.
    pub fn facets(&self, request: &Facets<'_>) -> Result<BTreeMap<String, Vec<Facet>>> {
        // SAFETY: as above.
        parsed(|json, error| unsafe {
            sys::pigment_collection_facets(self.raw(), &request.raw(), &self.call.raw(), json, error)
        })
    }

    /// Which ids are there; no record is read.
    ///
    /// # Errors
    /// An id that is none; cancelled.
    pub fn contains<'a>(&self, ids: impl Into<Texts<'a>>) -> Result<Vec<bool>> {
        let ids = ids.into();
        let mut present = vec![0u8; ids.len()];
        // SAFETY: as above; as many ids in as flags out.
        call(|error| unsafe {
            let (count, present) = (ids.len(), present.as_mut_ptr());
            sys::pigment_collection_contains(self.raw(), count, &ids.raw(), &self.call.raw(), present, error)
        })?;
        Ok(present.iter().map(|flag| *flag == 1).collect())
    }

    /// The records nearest to each vector or text, ascending by distance; distances are exact.
    ///
    /// # Errors
    /// Vectors of another dimension; texts without a function; a filter that is none; cancelled.
    pub fn query(&self, request: &Query<'_>) -> Result<Results> {
        let (request, mut raw) = (request.raw()?, std::ptr::null_mut());
        // SAFETY: as above.
        call(|error| unsafe {
            sys::pigment_collection_query(self.raw(), &request, &self.call.raw(), &mut raw, error)
        })?;
        Results::new(raw)
    }

    /// The records whose documents match each text best, by BM25, the highest score first.
    ///
    /// # Errors
    /// The collection has no text index; a filter that is none; cancelled.
    pub fn search_text(&self, request: &TextSearch<'_>) -> Result<Results> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: as above.
        call(|error| unsafe {
            sys::pigment_collection_search_text(self.raw(), &request.raw(), &self.call.raw(), &mut raw, error)
        })?;
        Results::new(raw)
    }

    // ---- Maintenance ----

    /// Writes its tail into a segment.
    ///
    /// # Errors
    /// The disk does not take it; cancelled, which changes nothing.
    pub fn flush(&self) -> Result<()> {
        // SAFETY: as above.
        call(|error| unsafe { sys::pigment_collection_flush_with(self.raw(), &self.call.raw(), error) })
    }

    /// Its segments in the order of their first flush.
    ///
    /// # Errors
    /// It was deleted.
    pub fn segments(&self) -> Result<Vec<Segment>> {
        // SAFETY: as above.
        parsed(|json, error| unsafe { sys::pigment_collection_segments(self.raw(), json, error) })
    }

    /// Merges its segments as far as that saves anything.
    ///
    /// # Errors
    /// Cancelled, or the disk does not take them.
    pub fn compact(&self) -> Result<Compaction> {
        let mut result = sys::pigment_compaction::new();
        // SAFETY: as above.
        call(|error| unsafe { sys::pigment_collection_compact(self.raw(), &self.call.raw(), &mut result, error) })?;
        Ok(compaction(&result))
    }
}
