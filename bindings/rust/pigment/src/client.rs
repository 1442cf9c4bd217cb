// SPDX-License-Identifier: Apache-2.0
//
// An open store. Any thread may use it, and clones are the same store: they share one handle of the library, which goes with the
// last of them and of its collections.

use crate::cancel::Call;
use crate::codes::{Detail, ErrorKind};
use crate::collection::{Collection, CollectionOptions};
use crate::embedding::{EmbeddingFunction, Given};
use crate::error::{call, static_text, Error, Result};
use crate::open::{utf8_path, OpenOptions};
use crate::reports::{BackupReport, CheckReport, Compaction, Database, Description, Limit, RepairReport, Tenant};
use pigment_sys as sys;
use serde::de::DeserializeOwned;
use std::ffi::c_char;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// An open store: Chroma's client. Cheap to clone, for any number of threads.
///
/// A store that nobody closed closes when the last clone and the last collection are dropped; an error of that close is lost, so a
/// program that wants to know calls [`close`](Self::close).
#[derive(Clone, Debug)]
pub struct Client {
    handle: Arc<Handle>,
    scope: Arc<Scope>,
    call: Call,
}

#[derive(Debug)]
struct Handle(NonNull<sys::pigment_client>);

// SAFETY: the library lets any thread use and free a client.
unsafe impl Send for Handle {}
// SAFETY: as above, concurrently.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: ours, and freed once.
        unsafe { sys::pigment_client_free(self.0.as_ptr()) }
    }
}

/// Where collections are looked for; empty: the default.
#[derive(Clone, Debug, Default)]
struct Scope {
    tenant: String,
    database: String,
}

impl Scope {
    fn raw(&self) -> sys::pigment_scope {
        let mut raw = sys::pigment_scope::new();
        (raw.tenant, raw.tenant_size) = text_or_absent(&self.tenant);
        (raw.database, raw.database_size) = text_or_absent(&self.database);
        raw
    }
}

/// A name that may be left out.
fn text_or_absent(text: &str) -> (*const c_char, usize) {
    (if text.is_empty() { std::ptr::null() } else { text.as_ptr().cast() }, text.len())
}

/// An owned text of the library, parsed.
pub(crate) fn parsed<T: DeserializeOwned>(
    function: impl FnOnce(*mut *mut sys::pigment_buffer, *mut *mut sys::pigment_error) -> sys::pigment_status,
) -> Result<T> {
    let mut buffer = std::ptr::null_mut();
    call(|error| function(&mut buffer, error))?;
    let mut size = 0;
    // SAFETY: a buffer that the call gave is ours; its bytes are read before it is freed.
    unsafe {
        let data: *const u8 = sys::pigment_buffer_data(buffer, &mut size).cast();
        let text = if data.is_null() { &[] } else { std::slice::from_raw_parts(data, size) };
        let value = serde_json::from_slice(text);
        sys::pigment_buffer_free(buffer);
        value.map_err(|why| Error::new(ErrorKind::Internal, Detail::None, format!("a report of the library: {why}")))
    }
}

/// -1 for no limit; what i64 does not hold is none either.
fn raw_limit(limit: Option<u64>) -> i64 {
    limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(-1)
}

fn raw_offset(offset: u64) -> i64 {
    i64::try_from(offset).unwrap_or(i64::MAX)
}

pub(crate) fn compaction(raw: &sys::pigment_compaction) -> Compaction {
    Compaction {
        records: raw.records,
        segments_in: raw.segments_in,
        segments_out: raw.segments_out,
        bytes_before: raw.bytes_before,
        bytes_after: raw.bytes_after,
    }
}

