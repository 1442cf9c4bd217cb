// SPDX-License-Identifier: Apache-2.0
// Rows are borrowed from the result.
// stops at: E0716

use pigment::*;

fn docs() -> Collection {
    Client::in_memory().unwrap().get_or_create_collection("docs").unwrap()
}

fn main() {
    let rows = docs().get(&Get::new()).unwrap().rows();
    println!("{}", rows.count());
}
