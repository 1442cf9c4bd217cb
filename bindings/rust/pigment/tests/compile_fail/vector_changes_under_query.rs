// SPDX-License-Identifier: Apache-2.0
// A request borrows the vectors that it was given by reference.
// stops at: E0502

use pigment::*;

fn docs() -> Collection {
    Client::in_memory().unwrap().get_or_create_collection("docs").unwrap()
}

fn main() {
    let mut vector = vec![0.5f32; 3];
    let query = Query::new().embeddings(&vector);
    vector.push(1.0);
    docs().query(&query).unwrap();
}
