// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;

/**
 * An open store: in a directory, or in memory. Any thread, concurrently; calls do not use Java's locks, but hold their thread, a virtual thread's
 * carrier too, until they return. After {@link #close} every call throws {@link IllegalStateException}.
 *
 * <p>{@snippet :
 * try (Client client = Client.open(Path.of("store"));
 *     Collection docs = client.getOrCreateCollection("docs", new CollectionOptions().space(Space.COSINE))) {
 *   docs.add(Records.of("a", "b").embeddings(new float[] {1, 0}, new float[] {0, 1}));
 *   docs.query(new QueryRequest().embeddings(new float[] {1, 0.1f}).results(1)).rows(0).ids(); // [a]
 * }
 * }
 */
public final class Client implements AutoCloseable {
  private final Handle handle;
  private final Database database;

  private Client(Handle handle, Scope scope) {
    this.handle = handle;
    this.database = new Database(handle, scope);
    handle.watch(this, true);
  }

  /**
   * Opens a store in memory, which is gone when it is closed.
   *
   * @return the store
   */
  public static Client inMemory() {
    return inMemory(new OpenOptions());
  }

  /**
   * Opens a store in memory.
   *
   * @param options how
   * @return the store
   */
  public static Client inMemory(OpenOptions options) {
    return open("", options, Scope.DEFAULT);
  }

  /**
   * Opens the store in a directory, which is made if it is missing.
   *
   * @param directory of the store
   * @return the store
   * @throws FailedPreconditionException when another process has it open for writing
   */
  public static Client open(Path directory) {
    return open(directory, new OpenOptions());
  }

  /**
   * Opens the store in a directory.
   *
   * @param directory of the store
   * @param options how
   * @return the store
   * @throws FailedPreconditionException when another process has it open for writing
   */
  public static Client open(Path directory, OpenOptions options) {
    return open(directory.toAbsolutePath().toString(), options, Scope.DEFAULT);
  }

  /**
   * Opens what the environment says: {@code PIGMENT_PATH} is the directory (absent or {@code :memory:}: in memory), {@code PIGMENT_TENANT} and
   * {@code PIGMENT_DATABASE} are where {@link #database()} and the calls for collections look. The others are those of {@link OpenOptions}:
   * {@code PIGMENT_SYNC_MODE} (full, interval, off), {@code PIGMENT_SYNC_INTERVAL_MS}, {@code PIGMENT_MEMORY_BUDGET_BYTES},
   * {@code PIGMENT_FLUSH_ROWS_MAX}, {@code PIGMENT_FLUSH_BYTES_MAX}, {@code PIGMENT_READ_ONLY}, {@code PIGMENT_MUST_EXIST},
   * {@code PIGMENT_RESERVE_BYTES}, {@code PIGMENT_BACKGROUND_THREADS}, {@code PIGMENT_ERASE_LOG}, {@code PIGMENT_MAP_FILES}; one that is
   * not understood is refused. The library itself reads no environment.
   *
   * @return the store
   */
  public static Client fromEnv() {
    return fromEnv(System.getenv());
  }

  /**
   * Opens what variables say.
   *
   * @param variables as {@link #fromEnv()} reads them from the environment; empty ones count as absent
   * @return the store
   */
  public static Client fromEnv(Map<String, String> variables) {
    Environment environment = new Environment(variables);
    return open(environment.path(), environment.options(), environment.scope());
  }

  private static Client open(String path, OpenOptions options, Scope scope) {
    try (Call call = new Call()) {
      MemorySegment text = call.utf8(path, "path");
      MemorySegment slot = call.slot();
      call.check(Functions.clientOpen(text, text.byteSize(), options.struct(call), slot, call.error()));
      String what = path.isEmpty() ? "store in memory" : "store \"" + path + "\"";
      return new Client(new Handle(what, slot.get(ADDRESS, 0), Functions::clientFree), scope);
    }
  }

  /**
   * Waits for writes that run, refuses later calls, and makes everything durable. Idempotent.
   *
   * @throws PigmentException when something could not be made durable
   */
  @Override
  public void close() {
    MemorySegment client = handle.acquireLast();
    if (client == null) {
      return;
    }
    try (Call call = new Call()) {
      call.check(Functions.clientClose(client, call.error()));
    } finally {
      handle.release();
    }
  }

  /**
   * The same calls as futures, on threads that all clients share.
   *
   * @return the asynchronous twin, of this store
   */
  public AsyncClient async() {
    return async(Background.shared());
  }

  /**
   * The same calls as futures.
   *
   * @param executor that runs them; each holds a thread until it returns
   * @return the asynchronous twin, of this store
   */
  public AsyncClient async(Executor executor) {
    return new AsyncClient(this, Objects.requireNonNull(executor, "executor"));
  }

  // ---- Collections of the default database ----

  /**
   * The default database, or what {@link #fromEnv()} said.
   *
   * @return its collections
   */
  public Database database() {
    return database;
  }

