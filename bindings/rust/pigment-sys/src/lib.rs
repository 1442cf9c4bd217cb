// SPDX-License-Identifier: Apache-2.0

//! Declarations of `libpigment`, as `pigment.h` has them: functions, structs, constants. The header is their documentation:
//! what each function does, who owns what, and which thread may call it. Programs use the crate `pigment` on top of it.
//!
//! `build.rs` looks for the library in `PIGMENT_LIB_DIR`, else asks pkg-config.

#![no_std]
#![warn(missing_docs)]
#![allow(non_camel_case_types)]

#[allow(missing_docs)]
#[rustfmt::skip]
mod generated;

pub use generated::*;
