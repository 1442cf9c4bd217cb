use pigment::{field, Client, CollectionOptions, EmbeddingFunction, Query, Records};
use serde_json::json;

fn main() -> pigment::Result<()> {
    let client = Client::in_memory()?; // or Client::open("store")
    let options = CollectionOptions::new().embedding_function(&EmbeddingFunction::lexical(384));
    let docs = client.create_collection("docs", options)?;
    let records = Records::new([{ids}])
        .documents([{documents}])
        .metadatas([{metadatas}])?;
    docs.add(&records)?;
    let query = Query::new().texts(["{query}"]).n_results({n_results}).filter(field("year").lt({before}));
    for row in docs.query(&query)?.query(0) {
        println!("{} {}", row.id(), row.document().unwrap_or_default());
    }
    client.close().map_err(|(_, error)| error)
}
