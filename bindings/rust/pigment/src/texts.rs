// SPDX-License-Identifier: Apache-2.0
//
// Columns of texts: what goes in (`Texts`, owned or borrowed) and what comes out (`Column`, borrowed from a result). Both are
// laid out as Arrow's LargeUtf8, so that neither side copies.

use crate::error::{Error, Result};
use pigment_sys as sys;
use std::borrow::Cow;
use std::marker::PhantomData;

/// A column of texts that goes into the library: ids, documents, uris, queries, keys.
///
/// Made from arrays, slices, vectors and iterators of texts, of which some may be absent (`Option`), or without a copy from
/// the parts of an Arrow column.
///
/// ```
/// use pigment::Texts;
/// let ids = Texts::from(["a", "b"]);
/// let documents: Texts = [Some("first"), None].into_iter().collect();
/// assert_eq!((ids.len(), documents.len()), (2, 2));
/// ```
#[derive(Clone, Debug)]
pub struct Texts<'a> {
    offsets: Cow<'a, [i64]>,
    bytes: Cow<'a, [u8]>,
    validity: Option<Cow<'a, [u8]>>,
}

impl Default for Texts<'_> {
    fn default() -> Self {
        Self { offsets: Cow::Owned(vec![0]), bytes: Cow::Owned(Vec::new()), validity: None }
    }
}

impl<'a> Texts<'a> {
    /// A column without texts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Borrows the parts of a column: text `i` is `bytes[offsets[i]..offsets[i + 1]]`, and present when there is no `validity`
    /// or bit `i % 8` of `validity[i / 8]` is set.
    ///
    /// # Errors
    /// Offsets that are none, descend or leave `bytes`; a `validity` with too few bits.
    pub fn from_parts(offsets: &'a [i64], bytes: &'a [u8], validity: Option<&'a [u8]>) -> Result<Self> {
        let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else {
            return Err(Error::invalid("a text column has one offset more than texts, got no offset"));
        };
        if *first < 0 || offsets.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(Error::invalid("the offsets of a text column ascend from 0 or above"));
        }
        if usize::try_from(*last).map_or(true, |last| last > bytes.len()) {
            return Err(Error::invalid(format!("a text column ends at byte {last} of {}", bytes.len())));
        }
        if validity.is_some_and(|bits| bits.len() < (offsets.len() - 1).div_ceil(8)) {
            return Err(Error::invalid(format!(
                "the validity of a text column has too few bits for {} texts",
                offsets.len() - 1
            )));
        }
        Ok(Self { offsets: offsets.into(), bytes: bytes.into(), validity: validity.map(Cow::Borrowed) })
    }

    /// Appends a text, or an absent one.
    pub fn push(&mut self, text: Option<impl AsRef<[u8]>>) {
        let row = self.len();
        let end = self.offsets[row] as usize;
        if self.bytes.len() > end {
            self.bytes.to_mut().truncate(end); // a borrowed column may end before its bytes do
        }
        if let Some(text) = &text {
            self.bytes.to_mut().extend_from_slice(text.as_ref());
        } else if self.validity.is_none() {
            self.validity = Some(Cow::Owned(present_bits(row)));
        }
        let end = self.bytes.len() as i64;
        self.offsets.to_mut().push(end);
        if let Some(validity) = &mut self.validity {
            let validity = validity.to_mut();
            validity.resize((row + 1).div_ceil(8), 0);
            let bit = 1 << (row % 8);
            validity[row / 8] = validity[row / 8] & !bit | if text.is_some() { bit } else { 0 };
        }
    }

    /// How many texts, absent ones among them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same column with nothing borrowed.
    #[must_use]
    pub fn into_owned(self) -> Texts<'static> {
        Texts {
            offsets: Cow::Owned(self.offsets.into_owned()),
            bytes: Cow::Owned(self.bytes.into_owned()),
            validity: self.validity.map(|bits| Cow::Owned(bits.into_owned())),
        }
    }

    pub(crate) fn raw(&self) -> sys::pigment_text_column {
        sys::pigment_text_column {
            offsets: self.offsets.as_ptr(),
            bytes: self.bytes.as_ptr().cast(),
            validity: self.validity.as_ref().map_or(std::ptr::null(), |bits| bits.as_ptr()),
        }
    }
}

/// The bits of `rows` texts that are all there.
fn present_bits(rows: usize) -> Vec<u8> {
    let mut bits = vec![0xff; rows / 8];
    if rows % 8 != 0 {
        bits.push((1 << (rows % 8)) - 1);
    }
    bits
}

/// The column as the library takes it, absent when there is none.
pub(crate) fn raw_or_absent(texts: Option<&Texts<'_>>) -> sys::pigment_text_column {
    texts.map_or_else(sys::pigment_text_column::new, Texts::raw)
}

