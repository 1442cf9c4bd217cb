import pigment

client = pigment.EphemeralClient()  # or pigment.PersistentClient("store")
docs = client.create_collection("docs", embedding_function=pigment.LexicalEmbeddingFunction())
docs.add(
    ids=[{ids}],
    documents=[{documents}],
    metadatas=[{metadatas}],
)
result = docs.query(query_texts=["{query}"], n_results={n_results}, where={"year": {"$lt": {before}}})
for id, document in zip(result["ids"][0], result["documents"][0]):
    print(id, document)
client.close()
