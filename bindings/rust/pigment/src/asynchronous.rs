// SPDX-License-Identifier: Apache-2.0

//! The same calls as futures, for any executor: each is done on a thread of its own kind, and cancelled when its future is dropped.
//!
//! As futures are, a [`Job`] does nothing before it is polled, and a timeout runs from then on. Dropping one that is under way sets its
//! cancel token; a call that takes no token (making a collection, a fork, a close) goes on to its end, and its answer is lost.
//! Embedding functions must not wait for futures of this module: they are called from its threads, of which there are only so many.
//!
//! ```
//! # use std::{future::Future, pin::pin, sync::Arc, task::{Context, Poll, Wake}, thread::{current, park, Thread}};
//! # struct Unpark(Thread);
//! # impl Wake for Unpark { fn wake(self: Arc<Self>) { self.0.unpark() } }
//! # fn block_on<F: Future>(future: F) -> F::Output {
//! #     let (mut future, waker) = (pin!(future), Arc::new(Unpark(current())).into());
//! #     loop { match future.as_mut().poll(&mut Context::from_waker(&waker)) { Poll::Ready(out) => return out, Poll::Pending => park() } }
//! # }
//! use pigment::{Client, Query, Records};
//! # fn main() -> pigment::Result<()> { block_on(async {
//! let docs = Client::in_memory()?.asynchronous().get_or_create_collection("docs").await?;
//! docs.add(Records::new(["a"]).embeddings([[1.0f32, 2.0]])).await?;
//! assert_eq!(docs.query(Query::new().embeddings(vec![1.0f32, 2.0])).await?.len(), 1);
//! # Ok(()) }) }
//! ```

use crate::cancel::{Call, CancelToken};
use crate::client::Client;
use crate::codes::{Detail, ErrorKind};
use crate::collection::{Changes, Collection, CollectionOptions};
use crate::embedding::EmbeddingFunction;
use crate::error::{Error, Result};
use crate::pool;
use crate::records::Records;
use crate::reports::{BackupReport, CheckReport, Compaction, Database, Description, Facet, Segment, Tenant, Written};
use crate::requests::{Delete, Facets, Get, Query, Selection, TextSearch};
use crate::result::Results;
use crate::texts::Texts;
use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// A call that is under way, or will be when it is polled.
#[must_use = "a future does nothing unless it is polled"]
pub struct Job<T> {
    stage: Stage<T>,
}

type Start<T> = Box<dyn FnOnce(Call) -> Result<T> + Send>;

enum Stage<T> {
    Planned(Call, Start<T>),
    Running(Arc<Mutex<Shared<T>>>, CancelToken),
    Over,
}

struct Shared<T> {
    answer: Option<std::thread::Result<Result<T>>>,
    waker: Option<Waker>,
}

impl<T: Send + 'static> Job<T> {
    fn new(call: &Call, start: impl FnOnce(Call) -> Result<T> + Send + 'static) -> Self {
        Self { stage: Stage::Planned(call.clone(), Box::new(start)) }
    }

    fn begin(call: Call, start: Start<T>, waker: Waker) -> Result<Stage<T>> {
        let token = call.token().map_or_else(CancelToken::new, CancelToken::child)?;
        let call = call.started().cancel(&token);
        let shared = Arc::new(Mutex::new(Shared { answer: None, waker: Some(waker) }));
        let theirs = Arc::clone(&shared);
        let work = move || {
            if Arc::strong_count(&theirs) == 1 {
                return; // the future was dropped while this waited for its turn
            }
            let answer = catch_unwind(AssertUnwindSafe(|| start(call)));
            let mut shared = theirs.lock().unwrap_or_else(PoisonError::into_inner);
            shared.answer = Some(answer);
            let waker = shared.waker.take();
            drop(shared);
            // A waker is somebody else's code; it must not end a thread that others wait for.
            drop(catch_unwind(AssertUnwindSafe(|| waker.map(Waker::wake))));
        };
        pool::submit(Box::new(work)).map_err(|error| {
            Error::new(ErrorKind::ResourceExhausted, Detail::None, format!("no thread for a future: {error}"))
        })?;
        Ok(Stage::Running(shared, token))
    }
}

