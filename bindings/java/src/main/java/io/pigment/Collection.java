// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;

/**
 * Records (id, embedding, document, metadata, uri) under a name. Any thread, concurrently. It survives a rename, and throws
 * {@link NotFoundException} when the collection was deleted. After {@link #close}, and after its client's, every call throws
 * {@link IllegalStateException}; calls that run then go on to their end.
 */
public final class Collection implements AutoCloseable {
  private final Handle handle;

  /** `what` is named where the object is used after close. */
  Collection(String what, MemorySegment pointer) {
    handle = new Handle("collection \"" + what + "\"", pointer, Functions::collectionFree);
    handle.watch(this, false);
  }

  /** Frees the object, not the collection. Idempotent. An object that is forgotten is closed by the collector. */
  @Override
  public void close() {
    handle.tryClose();
  }

  /**
   * The same calls as futures, on threads that all clients share.
   *
   * @return the asynchronous twin, of this object
   */
  public AsyncCollection async() {
    return async(Background.shared());
  }

  /**
   * The same calls as futures.
   *
   * @param executor that runs them; each holds a thread until it returns
   * @return the asynchronous twin, of this object
   */
  public AsyncCollection async(Executor executor) {
    return new AsyncCollection(this, Objects.requireNonNull(executor, "executor"));
  }

