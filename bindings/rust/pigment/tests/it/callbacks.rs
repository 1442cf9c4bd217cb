// SPDX-License-Identifier: Apache-2.0
//
// Embedding functions: what they give is what precomputed vectors give, what they fail with is what the call reports, a panic stays
// on this side, and the library lets go of them.

use pigment::{
    embed_lexical, Client, CollectionOptions, Column, Detail, EmbedError, EmbeddingFunction, Error, ErrorKind, Purpose,
    Query, Records, Sink, Space, Texts,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn add_with(function: &EmbeddingFunction) -> Error {
    let client = Client::in_memory().expect("a store");
    let docs =
        client.create_collection("docs", CollectionOptions::new().embedding_function(function)).expect("a collection");
    let error = docs.add(&Records::new(["a", "b"]).documents(["one", "two"])).expect_err("the function fails");
    assert_eq!(docs.count().expect("a count"), 0);
    assert_eq!(error.detail, Detail::EmbeddingFunction);
    error
}

#[test]
fn a_panic_becomes_an_error_of_the_call() {
    let error = add_with(&EmbeddingFunction::each("f", |text| panic!("no model for {text}")));
    assert_eq!(error.kind, ErrorKind::Internal);
    assert!(error.message.contains("the embedding function panicked: no model for one"), "{error}");
    struct Nasty;
    impl Drop for Nasty {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("again");
            }
        }
    }
    let error = add_with(&EmbeddingFunction::each("f", |_| std::panic::panic_any(Nasty)));
    assert!(error.message.contains("panicked"), "{error}");
}

#[test]
fn what_a_function_says_is_what_the_call_reports() {
    let error = add_with(&EmbeddingFunction::each("f", |_| {
        Err(EmbedError::new(ErrorKind::ResourceExhausted, "no tokens left"))
    }));
    assert_eq!(error.kind, ErrorKind::ResourceExhausted);
    assert!(error.message.contains("no tokens left"), "{error}");
    assert_eq!(add_with(&EmbeddingFunction::each("f", |_| Err("later".into()))).kind, ErrorKind::Unavailable);
    // What it puts is checked: ours before it is put, the library's afterwards.
    assert!(add_with(&EmbeddingFunction::each("f", |_| Ok(vec![]))).message.contains("0 numbers are no rows of 0"));
    let half = |_: Purpose, _: Column<'_, [u8]>, sink: &mut Sink<'_>| sink.put(&[1.0, 2.0, 3.0], 2);
    assert!(add_with(&EmbeddingFunction::new("f", half)).message.contains("3 numbers are no rows of 2"));
    let nan = add_with(&EmbeddingFunction::each("f", |text| Ok(vec![if text == "two" { f32::NAN } else { 0.0 }])));
    assert_eq!((nan.kind, nan.row), (ErrorKind::InvalidArgument, Some(1)), "{nan}");
    let mixed = add_with(&EmbeddingFunction::each("f", |text| Ok(vec![0.5; if text == "two" { 3 } else { 2 }])));
    assert_eq!(mixed.kind, ErrorKind::InvalidArgument, "{mixed}");
    let none = |_: Purpose, _: Column<'_, [u8]>, _: &mut Sink<'_>| Ok(());
    assert_eq!(add_with(&EmbeddingFunction::new("f", none)).kind, ErrorKind::InvalidArgument);
}

