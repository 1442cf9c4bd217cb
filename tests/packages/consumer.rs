// SPDX-License-Identifier: Apache-2.0
//
// A program of somebody who depends on the crates.

use pigment::{Client, CollectionOptions, EmbeddingFunction, Query, Records};

fn main() -> pigment::Result<()> {
    let client = Client::in_memory()?;
    let options = CollectionOptions::new().embedding_function(&EmbeddingFunction::lexical(384));
    let colours = client.create_collection("colours", options)?;
    colours.add(&Records::new(["red", "green"]).documents(["a red fish", "a green field"]))?;
    for row in colours.query(&Query::new().texts(["red fishes"]).n_results(1))?.query(0) {
        println!("pigment {}: {}", pigment::version(), row.id());
    }
    client.close().map_err(|(_, error)| error)
}
