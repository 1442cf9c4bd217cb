// SPDX-License-Identifier: Apache-2.0
//
// What reads and deletes ask for, as builders. They own what was given by value and borrow what was given by reference; only a
// request that borrows nothing can travel into a future.

use crate::error::Result;
use crate::filter::{DocumentFilter, Filter, Order};
use crate::options::raw_text;
use crate::texts::{raw_or_absent, Texts};
use crate::vectors::{self, Vectors};
use pigment_sys as sys;
use std::ops::BitOr;

/// Which columns a result has; joined by `|`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Include(i32);

impl Include {
    /// Get: documents and metadata; query: those and distances.
    pub const DEFAULT: Self = Self(sys::PIGMENT_INCLUDE_DEFAULT);
    /// Documents.
    pub const DOCUMENTS: Self = Self(sys::PIGMENT_INCLUDE_DOCUMENTS);
    /// Metadata.
    pub const METADATAS: Self = Self(sys::PIGMENT_INCLUDE_METADATAS);
    /// Embeddings.
    pub const EMBEDDINGS: Self = Self(sys::PIGMENT_INCLUDE_EMBEDDINGS);
    /// Uris.
    pub const URIS: Self = Self(sys::PIGMENT_INCLUDE_URIS);
    /// Distances, of queries alone.
    pub const DISTANCES: Self = Self(sys::PIGMENT_INCLUDE_DISTANCES);
    /// Ids alone; not with others.
    pub const NOTHING: Self = Self(sys::PIGMENT_INCLUDE_NOTHING);

    /// Whether all of `other` is in it.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) const fn from_bits(bits: i32) -> Self {
        Self(bits)
    }
}

impl BitOr for Include {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What fits i64 as it is, and what does not as the most that fits: there are never more records.
fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Records that are in `ids` (when given) and match the filters (when given).
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct Selection<'a> {
    ids: Option<Texts<'a>>,
    filter: Option<Filter>,
    document_filter: Option<DocumentFilter>,
}

/// The builder's methods that choose records, and what they fill of a struct of the library.
macro_rules! selects {
    ($name:ident $(, $part:ident)?) => {
        impl<'a> $name<'a> {
            /// Only records with these ids; unknown ones are none.
            pub fn ids(mut self, ids: impl Into<Texts<'a>>) -> Self {
                self$(.$part)?.ids = Some(ids.into());
                self
            }

            /// Only records whose fields match: Chroma's `where`.
            pub fn filter(mut self, filter: Filter) -> Self {
                self$(.$part)?.filter = Some(filter);
                self
            }

            /// Only records whose documents match: Chroma's `where_document`.
            pub fn document_filter(mut self, filter: DocumentFilter) -> Self {
                self$(.$part)?.document_filter = Some(filter);
                self
            }
        }
    };
}

macro_rules! fill_selection {
    ($raw:ident, $selection:expr) => {
        let selection: &Selection<'_> = $selection;
        $raw.ids_count = selection.ids.as_ref().map_or(0, Texts::len);
        $raw.ids = raw_or_absent(selection.ids.as_ref());
        ($raw.where_json, $raw.where_json_size) = raw_text(selection.filter.as_ref().map(Filter::as_json));
        ($raw.where_document_json, $raw.where_document_json_size) =
            raw_text(selection.document_filter.as_ref().map(DocumentFilter::as_json));
    };
}

selects!(Selection);

impl<'a> Selection<'a> {
    /// All records.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most so many of them, for [`Collection::delete`](crate::Collection::delete) with a filter.
    pub fn limit(self, limit: u64) -> Delete<'a> {
        Delete { selection: self, limit: Some(limit) }
    }

    pub(crate) fn raw_count(&self) -> sys::pigment_count_request {
        let mut raw = sys::pigment_count_request::new();
        fill_selection!(raw, self);
        raw
    }
}

/// What is deleted; made from ids, from a filter, or from a [`Selection`].
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct Delete<'a> {
    selection: Selection<'a>,
    limit: Option<u64>,
}

impl<'a> From<Selection<'a>> for Delete<'a> {
    fn from(selection: Selection<'a>) -> Self {
        Self { selection, limit: None }
    }
}

impl From<Filter> for Delete<'_> {
    fn from(filter: Filter) -> Self {
        Selection::new().filter(filter).into()
    }
}

impl From<DocumentFilter> for Delete<'_> {
    fn from(filter: DocumentFilter) -> Self {
        Selection::new().document_filter(filter).into()
    }
}

