// SPDX-License-Identifier: Apache-2.0
//
// The futures, on an executor of a few lines: they give what the calls give, wait for nobody, and stop when they are dropped.

use crate::support::{filled, vectors, Folder};
use pigment::asynchronous::{AsyncClient, Job};
use pigment::{
    field, Call, CancelToken, Client, CollectionOptions, EmbeddingFunction, ErrorKind, Facets, Get, Query, Records,
    Selection, TextSearch, Vectors,
};
use std::future::Future;
use std::pin::{pin, Pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// All of them at once.
fn join<T: Send + 'static>(jobs: Vec<Job<T>>) -> Vec<pigment::Result<T>> {
    let mut jobs: Vec<(Job<T>, Option<pigment::Result<T>>)> = jobs.into_iter().map(|job| (job, None)).collect();
    block_on(std::future::poll_fn(|context| {
        for (job, answer) in jobs.iter_mut().filter(|(_, answer)| answer.is_none()) {
            if let Poll::Ready(ready) = Pin::new(job).poll(context) {
                *answer = Some(ready);
            }
        }
        if jobs.iter().all(|(_, answer)| answer.is_some()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }));
    jobs.into_iter().filter_map(|(_, answer)| answer).collect()
}

fn poll_once<T: Send + 'static>(job: &mut Job<T>) -> bool {
    Pin::new(job).poll(&mut Context::from_waker(&Arc::new(Unpark(std::thread::current())).into())).is_ready()
}

#[test]
fn every_twin_gives_what_its_call_gives() -> pigment::Result<()> {
    let folder = Folder::new();
    let client: AsyncClient = Client::open(folder.join("store"))?.asynchronous();
    block_on(async {
        client.create_tenant("acme").await?;
        assert_eq!(client.get_tenant("acme").await?.name, "acme");
        assert_eq!(client.list_tenants().await?.len(), 2);
        client.create_database("sales").await?;
        assert_eq!(client.get_database("sales").await?.name, "sales");
        assert_eq!(client.list_databases(None, 0).await?.len(), 2);
        let text = serde_json::json!({"text_index": {}});
        let options = CollectionOptions::new().configuration(&text).embedding_function(&EmbeddingFunction::lexical(16));
        let docs = client.create_collection("docs", options).await?;
        let records = Records::new(["a", "b"])
            .documents(["one", "two"])
            .metadatas([("k", 1), ("k", 2)].map(|kv| std::collections::BTreeMap::from([kv])))?;
        assert_eq!(docs.add(records.clone()).await?.inserted, 2);
        assert_eq!(docs.update(records.clone()).await?.updated, 2);
        assert_eq!(docs.upsert(records).await?.updated, 2);
        assert_eq!(docs.count().await?, 2);
        assert_eq!(docs.count_where(Selection::new().filter(field("k").eq(1))).await?, 1);
        assert_eq!(docs.facets(Facets::new(["k"])).await?["k"].len(), 2);
        assert_eq!(docs.contains(["a", "z"]).await?, [true, false]);
        assert_eq!(docs.get(Get::new().limit(1)).await?.len(), 1);
        assert_eq!(docs.peek(1).await?.len(), 1);
        assert_eq!(docs.query(Query::new().texts(["one"]).n_results(1)).await?.ids().get(0), Some("a"));
        assert_eq!(docs.search_text(TextSearch::new("two")).await?.ids().get(0), Some("b"));
        docs.modify(pigment::Changes::new().name("renamed")).await?;
        assert_eq!(docs.describe().await?.name, "renamed");
        docs.flush().await?;
        assert_eq!(docs.segments().await?.len(), 1);
        assert_eq!(docs.compact().await?.records, 2);
        let fork = docs.fork("fork").await?;
        assert_eq!(fork.delete(field("k").eq(1)).await?.deleted, 1);
        let id = fork.blocking().describe()?.id;
        assert_eq!(client.get_collection_by_id(id, None).await?.count().await?, 1);
        assert_eq!(client.get_collection("renamed").await?.count().await?, 2);
        assert_eq!(client.get_collection_with("renamed", &EmbeddingFunction::lexical(16)).await?.count().await?, 2);
        assert_eq!(client.get_or_create_collection("new").await?.count().await?, 0);
        assert_eq!((client.count_collections().await?, client.list_collections(None, 0).await?.len()), (3, 3));
        client.delete_collection("fork").await?;
        client.flush().await?;
        assert_eq!(client.compact().await?.records, 2);
        assert_eq!(client.position().await?, client.blocking().position()?);
        assert!(client.statistics().await?.is_object() && client.check(true).await?.clean);
        assert_eq!(client.backup(folder.join("copy")).await?.collections, 2);
        client.delete_database("sales").await?;
        client.delete_tenant("acme").await?;
        assert_eq!(client.refresh().await.is_ok(), client.blocking().refresh().is_ok());
        client.close().await?;
        assert!(docs.count().await.expect_err("closed").is_closed());
        Ok(())
    })
}

