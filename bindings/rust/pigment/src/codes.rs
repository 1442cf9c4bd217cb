// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h.

use pigment_sys as sys;

/// What kind of error it is: the C interface's status, see `docs/status-codes.md`.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// `PIGMENT_CANCELLED`.
    Cancelled,
    /// `PIGMENT_UNKNOWN`.
    Unknown,
    /// `PIGMENT_INVALID_ARGUMENT`.
    InvalidArgument,
    /// `PIGMENT_DEADLINE_EXCEEDED`.
    DeadlineExceeded,
    /// `PIGMENT_NOT_FOUND`.
    NotFound,
    /// `PIGMENT_ALREADY_EXISTS`.
    AlreadyExists,
    /// `PIGMENT_PERMISSION_DENIED`.
    PermissionDenied,
    /// `PIGMENT_RESOURCE_EXHAUSTED`.
    ResourceExhausted,
    /// `PIGMENT_FAILED_PRECONDITION`.
    FailedPrecondition,
    /// `PIGMENT_ABORTED`.
    Aborted,
    /// `PIGMENT_OUT_OF_RANGE`.
    OutOfRange,
    /// `PIGMENT_UNIMPLEMENTED`.
    Unimplemented,
    /// `PIGMENT_INTERNAL`.
    Internal,
    /// `PIGMENT_UNAVAILABLE`.
    Unavailable,
    /// `PIGMENT_DATA_LOSS`.
    DataLoss,
    /// `PIGMENT_UNAUTHENTICATED`.
    Unauthenticated,
    /// `PIGMENT_VERSION_MISMATCH`.
    VersionMismatch,
    /// `PIGMENT_UNPROCESSABLE_ENTITY`.
    UnprocessableEntity,
    /// A number that this crate does not know: the library is newer.
    Unrecognized(i32),
}

impl ErrorKind {
    /// All that have a name.
    pub const ALL: [Self; 18] = [
        Self::Cancelled,
        Self::Unknown,
        Self::InvalidArgument,
        Self::DeadlineExceeded,
        Self::NotFound,
        Self::AlreadyExists,
        Self::PermissionDenied,
        Self::ResourceExhausted,
        Self::FailedPrecondition,
        Self::Aborted,
        Self::OutOfRange,
        Self::Unimplemented,
        Self::Internal,
        Self::Unavailable,
        Self::DataLoss,
        Self::Unauthenticated,
        Self::VersionMismatch,
        Self::UnprocessableEntity,
    ];

