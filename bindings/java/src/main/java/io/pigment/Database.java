// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

/** The collections of one database of a tenant. Nothing to close; it works as long as its client is open. Any thread. */
public final class Database {
  private final Handle client;
  private final Scope scope;

  Database(Handle client, Scope scope) {
    this.client = client;
    this.scope = scope;
  }

  /**
   * Makes a collection with the defaults.
   *
   * @param name that no collection of the database has
   * @return the collection
   * @throws AlreadyExistsException when there is one of that name
   */
  public Collection createCollection(String name) {
    return createCollection(name, new CollectionOptions());
  }

  /**
   * Makes a collection.
   *
   * @param name that no collection of the database has
   * @param options what it is like
   * @return the collection
   * @throws AlreadyExistsException when there is one of that name
   */
  public Collection createCollection(String name, CollectionOptions options) {
    return create(name, options, false);
  }

  /**
   * The collection of that name as it is, or a new one.
   *
   * @param name of the collection
   * @param options what it is like when it is new; its function must not conflict with that of one that exists
   * @return the collection
   */
  public Collection getOrCreateCollection(String name, CollectionOptions options) {
    return create(name, options, true);
  }

  private Collection create(String name, CollectionOptions options, boolean getOrCreate) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(client);
      MemorySegment text = call.utf8(Objects.requireNonNull(name, "name"), "name");
      MemorySegment place = scope.struct(call);
      MemorySegment slot = call.slot();
      MemorySegment struct = options.struct(call, getOrCreate);
      Callbacks.Given given = new Callbacks.Given(call, options.function());
      struct.set(ADDRESS, Structs.CollectionOptions.EMBEDDING_FUNCTION, given.struct());
      call.check(given.after(
          Functions.clientCreateCollection(of, place, text, text.byteSize(), struct, slot, call.error())));
      return new Collection(name, slot.get(ADDRESS, 0));
    }
  }

  /**
   * A collection, which takes vectors; texts need a function.
   *
   * @param name of the collection
   * @return the collection
   * @throws NotFoundException when there is none
   */
  public Collection getCollection(String name) {
    return getCollection(name, null);
  }

  /**
   * A collection with the function that makes vectors of texts.
   *
   * @param name of the collection
   * @param function of the name that the catalog has, or null
   * @return the collection
   * @throws NotFoundException when there is none
   */
  public Collection getCollection(String name, EmbeddingFunction function) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(client);
      MemorySegment text = call.utf8(Objects.requireNonNull(name, "name"), "name");
      MemorySegment place = scope.struct(call);
      MemorySegment slot = call.slot();
      Callbacks.Given given = new Callbacks.Given(call, function);
      call.check(given.after(
          Functions.clientGetCollection(of, place, text, text.byteSize(), given.struct(), slot, call.error())));
      return new Collection(name, slot.get(ADDRESS, 0));
    }
  }

  /**
   * All collections.
   *
   * @return what they are like, by id
   */
  public List<CollectionInfo> listCollections() {
    return listCollections(-1, 0);
  }

  /**
   * Some collections.
   *
   * @param limit at most so many; -1: all
   * @param offset how many are passed over
   * @return what they are like, by id
   */
  public List<CollectionInfo> listCollections(long limit, long offset) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(client);
      MemorySegment slot = call.slot();
      call.check(Functions.clientListCollections(of, scope.struct(call), limit, offset, slot, call.error()));
      return call.json(slot, json -> ((List<?>) json).stream().map(CollectionInfo::of).toList());
    }
  }

  /**
   * How many collections there are.
   *
   * @return their number
   */
  public long countCollections() {
    try (Call call = new Call()) {
      MemorySegment of = call.use(client);
      MemorySegment slot = call.slot();
      call.check(Functions.clientCountCollections(of, scope.struct(call), slot, call.error()));
      return slot.get(JAVA_LONG, 0);
    }
  }

  /**
   * Deletes a collection with all records. Objects that stand for it throw {@link NotFoundException} from then on.
   *
   * @param name of the collection
   * @throws NotFoundException when there is none
   */
  public void deleteCollection(String name) {
    try (Call call = new Call()) {
      MemorySegment of = call.use(client);
      MemorySegment text = call.utf8(Objects.requireNonNull(name, "name"), "name");
      call.check(Functions.clientDeleteCollection(of, scope.struct(call), text, text.byteSize(), call.error()));
    }
  }
}
