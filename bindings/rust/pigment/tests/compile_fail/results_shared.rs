// SPDX-License-Identifier: Apache-2.0
// A result is for one thread at a time.
// stops at: E0277

use pigment::*;

fn docs() -> Collection {
    Client::in_memory().unwrap().get_or_create_collection("docs").unwrap()
}

fn main() {
    let found = docs().get(&Get::new()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| found.position());
    });
}
