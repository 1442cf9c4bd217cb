// SPDX-License-Identifier: Apache-2.0
//
// Texts and matrices on their way into the library and out of it, of every size and letter.

package io.pigment;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TextsTest {
  private static final int[] LIMITS = {0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};

  private static String randomText(Random random, int letters) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < letters; ++i) {
      int point = random.nextInt(4) == 0 ? LIMITS[random.nextInt(LIMITS.length)] : random.nextInt(0x110000);
      text.appendCodePoint(point >= 0xd800 && point < 0xe000 ? 'x' : point);
    }
    return text.toString();
  }

  @Test
  void everyTextComesBackAsItWas() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<String> ids = new ArrayList<>();
    List<String> documents = new ArrayList<>();
    for (int row = 0; row < 500; ++row) {
      ids.add(row + randomText(random, random.nextInt(20)));
      documents.add(row % 7 == 3 ? null : randomText(random, row % 50 == 0 ? 20_000 : random.nextInt(60)));
    }
    try (Client client = Client.inMemory(); Collection docs = client.createCollection("docs")) {
      docs.add(Records.of(ids).documents(documents).embeddings(Embeddings.ofRows(new float[500], 1)));
      GetResult result = docs.get(new GetRequest());
      assertEquals(ids, result.ids(), "seed " + seed);
      assertEquals(documents, result.documents(), "seed " + seed);
      for (int row = 0; row < 500; ++row) {
        byte[] expected = documents.get(row) == null ? null : documents.get(row).getBytes(UTF_8);
        assertArrayEquals(expected, result.rows().documentBytes(row), "seed " + seed);
      }
    }
  }

  @Test
  void halfASurrogatePairIsNoText() {
    try (Client client = Client.inMemory(); Collection docs = client.createCollection("docs")) {
      for (String wrong : List.of("\ud800", "a\ud800", "\ud800a", "\udc00", "\udc00\ud800", "\ud800\ud800\udc00")) {
        InvalidArgumentException refused = assertThrows(InvalidArgumentException.class,
            () -> docs.add(Records.of("a", "b").documents("x", wrong).embeddings(new float[1], new float[1])));
        assertEquals(1, refused.row());
        assertTrue(refused.getMessage().startsWith("documents: row 1: half a surrogate pair at "), refused.getMessage());
        assertThrows(InvalidArgumentException.class, () -> docs.get(new GetRequest().where(Where.eq("k", wrong))));
        assertThrows(InvalidArgumentException.class, () -> client.getCollection(wrong));
      }
      assertEquals(0, docs.count());
    }
  }

  /** Below, at and above what is borrowed, in one call and in calls within calls. */
  @Test
  void batchesOfEverySizeArriveWhole() {
    for (int floats : new int[] {1, 100, 16 << 10, (int) (Scratch.BYTES_MAX / 4 - 1), (int) (Scratch.BYTES_MAX / 4), 3 << 20}) {
      int dimension = Math.min(floats, 1 << 10);
      int rows = floats / dimension;
      float[] values = new float[rows * dimension];
      List<String> ids = new ArrayList<>();
      String[] documents = new String[rows];
      for (int row = 0; row < rows; ++row) {
        Arrays.fill(values, row * dimension, (row + 1) * dimension, row + 0.5f);
        ids.add("id" + row);
        documents[row] = "document of row " + row + " ".repeat(row % 3000);
      }
      try (Client client = Client.inMemory(); Collection docs = client.createCollection("docs")) {
        docs.add(Records.of(ids).documents(documents).embeddings(Embeddings.ofRows(values, dimension)));
        GetResult result = docs.get(new GetRequest().include(Include.DOCUMENTS, Include.EMBEDDINGS));
        assertEquals(ids, result.ids());
        assertEquals(List.of(documents), result.documents());
        for (int row = 0; row < rows; ++row) {
          assertArrayEquals(Arrays.copyOfRange(values, row * dimension, (row + 1) * dimension), result.rows().embeddings()[row]);
        }
      }
    }
  }

  /** A function that calls another collection: what its calls borrow is not what the outer call has borrowed. */
  @Test
  void callsWithinCallsKeepTheirMemoryApart() {
    try (Client client = Client.inMemory(); Collection inner = client.createCollection("inner")) {
      EmbeddingFunction function = new EmbeddingFunction() {
        @Override
        public float[][] embed(List<String> texts, Purpose purpose) {
          float[][] vectors = new float[texts.size()][];
          for (int row = 0; row < vectors.length; ++row) {
            vectors[row] = new float[] {texts.get(row).length(), 1};
          }
          inner.upsert(Records.of(texts).embeddings(Embeddings.ofRows(new float[texts.size() * 512], 512)));
          return vectors;
        }

        @Override
        public String name() {
          return "nested";
        }
      };
      try (Collection outer = client.createCollection("outer", new CollectionOptions().embeddingFunction(function))) {
        List<String> texts = new ArrayList<>();
        for (int row = 0; row < 2000; ++row) {
          texts.add("a text of some length, with the number " + row);
        }
        for (int call = 0; call < 20; ++call) {
          outer.upsert(Records.of(texts).documents(texts));
          assertEquals(texts, outer.get(new GetRequest()).documents());
        }
        assertEquals(texts, inner.get(new GetRequest().include()).ids());
      }
    }
  }
}
