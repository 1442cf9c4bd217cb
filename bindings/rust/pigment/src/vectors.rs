// SPDX-License-Identifier: Apache-2.0
//
// Matrices of numbers that go into the library: borrowed where they lie in one piece, else copied once.

use crate::error::{Error, Result};
use pigment_sys as sys;
use std::borrow::Cow;

/// An IEEE half, as its bits. Crates with a type for it have `to_bits`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct F16(pub u16);

/// A type of number that embeddings may have; the library keeps them as f32 and refuses what that cannot hold.
pub trait Element: Copy + sealed::Sealed + 'static {
    #[doc(hidden)]
    const DTYPE: i32;
    #[doc(hidden)]
    fn hold(values: Cow<'_, [Self]>) -> Values<'_>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($kind:ty, $variant:ident, $dtype:ident);*) => {
        #[doc(hidden)]
        #[derive(Clone, Debug)]
        pub enum Values<'a> { $($variant(Cow<'a, [$kind]>)),* }

        impl Values<'_> {
            fn as_ptr(&self) -> *const std::ffi::c_void {
                match self { $(Self::$variant(values) => values.as_ptr().cast()),* }
            }
            fn dtype(&self) -> i32 {
                match self { $(Self::$variant(_) => <$kind>::DTYPE),* }
            }
            fn into_owned(self) -> Values<'static> {
                match self { $(Self::$variant(values) => Values::$variant(Cow::Owned(values.into_owned()))),* }
            }
            fn borrowed(&self) -> Values<'_> {
                match self { $(Self::$variant(values) => Values::$variant(Cow::Borrowed(values))),* }
            }
        }
        $(
            impl sealed::Sealed for $kind {}
            impl Element for $kind {
                const DTYPE: i32 = sys::$dtype;
                fn hold(values: Cow<'_, [Self]>) -> Values<'_> {
                    Values::$variant(values)
                }
            }
        )*
    };
}
elements!(f32, F32, PIGMENT_F32; F16, F16, PIGMENT_F16; f64, F64, PIGMENT_F64; i32, I32, PIGMENT_I32; i64, I64, PIGMENT_I64);

/// Embeddings that go into the library, one row a record or a query.
///
/// One vector is a slice or a `Vec` of numbers; several are arrays or vectors of these, or [`Vectors::matrix`] of one piece.
///
/// ```
/// use pigment::Vectors;
/// let one = Vectors::from(&[0.1f32, 0.2][..]);
/// let two = Vectors::from([[1.0f32, 0.0], [0.0, 1.0]]);
/// assert_eq!((one.rows(), two.rows(), two.dimension()), (1, 2, 2));
/// ```
#[derive(Clone, Debug)]
pub struct Vectors<'a> {
    values: Values<'a>,
    rows: usize,
    dimension: usize,
    row_stride_bytes: usize,
    ragged: Option<(usize, usize)>,
}

impl<'a> Vectors<'a> {
    /// Rows of `dimension` numbers, one after the other.
    ///
    /// # Errors
    /// `values` is no whole number of rows.
    pub fn matrix<T: Element>(values: impl Into<Cow<'a, [T]>>, dimension: usize) -> Result<Self> {
        let values = values.into();
        if dimension == 0 || values.len() % dimension != 0 {
            let message = format!("{} numbers are no rows of {dimension}", values.len());
            return Err(Error::invalid(message));
        }
        Ok(Self::packed(values, dimension))
    }

    /// A whole number of rows, which the caller has made sure of.
    fn packed<T: Element>(values: Cow<'a, [T]>, dimension: usize) -> Self {
        let rows = values.len().checked_div(dimension).unwrap_or(0);
        Self { values: T::hold(values), rows, dimension, row_stride_bytes: 0, ragged: None }
    }

    /// Rows that are `stride` numbers apart.
    #[cfg(feature = "ndarray")]
    pub(crate) fn strided<T: Element>(values: &'a [T], rows: usize, dimension: usize, stride: usize) -> Self {
        assert!(rows == 0 || (stride >= dimension && (rows - 1) * stride + dimension <= values.len()));
        let row_stride_bytes = stride * std::mem::size_of::<T>();
        Self { values: T::hold(Cow::Borrowed(values)), rows, dimension, row_stride_bytes, ragged: None }
    }

    #[cfg(feature = "ndarray")]
    pub(crate) fn owned<T: Element>(values: Vec<T>, rows: usize, dimension: usize) -> Self {
        Self { values: T::hold(Cow::Owned(values)), rows, dimension, row_stride_bytes: 0, ragged: None }
    }

    fn copied<T: Element, R: AsRef<[T]>>(rows: &[R]) -> Self {
        let dimension = rows.first().map_or(0, |row| row.as_ref().len());
        let mut values = Vec::with_capacity(rows.len() * dimension);
        let mut ragged = None;
        for (number, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != dimension {
                ragged = ragged.or(Some((number, row.len())));
            }
            values.extend_from_slice(row);
        }
        Self { values: T::hold(Cow::Owned(values)), rows: rows.len(), dimension, row_stride_bytes: 0, ragged }
    }

