// SPDX-License-Identifier: Apache-2.0
//
// Opening and closing: what is kept, what fails afterwards and how, in which orders things may go.

use crate::support::{filled, Folder};
use pigment::{
    Changes, Client, CollectionOptions, Detail, Error, ErrorKind, Facets, Get, OpenOptions, Query, Records, Selection,
    Sync, TextSearch,
};
use std::time::Duration;

fn closed<T>(what: &str, outcome: Result<T, Error>) {
    let error = outcome.err().unwrap_or_else(|| panic!("{what} works after close"));
    assert_eq!((error.kind, error.detail), (ErrorKind::FailedPrecondition, Detail::Closed), "{what}: {error}");
    assert!(error.is_closed());
}

#[test]
fn every_call_after_close_says_so() {
    let client = Client::in_memory().expect("a store");
    let docs = filled(&client, 3);
    let found = docs.get(&Get::new()).expect("records");
    client.clone().close().expect("closed");
    client.clone().close().expect("closed twice");
    closed("create_tenant", client.create_tenant("tenant"));
    closed("get_tenant", client.get_tenant("default_tenant"));
    closed("list_tenants", client.list_tenants());
    closed("delete_tenant", client.delete_tenant("tenant"));
    closed("create_database", client.create_database("database"));
    closed("get_database", client.get_database("default_database"));
    closed("list_databases", client.list_databases(None, 0));
    closed("delete_database", client.delete_database("database"));
    closed("create_collection", client.create_collection("other", CollectionOptions::new()));
    closed("get_collection", client.get_collection("docs"));
    closed("get_collection_by_id", client.get_collection_by_id("00000000-0000-0000-0000-000000000000", None));
    closed("list_collections", client.list_collections(None, 0));
    closed("count_collections", client.count_collections());
    closed("delete_collection", client.delete_collection("docs"));
    closed("flush", client.flush());
    closed("compact", client.compact());
    closed("statistics", client.statistics());
    closed("backup", client.backup(Folder::new().path()));
    closed("check", client.check(true));
    closed("position", client.position());
    closed("refresh", client.refresh());
    let records = Records::new(["a"]).embeddings([[0.5f32; 8]]);
    closed("describe", docs.describe());
    closed("modify", docs.modify(&Changes::new().name("other")));
    closed("fork", docs.fork("other"));
    closed("add", docs.add(&records));
    closed("update", docs.update(&records));
    closed("upsert", docs.upsert(&records));
    closed("delete", docs.delete(["a"]));
    closed("get", docs.get(&Get::new()));
    closed("peek", docs.peek(1));
    closed("count", docs.count());
    closed("count_where", docs.count_where(&Selection::new()));
    closed("facets", docs.facets(&Facets::new(["n"])));
    closed("contains", docs.contains(["a"]));
    closed("query", docs.query(&Query::new().embeddings([[0.5f32; 8]])));
    closed("search_text", docs.search_text(&TextSearch::new(["text"])));
    closed("collection.flush", docs.flush());
    closed("segments", docs.segments());
    closed("collection.compact", docs.compact());
    assert_eq!(found.row(2).document().as_deref(), Some("text 2"), "a result needs no store");
}

#[test]
fn what_was_written_is_there_after_reopening() {
    let folder = Folder::new();
    let options =
        OpenOptions::new().sync(Sync::Interval(Duration::from_millis(5))).background_threads(0).reserve_bytes(None);
    {
        let client = options.open(folder.path()).expect("a store");
        filled(&client, 50);
        client.close().expect("closed");
    }
    let client = options.clone().must_exist(true).open(folder.path()).expect("the store");
    let docs = client.get_collection("docs").expect("the collection");
    assert_eq!(docs.count().expect("a count"), 50);
    // Another open with other options is refused by name, one with the same shares the store.
    let other = options.clone().flush_rows_max(7).open(folder.path()).expect_err("refused");
    assert!(other.message.contains("flush_rows_max"), "{other}");
    options.open(folder.path()).expect("the same").get_collection("docs").expect("it").delete(["7"]).expect("deleted");
    assert_eq!(docs.count().expect("a count"), 49);
}

