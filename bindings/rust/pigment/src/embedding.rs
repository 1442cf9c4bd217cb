// SPDX-License-Identifier: Apache-2.0
//
// Embedding functions: a trait of ours called back by the library. Nothing unwinds into C: a panic becomes an error of the
// call that needed the function.

use crate::codes::ErrorKind;
use crate::error::{call, Error, Result};
use crate::texts::{Column, Texts};
use pigment_sys as sys;
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;

/// What vectors are wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be found.
    Document,
    /// To find by.
    Query,
}

/// How far two vectors are from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// The square of the Euclidean distance.
    L2,
    /// 1 less the cosine.
    Cosine,
    /// 1 less the inner product.
    Ip,
}

impl Space {
    /// Its name in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::L2 => "l2",
            Self::Cosine => "cosine",
            Self::Ip => "ip",
        }
    }
}

/// Why an embedding function fails: what the call that needed it reports.
#[derive(Clone, Debug)]
pub struct EmbedError {
    kind: ErrorKind,
    message: String,
}

impl EmbedError {
    /// An error of a kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for EmbedError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for EmbedError {}

/// Unavailable, which may be tried again.
impl From<String> for EmbedError {
    fn from(message: String) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }
}

/// Unavailable, which may be tried again.
impl From<&str> for EmbedError {
    fn from(message: &str) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }
}

impl From<Error> for EmbedError {
    fn from(error: Error) -> Self {
        Self::new(error.kind, error.to_string())
    }
}

/// Where an embedding function puts its vectors.
pub struct Sink<'a> {
    raw: *mut sys::pigment_embedding_sink,
    call: PhantomData<&'a mut ()>,
}

impl Sink<'_> {
    /// Rows of `dimension` numbers, in the order of the texts: all at once or in slices.
    ///
    /// # Errors
    /// `values` is no whole number of rows, or the library does not want them.
    pub fn put(&mut self, values: &[f32], dimension: usize) -> std::result::Result<(), EmbedError> {
        if dimension == 0 || values.len() % dimension != 0 {
            let message = format!("{} numbers are no rows of {dimension}", values.len());
            return Err(EmbedError::new(ErrorKind::InvalidArgument, message));
        }
        // SAFETY: the sink is alive during the callback, which `'a` is, and reads what it is told is there.
        match unsafe { sys::pigment_embedding_sink_put(self.raw, values.as_ptr(), values.len() / dimension, dimension) }
        {
            sys::PIGMENT_OK => Ok(()),
            status => Err(EmbedError::new(ErrorKind::from_code(status), "the library took no vectors")),
        }
    }
}

/// A function from texts to vectors. It is called from the thread of the call that needs it, perhaps from several at once, and must not
/// call the collection that it serves. What it gives is checked: count, one dimension, finite numbers.
pub trait Embed: Send + Sync + 'static {
    /// Puts a vector for each text into the sink. Texts are bytes of any kind, and never absent.
    ///
    /// # Errors
    /// Its own; the call that needed the function reports them.
    fn embed(
        &self,
        purpose: Purpose,
        texts: Column<'_, [u8]>,
        sink: &mut Sink<'_>,
    ) -> std::result::Result<(), EmbedError>;
}

impl<F> Embed for F
where
    F: Fn(Purpose, Column<'_, [u8]>, &mut Sink<'_>) -> std::result::Result<(), EmbedError> + Send + Sync + 'static,
{
    fn embed(
        &self,
        purpose: Purpose,
        texts: Column<'_, [u8]>,
        sink: &mut Sink<'_>,
    ) -> std::result::Result<(), EmbedError> {
        self(purpose, texts, sink)
    }
}

/// An embedding function with its name, as collections take it. Name and configuration are kept in the catalog as data; nothing is
/// ever loaded by them.
///
/// ```
/// # fn main() -> pigment::Result<()> {
/// use pigment::{Client, CollectionOptions, EmbeddingFunction, Query, Records};
/// let vowels = EmbeddingFunction::each("vowels", |text| Ok("aeiou".chars().map(|v| text.matches(v).count() as f32).collect()));
/// let docs = Client::in_memory()?.create_collection("docs", CollectionOptions::new().embedding_function(&vowels))?;
/// docs.add(&Records::new(["a", "b"]).documents(["banana", "kiwi"]))?;
/// assert_eq!(docs.query(&Query::new().texts(["papaya"]).n_results(1))?.ids().get(0), Some("a"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct EmbeddingFunction {
    name: Arc<str>,
    config: Option<Arc<str>>,
    space: Option<Space>,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Ours(Arc<dyn Embed>),
    Lexical(usize),
}

impl fmt::Debug for EmbeddingFunction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "EmbeddingFunction({:?})", self.name)
    }
}

impl EmbeddingFunction {
    /// A closure, or what else implements [`Embed`].
    pub fn new(name: impl Into<Arc<str>>, function: impl Embed) -> Self {
        Self { name: name.into(), config: None, space: None, kind: Kind::Ours(Arc::new(function)) }
    }