impl Client {
    /// Opens the store in a directory, and makes it where there is none.
    ///
    /// # Errors
    /// Those of [`OpenOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open(path)
    }

    /// Opens a store in memory, which is gone with its last handle.
    ///
    /// # Errors
    /// No memory is left.
    pub fn in_memory() -> Result<Self> {
        OpenOptions::new().open_in_memory()
    }

    pub(crate) fn open_raw(path: &str, options: &sys::pigment_open_options) -> Result<Self> {
        // SAFETY: takes nothing.
        let abi = unsafe { sys::pigment_abi_version() };
        if abi != sys::PIGMENT_ABI_VERSION {
            let message = format!("libpigment has ABI {abi}, this crate is for {}", sys::PIGMENT_ABI_VERSION);
            return Err(Error::new(ErrorKind::VersionMismatch, Detail::None, message));
        }
        let mut raw = std::ptr::null_mut();
        // SAFETY: path and options are read during the call.
        call(|error| unsafe { sys::pigment_client_open(path.as_ptr().cast(), path.len(), options, &mut raw, error) })?;
        let handle = Arc::new(Handle(NonNull::new(raw).expect("a client that was opened")));
        Ok(Self { handle, scope: Arc::default(), call: Call::new() })
    }

    fn raw(&self) -> *mut sys::pigment_client {
        self.handle.0.as_ptr()
    }

    pub(crate) fn call_mut(&mut self) -> &mut Call {
        &mut self.call
    }

    /// Makes everything durable and closes the store, also for its clones and collections: their calls fail with
    /// [`Detail::Closed`] from then on. Waits for running writes.
    ///
    /// ```
    /// # fn main() -> pigment::Result<()> {
    /// # let client = pigment::Client::in_memory()?;
    /// client.close().map_err(|(_, error)| error)
    /// # }
    /// ```
    ///
    /// # Errors
    /// What could not be made durable; the client comes back, so that it can be tried again.
    #[allow(clippy::result_large_err)] // the client is what the caller had
    pub fn close(self) -> std::result::Result<(), (Self, Error)> {
        // SAFETY: alive; closing twice is allowed.
        call(|error| unsafe { sys::pigment_client_close(self.raw(), error) }).map_err(|error| (self, error))
    }

    /// The same store with what its calls take: a token, time, a log position. Collections got from it take it too.
    #[must_use]
    pub fn with(&self, call: Call) -> Self {
        Self { call, ..self.clone() }
    }

    /// The same store, looking for databases and collections in this tenant.
    #[must_use]
    pub fn with_tenant(&self, tenant: impl Into<String>) -> Self {
        let scope = Scope { tenant: tenant.into(), database: self.scope.database.clone() };
        Self { scope: Arc::new(scope), ..self.clone() }
    }

    /// The same store, looking for collections in this database.
    #[must_use]
    pub fn with_database(&self, database: impl Into<String>) -> Self {
        let scope = Scope { tenant: self.scope.tenant.clone(), database: database.into() };
        Self { scope: Arc::new(scope), ..self.clone() }
    }

    // ---- Tenants and databases ----

    /// Makes a tenant; a name has at least 3 characters.
    ///
    /// # Errors
    /// It exists, or the name is none.
    pub fn create_tenant(&self, name: &str) -> Result<()> {
        // SAFETY: as in `close`; the name is read during the call.
        call(|error| unsafe { sys::pigment_client_create_tenant(self.raw(), name.as_ptr().cast(), name.len(), error) })
    }

    /// A tenant.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn get_tenant(&self, name: &str) -> Result<Tenant> {
        // SAFETY: as above.
        parsed(|json, error| unsafe {
            sys::pigment_client_get_tenant(self.raw(), name.as_ptr().cast(), name.len(), json, error)
        })
    }

    /// The names of all tenants, in their order.
    ///
    /// # Errors
    /// The store is closed.
    pub fn list_tenants(&self) -> Result<Vec<String>> {
        // SAFETY: as above.
        parsed(|json, error| unsafe { sys::pigment_client_list_tenants(self.raw(), json, error) })
    }

    /// Deletes a tenant and all that is in it.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn delete_tenant(&self, name: &str) -> Result<()> {
        // SAFETY: as above.
        call(|error| unsafe { sys::pigment_client_delete_tenant(self.raw(), name.as_ptr().cast(), name.len(), error) })
    }

    /// Makes a database in the tenant of this client.
    ///
    /// # Errors
    /// It exists, the name is none, or the tenant is not there.
    pub fn create_database(&self, name: &str) -> Result<()> {
        let tenant = &self.scope.tenant;
        // SAFETY: as above.
        call(|error| unsafe {
            let (tenant, tenant_size) = text_or_absent(tenant);
            sys::pigment_client_create_database(
                self.raw(),
                tenant,
                tenant_size,
                name.as_ptr().cast(),
                name.len(),
                error,
            )
        })
    }

    /// A database in the tenant of this client.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn get_database(&self, name: &str) -> Result<Database> {
        let tenant = &self.scope.tenant;
        // SAFETY: as above.
        parsed(|json, error| unsafe {
            let ((tenant, tenant_size), (name, size)) = (text_or_absent(tenant), (name.as_ptr().cast(), name.len()));
            sys::pigment_client_get_database(self.raw(), tenant, tenant_size, name, size, json, error)
        })
    }

    /// Databases in the tenant of this client, by name, from the `offset`th on.
    ///
    /// # Errors
    /// The tenant is not there.
    pub fn list_databases(&self, limit: Option<u64>, offset: u64) -> Result<Vec<Database>> {
        let (tenant, limit, offset) = (&self.scope.tenant, raw_limit(limit), raw_offset(offset));
        // SAFETY: as above.
        parsed(|json, error| unsafe {
            let (tenant, tenant_size) = text_or_absent(tenant);
            sys::pigment_client_list_databases(self.raw(), tenant, tenant_size, limit, offset, json, error)
        })
    }

    /// Deletes a database in the tenant of this client and all that is in it.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn delete_database(&self, name: &str) -> Result<()> {
        let tenant = &self.scope.tenant;
        // SAFETY: as above.
        call(|error| unsafe {
            let (tenant, tenant_size) = text_or_absent(tenant);
            sys::pigment_client_delete_database(
                self.raw(),
                tenant,
                tenant_size,
                name.as_ptr().cast(),
                name.len(),
                error,
            )
        })
    }

    // ---- Collections ----

    /// Makes a collection.
    ///
    /// # Errors
    /// It exists and [`CollectionOptions::get_or_create`] was not said; an argument breaks a rule.
    pub fn create_collection(&self, name: &str, options: CollectionOptions) -> Result<Collection> {
        let options = options.checked()?;
        let given = options.function().map(Given::new).transpose()?;
        let (scope, raw_options) = (self.scope.raw(), options.raw(given.as_ref()));
        let mut raw = std::ptr::null_mut();
        // SAFETY: everything passed lives until the end of the call.
        call(|error| unsafe {
            let (name, size) = (name.as_ptr().cast(), name.len());
            sys::pigment_client_create_collection(self.raw(), &scope, name, size, &raw_options, &mut raw, error)
        })?;
        Ok(self.found(raw, given))
    }

    /// A collection, created without options where it is not there.
    ///
    /// # Errors
    /// The name is none.
    pub fn get_or_create_collection(&self, name: &str) -> Result<Collection> {
        self.create_collection(name, CollectionOptions::new().get_or_create(true))
    }

    /// A collection. Without its embedding function it takes vectors, and texts fail with [`Detail::NoEmbeddingFunction`]:
    /// [`get_collection_with`](Self::get_collection_with).
    ///
    /// # Errors
    /// There is none of that name.
    pub fn get_collection(&self, name: &str) -> Result<Collection> {
        self.get(name, None)
    }

    /// A collection with its embedding function, whose name must be the stored one where one is stored.
    ///
    /// # Errors
    /// There is none of that name, or its function is another.
    pub fn get_collection_with(&self, name: &str, function: &EmbeddingFunction) -> Result<Collection> {
        self.get(name, Some(function))
    }

    fn get(&self, name: &str, function: Option<&EmbeddingFunction>) -> Result<Collection> {
        let given = function.map(Given::new).transpose()?;
        let function = given.as_ref().map_or(std::ptr::null(), Given::raw);
        let (scope, mut raw) = (self.scope.raw(), std::ptr::null_mut());
        // SAFETY: as above.
        call(|error| unsafe {
            let (name, size) = (name.as_ptr().cast(), name.len());
            sys::pigment_client_get_collection(self.raw(), &scope, name, size, function, &mut raw, error)
        })?;
        Ok(self.found(raw, given))
    }

    /// A collection by the id that [`Collection::describe`] gives, of any tenant and database.
    ///
    /// # Errors
    /// There is none of that id, or its function is another.
    pub fn get_collection_by_id(&self, id: &str, function: Option<&EmbeddingFunction>) -> Result<Collection> {
        let given = function.map(Given::new).transpose()?;
        let (function, mut raw) = (given.as_ref().map_or(std::ptr::null(), Given::raw), std::ptr::null_mut());
        // SAFETY: as above.
        call(|error| unsafe {
            let (id, size) = (id.as_ptr().cast(), id.len());
            sys::pigment_client_get_collection_by_id(self.raw(), id, size, function, &mut raw, error)
        })?;
        Ok(self.found(raw, given))
    }

    fn found(&self, raw: *mut sys::pigment_collection, given: Option<Given<'_>>) -> Collection {
        if let Some(given) = given {
            given.give_away();
        }
        Collection::new(raw, self.call.clone())
    }

    /// Descriptions of collections, by id, from the `offset`th on.
    ///
    /// # Errors
    /// Tenant or database are not there.
    pub fn list_collections(&self, limit: Option<u64>, offset: u64) -> Result<Vec<Description>> {
        let (scope, limit, offset) = (self.scope.raw(), raw_limit(limit), raw_offset(offset));
        // SAFETY: as above.
        parsed(|json, error| unsafe {
            sys::pigment_client_list_collections(self.raw(), &scope, limit, offset, json, error)
        })
    }

    /// How many collections there are.
    ///
    /// # Errors
    /// Tenant or database are not there.
    pub fn count_collections(&self) -> Result<u64> {
        let (scope, mut count) = (self.scope.raw(), 0);
        // SAFETY: as above.
        call(|error| unsafe { sys::pigment_client_count_collections(self.raw(), &scope, &mut count, error) })?;
        Ok(count)
    }

    /// Deletes a collection; handles to it give *not found* from then on.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn delete_collection(&self, name: &str) -> Result<()> {
        let scope = self.scope.raw();
        // SAFETY: as above.
        call(|error| unsafe {
            sys::pigment_client_delete_collection(self.raw(), &scope, name.as_ptr().cast(), name.len(), error)
        })
    }

    // ---- Maintenance ----

    /// Writes the tails of all collections into segments.
    ///
    /// # Errors
    /// The disk does not take them; cancelled, which leaves those as they were that it did not come to.
    pub fn flush(&self) -> Result<()> {
        // SAFETY: as above.
        call(|error| unsafe { sys::pigment_client_flush_with(self.raw(), &self.call.raw(), error) })
    }

    /// Merges the segments of all collections as far as that saves anything. One that fails does not keep the others from it; the
    /// first error is given in the end.
    ///
    /// # Errors
    /// Cancelled, or the disk does not take them.
    pub fn compact(&self) -> Result<Compaction> {
        let mut result = sys::pigment_compaction::new();
        // SAFETY: as above.
        call(|error| unsafe { sys::pigment_client_compact(self.raw(), &self.call.raw(), &mut result, error) })?;
        Ok(compaction(&result))
    }

    /// How the store is: log, catalog, memory, maintenance, formats. Members are only ever added.
    ///
    /// # Errors
    /// The store is closed.
    pub fn statistics(&self) -> Result<serde_json::Value> {
        // SAFETY: as above.
        parsed(|json, error| unsafe { sys::pigment_client_statistics(self.raw(), json, error) })
    }

    /// Copies the store as it is at one moment into another directory, while writers go on.
    ///
    /// # Errors
    /// The directory has a store; a damaged file, which is named; cancelled.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<BackupReport> {
        let path = utf8_path(path.as_ref())?;
        // SAFETY: as above.
        parsed(|json, error| unsafe {
            sys::pigment_client_backup(self.raw(), path.as_ptr().cast(), path.len(), &self.call.raw(), json, error)
        })
    }

    /// Reads every byte and compares everything with everything; what it finds is in the report. With `full` every row is searched
    /// for by its own vector, else a sample.
    ///
    /// # Errors
    /// Cancelled; damage is no error.
    pub fn check(&self, full: bool) -> Result<CheckReport> {
        // SAFETY: as above.
        parsed(|json, error| unsafe { sys::pigment_client_check(self.raw(), full, &self.call.raw(), json, error) })
    }

    /// The last visible log position.
    ///
    /// # Errors
    /// The store is closed.
    pub fn position(&self) -> Result<u64> {
        let mut position = 0;
        // SAFETY: as above.
        call(|error| unsafe { sys::pigment_client_position(self.raw(), &mut position, error) })?;
        Ok(position)
    }

    /// A read-only client catches up with the writer, to the position that it returns.
    ///
    /// # Errors
    /// What the writer left cannot be read.
    pub fn refresh(&self) -> Result<u64> {
        let mut position = 0;
        // SAFETY: as above.
        call(|error| unsafe { sys::pigment_client_refresh(self.raw(), &mut position, error) })?;
        Ok(position)
    }
}

