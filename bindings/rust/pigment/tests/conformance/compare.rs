// SPDX-License-Identifier: Apache-2.0
//
// What matches what: tests/conformance/README.md.

use serde_json::Value;

fn is_special(value: &Value, word: &str) -> bool {
    value.as_object().is_some_and(|object| object.len() == 1 && object.contains_key(word))
}

/// Within metadata 1 and 1.0 are different values; elsewhere numbers are f32 that went through text.
fn same_number(expected: &Value, actual: &Value, exact: bool) -> bool {
    if exact {
        return expected == actual;
    }
    let (a, b) = (expected.as_f64().unwrap_or(f64::NAN), actual.as_f64().unwrap_or(f64::NAN));
    a == b || (a - b).abs() <= 1e-5 * a.abs().max(b.abs()) + 1e-7
}

pub fn answer(expected: &Value, actual: &Value, path: &str, exact: bool) -> Result<(), String> {
    let differ = || Err(format!("{path}: expected {expected}, got {actual}"));
    if is_special(expected, "$any") {
        return Ok(());
    }
    match (expected, actual) {
        (Value::Number(_), Value::Number(_)) => {
            if same_number(expected, actual, exact) {
                Ok(())
            } else {
                differ()
            }
        }
        (Value::Array(wanted), Value::Array(got)) => {
            if wanted.len() != got.len() {
                return differ();
            }
            wanted.iter().zip(got).enumerate().try_for_each(|(i, (a, b))| answer(a, b, &format!("{path}[{i}]"), exact))
        }
        (Value::Object(wanted), Value::Object(got)) => {
            for (key, value) in wanted {
                let inner = format!("{path}.{key}");
                match got.get(key) {
                    Some(there) if is_special(value, "$absent") => {
                        return Err(format!("{inner}: expected to be absent, got {there}"))
                    }
                    None if is_special(value, "$absent") => {}
                    None => return Err(format!("{inner}: is missing in {actual}")),
                    Some(there) => answer(value, there, &inner, exact || key == "metadatas" || key == "metadata")?,
                }
            }
            if exact && wanted.len() < got.len() {
                differ()
            } else {
                Ok(())
            }
        }
        _ => {
            if expected == actual {
                Ok(())
            } else {
                differ()
            }
        }
    }
}

pub fn error(expected: &Value, actual: &pigment::Error) -> Result<(), String> {
    if expected["code"] != actual.kind.constant_name() {
        return Err("another code".into());
    }
    if expected.get("detail").is_some_and(|detail| detail != actual.detail.constant_name()) {
        return Err("another detail".into());
    }
    if expected.get("row").is_some_and(|row| row.as_u64() != actual.row) {
        return Err("another row".into());
    }
    for part in expected["message"].as_array().into_iter().flatten() {
        if !actual.message.contains(part.as_str().expect("a text")) {
            return Err(format!("no {part} in it"));
        }
    }
    Ok(())
}
