// SPDX-License-Identifier: Apache-2.0
//
// What is closed throws, whoever closes it and whatever runs meanwhile; nothing ends the process.

package io.pigment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.function.Executable;

class LifetimeTest {
  @TempDir Path folder;

  private static Collection filled(Client client, int rows) {
    Collection collection = client.createCollection("docs");
    List<String> ids = new ArrayList<>();
    float[][] vectors = new float[rows][4];
    for (int row = 0; row < rows; ++row) {
      ids.add("id" + row);
      Arrays.fill(vectors[row], row);
    }
    collection.add(Records.of(ids).embeddings(vectors));
    return collection;
  }

  private static void assertClosed(Executable call) {
    IllegalStateException closed = assertThrows(IllegalStateException.class, call);
    assertEquals(Detail.CLOSED, assertInstanceOf(PigmentException.class, closed.getCause()).detail());
  }

  @Test
  void everyCallOfAClosedCollectionIsRefused() {
    try (Client client = Client.inMemory()) {
      Collection collection = filled(client, 3);
      collection.close();
      collection.close();
      QueryRequest query = new QueryRequest().embeddings(new float[] {1, 2, 3, 4});
      List<Executable> calls = List.of(
          () -> collection.add(Records.of("x")), () -> collection.update(Records.of("x")), () -> collection.upsert(Records.of("x")),
          () -> collection.delete(new DeleteRequest().ids("x")), () -> collection.get(new GetRequest()), () -> collection.peek(1),
          () -> collection.query(query), () -> collection.searchText(new TextSearchRequest("x")), collection::count,
          () -> collection.count(new CountRequest()), () -> collection.facets(new FacetsRequest("k")),
          () -> collection.contains(List.of("x")), collection::compact, collection::flush, collection::describe, collection::segments,
          () -> collection.modify(new ModifyOptions().name("other")), () -> collection.fork("other"));
      for (Executable call : calls) {
        assertEquals("collection \"docs\" is closed", assertThrows(IllegalStateException.class, call).getMessage());
        assertClosed(call);
      }
      assertEquals(3, client.getCollection("docs").count());
    }
  }

  @Test
  void everyCallOfAClosedClientIsRefusedAndSoAreThoseOfItsCollections() {
    Client client = Client.inMemory();
    Collection collection = filled(client, 3);
    client.close();
    client.close();
    List<Executable> calls = List.of(
        () -> client.createCollection("x"), () -> client.getCollection("docs"), () -> client.getCollectionById("x"),
        client::listCollections, () -> client.database().countCollections(), () -> client.deleteCollection("docs"),
        () -> client.createTenant("tenant"), () -> client.getTenant("tenant"), client::listTenants, () -> client.deleteTenant("tenant"),
        () -> client.createDatabase(null, "database"), () -> client.getDatabase(null, "database"), () -> client.listDatabases(null),
        () -> client.deleteDatabase(null, "database"), client::flush, client::compact, client::statistics,
        () -> client.backup(folder.resolve("backup")), () -> client.check(true), client::position, client::refresh,
        collection::count, () -> collection.get(new GetRequest()), () -> collection.add(Records.of("x").embeddings(new float[4])));
    for (Executable call : calls) {
      assertClosed(call);
    }
    collection.close();
  }

  @Test
  void parentsMayGoFirst() {
    Client client = Client.open(folder.resolve("store"));
    Collection collection = filled(client, 3);
    Collection fork = collection.fork("fork");
    client.close();
    collection.close();
    fork.close();
    try (Client again = Client.open(folder.resolve("store")); Collection docs = again.getCollection("fork")) {
      assertEquals(3, docs.count());
    }
  }

  @Test
  void nullIsRefusedWhereSomethingIsNeeded() {
    try (Client client = Client.inMemory(); Collection collection = filled(client, 3)) {
      List<Executable> calls = List.of(
          () -> client.createCollection(null), () -> client.getCollection(null), () -> client.createTenant(null),
          () -> client.backup(null), () -> collection.add(null), () -> collection.get(null), () -> collection.query(null),
          () -> collection.contains(null), () -> collection.fork(null), () -> collection.modify(null), () -> collection.count((CallOptions) null),
          () -> Records.of((List<String>) null), () -> Records.of("a").embeddings((Embeddings) null),
          () -> new QueryRequest().where(null), () -> new QueryRequest().texts((List<String>) null), () -> Where.eq(null, "x"),
          () -> Where.eq("x", (String) null), () -> Client.open(null), () -> CallOptions.NONE.withTimeout(null),
          () -> Embeddings.of((MemorySegment) null, 1, 1), () -> Embeddings.of(new float[][] {{1}, null}));
      for (Executable call : calls) {
        assertThrows(NullPointerException.class, call);
      }
      assertThrows(InvalidArgumentException.class, () -> collection.add(Records.of("a", null).embeddings(new float[4], new float[4])));
      assertEquals(3, collection.count());
    }
  }

