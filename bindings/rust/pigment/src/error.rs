// SPDX-License-Identifier: Apache-2.0
//
// What a failed call says, taken over from the library's error object, which lives no longer than the call.

use crate::codes::{Detail, ErrorKind, Fault};
use pigment_sys as sys;
use std::ffi::{c_char, CStr};
use std::fmt;

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed. After a failed call nothing was changed, unless the method says otherwise.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of error it is.
    pub kind: ErrorKind,
    /// Finer than the kind; [`Detail::None`] when nothing finer is known.
    pub detail: Detail,
    /// What is wrong, naming object and value.
    pub message: Box<str>,
    /// What to do about it; empty when there is nothing to say.
    pub hint: Box<str>,
    /// The offending row of the batch.
    pub row: Option<u64>,
    /// The file that is damaged or cannot be used.
    pub file: Option<Box<str>>,
    /// The place in that file, in bytes.
    pub offset: Option<u64>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, detail: Detail, message: impl Into<String>) -> Self {
        let message = message.into().into_boxed_str();
        Self { kind, detail, message, hint: "".into(), row: None, file: None, offset: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, Detail::None, message)
    }

    /// Whether the same call may succeed later without being changed.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        // SAFETY: takes any number.
        unsafe { sys::pigment_status_retryable(self.kind.code()) }
    }

    /// Who must act: the caller, the environment or the library.
    #[must_use]
    pub fn fault(&self) -> Fault {
        // SAFETY: takes any number.
        Fault::from_code(unsafe { sys::pigment_status_fault(self.kind.code()) })
    }

    /// Whether the client was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.detail == Detail::Closed
    }

    /// Takes an error of the library over and frees it. `status` is what the call returned, and rules where there is no object.
    ///
    /// # Safety
    /// `raw` is null or an owned error.
    unsafe fn take(status: sys::pigment_status, raw: *mut sys::pigment_error) -> Self {
        // SAFETY: the accessors take null and owned errors; texts are borrowed until it is freed, and copied before.
        unsafe {
            let mut error = Self::new(
                ErrorKind::from_code(status),
                Detail::from_code(sys::pigment_error_detail(raw)),
                text_of(sys::pigment_error_message(raw)),
            );
            error.hint = text_of(sys::pigment_error_hint(raw)).into();
            error.row = u64::try_from(sys::pigment_error_row(raw)).ok();
            error.file = Some(text_of(sys::pigment_error_file(raw))).filter(|file| !file.is_empty()).map(Into::into);
            error.offset = u64::try_from(sys::pigment_error_offset(raw)).ok();
            debug_assert!(raw.is_null() || sys::pigment_error_status(raw) == status);
            sys::pigment_error_free(raw);
            error
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.kind, self.message)?;
        if !self.hint.is_empty() {
            write!(out, " ({})", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl ErrorKind {
    /// The SQLSTATE that PostgreSQL reports it with; nothing for an unrecognized kind.
    #[must_use]
    pub fn sqlstate(self) -> Option<&'static str> {
        // SAFETY: takes any number, gives null or a static text.
        unsafe { static_text(sys::pigment_status_sqlstate(self.code())) }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: takes any number, gives null or a static text.
        match unsafe { static_text(sys::pigment_status_name(self.code())) } {
            Some(name) => out.write_str(name),
            None => write!(out, "unrecognized error {}", self.code()),
        }
    }
}

/// A static text of the library.
///
/// # Safety
/// `text` is null or a static NUL-terminated text.
pub(crate) unsafe fn static_text(text: *const c_char) -> Option<&'static str> {
    // SAFETY: as the caller says.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default())
}

/// A copy; what is no UTF-8 is replaced, because messages may quote what a caller gave.
///
/// # Safety
/// `text` is null or NUL-terminated.
unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as the caller says.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Calls a function of the library with a place for its error.
pub(crate) fn call(function: impl FnOnce(*mut *mut sys::pigment_error) -> sys::pigment_status) -> Result<()> {
    let mut raw = std::ptr::null_mut();
    match function(&mut raw) {
        sys::PIGMENT_OK => Ok(()),
        // SAFETY: the library set `raw` to null or to an error that is ours.
        status => Err(unsafe { Error::take(status, raw) }),
    }
}
