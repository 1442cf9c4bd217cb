// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

/**
 * Vectors that go into the library: a matrix, row by row. What it is made of is read when a call is made, and must not change meanwhile.
 * Vectors in native memory are not copied on their way: its arena must stay open until the call has returned.
 */
public final class Embeddings {
  private final float[][] rows; // or null
  private final MemorySegment values;
  private final long count;
  private final long dimension;
  private final long strideBytes;
  private final ElementType type;

  private Embeddings(
      float[][] rows, MemorySegment values, long count, long dimension, long strideBytes, ElementType type) {
    this.rows = rows;
    this.values = values;
    this.count = count;
    this.dimension = dimension;
    this.strideBytes = strideBytes;
    this.type = type;
  }

  /**
   * A vector each.
   *
   * @param rows vectors of one length
   * @return the matrix
   * @throws InvalidArgumentException when they have different lengths
   */
  public static Embeddings of(float[]... rows) {
    long dimension = rows.length == 0 ? 0 : rows[0].length;
    for (int row = 0; row < rows.length; ++row) {
      if (rows[row].length != dimension) {
        throw new InvalidArgumentException(
            "embeddings: row " + row + " has dimension " + rows[row].length + ", row 0 has " + dimension, row);
      }
    }
    return new Embeddings(rows, null, rows.length, dimension, 0, ElementType.F32);
  }

  /**
   * A vector each.
   *
   * @param rows vectors of one length
   * @return the matrix
   * @throws InvalidArgumentException when they have different lengths
   */
  public static Embeddings of(List<float[]> rows) {
    return of(rows.toArray(float[][]::new));
  }

  /**
   * A matrix in one array, row by row.
   *
   * @param values all numbers
   * @param dimension how many of them are a row
   * @return the matrix
   * @throws InvalidArgumentException when they make no whole rows
   */
  public static Embeddings ofRows(float[] values, int dimension) {
    if (dimension < 1 || values.length % dimension != 0) {
      throw new InvalidArgumentException("embeddings: " + values.length + " numbers are no rows of dimension " + dimension);
    }
    return of(MemorySegment.ofArray(values), values.length / dimension, dimension, 0, ElementType.F32);
  }

  /**
   * A matrix of f32 in memory.
   *
   * @param values native or of an array
   * @param count how many rows
   * @param dimension how many numbers in a row
   * @return the matrix
   * @throws InvalidArgumentException when the memory is smaller than that
   */
  public static Embeddings of(MemorySegment values, long count, long dimension) {
    return of(values, count, dimension, 0, ElementType.F32);
  }

  /**
   * A matrix in memory.
   *
   * @param values native or of an array
   * @param count how many rows
   * @param dimension how many numbers in a row
   * @param strideBytes from the begin of a row to that of the next; 0: they touch
   * @param type of the numbers
   * @return the matrix
   * @throws InvalidArgumentException when the memory is smaller than that
   */
  public static Embeddings of(MemorySegment values, long count, long dimension, long strideBytes, ElementType type) {
    Objects.requireNonNull(values, "values");
    if (count < 0 || dimension < 0 || strideBytes < 0) {
      throw new InvalidArgumentException(
          "embeddings: " + count + " rows of dimension " + dimension + ", " + strideBytes + " bytes apart");
    }
    try {
      long row = Math.multiplyExact(dimension, bytes(type));
      long apart = strideBytes == 0 ? row : strideBytes;
      long needed = count == 0 ? 0 : Math.addExact(Math.multiplyExact(count - 1, apart), row);
      if (needed > values.byteSize()) {
        throw new InvalidArgumentException(
            "embeddings: " + count + " rows of dimension " + dimension + " need " + needed + " bytes, got " + values.byteSize());
      }
    } catch (ArithmeticException overflow) {
      throw new InvalidArgumentException("embeddings: " + count + " rows of dimension " + dimension + " fit no memory");
    }
    return new Embeddings(null, values, count, dimension, strideBytes, type);
  }

  private static long bytes(ElementType type) {
    return switch (type) {
      case F16 -> 2;
      case F32, I32 -> 4;
      case F64, I64 -> 8;
    };
  }

  /** Fills the pigment_vectors at `offset` of a struct. */
  void put(Call call, MemorySegment struct, long offset) {
    struct.set(ADDRESS, offset + Structs.Vectors.DATA, data(call));
    struct.set(JAVA_LONG, offset + Structs.Vectors.ROWS, count);
    struct.set(JAVA_LONG, offset + Structs.Vectors.DIMENSION, dimension);
    struct.set(JAVA_LONG, offset + Structs.Vectors.ROW_STRIDE_BYTES, strideBytes);
    struct.set(JAVA_INT, offset + Structs.Vectors.DTYPE, type.number());
  }

  private MemorySegment data(Call call) {
    if (rows != null) {
      MemorySegment matrix = call.allocateToFill(4 * count * dimension);
      for (int row = 0; row < rows.length; ++row) {
        MemorySegment.copy(rows[row], 0, matrix, JAVA_FLOAT, 4 * row * dimension, (int) dimension);
      }
      return matrix;
    }
    if (!values.scope().isAlive()) {
      throw new IllegalStateException("embeddings: the arena of the memory is closed");
    }
    if (!values.isAccessibleBy(Thread.currentThread())) {
      throw new WrongThreadException("embeddings: the memory belongs to another thread");
    }
    if (values.isNative() && values.address() % bytes(type) == 0) {
      return values;
    }
    MemorySegment copy = call.allocateToFill(values.byteSize());
    copy.copyFrom(values);
    return copy;
  }
}
