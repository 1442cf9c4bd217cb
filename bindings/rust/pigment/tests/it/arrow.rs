// SPDX-License-Identifier: Apache-2.0
//
// Batches in and out: every type that fits, sliced and whole, and what does not fit is named.

use pigment::arrow::arrow_array::types::{Float32Type, Float64Type, Int64Type};
use pigment::arrow::arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Int32Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use pigment::{Client, Collection, Get, Include, Query, Records};
use std::sync::Arc;

fn docs() -> Collection {
    Client::in_memory().expect("a store").create_collection("docs", Default::default()).expect("a collection")
}

fn lists(rows: usize) -> ArrayRef {
    let row = |n: usize| Some(vec![Some(n as f32), Some(0.5)]);
    Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>((0..rows).map(row), 2))
}

fn batch(rows: usize) -> RecordBatch {
    let ids: Vec<String> = (0..rows).map(|row| format!("id {row}")).collect();
    let documents: Vec<Option<String>> = (0..rows).map(|row| (row % 3 != 1).then(|| format!("text {row}"))).collect();
    RecordBatch::try_from_iter_with_nullable([
        ("embedding", lists(rows), false),
        ("id", Arc::new(LargeStringArray::from(ids.clone())) as ArrayRef, false),
        ("document", Arc::new(LargeStringArray::from(documents.clone())), true),
        ("metadata", Arc::new(StringArray::from_iter((0..rows).map(|n| Some(format!("{{\"n\":{n}}}"))))), true),
        ("uri", Arc::new(StringViewArray::from_iter(documents)), true),
    ])
    .expect("a batch")
}

#[test]
fn what_goes_in_as_a_batch_comes_out_as_one() {
    for (whole, from, rows) in [(20, 0, 20), (40, 13, 20), (40, 8, 9), (5, 5, 0)] {
        let docs = docs();
        let part = batch(whole).slice(from, rows);
        if rows == 0 {
            assert!(docs.add(&Records::from_batch(&part).expect("records")).is_err(), "no ids");
            continue;
        }
        assert_eq!(docs.add(&Records::from_batch(&part).expect("records")).expect("added").inserted, rows as u64);
        let all = Include::DOCUMENTS | Include::METADATAS | Include::URIS | Include::EMBEDDINGS;
        let found = docs.get(&Get::new().include(all)).expect("records").to_batch().expect("a batch");
        for name in ["id", "document"] {
            assert_eq!(found.column_by_name(name), part.column_by_name(name), "{name} of {from}..{}", from + rows);
        }
        let lists = |batch: &RecordBatch| {
            let column = batch.column_by_name("embedding").expect("embeddings");
            Arc::clone(column.as_any().downcast_ref::<FixedSizeListArray>().expect("lists").values())
        };
        assert_eq!(&lists(&found), &lists(&part));
        assert_eq!(
            found.column_by_name("uri").expect("uris").null_count(),
            part.column_by_name("uri").expect("uris").null_count()
        );
        let nearest =
            docs.query(&Query::new().embeddings([[from as f32, 0.5], [1e6, 0.5]]).n_results(1)).expect("found");
        let nearest = nearest.to_batch().expect("a batch");
        assert_eq!(nearest.num_rows(), 2);
        assert!(nearest.column_by_name("distance").is_some() && nearest.column_by_name("score").is_none());
    }
    let none = docs()
        .get(&Get::new().include(Include::EMBEDDINGS | Include::DOCUMENTS))
        .expect("nothing")
        .to_batch()
        .expect("a batch");
    assert_eq!(none.num_rows(), 0);
}

#[test]
fn numbers_of_every_type_are_the_same_vectors() {
    let wide = FixedSizeListArray::from_iter_primitive::<Float64Type, _, _>([Some(vec![Some(3.0), Some(4.0)])], 2);
    let whole = FixedSizeListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(3), Some(4)])], 2);
    for list in [Arc::new(wide) as ArrayRef, Arc::new(whole)] {
        let docs = docs();
        let ids: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        let batch = RecordBatch::try_from_iter([("id", ids), ("embedding", list)]).expect("a batch");
        docs.add(&Records::from_batch(&batch).expect("records")).expect("added");
        assert_eq!(docs.peek(1).expect("it").row(0).embedding(), Some(&[3.0f32, 4.0][..]));
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let refused = |columns: Vec<(&str, ArrayRef)>| {
        let batch =
            RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
                .expect("a batch");
        Records::from_batch(&batch).expect_err("refused")
    };
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    assert!(refused(vec![("document", ids.clone())]).message.contains("no column \"id\""));
    assert!(refused(vec![("id", numbers.clone())]).message.contains("\"id\" is of texts"));
    assert!(refused(vec![("id", ids.clone()), ("colour", ids.clone())]).message.contains("\"colour\""));
    assert!(refused(vec![("id", ids.clone()), ("embedding", numbers)]).message.contains("fixed-size"));
    let null = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>([Some(vec![Some(1.0)]), None], 1);
    assert_eq!(refused(vec![("id", ids.clone()), ("embedding", Arc::new(null))]).row, Some(1));
    let hole = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(
        [Some(vec![Some(1.0), Some(2.0)]), Some(vec![Some(1.0), None])],
        2,
    );
    assert_eq!(refused(vec![("id", ids), ("embedding", Arc::new(hole))]).row, Some(1));
    let docs = docs();
    docs.add(&Records::new(["a"]).embeddings([[1.0f32]]).documents([&b"\xff"[..]])).expect("added");
    assert!(docs.get(&Get::new()).expect("it").to_batch().expect_err("no UTF-8").message.contains("UTF-8"));
}
