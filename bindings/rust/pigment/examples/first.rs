use pigment::{field, Client, CollectionOptions, EmbeddingFunction, Query, Records};
use serde_json::json;

fn main() -> pigment::Result<()> {
    let client = Client::in_memory()?; // or Client::open("store")
    let options = CollectionOptions::new().embedding_function(&EmbeddingFunction::lexical(384));
    let docs = client.create_collection("docs", options)?;
    let records = Records::new(["a", "b", "c"])
        .documents(["How to back up a database", "How to bake bread", "Restoring from a backup"])
        .metadatas([json!({"year": 1996}), json!({"year": 2001}), json!({"year": 2024})])?;
    docs.add(&records)?;
    let query = Query::new().texts(["restoring from backups"]).n_results(2).filter(field("year").lt(2020));
    for row in docs.query(&query)?.query(0) {
        println!("{} {}", row.id(), row.document().unwrap_or_default());
    }
    client.close().map_err(|(_, error)| error)
}
