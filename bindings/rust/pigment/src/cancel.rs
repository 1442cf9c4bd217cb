// SPDX-License-Identifier: Apache-2.0
//
// What stops a call: a token that any thread sets, a timeout, a deadline. A token passes on to its children, so that a future
// can be cancelled by itself and by what its caller holds.

use crate::error::{call, static_text, Result};
use pigment_sys as sys;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Stops the calls that were given it, from any thread: they fail with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled). Once
/// set it stays set. Clones are one token.
///
/// ```
/// # fn main() -> pigment::Result<()> {
/// use pigment::{Call, CancelToken, Client, ErrorKind};
/// let docs = Client::in_memory()?.create_collection("docs", Default::default())?;
/// let token = CancelToken::new()?;
/// token.cancel();
/// let stopped = docs.with(Call::new().cancel(&token)).count().expect_err("cancelled");
/// assert_eq!(stopped.kind, ErrorKind::Cancelled);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct CancelToken {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    raw: NonNull<sys::pigment_cancel>,
    children: Mutex<Vec<Weak<Inner>>>,
}

// SAFETY: the library lets any thread set, ask and free a token.
unsafe impl Send for Inner {}
// SAFETY: as above, concurrently.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: ours, and freed once.
        unsafe { sys::pigment_cancel_free(self.raw.as_ptr()) }
    }
}

impl Inner {
    fn is_set(&self) -> bool {
        // SAFETY: alive.
        unsafe { sys::pigment_cancel_is_set(self.raw.as_ptr()) }
    }

    fn progress(&self) -> Option<Progress> {
        let mut raw = sys::pigment_progress::new();
        // SAFETY: alive; the output is ours.
        call(|error| unsafe { sys::pigment_cancel_progress(self.raw.as_ptr(), &mut raw, error) }).ok()?;
        // SAFETY: the library's texts are static.
        let (phase, unit) = unsafe { (static_text(raw.phase)?, static_text(raw.unit)?) };
        Some(Progress { phase, unit, done: raw.done, total: (raw.total != 0).then_some(raw.total) })
    }

    fn set(&self) {
        // SAFETY: alive.
        unsafe { sys::pigment_cancel_set(self.raw.as_ptr()) }
        let children = std::mem::take(&mut *self.children.lock().unwrap_or_else(PoisonError::into_inner));
        for child in children.iter().filter_map(Weak::upgrade) {
            child.set();
        }
    }
}

/// How far long work is: [`CancelToken::progress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// `flush`, `merge`, `index`, `log`, `segments`, `records` or `search`, one after the other.
    pub phase: &'static str,
    /// What is counted: `rows`, `bytes`, `batches`, `files` or `collections`.
    pub unit: &'static str,
    /// Of this phase; never goes back within it.
    pub done: u64,
    /// `None`: nobody knows.
    pub total: Option<u64>,
}

impl CancelToken {
    /// A token that is not set.
    ///
    /// # Errors
    /// No memory is left.
    pub fn new() -> Result<Self> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: both outputs are ours.
        call(|error| unsafe { sys::pigment_cancel_new(&mut raw, error) })?;
        let raw = NonNull::new(raw).expect("a token that was made");
        Ok(Self { inner: Arc::new(Inner { raw, children: Mutex::default() }) })
    }

    /// Stops what was given the token, now and later.
    pub fn cancel(&self) {
        self.inner.set();
    }

    /// Whether it was set.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.is_set()
    }

    /// How far the call is that was given the token: a flush, compaction, backup, check or repair, the last of them that began
    /// something. Of a future, while it runs. `None`: nothing has begun.
    ///
    /// ```
    /// # fn main() -> pigment::Result<()> {
    /// use pigment::{Call, CancelToken, Client};
    /// let (client, token) = (Client::in_memory()?, CancelToken::new()?);
    /// assert_eq!(token.progress(), None);
    /// client.with(Call::new().cancel(&token)).flush()?; // another thread may ask meanwhile
    /// assert_eq!(token.progress().expect("a flush").phase, "flush");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn progress(&self) -> Option<Progress> {
        self.inner.progress().or_else(|| {
            let children = self.inner.children.lock().unwrap_or_else(PoisonError::into_inner);
            children.iter().filter_map(Weak::upgrade).find_map(|child| child.progress())
        })
    }

    /// A token that is set with this one, and by itself.
    ///
    /// # Errors
    /// No memory is left.
    pub fn child(&self) -> Result<Self> {
        let child = Self::new()?;
        let mut children = self.inner.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain(|one| one.strong_count() > 0);
        children.push(Arc::downgrade(&child.inner));
        drop(children);
        if self.is_cancelled() {
            child.cancel(); // it may have been set before the child was in the list
        }
        Ok(child)
    }

    pub(crate) fn raw(&self) -> *const sys::pigment_cancel {
        self.inner.raw.as_ptr()
    }
}

/// What calls may take: a token, time, and a log position that must have been reached. Given to handles by `with`.
#[derive(Clone, Debug, Default)]
pub struct Call {
    token: Option<CancelToken>,
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    min_position: u64,
}

impl Call {
    /// Nothing stops the call.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops with this token.
    #[must_use]
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.token = Some(token.clone());
        self
    }

    /// How long each call may take; the nearer of timeout and deadline rules.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// When all calls must be over.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Reads fail with [`Detail::Stale`](crate::Detail::Stale) unless the store has reached this log position.
    #[must_use]
    pub fn min_position(mut self, position: u64) -> Self {
        self.min_position = position;
        self
    }

    pub(crate) fn token(&self) -> Option<&CancelToken> {
        self.token.as_ref()
    }

    /// The same call with its timeout running from now on.
    pub(crate) fn started(mut self) -> Self {
        if let Some(timeout) = self.timeout.take() {
            let end = Instant::now().checked_add(timeout);
            self.deadline = [self.deadline, end].into_iter().flatten().min();
        }
        self
    }

    /// As the library takes it; the token must outlive the call, which `&self` sees to.
    pub(crate) fn raw(&self) -> sys::pigment_call_options {
        let mut raw = sys::pigment_call_options::new();
        raw.cancel = self.token.as_ref().map_or(std::ptr::null(), CancelToken::raw);
        raw.min_position = self.min_position;
        let until = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if let Some(left) = [self.timeout, until].into_iter().flatten().min() {
            // SAFETY: takes nothing.
            let now = unsafe { sys::pigment_now_ns() };
            raw.deadline_ns = now.saturating_add(i64::try_from(left.as_nanos()).unwrap_or(i64::MAX)).max(1);
        }
        raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_set_with_their_parent_and_not_the_other_way_round() {
        let parent = CancelToken::new().expect("a token");
        let (one, other) = (parent.child().expect("a child"), parent.child().expect("a child"));
        one.cancel();
        assert!(one.is_cancelled() && !parent.is_cancelled() && !other.is_cancelled());
        drop(one);
        parent.clone().cancel();
        assert!(other.is_cancelled() && parent.child().expect("a child").is_cancelled());
    }

    #[test]
    fn the_nearer_of_timeout_and_deadline_rules() {
        assert_eq!(Call::new().raw().deadline_ns, 0);
        let soon = Call::new().timeout(Duration::from_secs(3600)).deadline(Instant::now()).raw().deadline_ns;
        // SAFETY: takes nothing.
        assert!(soon > 0 && soon <= unsafe { sys::pigment_now_ns() });
        assert_eq!(Call::new().timeout(Duration::MAX).raw().deadline_ns, i64::MAX);
        assert_eq!(Call::new().timeout(Duration::MAX).started().raw().deadline_ns, 0);
    }
}
