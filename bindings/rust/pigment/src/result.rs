// SPDX-License-Identifier: Apache-2.0
//
// What a get, a query or a text search gives: columns that lie in the library's result, borrowed from its owner here. One thread
// at a time has the result; what is borrowed from it is plain memory.

use crate::codes::{Detail, ErrorKind};
use crate::error::{Error, Result};
use crate::requests::Include;
use crate::texts::Column;
use pigment_sys as sys;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::ops::Range;
use std::ptr::NonNull;

/// The answer of a get (one group of rows), a query or a text search (a group for each).
///
/// ```
/// # fn main() -> pigment::Result<()> {
/// # use pigment::*;
/// # let docs = Client::in_memory()?.create_collection("docs", Default::default())?;
/// docs.add(&Records::new(["a", "b"]).embeddings([[0.0f32, 1.0], [1.0, 0.0]]).documents(["one", "two"]))?;
/// let found = docs.query(&Query::new().embeddings(&[0.1f32, 0.9]).n_results(1))?;
/// for row in found.query(0) {
///     println!("{} {:?} {:?}", row.id(), row.distance(), row.document());
/// }
/// # assert_eq!(found.query(0).next().map(|row| row.id()), Some("a"));
/// # Ok(()) }
/// ```
pub struct Results {
    raw: NonNull<sys::pigment_result>,
    columns: Columns,
}

// SAFETY: a result is for one thread at a time, whichever; it is not Sync.
unsafe impl Send for Results {}

impl Drop for Results {
    fn drop(&mut self) {
        // SAFETY: ours, and freed once; nothing borrowed outlives it.
        unsafe { sys::pigment_result_free(self.raw.as_ptr()) }
    }
}

impl std::fmt::Debug for Results {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Results of {} rows in {} queries", self.len(), self.query_count())
    }
}

/// What the result has. `'static` stands for "as long as the result": it leaves this module only as a shorter lifetime.
struct Columns {
    offsets: &'static [u64],
    ids: Column<'static, str>,
    documents: Option<Column<'static, [u8]>>,
    metadatas: Option<Column<'static, str>>,
    uris: Option<Column<'static, str>>,
    highlights: Option<Column<'static, str>>,
    distances: Option<&'static [f32]>,
    scores: Option<&'static [f32]>,
    embeddings: Option<(&'static [f32], usize)>,
}

type ReadColumn = unsafe extern "C" fn(*const sys::pigment_result, *mut sys::pigment_text_column) -> bool;

/// # Safety
/// `raw` is a live result of `rows` rows; the column is used no longer than it.
unsafe fn bytes(raw: *const sys::pigment_result, read: ReadColumn, rows: usize) -> Option<Column<'static, [u8]>> {
    let mut column = sys::pigment_text_column::new();
    // SAFETY: the library says whether there is a column, and then it has all rows.
    unsafe { read(raw, &mut column).then(|| Column::from_raw(&column, rows)) }
}

/// # Safety
/// As for `bytes`.
unsafe fn texts(
    raw: *const sys::pigment_result,
    read: ReadColumn,
    rows: usize,
    name: &str,
) -> Result<Option<Column<'static, str>>> {
    // SAFETY: as the caller says.
    let column = unsafe { bytes(raw, read, rows) };
    let refused = || Error::new(ErrorKind::Internal, Detail::None, format!("{name} of a result are no UTF-8"));
    column.map(|column| Column::checked(column).ok_or_else(refused)).transpose()
}

/// # Safety
/// `values` is null or has `count` numbers, used no longer than they live.
unsafe fn numbers(values: *const f32, count: usize) -> Option<&'static [f32]> {
    // SAFETY: as the caller says.
    (!values.is_null()).then(|| unsafe { std::slice::from_raw_parts(values, count) })
}

