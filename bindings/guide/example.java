import io.pigment.*;
import java.util.Map;

class Example {
  public static void main(String[] args) {
    try (Client client = Client.inMemory(); // or Client.open(Path.of("store"))
        Collection docs = client.createCollection("docs", new CollectionOptions().embeddingFunction(EmbeddingFunction.lexical()))) {
      docs.add(Records.of({ids})
          .documents({documents})
          .metadatas({metadatas}));
      QueryRequest query = new QueryRequest().texts("{query}").results({n_results}).where(Where.lt("year", {before}));
      for (Row row : docs.query(query).rows(0)) {
        System.out.println(row.id() + " " + row.document());
      }
    }
  }
}