    /// A closure that is given one text at a time; bytes that are no UTF-8 are replaced by U+FFFD.
    pub fn each(
        name: impl Into<Arc<str>>,
        function: impl Fn(&str) -> std::result::Result<Vec<f32>, EmbedError> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, move |_: Purpose, texts: Column<'_, [u8]>, sink: &mut Sink<'_>| {
            for row in 0..texts.len() {
                let values = function(&texts.lossy(row).unwrap_or_default())?;
                sink.put(&values, values.len())?;
            }
            Ok(())
        })
    }

    /// The built-in `pigment_lexical_v1`: words and pieces of words hashed to a vector of unit length. A baseline, not a semantic
    /// model. 0: 384 dimensions. A dimension that is too large is refused by the call that is given the function.
    #[must_use]
    pub fn lexical(dimension: usize) -> Self {
        Self { name: "pigment_lexical_v1".into(), config: None, space: None, kind: Kind::Lexical(dimension) }
    }

    /// What is kept beside the name: an object that says how the function was made.
    ///
    /// # Errors
    /// It does not serialize.
    pub fn config<T: serde::Serialize + ?Sized>(mut self, config: &T) -> Result<Self> {
        self.config = Some(crate::json::print("config", config)?.into());
        Ok(self)
    }

    /// The space of collections whose configuration says none.
    #[must_use]
    pub fn space(mut self, space: Space) -> Self {
        self.space = Some(space);
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A function on its way into the library, which owns it from the first success on.
pub(crate) struct Given<'a> {
    raw: sys::pigment_embedding_function,
    function: PhantomData<&'a EmbeddingFunction>,
}

impl<'a> Given<'a> {
    pub(crate) fn new(function: &'a EmbeddingFunction) -> Result<Self> {
        let mut raw = sys::pigment_embedding_function::new();
        match &function.kind {
            Kind::Lexical(dimension) => {
                // SAFETY: fills a struct of ABI 1, which ours is; what it points at is static.
                call(|error| unsafe { sys::pigment_embedding_function_lexical(*dimension, &mut raw, error) })?;
            }
            Kind::Ours(ours) => {
                raw.name = function.name.as_ptr().cast();
                raw.name_size = function.name.len();
                raw.embed = Some(embed);
                raw.release = Some(release);
                raw.user_data = Box::into_raw(Box::new(Arc::clone(ours))).cast();
            }
        }
        if let Some(config) = &function.config {
            raw.config_json = config.as_ptr().cast();
            raw.config_json_size = config.len();
        }
        if let Some(space) = function.space {
            raw.space = space.name().as_ptr().cast();
            raw.space_size = space.name().len();
        }
        Ok(Self { raw, function: PhantomData })
    }

    pub(crate) fn raw(&self) -> *const sys::pigment_embedding_function {
        &self.raw
    }

    /// The call succeeded: the library releases it.
    pub(crate) fn give_away(mut self) {
        self.raw.release = None;
    }
}

impl Drop for Given<'_> {
    fn drop(&mut self) {
        if let Some(release) = self.raw.release {
            // SAFETY: still ours, and made by `new`.
            unsafe { release(self.raw.user_data) }
        }
    }
}

unsafe extern "C" fn embed(
    user_data: *mut c_void,
    purpose: i32,
    count: usize,
    texts: *const sys::pigment_text_column,
    sink: *mut sys::pigment_embedding_sink,
) -> sys::pigment_status {
    let run = || {
        // SAFETY: what `Given::new` put there, alive until `release`; the library lends count texts for the call.
        let (function, texts) = unsafe { (&*user_data.cast::<Arc<dyn Embed>>(), Column::from_raw(&*texts, count)) };
        let purpose = if purpose == sys::PIGMENT_EMBED_QUERY { Purpose::Query } else { Purpose::Document };
        function.embed(purpose, texts, &mut Sink { raw: sink, call: PhantomData })
    };
    // A function that panics is as broken as it was before: its own state is its own affair.
    let failure = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => return sys::PIGMENT_OK,
        Ok(Err(failure)) => failure,
        Err(payload) => {
            let message = format!("the embedding function panicked: {}", panic_text(payload.as_ref()));
            forget_quietly(payload);
            EmbedError::new(ErrorKind::Internal, message)
        }
    };
    // SAFETY: the sink is alive, the text is read during the call.
    unsafe { sys::pigment_embedding_sink_fail(sink, failure.message.as_ptr().cast(), failure.message.len()) };
    match failure.kind.code() {
        sys::PIGMENT_OK => sys::PIGMENT_UNKNOWN,
        code => code,
    }
}

unsafe extern "C" fn release(user_data: *mut c_void) {
    // SAFETY: what `Given::new` put there, given back once.
    let function = unsafe { Box::from_raw(user_data.cast::<Arc<dyn Embed>>()) };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(function))) {
        forget_quietly(payload);
    }
}

pub(crate) fn panic_text(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("with something that is no text")
}

/// A payload may panic again when it is dropped.
fn forget_quietly(payload: Box<dyn std::any::Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}

/// The built-in lexical embedding of texts: `dimension` numbers for each, one row after the other.
///
/// # Errors
/// An absent text, or a dimension out of range.
pub fn embed_lexical<'a>(texts: impl Into<Texts<'a>>, dimension: usize) -> Result<Vec<f32>> {
    let texts = texts.into();
    let embed = |count: usize, values: *mut f32| {
        // SAFETY: no more than texts.len() texts are read and as many rows written.
        call(|error| unsafe { sys::pigment_embed_lexical(count, &texts.raw(), dimension, values, error) })
    };
    embed(0, std::ptr::null_mut())?; // the dimension is looked at before anything is sized by it
    let refused = || Error::invalid(format!("{} embeddings of {dimension} dimensions are too many", texts.len()));
    let numbers = texts.len().checked_mul(dimension).ok_or_else(refused)?;
    let mut values = Vec::new();
    values.try_reserve_exact(numbers).map_err(|_| refused())?;
    values.resize(numbers, 0.0);
    embed(texts.len(), values.as_mut_ptr())?;
    Ok(values)
}
