// SPDX-License-Identifier: Apache-2.0
//
// Native memory that calls borrow for what they copy into it, so that a batch does not ask the system for fresh pages each time. Not zeroed.
// Any thread. At most KEPT pieces of at most BYTES_MAX stay between calls.

package io.pigment;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ArrayBlockingQueue;

final class Scratch {
  static final long BYTES_MAX = 8 << 20;
  private static final long BYTES_MIN = 64 << 10;
  private static final int KEPT = 4;
  private static final ArrayBlockingQueue<MemorySegment> FREE = new ArrayBlockingQueue<>(KEPT);

  private Scratch() {}

  /** At least `bytes` of memory, which is at most BYTES_MAX. */
  static MemorySegment take(long bytes) {
    MemorySegment found = FREE.poll();
    if (found != null && found.byteSize() >= bytes) {
      return found;
    }
    long size = Math.max(BYTES_MIN, Long.highestOneBit(Math.max(bytes - 1, 1)) << 1);
    return Arena.ofAuto().allocate(size, 8);
  }

  static void give(MemorySegment taken) {
    FREE.offer(taken); // where there are enough, the collector frees it
  }
}
