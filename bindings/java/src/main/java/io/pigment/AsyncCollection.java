// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The calls of a {@link Collection} that may take long, as futures. Any thread.
 *
 * <p>Completing a future before its call has, by {@code cancel}, {@code orTimeout} or {@code complete}, ends the call; a call that has not begun does not
 * begin. Cancel the future that was returned here: one made from it by {@code thenApply} passes nothing on. Requests must not change until the future is complete.
 */
public final class AsyncCollection {
  private final Collection collection;
  private final Executor executor;

  AsyncCollection(Collection collection, Executor executor) {
    this.collection = collection;
    this.executor = executor;
  }

  /**
   * Adds records. Those whose ids exist are left as they are. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @return what was written, later
   */
  public CompletableFuture<WriteResult> add(Records records) {
    return add(records, CallOptions.NONE);
  }

  /**
   * Adds records. Those whose ids exist are left as they are. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @param options how the call may end early
   * @return what was written, later
   */
  public CompletableFuture<WriteResult> add(Records records, CallOptions options) {
    return Background.start(executor, options, started -> collection.add(records, started));
  }

  /**
   * Changes records; ids that do not exist are skipped. Metadata merges by key. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @return what was written, later
   */
  public CompletableFuture<WriteResult> update(Records records) {
    return update(records, CallOptions.NONE);
  }

  /**
   * Changes records; ids that do not exist are skipped. Metadata merges by key. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @param options how the call may end early
   * @return what was written, later
   */
  public CompletableFuture<WriteResult> update(Records records, CallOptions options) {
    return Background.start(executor, options, started -> collection.update(records, started));
  }

  /**
   * Adds records, or changes those that exist. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @return what was written, later
   */
  public CompletableFuture<WriteResult> upsert(Records records) {
    return upsert(records, CallOptions.NONE);
  }

  /**
   * Adds records, or changes those that exist. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @param options how the call may end early
   * @return what was written, later
   */
  public CompletableFuture<WriteResult> upsert(Records records, CallOptions options) {
    return Background.start(executor, options, started -> collection.upsert(records, started));
  }

  /**
   * Deletes the records that are in the ids and match the filters.
   *
   * @param request ids, filters or both
   * @return what was deleted, later
   */
  public CompletableFuture<WriteResult> delete(DeleteRequest request) {
    return delete(request, CallOptions.NONE);
  }

  /**
   * Deletes the records that are in the ids and match the filters.
   *
   * @param request ids, filters or both
   * @param options how the call may end early
   * @return what was deleted, later
   */
  public CompletableFuture<WriteResult> delete(DeleteRequest request, CallOptions options) {
    return Background.start(executor, options, started -> collection.delete(request, started));
  }

  /**
   * Reads records, in the order of their insertion unless another is asked for.
   *
   * @param request which records, and what of them
   * @return the records; ids that do not exist are left out, later
   */
  public CompletableFuture<GetResult> get(GetRequest request) {
    return get(request, CallOptions.NONE);
  }

  /**
   * Reads records, in the order of their insertion unless another is asked for.
   *
   * @param request which records, and what of them
   * @param options how the call may end early
   * @return the records; ids that do not exist are left out, later
   */
  public CompletableFuture<GetResult> get(GetRequest request, CallOptions options) {
    return Background.start(executor, options, started -> collection.get(request, started));
  }

  /**
   * The first records with documents, metadata and embeddings.
   *
   * @param limit how many at most
   * @return the records, later
   */
  public CompletableFuture<GetResult> peek(long limit) {
    return peek(limit, CallOptions.NONE);
  }

  /**
   * The first records with documents, metadata and embeddings.
   *
   * @param limit how many at most
   * @param options how the call may end early
   * @return the records, later
   */
  public CompletableFuture<GetResult> peek(long limit, CallOptions options) {
    return Background.start(executor, options, started -> collection.peek(limit, started));
  }

  /**
   * For each query the nearest records, ascending by distance, ties in the order of insertion.
   *
   * @param request what is searched for, and where
   * @return the records, later
   */
  public CompletableFuture<QueryResult> query(QueryRequest request) {
    return query(request, CallOptions.NONE);
  }

