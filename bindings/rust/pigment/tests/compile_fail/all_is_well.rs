// SPDX-License-Identifier: Apache-2.0
// What the others do, done right.
// stops at: nothing

use pigment::*;

fn docs() -> Collection {
    Client::in_memory().unwrap().get_or_create_collection("docs").unwrap()
}

fn main() {
    let docs = docs();
    let vector = vec![0.5f32; 3];
    let found = docs.query(&Query::new().embeddings(&vector)).unwrap();
    let ids = found.ids();
    drop(docs);
    println!("{:?}", ids.get(0));
}
