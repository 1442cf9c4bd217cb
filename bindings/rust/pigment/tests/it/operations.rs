// SPDX-License-Identifier: Apache-2.0
//
// What the corpus does not reach: text search, facets, cursors, explain, maintenance, damage, read-only stores.

use crate::support::{filled, Folder};
use pigment::{
    field, Call, Client, CollectionOptions, Detail, ErrorKind, Facets, Get, Include, OpenOptions, Query, Records,
    Results, Selection, TextSearch, Vectors, F16,
};
use serde_json::json;

fn ids(found: &Results) -> Vec<&str> {
    found.ids().iter().flatten().collect()
}

#[test]
fn documents_are_ranked_and_highlighted() {
    let client = Client::in_memory().expect("a store");
    let configuration = json!({"text_index": {"analyzer": {"language": "english"}}});
    let docs =
        client.create_collection("docs", CollectionOptions::new().configuration(&configuration)).expect("a collection");
    let documents = [
        "The quick brown fox jumps over the lazy dog",
        "Foxes are running quickly; a fox runs",
        "A search engine ranks",
    ];
    docs.add(&Records::new(["1", "2", "3"]).embeddings([[1.0f32], [2.0], [3.0]]).documents(documents)).expect("added");
    let found =
        docs.search_text(&TextSearch::new(["fox", "engine dog"]).highlights(true).explain(true)).expect("found");
    assert_eq!((found.query_count(), ids(&found)), (2, vec!["2", "1", "3", "1"]));
    let best = found.query(0).next().expect("a row");
    let words: Vec<&str> =
        best.highlights().expect("highlights").into_iter().map(|range| &documents[1][range]).collect();
    assert_eq!(words, ["Foxes", "fox"]);
    assert!(
        best.score() > found.row(1).score()
            && found.distances().is_none()
            && found.scores().is_some_and(|s| s.len() == 4)
    );
    assert!(found.explain().is_some_and(|text| serde_json::from_str::<serde_json::Value>(text).is_ok()));
    let both = docs
        .search_text(&TextSearch::new("quick dog").all(true).n_results(5).include(Include::NOTHING))
        .expect("found");
    assert_eq!((ids(&both), both.documents().is_none()), (vec!["1"], true));
    let among = docs.search_text(&TextSearch::new("fox").ids(["1", "unknown"])).expect("found");
    assert_eq!(ids(&among), ["1"]);
    let plain =
        filled(&Client::in_memory().expect("a store"), 1).search_text(&TextSearch::new("text")).expect_err("no index");
    assert_eq!(plain.kind, ErrorKind::FailedPrecondition);
}

#[test]
fn paths_of_nested_metadata_are_keys() {
    let client = Client::in_memory().expect("a store");
    let options = CollectionOptions::new().configuration(&json!({"nested_metadata": true}));
    let docs = client.create_collection("docs", options).expect("a collection");
    let chair = json!({"size": {"width": 2, "in/out": {"x": true}}});
    let records = Records::new(["a", "b"]).embeddings([[1.0f32], [2.0]]);
    docs.add(&records.metadatas([&chair, &json!({"size": {"width": 1.5}})]).expect("metadata")).expect("added");
    let found = docs.get(&Get::new().filter(field("$/size/width").gt(1.6))).expect("found");
    assert_eq!(ids(&found), ["a"]);
    let metadata: serde_json::Value = found.row(0).metadata().expect("metadata").expect("there");
    assert_eq!(metadata, chair);
    assert_eq!(docs.count_where(&Selection::new().filter(field("$/size/in~1out/x").eq(true))).expect("counted"), 1);
}

#[test]
fn facets_counts_and_ids() {
    let docs =
        Client::in_memory().expect("a store").create_collection("docs", Default::default()).expect("a collection");
    let records = Records::new(["a", "b", "c"]).embeddings([[1.0f32], [2.0], [3.0]]).uris([Some("file:a"), None, None]);
    docs.add(
        &records.metadatas([json!({"k": "x"}), json!({"k": "x", "l": [1, 2]}), json!({"k": 2.5})]).expect("metadata"),
    )
    .expect("added");
    let facets = docs.facets(&Facets::new(["k", "l"]).filter(field("k").exists(true)).limit(1)).expect("facets");
    assert_eq!((facets["k"].len(), &facets["k"][0].value, facets["k"][0].count), (1, &json!("x"), 2));
    assert_eq!(facets["l"][0].count, 1);
    assert_eq!(
        docs.count_where(&Selection::new().filter(field("k").eq("x")).ids(["a", "c", "z"])).expect("a count"),
        1
    );
    assert_eq!(docs.contains(["c", "z", "a", "c"]).expect("flags"), [true, false, true, true]);
    assert!(docs.contains(pigment::Texts::new()).expect("flags").is_empty());
    let found = docs.get(&Get::new().include(Include::URIS | Include::EMBEDDINGS)).expect("records");
    assert!(found.included().contains(Include::URIS) && !found.included().contains(Include::DOCUMENTS));
    assert_eq!((found.row(0).uri(), found.row(1).uri()), (Some("file:a"), None));
    assert_eq!((found.row(2).embedding(), found.documents().is_none()), (Some(&[3.0f32][..]), true));
    // The ids of one call are the ids of the next, without a copy in between.
    assert_eq!(docs.delete(pigment::Texts::from(found.ids())).expect("deleted").deleted, 3);
}

