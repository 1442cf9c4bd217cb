// SPDX-License-Identifier: Apache-2.0
//
// The builder prints the JSON that the same filter has as a value, whatever the texts and however deep; and the library reads it.

use pigment::{document, field, id, uri, Client, DocumentFilter, Filter, Get, Order, Records};
use proptest::prelude::*;
use serde_json::{json, Value};

#[derive(Clone, Debug)]
enum Operand {
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
}

impl Operand {
    fn json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Int(value) => json!(value),
            Self::Float(value) => json!(value),
            Self::Bool(value) => json!(value),
        }
    }
}

impl From<Operand> for pigment::Scalar {
    fn from(operand: Operand) -> Self {
        match operand {
            Operand::Text(text) => text.into(),
            Operand::Int(value) => value.into(),
            Operand::Float(value) => value.into(),
            Operand::Bool(value) => value.into(),
        }
    }
}

fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        any::<String>().prop_map(Operand::Text),
        any::<i64>().prop_map(Operand::Int),
        proptest::num::f64::NORMAL.prop_map(Operand::Float),
        any::<bool>().prop_map(Operand::Bool),
    ]
}

fn clause() -> impl Strategy<Value = (Filter, Value)> {
    (any::<String>(), operand(), proptest::collection::vec(operand(), 0..4), 0..15).prop_map(
        |(key, value, list, operator)| {
            let (one, json) = (value.clone(), value.json());
            let lists = json!(list.iter().map(Operand::json).collect::<Vec<_>>());
            let (filter, operator, operand) = match operator {
                0 => (field(&key).eq(one), "$eq", json),
                1 => (field(&key).ne(one), "$ne", json),
                2 => (field(&key).gt(one), "$gt", json),
                3 => (field(&key).gte(one), "$gte", json),
                4 => (field(&key).lt(one), "$lt", json),
                5 => (field(&key).lte(one), "$lte", json),
                6 => (field(&key).contains(one), "$contains", json),
                7 => (field(&key).not_contains(one), "$not_contains", json),
                8 => (field(&key).prefix(one), "$prefix", json),
                9 => (field(&key).ieq(one), "$ieq", json),
                10 => (field(&key).iprefix(one), "$iprefix", json),
                11 => (field(&key).is_in(list), "$in", lists),
                12 => (field(&key).not_in(list), "$nin", lists),
                13 => (field(&key).between(one, value.clone()), "$between", json!([json, json])),
                _ => (field(&key).exists(true), "$exists", json!(true)),
            };
            (filter, json!({ key: { operator: operand } }))
        },
    )
}

fn filter() -> impl Strategy<Value = (Filter, Value)> {
    clause().prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|list| {
                let (filters, values): (Vec<_>, Vec<_>) = list.into_iter().unzip();
                (Filter::all(filters), json!({ "$and": values }))
            }),
            (inner.clone(), inner.clone()).prop_map(|((a, x), (b, y))| (a | b, json!({"$or": [x, y]}))),
            (inner.clone(), inner.clone()).prop_map(|((a, x), (b, y))| (a & b, json!({"$and": [x, y]}))),
            inner.prop_map(|(a, x)| (!a, json!({ "$not": x }))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn builder_prints_what_the_value_is((filter, value) in filter()) {
        let parsed: Value = serde_json::from_str(filter.as_json()).expect("JSON");
        prop_assert_eq!(&parsed, &value);
        prop_assert_eq!(serde_json::to_value(&filter).expect("serializes"), value.clone());
        prop_assert_eq!(serde_json::from_value::<Filter>(value).expect("deserializes").to_string(), parsed.to_string());
    }

    #[test]
    fn library_finds_a_record_by_what_it_has(text in any::<String>(), number in any::<i64>()) {
        // Keys that the library keeps for itself are its own affair; texts and numbers are not.
        let docs = Client::in_memory().expect("a store").create_collection("docs", Default::default()).expect("a collection");
        let records = Records::new(["a", "b"]).embeddings([[1.0f32], [2.0]]);
        docs.add(&records.metadatas([json!({"t": text, "n": number}), json!(null)]).expect("metadata")).expect("added");
        let both = field("t").eq(&text) & field("n").eq(number);
        let found = docs.get(&Get::new().filter(both.clone())).expect("found");
        prop_assert_eq!(found.ids().iter().collect::<Vec<_>>(), [Some("a")]);
        let row = found.row(0).metadata::<Value>().expect("metadata").expect("some");
        prop_assert_eq!(row, json!({"t": text, "n": number}));
        let others = docs.get(&Get::new().filter(!both)).expect("found");
        prop_assert_eq!(others.ids().iter().collect::<Vec<_>>(), [Some("b")]);
    }
}