  /**
   * What the collection is like now.
   *
   * @return id, name, metadata, configuration and so on
   */
  public CollectionInfo describe() {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.collectionDescribe(of, slot, call.error()));
      return call.json(slot, CollectionInfo::of);
    }
  }

  /**
   * Changes name, metadata or configuration.
   *
   * @param options what changes
   */
  public void modify(ModifyOptions options) {
    try (Call call = new Call()) {
      call.check(Functions.collectionModify(call.use(handle), options.struct(call), call.error()));
    }
  }

  /**
   * A new collection with the same records. Segments are shared, later writes are not.
   *
   * @param newName that no collection of the database has
   * @return the new collection
   */
  public Collection fork(String newName) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment name = call.utf8(newName, "new name");
      MemorySegment slot = call.slot();
      call.check(Functions.collectionFork(of, name, name.byteSize(), slot, call.error()));
      return new Collection(newName, slot.get(ADDRESS, 0));
    }
  }

  /** Writes what is in memory alone into a segment. */
  public void flush() {
    flush(CallOptions.NONE);
  }

  /**
   * Writes what is in memory alone into a segment. One that ends early changes nothing.
   *
   * @param options how it may end early
   */
  public void flush(CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      call.check(Functions.collectionFlushWith(of, call.options(options), call.error()));
    }
  }

  /**
   * Its segments; what was written since the last flush is in none.
   *
   * @return in the order of their first flush
   */
  public List<Segment> segments() {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.collectionSegments(of, slot, call.error()));
      return call.json(slot, json -> Json.objects(json).stream().map(Segment::of).toList());
    }
  }

  /**
   * Adds records. Those whose ids exist are left as they are. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @return what was written
   * @throws InvalidArgumentException when a record is refused; {@link PigmentException#row} says which
   */
  public WriteResult add(Records records) {
    return add(records, CallOptions.NONE);
  }

  /**
   * Adds records. Those whose ids exist are left as they are. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @param options how the call may end early, and what a read must have seen
   * @return what was written
   * @throws InvalidArgumentException when a record is refused; {@link PigmentException#row} says which
   */
  public WriteResult add(Records records, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment result = call.struct(Structs.WriteResult.SIZE);
      call.check(Functions.collectionAdd(of, records.struct(call), call.options(options), result, call.error()));
      return WriteResult.of(result);
    }
  }

  /**
   * Changes records; ids that do not exist are skipped. Metadata merges by key. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @return what was written
   */
  public WriteResult update(Records records) {
    return update(records, CallOptions.NONE);
  }

  /**
   * Changes records; ids that do not exist are skipped. Metadata merges by key. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @param options how the call may end early, and what a read must have seen
   * @return what was written
   */
  public WriteResult update(Records records, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment result = call.struct(Structs.WriteResult.SIZE);
      call.check(Functions.collectionUpdate(of, records.struct(call), call.options(options), result, call.error()));
      return WriteResult.of(result);
    }
  }

  /**
   * Adds records, or changes those that exist. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @return what was written
   */
  public WriteResult upsert(Records records) {
    return upsert(records, CallOptions.NONE);
  }

  /**
   * Adds records, or changes those that exist. All of a batch is durable and visible, or none.
   *
   * @param records a batch
   * @param options how the call may end early, and what a read must have seen
   * @return what was written
   */
  public WriteResult upsert(Records records, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment result = call.struct(Structs.WriteResult.SIZE);
      call.check(Functions.collectionUpsert(of, records.struct(call), call.options(options), result, call.error()));
      return WriteResult.of(result);
    }
  }

  /**
   * Deletes the records that are in the ids and match the filters.
   *
   * @param request ids, filters or both
   * @return what was deleted
   */
  public WriteResult delete(DeleteRequest request) {
    return delete(request, CallOptions.NONE);
  }

  /**
   * Deletes the records that are in the ids and match the filters.
   *
   * @param request ids, filters or both
   * @param options how the call may end early, and what a read must have seen
   * @return what was deleted
   */
  public WriteResult delete(DeleteRequest request, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment result = call.struct(Structs.WriteResult.SIZE);
      call.check(Functions.collectionDelete(of, request.struct(call), call.options(options), result, call.error()));
      return WriteResult.of(result);
    }
  }

  /**
   * Reads records, in the order of their insertion unless another is asked for.
   *
   * @param request which records, and what of them
   * @return the records; ids that do not exist are left out
   */
  public GetResult get(GetRequest request) {
    return get(request, CallOptions.NONE);
  }

  /**
   * Reads records, in the order of their insertion unless another is asked for.
   *
   * @param request which records, and what of them
   * @param options how the call may end early, and what a read must have seen
   * @return the records; ids that do not exist are left out
   */
  public GetResult get(GetRequest request, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.collectionGet(of, request.struct(call), call.options(options), slot, call.error()));
      return Results.get(call, slot.get(ADDRESS, 0));
    }
  }

  /**
   * The first records with documents, metadata and embeddings.
   *
   * @param limit how many at most
   * @return the records
   */
  public GetResult peek(long limit) {
    return peek(limit, CallOptions.NONE);
  }

  /**
   * The first records with documents, metadata and embeddings.
   *
   * @param limit how many at most
   * @param options how the call may end early, and what a read must have seen
   * @return the records
   */
  public GetResult peek(long limit, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.collectionPeek(of, limit, call.options(options), slot, call.error()));
      return Results.get(call, slot.get(ADDRESS, 0));
    }
  }

  /**
   * For each query the nearest records, ascending by distance, ties in the order of insertion.
   *
   * @param request what is searched for, and where
   * @return the records
   */
  public QueryResult query(QueryRequest request) {
    return query(request, CallOptions.NONE);
  }

  /**
   * For each query the nearest records, ascending by distance, ties in the order of insertion.
   *
   * @param request what is searched for, and where
   * @param options how the call may end early, and what a read must have seen
   * @return the records
   */
  public QueryResult query(QueryRequest request, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.collectionQuery(of, request.struct(call), call.options(options), slot, call.error()));
      return Results.query(call, slot.get(ADDRESS, 0));
    }
  }

  /**
   * For each query the records whose documents fit best, descending by score.
   *
   * @param request what is searched for, and where
   * @return the records
   * @throws FailedPreconditionException when the collection has no text index
   */
  public QueryResult searchText(TextSearchRequest request) {
    return searchText(request, CallOptions.NONE);
  }

  /**
   * For each query the records whose documents fit best, descending by score.
   *
   * @param request what is searched for, and where
   * @param options how the call may end early, and what a read must have seen
   * @return the records
   * @throws FailedPreconditionException when the collection has no text index
   */
  public QueryResult searchText(TextSearchRequest request, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.collectionSearchText(of, request.struct(call), call.options(options), slot, call.error()));
      return Results.query(call, slot.get(ADDRESS, 0));
    }
  }

  /**
   * How many records there are.
   *
   * @return their number
   */
  public long count() {
    return count(CallOptions.NONE);
  }

  /**
   * How many records there are.
   *
   * @param options how the call may end early, and what a read must have seen
   * @return their number
   */
  public long count(CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.collectionCount(of, call.options(options), slot, call.error()));
      return slot.get(JAVA_LONG, 0);
    }
  }

  /**
   * How many records are in the ids and match the filters.
   *
   * @param request which records
   * @return their number
   */
  public long count(CountRequest request) {
    return count(request, CallOptions.NONE);
  }

  /**
   * How many records are in the ids and match the filters.
   *
   * @param request which records
   * @param options how the call may end early, and what a read must have seen
   * @return their number
   */
  public long count(CountRequest request, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.collectionCountWhere(of, request.struct(call), call.options(options), slot, call.error()));
      return slot.get(JAVA_LONG, 0);
    }
  }

  /**
   * How many of the records have each value of some keys.
   *
   * @param request the keys, and which records
   * @return of each key its values, the most frequent first
   */
  public Map<String, List<FacetValue>> facets(FacetsRequest request) {
    return facets(request, CallOptions.NONE);
  }

  /**
   * How many of the records have each value of some keys.
   *
   * @param request the keys, and which records
   * @param options how the call may end early, and what a read must have seen
   * @return of each key its values, the most frequent first
   */
  public Map<String, List<FacetValue>> facets(FacetsRequest request, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.collectionFacets(of, request.struct(call), call.options(options), slot, call.error()));
      return call.json(slot, FacetValue::of);
    }
  }

  /**
   * Which ids are there. Reads no record.
   *
   * @param ids one or more, perhaps twice
   * @return for each id whether there is such a record
   */
  public boolean[] contains(List<String> ids) {
    return contains(ids, CallOptions.NONE);
  }

  /**
   * Which ids are there. Reads no record.
   *
   * @param ids one or more, perhaps twice
   * @param options how the call may end early, and what a read must have seen
   * @return for each id whether there is such a record
   */
  public boolean[] contains(List<String> ids, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment column = call.allocate(Structs.TextColumn.SIZE);
      int count = Texts.put(call, column, 0, Objects.requireNonNull(ids, "ids"), "ids");
      MemorySegment present = call.allocate(count);
      call.check(Functions.collectionContains(of, count, column, call.options(options), present, call.error()));
      boolean[] answer = new boolean[count];
      for (int row = 0; row < answer.length; ++row) {
        answer[row] = present.get(JAVA_BYTE, row) != 0;
      }
      return answer;
    }
  }

  /**
   * Merges its segments as far as that saves anything, and gives their disk space back.
   *
   * @return what was merged
   */
  public Compaction compact() {
    return compact(CallOptions.NONE);
  }

  /**
   * Merges its segments as far as that saves anything, and gives their disk space back.
   *
   * @param options how the call may end early, and what a read must have seen
   * @return what was merged
   */
  public Compaction compact(CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(handle);
      MemorySegment result = call.struct(Structs.Compaction.SIZE);
      call.check(Functions.collectionCompact(of, call.options(options), result, call.error()));
      return Compaction.of(result);
    }
  }
}