#[test]
fn a_cursor_goes_through_all_records_once() {
    let docs = filled(&Client::in_memory().expect("a store"), 25);
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut request = Get::new().limit(10).include(Include::NOTHING);
        if let Some(cursor) = cursor {
            request = request.cursor(cursor);
        }
        let found = docs.get(&request).expect("a page");
        seen.extend(found.ids().iter().flatten().map(str::to_owned));
        cursor = found.cursor().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..25).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn metadata_is_whatever_serializes_and_comes_back() {
    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Page {
        title: String,
        number: i64,
        weight: f64,
        tags: Vec<String>,
    }
    let docs =
        Client::in_memory().expect("a store").create_collection("docs", Default::default()).expect("a collection");
    let page = |n: i64| Page {
        title: format!("\"{n}\" é\u{0}"),
        number: i64::MIN + n,
        weight: 1.0 / 3.0 * n as f64,
        tags: vec!["a".into()],
    };
    docs.add(&Records::new(["1", "2"]).embeddings([[1.0f32], [2.0]]).metadatas([Some(page(1)), None]).expect("prints"))
        .expect("added");
    let found = docs.get(&Get::new()).expect("records");
    assert_eq!(found.row(0).metadata::<Page>().expect("a page"), Some(page(1)));
    assert_eq!(found.row(1).metadata::<Page>().expect("nothing"), None);
    let wrong = found.row(0).metadata::<Vec<u8>>().expect_err("no list");
    assert!(wrong.message.contains("\"1\"") && wrong.row == Some(0), "{wrong}");
    // Null deletes a key.
    let change = Records::new(["1"]).metadatas([json!({"title": null, "number": 5})]).expect("prints");
    assert_eq!(docs.update(&change).expect("updated").updated, 1);
    assert_eq!(
        docs.peek(1).expect("it").row(0).metadata_json(),
        Some(r#"{"number":5,"tags":["a"],"weight":0.3333333333333333}"#)
    );
}

#[test]
fn vectors_of_every_type_are_the_same_vectors() {
    let docs =
        Client::in_memory().expect("a store").create_collection("docs", Default::default()).expect("a collection");
    let add = |id: &str, vectors: Vectors<'_>| docs.add(&Records::new(id).embeddings(vectors)).expect("added").inserted;
    let half = |x: f32| {
        F16((x.to_bits() >> 16 & 0x8000 | ((x.to_bits() >> 13) & 0x3ff) | ((x.to_bits() >> 23 & 0xff) - 112) << 10)
            as u16)
    };
    assert_eq!(add("f32", (&[1.0f32, -2.0]).into()), 1);
    assert_eq!(add("f64", vec![1.0f64, -2.0].into()), 1);
    assert_eq!(add("i32", [[1i32, -2]].into()), 1);
    assert_eq!(add("i64", vec![vec![1i64, -2]].into()), 1);
    assert_eq!(add("f16", Vectors::matrix(vec![half(1.0), half(-2.0)], 2).expect("a row")), 1);
    let found = docs
        .query(&Query::new().embeddings(&[1.0f64, -2.0]).max_distance(0.0).threads(1).search_width(100))
        .expect("found");
    assert_eq!(ids(&found), ["f32", "f64", "i32", "i64", "f16"]);
    let overflow = docs.add(&Records::new(["x", "y"]).embeddings([[0.0, 0.0], [1e39f64, 0.0]])).expect_err("no f32");
    assert_eq!((overflow.detail, overflow.row), (Detail::NotFinite, Some(1)));
}

#[test]
fn a_store_is_flushed_compacted_copied_checked_and_repaired() {
    let folder = Folder::new();
    let client = Client::open(folder.join("store")).expect("a store");
    let docs = filled(&client, 300);
    docs.flush().expect("flushed");
    docs.delete(field("n").lt(100)).expect("deleted");
    docs.add(&Records::new(["new"]).embeddings([[0.5f32; 8]])).expect("added");
    client.flush().expect("flushed");
    let segments = docs.segments().expect("segments");
    assert_eq!(segments.iter().map(|segment| segment.live_rows).sum::<u64>(), 201);
    assert!(segments.iter().all(|segment| segment.dimension == 8 && segment.bytes > 0));
    let merged = docs.compact().expect("compacted");
    assert_eq!((merged.records, merged.segments_out), (201, 1));
    assert_eq!(client.compact().expect("compacted").segments_out, 1);
    let statistics = client.statistics().expect("statistics");
    assert_eq!(statistics["position"], client.position().expect("a position"));
    let copy = client.backup(folder.join("copy")).expect("a copy");
    assert!(copy.files > 0 && copy.bytes > 0 && copy.collections == 1);
    assert_eq!(client.backup(folder.join("copy")).expect_err("a store").kind, ErrorKind::AlreadyExists);
    let report = client.check(true).expect("a report");
    assert!(report.clean && report.findings.is_empty() && report.totals.live_rows == 201, "{report:?}");
    let report = pigment::check(folder.join("copy"), false, &Call::new()).expect("a report");
    assert!(report.clean && report.position == copy.position);
    let repaired = pigment::repair(folder.join("copy"), folder.join("new"), &Call::new()).expect("a report");
    assert!(repaired.lossless && repaired.collections[0].rows == 201, "{repaired:?}");
    let again = Client::open(folder.join("new")).expect("the store").get_collection("docs").expect("it");
    assert_eq!(again.count().expect("a count"), 201);
    let token = pigment::CancelToken::new().expect("a token");
    token.cancel();
    let cancelled = client.with(Call::new().cancel(&token)).check(true).expect_err("cancelled");
    assert_eq!(cancelled.kind, ErrorKind::Cancelled);
}

#[test]
fn long_work_tells_another_thread_how_far_it_is() {
    let folder = Folder::new();
    let client = Client::open(folder.join("store")).expect("a store");
    let docs = filled(&client, 2000);
    let token = pigment::CancelToken::new().expect("a token");
    let call = Call::new().cancel(&token);
    docs.with(call.clone()).count().expect("a count");
    assert_eq!(token.progress(), None);
    docs.with(call.clone()).flush().expect("flushed");
    let flushed = token.progress().expect("a flush");
    assert_eq!((flushed.phase, flushed.unit, flushed.total), ("flush", "collections", Some(flushed.done)));
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|threads| {
        let watcher = threads.spawn(|| {
            let mut phases = std::collections::BTreeSet::new();
            while !over.load(std::sync::atomic::Ordering::Acquire) {
                let seen = token.progress().expect("work");
                assert!(seen.total.is_none_or(|total| seen.done <= total), "{seen:?}");
                phases.insert(seen.phase);
            }
            phases
        });
        let report = client.with(call.clone()).check(true);
        over.store(true, std::sync::atomic::Ordering::Release);
        assert!(report.expect("a report").clean);
        let phases = watcher.join().expect("no panic");
        assert!(phases.contains("search"), "{phases:?}");
    });
    client.with(call.clone()).backup(folder.join("copy")).expect("a copy");
    let copied = token.progress().expect("a backup");
    let bytes = docs.segments().expect("segments").iter().map(|segment| segment.bytes).sum::<u64>();
    assert_eq!((copied.phase, copied.done, copied.total), ("segments", bytes, Some(bytes)));
    token.cancel();
    docs.add(&Records::new(["new"]).embeddings([[0.5f32; 8]])).expect("added");
    assert_eq!(docs.with(call.clone()).flush().expect_err("cancelled").kind, ErrorKind::Cancelled);
    assert_eq!(client.with(call).flush().expect_err("cancelled").kind, ErrorKind::Cancelled);
}

