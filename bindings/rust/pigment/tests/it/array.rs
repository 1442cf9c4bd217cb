// SPDX-License-Identifier: Apache-2.0
//
// ndarray's views in and out: whatever their layout, the numbers are the same.

use ndarray::{array, s, Array2, Axis};
use pigment::{Client, Get, Include, Query, Records};

#[test]
fn views_of_every_layout_are_the_same_rows() {
    let whole = Array2::from_shape_fn((6, 4), |(row, column)| (row * 10 + column) as f32);
    let transposed = whole.t().to_owned();
    let views = [
        whole.view(),
        whole.slice(s![..;2, ..]),
        whole.slice(s![1.., 1..3]),
        whole.slice(s![..;-1, ..]),
        whole.slice(s![.., ..;-1]),
        whole.slice(s![.., ..;2]),
        transposed.t(),
        whole.slice(s![..1, ..]),
        whole.slice(s![2..3, 1..2]),
    ];
    for view in views {
        let docs =
            Client::in_memory().expect("a store").create_collection("docs", Default::default()).expect("a collection");
        let ids: Vec<String> = (0..view.nrows()).map(|row| row.to_string()).collect();
        docs.add(&Records::new(&ids).embeddings(view)).expect("added");
        let found = docs.get(&Get::new().include(Include::EMBEDDINGS)).expect("records");
        assert_eq!(found.embeddings_array().expect("embeddings"), view);
        let nearest = docs.query(&Query::new().embeddings(view.index_axis(Axis(0), 0)).n_results(1)).expect("found");
        assert_eq!((nearest.row(0).id(), nearest.row(0).distance()), ("0", Some(0.0)));
    }
    assert_eq!(pigment::Vectors::from(array![[1i64, 2], [3, 4]]).rows(), 2);
    let none = Array2::<f32>::zeros((0, 4));
    assert_eq!(pigment::Vectors::from(&none).rows(), 0);
}
