// SPDX-License-Identifier: Apache-2.0
//
// Embedding functions as the library calls them. There are two stubs, for all functions; which one is meant is the number that the
// library has as user data. Nothing that Java throws gets past here: an exception that did would end the process.

package io.pigment;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

final class Callbacks {
  private static final Map<Long, EmbeddingFunction> FUNCTIONS = new ConcurrentHashMap<>();
  private static final AtomicLong LAST = new AtomicLong();
  // Of the call that this thread is in.
  private static final ThreadLocal<Throwable> FAILURE = new ThreadLocal<>();

  private static final MemorySegment EMBED = stub("embed",
      MethodType.methodType(int.class, MemorySegment.class, int.class, long.class, MemorySegment.class, MemorySegment.class),
      FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS));
  private static final MemorySegment RELEASE = stub("release",
      MethodType.methodType(void.class, MemorySegment.class), FunctionDescriptor.ofVoid(ADDRESS));

  private Callbacks() {}

  private static MemorySegment stub(String name, MethodType type, FunctionDescriptor descriptor) {
    try {
      MethodHandle target = MethodHandles.lookup().findStatic(Callbacks.class, name, type);
      return Linker.nativeLinker().upcallStub(target, descriptor, Arena.global());
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** How many functions the library holds. */
  static int held() {
    return FUNCTIONS.size();
  }

  /** What an embedding function threw in the call of this thread that failed; once. */
  static Throwable takeFailure() {
    Throwable failure = FAILURE.get();
    if (failure != null) {
      FAILURE.remove();
    }
    return failure;
  }

  /** A function as an argument of one call. */
  static final class Given {
    private final MemorySegment struct;
    private final long number; // 0: nothing to take back

    /** The struct is NULL for a function that is null. */
    Given(Call call, EmbeddingFunction function) {
      if (function == null) {
        struct = MemorySegment.NULL;
        number = 0;
        return;
      }
      if (function instanceof Lexical lexical) {
        struct = lexical.struct(call);
        number = 0;
        return;
      }
      struct = call.struct(Structs.EmbeddingFunction.SIZE);
      Map<String, ?> config = function.config();
      call.text(struct, Structs.EmbeddingFunction.NAME, Structs.EmbeddingFunction.NAME_SIZE,
          function.name(), "name of the embedding function");
      call.text(struct, Structs.EmbeddingFunction.CONFIG_JSON, Structs.EmbeddingFunction.CONFIG_JSON_SIZE,
          config == null || config.isEmpty() ? null : Json.write(config), "configuration of the embedding function");
      call.text(struct, Structs.EmbeddingFunction.SPACE, Structs.EmbeddingFunction.SPACE_SIZE,
          function.space().map(Space::word).orElse(null), "space");
      struct.set(ADDRESS, Structs.EmbeddingFunction.EMBED, EMBED);
      struct.set(ADDRESS, Structs.EmbeddingFunction.RELEASE, RELEASE);
      number = LAST.incrementAndGet();
      FUNCTIONS.put(number, function);
      struct.set(ADDRESS, Structs.EmbeddingFunction.USER_DATA, MemorySegment.ofAddress(number));
    }

    MemorySegment struct() {
      return struct;
    }

    /** After a call that failed the function is still the caller's. */
    int after(int status) {
      if (status != 0) {
        FUNCTIONS.remove(number);
      }
      return status;
    }
  }

  private static void release(MemorySegment userData) {
    try {
      FUNCTIONS.remove(userData.address());
    } catch (Throwable failed) {
      FAILURE.set(failed); // memory; there is nobody to tell
    }
  }

  private static int embed(MemorySegment userData, int purpose, long count, MemorySegment texts, MemorySegment sink) {
    try {
      EmbeddingFunction function = FUNCTIONS.get(userData.address());
      TextList list = Texts.copy(texts.reinterpret(Structs.TextColumn.SIZE), Math.toIntExact(count));
      return put(function.embed(List.copyOf(list), Purpose.of(purpose)), sink);
    } catch (Throwable failed) {
      return failed(failed, sink);
    }
  }

  /** Rows of one length go together; where the length changes the library says so, with the row. */
  private static int put(float[][] vectors, MemorySegment sink) {
    if (vectors == null) {
      throw new NullPointerException("the embedding function returned null");
    }
    try (Arena arena = Arena.ofConfined()) {
      int begin = 0;
      while (begin < vectors.length) {
        int dimension = vectors[begin].length;
        int end = begin + 1;
        while (end < vectors.length && vectors[end].length == dimension) {
          ++end;
        }
        MemorySegment values = arena.allocate(Math.max(4L * dimension * (end - begin), 1), 4);
        for (int row = begin; row < end; ++row) {
          MemorySegment.copy(vectors[row], 0, values, JAVA_FLOAT, 4L * dimension * (row - begin), dimension);
        }
        int status = Functions.embeddingSinkPut(sink, values, end - begin, dimension);
        if (status != 0) {
          return status;
        }
        begin = end;
      }
      return 0;
    }
  }

  private static int failed(Throwable failed, MemorySegment sink) {
    try {
      FAILURE.set(failed);
      boolean speaks = failed instanceof PigmentException && failed.getMessage() != null;
      byte[] message = (speaks ? failed.getMessage() : failed.toString()).getBytes(UTF_8);
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment text = arena.allocateFrom(JAVA_BYTE, message);
        Functions.embeddingSinkFail(sink, text, message.length);
      }
      Status code = failed instanceof PigmentException known ? known.code() : Status.UNKNOWN;
      return code == Status.OK ? Status.UNKNOWN.number() : code.number();
    } catch (Throwable again) {
      return Status.RESOURCE_EXHAUSTED.number();
    }
  }
}
