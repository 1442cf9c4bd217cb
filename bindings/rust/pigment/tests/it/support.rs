// SPDX-License-Identifier: Apache-2.0
//
// What several tests need: folders that go again, a collection with some records, numbers that look random.

use pigment::{Client, Collection, Records};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is not there yet, and that is gone afterwards.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("it-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A name in it, which is there then.
    pub fn join(&self, name: &str) -> PathBuf {
        std::fs::create_dir_all(&self.0).expect("a folder");
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A number of 64 bits from another one (splitmix64).
pub fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// `rows` vectors of `dimension` numbers between -1 and 1, always the same for a seed.
pub fn vectors(seed: u64, rows: usize, dimension: usize) -> Vec<f32> {
    (0..rows * dimension).map(|i| (mixed(seed ^ i as u64) >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
}

/// A collection of `rows` records of 8 dimensions: ids "0", "1", …, documents "text 0", …, metadata {"n": 0}, ….
pub fn filled(client: &Client, rows: usize) -> Collection {
    let docs = client.create_collection("docs", Default::default()).expect("a collection");
    let ids: Vec<String> = (0..rows).map(|row| row.to_string()).collect();
    let records = Records::new(&ids)
        .embeddings(pigment::Vectors::matrix(vectors(1, rows, 8), 8).expect("a matrix"))
        .documents(ids.iter().map(|id| format!("text {id}")).collect::<Vec<_>>())
        .metadatas((0..rows).map(|n| serde_json::json!({ "n": n })))
        .expect("metadata");
    assert_eq!(docs.add(&records).expect("added").inserted, rows as u64);
    docs
}
