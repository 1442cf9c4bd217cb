// SPDX-License-Identifier: Apache-2.0

//! pgvector's Rust crate, unchanged, against our types: the `postgres` crate in binary. Prints TAP.

use half::f16;
use pgvector::{HalfVector, SparseVector, Vector};
use postgres::{Client, Config, NoTls};
use std::env;

struct Tap {
    count: usize,
    failed: bool,
}

impl Tap {
    fn check(&mut self, good: bool, name: &str) {
        self.count += 1;
        self.failed |= !good;
        println!("{} {} - {}", if good { "ok" } else { "not ok" }, self.count, name);
    }
}

fn connect() -> Result<Client, Box<dyn std::error::Error>> {
    let mut config = Config::new();
    config.host_path(env::var("PGHOST")?);
    config.port(env::var("PGPORT")?.parse()?);
    config.user(&env::var("PGUSER")?);
    config.dbname(&env::var("PGDATABASE")?);
    Ok(config.connect(NoTls)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut tap = Tap { count: 0, failed: false };
    let mut client = connect()?;
    client.execute("CREATE TABLE rust_items (id serial PRIMARY KEY, v vector(3), h halfvec(3), s sparsevec(3))", &[])?;
    let v = Vector::from(vec![1.5, -2.0, 3.0]);
    let h = HalfVector::from(vec![f16::from_f32(1.5), f16::from_f32(-2.0), f16::from_f32(65504.0)]);
    let s = SparseVector::from_dense(&[1.5, 0.0, 3.0]);
    client.execute("INSERT INTO rust_items (v, h, s) VALUES ($1, $2, $3)", &[&v, &h, &s])?;
    let row = client.query_one("SELECT v, h, s, v <-> $1 FROM rust_items ORDER BY v <-> $1 LIMIT 1", &[&v])?;
    let equal = row.get::<_, Vector>(0) == v && row.get::<_, HalfVector>(1) == h && row.get::<_, SparseVector>(2) == s;
    tap.check(equal && row.get::<_, f64>(3) == 0.0, "postgres: three types come back in binary");

    for i in 0..100 {
        client.execute("INSERT INTO rust_items (v) VALUES ($1)", &[&Vector::from(vec![i as f32, 0.0, 1.0])])?;
    }
    let query = Vector::from(vec![41.2, 0.0, 1.0]);
    let nearest: Vector = client.query_one("SELECT v FROM rust_items ORDER BY v <-> $1 LIMIT 1", &[&query])?.get(0);
    tap.check(nearest.as_slice() == [41.0, 0.0, 1.0], "postgres: the nearest");
    let refused = client.execute("INSERT INTO rust_items (v) VALUES ($1)", &[&Vector::from(vec![f32::NAN, 0.0, 1.0])]);
    let state = refused.err().and_then(|e| e.code().map(|c| c.code().to_string()));
    tap.check(state.as_deref() == Some("22000"), "postgres: NaN in binary is refused");
    println!("1..{}", tap.count);
    std::process::exit(tap.failed as i32)
}
