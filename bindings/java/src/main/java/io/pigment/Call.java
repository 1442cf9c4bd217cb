// SPDX-License-Identifier: Apache-2.0
//
// One call of the library: the memory of its arguments, the objects that it uses, and its error. One thread, in a
// try-with-resources.

package io.pigment;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

final class Call implements AutoCloseable {
  private static final long BLOCK_BYTES = 1024;

  private final Arena arena = Arena.ofConfined();
  // What every call has room for without asking again: a struct or two, slots for pointers, short texts. Zeroed.
  private final MemorySegment block = arena.allocate(BLOCK_BYTES, 8);
  private long blockUsed;
  private final MemorySegment error = allocate(8);
  private final List<MemorySegment> borrowed = new ArrayList<>(0); // of Scratch; the last one is in use
  private long borrowedUsed;
  private Handle first;
  private Handle second;

  /** Zeroed and aligned to 8 bytes; never NULL, also when `bytes` is 0. */
  MemorySegment allocate(long bytes) {
    long begin = (blockUsed + 7) & ~7L;
    if (bytes > BLOCK_BYTES - begin - 1) {
      return arena.allocate(Math.max(bytes, 1), 8);
    }
    blockUsed = begin + bytes;
    return block.asSlice(begin, bytes);
  }

  /** Aligned to 8 bytes and not zeroed, for what is written from begin to end; never NULL. */
  MemorySegment allocateToFill(long bytes) {
    if (bytes <= BLOCK_BYTES - blockUsed - 8) {
      return allocate(bytes);
    }
    if (bytes > Scratch.BYTES_MAX) {
      return arena.allocate(bytes, 8);
    }
    long begin = (borrowedUsed + 7) & ~7L;
    if (borrowed.isEmpty() || bytes > borrowed.getLast().byteSize() - begin) {
      borrowed.add(Scratch.take(bytes));
      begin = 0;
    }
    borrowedUsed = begin + bytes;
    return borrowed.getLast().asSlice(begin, bytes);
  }

  /** A struct whose first field is its size. */
  MemorySegment struct(long size) {
    MemorySegment made = allocate(size);
    made.set(JAVA_LONG, 0, size);
    return made;
  }

  /** A slot for what the call gives. */
  MemorySegment slot() {
    return allocate(8);
  }

  MemorySegment error() {
    return error;
  }

  /** The pointer of an object, until the end of the call. At most two objects a call. */
  MemorySegment use(Handle handle) {
    MemorySegment pointer = handle.acquire();
    if (first == null) {
      first = handle;
    } else {
      second = handle;
    }
    return pointer;
  }

  /** The pigment_call_options of a call. */
  MemorySegment options(CallOptions options) {
    if (options == CallOptions.NONE) {
      return MemorySegment.NULL;
    }
    MemorySegment made = struct(Structs.CallOptions.SIZE);
    if (options.token() != null) {
      made.set(ADDRESS, Structs.CallOptions.CANCEL, use(options.token().handle()));
    }
    made.set(JAVA_LONG, Structs.CallOptions.DEADLINE_NS, options.started().deadlineNanos());
    made.set(JAVA_LONG, Structs.CallOptions.MIN_POSITION, options.position());
    return made;
  }

  /** A text at `address` and its size at `size` of a struct; null stays absent. */
  void text(MemorySegment struct, long address, long size, String text, String what) {
    if (text != null) {
      MemorySegment bytes = utf8(text, what);
      struct.set(ADDRESS, address, bytes);
      struct.set(JAVA_LONG, size, bytes.byteSize());
    }
  }

  /** Its byteSize is the size of the text. */
  MemorySegment utf8(String text, String what) {
    return Texts.put(this, text, what);
  }

  /** NULL for null. */
  MemorySegment utf8OrNull(String text, String what) {
    return text == null ? MemorySegment.NULL : utf8(text, what);
  }

  /** Throws what the library says unless the status is OK. */
  void check(int status) {
    if (status != 0) {
      throw Errors.taken(status, error.get(ADDRESS, 0));
    }
  }

  /** The JSON in a buffer that the call gave into `slot`, which is freed. */
  <T> T json(MemorySegment slot, Function<Object, T> as) {
    MemorySegment buffer = slot.get(ADDRESS, 0);
    try {
      MemorySegment size = slot();
      MemorySegment data = Functions.bufferData(buffer, size);
      byte[] bytes = data.reinterpret(size.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
      return as.apply(Json.read(bytes, 0, bytes.length));
    } finally {
      Functions.bufferFree(buffer);
    }
  }


  @Override
  public void close() {
    if (second != null) {
      second.release();
    }
    if (first != null) {
      first.release();
    }
    arena.close();
    borrowed.forEach(Scratch::give);
  }
}