    /// The number in the C interface.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::Cancelled => sys::PIGMENT_CANCELLED,
            Self::Unknown => sys::PIGMENT_UNKNOWN,
            Self::InvalidArgument => sys::PIGMENT_INVALID_ARGUMENT,
            Self::DeadlineExceeded => sys::PIGMENT_DEADLINE_EXCEEDED,
            Self::NotFound => sys::PIGMENT_NOT_FOUND,
            Self::AlreadyExists => sys::PIGMENT_ALREADY_EXISTS,
            Self::PermissionDenied => sys::PIGMENT_PERMISSION_DENIED,
            Self::ResourceExhausted => sys::PIGMENT_RESOURCE_EXHAUSTED,
            Self::FailedPrecondition => sys::PIGMENT_FAILED_PRECONDITION,
            Self::Aborted => sys::PIGMENT_ABORTED,
            Self::OutOfRange => sys::PIGMENT_OUT_OF_RANGE,
            Self::Unimplemented => sys::PIGMENT_UNIMPLEMENTED,
            Self::Internal => sys::PIGMENT_INTERNAL,
            Self::Unavailable => sys::PIGMENT_UNAVAILABLE,
            Self::DataLoss => sys::PIGMENT_DATA_LOSS,
            Self::Unauthenticated => sys::PIGMENT_UNAUTHENTICATED,
            Self::VersionMismatch => sys::PIGMENT_VERSION_MISMATCH,
            Self::UnprocessableEntity => sys::PIGMENT_UNPROCESSABLE_ENTITY,
            Self::Unrecognized(code) => code,
        }
    }

    pub(crate) const fn from_code(code: i32) -> Self {
        match code {
            sys::PIGMENT_CANCELLED => Self::Cancelled,
            sys::PIGMENT_UNKNOWN => Self::Unknown,
            sys::PIGMENT_INVALID_ARGUMENT => Self::InvalidArgument,
            sys::PIGMENT_DEADLINE_EXCEEDED => Self::DeadlineExceeded,
            sys::PIGMENT_NOT_FOUND => Self::NotFound,
            sys::PIGMENT_ALREADY_EXISTS => Self::AlreadyExists,
            sys::PIGMENT_PERMISSION_DENIED => Self::PermissionDenied,
            sys::PIGMENT_RESOURCE_EXHAUSTED => Self::ResourceExhausted,
            sys::PIGMENT_FAILED_PRECONDITION => Self::FailedPrecondition,
            sys::PIGMENT_ABORTED => Self::Aborted,
            sys::PIGMENT_OUT_OF_RANGE => Self::OutOfRange,
            sys::PIGMENT_UNIMPLEMENTED => Self::Unimplemented,
            sys::PIGMENT_INTERNAL => Self::Internal,
            sys::PIGMENT_UNAVAILABLE => Self::Unavailable,
            sys::PIGMENT_DATA_LOSS => Self::DataLoss,
            sys::PIGMENT_UNAUTHENTICATED => Self::Unauthenticated,
            sys::PIGMENT_VERSION_MISMATCH => Self::VersionMismatch,
            sys::PIGMENT_UNPROCESSABLE_ENTITY => Self::UnprocessableEntity,
            code => Self::Unrecognized(code),
        }
    }

    /// Its name in capitals, as the C interface writes it.
    #[must_use]
    pub const fn constant_name(self) -> &'static str {
        match self {
            Self::Cancelled => "CANCELLED",
            Self::Unknown => "UNKNOWN",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Aborted => "ABORTED",
            Self::OutOfRange => "OUT_OF_RANGE",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
            Self::DataLoss => "DATA_LOSS",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::VersionMismatch => "VERSION_MISMATCH",
            Self::UnprocessableEntity => "UNPROCESSABLE_ENTITY",
            Self::Unrecognized(_) => "UNRECOGNIZED",
        }
    }
}

/// Finer than the kind, for the cases that a program tells apart.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// `PIGMENT_DETAIL_NONE`.
    None,
    /// `PIGMENT_DETAIL_MISSING`.
    Missing,
    /// `PIGMENT_DETAIL_FOREIGN`.
    Foreign,
    /// `PIGMENT_DETAIL_WRONG_KIND`.
    WrongKind,
    /// `PIGMENT_DETAIL_MISALIGNED`.
    Misaligned,
    /// `PIGMENT_DETAIL_TRUNCATED`.
    Truncated,
    /// `PIGMENT_DETAIL_MISCOUNTED`.
    Miscounted,
    /// `PIGMENT_DETAIL_CHECKSUM`.
    Checksum,
    /// `PIGMENT_DETAIL_CLOSED`.
    Closed,
    /// `PIGMENT_DETAIL_LOCKED`.
    Locked,
    /// `PIGMENT_DETAIL_FORKED`.
    Forked,
    /// `PIGMENT_DETAIL_POISONED`.
    Poisoned,
    /// `PIGMENT_DETAIL_READ_ONLY`.
    ReadOnly,
    /// `PIGMENT_DETAIL_STALE`.
    Stale,
    /// `PIGMENT_DETAIL_NO_EMBEDDING_FUNCTION`.
    NoEmbeddingFunction,
    /// `PIGMENT_DETAIL_DIMENSION`.
    Dimension,
    /// `PIGMENT_DETAIL_NOT_FINITE`.
    NotFinite,
    /// `PIGMENT_DETAIL_DUPLICATE_ID`.
    DuplicateId,
    /// `PIGMENT_DETAIL_FILTER`.
    Filter,
    /// `PIGMENT_DETAIL_NAME`.
    Name,
    /// `PIGMENT_DETAIL_METADATA`.
    Metadata,
    /// `PIGMENT_DETAIL_EMBEDDING_FUNCTION`.
    EmbeddingFunction,
    /// `PIGMENT_DETAIL_DISK_FULL`.
    DiskFull,
    /// `PIGMENT_DETAIL_MEMORY`.
    Memory,
    /// `PIGMENT_DETAIL_LIMIT`.
    Limit,
    /// A number that this crate does not know: the library is newer.
    Unrecognized(i32),
}