impl<'a> From<Texts<'a>> for Delete<'a> {
    fn from(ids: Texts<'a>) -> Self {
        Selection::new().ids(ids).into()
    }
}

impl<T: crate::texts::Text, const N: usize> From<[T; N]> for Delete<'_> {
    fn from(ids: [T; N]) -> Self {
        Texts::from(ids).into()
    }
}

impl<T: crate::texts::Text> From<&[T]> for Delete<'_> {
    fn from(ids: &[T]) -> Self {
        Texts::from(ids).into()
    }
}

impl Delete<'_> {
    pub(crate) fn raw(&self) -> sys::pigment_delete_request {
        let mut raw = sys::pigment_delete_request::new();
        fill_selection!(raw, &self.selection);
        (raw.has_limit, raw.limit) = (self.limit.is_some(), self.limit.map_or(0, clamped));
        raw
    }
}

/// What a get asks for: all records in insertion order, unless something is said.
#[must_use]
#[derive(Clone, Debug, Default)]
pub struct Get<'a> {
    selection: Selection<'a>,
    limit: Option<u64>,
    offset: u64,
    include: Include,
    explain: bool,
    order_by: Option<String>,
    cursor: Option<String>,
}
selects!(Get, selection);

impl Get<'_> {
    /// Everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most so many records.
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Without the first so many.
    pub fn offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// Which columns.
    pub fn include(mut self, include: Include) -> Self {
        self.include = include;
        self
    }

    /// Whether the result says how it came about.
    pub fn explain(mut self, yes: bool) -> Self {
        self.explain = yes;
        self
    }

    /// In an order: bools before numbers before texts, what lacks the key last, ties by insertion.
    pub fn order_by(mut self, orders: impl IntoIterator<Item = Order>) -> Self {
        self.order_by = Some(Order::json(&orders.into_iter().collect::<Vec<_>>()));
        self
    }

    /// As [`order_by`](Self::order_by), from JSON text.
    pub fn order_by_json(mut self, text: impl Into<String>) -> Self {
        self.order_by = Some(text.into());
        self
    }

    /// Only records behind the cursor of another result of the same collection and order.
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    pub(crate) fn raw(&self) -> sys::pigment_get_request {
        let mut raw = sys::pigment_get_request::new();
        fill_selection!(raw, &self.selection);
        (raw.has_limit, raw.limit) = (self.limit.is_some(), self.limit.map_or(0, clamped));
        (raw.offset, raw.include, raw.explain) = (clamped(self.offset), self.include.0, self.explain);
        (raw.order_by_json, raw.order_by_json_size) = raw_text(self.order_by.as_deref());
        (raw.cursor, raw.cursor_size) = raw_text(self.cursor.as_deref());
        raw
    }
}

/// What a query asks for: the records nearest to each of some vectors, or of some texts.
///
/// ```
/// use pigment::{field, Query};
/// let query = Query::new().embeddings(&[0.1f32, 0.9]).n_results(5).filter(field("lang").eq("en"));
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Query<'a> {
    selection: Selection<'a>,
    embeddings: Option<Vectors<'a>>,
    texts: Option<Texts<'a>>,
    n_results: u64,
    include: Include,
    explain: bool,
    recall: f64,
    search_width: u64,
    max_distance: Option<f64>,
    threads: u32,
}
selects!(Query, selection);

impl Default for Query<'_> {
    fn default() -> Self {
        Self {
            selection: Selection::new(),
            embeddings: None,
            texts: None,
            n_results: 10,
            include: Include::DEFAULT,
            explain: false,
            recall: 0.0,
            search_width: 0,
            max_distance: None,
            threads: 0,
        }
    }
}

impl<'a> Query<'a> {
    /// For ten results; embeddings or texts are still to be given.
    pub fn new() -> Self {
        Self::default()
    }

    /// By these vectors, one row a query; they win over texts.
    pub fn embeddings(mut self, embeddings: impl Into<Vectors<'a>>) -> Self {
        self.embeddings = Some(embeddings.into());
        self
    }

    /// By these texts, embedded by the collection's function.
    pub fn texts(mut self, texts: impl Into<Texts<'a>>) -> Self {
        self.texts = Some(texts.into());
        self
    }

    /// How many records for each, at least 1.
    pub fn n_results(mut self, n_results: u64) -> Self {
        self.n_results = n_results;
        self
    }

    /// Which columns.
    pub fn include(mut self, include: Include) -> Self {
        self.include = include;
        self
    }

    /// Whether the result says how it came about.
    pub fn explain(mut self, yes: bool) -> Self {
        self.explain = yes;
        self
    }

