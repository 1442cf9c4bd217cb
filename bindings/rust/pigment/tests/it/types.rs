// SPDX-License-Identifier: Apache-2.0
//
// Which types threads may share, and that every code of the C interface is one of ours.

use pigment::{asynchronous, Client, Detail, ErrorKind, Fault};

fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn error<T: std::error::Error + Send + Sync + 'static>() {}

#[test]
fn threads_share_what_the_library_lets_them_share() {
    send::<Client>();
    sync::<Client>();
    send::<pigment::Collection>();
    sync::<pigment::Collection>();
    send::<pigment::CancelToken>();
    sync::<pigment::CancelToken>();
    send::<pigment::Results>(); // and not Sync: tests/compile_fail
    send::<pigment::Row<'_>>();
    sync::<pigment::Column<'_, str>>();
    send::<pigment::Records<'_>>();
    sync::<pigment::Query<'_>>();
    send::<pigment::EmbeddingFunction>();
    sync::<pigment::EmbeddingFunction>();
    send::<asynchronous::AsyncCollection>();
    send::<asynchronous::Job<pigment::Results>>();
    send::<pigment::OpenOptions>();
    sync::<pigment::OpenOptions>();
    error::<pigment::Error>();
    error::<pigment::EmbedError>();
}

#[test]
fn every_code_has_one_name_and_facts_of_its_own() {
    let mut kinds = std::collections::BTreeSet::new();
    for kind in ErrorKind::ALL {
        assert!(kinds.insert(kind.code()) && kind.code() > 0);
        assert!(!kind.to_string().contains("unrecognized"), "{kind:?}");
        assert_eq!(kind.sqlstate().map(str::len), Some(5), "{kind:?}");
        assert_eq!(kind.to_string().to_uppercase().replace(' ', "_"), kind.constant_name());
    }
    assert_eq!(kinds.len(), 18);
    let details: std::collections::BTreeSet<i32> = Detail::ALL.iter().map(|detail| detail.code()).collect();
    assert_eq!(details.len(), Detail::ALL.len());
    assert_eq!(ErrorKind::Unrecognized(4711).to_string(), "unrecognized error 4711");
    assert_eq!(ErrorKind::Unrecognized(4711).sqlstate(), None);
    assert_eq!(Fault::ALL.len(), 4);
}

#[test]
fn the_library_says_what_it_is() {
    assert_eq!(pigment::version(), env!("CARGO_PKG_VERSION"));
    assert!(!pigment::build_info().is_empty());
    let limits = pigment::limits().expect("limits");
    assert!(limits.len() > 5 && limits.iter().all(|limit| !limit.name.is_empty() && limit.most > 0), "{limits:?}");
}