impl Detail {
    /// All that have a name.
    pub const ALL: [Self; 25] = [
        Self::None,
        Self::Missing,
        Self::Foreign,
        Self::WrongKind,
        Self::Misaligned,
        Self::Truncated,
        Self::Miscounted,
        Self::Checksum,
        Self::Closed,
        Self::Locked,
        Self::Forked,
        Self::Poisoned,
        Self::ReadOnly,
        Self::Stale,
        Self::NoEmbeddingFunction,
        Self::Dimension,
        Self::NotFinite,
        Self::DuplicateId,
        Self::Filter,
        Self::Name,
        Self::Metadata,
        Self::EmbeddingFunction,
        Self::DiskFull,
        Self::Memory,
        Self::Limit,
    ];

    /// The number in the C interface.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::None => sys::PIGMENT_DETAIL_NONE,
            Self::Missing => sys::PIGMENT_DETAIL_MISSING,
            Self::Foreign => sys::PIGMENT_DETAIL_FOREIGN,
            Self::WrongKind => sys::PIGMENT_DETAIL_WRONG_KIND,
            Self::Misaligned => sys::PIGMENT_DETAIL_MISALIGNED,
            Self::Truncated => sys::PIGMENT_DETAIL_TRUNCATED,
            Self::Miscounted => sys::PIGMENT_DETAIL_MISCOUNTED,
            Self::Checksum => sys::PIGMENT_DETAIL_CHECKSUM,
            Self::Closed => sys::PIGMENT_DETAIL_CLOSED,
            Self::Locked => sys::PIGMENT_DETAIL_LOCKED,
            Self::Forked => sys::PIGMENT_DETAIL_FORKED,
            Self::Poisoned => sys::PIGMENT_DETAIL_POISONED,
            Self::ReadOnly => sys::PIGMENT_DETAIL_READ_ONLY,
            Self::Stale => sys::PIGMENT_DETAIL_STALE,
            Self::NoEmbeddingFunction => sys::PIGMENT_DETAIL_NO_EMBEDDING_FUNCTION,
            Self::Dimension => sys::PIGMENT_DETAIL_DIMENSION,
            Self::NotFinite => sys::PIGMENT_DETAIL_NOT_FINITE,
            Self::DuplicateId => sys::PIGMENT_DETAIL_DUPLICATE_ID,
            Self::Filter => sys::PIGMENT_DETAIL_FILTER,
            Self::Name => sys::PIGMENT_DETAIL_NAME,
            Self::Metadata => sys::PIGMENT_DETAIL_METADATA,
            Self::EmbeddingFunction => sys::PIGMENT_DETAIL_EMBEDDING_FUNCTION,
            Self::DiskFull => sys::PIGMENT_DETAIL_DISK_FULL,
            Self::Memory => sys::PIGMENT_DETAIL_MEMORY,
            Self::Limit => sys::PIGMENT_DETAIL_LIMIT,
            Self::Unrecognized(code) => code,
        }
    }

    pub(crate) const fn from_code(code: i32) -> Self {
        match code {
            sys::PIGMENT_DETAIL_NONE => Self::None,
            sys::PIGMENT_DETAIL_MISSING => Self::Missing,
            sys::PIGMENT_DETAIL_FOREIGN => Self::Foreign,
            sys::PIGMENT_DETAIL_WRONG_KIND => Self::WrongKind,
            sys::PIGMENT_DETAIL_MISALIGNED => Self::Misaligned,
            sys::PIGMENT_DETAIL_TRUNCATED => Self::Truncated,
            sys::PIGMENT_DETAIL_MISCOUNTED => Self::Miscounted,
            sys::PIGMENT_DETAIL_CHECKSUM => Self::Checksum,
            sys::PIGMENT_DETAIL_CLOSED => Self::Closed,
            sys::PIGMENT_DETAIL_LOCKED => Self::Locked,
            sys::PIGMENT_DETAIL_FORKED => Self::Forked,
            sys::PIGMENT_DETAIL_POISONED => Self::Poisoned,
            sys::PIGMENT_DETAIL_READ_ONLY => Self::ReadOnly,
            sys::PIGMENT_DETAIL_STALE => Self::Stale,
            sys::PIGMENT_DETAIL_NO_EMBEDDING_FUNCTION => Self::NoEmbeddingFunction,
            sys::PIGMENT_DETAIL_DIMENSION => Self::Dimension,
            sys::PIGMENT_DETAIL_NOT_FINITE => Self::NotFinite,
            sys::PIGMENT_DETAIL_DUPLICATE_ID => Self::DuplicateId,
            sys::PIGMENT_DETAIL_FILTER => Self::Filter,
            sys::PIGMENT_DETAIL_NAME => Self::Name,
            sys::PIGMENT_DETAIL_METADATA => Self::Metadata,
            sys::PIGMENT_DETAIL_EMBEDDING_FUNCTION => Self::EmbeddingFunction,
            sys::PIGMENT_DETAIL_DISK_FULL => Self::DiskFull,
            sys::PIGMENT_DETAIL_MEMORY => Self::Memory,
            sys::PIGMENT_DETAIL_LIMIT => Self::Limit,
            code => Self::Unrecognized(code),
        }
    }

    /// Its name in capitals, as the C interface writes it.
    #[must_use]
    pub const fn constant_name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Missing => "MISSING",
            Self::Foreign => "FOREIGN",
            Self::WrongKind => "WRONG_KIND",
            Self::Misaligned => "MISALIGNED",
            Self::Truncated => "TRUNCATED",
            Self::Miscounted => "MISCOUNTED",
            Self::Checksum => "CHECKSUM",
            Self::Closed => "CLOSED",
            Self::Locked => "LOCKED",
            Self::Forked => "FORKED",
            Self::Poisoned => "POISONED",
            Self::ReadOnly => "READ_ONLY",
            Self::Stale => "STALE",
            Self::NoEmbeddingFunction => "NO_EMBEDDING_FUNCTION",
            Self::Dimension => "DIMENSION",
            Self::NotFinite => "NOT_FINITE",
            Self::DuplicateId => "DUPLICATE_ID",
            Self::Filter => "FILTER",
            Self::Name => "NAME",
            Self::Metadata => "METADATA",
            Self::EmbeddingFunction => "EMBEDDING_FUNCTION",
            Self::DiskFull => "DISK_FULL",
            Self::Memory => "MEMORY",
            Self::Limit => "LIMIT",
            Self::Unrecognized(_) => "UNRECOGNIZED",
        }
    }
}