/// What an element of a column can be: a text of any kind, or an optional one.
pub trait Text: sealed::Sealed {
    #[doc(hidden)]
    fn bytes(&self) -> Option<&[u8]>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! texts_of {
    ($method:ident: $($kind:ty),*) => {$(
        impl sealed::Sealed for $kind {}
        impl Text for $kind {
            fn bytes(&self) -> Option<&[u8]> {
                Some(self.$method())
            }
        }
    )*};
}
texts_of!(as_bytes: str, String, Box<str>, std::sync::Arc<str>);
texts_of!(as_ref: [u8], Vec<u8>);

impl sealed::Sealed for Cow<'_, str> {}
impl Text for Cow<'_, str> {
    fn bytes(&self) -> Option<&[u8]> {
        Some(self.as_ref().as_bytes())
    }
}

impl<T: Text + ?Sized> sealed::Sealed for &T {}
impl<T: Text + ?Sized> Text for &T {
    fn bytes(&self) -> Option<&[u8]> {
        (**self).bytes()
    }
}

impl<T: Text> sealed::Sealed for Option<T> {}
impl<T: Text> Text for Option<T> {
    fn bytes(&self) -> Option<&[u8]> {
        self.as_ref().and_then(Text::bytes)
    }
}

impl<T: Text> FromIterator<T> for Texts<'_> {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut column = Self::new();
        column.extend(texts);
        column
    }
}

impl<T: Text> Extend<T> for Texts<'_> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, texts: I) {
        let texts = texts.into_iter();
        self.offsets.to_mut().reserve(texts.size_hint().0);
        for text in texts {
            self.push(text.bytes());
        }
    }
}

impl<T: Text, const N: usize> From<[T; N]> for Texts<'_> {
    fn from(texts: [T; N]) -> Self {
        texts.iter().collect()
    }
}

impl<T: Text> From<Vec<T>> for Texts<'_> {
    fn from(texts: Vec<T>) -> Self {
        texts.iter().collect()
    }
}

impl<T: Text> From<&[T]> for Texts<'_> {
    fn from(texts: &[T]) -> Self {
        texts.iter().collect()
    }
}

impl<T: Text> From<&Vec<T>> for Texts<'_> {
    fn from(texts: &Vec<T>) -> Self {
        texts.iter().collect()
    }
}

impl<T: Text, const N: usize> From<&[T; N]> for Texts<'_> {
    fn from(texts: &[T; N]) -> Self {
        texts.iter().collect()
    }
}

/// One text: a column of one.
impl From<&str> for Texts<'_> {
    fn from(text: &str) -> Self {
        [text].into()
    }
}

/// One text: a column of one.
impl From<&String> for Texts<'_> {
    fn from(text: &String) -> Self {
        [text].into()
    }
}

/// The same texts, borrowed.
impl<'a> From<&'a Texts<'_>> for Texts<'a> {
    fn from(texts: &'a Texts<'_>) -> Self {
        Self {
            offsets: Cow::Borrowed(&texts.offsets),
            bytes: Cow::Borrowed(&texts.bytes),
            validity: texts.validity.as_deref().map(Cow::Borrowed),
        }
    }
}

/// The texts of a result, borrowed.
impl<'a, T: ?Sized> From<Column<'a, T>> for Texts<'a> {
    fn from(column: Column<'a, T>) -> Self {
        Self {
            offsets: Cow::Borrowed(column.offsets),
            bytes: Cow::Borrowed(column.bytes),
            validity: column.validity.map(Cow::Borrowed),
        }
    }
}

/// A column that comes out of the library, borrowed from what gave it. `T` is `str` where the library guarantees UTF-8, and `[u8]`
/// for documents, which may be any bytes.
pub struct Column<'a, T: ?Sized> {
    offsets: &'a [i64],
    bytes: &'a [u8],
    validity: Option<&'a [u8]>,
    kind: PhantomData<fn() -> &'a T>,
}

impl<T: ?Sized> Clone for Column<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: ?Sized> Copy for Column<'_, T> {}

impl<T: ?Sized> std::fmt::Debug for Column<'_, T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Column of {} texts", self.len())
    }
}

impl<'a, T: ?Sized> Column<'a, T> {
    /// # Safety
    /// The column has `rows` texts, is not absent, and lives as long as `'a`.
    pub(crate) unsafe fn from_raw(raw: &sys::pigment_text_column, rows: usize) -> Self {
        // SAFETY: a column has rows + 1 ascending offsets, the bytes up to the last one, and a bit for each row if any.
        unsafe {
            let offsets = if rows == 0 { &[0] } else { std::slice::from_raw_parts(raw.offsets, rows + 1) };
            let end = usize::try_from(offsets[rows]).unwrap_or_default();
            let bytes = if end == 0 { &[] } else { std::slice::from_raw_parts(raw.bytes.cast(), end) };
            let validity =
                (!raw.validity.is_null()).then(|| std::slice::from_raw_parts(raw.validity, rows.div_ceil(8)));
            Self { offsets, bytes, validity, kind: PhantomData }
        }
    }