#[test]
fn damage_names_file_and_offset() {
    let folder = Folder::new();
    let client = Client::open(folder.path()).expect("a store");
    filled(&client, 2000).compact().expect("compacted");
    client.close().expect("closed");
    let mut files = vec![folder.path().to_owned()];
    let mut largest = (0, std::path::PathBuf::new());
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if path.to_string_lossy().contains("segment") {
            largest = largest.max((path.metadata().expect("a file").len(), path));
        }
    }
    let (size, path) = largest;
    assert!(size > 10_000, "no segment in {}", folder.path().display());
    let mut bytes = std::fs::read(&path).expect("bytes");
    for byte in &mut bytes[size as usize / 2..][..64] {
        *byte = !*byte;
    }
    std::fs::write(&path, bytes).expect("written");
    let report = pigment::check(folder.path(), true, &Call::new()).expect("a report");
    assert!(!report.clean && report.errors > 0, "{report:?}");
    let finding = &report.findings[0];
    assert!(finding.code == "data loss" || finding.code == "DATA_LOSS", "{finding:?}");
    let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
    assert!(report.findings.iter().any(|finding| finding.file.contains(name)), "{report:?}");
    let docs = Client::open(folder.path()).and_then(|client| client.backup(Folder::new().path()));
    let error = docs.expect_err("damage");
    assert_eq!(error.kind, ErrorKind::DataLoss, "{error:?}");
    assert!(error.file.as_deref().is_some_and(|file| file.contains(name)) && error.offset.is_some(), "{error:?}");
    assert_eq!(error.fault(), pigment::Fault::Environment);
}