impl<T> Unpin for Job<T> {}

impl<T: Send + 'static> Future for Job<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Planned(call, start) => {
                self.stage = Self::begin(call, start, context.waker().clone())?;
                Poll::Pending
            }
            Stage::Running(shared, token) => {
                let mut state = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(answer) = state.answer.take() {
                    return Poll::Ready(answer.unwrap_or_else(|payload| resume_unwind(payload)));
                }
                if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                    state.waker = Some(context.waker().clone());
                }
                drop(state);
                self.stage = Stage::Running(shared, token);
                Poll::Pending
            }
            Stage::Over => panic!("a future was polled after its end"),
        }
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        if let Stage::Running(_, token) = &self.stage {
            token.cancel();
        }
    }
}

impl<T> std::fmt::Debug for Job<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self.stage {
            Stage::Planned(..) => "Job (not polled yet)",
            Stage::Running(..) => "Job (running)",
            Stage::Over => "Job (over)",
        })
    }
}

/// A [`Client`] whose calls are futures.
#[derive(Clone, Debug)]
pub struct AsyncClient(Client);

/// A [`Collection`] whose calls are futures. Their arguments travel to another thread, so they own what they have.
#[derive(Clone, Debug)]
pub struct AsyncCollection(Collection);

impl Client {
    /// The same store with calls that are futures.
    #[must_use]
    pub fn asynchronous(&self) -> AsyncClient {
        AsyncClient(self.clone())
    }
}

impl Collection {
    /// The same collection with calls that are futures.
    #[must_use]
    pub fn asynchronous(&self) -> AsyncCollection {
        AsyncCollection(self.clone())
    }
}

/// Twins: a method of the same name that clones the handle, gives it the future's token and time, and calls it elsewhere.
macro_rules! twins {
    ($of:ident: $($name:ident($($argument:ident: $kind:ty $(= $owned:expr)?),*) -> $answer:ty, |$handle:ident| $body:expr;)*) => {$(
        #[doc = concat!("[`", stringify!($of), "::", stringify!($name), "`].")]
        pub fn $name(&self, $($argument: $kind),*) -> Job<$answer> {
            let mut handle = self.0.clone();
            $($(let $argument = $owned;)?)*
            Job::new(&handle.call_mut().clone(), move |call| {
                *handle.call_mut() = call;
                let $handle = &handle;
                $body
            })
        }
    )*};
}

impl AsyncClient {
    /// The same store with calls that block.
    #[must_use]
    pub fn blocking(&self) -> &Client {
        &self.0
    }

    twins! {
        Client:
        create_tenant(name: &str = name.to_owned()) -> (), |client| client.create_tenant(&name);
        get_tenant(name: &str = name.to_owned()) -> Tenant, |client| client.get_tenant(&name);
        list_tenants() -> Vec<String>, |client| client.list_tenants();
        delete_tenant(name: &str = name.to_owned()) -> (), |client| client.delete_tenant(&name);
        create_database(name: &str = name.to_owned()) -> (), |client| client.create_database(&name);
        get_database(name: &str = name.to_owned()) -> Database, |client| client.get_database(&name);
        list_databases(limit: Option<u64>, offset: u64) -> Vec<Database>, |client| client.list_databases(limit, offset);
        delete_database(name: &str = name.to_owned()) -> (), |client| client.delete_database(&name);
        list_collections(limit: Option<u64>, offset: u64) -> Vec<Description>, |client| client.list_collections(limit, offset);
        count_collections() -> u64, |client| client.count_collections();
        delete_collection(name: &str = name.to_owned()) -> (), |client| client.delete_collection(&name);
        flush() -> (), |client| client.flush();
        compact() -> Compaction, |client| client.compact();
        statistics() -> serde_json::Value, |client| client.statistics();
        backup(path: impl Into<PathBuf> = path.into()) -> BackupReport, |client| client.backup(&path);
        check(full: bool) -> CheckReport, |client| client.check(full);
        position() -> u64, |client| client.position();
        refresh() -> u64, |client| client.refresh();
        close() -> (), |client| client.clone().close().map_err(|(_, error)| error);
    }

