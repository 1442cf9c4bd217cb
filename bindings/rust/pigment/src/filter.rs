// SPDX-License-Identifier: Apache-2.0
//
// Filters as typed expressions. A filter is its JSON text from the first clause on: however deep it is nested, nothing
// recurses, and what the library is asked is what `to_string` shows. The library alone decides what is valid.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{BitAnd, BitOr, Not};

/// A value that a field is compared with: a text, an integer, a float or a bool.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar(String);

impl From<&str> for Scalar {
    fn from(text: &str) -> Self {
        Self(quoted(text))
    }
}

impl From<String> for Scalar {
    fn from(text: String) -> Self {
        Self(quoted(&text))
    }
}

impl From<&String> for Scalar {
    fn from(text: &String) -> Self {
        Self(quoted(text))
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Self {
        Self(value.to_string())
    }
}

macro_rules! integers {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Scalar {
            fn from(value: $kind) -> Self {
                Self(value.to_string())
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl From<f64> for Scalar {
    /// NaN and infinities have no JSON; they are printed as they are called, and the library refuses them.
    fn from(value: f64) -> Self {
        Self(if value.is_finite() { serde_json::json!(value).to_string() } else { format!("{value:?}") })
    }
}

impl From<f32> for Scalar {
    fn from(value: f32) -> Self {
        f64::from(value).into()
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn list(texts: impl IntoIterator<Item = String>) -> String {
    let mut out = String::from("[");
    for (number, text) in texts.into_iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        out.push_str(&text);
    }
    out.push(']');
    out
}

fn scalars<S: Into<Scalar>>(values: impl IntoIterator<Item = S>) -> String {
    list(values.into_iter().map(|value| value.into().0))
}

macro_rules! expression {
    ($name:ident, $document:literal) => {
        #[doc = $document]
        ///
        /// Joined by `&`, `|` and `!`, or by [`all`](Self::all) and [`any`](Self::any). Serializes as its JSON, and deserializes, up to 128 levels;
        /// [`from_json`](Self::from_json) and [`as_json`](Self::as_json) know no depth.
        #[must_use]
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// A filter from its JSON text, of which the library is the judge.
            pub fn from_json(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The JSON text.
            #[must_use]
            pub fn as_json(&self) -> &str {
                &self.0
            }

            /// What matches all of them; the library refuses an empty list.
            pub fn all(clauses: impl IntoIterator<Item = Self>) -> Self {
                Self(format!("{{\"$and\":{}}}", list(clauses.into_iter().map(|clause| clause.0))))
            }

            /// What matches any of them; the library refuses an empty list.
            pub fn any(clauses: impl IntoIterator<Item = Self>) -> Self {
                Self(format!("{{\"$or\":{}}}", list(clauses.into_iter().map(|clause| clause.0))))
            }
        }

        impl BitAnd for $name {
            type Output = Self;
            fn bitand(self, other: Self) -> Self {
                Self::all([self, other])
            }
        }

        impl BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self::any([self, other])
            }
        }

        impl Not for $name {
            type Output = Self;
            fn not(self) -> Self {
                Self(format!("{{\"$not\":{}}}", self.0))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serde_json::from_str::<serde_json::Value>(&self.0)
                    .map_err(serde::ser::Error::custom)?
                    .serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                serde_json::Value::deserialize(deserializer).map(|value| Self(value.to_string()))
            }
        }
    };
}

expression!(
    Filter,
    "Which records, by their fields: Chroma's `where`, see `docs/filters.md`.

```
use pigment::field;
let filter = field(\"lang\").eq(\"en\") & !field(\"year\").lt(2000);
assert_eq!(filter.as_json(), r#\"{\"$and\":[{\"lang\":{\"$eq\":\"en\"}},{\"$not\":{\"year\":{\"$lt\":2000}}}]}\"#);
```"
);
expression!(
    DocumentFilter,
    "Which records, by what their documents say: Chroma's `where_document`.

```
use pigment::DocumentFilter;
let filter = DocumentFilter::contains(\"fox\") | DocumentFilter::regex(\"(?i)dog\");
assert_eq!(filter.as_json(), r#\"{\"$or\":[{\"$contains\":\"fox\"},{\"$regex\":\"(?i)dog\"}]}\"#);
```"
);

/// A field that a filter looks at: a key of metadata, taken whole.
#[must_use]
pub fn field(key: impl AsRef<str>) -> Field {
    Field(quoted(key.as_ref()))
}

/// The id of a record as a field.
#[must_use]
pub fn id() -> Field {
    field("#id")
}

/// The uri of a record as a field.
#[must_use]
pub fn uri() -> Field {
    field("chroma:uri")
}

/// The document of a record as a field, to join what it says with other fields.
#[must_use]
pub fn document() -> Field {
    field("#document")
}

/// A field before it is compared; see [`field`].
#[derive(Clone, Debug)]
pub struct Field(String);

macro_rules! comparisons {
    ($($method:ident, $operator:literal, $document:literal;)*) => {$(
        #[doc = $document]
        #[allow(clippy::should_implement_trait)] // Chroma's words
        pub fn $method(self, value: impl Into<Scalar>) -> Filter {
            self.clause($operator, &value.into().0)
        }
    )*};
}

impl Field {
    comparisons! {
        eq, "$eq", "Equals it. Numbers are one world, texts and bools are two others; a list equals nothing.";
        ne, "$ne", "The opposite of [`eq`](Self::eq): also what has no such field.";
        gt, "$gt", "Is a number above it.";
        gte, "$gte", "Is a number not below it.";
        lt, "$lt", "Is a number below it.";
        lte, "$lte", "Is a number not above it.";
        contains, "$contains", "A list has this element; a document has this text.";
        not_contains, "$not_contains", "The opposite of [`contains`](Self::contains).";
        prefix, "$prefix", "Begins with it.";
        ieq, "$ieq", "Equals it, whatever the case of letters.";
        iprefix, "$iprefix", "Begins with it, whatever the case of letters.";
        icontains, "$icontains", "The document has this text, whatever the case of letters.";
        regex, "$regex", "The document matches the expression somewhere (RE2's syntax).";
        not_regex, "$not_regex", "The opposite of [`regex`](Self::regex).";
    }

    /// Is one of the values, which are of one type.
    pub fn is_in<S: Into<Scalar>>(self, values: impl IntoIterator<Item = S>) -> Filter {
        self.clause("$in", &scalars(values))
    }

    /// The opposite of [`is_in`](Self::is_in).
    pub fn not_in<S: Into<Scalar>>(self, values: impl IntoIterator<Item = S>) -> Filter {
        self.clause("$nin", &scalars(values))
    }

    /// Is neither below the first nor above the second: numbers, or texts by their bytes.
    pub fn between<S: Into<Scalar>>(self, low: S, high: S) -> Filter {
        self.clause("$between", &scalars([low, high]))
    }

    /// The record has the field, or has it not.
    pub fn exists(self, there: bool) -> Filter {
        self.clause("$exists", if there { "true" } else { "false" })
    }

    fn clause(self, operator: &str, operand: &str) -> Filter {
        Filter(format!("{{{}:{{\"{operator}\":{operand}}}}}", self.0))
    }
}

macro_rules! document_comparisons {
    ($($method:ident, $operator:literal, $document:literal;)*) => {$(
        #[doc = $document]
        pub fn $method(text: impl AsRef<str>) -> Self {
            Self(format!("{{\"{}\":{}}}", $operator, quoted(text.as_ref())))
        }
    )*};
}

impl DocumentFilter {
    document_comparisons! {
        contains, "$contains", "The document has this text.";
        not_contains, "$not_contains", "The opposite of [`contains`](Self::contains): also a record without document.";
        icontains, "$icontains", "The document has this text, whatever the case of letters.";
        regex, "$regex", "The document matches the expression somewhere (RE2's syntax).";
        not_regex, "$not_regex", "The opposite of [`regex`](Self::regex): also a record without document.";
    }

    /// The record has a document, or has none.
    pub fn exists(there: bool) -> Self {
        Self(format!("{{\"$exists\":{there}}}"))
    }
}

/// What records are ordered by; see [`Get::order_by`](crate::Get::order_by).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub(crate) key: String,
    pub(crate) descending: bool,
}

impl Order {
    /// Upward by a key of metadata, `#id` or `chroma:uri`.
    #[must_use]
    pub fn by(key: impl Into<String>) -> Self {
        Self { key: key.into(), descending: false }
    }

    /// Downward; what lacks the key still comes last.
    #[must_use]
    pub fn descending(mut self) -> Self {
        self.descending = true;
        self
    }

    pub(crate) fn json(orders: &[Self]) -> String {
        list(
            orders
                .iter()
                .map(|order| format!("{{\"key\":{},\"descending\":{}}}", quoted(&order.key), order.descending)),
        )
    }
}