#[test]
fn handles_may_go_in_any_order() {
    let folder = Folder::new();
    for order in 0..6 {
        let client = Client::open(folder.path()).expect("a store");
        let docs = client.get_or_create_collection("docs").expect("a collection");
        docs.upsert(&Records::new(["a"]).embeddings([[1.0f32]]).documents(["one"])).expect("written");
        let found = docs.get(&Get::new()).expect("records");
        let mut parts: [Option<Box<dyn std::any::Any>>; 3] =
            [Some(Box::new(client)), Some(Box::new(docs)), Some(Box::new(found))];
        for step in 0..3 {
            let index = (order / 2 + step * (1 + order % 2)) % 3;
            drop(parts[index].take().expect("each once"));
            if let Some(found) = parts[2].as_ref().and_then(|part| part.downcast_ref::<pigment::Results>()) {
                assert_eq!(found.row(0).document().as_deref(), Some("one"));
            }
            if let Some(docs) = parts[1].as_ref().and_then(|part| part.downcast_ref::<pigment::Collection>()) {
                assert_eq!(docs.count().expect("a count"), 1, "a collection keeps its store open");
            }
        }
    }
    assert_eq!(
        Client::open(folder.path()).expect("the store").get_collection("docs").expect("it").count().expect("a count"),
        1
    );
}

#[test]
fn errors_name_what_is_wrong() {
    let folder = Folder::new();
    let missing = OpenOptions::new().must_exist(true).open(folder.path()).expect_err("no store");
    assert_eq!(missing.kind, ErrorKind::NotFound);
    assert!(missing.message.contains(folder.path().to_str().expect("UTF-8")), "{missing}");
    assert_eq!(OpenOptions::new().open("").expect_err("no path").kind, ErrorKind::InvalidArgument);
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"/tmp/\xff");
        assert!(Client::open(name).expect_err("no UTF-8").message.contains("UTF-8"));
    }
    std::fs::create_dir_all(folder.path()).expect("a folder");
    std::fs::write(folder.join("chroma.sqlite3"), b"").expect("a file");
    let chroma = Client::open(folder.path()).expect_err("Chroma's");
    assert!(!chroma.hint.is_empty() && chroma.to_string().contains(&*chroma.hint), "{chroma:?}");
    let docs = filled(&Client::in_memory().expect("a store"), 2);
    let twice = docs.add(&Records::new(["x", "x"]).embeddings([[0.5f32; 8], [0.5; 8]])).expect_err("twice");
    assert_eq!((twice.detail, twice.row), (Detail::DuplicateId, Some(1)));
    assert_eq!(
        (twice.fault(), twice.is_retryable(), twice.kind.sqlstate()),
        (pigment::Fault::Caller, false, Some("22023"))
    );
    let lengths = docs
        .add(&Records::new(["x", "y"]).embeddings([[0.5f32; 8], [0.5; 8]]).documents(["one"]))
        .expect_err("one short");
    assert!(lengths.message.contains("2 ids, 1 documents"), "{lengths}");
    let ragged =
        docs.add(&Records::new(["x", "y"]).embeddings(vec![vec![0.5f32; 8], vec![0.5; 7]])).expect_err("one short");
    assert_eq!((ragged.detail, ragged.row), (Detail::Dimension, Some(1)));
    let rows = docs.add(&Records::new(["x", "y"]).embeddings([[0.5f32; 8]])).expect_err("one vector");
    assert_eq!(rows.kind, ErrorKind::InvalidArgument, "{rows}");
    assert!(Records::new(["x"])
        .metadatas([serde_json::json!({"n": 1}), serde_json::json!(null)])
        .map(|r| docs.add(&r))
        .expect("prints")
        .is_err());
    let nan = Records::new(["x", "y"])
        .metadatas([[("a", 1.0)], [("a", f64::NAN)]].map(std::collections::BTreeMap::from))
        .expect_err("NaN");
    assert_eq!(nan.row, Some(1));
}
