// SPDX-License-Identifier: Apache-2.0
//
// How a store is opened: options as a builder, and the same options from the environment, which the library itself never reads.

use crate::client::Client;
use crate::error::{Error, Result};
use pigment_sys as sys;
use std::path::Path;
use std::time::Duration;

/// When a write is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sync {
    /// Before it returns.
    #[default]
    Full,
    /// At most so much later, in whole milliseconds of at least one.
    Interval(Duration),
    /// When the operating system writes it.
    Off,
}

/// Options of a store; the defaults suit most.
///
/// ```
/// # fn main() -> pigment::Result<()> {
/// use pigment::{OpenOptions, Sync};
/// let client = OpenOptions::new().sync(Sync::Off).memory_budget_bytes(1 << 30).open_in_memory()?;
/// # client.close().map_err(|(_, error)| error) }
/// ```
#[derive(Clone, Debug)]
pub struct OpenOptions {
    raw: sys::pigment_open_options,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl OpenOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self { raw: sys::pigment_open_options::new() }
    }

    /// When a write is durable.
    #[must_use]
    pub fn sync(mut self, sync: Sync) -> Self {
        (self.raw.sync_mode, self.raw.sync_interval_ms) = match sync {
            Sync::Full => (sys::PIGMENT_SYNC_FULL, 0),
            Sync::Interval(time) => {
                (sys::PIGMENT_SYNC_INTERVAL, u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1))
            }
            Sync::Off => (sys::PIGMENT_SYNC_OFF, 0),
        };
        self
    }

    /// How much memory the store may use; 0: no limit.
    #[must_use]
    pub fn memory_budget_bytes(mut self, bytes: u64) -> Self {
        self.raw.memory_budget_bytes = bytes;
        self
    }

    /// Rows in the tail before a flush; 0: the default.
    #[must_use]
    pub fn flush_rows_max(mut self, rows: u32) -> Self {
        self.raw.flush_rows_max = rows;
        self
    }

    /// Bytes in the tail before a flush; 0: the default.
    #[must_use]
    pub fn flush_bytes_max(mut self, bytes: u64) -> Self {
        self.raw.flush_bytes_max = bytes;
        self
    }

    /// Takes no lock, writes and creates nothing.
    #[must_use]
    pub fn read_only(mut self, yes: bool) -> Self {
        self.raw.read_only = yes;
        self
    }

    /// Fails where there is no store, in place of making one.
    #[must_use]
    pub fn must_exist(mut self, yes: bool) -> Self {
        self.raw.must_exist = yes;
        self
    }

    /// Kept so that deletes go through on a full disk; nothing: none is kept.
    #[must_use]
    pub fn reserve_bytes(mut self, bytes: Option<u64>) -> Self {
        self.raw.reserve_bytes = bytes.unwrap_or(u64::MAX);
        self
    }

    /// Threads that merge segments; 0: none, the writer who makes a merge necessary does it.
    #[must_use]
    pub fn background_threads(mut self, threads: u16) -> Self {
        self.raw.background_threads = if threads == 0 { -1 } else { i32::from(threads) };
        self
    }

    /// Overwrites what was deleted before log files go.
    #[must_use]
    pub fn erase_log(mut self, yes: bool) -> Self {
        self.raw.erase_log = yes;
        self
    }

    /// Maps segments in place of reading them: a failing disk is a signal then.
    #[must_use]
    pub fn map_files(mut self, yes: bool) -> Self {
        self.raw.map_files = yes;
        self
    }

    /// Opens the store in a directory. Opens of one directory within a process share one engine and give equal options.
    ///
    /// # Errors
    /// Among others: open for writing in another process ([`Detail::Locked`](crate::Detail::Locked)), a newer format
    /// ([`ErrorKind::VersionMismatch`](crate::ErrorKind::VersionMismatch)), a path that is no UTF-8 or empty.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Client> {
        match utf8_path(path.as_ref())? {
            "" => Err(Error::invalid("the path of a store is empty; open_in_memory opens one in memory")),
            path => Client::open_raw(path, &self.raw),
        }
    }

    /// Opens a store in memory, which is gone with its last handle.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub fn open_in_memory(&self) -> Result<Client> {
        Client::open_raw("", &self.raw)
    }

    /// Options from variables named as the methods: `PIGMENT_SYNC_MODE` (`full`, `interval`, `off`), `PIGMENT_SYNC_INTERVAL_MS`,
    /// `PIGMENT_MEMORY_BUDGET_BYTES`, `PIGMENT_FLUSH_ROWS_MAX`, `PIGMENT_FLUSH_BYTES_MAX`, `PIGMENT_READ_ONLY`, `PIGMENT_MUST_EXIST`,
    /// `PIGMENT_RESERVE_BYTES`, `PIGMENT_BACKGROUND_THREADS`, `PIGMENT_ERASE_LOG`, `PIGMENT_MAP_FILES`. Flags are `1` or `true`,
    /// `0` or `false`; a variable that is unset or empty says nothing.
    ///
    /// # Errors
    /// A value that is none.
    pub fn from_env() -> Result<Self> {
        Self::from_variables(&|name| std::env::var(name).ok())
    }

    /// As [`from_env`](Self::from_env), from whatever knows the variables.
    pub(crate) fn from_variables(variable: Variables<'_>) -> Result<Self> {
        let mut options = Self::new();
        let raw = &mut options.raw;
        if let Some(mode) = set(variable, "PIGMENT_SYNC_MODE") {
            raw.sync_mode = match mode.as_str() {
                "full" => sys::PIGMENT_SYNC_FULL,
                "interval" => sys::PIGMENT_SYNC_INTERVAL,
                "off" => sys::PIGMENT_SYNC_OFF,
                _ => return Err(Error::invalid(format!("PIGMENT_SYNC_MODE is full, interval or off, got {mode:?}"))),
            };
        }
        number(variable, "PIGMENT_SYNC_INTERVAL_MS", &mut raw.sync_interval_ms)?;
        number(variable, "PIGMENT_MEMORY_BUDGET_BYTES", &mut raw.memory_budget_bytes)?;
        number(variable, "PIGMENT_FLUSH_ROWS_MAX", &mut raw.flush_rows_max)?;
        number(variable, "PIGMENT_FLUSH_BYTES_MAX", &mut raw.flush_bytes_max)?;
        number(variable, "PIGMENT_RESERVE_BYTES", &mut raw.reserve_bytes)?;
        number(variable, "PIGMENT_BACKGROUND_THREADS", &mut raw.background_threads)?;
        flag(variable, "PIGMENT_READ_ONLY", &mut raw.read_only)?;
        flag(variable, "PIGMENT_MUST_EXIST", &mut raw.must_exist)?;
        flag(variable, "PIGMENT_ERASE_LOG", &mut raw.erase_log)?;
        flag(variable, "PIGMENT_MAP_FILES", &mut raw.map_files)?;
        Ok(options)
    }
}

