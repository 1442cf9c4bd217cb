// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The calls of a {@link Client} that may take long, as futures; the others return at once. Any thread.
 *
 * <p>Completing a future before its call has, by {@code cancel}, {@code orTimeout} or {@code complete}, ends the call; a call that has not begun does not
 * begin. Cancel the future that was returned here: one made from it by {@code thenApply} passes nothing on. Requests must not change until the future is complete.
 */
public final class AsyncClient {
  private final Client client;
  private final Executor executor;

  AsyncClient(Client client, Executor executor) {
    this.client = client;
    this.executor = executor;
  }

  /**
   * Merges the segments of all collections as far as that saves anything.
   *
   * @return the sums, later
   */
  public CompletableFuture<Compaction> compact() {
    return compact(CallOptions.NONE);
  }

  /**
   * Merges the segments of all collections as far as that saves anything.
   *
   * @param options how the call may end early
   * @return the sums, later
   */
  public CompletableFuture<Compaction> compact(CallOptions options) {
    return Background.start(executor, options, started -> client.compact(started));
  }

  /**
   * Copies the store as it is at one moment, while writers go on.
   *
   * @param directory missing, empty, or left by a backup that did not finish
   * @return what was copied, later
   */
  public CompletableFuture<BackupReport> backup(Path directory) {
    return backup(directory, CallOptions.NONE);
  }

  /**
   * Copies the store as it is at one moment, while writers go on.
   *
   * @param directory missing, empty, or left by a backup that did not finish
   * @param options how the call may end early
   * @return what was copied, later
   */
  public CompletableFuture<BackupReport> backup(Path directory, CallOptions options) {
    return Background.start(executor, options, started -> client.backup(directory, started));
  }

  /**
   * Reads every byte and compares everything with everything.
   *
   * @param full every row is searched for by its own vector, else a sample
   * @return what it found, later
   */
  public CompletableFuture<CheckReport> check(boolean full) {
    return check(full, CallOptions.NONE);
  }

  /**
   * Reads every byte and compares everything with everything.
   *
   * @param full every row is searched for by its own vector, else a sample
   * @param options how the call may end early
   * @return what it found, later
   */
  public CompletableFuture<CheckReport> check(boolean full, CallOptions options) {
    return Background.start(executor, options, started -> client.check(full, started));
  }

  /**
   * Writes what is in memory alone into segments, of all collections.
   *
   * @return nothing, later
   */
  public CompletableFuture<Void> flush() {
    return flush(CallOptions.NONE);
  }

  /**
   * Writes what is in memory alone into segments, of all collections.
   *
   * @param options how it may end early
   * @return nothing, later
   */
  public CompletableFuture<Void> flush(CallOptions options) {
    return Background.start(executor, options, started -> {
      client.flush(started);
      return null;
    });
  }

  /**
   * Waits for writes that run, refuses later calls, and makes everything durable.
   *
   * @return nothing, later
   */
  public CompletableFuture<Void> close() {
    return Background.start(executor, CallOptions.NONE, started -> {
      client.close();
      return null;
    });
  }
}