    /// How many texts, absent ones among them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a text; nothing when it is absent, or when there is no such row.
    #[must_use]
    pub fn bytes(&self, row: usize) -> Option<&'a [u8]> {
        let end = *self.offsets.get(row.checked_add(1)?)? as usize;
        if self.validity.is_some_and(|bits| bits[row / 8] >> (row % 8) & 1 == 0) {
            return None;
        }
        Some(&self.bytes[self.offsets[row] as usize..end])
    }

    /// The parts of the column, as [`Texts::from_parts`] takes them.
    #[must_use]
    pub fn parts(&self) -> (&'a [i64], &'a [u8], Option<&'a [u8]>) {
        (self.offsets, self.bytes, self.validity)
    }
}

impl<'a> Column<'a, str> {
    /// The column when all its texts are UTF-8, for which one pass over its bytes is enough.
    pub(crate) fn checked(column: Column<'a, [u8]>) -> Option<Self> {
        let text = std::str::from_utf8(column.bytes).ok()?;
        let whole = column.offsets.iter().all(|offset| text.is_char_boundary(*offset as usize));
        whole.then_some(Self {
            offsets: column.offsets,
            bytes: column.bytes,
            validity: column.validity,
            kind: PhantomData,
        })
    }

    /// A text; nothing when it is absent, or when there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&'a str> {
        // SAFETY: `checked` made it.
        self.bytes(row).map(|bytes| unsafe { std::str::from_utf8_unchecked(bytes) })
    }

    /// All texts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&'a str>> + 'a {
        let column = *self;
        (0..self.len()).map(move |row| column.get(row))
    }
}

impl<'a> Column<'a, [u8]> {
    /// A text; nothing when it is absent, or when there is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&'a [u8]> {
        self.bytes(row)
    }

    /// A text whose bytes that are no UTF-8 are replaced by U+FFFD; nothing as for [`get`](Self::get).
    #[must_use]
    pub fn lossy(&self, row: usize) -> Option<Cow<'a, str>> {
        // Most texts are UTF-8, and asking for that first is ten times as fast as looking for what to replace.
        let text = |bytes| std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        self.bytes(row).map(text)
    }

    /// All texts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&'a [u8]>> + 'a {
        let column = *self;
        (0..self.len()).map(move |row| column.get(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column<'a>(texts: &'a Texts<'_>) -> Column<'a, [u8]> {
        // SAFETY: its own length.
        unsafe { Column::from_raw(&texts.raw(), texts.len()) }
    }

    #[test]
    fn what_goes_in_comes_out() {
        let texts: Vec<Option<String>> = (0..40).map(|i| (i % 7 != 3).then(|| "é".repeat(i % 5))).collect();
        let made = Texts::from(&texts);
        let out: Vec<_> = Column::checked(column(&made)).expect("UTF-8").iter().map(|t| t.map(str::to_owned)).collect();
        assert_eq!(out, texts);
        assert_eq!(column(&made).get(40), None);
        assert_eq!(column(&made).get(usize::MAX), None);
    }

    #[test]
    fn parts_that_are_no_column_are_refused() {
        for (offsets, validity) in
            [(&[][..], None), (&[1, 0], None), (&[-1, 0], None), (&[0, 4], None), (&[0, 1], Some(&[][..]))]
        {
            assert!(Texts::from_parts(offsets, b"abc", validity).is_err(), "{offsets:?}");
        }
        let borrowed = Texts::from_parts(&[1, 2, 3], b"abc", Some(&[0b10])).expect("a column");
        assert_eq!(column(&borrowed).iter().collect::<Vec<_>>(), [None, Some(&b"c"[..])]);
    }

    #[test]
    fn a_borrowed_column_grows_behind_what_it_means() {
        let mut texts = Texts::from_parts(&[0, 1], b"abc", None).expect("a column");
        texts.push(Some("d"));
        texts.push(None::<&str>);
        assert_eq!(column(&texts).iter().collect::<Vec<_>>(), [Some(&b"a"[..]), Some(&b"d"[..]), None]);
    }

    #[test]
    fn half_letters_are_no_str_column() {
        let texts = Texts::from_parts(&[0, 1, 2], "é".as_bytes(), None).expect("a column");
        assert!(Column::checked(column(&texts)).is_none());
        assert_eq!(column(&texts).lossy(0).as_deref(), Some("\u{fffd}"));
    }
}
