// SPDX-License-Identifier: Apache-2.0
//
// The tests of this crate besides the corpus and what stands beside the code, in one program.

mod asynchronous;
mod callbacks;
mod compile_fail;
mod filters;
mod guide;
mod lifecycle;
mod operations;
mod storms;
mod support;
mod types;

#[cfg(feature = "ndarray")]
mod array;
#[cfg(feature = "arrow")]
mod arrow;
