// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Ends calls that run, from any thread: they throw {@link CancelledException}. Sticky: once it is set, every later call that is
 * given it ends at once. Any thread.
 */
public final class CancelToken implements AutoCloseable {
  private final Handle handle;
  private final Set<CancelToken> followers = ConcurrentHashMap.newKeySet();

  /** A token that is not set. */
  public CancelToken() {
    try (Call call = new Call()) {
      var slot = call.slot();
      call.check(Functions.cancelNew(slot, call.error()));
      handle = new Handle("cancel token", slot.get(ADDRESS, 0), Functions::cancelFree);
    }
    handle.watch(this, false);
  }

  /** Sets it. Does nothing when it is set or closed. */
  public void cancel() {
    try {
      Functions.cancelSet(handle.acquire());
    } catch (IllegalStateException closed) {
      return;
    }
    handle.release();
    followers.forEach(CancelToken::cancel);
  }

  /**
   * Whether it is set.
   *
   * @return whether {@link #cancel} was called
   * @throws IllegalStateException when it is closed
   */
  public boolean isCancelled() {
    var pointer = handle.acquire();
    try {
      return Functions.cancelIsSet(pointer);
    } finally {
      handle.release();
    }
  }

  /**
   * How far the call is that was given it: a flush, compaction, backup, check or repair, the last of them that began something. Of
   * a future, while it runs. Any thread, while the call runs on another.
   *
   * @return empty when nothing has begun
   * @throws IllegalStateException when it is closed
   */
  public Optional<Progress> progress() {
    try (Call call = new Call()) {
      MemorySegment token = call.use(handle);
      MemorySegment result = call.struct(Structs.Progress.SIZE);
      call.check(Functions.cancelProgress(token, result, call.error()));
      return Progress.of(result).or(() -> followers.stream().flatMap(CancelToken::ofFollower).findFirst());
    }
  }

  private static Stream<Progress> ofFollower(CancelToken follower) {
    try {
      return follower.progress().stream();
    } catch (IllegalStateException closed) { // its future is over
      return Stream.empty();
    }
  }

  /** Frees it when the calls that use it are over. Idempotent. A token that is forgotten is closed by the collector. */
  @Override
  public void close() {
    handle.tryClose();
  }

  Handle handle() {
    return handle;
  }

  /** Sets `follower` with this one, until unfollow. */
  void follow(CancelToken follower) {
    followers.add(follower);
    if (isCancelled()) {
      follower.cancel();
    }
  }

  void unfollow(CancelToken follower) {
    followers.remove(follower);
  }
}
