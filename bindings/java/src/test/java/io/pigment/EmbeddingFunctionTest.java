// SPDX-License-Identifier: Apache-2.0
//
// Functions of Java as the library calls them, and what they throw.

package io.pigment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;

class EmbeddingFunctionTest {
  /** A function of a lambda. */
  private record Made(String name, BiFunction<List<String>, Purpose, float[][]> body) implements EmbeddingFunction {
    @Override
    public float[][] embed(List<String> texts, Purpose purpose) {
      return body.apply(texts, purpose);
    }

    @Override
    public Map<String, ?> config() {
      return Map.of("model", "tiny", "layers", 2);
    }

    @Override
    public Optional<Space> space() {
      return Optional.of(Space.IP);
    }
  }

  private static Collection collection(Client client, BiFunction<List<String>, Purpose, float[][]> body) {
    return client.createCollection("docs", new CollectionOptions().embeddingFunction(new Made("made", body)));
  }

  private static float[][] lengths(List<String> texts) {
    return texts.stream().map(text -> new float[] {text.length(), 1}).toArray(float[][]::new);
  }

  @Test
  void textsGiveTheSameAsTheirVectors() {
    List<Purpose> asked = new ArrayList<>();
    try (Client client = Client.inMemory(); Collection docs = collection(client, (texts, purpose) -> {
      asked.add(purpose);
      return lengths(texts);
    })) {
      docs.add(Records.of("a", "b").documents("one", "three €"));
      assertArrayEquals(new float[][] {{3, 1}, {7, 1}}, docs.get(new GetRequest().include(Include.EMBEDDINGS)).rows().embeddings());
      QueryResult byText = docs.query(new QueryRequest().texts("x", "yy"));
      QueryResult byVector = docs.query(new QueryRequest().embeddings(new float[] {1, 1}, new float[] {2, 1}));
      assertEquals(byVector.queries(), byText.queries());
      assertEquals(List.of(Purpose.DOCUMENT, Purpose.QUERY), asked);
      CollectionInfo info = docs.describe();
      assertEquals(Map.of("name", "made", "config", Map.of("model", "tiny", "layers", 2L)), info.embeddingFunction());
      assertEquals("ip", Json.object(info.configuration().get("hnsw")).get("space"));
    }
  }

