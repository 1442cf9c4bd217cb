use pigment::{field, Client, CollectionOptions, EmbeddingFunction, Query, Records};
use serde_json::json;

fn main() -> pigment::Result<()> {
    let client = Client::in_memory()?; // or Client::open("a/directory")
    let options = CollectionOptions::new().embedding_function(&EmbeddingFunction::lexical(384));
    let docs = client.create_collection("docs", options)?;
    let records = Records::new(["fox", "engine"]).documents(["the quick brown fox", "a search engine"]);
    docs.add(&records.metadatas([json!({"year": 1999}), json!({"year": 2026})])?)?;
    let query = Query::new().texts(["quick foxes"]).n_results(1).filter(field("year").lt(2000));
    for row in docs.query(&query)?.query(0) {
        println!("{} {:.2} {}", row.id(), row.distance().unwrap_or_default(), row.document().unwrap_or_default());
    }
    client.close().map_err(|(_, error)| error)
}
