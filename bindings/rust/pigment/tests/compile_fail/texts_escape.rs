// SPDX-License-Identifier: Apache-2.0
// Texts are alive during the callback only.
// stops at: E0521

use pigment::*;
use std::sync::Mutex;

static KEPT: Mutex<Vec<Column<'static, [u8]>>> = Mutex::new(Vec::new());

fn embed(_: Purpose, texts: Column<'_, [u8]>, _: &mut Sink<'_>) -> std::result::Result<(), EmbedError> {
    KEPT.lock().unwrap().push(texts);
    Ok(())
}

fn main() {
    EmbeddingFunction::new("f", embed);
}
