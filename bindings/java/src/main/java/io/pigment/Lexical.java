// SPDX-License-Identifier: Apache-2.0
//
// The library's own embedding function. To the library it is given as what it is, not as a call back into Java.

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

record Lexical(int dimension) implements EmbeddingFunction {
  Lexical {
    if (dimension < 1) {
      throw new InvalidArgumentException("dimension of the lexical function: expected 1 or more, got " + dimension);
    }
  }

  @Override
  public String name() {
    return "pigment_lexical_v1";
  }

  @Override
  public Optional<Space> space() {
    return Optional.of(Space.COSINE);
  }

  @Override
  public float[][] embed(List<String> texts, Purpose purpose) {
    try (Call call = new Call()) {
      MemorySegment column = call.allocate(Structs.TextColumn.SIZE);
      int count = Texts.put(call, column, 0, texts, "texts");
      MemorySegment values = call.allocate(Math.multiplyExact((long) count * dimension, 4L));
      call.check(Functions.embedLexical(count, column, dimension, values, call.error()));
      float[][] vectors = new float[count][dimension];
      for (int row = 0; row < vectors.length; ++row) {
        MemorySegment.copy(values, JAVA_FLOAT, 4L * row * dimension, vectors[row], 0, dimension);
      }
      return vectors;
    }
  }

  /** The struct of the library, for the call. */
  MemorySegment struct(Call call) {
    MemorySegment function = call.struct(Structs.EmbeddingFunction.SIZE);
    call.check(Functions.embeddingFunctionLexical(dimension, function, call.error()));
    return function;
  }
}