    /// Which part of the nearest records is to be found on average, over 0 to 1; 1: all of them.
    pub fn recall(mut self, recall: f64) -> Self {
        self.recall = recall;
        self
    }

    /// Nodes that are visited in the graph of each segment, or clusters that are probed, in place of a recall.
    pub fn search_width(mut self, width: u64) -> Self {
        self.search_width = width;
        self
    }

    /// Only records at this distance or nearer.
    pub fn max_distance(mut self, distance: f64) -> Self {
        self.max_distance = Some(distance);
        self
    }

    /// Threads that may share many queries; 0: as many as there are cores. The answer is the same.
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    pub(crate) fn raw(&self) -> Result<sys::pigment_query_request> {
        let mut raw = sys::pigment_query_request::new();
        fill_selection!(raw, &self.selection);
        raw.embeddings = vectors::raw_or_absent(self.embeddings.as_ref())?;
        raw.texts_count = self.texts.as_ref().map_or(0, Texts::len);
        raw.texts = raw_or_absent(self.texts.as_ref());
        (raw.n_results, raw.include, raw.explain) = (clamped(self.n_results), self.include.0, self.explain);
        (raw.recall, raw.search_width) = (self.recall, clamped(self.search_width));
        (raw.has_max_distance, raw.max_distance) = (self.max_distance.is_some(), self.max_distance.unwrap_or(0.0));
        raw.threads = i32::try_from(self.threads).unwrap_or(i32::MAX);
        Ok(raw)
    }
}

/// What a ranked search of documents asks for; see `docs/text-search.md`.
#[must_use]
#[derive(Clone, Debug)]
pub struct TextSearch<'a> {
    selection: Selection<'a>,
    queries: Texts<'a>,
    n_results: u64,
    include: Include,
    all: bool,
    highlights: bool,
    explain: bool,
}
selects!(TextSearch, selection);

impl<'a> TextSearch<'a> {
    /// Ten results for each of some texts: words, "phrases", prefix*, +required.
    pub fn new(queries: impl Into<Texts<'a>>) -> Self {
        Self {
            selection: Selection::new(),
            queries: queries.into(),
            n_results: 10,
            include: Include::DEFAULT,
            all: false,
            highlights: false,
            explain: false,
        }
    }

    /// How many records for each, at least 1.
    pub fn n_results(mut self, n_results: u64) -> Self {
        self.n_results = n_results;
        self
    }

    /// Which columns; scores always come.
    pub fn include(mut self, include: Include) -> Self {
        self.include = include;
        self
    }

    /// Whether a document must match all clauses, in place of any.
    pub fn all(mut self, yes: bool) -> Self {
        self.all = yes;
        self
    }

    /// Whether the result says where documents match.
    pub fn highlights(mut self, yes: bool) -> Self {
        self.highlights = yes;
        self
    }

    /// Whether the result says how it came about.
    pub fn explain(mut self, yes: bool) -> Self {
        self.explain = yes;
        self
    }

    pub(crate) fn raw(&self) -> sys::pigment_text_search_request {
        let mut raw = sys::pigment_text_search_request::new();
        fill_selection!(raw, &self.selection);
        (raw.queries_count, raw.queries) = (self.queries.len(), self.queries.raw());
        (raw.n_results, raw.include) = (clamped(self.n_results), self.include.0);
        raw.operator_ = if self.all { sys::PIGMENT_TEXT_ALL } else { sys::PIGMENT_TEXT_ANY };
        (raw.highlights, raw.explain) = (self.highlights, self.explain);
        raw
    }
}

/// Which keys' values are counted, and among which records.
#[must_use]
#[derive(Clone, Debug)]
pub struct Facets<'a> {
    selection: Selection<'a>,
    keys: Texts<'a>,
    limit: Option<u64>,
}
selects!(Facets, selection);

impl<'a> Facets<'a> {
    /// Keys of metadata, or `chroma:uri`; each once.
    pub fn new(keys: impl Into<Texts<'a>>) -> Self {
        Self { selection: Selection::new(), keys: keys.into(), limit: None }
    }

    /// At most so many values of each key.
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    pub(crate) fn raw(&self) -> sys::pigment_facets_request {
        let mut raw = sys::pigment_facets_request::new();
        fill_selection!(raw, &self.selection);
        (raw.keys_count, raw.keys) = (self.keys.len(), self.keys.raw());
        (raw.has_limit, raw.limit) = (self.limit.is_some(), self.limit.map_or(0, clamped));
        raw
    }
}
