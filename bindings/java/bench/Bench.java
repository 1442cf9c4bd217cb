// SPDX-License-Identifier: Apache-2.0
//
// The Java side of the benchmark: what bench.c does, with the same numbers, from strings and float arrays. Prints "figure ns" as that does;
// the first queries are the compiler's.

import io.pigment.Client;
import io.pigment.Collection;
import io.pigment.Embeddings;
import io.pigment.QueryRequest;
import io.pigment.Records;
import io.pigment.Rows;
import java.util.ArrayList;
import java.util.List;

final class Bench {
  private static final int DIMENSION = 384;
  private static final int BATCH = 1000;
  private static final int BATCHES = 5;
  private static final int QUERIES = 200;
  private static final int ROUNDS = 25;
  private static final int PASSES = 30;
  private static final int WARM_UP = 3000;
  private static final int RESULTS = 10;

  private static int state = 1;
  private static long seen;

  private Bench() {}

  private static float nextValue() {
    state = state * 1664525 + 1013904223;
    return (state >>> 8) / 16777216.0f - 0.5f;
  }

  public static void main(String[] args) {
    float[][] vectors = new float[BATCHES][BATCH * DIMENSION];
    List<List<String>> ids = new ArrayList<>();
    List<List<String>> documents = new ArrayList<>();
    for (int batch = 0; batch < BATCHES; ++batch) {
      ids.add(new ArrayList<>());
      documents.add(new ArrayList<>());
      for (int i = 0; i < vectors[batch].length; ++i) {
        vectors[batch][i] = nextValue();
      }
      for (int row = 0; row < BATCH; ++row) {
        int number = batch * BATCH + row;
        ids.get(batch).add("id" + number);
        documents.get(batch).add("document number " + number + " of some words");
      }
    }
    float[][] queries = new float[QUERIES][DIMENSION];
    for (float[] query : queries) {
      for (int i = 0; i < DIMENSION; ++i) {
        query[i] = nextValue();
      }
    }
    long add = Long.MAX_VALUE;
    long query = 0;
    for (int round = 0; round < ROUNDS; ++round) {
      try (Client client = Client.inMemory(); Collection docs = client.createCollection("docs")) {
        for (int batch = 0; batch < BATCHES; ++batch) {
          long begin = System.nanoTime();
          docs.add(Records.of(ids.get(batch)).documents(documents.get(batch)).embeddings(Embeddings.ofRows(vectors[batch], DIMENSION)));
          add = Math.min(add, System.nanoTime() - begin);
        }
        if (round + 1 == ROUNDS) {
          docs.compact();
          for (int call = 0; call < WARM_UP; ++call) {
            queryOnce(docs, queries[call % QUERIES]);
          }
          query = queryAll(docs, queries);
        }
      }
    }
    System.out.println("query_10 " + query + "\nadd_1000 " + add);
    if (seen == 0) {
      throw new IllegalStateException("nothing was found");
    }
  }

  private static void queryOnce(Collection docs, float[] query) {
    Rows rows = docs.query(new QueryRequest().embeddings(query).results(RESULTS)).rows(0);
    for (int row = 0; row < rows.size(); ++row) {
      seen += rows.ids().get(row).length() + rows.documents().get(row).length() + (long) rows.distances()[row];
    }
  }

  private static long queryAll(Collection docs, float[][] queries) {
    long sum = 0;
    for (float[] query : queries) {
      long best = Long.MAX_VALUE;
      for (int pass = 0; pass < PASSES; ++pass) {
        long begin = System.nanoTime();
        queryOnce(docs, query);
        best = Math.min(best, System.nanoTime() - begin);
      }
      sum += best;
    }
    return sum / queries.length;
  }
}