    /// [`Client::create_collection`].
    pub fn create_collection(&self, name: impl Into<String>, options: CollectionOptions) -> Job<AsyncCollection> {
        let name = name.into();
        self.collection(move |client| client.create_collection(&name, options))
    }

    /// [`Client::get_or_create_collection`].
    pub fn get_or_create_collection(&self, name: impl Into<String>) -> Job<AsyncCollection> {
        let name = name.into();
        self.collection(move |client| client.get_or_create_collection(&name))
    }

    /// [`Client::get_collection`].
    pub fn get_collection(&self, name: impl Into<String>) -> Job<AsyncCollection> {
        let name = name.into();
        self.collection(move |client| client.get_collection(&name))
    }

    /// [`Client::get_collection_with`].
    pub fn get_collection_with(&self, name: impl Into<String>, function: &EmbeddingFunction) -> Job<AsyncCollection> {
        let (name, function) = (name.into(), function.clone());
        self.collection(move |client| client.get_collection_with(&name, &function))
    }

    /// [`Client::get_collection_by_id`].
    pub fn get_collection_by_id(
        &self,
        id: impl Into<String>,
        function: Option<EmbeddingFunction>,
    ) -> Job<AsyncCollection> {
        let id = id.into();
        self.collection(move |client| client.get_collection_by_id(&id, function.as_ref()))
    }

    /// These calls take no token, so the collection gets the client's call as it is.
    fn collection(&self, find: impl FnOnce(&Client) -> Result<Collection> + Send + 'static) -> Job<AsyncCollection> {
        let mut client = self.0.clone();
        Job::new(&client.call_mut().clone(), move |_| find(&client).map(AsyncCollection))
    }
}

impl AsyncCollection {
    /// The same collection with calls that block.
    #[must_use]
    pub fn blocking(&self) -> &Collection {
        &self.0
    }

    twins! {
        Collection:
        describe() -> Description, |docs| docs.describe();
        modify(changes: Changes) -> (), |docs| docs.modify(&changes);
        add(records: Records<'static>) -> Written, |docs| docs.add(&records);
        update(records: Records<'static>) -> Written, |docs| docs.update(&records);
        upsert(records: Records<'static>) -> Written, |docs| docs.upsert(&records);
        delete(what: impl Into<Delete<'static>> = what.into()) -> Written, |docs| docs.delete(what);
        get(request: Get<'static>) -> Results, |docs| docs.get(&request);
        peek(limit: u64) -> Results, |docs| docs.peek(limit);
        count() -> u64, |docs| docs.count();
        count_where(selection: Selection<'static>) -> u64, |docs| docs.count_where(&selection);
        facets(request: Facets<'static>) -> BTreeMap<String, Vec<Facet>>, |docs| docs.facets(&request);
        contains(ids: impl Into<Texts<'static>> = ids.into()) -> Vec<bool>, |docs| docs.contains(ids);
        query(request: Query<'static>) -> Results, |docs| docs.query(&request);
        search_text(request: TextSearch<'static>) -> Results, |docs| docs.search_text(&request);
        flush() -> (), |docs| docs.flush();
        segments() -> Vec<Segment>, |docs| docs.segments();
        compact() -> Compaction, |docs| docs.compact();
    }

    /// [`Collection::fork`].
    pub fn fork(&self, new_name: impl Into<String>) -> Job<AsyncCollection> {
        let (mut collection, new_name) = (self.0.clone(), new_name.into());
        Job::new(&collection.call_mut().clone(), move |_| collection.fork(&new_name).map(AsyncCollection))
    }
}