#[test]
fn a_function_sees_texts_and_purpose_and_equals_its_vectors() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let lengths =
        EmbeddingFunction::new("lengths", move |purpose: Purpose, texts: Column<'_, [u8]>, sink: &mut Sink<'_>| {
            let texts: Vec<Vec<u8>> = texts.iter().map(|text| text.expect("a text").to_vec()).collect();
            for text in &texts {
                sink.put(&[text.len() as f32, 1.0], 2)?;
            }
            log.lock().expect("a log").push((purpose, texts));
            Ok(())
        });
    let lengths = lengths.config(&serde_json::json!({"of": "bytes"})).expect("a config").space(Space::Cosine);
    let client = Client::in_memory().expect("a store");
    let docs =
        client.create_collection("docs", CollectionOptions::new().embedding_function(&lengths)).expect("a collection");
    let description = docs.describe().expect("a description");
    assert_eq!(description.configuration["hnsw"]["space"], "cosine");
    let stored = description.embedding_function.expect("a function");
    assert_eq!((stored.name.as_str(), stored.config), ("lengths", Some(serde_json::json!({"of": "bytes"}))));
    let documents: Texts<'_> = [&b"\xff\xfe\x00"[..], b"four"].into_iter().collect();
    docs.add(&Records::new(["x", "y"]).documents(&documents)).expect("added");
    let vectors =
        client.create_collection("vectors", CollectionOptions::new().space(Space::Cosine)).expect("a collection");
    vectors.add(&Records::new(["x", "y"]).embeddings([[3.0f32, 1.0], [4.0, 1.0]])).expect("added");
    let by_text = docs.query(&Query::new().texts(["12345"])).expect("found");
    let by_vector = vectors.query(&Query::new().embeddings(&[5.0f32, 1.0])).expect("found");
    assert_eq!(by_text.distances(), by_vector.distances());
    assert_eq!(docs.get(&Default::default()).expect("found").row(0).document_bytes(), Some(&b"\xff\xfe\x00"[..]));
    let seen = seen.lock().expect("a log");
    assert_eq!(seen[0], (Purpose::Document, vec![b"\xff\xfe\x00".to_vec(), b"four".to_vec()]));
    assert_eq!(seen[1], (Purpose::Query, vec![b"12345".to_vec()]));
}

/// Counts how often it is dropped.
struct Counted(Arc<AtomicUsize>);
impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("a drop that panics stays on this side too");
    }
}

#[test]
fn the_library_lets_go_of_a_function_whatever_became_of_the_call() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let make = || {
        let counted = Arc::new(Mutex::new(Some(Counted(Arc::clone(&dropped)))));
        EmbeddingFunction::each("f", move |_| {
            let _alive = &counted;
            Ok(vec![1.0])
        })
    };
    let client = Client::in_memory().expect("a store");
    let function = make();
    let docs =
        client.create_collection("docs", CollectionOptions::new().embedding_function(&function)).expect("a collection");
    let again = client.get_collection_with("docs", &function).expect("the collection");
    assert!(client.create_collection("docs", CollectionOptions::new().embedding_function(&function)).is_err());
    let stranger = EmbeddingFunction::each("stranger", |_| Ok(vec![1.0]));
    assert_eq!(
        client.get_collection_with("docs", &stranger).expect_err("another function").detail,
        Detail::EmbeddingFunction
    );
    drop(function);
    assert_eq!(dropped.load(Ordering::SeqCst), 0, "two handles have it");
    drop(docs);
    again.add(&Records::new(["a"]).documents(["one"])).expect("still there");
    drop(client);
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    drop(again);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[test]
fn the_lexical_function_is_the_one_of_the_library() {
    let client = Client::in_memory().expect("a store");
    let lexical = EmbeddingFunction::lexical(64);
    let docs =
        client.create_collection("docs", CollectionOptions::new().embedding_function(&lexical)).expect("a collection");
    docs.add(&Records::new(["a", "b"]).documents(["red apples", "blue whales"])).expect("added");
    assert_eq!(docs.describe().expect("a description").embedding_function.expect("one").name, lexical.name());
    let found = docs.query(&Query::new().texts("apple red").n_results(1)).expect("found");
    assert_eq!(found.ids().get(0), Some("a"));
    let values = embed_lexical(["red apples", "blue whales"], 64).expect("vectors");
    let peeked = docs.peek(2).expect("records");
    assert_eq!(peeked.embeddings(), Some((&values[..], 64)));
    assert_eq!(embed_lexical(Texts::new(), 64).expect("nothing"), Vec::<f32>::new());
    for (dimension, detail) in [(0, Detail::Dimension), (1 << 40, Detail::Limit)] {
        assert_eq!(embed_lexical(["a"], dimension).expect_err("refused").detail, detail);
    }
    assert!(embed_lexical([None::<&str>], 8).is_err());
    let huge = CollectionOptions::new().embedding_function(&EmbeddingFunction::lexical(1 << 40));
    assert_eq!(client.create_collection("huge", huge).expect_err("refused").detail, Detail::Limit);
}

#[test]
fn texts_without_a_function_are_refused() {
    let docs =
        Client::in_memory().expect("a store").create_collection("docs", Default::default()).expect("a collection");
    let error = docs.query(&Query::new().texts(["a"])).expect_err("no function");
    assert_eq!((error.kind, error.detail), (ErrorKind::FailedPrecondition, Detail::NoEmbeddingFunction));
}