impl Columns {
    /// # Safety
    /// `raw` is a live result, and the columns are used no longer than it.
    unsafe fn read(raw: *const sys::pigment_result) -> Result<Self> {
        // SAFETY: as the caller says; every column has row_count rows, and there is one offset more than queries.
        unsafe {
            let rows = sys::pigment_result_row_count(raw) as usize;
            let queries = sys::pigment_result_query_count(raw) as usize;
            let offsets = sys::pigment_result_query_offsets(raw);
            let mut dimension = 0;
            let embeddings = sys::pigment_result_embeddings(raw, &mut dimension);
            Ok(Self {
                offsets: if queries == 0 { &[0] } else { std::slice::from_raw_parts(offsets, queries + 1) },
                ids: texts(raw, sys::pigment_result_ids, rows, "ids")?.expect("every result has ids"),
                documents: bytes(raw, sys::pigment_result_documents, rows),
                metadatas: texts(raw, sys::pigment_result_metadatas, rows, "metadatas")?,
                uris: texts(raw, sys::pigment_result_uris, rows, "uris")?,
                highlights: texts(raw, sys::pigment_result_highlights, rows, "highlights")?,
                distances: numbers(sys::pigment_result_distances(raw), rows),
                scores: numbers(sys::pigment_result_scores(raw), rows),
                embeddings: numbers(embeddings, rows * dimension).map(|values| (values, dimension)),
            })
        }
    }
}

impl Results {
    pub(crate) fn new(raw: *mut sys::pigment_result) -> Result<Self> {
        let raw = NonNull::new(raw).expect("a result that a call gave");
        // SAFETY: alive until dropped, and so are the columns.
        match unsafe { Columns::read(raw.as_ptr()) } {
            Ok(columns) => Ok(Self { raw, columns }),
            Err(error) => {
                // SAFETY: ours, and nothing was kept of it.
                unsafe { sys::pigment_result_free(raw.as_ptr()) }
                Err(error)
            }
        }
    }

    /// How many rows in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.ids.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many queries were asked; a get is one.
    #[must_use]
    pub fn query_count(&self) -> usize {
        self.columns.offsets.len() - 1
    }

    /// The rows of a query as numbers of rows.
    ///
    /// # Panics
    /// There is no such query.
    #[must_use]
    pub fn range(&self, query: usize) -> Range<usize> {
        self.columns.offsets[query] as usize..self.columns.offsets[query + 1] as usize
    }

    /// The rows of a query, the best first.
    ///
    /// # Panics
    /// There is no such query.
    #[must_use]
    pub fn query(&self, query: usize) -> Rows<'_> {
        Rows { columns: &self.columns, range: self.range(query) }
    }

    /// All rows.
    #[must_use]
    pub fn rows(&self) -> Rows<'_> {
        Rows { columns: &self.columns, range: 0..self.len() }
    }

    /// A row.
    ///
    /// # Panics
    /// There is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> Row<'_> {
        assert!(row < self.len(), "row {row} of {}", self.len());
        Row { columns: &self.columns, row }
    }

    /// The ids of all rows.
    #[must_use]
    pub fn ids(&self) -> Column<'_, str> {
        self.columns.ids
    }

    /// The documents of all rows, when they are included.
    #[must_use]
    pub fn documents(&self) -> Option<Column<'_, [u8]>> {
        self.columns.documents
    }

    /// The metadata of all rows as JSON, when it is included.
    #[must_use]
    pub fn metadatas(&self) -> Option<Column<'_, str>> {
        self.columns.metadatas
    }

    /// The uris of all rows, when they are included.
    #[must_use]
    pub fn uris(&self) -> Option<Column<'_, str>> {
        self.columns.uris
    }

    /// Where documents match, when highlights were asked for: of each row a JSON array of `[begin, end)`, bytes of its document.
    #[must_use]
    pub fn highlights(&self) -> Option<Column<'_, str>> {
        self.columns.highlights
    }

    /// The distances of all rows, when they are included.
    #[must_use]
    pub fn distances(&self) -> Option<&[f32]> {
        self.columns.distances
    }

    /// The scores of all rows of a text search.
    #[must_use]
    pub fn scores(&self) -> Option<&[f32]> {
        self.columns.scores
    }

    /// The embeddings of all rows, one after the other, and the dimension of each, when they are included.
    #[must_use]
    pub fn embeddings(&self) -> Option<(&[f32], usize)> {
        self.columns.embeddings
    }

    /// Which columns there are.
    #[must_use]
    pub fn included(&self) -> Include {
        // SAFETY: alive.
        Include::from_bits(unsafe { sys::pigment_result_included(self.raw.as_ptr()) })
    }

    /// The log position that the answer saw.
    #[must_use]
    pub fn position(&self) -> u64 {
        // SAFETY: alive.
        unsafe { sys::pigment_result_position(self.raw.as_ptr()) }
    }

    /// How it came about, as JSON: stages with rows and nanoseconds, when that was asked for.
    #[must_use]
    pub fn explain(&self) -> Option<&str> {
        let mut size = 0;
        // SAFETY: alive, and borrowed from the result.
        unsafe { borrowed(sys::pigment_result_explain(self.raw.as_ptr(), &mut size), size) }
    }

    /// Of a get that its limit ended: where it did, for [`Get::cursor`](crate::Get::cursor) of the next one.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        let mut size = 0;
        // SAFETY: alive, and borrowed from the result.
        unsafe { borrowed(sys::pigment_result_cursor(self.raw.as_ptr(), &mut size), size) }
    }
}