    /// How many vectors.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many numbers each has.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The same vectors with nothing borrowed.
    #[must_use]
    pub fn into_owned(self) -> Vectors<'static> {
        let Self { values, rows, dimension, row_stride_bytes, ragged } = self;
        Vectors { values: values.into_owned(), rows, dimension, row_stride_bytes, ragged }
    }

    /// As the library takes them. What it cannot see, rows of different lengths, is refused here.
    pub(crate) fn raw(&self) -> Result<sys::pigment_vectors> {
        if let Some((row, got)) = self.ragged {
            let message = format!("inconsistent dimensions in embeddings: the first has {}, got {got}", self.dimension);
            let mut error = Error::new(crate::ErrorKind::InvalidArgument, crate::Detail::Dimension, message);
            error.row = Some(row as u64);
            return Err(error);
        }
        Ok(sys::pigment_vectors {
            data: self.values.as_ptr(),
            rows: self.rows,
            dimension: self.dimension,
            row_stride_bytes: self.row_stride_bytes,
            dtype: self.values.dtype(),
        })
    }
}

/// The vectors as the library takes them, absent when there are none.
pub(crate) fn raw_or_absent(vectors: Option<&Vectors<'_>>) -> Result<sys::pigment_vectors> {
    vectors.map_or_else(|| Ok(sys::pigment_vectors::new()), Vectors::raw)
}

/// The same vectors, borrowed.
impl<'a> From<&'a Vectors<'_>> for Vectors<'a> {
    fn from(vectors: &'a Vectors<'_>) -> Self {
        Self { values: vectors.values.borrowed(), ..*vectors }
    }
}

/// One vector.
impl<'a, T: Element> From<&'a [T]> for Vectors<'a> {
    fn from(values: &'a [T]) -> Self {
        Self { rows: 1, ..Self::packed(Cow::Borrowed(values), values.len()) }
    }
}

/// One vector.
impl<'a, T: Element> From<&'a Vec<T>> for Vectors<'a> {
    fn from(values: &'a Vec<T>) -> Self {
        values.as_slice().into()
    }
}

/// One vector.
impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Vectors<'a> {
    fn from(values: &'a [T; N]) -> Self {
        values.as_slice().into()
    }
}

/// One vector.
impl<T: Element> From<Vec<T>> for Vectors<'_> {
    fn from(values: Vec<T>) -> Self {
        let dimension = values.len();
        Self { rows: 1, ..Self::packed(Cow::Owned(values), dimension) }
    }
}

/// Several vectors, of one length.
impl<T: Element, const D: usize, const N: usize> From<[[T; D]; N]> for Vectors<'_> {
    fn from(rows: [[T; D]; N]) -> Self {
        Self { rows: N, ..Self::packed(Cow::Owned(rows.as_flattened().to_vec()), D) }
    }
}

/// Several vectors, of one length.
impl<'a, T: Element, const D: usize> From<&'a [[T; D]]> for Vectors<'a> {
    fn from(rows: &'a [[T; D]]) -> Self {
        Self { rows: rows.len(), ..Self::packed(Cow::Borrowed(rows.as_flattened()), D) }
    }
}

/// Several vectors; that they are of one length is looked at by the call that takes them.
impl<T: Element> From<Vec<Vec<T>>> for Vectors<'_> {
    fn from(rows: Vec<Vec<T>>) -> Self {
        Self::copied(&rows)
    }
}

/// Several vectors; that they are of one length is looked at by the call that takes them.
impl<T: Element> From<&[Vec<T>]> for Vectors<'_> {
    fn from(rows: &[Vec<T>]) -> Self {
        Self::copied(rows)
    }
}

/// Several vectors; that they are of one length is looked at by the call that takes them.
impl<T: Element> From<&Vec<Vec<T>>> for Vectors<'_> {
    fn from(rows: &Vec<Vec<T>>) -> Self {
        Self::copied(rows)
    }
}

/// Several vectors; that they are of one length is looked at by the call that takes them.
impl<T: Element> From<&[&[T]]> for Vectors<'_> {
    fn from(rows: &[&[T]]) -> Self {
        Self::copied(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_different_lengths_are_named() {
        let error = Vectors::from(vec![vec![1.0f32, 2.0], vec![3.0], vec![]]).raw().expect_err("ragged");
        assert_eq!((error.detail, error.row), (crate::Detail::Dimension, Some(1)));
        assert!(Vectors::matrix(&[1.0f32, 2.0, 3.0][..], 2).is_err());
        assert!(Vectors::matrix(Vec::<f64>::new(), 0).is_err());
    }

    #[test]
    fn one_piece_is_not_copied() {
        let values = [[1i64, 2], [3, 4]];
        let raw = Vectors::from(&values[..]).raw().expect("a matrix");
        assert_eq!(raw.data, values.as_ptr().cast());
        assert_eq!((raw.rows, raw.dimension, raw.dtype), (2, 2, sys::PIGMENT_I64));
    }

    #[test]
    fn empty_matrices_keep_their_rows() {
        let raw = Vectors::from(vec![Vec::<f32>::new(); 2]).raw().expect("two rows of nothing");
        assert_eq!((raw.rows, raw.dimension), (2, 0));
        assert!(!raw.data.is_null());
    }
}
