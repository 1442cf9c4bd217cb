// SPDX-License-Identifier: Apache-2.0
//
// Vectors from and to ndarray's views: rows whose numbers lie one after the other are not copied, however far the rows are apart.

use crate::result::Results;
use crate::vectors::{Element, Vectors};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

/// One row a vector.
impl<'a, T: Element> From<ArrayView2<'a, T>> for Vectors<'a> {
    fn from(view: ArrayView2<'a, T>) -> Self {
        let (rows, dimension) = view.dim();
        if let Some(values) = view.to_slice() {
            return Self::strided(values, rows, dimension, dimension);
        }
        match (view.strides(), usize::try_from(view.strides()[0])) {
            ([_, 1], Ok(stride)) if rows > 0 && dimension > 0 && stride >= dimension => {
                let numbers = (rows - 1) * stride + dimension;
                // SAFETY: from the first number of the view to the last one, both in the array that `'a` borrows.
                let values = unsafe { std::slice::from_raw_parts(view.as_ptr(), numbers) };
                Self::strided(values, rows, dimension, stride)
            }
            _ => Self::copied_array(view),
        }
    }
}

impl<'a, T: Element> From<&'a Array2<T>> for Vectors<'a> {
    fn from(array: &'a Array2<T>) -> Self {
        array.view().into()
    }
}

impl<T: Element> From<Array2<T>> for Vectors<'_> {
    fn from(array: Array2<T>) -> Self {
        Self::copied_array(array.view())
    }
}

/// One vector.
impl<'a, T: Element> From<ArrayView1<'a, T>> for Vectors<'a> {
    fn from(view: ArrayView1<'a, T>) -> Self {
        match view.to_slice() {
            Some(values) => values.into(),
            None => view.to_vec().into(),
        }
    }
}

/// One vector.
impl<'a, T: Element> From<&'a Array1<T>> for Vectors<'a> {
    fn from(array: &'a Array1<T>) -> Self {
        array.view().into()
    }
}

impl<'a> Vectors<'a> {
    fn copied_array<T: Element>(view: ArrayView2<'_, T>) -> Self {
        let (rows, dimension) = view.dim();
        Self::owned(view.iter().copied().collect(), rows, dimension)
    }
}

impl Results {
    /// The embeddings of all rows, when they are included: a view, nothing is copied.
    #[must_use]
    pub fn embeddings_array(&self) -> Option<ArrayView2<'_, f32>> {
        let (values, dimension) = self.embeddings()?;
        ArrayView2::from_shape((self.len(), dimension), values).ok()
    }
}
