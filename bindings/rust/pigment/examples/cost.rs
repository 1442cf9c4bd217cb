// SPDX-License-Identifier: Apache-2.0
//
// What this crate costs beside the same calls of the C interface, on one store: a query of ten results whose columns are all read, and
// a batched add from texts and numbers as a program has them. One line per figure: binding, figure, nanoseconds with the crate and with
// C, their ratio. Rounds alternate and the best of each counts, because other work on a machine only ever slows one down.
//
//   cargo run --release --example cost

use pigment::{Client, Collection, Query, Records, Vectors};
use pigment_sys as sys;
use std::hint::black_box;
use std::time::Instant;

const ROWS: usize = 20_000;
const DIMENSION: usize = 384;
const QUERIES: usize = 200;
const BATCH: usize = 1000;
const ROUNDS: usize = 15;

/// Numbers between -1 and 1, always the same.
fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn seconds(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64()
}

/// A status that must be OK.
fn succeed(status: sys::pigment_status) {
    assert_eq!(status, sys::PIGMENT_OK);
}

fn print(figure: &str, calls: usize, (ours, theirs): (f64, f64)) {
    let ns = |time: f64| time * 1e9 / calls as f64;
    println!("rust {figure} {:.0} {:.0} {:.3}", ns(ours), ns(theirs), ours / theirs);
}

/// The best of the rounds of both, in turns.
fn race(mut ours: impl FnMut() -> f64, mut theirs: impl FnMut() -> f64) -> (f64, f64) {
    let mut best = (f64::MAX, f64::MAX);
    for round in 0..ROUNDS {
        // Whoever comes second finds warm caches, so they take turns in that too.
        let (a, b) = if round % 2 == 0 {
            let a = ours();
            (a, theirs())
        } else {
            let b = theirs();
            (ours(), b)
        };
        best = (best.0.min(a), best.1.min(b));
    }
    best
}

struct Batch {
    ids: Vec<String>,
    documents: Vec<String>,
    metadatas: Vec<String>,
    vectors: Vec<f32>,
}

fn batch(number: usize, rows: usize) -> Batch {
    let name = |row: usize| format!("record {}", number * rows + row);
    Batch {
        ids: (0..rows).map(name).collect(),
        documents: (0..rows)
            .map(|row| format!("{} says this and that, as documents of some length do. ", name(row)).repeat(4))
            .collect(),
        metadatas: (0..rows).map(|row| format!("{{\"n\":{row},\"kind\":\"test\"}}")).collect(),
        vectors: numbers(number as u64, rows * DIMENSION),
    }
}

// ---- With the crate ----

fn add(docs: &Collection, batch: &Batch) {
    let records = Records::new(&batch.ids)
        .documents(&batch.documents)
        .metadatas_json(&batch.metadatas)
        .embeddings(Vectors::matrix(&batch.vectors, DIMENSION).expect("a matrix"));
    assert_eq!(docs.add(&records).expect("added").inserted, batch.ids.len() as u64);
}

fn query(docs: &Collection, vector: &[f32]) {
    let found = docs.query(&Query::new().embeddings(vector).n_results(10)).expect("found");
    for row in found.query(0) {
        black_box((row.id(), row.document(), row.metadata_json(), row.distance()));
    }
}

// ---- With C: what a program in C would write, columns put together by hand ----

struct Texts {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
}

impl Texts {
    fn new(texts: &[String]) -> Self {
        let mut column = Self { offsets: vec![0], bytes: Vec::new() };
        for text in texts {
            column.bytes.extend_from_slice(text.as_bytes());
            column.offsets.push(column.bytes.len() as i64);
        }
        column
    }

    fn raw(&self) -> sys::pigment_text_column {
        sys::pigment_text_column {
            offsets: self.offsets.as_ptr(),
            bytes: self.bytes.as_ptr().cast(),
            validity: std::ptr::null(),
        }
    }
}

unsafe fn raw_add(docs: *mut sys::pigment_collection, batch: &Batch) {
    let (ids, documents, metadatas) =
        (Texts::new(&batch.ids), Texts::new(&batch.documents), Texts::new(&batch.metadatas));
    let mut records = sys::pigment_records::new();
    (records.count, records.ids) = (batch.ids.len(), ids.raw());
    (records.documents, records.metadatas) = (documents.raw(), metadatas.raw());
    records.embeddings = matrix(&batch.vectors, batch.ids.len());
    let mut written = sys::pigment_write_result::new();
    // SAFETY: all columns have as many rows as there are ids, and live until the call returns.
    succeed(unsafe {
        sys::pigment_collection_add(docs, &records, std::ptr::null(), &mut written, std::ptr::null_mut())
    });
    assert_eq!(written.inserted, batch.ids.len() as u64);
}

fn matrix(values: &[f32], rows: usize) -> sys::pigment_vectors {
    let mut vectors = sys::pigment_vectors::new();
    (vectors.data, vectors.rows, vectors.dimension) = (values.as_ptr().cast(), rows, DIMENSION);
    vectors
}

