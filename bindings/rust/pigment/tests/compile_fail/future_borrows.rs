// SPDX-License-Identifier: Apache-2.0
// What a future takes travels to another thread.
// stops at: E0597

use pigment::*;

fn docs() -> Collection {
    Client::in_memory().unwrap().get_or_create_collection("docs").unwrap()
}

fn main() {
    let job;
    {
        let vector = vec![0.5f32; 3];
        job = docs().asynchronous().query(Query::new().embeddings(&vector));
    }
    drop(job);
}
