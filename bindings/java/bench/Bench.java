// SPDX-License-Identifier: Apache-2.0
//
// The Java side of the benchmark: what calls.c does, with the same numbers, from strings and float arrays, in turns with it. Its arguments are
// that library and a directory. Prints "figure ns c_ns"; the first calls are the compiler's.

import io.pigment.Client;
import io.pigment.Collection;
import io.pigment.Embeddings;
import io.pigment.QueryRequest;
import io.pigment.Records;
import io.pigment.Rows;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

final class Bench {
  private static final int DIMENSION = 384;
  private static final int BATCH = 1000;
  private static final int BATCHES = 5;
  private static final int QUERIES = 200;
  private static final int ROUNDS = 25;
  private static final int TURNS = 6;
  private static final int PASSES = 5;
  private static final int WARM_UP = 3000;
  private static final int RESULTS = 10;

  private static int state = 1;
  private static long seen;

  private Bench() {}

  private static float nextValue() {
    state = state * 1664525 + 1013904223;
    return (state >>> 8) / 16777216.0f - 0.5f;
  }

  public static void main(String[] args) throws Throwable {
    Calls calls = new Calls(Path.of(args[0]));
    calls.makeData.invokeExact();
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
    long addInC = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; ++round) {
      try (Client client = Client.inMemory()) {
        add = Math.min(add, addAll(client, vectors, ids, documents));
      }
      addInC = Math.min(addInC, (long) calls.add.invokeExact());
    }
    try (Client client = Client.open(Path.of(args[1])); Arena arena = Arena.ofConfined()) {
      addAll(client, vectors, ids, documents);
      try (Collection docs = client.getCollection("docs")) {
        docs.compact();
        calls.open.invokeExact(arena.allocateFrom(args[1]));
        for (int call = 0; call < WARM_UP; ++call) {
          queryOnce(docs, queries[call % QUERIES]);
        }
        queryAll(calls, docs, queries);
        calls.close.invokeExact();
      }
    }
    System.out.println("add_1000 " + add + " " + addInC);
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

  private static long addAll(Client client, float[][] vectors, List<List<String>> ids, List<List<String>> documents) {
    long best = Long.MAX_VALUE;
    try (Collection docs = client.createCollection("docs")) {
      for (int batch = 0; batch < BATCHES; ++batch) {
        long begin = System.nanoTime();
        docs.add(Records.of(ids.get(batch)).documents(documents.get(batch)).embeddings(Embeddings.ofRows(vectors[batch], DIMENSION)));
        best = Math.min(best, System.nanoTime() - begin);
      }
    }
    return best;
  }

  /** Of each query the fastest time of either side, which take short turns: what else a machine does meets both. */
  private static void queryAll(Calls calls, Collection docs, float[][] queries) throws Throwable {
    long sum = 0;
    long sumInC = 0;
    for (int query = 0; query < QUERIES; ++query) {
      long best = Long.MAX_VALUE;
      long bestInC = Long.MAX_VALUE;
      for (int turn = 0; turn < TURNS; ++turn) {
        bestInC = Math.min(bestInC, (long) calls.query.invokeExact(query, PASSES));
        for (int pass = 0; pass < PASSES; ++pass) {
          long begin = System.nanoTime();
          queryOnce(docs, queries[query]);
          best = Math.min(best, System.nanoTime() - begin);
        }
      }
      sum += best;
      sumInC += bestInC;
    }
    System.out.println("query_10 " + sum / QUERIES + " " + sumInC / QUERIES);
  }

  /** The functions of calls.c. */
  private static final class Calls {
    final MethodHandle makeData;
    final MethodHandle add;
    final MethodHandle open;
    final MethodHandle query;
    final MethodHandle close;
    private final SymbolLookup library;

    Calls(Path path) {
      library = SymbolLookup.libraryLookup(path, Arena.global());
      makeData = handle("bench_make_data", FunctionDescriptor.ofVoid());
      add = handle("bench_add", FunctionDescriptor.of(ValueLayout.JAVA_LONG));
      open = handle("bench_open", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
      query = handle("bench_query", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
      close = handle("bench_close", FunctionDescriptor.ofVoid());
    }

    private MethodHandle handle(String name, FunctionDescriptor descriptor) {
      return Linker.nativeLinker().downcallHandle(library.find(name).orElseThrow(), descriptor);
    }
  }
}