unsafe fn raw_query(docs: *mut sys::pigment_collection, vector: &[f32]) {
    let mut request = sys::pigment_query_request::new();
    (request.embeddings, request.n_results) = (matrix(vector, 1), 10);
    let (mut found, none) = (std::ptr::null_mut(), std::ptr::null());
    // SAFETY: as above; columns are read before the result is freed, no further than it has rows.
    unsafe {
        succeed(sys::pigment_collection_query(docs, &request, none, &mut found, std::ptr::null_mut()));
        let mut columns = [sys::pigment_text_column::new(); 3];
        assert!(sys::pigment_result_ids(found, &mut columns[0]));
        assert!(sys::pigment_result_documents(found, &mut columns[1]));
        assert!(sys::pigment_result_metadatas(found, &mut columns[2]));
        let distances = sys::pigment_result_distances(found);
        for row in 0..sys::pigment_result_row_count(found) as usize {
            let text = |column: &sys::pigment_text_column| {
                let (begin, end) = (*column.offsets.add(row), *column.offsets.add(row + 1));
                std::slice::from_raw_parts(column.bytes.add(begin as usize).cast::<u8>(), (end - begin) as usize)
            };
            black_box((text(&columns[0]), text(&columns[1]), text(&columns[2]), *distances.add(row)));
        }
        sys::pigment_result_free(found);
    }
}

/// The same collection for both: C opens what the crate has open, which within a process is one store.
fn open_raw(path: &std::path::Path) -> (*mut sys::pigment_client, *mut sys::pigment_collection) {
    let path = path.to_str().expect("UTF-8");
    let (mut client, mut docs) = (std::ptr::null_mut(), std::ptr::null_mut());
    let (mut options, name, none) = (sys::pigment_open_options::new(), "docs", std::ptr::null_mut());
    options.sync_mode = sys::PIGMENT_SYNC_OFF;
    // SAFETY: texts and options live until the calls return.
    unsafe {
        succeed(sys::pigment_client_open(path.as_ptr().cast(), path.len(), &options, &mut client, none));
        let (scope, function) = (std::ptr::null(), std::ptr::null());
        succeed(sys::pigment_client_get_collection(
            client,
            scope,
            name.as_ptr().cast(),
            name.len(),
            function,
            &mut docs,
            none,
        ));
    }
    (client, docs)
}

fn main() {
    let folder = std::env::temp_dir().join(format!("pigment-cost-{}", std::process::id()));
    let client = pigment::OpenOptions::new().sync(pigment::Sync::Off).open(&folder).expect("a store");
    let docs = client.create_collection("docs", Default::default()).expect("a collection");
    for number in 0..ROWS / BATCH {
        add(&docs, &batch(number, BATCH));
    }
    client.compact().expect("compacted");
    let (raw_client, raw_docs) = open_raw(&folder);
    let vectors = numbers(99, QUERIES * DIMENSION);
    let each = |one: &dyn Fn(&[f32])| seconds(|| vectors.chunks(DIMENSION).for_each(one));
    // SAFETY: the handle is freed at the end.
    let times =
        race(|| each(&|vector| query(&docs, vector)), || each(&|vector| unsafe { raw_query(raw_docs, vector) }));
    print("query_10", QUERIES, times);

    // The cost of a call in itself: a collection so small that there is little to search.
    let small: Client = Client::in_memory().expect("a store");
    let few = small.create_collection("docs", Default::default()).expect("a collection");
    add(&few, &batch(0, 100));
    drop(few);
    let few_folder = folder.with_extension("few");
    small.backup(&few_folder).expect("a copy");
    let few_client = pigment::OpenOptions::new().sync(pigment::Sync::Off).open(&few_folder).expect("a store");
    let few = few_client.get_collection("docs").expect("the collection");
    let (raw_few_client, raw_few) = open_raw(&few_folder);
    // SAFETY: as above.
    let times = race(|| each(&|vector| query(&few, vector)), || each(&|vector| unsafe { raw_query(raw_few, vector) }));
    print("query_10_of_100", QUERIES, times);

    // Every batch goes into a collection of its own, which is deleted outside the time that is taken.
    let one = batch(0, BATCH);
    let fresh = || client.create_collection("batch", Default::default()).expect("a collection");
    let ours = || {
        let docs = fresh();
        let time = seconds(|| add(&docs, &one));
        client.delete_collection("batch").expect("deleted");
        time
    };
    let theirs = || {
        drop(fresh());
        let (mut raw, name, scope) = (std::ptr::null_mut(), "batch", std::ptr::null());
        let (data, size, none) = (name.as_ptr().cast(), name.len(), std::ptr::null_mut());
        // SAFETY: as above.
        unsafe {
            succeed(sys::pigment_client_get_collection(
                raw_client,
                scope,
                data,
                size,
                std::ptr::null(),
                &mut raw,
                none,
            ));
            let time = seconds(|| raw_add(raw, &one));
            sys::pigment_collection_free(raw);
            client.delete_collection("batch").expect("deleted");
            time
        }
    };
    print("add_1000", 1, race(ours, theirs));

    // SAFETY: freed once, nothing uses them any more.
    unsafe {
        for (client, docs) in [(raw_client, raw_docs), (raw_few_client, raw_few)] {
            sys::pigment_collection_free(docs);
            sys::pigment_client_free(client);
        }
    }
    for (client, folder) in [(client, folder), (few_client, few_folder)] {
        client.close().map_err(|(_, error)| error).expect("closed");
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
