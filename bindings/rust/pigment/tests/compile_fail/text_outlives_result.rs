// SPDX-License-Identifier: Apache-2.0
// A text is borrowed from the result, not from the row that gave it.
// stops at: E0597

use pigment::*;

fn docs() -> Collection {
    Client::in_memory().unwrap().get_or_create_collection("docs").unwrap()
}

fn main() {
    let id;
    {
        let found = docs().get(&Get::new()).unwrap();
        id = found.row(0).id();
    }
    println!("{id}");
}
