// SPDX-License-Identifier: Apache-2.0
// Columns are borrowed from the result.
// stops at: E0505

use pigment::*;

fn docs() -> Collection {
    Client::in_memory().unwrap().get_or_create_collection("docs").unwrap()
}

fn main() {
    let found = docs().get(&Get::new()).unwrap();
    let ids = found.ids();
    drop(found);
    println!("{:?}", ids.get(0));
}