  /**
   * A database of the default tenant. Nothing is looked up yet.
   *
   * @param name of the database
   * @return its collections
   */
  public Database database(String name) {
    return new Database(handle, new Scope(null, Objects.requireNonNull(name, "name")));
  }

  /**
   * A database. Nothing is looked up yet.
   *
   * @param tenant that it belongs to; null: the default tenant
   * @param name of the database; null: the default database
   * @return its collections
   */
  public Database database(String tenant, String name) {
    return new Database(handle, new Scope(tenant, name));
  }

  /**
   * As {@link Database#createCollection(String)} of {@link #database()}.
   *
   * @param name of the new collection
   * @return the collection
   */
  public Collection createCollection(String name) {
    return database.createCollection(name);
  }

  /**
   * As {@link Database#createCollection(String, CollectionOptions)} of {@link #database()}.
   *
   * @param name of the new collection
   * @param options what it is like
   * @return the collection
   */
  public Collection createCollection(String name, CollectionOptions options) {
    return database.createCollection(name, options);
  }

  /**
   * As {@link Database#getOrCreateCollection} of {@link #database()}.
   *
   * @param name of the collection
   * @param options what it is like when it is new
   * @return the collection
   */
  public Collection getOrCreateCollection(String name, CollectionOptions options) {
    return database.getOrCreateCollection(name, options);
  }

  /**
   * As {@link Database#getCollection(String)} of {@link #database()}.
   *
   * @param name of the collection
   * @return the collection
   */
  public Collection getCollection(String name) {
    return database.getCollection(name);
  }

  /**
   * As {@link Database#getCollection(String, EmbeddingFunction)} of {@link #database()}.
   *
   * @param name of the collection
   * @param function that makes vectors of texts, or null
   * @return the collection
   */
  public Collection getCollection(String name, EmbeddingFunction function) {
    return database.getCollection(name, function);
  }

  /**
   * A collection of any database by its id.
   *
   * @param id as {@link CollectionInfo#id} gives it
   * @return the collection
   * @throws NotFoundException when there is none
   */
  public Collection getCollectionById(String id) {
    return getCollectionById(id, null);
  }

