// SPDX-License-Identifier: Apache-2.0
// The library keeps an embedding function for as long as it wants.
// stops at: E0373

use pigment::*;

fn main() {
    let function;
    {
        let weight = 0.5f32;
        function = EmbeddingFunction::each("f", |_| Ok(vec![*&weight]));
    }
    drop(function);
}
