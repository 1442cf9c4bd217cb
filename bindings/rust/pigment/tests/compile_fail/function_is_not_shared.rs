// SPDX-License-Identifier: Apache-2.0
// An embedding function is called from several threads.
// stops at: E0277

use pigment::*;

fn main() {
    let calls = std::rc::Rc::new(1);
    EmbeddingFunction::each("f", move |_| Ok(vec![*calls as f32]));
}
