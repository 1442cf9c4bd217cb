// SPDX-License-Identifier: Apache-2.0
//
// A program of somebody who has the jar, and Jackson's beside it.

import io.pigment.*;

class Consumer {
  public static void main(String[] args) {
    try (Client client = Client.inMemory();
        Collection colours = client.createCollection("colours", new CollectionOptions().embeddingFunction(EmbeddingFunction.lexical()))) {
      colours.add(Records.of("red", "green").documents("a red fish", "a green field"));
      for (Row row : colours.query(new QueryRequest().texts("red fishes").results(1)).rows(0)) {
        System.out.println("pigment " + Pigment.version() + ": " + row.id());
      }
    }
  }
}