/// Whose doing an error is.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// `PIGMENT_FAULT_NONE`.
    None,
    /// `PIGMENT_FAULT_CALLER`.
    Caller,
    /// `PIGMENT_FAULT_ENVIRONMENT`.
    Environment,
    /// `PIGMENT_FAULT_LIBRARY`.
    Library,
    /// A number that this crate does not know: the library is newer.
    Unrecognized(i32),
}

impl Fault {
    /// All that have a name.
    pub const ALL: [Self; 4] = [
        Self::None,
        Self::Caller,
        Self::Environment,
        Self::Library,
    ];

    /// The number in the C interface.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::None => sys::PIGMENT_FAULT_NONE,
            Self::Caller => sys::PIGMENT_FAULT_CALLER,
            Self::Environment => sys::PIGMENT_FAULT_ENVIRONMENT,
            Self::Library => sys::PIGMENT_FAULT_LIBRARY,
            Self::Unrecognized(code) => code,
        }
    }

    pub(crate) const fn from_code(code: i32) -> Self {
        match code {
            sys::PIGMENT_FAULT_NONE => Self::None,
            sys::PIGMENT_FAULT_CALLER => Self::Caller,
            sys::PIGMENT_FAULT_ENVIRONMENT => Self::Environment,
            sys::PIGMENT_FAULT_LIBRARY => Self::Library,
            code => Self::Unrecognized(code),
        }
    }

    /// Its name in capitals, as the C interface writes it.
    #[must_use]
    pub const fn constant_name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Caller => "CALLER",
            Self::Environment => "ENVIRONMENT",
            Self::Library => "LIBRARY",
            Self::Unrecognized(_) => "UNRECOGNIZED",
        }
    }
}
