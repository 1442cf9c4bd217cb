// SPDX-License-Identifier: Apache-2.0
// A cursor is borrowed from the result.
// stops at: E0505

use pigment::*;

fn docs() -> Collection {
    Client::in_memory().unwrap().get_or_create_collection("docs").unwrap()
}

fn main() {
    let found = docs().get(&Get::new()).unwrap();
    let cursor = found.cursor();
    drop(found);
    println!("{cursor:?}");
}
