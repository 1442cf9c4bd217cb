// SPDX-License-Identifier: Apache-2.0

//! Arrow's record batches in and out, with columns `id`, `embedding`, `document`, `metadata` (JSON) and `uri`; results have `query`,
//! `distance` and `score` too. Large texts and vectors of 32-bit floats go in without a copy; what comes out is copied once.

pub use arrow_array;
pub use arrow_schema;

use crate::error::{Error, Result};
use crate::records::Records;
use crate::result::Results;
use crate::texts::{Column, Texts};
use crate::vectors::{Element, Vectors, F16};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, Float32Array, LargeStringArray, RecordBatch, UInt64Array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::borrow::Cow;
use std::sync::Arc;

impl<'a> Records<'a> {
    /// The records of a batch, whose columns may come in any order.
    ///
    /// # Errors
    /// There is no column `id`, one of another name, or one of a type that does not fit; an embedding is null.
    pub fn from_batch(batch: &'a RecordBatch) -> Result<Self> {
        let id = batch.column_by_name("id").ok_or_else(|| Error::invalid("the batch has no column \"id\""))?;
        let mut records = Records::new(texts("id", id)?);
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            records = match field.name().as_str() {
                "id" => records,
                "embedding" => records.embeddings(vectors(column)?),
                "document" => records.documents(texts("document", column)?),
                "metadata" => records.metadatas_json(texts("metadata", column)?),
                "uri" => records.uris(texts("uri", column)?),
                name => return Err(Error::invalid(format!("the batch has a column {name:?}, which no record has"))),
            };
        }
        Ok(records)
    }
}

fn texts<'a>(name: &str, column: &'a ArrayRef) -> Result<Texts<'a>> {
    match column.data_type() {
        DataType::LargeUtf8 => {
            let array = column.as_string::<i64>();
            // Bits that begin within a byte are another layout than ours.
            if array.nulls().is_some_and(|nulls| nulls.offset() != 0) {
                return Ok(array.iter().collect());
            }
            Texts::from_parts(array.value_offsets(), array.values(), array.nulls().map(NullBuffer::validity))
        }
        DataType::Utf8 => Ok(column.as_string::<i32>().iter().collect()),
        DataType::Utf8View => Ok(column.as_string_view().iter().collect()),
        DataType::LargeBinary => Ok(column.as_binary::<i64>().iter().collect()),
        DataType::Binary => Ok(column.as_binary::<i32>().iter().collect()),
        other => Err(Error::invalid(format!("column {name:?} is of texts, got {other}"))),
    }
}

fn vectors(column: &ArrayRef) -> Result<Vectors<'_>> {
    let Some(list) = column.as_fixed_size_list_opt() else {
        let message = format!("column \"embedding\" is of fixed-size lists, got {}", column.data_type());
        return Err(Error::invalid(message));
    };
    let dimension = list.value_length() as usize;
    let values = list.values();
    // A null list stands on values all the same, so both kinds are looked for.
    let null = list.nulls().and_then(|nulls| (0..nulls.len()).find(|row| nulls.is_null(*row)));
    let within =
        || values.nulls().and_then(|nulls| (0..nulls.len()).find(|at| nulls.is_null(*at)).map(|at| at / dimension));
    if let Some(row) = null.or_else(within) {
        let mut error = Error::invalid("an embedding is null, or has a number that is");
        error.row = Some(row as u64);
        return Err(error);
    }
    match values.data_type() {
        DataType::Float32 => numbers::<Float32Type>(values, dimension),
        DataType::Float64 => numbers::<Float64Type>(values, dimension),
        DataType::Int32 => numbers::<Int32Type>(values, dimension),
        DataType::Int64 => numbers::<Int64Type>(values, dimension),
        DataType::Float16 => {
            let halves = values.as_primitive::<Float16Type>().values().iter();
            Vectors::matrix(halves.map(|half| F16(half.to_bits())).collect::<Vec<_>>(), dimension)
        }
        other => Err(Error::invalid(format!("an embedding is of floats or integers of 32 or 64 bits, got {other}"))),
    }
}

fn numbers<T: ArrowPrimitiveType>(values: &ArrayRef, dimension: usize) -> Result<Vectors<'_>>
where
    T::Native: Element,
{
    let values: &[T::Native] = values.as_primitive::<T>().values();
    Vectors::matrix(Cow::Borrowed(values), dimension)
}

impl Results {
    /// All rows as a batch: `query`, the number of the query that a row answers, `id`, and what is included.
    ///
    /// # Errors
    /// A document that is no UTF-8, which Arrow's texts cannot hold.
    pub fn to_batch(&self) -> Result<RecordBatch> {
        let mut fields = Vec::new();
        let mut columns: Vec<ArrayRef> = Vec::new();
        let mut add = |name: &str, column: ArrayRef, nullable| {
            fields.push(Field::new(name, column.data_type().clone(), nullable));
            columns.push(column);
        };
        let numbers = (0..self.query_count()).flat_map(|query| self.range(query).map(move |_| query as u64));
        add("query", Arc::new(UInt64Array::from_iter_values(numbers)), false);
        add("id", column(self.ids())?, false);
        if let Some(documents) = self.documents() {
            let refused = || Error::invalid("a document is no UTF-8, which Arrow's texts cannot hold");
            add("document", column(Column::checked(documents).ok_or_else(refused)?)?, true);
        }
        for (name, texts) in [("metadata", self.metadatas()), ("uri", self.uris()), ("highlights", self.highlights())] {
            if let Some(texts) = texts {
                add(name, column(texts)?, true);
            }
        }
        for (name, values) in [("distance", self.distances()), ("score", self.scores())] {
            if let Some(values) = values {
                add(name, Arc::new(Float32Array::from(values.to_vec())), false);
            }
        }
        if let Some((values, dimension)) = self.embeddings() {
            let item = Arc::new(Field::new("item", DataType::Float32, false));
            let size = i32::try_from(dimension).map_err(|_| Error::invalid("a dimension that Arrow cannot hold"))?;
            let values = Arc::new(Float32Array::from(values.to_vec()));
            let list =
                FixedSizeListArray::try_new_with_length(item, size, values, None, self.len()).map_err(refused)?;
            add("embedding", Arc::new(list), false);
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(refused)
    }
}

fn refused(error: ArrowError) -> Error {
    Error::invalid(format!("arrow: {error}"))
}

fn column(texts: Column<'_, str>) -> Result<ArrayRef> {
    let (offsets, bytes, validity) = texts.parts();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets.to_vec()));
    let nulls = validity.map(|bits| NullBuffer::new(BooleanBuffer::new(Buffer::from(bits), 0, texts.len())));
    let array = LargeStringArray::try_new(offsets, Buffer::from(bytes), nulls).map_err(refused)?;
    Ok(Arc::new(array))
}