#[test]
fn many_futures_share_few_threads() {
    let docs = filled(&Client::in_memory().expect("a store"), 100).asynchronous();
    let jobs = (0..2000).map(|n| docs.get(Get::new().filter(field("n").eq(n % 100)))).collect();
    for (n, found) in join(jobs).into_iter().enumerate() {
        assert_eq!(found.expect("a record").row(0).id(), (n % 100).to_string());
    }
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    assert!(threads < 200, "{threads} threads");
}

/// A collection in which a query of many vectors takes seconds.
fn slow() -> (pigment::Collection, Query<'static>) {
    let docs =
        Client::in_memory().expect("a store").create_collection("docs", Default::default()).expect("a collection");
    let ids: Vec<String> = (0..20_000).map(|row| row.to_string()).collect();
    docs.add(&Records::new(&ids).embeddings(Vectors::matrix(vectors(5, ids.len(), 32), 32).expect("a matrix")))
        .expect("added");
    let query = Query::new().embeddings(Vectors::matrix(vectors(6, 50_000, 32), 32).expect("a matrix"));
    (docs, query.recall(1.0).threads(1))
}

#[test]
fn a_dropped_future_cancels_its_call_and_a_token_cancels_a_future() {
    let (docs, query) = slow();
    let parent = CancelToken::new().expect("a token");
    let futures = docs.with(Call::new().cancel(&parent)).asynchronous();
    let begun = Instant::now();
    for _ in 0..40 {
        let mut job = futures.query(query.clone());
        assert!(!poll_once(&mut job));
        std::thread::sleep(Duration::from_millis(2));
        drop(job); // its thread is free for the next: forty queries to the end would take minutes
    }
    assert!(!parent.is_cancelled());
    assert_eq!(block_on(futures.count()).expect("a count"), 20_000);
    let stopper = parent.clone();
    let stop = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        stopper.cancel();
    });
    assert_eq!(block_on(futures.query(query.clone())).expect_err("cancelled").kind, ErrorKind::Cancelled);
    stop.join().expect("a thread");
    let late = docs.with(Call::new().timeout(Duration::from_millis(10))).asynchronous().query(query);
    std::thread::sleep(Duration::from_millis(30)); // the time of a future begins when it is polled, not when it is made
    assert_eq!(block_on(late).expect_err("too late").kind, ErrorKind::DeadlineExceeded);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn a_future_does_nothing_before_it_is_polled() {
    let docs = filled(&Client::in_memory().expect("a store"), 5);
    drop(docs.asynchronous().delete(["1"]));
    assert_eq!(docs.count().expect("a count"), 5);
}

#[test]
fn wakers_are_the_last_ones_given_and_panics_come_back() {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let gate = Arc::new(std::sync::Barrier::new(2));
    let waiting = Arc::clone(&gate);
    let function = EmbeddingFunction::each("gated", move |_| {
        waiting.wait();
        Ok(vec![1.0])
    });
    let client = Client::in_memory().expect("a store");
    let docs =
        client.create_collection("docs", CollectionOptions::new().embedding_function(&function)).expect("a collection");
    let mut job = docs.asynchronous().add(Records::new(["a"]).documents(["one"]));
    let (first, last) = (Arc::new(Count(AtomicUsize::new(0))), Arc::new(Count(AtomicUsize::new(0))));
    assert!(Pin::new(&mut job).poll(&mut Context::from_waker(&Arc::clone(&first).into())).is_pending());
    assert!(Pin::new(&mut job).poll(&mut Context::from_waker(&Arc::clone(&last).into())).is_pending());
    gate.wait();
    let written = block_on(&mut job).expect("added");
    assert_eq!(written.inserted, 1);
    assert_eq!(first.0.load(Ordering::SeqCst), 0);
    let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll_once(&mut job)));
    assert!(again.is_err(), "polled after its end");
    let panics = EmbeddingFunction::each("panics", |_| panic!("no"));
    let docs =
        client.create_collection("other", CollectionOptions::new().embedding_function(&panics)).expect("a collection");
    let error = block_on(docs.asynchronous().add(Records::new(["a"]).documents(["one"]))).expect_err("a panic");
    assert_eq!(error.kind, ErrorKind::Internal);
}
