// SPDX-License-Identifier: Apache-2.0
// Records borrow the matrix that they were given by reference.
// stops at: E0597

use pigment::*;

fn docs() -> Collection {
    Client::in_memory().unwrap().get_or_create_collection("docs").unwrap()
}

fn main() {
    let records;
    {
        let matrix = vec![0.5f32; 6];
        records = Records::new(["a", "b"]).embeddings(Vectors::matrix(&matrix[..], 3).unwrap());
    }
    docs().add(&records).unwrap();
}
