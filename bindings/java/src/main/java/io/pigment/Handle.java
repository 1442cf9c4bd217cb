// SPDX-License-Identifier: Apache-2.0
//
// An object of the library that a Java object owns. Any thread.
//
// Invariant: the pointer is freed once, when it was closed and no call that uses it runs. So a call that races with close()
// either has the object to its end or is refused; it never sees freed memory.

package io.pigment;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

final class Handle {
  private static final int CLOSED = 1 << 31;
  private static final Cleaner CLEANER = Cleaner.create();
  private static final System.Logger LOG = System.getLogger("io.pigment");

  private final AtomicInteger users = new AtomicInteger(); // and CLOSED
  private final MemorySegment pointer;
  private final Consumer<MemorySegment> free;
  private final String what;

  /** `what` is named where it is used after close: "collection \"docs\"". */
  Handle(String what, MemorySegment pointer, Consumer<MemorySegment> free) {
    this.what = what;
    this.pointer = pointer;
    this.free = free;
  }

  /** Frees it when `owner` is forgotten without close(), and says so in the log when an error may be lost so. */
  void watch(Object owner, boolean warn) {
    CLEANER.register(owner, () -> {
      if (tryClose() && warn) {
        LOG.log(System.Logger.Level.WARNING, "{0} was not closed; it is freed now that nothing refers to it", what);
      }
    });
  }

  /** The pointer, until release(). Throws IllegalStateException when it is closed. */
  MemorySegment acquire() {
    for (int now = users.get(); ; now = users.get()) {
      if (now < 0) {
        throw closed();
      }
      if (users.compareAndSet(now, now + 1)) {
        return pointer;
      }
    }
  }

  /** What the library says of a handle whose store is closed. */
  private IllegalStateException closed() {
    String message = what + " is closed";
    var report = new PigmentException.Report(
        Status.FAILED_PRECONDITION, Detail.CLOSED.number(), message, "", -1, "", -1);
    return new IllegalStateException(message, new FailedPreconditionException(report, null));
  }

  void release() {
    if (users.decrementAndGet() == CLOSED) {
      free.accept(pointer);
    }
  }

  /** Refuses further calls and gives the pointer for a last one, until release(); null when it was closed before. */
  MemorySegment acquireLast() {
    for (int now = users.get(); ; now = users.get()) {
      if (now < 0) {
        return null;
      }
      if (users.compareAndSet(now, (now + 1) | CLOSED)) {
        return pointer;
      }
    }
  }

  /** True the first time. */
  boolean tryClose() {
    if (acquireLast() == null) {
      return false;
    }
    release();
    return true;
  }

  boolean isClosed() {
    return users.get() < 0;
  }
}