impl Client {
    /// Opens the store that the environment names: `PIGMENT_PATH`, in memory when that is unset, empty or `:memory:`, with the
    /// options of [`OpenOptions::from_env`], in the tenant `PIGMENT_TENANT` and the database `PIGMENT_DATABASE` where these are set.
    ///
    /// # Errors
    /// Those of [`OpenOptions::open`], and a value that is none.
    pub fn from_env() -> Result<Self> {
        Self::from_variables(&|name| std::env::var(name).ok())
    }

    fn from_variables(variable: Variables<'_>) -> Result<Self> {
        let options = OpenOptions::from_variables(variable)?;
        let mut client = match set(variable, "PIGMENT_PATH") {
            Some(path) if path != ":memory:" => options.open(path)?,
            _ => options.open_in_memory()?,
        };
        if let Some(tenant) = set(variable, "PIGMENT_TENANT") {
            client = client.with_tenant(tenant);
        }
        if let Some(database) = set(variable, "PIGMENT_DATABASE") {
            client = client.with_database(database);
        }
        Ok(client)
    }
}

type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

fn set(variable: Variables<'_>, name: &str) -> Option<String> {
    variable(name).filter(|value| !value.is_empty())
}

fn number<T: std::str::FromStr>(variable: Variables<'_>, name: &str, into: &mut T) -> Result<()> {
    if let Some(text) = set(variable, name) {
        *into = text.parse().map_err(|_| Error::invalid(format!("{name} is a number in its range, got {text:?}")))?;
    }
    Ok(())
}

fn flag(variable: Variables<'_>, name: &str, into: &mut bool) -> Result<()> {
    if let Some(text) = set(variable, name) {
        *into = match text.as_str() {
            "1" | "true" => true,
            "0" | "false" => false,
            _ => return Err(Error::invalid(format!("{name} is 1, true, 0 or false, got {text:?}"))),
        };
    }
    Ok(())
}

/// The C interface takes paths as UTF-8.
pub(crate) fn utf8_path(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| Error::invalid(format!("a path is UTF-8, got {}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn variables_are_options() {
        let pairs = [
            ("PIGMENT_SYNC_MODE", "interval"),
            ("PIGMENT_SYNC_INTERVAL_MS", "7"),
            ("PIGMENT_READ_ONLY", "1"),
            ("PIGMENT_MUST_EXIST", "false"),
            ("PIGMENT_BACKGROUND_THREADS", "-1"),
            ("PIGMENT_MAP_FILES", ""),
        ];
        let raw = OpenOptions::from_variables(&from(&pairs)).expect("options").raw;
        assert_eq!((raw.sync_mode, raw.sync_interval_ms, raw.background_threads), (sys::PIGMENT_SYNC_INTERVAL, 7, -1));
        assert!(raw.read_only && !raw.must_exist && !raw.map_files);
    }

    #[test]
    fn values_that_are_none_are_named() {
        for (name, value) in
            [("PIGMENT_SYNC_MODE", "Full"), ("PIGMENT_READ_ONLY", "yes"), ("PIGMENT_FLUSH_ROWS_MAX", "-1")]
        {
            let error = OpenOptions::from_variables(&from(&[(name, value)])).expect_err("refused");
            assert!(error.message.contains(name) && error.message.contains(value), "{error}");
        }
    }

    #[test]
    fn without_variables_a_store_is_in_memory_and_names_are_taken() {
        let client = Client::from_variables(&from(&[])).expect("a store");
        assert_eq!(client.count_collections().expect("a count"), 0);
        let elsewhere = Client::from_variables(&from(&[("PIGMENT_DATABASE", "none")])).expect("a store");
        assert_eq!(elsewhere.count_collections().expect_err("no such database").kind, crate::ErrorKind::NotFound);
    }
}