  /**
   * For each query the nearest records, ascending by distance, ties in the order of insertion.
   *
   * @param request what is searched for, and where
   * @param options how the call may end early
   * @return the records, later
   */
  public CompletableFuture<QueryResult> query(QueryRequest request, CallOptions options) {
    return Background.start(executor, options, started -> collection.query(request, started));
  }

  /**
   * For each query the records whose documents fit best, descending by score.
   *
   * @param request what is searched for, and where
   * @return the records, later
   */
  public CompletableFuture<QueryResult> searchText(TextSearchRequest request) {
    return searchText(request, CallOptions.NONE);
  }

  /**
   * For each query the records whose documents fit best, descending by score.
   *
   * @param request what is searched for, and where
   * @param options how the call may end early
   * @return the records, later
   */
  public CompletableFuture<QueryResult> searchText(TextSearchRequest request, CallOptions options) {
    return Background.start(executor, options, started -> collection.searchText(request, started));
  }

  /**
   * How many records there are.
   *
   * @return their number, later
   */
  public CompletableFuture<Long> count() {
    return count(CallOptions.NONE);
  }

  /**
   * How many records there are.
   *
   * @param options how the call may end early
   * @return their number, later
   */
  public CompletableFuture<Long> count(CallOptions options) {
    return Background.start(executor, options, started -> collection.count(started));
  }

  /**
   * How many records are in the ids and match the filters.
   *
   * @param request which records
   * @return their number, later
   */
  public CompletableFuture<Long> count(CountRequest request) {
    return count(request, CallOptions.NONE);
  }

  /**
   * How many records are in the ids and match the filters.
   *
   * @param request which records
   * @param options how the call may end early
   * @return their number, later
   */
  public CompletableFuture<Long> count(CountRequest request, CallOptions options) {
    return Background.start(executor, options, started -> collection.count(request, started));
  }

  /**
   * How many of the records have each value of some keys.
   *
   * @param request the keys, and which records
   * @return of each key its values, the most frequent first, later
   */
  public CompletableFuture<Map<String, List<FacetValue>>> facets(FacetsRequest request) {
    return facets(request, CallOptions.NONE);
  }

  /**
   * How many of the records have each value of some keys.
   *
   * @param request the keys, and which records
   * @param options how the call may end early
   * @return of each key its values, the most frequent first, later
   */
  public CompletableFuture<Map<String, List<FacetValue>>> facets(FacetsRequest request, CallOptions options) {
    return Background.start(executor, options, started -> collection.facets(request, started));
  }

  /**
   * Which ids are there. Reads no record.
   *
   * @param ids one or more, perhaps twice
   * @return for each id whether there is such a record, later
   */
  public CompletableFuture<boolean[]> contains(List<String> ids) {
    return contains(ids, CallOptions.NONE);
  }

  /**
   * Which ids are there. Reads no record.
   *
   * @param ids one or more, perhaps twice
   * @param options how the call may end early
   * @return for each id whether there is such a record, later
   */
  public CompletableFuture<boolean[]> contains(List<String> ids, CallOptions options) {
    return Background.start(executor, options, started -> collection.contains(ids, started));
  }

  /**
   * Merges its segments as far as that saves anything, and gives their disk space back.
   *
   * @return what was merged, later
   */
  public CompletableFuture<Compaction> compact() {
    return compact(CallOptions.NONE);
  }

  /**
   * Merges its segments as far as that saves anything, and gives their disk space back.
   *
   * @param options how the call may end early
   * @return what was merged, later
   */
  public CompletableFuture<Compaction> compact(CallOptions options) {
    return Background.start(executor, options, started -> collection.compact(started));
  }

  /**
   * Writes what is in memory alone into a segment.
   *
   * @return nothing, later
   */
  public CompletableFuture<Void> flush() {
    return flush(CallOptions.NONE);
  }

  /**
   * Writes what is in memory alone into a segment.
   *
   * @param options how it may end early
   * @return nothing, later
   */
  public CompletableFuture<Void> flush(CallOptions options) {
    return Background.start(executor, options, started -> {
      collection.flush(started);
      return null;
    });
  }
}
