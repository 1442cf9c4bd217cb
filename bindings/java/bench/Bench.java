// SPDX-License-Identifier: Apache-2.0
//
// The Java side of the benchmark: what calls.c does, with the same numbers, from strings, in turns with it; of batches with vectors in native memory, as C
// has them, and in an array, which is copied for the call. Its arguments are that library and an empty directory. Prints "figure ns c_ns"; the first calls are the
// compiler's.

import io.pigment.Client;
import io.pigment.Collection;
import io.pigment.Embeddings;
import io.pigment.QueryRequest;
import io.pigment.Records;
import io.pigment.Rows;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

final class Bench {
  private static final int DIMENSION = 384;
  private static final int BATCH = 1000;
  private static final int BATCHES = 5;
  private static final int QUERIES = 200;
  private static final int ROUNDS = 60;
  private static final int TURNS = 6;
  private static final int PASSES = 5;
  private static final int WARM_UP = 3000;
  private static final int WARM_UP_ROUNDS = 150;
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
    Embeddings[] arrays = new Embeddings[BATCHES];
    Embeddings[] segments = new Embeddings[BATCHES];
    for (int batch = 0; batch < BATCHES; ++batch) {
      arrays[batch] = Embeddings.ofRows(vectors[batch], DIMENSION);
      segments[batch] = Embeddings.of(Arena.global().allocateFrom(ValueLayout.JAVA_FLOAT, vectors[batch]), BATCH, DIMENSION);
    }
    Path folder = Path.of(args[1]);
    for (int round = 0; round < WARM_UP_ROUNDS; ++round) {
      try (Client client = Client.inMemory()) {
        addAll(client, round % 2 == 0 ? segments : arrays, ids, documents);
      }
    }
    measureAdd("add_1000_memory", calls, segments, ids, documents, null);
    measureAdd("add_1000_directory", calls, segments, ids, documents, folder);
    measureAdd("add_1000_array_memory", calls, arrays, ids, documents, null);
    measureAdd("add_1000_array_directory", calls, arrays, ids, documents, folder);
    Path store = folder.resolve("store");
    try (Client client = Client.open(store); Arena arena = Arena.ofConfined()) {
      addAll(client, segments, ids, documents);
      try (Collection docs = client.getCollection("docs")) {
        docs.compact();
        calls.open.invokeExact(arena.allocateFrom(store.toString()));
        for (int call = 0; call < WARM_UP; ++call) {
          queryOnce(docs, queries[call % QUERIES]);
        }
        queryAll(calls, docs, queries);
        calls.close.invokeExact();
      }
    }
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

  /** All batches into new stores, in memory or below `folder`, in turns with C. */
  private static void measureAdd(
      String figure, Calls calls, Embeddings[] vectors, List<List<String>> ids, List<List<String>> documents, Path folder) throws Throwable {
    long best = Long.MAX_VALUE;
    long bestInC = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; ++round) {
      Path path = folder == null ? null : folder.resolve("java");
      Path pathInC = folder == null ? Path.of("") : folder.resolve("c");
      try (Client client = path == null ? Client.inMemory() : Client.open(path)) {
        best = Math.min(best, addAll(client, vectors, ids, documents));
      }
      try (Arena arena = Arena.ofConfined()) {
        bestInC = Math.min(bestInC, (long) calls.add.invokeExact(arena.allocateFrom(pathInC.toString())));
      }
      if (folder != null) {
        remove(path);
        remove(pathInC);
      }
    }
    System.out.println(figure + " " + best + " " + bestInC);
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      all.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    }
  }

  private static long addAll(Client client, Embeddings[] vectors, List<List<String>> ids, List<List<String>> documents) {
    long best = Long.MAX_VALUE;
    try (Collection docs = client.createCollection("docs")) {
      for (int batch = 0; batch < BATCHES; ++batch) {
        long begin = System.nanoTime();
        docs.add(Records.of(ids.get(batch)).documents(documents.get(batch)).embeddings(vectors[batch]));
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
      add = handle("bench_add", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
      open = handle("bench_open", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
      query = handle("bench_query", FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
      close = handle("bench_close", FunctionDescriptor.ofVoid());
    }

    private MethodHandle handle(String name, FunctionDescriptor descriptor) {
      return Linker.nativeLinker().downcallHandle(library.find(name).orElseThrow(), descriptor);
    }
  }
}
