// SPDX-License-Identifier: Apache-2.0
//
// JSON arguments from anything that serializes. JSON has no NaN and no infinity, and serde_json prints them as null, which in
// metadata would delete a key: so they are looked for first, and refused.

use crate::error::{Error, Result};
use serde::ser::{self, Serialize};
use std::fmt;

/// Prints a value as JSON.
pub(crate) fn print<T: Serialize + ?Sized>(what: &str, value: &T) -> Result<String> {
    let refuse = |why: &dyn fmt::Display| Error::invalid(format!("{what}: {why}"));
    value.serialize(Finite).map_err(|why| refuse(&why))?;
    serde_json::to_string(value).map_err(|why| refuse(&why))
}

/// A serializer that writes nothing and refuses numbers that are not finite.
struct Finite;

#[derive(Debug)]
struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

impl ser::Error for Refused {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

type Done = std::result::Result<(), Refused>;

macro_rules! nothing_to_refuse {
    ($($method:ident: $kind:ty),*) => {$(
        fn $method(self, _: $kind) -> Done { Ok(()) }
    )*};
}

impl ser::Serializer for Finite {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    nothing_to_refuse!(serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str);

    fn serialize_f32(self, value: f32) -> Done {
        self.serialize_f64(f64::from(value))
    }
    fn serialize_f64(self, value: f64) -> Done {
        if value.is_finite() {
            return Ok(());
        }
        Err(Refused(format!("{value} is no number that JSON has")))
    }
    fn serialize_none(self) -> Done {
        Ok(())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Done {
        Ok(())
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Done {
        Ok(())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Done {
        value.serialize(self)
    }
    fn serialize_seq(self, _: Option<usize>) -> std::result::Result<Self, Refused> {
        Ok(self)
    }
    fn serialize_tuple(self, _: usize) -> std::result::Result<Self, Refused> {
        Ok(self)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> std::result::Result<Self, Refused> {
        Ok(self)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> std::result::Result<Self, Refused> {
        Ok(self)
    }
    fn serialize_map(self, _: Option<usize>) -> std::result::Result<Self, Refused> {
        Ok(self)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> std::result::Result<Self, Refused> {
        Ok(self)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> std::result::Result<Self, Refused> {
        Ok(self)
    }
}

macro_rules! elements {
    ($($part:ident: $method:ident),*) => {$(
        impl ser::$part for Finite {
            type Ok = ();
            type Error = Refused;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Done { value.serialize(Finite) }
            fn end(self) -> Done { Ok(()) }
        }
    )*};
}
elements!(SerializeSeq: serialize_element, SerializeTuple: serialize_element, SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field);

macro_rules! fields {
    ($($part:ident),*) => {$(
        impl ser::$part for Finite {
            type Ok = ();
            type Error = Refused;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Done {
                value.serialize(Finite).map_err(|why| Refused(format!("{key}: {why}")))
            }
            fn end(self) -> Done { Ok(()) }
        }
    )*};
}
fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Finite {
    type Ok = ();
    type Error = Refused;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Done {
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(Finite)
    }
    fn end(self) -> Done {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::print;
    use std::collections::BTreeMap;

    #[derive(serde::Serialize)]
    struct Page {
        title: &'static str,
        score: Option<f64>,
        parts: Vec<(i32, f32)>,
    }

    #[test]
    fn numbers_that_json_lacks_are_refused_wherever_they_stand() {
        let page = |score, part| Page { title: "a", score, parts: vec![(1, part)] };
        assert_eq!(
            print("metadata", &page(None, 0.5)).expect("finite"),
            r#"{"title":"a","score":null,"parts":[[1,0.5]]}"#
        );
        let error = print("metadata", &page(Some(f64::NAN), 0.5)).expect_err("NaN");
        assert_eq!(&*error.message, "metadata: score: NaN is no number that JSON has");
        assert!(print("metadata", &page(None, f32::INFINITY)).is_err());
        assert!(print("metadata", &BTreeMap::from([("a", f64::NEG_INFINITY)])).is_err());
    }
}
