// SPDX-License-Identifier: Apache-2.0
//
// The structs lie in memory as the C compiler lays them out, and the library is of the version declared.

use serde_json::Value;
use std::process::Command;

#[test]
fn structs_lie_as_the_c_compiler_lays_them_out() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tables/layouts");
    let run = Command::new("python3").arg(script).output().expect("python3 runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let layouts: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let layouts = layouts.as_object().expect("an object");
    assert_eq!(layouts.len(), pigment_sys::LAYOUTS.len());
    assert!(layouts.len() >= 15);
    for pigment_sys::Layout { name, size, fields } in pigment_sys::LAYOUTS {
        let layout = &layouts[*name];
        assert_eq!(layout["size"], *size, "size of {name}");
        let offsets = layout["offsets"].as_object().expect("an object");
        assert_eq!(offsets.len(), fields.len(), "fields of {name}");
        for (field, offset) in *fields {
            assert_eq!(offsets[*field], *offset, "{name}.{field}");
        }
    }
}

#[test]
fn sized_structs_say_their_size() {
    assert_eq!(pigment_sys::pigment_records::new().struct_size, core::mem::size_of::<pigment_sys::pigment_records>());
    let request = pigment_sys::pigment_query_request::new();
    assert!(request.embeddings.data.is_null() && request.n_results == 0 && !request.explain);
}

#[test]
fn library_has_the_declared_abi() {
    // SAFETY: takes nothing.
    assert_eq!(unsafe { pigment_sys::pigment_abi_version() }, pigment_sys::PIGMENT_ABI_VERSION);
}
