// SPDX-License-Identifier: Apache-2.0
//
// Many threads on one store while it is closed or their calls are cancelled: every call succeeds or says why, and what was
// acknowledged is there afterwards.

use crate::support::{mixed, vectors, Folder};
use pigment::{
    Call, CancelToken, Client, Collection, Detail, ErrorKind, Get, Include, OpenOptions, Query, Records, Results, Sync,
    Vectors,
};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const THREADS: u64 = 8;

fn write(docs: &Collection, id: &str, dimension: usize) -> pigment::Result<u64> {
    let records = Records::new(id).embeddings(vectors(mixed(id.len() as u64), 1, dimension)).documents([id]);
    docs.add(&records).map(|written| written.inserted)
}

#[test]
fn a_close_among_writers_and_readers_loses_nothing() {
    let folder = Folder::new();
    let acknowledged = Mutex::new(BTreeSet::new());
    let (mut refused, mut seed) = (AtomicUsize::new(0), 0);
    for round in 0..6 {
        let client = OpenOptions::new().sync(Sync::Off).flush_rows_max(200).open(folder.path()).expect("a store");
        let docs = client.get_or_create_collection("docs").expect("a collection");
        seed += 1;
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (docs, acknowledged, refused) = (docs.clone(), &acknowledged, &refused);
                scope.spawn(move || {
                    for step in 0.. {
                        let id = format!("{round}/{thread}/{step}");
                        let outcome = match mixed(seed ^ thread << 8 ^ step << 16) % 3 {
                            0 => docs
                                .query(&Query::new().embeddings(vectors(step, 1, 8)))
                                .map(|found| assert!(found.len() <= 10)),
                            1 => docs.get(&Get::new().limit(5)).map(|found| {
                                assert!(found.rows().all(|row| row.document().as_deref() == Some(row.id())))
                            }),
                            _ => write(&docs, &id, 8).map(|inserted| {
                                assert_eq!(inserted, 1);
                                acknowledged.lock().expect("a set").insert(id);
                            }),
                        };
                        if let Err(error) = outcome {
                            assert_eq!(error.detail, Detail::Closed, "{error}");
                            refused.fetch_add(1, Ordering::Relaxed);
                            return;
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(30 + 10 * round));
            // A slow machine, or a sanitizer, may have written next to nothing by then.
            let (wanted, end) = (10 * (round as usize + 1), Instant::now() + Duration::from_secs(60));
            while acknowledged.lock().expect("a set").len() < wanted && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(1));
            }
            let twice = client.clone();
            scope.spawn(move || twice.close().expect("closed by somebody"));
            client.close().expect("closed");
        });
        let client = Client::open(folder.path()).expect("the store");
        let found = client.get_collection("docs").expect("it").get(&Get::new().include(Include::NOTHING)).expect("ids");
        let there: BTreeSet<String> = found.ids().iter().flatten().map(str::to_owned).collect();
        assert_eq!(there, *acknowledged.lock().expect("a set"));
        client.close().expect("closed");
    }
    assert_eq!(*refused.get_mut(), 6 * THREADS as usize);
    assert!(acknowledged.lock().expect("a set").len() > 50);
}

#[test]
fn cancelled_calls_say_so_and_change_nothing() {
    let client = Client::in_memory().expect("a store");
    let docs = client.create_collection("docs", Default::default()).expect("a collection");
    let rows = 20_000;
    let ids: Vec<String> = (0..rows).map(|row| row.to_string()).collect();
    let matrix = Vectors::matrix(vectors(3, rows, 32), 32).expect("a matrix");
    docs.add(&Records::new(&ids).embeddings(matrix)).expect("added");
    let many = Vectors::matrix(vectors(4, 3000, 32), 32).expect("a matrix");
    let query = Query::new().embeddings(many).recall(1.0).threads(1);
    let (cancelled, answered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let longest = Mutex::new(Duration::ZERO);
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (docs, query, cancelled, answered, longest) = (&docs, &query, &cancelled, &answered, &longest);
            scope.spawn(move || {
                for step in 0..5 {
                    let token = CancelToken::new().expect("a token");
                    let stopper = token.clone();
                    let wait = Duration::from_millis(mixed(thread << 8 ^ step) % 20);
                    let stop = std::thread::spawn(move || {
                        std::thread::sleep(wait);
                        stopper.cancel();
                        Instant::now()
                    });
                    let outcome: pigment::Result<Results> = docs.with(Call::new().cancel(&token)).query(query);
                    let over = Instant::now();
                    let late = over.saturating_duration_since(stop.join().expect("a thread"));
                    match outcome {
                        Ok(found) => {
                            assert_eq!(found.query_count(), 3000);
                            answered.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => {
                            assert_eq!(error.kind, ErrorKind::Cancelled, "{error}");
                            cancelled.fetch_add(1, Ordering::Relaxed);
                            let mut longest = longest.lock().expect("a time");
                            *longest = late.max(*longest);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(cancelled.load(Ordering::Relaxed) + answered.load(Ordering::Relaxed), 20);
    assert!(cancelled.load(Ordering::Relaxed) >= 10, "{answered:?} were answered");
    // A machine under load may be late; a token that nobody looks at would be a minute.
    assert!(*longest.lock().expect("a time") < Duration::from_secs(5), "{longest:?}");
    let token = CancelToken::new().expect("a token");
    token.cancel();
    let stopped = docs.with(Call::new().cancel(&token));
    assert_eq!(write(&stopped, "new", 32).expect_err("cancelled").kind, ErrorKind::Cancelled);
    assert_eq!(docs.contains(["new", "1"]).expect("looked up"), [false, true]);
}

#[test]
fn deadlines_end_calls_and_positions_are_waited_for_by_nobody() {
    let client = Client::in_memory().expect("a store");
    let docs = crate::support::filled(&client, 100);
    let late = docs.with(Call::new().deadline(Instant::now())).count().expect_err("too late");
    assert_eq!((late.kind, late.is_retryable()), (ErrorKind::DeadlineExceeded, true));
    assert_eq!(
        docs.with(Call::new().timeout(Duration::ZERO)).peek(1).expect_err("too late").kind,
        ErrorKind::DeadlineExceeded
    );
    assert_eq!(docs.with(Call::new().timeout(Duration::from_secs(60))).count().expect("in time"), 100);
    let position = client.position().expect("a position");
    assert_eq!(docs.with(Call::new().min_position(position)).peek(1).expect("there").position(), position);
    let stale = docs.with(Call::new().min_position(position + 1)).peek(1).expect_err("not there yet");
    assert_eq!(stale.detail, Detail::Stale);
    let late = client.with(Call::new().timeout(Duration::ZERO)).get_collection("docs").expect("takes no time").count();
    assert_eq!(
        late.expect_err("too late").kind,
        ErrorKind::DeadlineExceeded,
        "a collection has the call of its client"
    );
}

#[test]
fn results_travel_to_other_threads_and_views_are_read_by_many() {
    let docs = crate::support::filled(&Client::in_memory().expect("a store"), 500);
    let found = std::thread::spawn(move || docs.get(&Get::new()).expect("records")).join().expect("a thread");
    let ids = found.ids();
    std::thread::scope(|scope| {
        for thread in 0..THREADS as usize {
            scope.spawn(move || {
                assert!((thread..500).step_by(8).all(|row| ids.get(row) == Some(row.to_string().as_str())))
            });
        }
    });
}