#[test]
fn names_of_fields_are_chromas() {
    assert_eq!(
        (id().eq("a") | uri().prefix("file:")).as_json(),
        r##"{"$or":[{"#id":{"$eq":"a"}},{"chroma:uri":{"$prefix":"file:"}}]}"##
    );
    assert_eq!(document().regex(r"\d").as_json(), r##"{"#document":{"$regex":"\\d"}}"##);
    assert_eq!(document().not_regex("a").as_json(), r##"{"#document":{"$not_regex":"a"}}"##);
    assert_eq!(document().icontains("a").as_json(), r##"{"#document":{"$icontains":"a"}}"##);
    let texts = [
        DocumentFilter::contains("a\"\n"),
        DocumentFilter::not_contains("b"),
        DocumentFilter::icontains("c"),
        DocumentFilter::regex("d"),
        DocumentFilter::not_regex("e"),
        DocumentFilter::exists(false),
    ];
    assert_eq!(
        serde_json::to_value(!DocumentFilter::all(texts)).expect("serializes"),
        json!({"$not": {"$and": [{"$contains": "a\"\n"}, {"$not_contains": "b"}, {"$icontains": "c"}, {"$regex": "d"}, {"$not_regex": "e"}, {"$exists": false}]}})
    );
    assert_eq!(serde_json::to_value(Filter::any([])).expect("serializes"), json!({"$or": []}));
}

#[test]
fn numbers_that_json_lacks_are_refused_by_the_library() {
    let docs =
        Client::in_memory().expect("a store").create_collection("docs", Default::default()).expect("a collection");
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = docs.get(&Get::new().filter(field("a").gt(value))).expect_err("refused");
        assert_eq!(
            (error.kind, error.detail),
            (pigment::ErrorKind::InvalidArgument, pigment::Detail::Filter),
            "{error}"
        );
    }
}

#[test]
fn filters_nest_as_deep_as_memory_allows() {
    let docs =
        Client::in_memory().expect("a store").create_collection("docs", Default::default()).expect("a collection");
    docs.add(&Records::new(["a"]).embeddings([[1.0f32]])).expect("added");
    let mut filter = field("a").exists(false);
    for _ in 0..5000 {
        filter = !!filter;
    }
    assert_eq!(docs.get(&Get::new().filter(filter.clone())).expect("found").len(), 1);
    assert!(serde_json::to_string(&filter).is_err(), "serde stops at 128 levels, and says so");
}

#[test]
fn orders_are_printed_and_kept() {
    let docs =
        Client::in_memory().expect("a store").create_collection("docs", Default::default()).expect("a collection");
    let records = Records::new(["a", "b", "c"]).embeddings([[1.0f32], [2.0], [3.0]]);
    docs.add(&records.metadatas([json!({"\"k\"": 1}), json!({"\"k\"": 3}), json!({"\"k\"": 2})]).expect("metadata"))
        .expect("added");
    let ids = |orders: Vec<Order>| -> Vec<String> {
        let found = docs.get(&Get::new().order_by(orders)).expect("found");
        found.ids().iter().flatten().map(str::to_owned).collect()
    };
    assert_eq!(ids(vec![Order::by("\"k\"")]), ["a", "c", "b"]);
    assert_eq!(ids(vec![Order::by("\"k\"").descending(), Order::by("#id")]), ["b", "c", "a"]);
}