  /**
   * A collection of any database by its id.
   *
   * @param id as {@link CollectionInfo#id} gives it
   * @param function that makes vectors of texts, or null
   * @return the collection
   * @throws NotFoundException when there is none
   */
  public Collection getCollectionById(String id, EmbeddingFunction function) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment text = call.utf8(id, "id");
      MemorySegment slot = call.slot();
      Callbacks.Given given = new Callbacks.Given(call, function);
      call.check(given.after(
          Functions.clientGetCollectionById(client, text, text.byteSize(), given.struct(), slot, call.error())));
      return new Collection(id, slot.get(ADDRESS, 0));
    }
  }

  /**
   * As {@link Database#deleteCollection} of {@link #database()}.
   *
   * @param name of the collection
   */
  public void deleteCollection(String name) {
    database.deleteCollection(name);
  }

  /**
   * As {@link Database#listCollections()} of {@link #database()}.
   *
   * @return what they are like
   */
  public List<CollectionInfo> listCollections() {
    return database.listCollections();
  }

  // ---- Tenants and databases ----

  /**
   * Makes a tenant.
   *
   * @param name of 3 characters or more
   * @throws AlreadyExistsException when there is one of that name
   */
  public void createTenant(String name) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment text = call.utf8(name, "name");
      call.check(Functions.clientCreateTenant(client, text, text.byteSize(), call.error()));
    }
  }

  /**
   * Looks a tenant up.
   *
   * @param name of the tenant
   * @return its name
   * @throws NotFoundException when there is none
   */
  public String getTenant(String name) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment text = call.utf8(name, "name");
      MemorySegment slot = call.slot();
      call.check(Functions.clientGetTenant(client, text, text.byteSize(), slot, call.error()));
      return call.json(slot, json -> Json.text(Json.object(json), "name"));
    }
  }

  /**
   * All tenants.
   *
   * @return their names, in order
   */
  public List<String> listTenants() {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.clientListTenants(client, slot, call.error()));
      return call.json(slot, json -> ((List<?>) json).stream().map(String::valueOf).toList());
    }
  }

  /**
   * Deletes a tenant with all that is in it.
   *
   * @param name of the tenant
   * @throws NotFoundException when there is none
   */
  public void deleteTenant(String name) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment text = call.utf8(name, "name");
      call.check(Functions.clientDeleteTenant(client, text, text.byteSize(), call.error()));
    }
  }

  /**
   * Makes a database.
   *
   * @param tenant that it belongs to; null: the default tenant
   * @param name of 3 characters or more
   * @throws AlreadyExistsException when there is one of that name
   */
  public void createDatabase(String tenant, String name) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment of = call.utf8OrNull(tenant, "tenant");
      MemorySegment text = call.utf8(name, "name");
      call.check(Functions.clientCreateDatabase(client, of, of.byteSize(), text, text.byteSize(), call.error()));
    }
  }

  /**
   * Looks a database up.
   *
   * @param tenant that it belongs to; null: the default tenant
   * @param name of the database
   * @return what it is like
   * @throws NotFoundException when there is none
   */
  public DatabaseInfo getDatabase(String tenant, String name) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment of = call.utf8OrNull(tenant, "tenant");
      MemorySegment text = call.utf8(name, "name");
      MemorySegment slot = call.slot();
      call.check(Functions.clientGetDatabase(client, of, of.byteSize(), text, text.byteSize(), slot, call.error()));
      return call.json(slot, DatabaseInfo::of);
    }
  }

  /**
   * All databases of a tenant.
   *
   * @param tenant that they belong to; null: the default tenant
   * @return by name
   */
  public List<DatabaseInfo> listDatabases(String tenant) {
    return listDatabases(tenant, -1, 0);
  }

  /**
   * Some databases of a tenant.
   *
   * @param tenant that they belong to; null: the default tenant
   * @param limit at most so many; -1: all
   * @param offset how many are passed over
   * @return by name
   */
  public List<DatabaseInfo> listDatabases(String tenant, long limit, long offset) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment of = call.utf8OrNull(tenant, "tenant");
      MemorySegment slot = call.slot();
      call.check(Functions.clientListDatabases(client, of, of.byteSize(), limit, offset, slot, call.error()));
      return call.json(slot, json -> ((List<?>) json).stream().map(DatabaseInfo::of).toList());
    }
  }

  /**
   * Deletes a database with all that is in it.
   *
   * @param tenant that it belongs to; null: the default tenant
   * @param name of the database
   * @throws NotFoundException when there is none
   */
  public void deleteDatabase(String tenant, String name) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment of = call.utf8OrNull(tenant, "tenant");
      MemorySegment text = call.utf8(name, "name");
      call.check(Functions.clientDeleteDatabase(client, of, of.byteSize(), text, text.byteSize(), call.error()));
    }
  }

  // ---- Care ----

  /** Writes what is in memory alone into segments, of all collections. */
  public void flush() {
    flush(CallOptions.NONE);
  }

  /**
   * Writes what is in memory alone into segments, of all collections. One that ends early leaves those as they were that it did not
   * come to.
   *
   * @param options how it may end early
   */
  public void flush(CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      call.check(Functions.clientFlushWith(client, call.options(options), call.error()));
    }
  }

  /**
   * Merges the segments of all collections as far as that saves anything, and gives their disk space back.
   *
   * @return the sums
   */
  public Compaction compact() {
    return compact(CallOptions.NONE);
  }

  /**
   * Merges the segments of all collections.
   *
   * @param options how it may end early
   * @return the sums
   */
  public Compaction compact(CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment result = call.struct(Structs.Compaction.SIZE);
      call.check(Functions.clientCompact(client, call.options(options), result, call.error()));
      return Compaction.of(result);
    }
  }

  /**
   * How the store is. Members are only ever added: version, position, log, catalog, memory, maintenance, formats, migrations.
   *
   * @return numbers and texts by name
   */
  public Map<String, Object> statistics() {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.clientStatistics(client, slot, call.error()));
      return call.json(slot, TextList::metadata);
    }
  }

  /**
   * Copies the store as it is at one moment, while writers go on. The copy is verified on its way.
   *
   * @param directory missing, empty, or left by a backup that did not finish
   * @return what was copied
   * @throws AlreadyExistsException when there is a store already
   */
  public BackupReport backup(Path directory) {
    return backup(directory, CallOptions.NONE);
  }

  /**
   * Copies the store as it is at one moment.
   *
   * @param directory missing, empty, or left by a backup that did not finish
   * @param options how it may end early
   * @return what was copied
   */
  public BackupReport backup(Path directory, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment path = call.utf8(directory.toAbsolutePath().toString(), "directory");
      MemorySegment slot = call.slot();
      call.check(Functions.clientBackup(client, path, path.byteSize(), call.options(options), slot, call.error()));
      return call.json(slot, BackupReport::of);
    }
  }

  /**
   * Reads every byte and compares everything with everything; changes nothing, and succeeds whatever it finds.
   *
   * @param full every row is searched for by its own vector, else a sample
   * @return what it found
   */
  public CheckReport check(boolean full) {
    return check(full, CallOptions.NONE);
  }

  /**
   * Reads every byte and compares everything with everything.
   *
   * @param full every row is searched for by its own vector, else a sample
   * @param options how it may end early
   * @return what it found
   */
  public CheckReport check(boolean full, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.clientCheck(client, full, call.options(options), slot, call.error()));
      return call.json(slot, CheckReport::of);
    }
  }

  /**
   * The last position of the log that is visible.
   *
   * @return the position
   */
  public long position() {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.clientPosition(client, slot, call.error()));
      return slot.get(JAVA_LONG, 0);
    }
  }

  /**
   * A read-only store catches up with its writer.
   *
   * @return the position that it reached
   */
  public long refresh() {
    try (Call call = new Call()) {
      MemorySegment client = call.use(handle);
      MemorySegment slot = call.slot();
      call.check(Functions.clientRefresh(client, slot, call.error()));
      return slot.get(JAVA_LONG, 0);
    }
  }
}