#[test]
fn a_read_only_store_reads_what_was_closed_and_writes_nothing() {
    let folder = Folder::new();
    let writer = Client::open(folder.path()).expect("a store");
    filled(&writer, 10);
    writer.close().expect("closed");
    let reader = OpenOptions::new().read_only(true).open(folder.path()).expect("the store");
    let docs = reader.get_collection("docs").expect("it");
    assert_eq!(docs.count().expect("a count"), 10);
    assert_eq!(docs.delete(["1"]).expect_err("read-only").detail, Detail::ReadOnly);
    assert_eq!(reader.refresh().expect("a position"), reader.position().expect("a position"));
}

#[test]
fn tenants_and_databases_have_collections_of_their_own() {
    let client = Client::in_memory().expect("a store");
    client.create_tenant("acme").expect("made");
    let acme = client.with_tenant("acme");
    acme.create_database("sales").expect("made");
    let sales = acme.with_database("sales");
    sales.create_collection("docs", CollectionOptions::new().metadata(&json!({"of": "acme"}))).expect("made");
    client.create_collection("docs", CollectionOptions::new()).expect("made");
    assert_eq!(sales.get_collection("docs").expect("it").describe().expect("it").metadata.expect("some")["of"], "acme");
    assert_eq!(client.get_collection("docs").expect("it").describe().expect("it").metadata, None);
    assert_eq!(client.list_tenants().expect("names"), ["acme", "default_tenant"]);
    assert_eq!(
        acme.list_databases(Some(1), 0).expect("databases")[0].name,
        acme.get_database("sales").expect("it").name
    );
    assert_eq!(client.get_tenant("acme").expect("it").name, "acme");
    assert_eq!(sales.list_collections(None, 0).expect("collections").len(), 1);
    assert_eq!(sales.list_collections(Some(u64::MAX), u64::MAX).expect("none").len(), 0);
    sales.delete_collection("docs").expect("deleted");
    acme.delete_database("sales").expect("deleted");
    client.delete_tenant("acme").expect("deleted");
    assert_eq!(sales.count_collections().expect_err("gone").kind, ErrorKind::NotFound);
}

#[test]
fn handles_survive_a_rename_and_end_with_their_collection() {
    let client = Client::in_memory().expect("a store");
    let docs = filled(&client, 3);
    let other = docs.fork("other").expect("a fork");
    docs.modify(
        &pigment::Changes::new()
            .name("renamed")
            .metadata(&json!({"a": 1}))
            .configuration(&json!({"hnsw": {"ef_search": 77}})),
    )
    .expect("modified");
    let description = docs.describe().expect("a description");
    assert_eq!(
        (description.name.as_str(), description.configuration["hnsw"]["ef_search"].as_i64(), description.dimension),
        ("renamed", Some(77), Some(8))
    );
    assert_eq!(client.get_collection_by_id(&description.id, None).expect("it").count().expect("a count"), 3);
    other.delete(["0"]).expect("deleted");
    assert_eq!((docs.count().expect("a count"), other.count().expect("a count")), (3, 2));
    client.delete_collection("renamed").expect("deleted");
    assert_eq!(docs.count().expect_err("gone").kind, ErrorKind::NotFound);
    let unprintable = CollectionOptions::new().metadata(&json!({"a": 1})).configuration(&[f64::NAN]).metadata_json("{");
    let error = client.create_collection("never", unprintable).expect_err("no JSON");
    assert!(error.message.contains("configuration: NaN"), "the first that did not print: {error}");
}