/// As [`Client::check`], for a directory that another process has open, or nobody.
///
/// # Errors
/// There is no store; cancelled.
pub fn check(path: impl AsRef<Path>, full: bool, options: &Call) -> Result<CheckReport> {
    let path = utf8_path(path.as_ref())?;
    // SAFETY: path and options are read during the call.
    parsed(|json, error| unsafe {
        sys::pigment_check(path.as_ptr().cast(), path.len(), full, &options.raw(), json, error)
    })
}

/// Writes a new store in the directory `to` with everything of the one in `from` that can be read. `from` is not changed, and nobody may
/// write to it meanwhile.
///
/// # Errors
/// There is no store in `from`, or one in `to`; cancelled.
pub fn repair(from: impl AsRef<Path>, to: impl AsRef<Path>, options: &Call) -> Result<RepairReport> {
    let (from, to) = (utf8_path(from.as_ref())?, utf8_path(to.as_ref())?);
    // SAFETY: as above.
    parsed(|json, error| unsafe {
        let ((from, from_size), (to, to_size)) = ((from.as_ptr().cast(), from.len()), (to.as_ptr().cast(), to.len()));
        sys::pigment_repair(from, from_size, to, to_size, &options.raw(), json, error)
    })
}

/// What the library refuses to go beyond.
///
/// # Errors
/// No memory is left.
pub fn limits() -> Result<Vec<Limit>> {
    // SAFETY: takes only outputs.
    parsed(|json, error| unsafe { sys::pigment_limits(json, error) })
}

/// The version of the library that was loaded.
#[must_use]
pub fn version() -> &'static str {
    // SAFETY: a static text.
    unsafe { static_text(sys::pigment_version()) }.unwrap_or_default()
}

/// Compiler, source revision and SIMD path of the library, for bug reports.
#[must_use]
pub fn build_info() -> &'static str {
    // SAFETY: a static text.
    unsafe { static_text(sys::pigment_build_info()) }.unwrap_or_default()
}