  @Test
  void wrongArgumentsAreRefusedBeforeTheyReachMemory() {
    try (Client client = Client.inMemory(); Collection collection = filled(client, 3)) {
      float[] vector = {1, 2, 3, 4};
      assertEquals(1, assertThrows(InvalidArgumentException.class, () -> Embeddings.of(vector, new float[3])).row());
      assertThrows(InvalidArgumentException.class, () -> Embeddings.ofRows(vector, 3));
      assertThrows(InvalidArgumentException.class, () -> Embeddings.of(MemorySegment.ofArray(vector), 2, 4));
      assertThrows(InvalidArgumentException.class, () -> Embeddings.of(MemorySegment.ofArray(vector), Long.MAX_VALUE, 4));
      assertThrows(InvalidArgumentException.class, () -> Embeddings.of(MemorySegment.ofArray(vector), -1, 4));
      assertThrows(InvalidArgumentException.class, () -> collection.add(Records.of("a", "b").embeddings(vector)));
      assertThrows(InvalidArgumentException.class, () -> collection.add(Records.of("a").embeddings(vector).documents("x", "y")));
      assertThrows(InvalidArgumentException.class, () -> collection.add(Records.of("a\ud800").embeddings(vector)));
      assertThrows(InvalidArgumentException.class, () -> client.createCollection("\udc00aa"));
      assertThrows(InvalidArgumentException.class, () -> collection.query(new QueryRequest()));
      assertThrows(InvalidArgumentException.class, () -> collection.query(new QueryRequest().embeddings(vector).results(-1)));
      assertThrows(IllegalArgumentException.class, () -> Records.of("a").metadatas(Map.of("k", new Object())));
      assertThrows(IllegalArgumentException.class, () -> Where.eq("k", Double.NaN).toJson());
      assertThrows(ClassCastException.class, () -> collection.add(Records.of(untyped(List.of(1, 2))).embeddings(vector, vector)));
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment gone = arena.allocate(16, 4);
        Embeddings embeddings = Embeddings.of(gone, 1, 4);
        arena.close();
        assertThrows(IllegalStateException.class, () -> collection.add(Records.of("a").embeddings(embeddings)));
      } catch (IllegalStateException closedTwice) {
        assertTrue(closedTwice.getMessage().contains("closed"), closedTwice.getMessage());
      }
      assertEquals(3, collection.count());
    }
  }

  @SuppressWarnings("unchecked")
  private static List<String> untyped(List<?> list) {
    return (List<String>) list;
  }

  /** Eight threads call while others close what they call, again and again. */
  @Test
  void aStormOfCallsAndClosesEndsInAnswersAndRefusals() throws Exception {
    AtomicInteger answered = new AtomicInteger();
    AtomicInteger refused = new AtomicInteger();
    ConcurrentLinkedQueue<Throwable> wrong = new ConcurrentLinkedQueue<>();
    for (int round = 0; round < 40; ++round) {
      Client client = round % 2 == 0 ? Client.inMemory() : Client.open(folder.resolve("storm" + round));
      Collection collection = filled(client, 200);
      boolean closesClient = round % 4 < 2;
      CountDownLatch begin = new CountDownLatch(1);
      List<Thread> threads = new ArrayList<>();
      for (int thread = 0; thread < 8; ++thread) {
        int number = thread;
        threads.add(Thread.ofPlatform().start(() -> {
          try {
            begin.await();
            for (int call = 0; call < 200; ++call) {
              once(client, collection, number, call);
              answered.incrementAndGet();
            }
          } catch (IllegalStateException closed) {
            refused.incrementAndGet();
          } catch (Throwable other) {
            wrong.add(other);
          }
        }));
      }
      begin.countDown();
      Thread.sleep(ThreadLocalRandom.current().nextInt(4));
      if (closesClient) {
        client.close();
      } else {
        collection.close();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      collection.close();
      client.close();
    }
    assertEquals(List.of(), List.copyOf(wrong));
    assertTrue(answered.get() > 0 && refused.get() > 0, answered + " answered, " + refused + " refused");
  }

  private static void once(Client client, Collection collection, int thread, int call) {
    switch ((thread + call) % 5) {
      case 0 -> collection.upsert(Records.of("t" + thread + "c" + call).embeddings(new float[] {call, thread, 1, 2}));
      case 1 -> collection.query(new QueryRequest().embeddings(new float[] {call, 1, 2, 3}));
      case 2 -> collection.get(new GetRequest().limit(5).include(Include.EMBEDDINGS));
      case 3 -> collection.describe();
      default -> {
        collection.count();
        client.position();
      }
    }
  }

  @Test
  void aStormOfCancelsEndsInAnswersAndCancellations() throws Exception {
    try (Client client = Client.inMemory(); Collection collection = filled(client, 20_000)) {
      float[][] queries = new float[64][4];
      AtomicInteger answered = new AtomicInteger();
      AtomicInteger cancelled = new AtomicInteger();
      for (int round = 0; round < 60; ++round) {
        try (CancelToken token = new CancelToken()) {
          long pause = ThreadLocalRandom.current().nextLong(2_000_000);
          Thread canceller = Thread.ofPlatform().start(() -> {
            LockSupport.parkNanos(pause);
            token.cancel();
            token.cancel();
          });
          try {
            collection.query(
                new QueryRequest().embeddings(queries).results(100).recall(1).threads(1), CallOptions.NONE.withCancelToken(token));
            answered.incrementAndGet();
          } catch (CancelledException expected) {
            cancelled.incrementAndGet();
          }
          canceller.join();
          assertTrue(token.isCancelled());
          assertThrows(CancelledException.class, () -> collection.count(CallOptions.NONE.withCancelToken(token)));
        }
      }
      assertTrue(cancelled.get() > 0, answered + " answered, " + cancelled + " cancelled");
    }
  }

  @Test
  void aClosedTokenIsRefusedAndOneThatIsClosedInACallStaysUntilItsEnd() throws Exception {
    try (Client client = Client.inMemory(); Collection collection = filled(client, 3)) {
      CancelToken token = new CancelToken();
      token.close();
      token.close();
      token.cancel();
      assertClosed(token::isCancelled);
      assertClosed(() -> collection.count(CallOptions.NONE.withCancelToken(token)));
      AtomicBoolean over = new AtomicBoolean();
      Thread caller = Thread.ofPlatform().start(() -> {
        while (!over.get()) {
          CancelToken mine = new CancelToken();
          Thread closer = Thread.ofVirtual().start(mine::close);
          try {
            collection.count(CallOptions.NONE.withCancelToken(mine));
          } catch (IllegalStateException closedFirst) {
            // as it may
          }
          join(closer);
        }
      });
      Thread.sleep(300);
      over.set(true);
      caller.join();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aDeadlineThatHasPassedEndsTheCall() {
    try (Client client = Client.inMemory(); Collection collection = filled(client, 3)) {
      CallOptions past = CallOptions.NONE.withTimeout(Duration.ZERO);
      assertThrows(DeadlineExceededException.class, () -> collection.get(new GetRequest(), past));
      assertThrows(DeadlineExceededException.class,
          () -> collection.get(new GetRequest(), CallOptions.NONE.withTimeout(Duration.ofSeconds(-5))));
      assertEquals(3, collection.count(CallOptions.NONE.withTimeout(Duration.ofSeconds(60))));
      assertEquals(3, collection.count(CallOptions.NONE.withTimeout(Duration.ofDays(400_000))));
    }
  }

  /** Lists that another thread changes meanwhile may give any answer or error, but none that reads or writes past its memory. */
  @Test
  void listsThatChangeUnderACallDoNoHarm() throws Exception {
    try (Client client = Client.inMemory(); Collection collection = filled(client, 3)) {
      CopyOnWriteArrayList<String> ids = new CopyOnWriteArrayList<>();
      AtomicBoolean over = new AtomicBoolean();
      Thread changer = Thread.ofPlatform().start(() -> {
        while (!over.get()) {
          ids.addAll(List.of("a", "b", "c", "d", "e", "f", "g", "h"));
          ids.clear();
        }
      });
      for (int call = 0; call < 3000; ++call) {
        try {
          collection.contains(ids);
          collection.get(new GetRequest().ids(ids));
          collection.upsert(Records.of(ids).documents(ids).embeddings(new float[4]));
        } catch (PigmentException | IndexOutOfBoundsException refused) {
          // as it may
        }
      }
      over.set(true);
      changer.join();
      assertTrue(client.check(true).clean());
    }
  }

  @Test
  void whatIsForgottenIsFreedByTheCollector() throws Exception {
    WeakReference<Collection> forgotten;
    Path store = folder.resolve("forgotten");
    forgotten = forget(store);
    Client again = null;
    long end = System.nanoTime() + 20_000_000_000L;
    while (again == null) {
      System.gc();
      try {
        // Other options are refused as long as the first client's engine is there.
        again = Client.open(store, new OpenOptions().sync(SyncMode.OFF));
      } catch (PigmentException stillOpen) {
        assertTrue(System.nanoTime() < end, stillOpen.toString());
        Thread.sleep(10);
      }
    }
    try (Client reopened = again; Collection docs = reopened.getCollection("docs")) {
      assertEquals(3, docs.count());
    }
    assertTrue(forgotten.refersTo(null));
  }

  private static WeakReference<Collection> forget(Path store) {
    return new WeakReference<>(filled(Client.open(store), 3));
  }

  /** The collector runs all the time while objects die in calls that use them. */
  @Test
  void objectsThatDieInTheirLastCallLiveUntilItsEnd() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    Thread collector = Thread.ofPlatform().start(() -> {
      while (!over.get()) {
        System.gc();
      }
    });
    try (Client client = Client.inMemory(); Collection docs = filled(client, 500)) {
      for (int round = 0; round < 300; ++round) {
        assertEquals(10, client.getCollection("docs").query(new QueryRequest().embeddings(new float[] {1, 2, 3, 4})).rows(0).size());
        assertEquals(500, client.getCollection("docs").peek(1000, CallOptions.NONE.withCancelToken(new CancelToken())).ids().size());
      }
      assertFalse(docs.segments() == null);
    } finally {
      over.set(true);
      collector.join();
    }
  }
}