/// # Safety
/// `text` is null or has `size` bytes that live as long as `'a`.
unsafe fn borrowed<'a>(text: *const std::ffi::c_char, size: usize) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: as the caller says; reports are UTF-8, and what were none would be no report.
    std::str::from_utf8(unsafe { std::slice::from_raw_parts(text.cast(), size) }).ok()
}

/// Rows of a result, in order.
#[derive(Clone)]
pub struct Rows<'a> {
    columns: &'a Columns,
    range: Range<usize>,
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        self.range.next().map(|row| Row { columns: self.columns, row })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl DoubleEndedIterator for Rows<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.range.next_back().map(|row| Row { columns: self.columns, row })
    }
}

impl ExactSizeIterator for Rows<'_> {}

/// A row of a result.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    columns: &'a Columns,
    row: usize,
}

impl<'a> Row<'a> {
    /// Its number among all rows of the result.
    #[must_use]
    pub fn number(&self) -> usize {
        self.row
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &'a str {
        self.columns.ids.get(self.row).unwrap_or_default()
    }

    /// Its document, when it has one and documents are included. Bytes that are no UTF-8 are replaced by U+FFFD;
    /// [`document_bytes`](Self::document_bytes) has them.
    #[must_use]
    pub fn document(&self) -> Option<Cow<'a, str>> {
        self.columns.documents.and_then(|column| column.lossy(self.row))
    }

    /// Its document as it was added.
    #[must_use]
    pub fn document_bytes(&self) -> Option<&'a [u8]> {
        self.columns.documents.and_then(|column| column.get(self.row))
    }

    /// Its metadata as anything that deserializes, when it has some and metadata is included.
    ///
    /// # Errors
    /// It is no `T`.
    pub fn metadata<T: DeserializeOwned>(&self) -> Result<Option<T>> {
        let parse = |text| {
            serde_json::from_str(text).map_err(|why| {
                let mut error = Error::invalid(format!("metadata of {:?}: {why}", self.id()));
                error.row = Some(self.row as u64);
                error
            })
        };
        self.metadata_json().map(parse).transpose()
    }

    /// Its metadata as JSON.
    #[must_use]
    pub fn metadata_json(&self) -> Option<&'a str> {
        self.columns.metadatas.and_then(|column| column.get(self.row))
    }

    /// Its uri, when it has one and uris are included.
    #[must_use]
    pub fn uri(&self) -> Option<&'a str> {
        self.columns.uris.and_then(|column| column.get(self.row))
    }

    /// Its distance, when distances are included.
    #[must_use]
    pub fn distance(&self) -> Option<f32> {
        self.columns.distances.map(|values| values[self.row])
    }

    /// Its score in a text search.
    #[must_use]
    pub fn score(&self) -> Option<f32> {
        self.columns.scores.map(|values| values[self.row])
    }

    /// Its embedding, when embeddings are included.
    #[must_use]
    pub fn embedding(&self) -> Option<&'a [f32]> {
        self.columns.embeddings.map(|(values, dimension)| &values[self.row * dimension..][..dimension])
    }

    /// Where its document matches, in bytes of it, when highlights were asked for.
    #[must_use]
    pub fn highlights(&self) -> Option<Vec<Range<usize>>> {
        let text = self.columns.highlights.and_then(|column| column.get(self.row))?;
        let pairs: Vec<(usize, usize)> = serde_json::from_str(text).ok()?;
        Some(pairs.into_iter().map(|(begin, end)| begin..end).collect())
    }
}

impl std::fmt::Debug for Row<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Row {} ({:?})", self.row, self.id())
    }
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Rows {:?}", self.range)
    }
}
