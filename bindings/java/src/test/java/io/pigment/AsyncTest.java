// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AsyncTest {
  private static final int ROWS = 50_000;
  private Client client;
  private Collection docs;

  @BeforeEach
  void fill() {
    client = Client.inMemory();
    docs = client.createCollection("docs");
    List<String> ids = new ArrayList<>();
    for (int row = 0; row < ROWS; ++row) {
      ids.add("id" + row);
    }
    docs.add(Records.of(ids).embeddings(Embeddings.ofRows(new float[ROWS * 8], 8)));
  }

  @AfterEach
  void close() {
    docs.close();
    client.close();
  }

  /** Takes some seconds when nobody ends it. */
  private static QueryRequest slow() {
    return new QueryRequest().embeddings(Embeddings.ofRows(new float[2000 * 8], 8)).recall(1).results(1000).threads(1)
        .include();
  }

  @Test
  void everyTwinGivesWhatItsCallGives(@TempDir Path folder) throws Exception {
    AsyncCollection async = docs.async();
    assertEquals(1, async.add(Records.of("new").embeddings(new float[8]).documents("some words")).get().inserted());
    assertEquals(1, async.update(Records.of("new").uris("file:///x")).get().updated());
    assertEquals(1, async.upsert(Records.of("new").embeddings(new float[8]).metadatas(Map.of("k", 1))).get().updated());
    assertEquals("file:///x", async.get(new GetRequest().ids("new").include(Include.URIS)).get().rows().row(0).uri());
    assertEquals(2, async.peek(2).get().rows().size());
    assertEquals(ROWS + 1, async.count().get());
    assertEquals(1, async.count(new CountRequest().where(Where.eq("k", 1))).get());
    assertEquals(List.of(new FacetValue(1L, 1)), async.facets(new FacetsRequest("k")).get().get("k"));
    assertTrue(async.contains(List.of("new")).get()[0]);
    assertEquals(3, async.query(new QueryRequest().embeddings(new float[8]).results(3)).get().rows(0).size());
    assertEquals(1, async.delete(new DeleteRequest().ids("new")).get().deleted());
    async.flush().get();
    assertEquals(ROWS, async.compact().get().records());
    assertInstanceOf(FailedPreconditionException.class,
        assertThrows(ExecutionException.class, () -> async.searchText(new TextSearchRequest("x")).get()).getCause());
    assertEquals(true, client.async().check(false).get().clean());
    assertEquals(1, client.async().backup(folder.resolve("copy")).get().collections());
    assertTrue(client.async().compact().get().segmentsOut() >= 1);
    client.async().flush().get();
    client.async().close().get();
    assertInstanceOf(IllegalStateException.class, assertThrows(ExecutionException.class, () -> async.count().get()).getCause());
  }

  @Test
  void cancellingAFutureEndsItsCall() throws Exception {
    AtomicReference<Throwable> ended = new AtomicReference<>();
    CountDownLatch done = new CountDownLatch(1);
    try (var threads = Executors.newSingleThreadExecutor()) {
      CountDownLatch begun = new CountDownLatch(1);
      CompletableFuture<QueryResult> future = Background.start(threads, CallOptions.NONE, options -> {
        begun.countDown();
        try {
          return docs.query(slow(), options);
        } catch (RuntimeException thrown) {
          ended.set(thrown);
          throw thrown;
        } finally {
          done.countDown();
        }
      });
      begun.await();
      Thread.sleep(20);
      long start = System.nanoTime();
      assertTrue(future.cancel(true));
      assertThrows(CancellationException.class, future::get);
      assertTrue(done.await(10, TimeUnit.SECONDS));
      assertInstanceOf(CancelledException.class, ended.get());
      assertTrue(System.nanoTime() - start < 1_000_000_000L, "the call went on after the cancel");
    }
  }

  @Test
  void aTimeoutOfTheFutureEndsItsCallToo() {
    CompletableFuture<QueryResult> future = docs.async().query(slow()).orTimeout(20, TimeUnit.MILLISECONDS);
    assertInstanceOf(TimeoutException.class, assertThrows(ExecutionException.class, future::get).getCause());
    assertEquals(ROWS, docs.async().count().join());
  }

  @Test
  void theTimeOfTheOptionsBeginsWhenTheFutureIsMade() throws Exception {
    try (var threads = Executors.newSingleThreadExecutor()) {
      CountDownLatch hold = new CountDownLatch(1);
      threads.execute(() -> await(hold));
      CompletableFuture<Long> late = docs.async(threads).count(CallOptions.NONE.withTimeout(Duration.ofMillis(30)));
      Thread.sleep(60);
      hold.countDown();
      assertInstanceOf(DeadlineExceededException.class, assertThrows(ExecutionException.class, late::get).getCause());
    }
  }

  @Test
  void aTokenOfTheCallerEndsTheCallAndTheFutureLeavesItAlone() throws Exception {
    try (CancelToken token = new CancelToken()) {
      CallOptions options = CallOptions.NONE.withCancelToken(token);
      assertEquals(ROWS, docs.async().count(options).get());
      CompletableFuture<QueryResult> cancelled = docs.async().query(slow(), options);
      cancelled.cancel(false);
      assertEquals(false, token.isCancelled());
      CompletableFuture<QueryResult> ended = docs.async().query(slow(), options);
      token.cancel();
      assertInstanceOf(CancelledException.class, assertThrows(CompletionException.class, ended::join).getCause());
      assertThrows(ExecutionException.class, () -> docs.async().count(options).get());
    }
  }

  @Test
  void aFutureThatWasCancelledBeforeItsTurnDoesNotBegin() throws Exception {
    try (var threads = Executors.newSingleThreadExecutor()) {
      CountDownLatch hold = new CountDownLatch(1);
      threads.execute(() -> await(hold));
      List<CompletableFuture<WriteResult>> futures = new ArrayList<>();
      for (int i = 0; i < 100; ++i) {
        futures.add(docs.async(threads).add(Records.of("late" + i).embeddings(new float[8])));
      }
      futures.forEach(future -> future.cancel(false));
      hold.countDown();
    }
    assertEquals(ROWS, docs.count());
  }

  @Test
  void anExecutorThatRefusesFailsTheFuture() {
    var threads = Executors.newSingleThreadExecutor();
    threads.shutdown();
    assertInstanceOf(RejectedExecutionException.class,
        assertThrows(ExecutionException.class, () -> docs.async(threads).count().get()).getCause());
  }

  /** On virtual threads too, which hold their carriers meanwhile. */
  @Test
  void aStormOfFuturesAndCancelsEnds() {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<CompletableFuture<?>> futures = new ArrayList<>();
      for (int i = 0; i < 400; ++i) {
        AsyncCollection async = i % 2 == 0 ? docs.async() : docs.async(threads);
        CompletableFuture<?> future = i % 5 == 0 ? async.query(slow()) : async.count();
        futures.add(future);
        if (i % 5 == 0) {
          future.cancel(true);
        }
      }
      for (int i = 0; i < futures.size(); ++i) {
        CompletableFuture<?> future = futures.get(i);
        if (i % 5 == 0) {
          assertThrows(CancellationException.class, future::join);
        } else {
          assertEquals((long) ROWS, future.join());
        }
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }
}