  @Test
  void whatAFunctionThrowsComesBackAsTheCause() {
    try (Client client = Client.inMemory()) {
      List<Throwable> thrown = List.of(
          new IllegalArgumentException("no such model"), new StackOverflowError("deep"), new AssertionError(), new NullPointerException(),
          new OutOfMemoryError("made up"));
      for (Throwable each : thrown) {
        try (Collection docs = client.createCollection("docs", new CollectionOptions().embeddingFunction(new Made("made", (texts, p) -> {
          throw EmbeddingFunctionTest.<RuntimeException>sneaky(each);
        })))) {
          PigmentException failed = assertThrows(PigmentException.class, () -> docs.add(Records.of("a").documents("x")));
          assertSame(each, failed.getCause());
          assertEquals(Status.UNKNOWN, failed.code());
          assertEquals(Detail.EMBEDDING_FUNCTION, failed.detail());
          assertTrue(failed.getMessage().contains(each.toString()), failed.getMessage());
          assertSame(each, assertThrows(PigmentException.class, () -> docs.query(new QueryRequest().texts("x"))).getCause());
          assertEquals(0, docs.count());
          // An error that has nothing to do with it has no cause.
          assertNull(assertThrows(PigmentException.class, () -> docs.get(new GetRequest().limit(-1))).getCause());
        }
        client.deleteCollection("docs");
      }
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> T sneaky(Throwable thrown) throws T {
    throw (T) thrown;
  }

  @Test
  void aFunctionThatNeverEndsItsRecursionDoesNotEndTheProcess() {
    try (Client client = Client.inMemory(); Collection docs = collection(client, (texts, purpose) -> deeper(texts, 0))) {
      PigmentException failed = assertThrows(PigmentException.class, () -> docs.add(Records.of("a").documents("x")));
      assertEquals(StackOverflowError.class, failed.getCause().getClass());
      assertEquals(0, docs.count());
    }
  }

  private static float[][] deeper(List<String> texts, int depth) {
    return depth < 0 ? lengths(texts) : deeper(texts, depth + 1);
  }

  @Test
  void aFunctionMaySayWithWhichCodeItFails() {
    EmbeddingFunction asleep = new EmbeddingFunction() {
      @Override
      public float[][] embed(List<String> texts, Purpose purpose) throws IOException {
        if (texts.getFirst().equals("io")) {
          throw new IOException("no connection");
        }
        throw new PigmentException(Status.UNAVAILABLE, "the model is asleep");
      }

      @Override
      public String name() {
        return "asleep";
      }
    };
    try (Client client = Client.inMemory();
        Collection docs = client.createCollection("docs", new CollectionOptions().embeddingFunction(asleep))) {
      PigmentException failed = assertThrows(PigmentException.class, () -> docs.add(Records.of("a").documents("x")));
      assertEquals(Status.UNAVAILABLE, failed.code());
      assertTrue(failed.isRetryable());
      assertTrue(failed.getMessage().contains("the model is asleep"), failed.getMessage());
      assertEquals(IOException.class,
          assertThrows(PigmentException.class, () -> docs.add(Records.of("a").documents("io"))).getCause().getClass());
    }
  }

  @Test
  void wrongVectorsAreRefusedWithTheirRow() {
    float[][][] wrong = {{}, {{1}}, {{1}, {2, 3}}, {{1}, {2}, {3}}, {{}, {}}, {{1}, {Float.NaN}}};
    long[] rows = {0, 1, 1, 2, 0, 1};
    for (int i = 0; i < wrong.length; ++i) {
      float[][] answer = wrong[i];
      try (Client client = Client.inMemory(); Collection docs = collection(client, (texts, purpose) -> answer)) {
        InvalidArgumentException refused =
            assertThrows(InvalidArgumentException.class, () -> docs.add(Records.of("a", "b").documents("x", "y")));
        assertEquals(rows[i], refused.row(), refused.getMessage());
        assertEquals(Detail.EMBEDDING_FUNCTION, refused.detail());
      }
    }
    for (float[][] holes : new float[][][] {null, {{1}, null}}) {
      try (Client client = Client.inMemory(); Collection docs = collection(client, (texts, purpose) -> holes)) {
        PigmentException failed = assertThrows(PigmentException.class, () -> docs.add(Records.of("a", "b").documents("x", "y")));
        assertEquals(NullPointerException.class, failed.getCause().getClass());
      }
    }
  }

  @Test
  void theLibraryHoldsAFunctionAsLongAsItHasAUseForIt() {
    int before = Callbacks.held();
    Client client = Client.inMemory();
    Collection docs = collection(client, (texts, purpose) -> lengths(texts));
    assertEquals(before + 1, Callbacks.held());
    EmbeddingFunction same = new Made("made", (texts, purpose) -> lengths(texts));
    assertThrows(NotFoundException.class, () -> client.getCollection("none", same));
    assertThrows(AlreadyExistsException.class,
        () -> client.createCollection("docs", new CollectionOptions().embeddingFunction(same)));
    assertThrows(InvalidArgumentException.class,
        () -> client.getCollection("docs", new Made("other", (texts, purpose) -> lengths(texts))));
    assertEquals(before + 1, Callbacks.held());
    Collection second = client.getCollection("docs", same);
    docs.close();
    second.add(Records.of("a").documents("x"));
    second.close();
    client.close();
    assertEquals(before, Callbacks.held());
  }

  @Test
  void theLexicalFunctionIsTheLibrarys() throws Exception {
    EmbeddingFunction lexical = EmbeddingFunction.lexical(64);
    try (Client client = Client.inMemory();
        Collection docs = client.createCollection("docs", new CollectionOptions().embeddingFunction(lexical))) {
      docs.add(Records.of("a", "b").documents("how to back up a database", "how to bake bread"));
      assertEquals("b", docs.query(new QueryRequest().texts("baking bread").results(1)).rows(0).ids().getFirst());
      float[][] vectors = lexical.embed(List.of("how to back up a database"), Purpose.DOCUMENT);
      assertArrayEquals(vectors[0], docs.get(new GetRequest().ids("a").include(Include.EMBEDDINGS)).rows().row(0).embedding());
      assertEquals("cosine", Json.object(docs.describe().configuration().get("hnsw")).get("space"));
    }
    assertEquals(384, EmbeddingFunction.lexical().embed(List.of("x"), Purpose.QUERY)[0].length);
    assertEquals(0, lexical.embed(List.of(), Purpose.QUERY).length);
    assertThrows(InvalidArgumentException.class, () -> EmbeddingFunction.lexical(0));
  }

  @Test
  void manyThreadsEmbedAtOnceAndFailEachForItself() throws Exception {
    ConcurrentLinkedQueue<Throwable> wrong = new ConcurrentLinkedQueue<>();
    try (Client client = Client.inMemory(); Collection docs = collection(client, (texts, purpose) -> {
      if (texts.getFirst().startsWith("bad")) {
        throw new IllegalStateException(texts.getFirst());
      }
      System.gc();
      return lengths(texts);
    })) {
      List<Thread> threads = new ArrayList<>();
      for (int thread = 0; thread < 8; ++thread) {
        int number = thread;
        threads.add(Thread.ofPlatform().start(() -> {
          try {
            for (int call = 0; call < 30; ++call) {
              String id = number + "-" + call;
              if (call % 3 == 0) {
                PigmentException failed =
                    assertThrows(PigmentException.class, () -> docs.add(Records.of(id).documents("bad " + id)));
                assertEquals("bad " + id, failed.getCause().getMessage());
              } else {
                docs.add(Records.of(id).documents("good " + id));
              }
            }
          } catch (Throwable other) {
            wrong.add(other);
          }
        }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(List.of(), List.copyOf(wrong));
      assertEquals(8 * 20, docs.count());
    }
  }
}
