// SPDX-License-Identifier: Apache-2.0
//
// What the conformance scripts do not reach: the care of a store, ranked text, vectors in every form, reports.

package io.pigment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OperationsTest {
  @TempDir Path folder;

  private static Collection filled(Client client, int rows) {
    Collection docs = client.createCollection("docs");
    List<String> ids = new ArrayList<>();
    float[] values = new float[rows * 2];
    for (int row = 0; row < rows; ++row) {
      ids.add("id" + row);
      values[2 * row] = row;
    }
    docs.add(Records.of(ids).embeddings(Embeddings.ofRows(values, 2)));
    return docs;
  }

  @Test
  void aStoreIsBackedUpCheckedCompactedAndCounted() {
    Path copy = folder.resolve("copy");
    try (Client client = Client.open(folder.resolve("store")); Collection docs = filled(client, 300)) {
      docs.flush();
      docs.upsert(Records.of("id0").embeddings(new float[] {5, 5}));
      docs.delete(new DeleteRequest().ids("id1"));
      client.flush();
      assertEquals(299, docs.segments().stream().mapToLong(Segment::liveRows).sum());
      Compaction compaction = docs.compact();
      assertEquals(299, compaction.records());
      assertEquals(1, docs.segments().size());
      assertEquals(2, docs.segments().getFirst().dimension());
      assertEquals(new Compaction(299, 1, 1, compaction.bytesAfter(), compaction.bytesAfter()), client.compact());
      BackupReport backup = client.backup(copy);
      assertEquals(client.position(), backup.position());
      assertTrue(backup.files() > 1 && backup.bytes() > 0);
      assertThrows(AlreadyExistsException.class, () -> client.backup(copy));
      CheckReport check = client.check(true);
      assertTrue(check.clean() && check.findings().isEmpty() && check.errors() == 0);
      assertEquals(299L, check.totals().get("live_rows"));
      assertEquals(client.position(), client.statistics().get("position"));
      assertEquals("full", Json.object(client.statistics().get("log")).get("sync_mode"));
    }
    assertTrue(Pigment.check(copy, true).clean());
  }

  @Test
  void longWorkTellsHowFarItIs() throws Exception {
    try (Client client = Client.open(folder.resolve("store")); Collection docs = filled(client, 2000);
        CancelToken token = new CancelToken()) {
      CallOptions options = CallOptions.NONE.withCancelToken(token);
      docs.count(options);
      assertTrue(token.progress().isEmpty());
      docs.flush(options);
      Progress flushed = token.progress().orElseThrow();
      assertEquals(new Progress("flush", "collections", 1, OptionalLong.of(1)), flushed);
      var phases = new TreeSet<String>();
      var checking = Thread.startVirtualThread(() -> client.check(true, options));
      while (checking.isAlive()) {
        Progress seen = token.progress().orElseThrow();
        assertTrue(seen.done() <= seen.total().orElse(Long.MAX_VALUE), seen::toString);
        phases.add(seen.phase());
      }
      assertEquals("search", token.progress().orElseThrow().phase(), phases::toString);
      client.async().backup(folder.resolve("copy"), options).get();
      assertEquals("search", token.progress().orElseThrow().phase(), "a future tells its caller's token while it runs");
      client.backup(folder.resolve("again"), options);
      long bytes = docs.segments().stream().mapToLong(Segment::bytes).sum();
      assertEquals(new Progress("segments", "bytes", bytes, OptionalLong.of(bytes)), token.progress().orElseThrow());
      token.cancel();
      assertThrows(CancelledException.class, () -> docs.flush(options));
      assertThrows(CancelledException.class, () -> client.flush(options));
    }
  }

  @Test
  void damageIsFoundNamedAndRepaired() throws Exception {
    Path store = folder.resolve("store");
    try (Client client = Client.open(store); Collection docs = filled(client, 300)) {
      docs.flush();
    }
    Path largest;
    try (Stream<Path> files = Files.walk(store)) {
      largest = files.filter(Files::isRegularFile).filter(path -> path.toString().contains("seg"))
          .max((a, b) -> Long.compare(a.toFile().length(), b.toFile().length())).orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(largest);
    Arrays.fill(bytes, bytes.length / 3, bytes.length / 3 + 600, (byte) 0x5a);
    Files.write(largest, bytes);
    CheckReport report = Pigment.check(store, true);
    assertFalse(report.clean());
    assertTrue(report.errors() > 0);
    CheckReport.Finding finding =
        report.findings().stream().filter(one -> one.severity().equals("error")).findFirst().orElseThrow();
    assertEquals(Status.DATA_LOSS, finding.code());
    assertTrue(finding.detail() != Detail.NONE && finding.detail() != Detail.UNRECOGNIZED, finding.toString());
    CorruptionException damaged = assertThrows(CorruptionException.class, () -> {
      try (Client client = Client.open(store); Collection docs = client.getCollection("docs")) {
        docs.get(new GetRequest().include(Include.EMBEDDINGS));
      }
    });
    assertFalse(damaged.file().isEmpty());
    assertTrue(damaged.offset() >= 0, damaged.toString());
    assertEquals(Fault.ENVIRONMENT, damaged.fault());
    RepairReport repair = Pigment.repair(store, folder.resolve("repaired"));
    assertEquals("docs", repair.collections().getFirst().name());
    assertEquals(repair.json().get("lossless"), repair.lossless());
    assertTrue(Pigment.check(folder.resolve("repaired"), true).clean());
  }

  @Test
  void aSecondWriterAReaderAndWhatIsMissingAreToldApart() {
    Path store = folder.resolve("store");
    assertThrows(NotFoundException.class, () -> Client.open(store, new OpenOptions().mustExist()));
    OpenOptions options = new OpenOptions().sync(SyncMode.INTERVAL).syncInterval(Duration.ofMillis(50)).memoryBudget(1L << 30)
        .flushAt(1000, 1 << 20).reserve(-1).backgroundThreads(-1).eraseLog().mapFiles();
    try (Client client = Client.open(store, options); Collection docs = filled(client, 3)) {
      assertEquals("interval", Json.object(client.statistics().get("log")).get("sync_mode"));
      PigmentException differs = assertThrows(PigmentException.class, () -> Client.open(store));
      assertTrue(differs.getMessage().contains("sync"), differs.getMessage());
      docs.flush();
    }
    try (Client reader = Client.open(store, new OpenOptions().readOnly()); Collection docs = reader.getCollection("docs")) {
      assertEquals(3, docs.count());
      assertEquals(reader.position(), reader.refresh());
      PigmentException refused = assertThrows(PigmentException.class, () -> docs.add(Records.of("x").embeddings(new float[2])));
      assertEquals(Detail.READ_ONLY, refused.detail());
      PigmentException stale = assertThrows(PigmentException.class,
          () -> docs.count(CallOptions.NONE.withMinPosition(reader.position() + 100)));
      assertEquals(Detail.STALE, stale.detail());
    }
    assertThrows(InvalidArgumentException.class, () -> new OpenOptions().syncInterval(Duration.ZERO));
  }

  @Test
  void theEnvironmentIsReadOnlyWhenSomebodyAsks() {
    Path store = folder.resolve("env");
    try (Client client = Client.fromEnv(Map.of("PIGMENT_PATH", store.toString(), "PIGMENT_TENANT", "", "OTHER", "x"))) {
      client.createTenant("acme");
      client.createDatabase("acme", "papers");
    }
    Map<String, String> variables = Map.of("PIGMENT_PATH", store.toString(), "PIGMENT_TENANT", "acme", "PIGMENT_DATABASE", "papers");
    try (Client client = Client.fromEnv(variables); Collection docs = client.createCollection("docs")) {
      CollectionInfo info = docs.describe();
      assertEquals("acme/papers", info.tenant() + "/" + info.database());
      assertEquals(List.of(info), client.database("acme", "papers").listCollections());
      assertEquals(0, client.database("default_database").countCollections());
      assertEquals(List.of("acme", "default_tenant"), client.listTenants());
    }
    for (Map<String, String> inMemory : List.of(Map.<String, String>of(), Map.of("PIGMENT_PATH", ":memory:", "PIGMENT_SYNC_MODE", "off"))) {
      try (Client client = Client.fromEnv(inMemory)) {
        assertEquals(List.of(), client.listCollections());
      }
    }
    Map<String, String> reading = Map.of("PIGMENT_PATH", store.toString(), "PIGMENT_READ_ONLY", "1", "PIGMENT_FLUSH_ROWS_MAX", "7");
    try (Client client = Client.fromEnv(reading)) {
      assertEquals(Detail.READ_ONLY, assertThrows(PigmentException.class, () -> client.createTenant("other")).detail());
    }
    assertEquals("PIGMENT_READ_ONLY is \"perhaps\", expected true or false",
        assertThrows(InvalidArgumentException.class, () -> Client.fromEnv(Map.of("PIGMENT_READ_ONLY", "perhaps"))).getMessage());
    assertThrows(InvalidArgumentException.class, () -> Client.fromEnv(Map.of("PIGMENT_FLUSH_ROWS_MAX", "-3")));
    assertThrows(InvalidArgumentException.class, () -> Client.fromEnv(Map.of("PIGMENT_SYNC_MODE", "sometimes")));
    assertTrue(Files.isDirectory(store));
  }

  @Test
  void vectorsComeInEveryFormAndGiveTheSame() {
    float[][] rows = {{1, -2}, {3.5f, 0}};
    try (Client client = Client.inMemory(); Arena arena = Arena.ofShared()) {
      MemorySegment packed = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1, -2, 3.5f, 0);
      MemorySegment apart = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1, -2, 99, 3.5f, 0);
      MemorySegment f64 = arena.allocateFrom(ValueLayout.JAVA_DOUBLE, 1, -2, 3.5, 0);
      MemorySegment half = arena.allocateFrom(ValueLayout.JAVA_SHORT,
          Float.floatToFloat16(1), Float.floatToFloat16(-2), Float.floatToFloat16(3.5f), Float.floatToFloat16(0));
      MemorySegment crooked = arena.allocate(17, 8).asSlice(1, 16).copyFrom(packed);
      List<Embeddings> forms = List.of(
          Embeddings.of(rows), Embeddings.of(List.of(rows)), Embeddings.ofRows(new float[] {1, -2, 3.5f, 0}, 2),
          Embeddings.of(packed, 2, 2), Embeddings.of(MemorySegment.ofArray(new float[] {1, -2, 3.5f, 0}), 2, 2),
          Embeddings.of(apart, 2, 2, 12, ElementType.F32), Embeddings.of(f64, 2, 2, 0, ElementType.F64),
          Embeddings.of(half, 2, 2, 0, ElementType.F16), Embeddings.of(crooked, 2, 2));
      for (Embeddings form : forms) {
        try (Collection docs = client.createCollection("docs")) {
          docs.add(Records.of("a", "b").embeddings(form));
          assertArrayEquals(rows, docs.peek(10).rows().embeddings());
          assertEquals(List.of("a"), docs.query(new QueryRequest().embeddings(form).results(1)).rows(0).ids());
        }
        client.deleteCollection("docs");
      }
    }
  }

  @Test
  void resultsHaveWhatWasAskedForAndNothingElse() {
    try (Client client = Client.inMemory(); Collection docs = client.createCollection("docs")) {
      byte[] bytes = {(byte) 0xff, 'x', 0};
      docs.add(Records.of("a", "b").embeddings(new float[] {1}, new float[] {2}).documentBytes(Arrays.asList(bytes, null))
          .metadatas(Map.of("n", 1, "x", 1.5, "t", "é", "b", true, "l", List.of(1, 2)), null).uris(null, "file:///b"));
      GetResult all = docs.get(new GetRequest().include(Include.DOCUMENTS, Include.METADATAS, Include.EMBEDDINGS, Include.URIS));
      assertEquals(EnumSet.of(Include.DOCUMENTS, Include.METADATAS, Include.EMBEDDINGS, Include.URIS), all.included());
      assertEquals("\ufffdx\0", all.documents().getFirst());
      assertArrayEquals(bytes, all.rows().documentBytes(0));
      assertNull(all.rows().documentBytes(1));
      Row a = all.rows().row(0);
      assertEquals(Map.of("n", 1L, "x", 1.5, "t", "é", "b", true, "l", List.of(1L, 2L)), a.metadata());
      assertThrows(UnsupportedOperationException.class, () -> a.metadata().put("k", 1));
      assertTrue(Float.isNaN(a.distance()) && Float.isNaN(a.score()));
      assertEquals(new Row("b", null, null, "file:///b", new float[] {2}, Float.NaN, Float.NaN, null), all.rows().row(1));
      assertEquals(Arrays.asList(a, all.rows().row(1)), Stream.of(all).flatMap(r -> r.rows().ids().stream().map(
          id -> r.rows().row(r.ids().indexOf(id)))).toList());
      assertThrows(IndexOutOfBoundsException.class, () -> all.rows().row(2));
      GetResult ids = docs.get(new GetRequest().include());
      assertTrue(ids.included().isEmpty() && ids.documents() == null && ids.metadatas() == null && ids.rows().embeddings() == null);
      assertEquals(Optional.empty(), ids.explain());
      QueryResult query = docs.query(new QueryRequest().embeddings(new float[] {1}, new float[] {9}).results(1)
          .include(Include.DISTANCES, Include.DOCUMENTS).explain().recall(1));
      assertArrayEquals(new float[] {49}, query.rows(1).distances());
      assertArrayEquals(bytes, query.rows(0).documentBytes(0));
      assertNull(query.rows(1).documentBytes(0));
      assertFalse(Json.object(Json.read(query.explain().orElseThrow())).isEmpty());
      assertEquals(client.position(), query.position());
      assertEquals(0, docs.query(new QueryRequest().embeddings(new float[] {1}).maxDistance(0.5).where(Where.eq("n", 7)))
          .rows(0).size());
    }
  }

  @Test
  void aGetIsOrderedAndGoesOnBehindItsCursor() {
    try (Client client = Client.inMemory(); Collection docs = filled(client, 10)) {
      List<String> seen = new ArrayList<>();
      Optional<String> cursor = Optional.empty();
      do {
        GetRequest request = new GetRequest().orderBy("#id", true).limit(4).include();
        cursor.ifPresent(request::cursor);
        GetResult result = docs.get(request);
        seen.addAll(result.ids());
        cursor = result.cursor();
      } while (cursor.isPresent());
      assertEquals(List.of("id9", "id8", "id7", "id6", "id5", "id4", "id3", "id2", "id1", "id0"), seen);
      assertArrayEquals(new boolean[] {true, false, true}, docs.contains(List.of("id3", "none", "id3")));
    }
  }

  @Test
  void pathsOfNestedMetadataAreKeys() {
    CollectionOptions options = new CollectionOptions().configuration(Map.of("nested_metadata", true));
    try (Client client = Client.inMemory(); Collection docs = client.createCollection("docs", options)) {
      Map<String, Object> chair = Map.of("size", Map.of("width", 2L, "in/out", Map.of("x", true)));
      docs.add(Records.of("a", "b").embeddings(new float[] {1}, new float[] {2})
          .metadatas(chair, Map.of("size", Map.of("width", 1.5))));
      GetResult found = docs.get(new GetRequest().where(Where.and(Where.gt("$/size/width", 1.6), Where.eq("$/size/in~1out/x", true))));
      assertEquals(List.of("a"), found.ids());
      assertEquals(chair, found.rows().row(0).metadata());
    }
  }

  @Test
  void textIsRankedAndHighlighted() {
    CollectionOptions options = new CollectionOptions()
        .configuration(Map.of("text_index", Map.of("analyzer", Map.of("language", "english"))));
    try (Client client = Client.inMemory(); Collection docs = client.createCollection("docs", options)) {
      docs.add(Records.of("1", "2").embeddings(new float[] {1}, new float[] {2})
          .documents("The quick brown fox", "Foxes are running; a fox runs"));
      QueryResult result = docs.searchText(new TextSearchRequest("fox", "+quick fox").highlights().explain());
      assertEquals(List.of("2", "1"), result.rows(0).ids());
      assertEquals(List.of("1"), result.rows(1).ids());
      assertTrue(result.rows(0).scores()[0] > result.rows(0).scores()[1]);
      assertEquals(List.of(new Highlight(0, 5), new Highlight(21, 24)), result.rows(0).row(0).highlights());
      assertEquals(List.of("1"), docs.searchText(new TextSearchRequest("fox quick").operator(TextOperator.ALL)
          .where(Where.exists("k", false)).results(5).include()).rows(0).ids());
    }
  }

  @Test
  void theTableOfLimitsIsTheLibrarys() {
    Limit dimension = Pigment.limits().stream().filter(one -> one.name().equals("dimension")).findFirst().orElseThrow();
    assertEquals(65535, dimension.most());
    assertEquals(Status.RESOURCE_EXHAUSTED, dimension.status());
    assertTrue(Pigment.limits().stream().anyMatch(one -> one.status() == Status.INVALID_ARGUMENT));
  }

  @Test
  void errorsCarryWhatTheLibrarySays() {
    try (Client client = Client.inMemory(); Collection docs = filled(client, 3)) {
      InvalidArgumentException refused = assertThrows(InvalidArgumentException.class,
          () -> docs.add(Records.of("a", "b").embeddings(new float[] {1, 2}, new float[] {Float.NaN, 2})));
      assertEquals(1, refused.row());
      assertEquals(Detail.NOT_FINITE, refused.detail());
      assertEquals(Fault.CALLER, refused.fault());
      assertFalse(refused.isRetryable());
      InvalidArgumentException filter =
          assertThrows(InvalidArgumentException.class, () -> docs.get(new GetRequest().where(Where.ofJson("{\"a\":1,\"b\":2}"))));
      assertEquals(Detail.FILTER, filter.detail());
      assertTrue(filter.hint().contains("$and"), filter.hint());
      assertEquals(Status.ALREADY_EXISTS, assertThrows(AlreadyExistsException.class, () -> client.createCollection("docs")).code());
      assertThrows(NotFoundException.class, () -> client.getCollection("none"));
      try (Collection texts = client.createCollection("texts")) {
        assertEquals(Detail.NO_EMBEDDING_FUNCTION, assertThrows(FailedPreconditionException.class,
            () -> texts.query(new QueryRequest().texts("x"))).detail());
      }
    }
  }
}
