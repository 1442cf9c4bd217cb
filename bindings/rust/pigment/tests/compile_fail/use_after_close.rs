// SPDX-License-Identifier: Apache-2.0
// A closed client is gone.
// stops at: E0382

use pigment::*;

fn docs() -> Collection {
    Client::in_memory().unwrap().get_or_create_collection("docs").unwrap()
}

fn main() {
    let client = Client::in_memory().unwrap();
    client.close().unwrap_or_else(|(_, error)| panic!("{error}"));
    client.flush().unwrap();
}
