// SPDX-License-Identifier: Apache-2.0
//
// A column of texts that came from the library: bytes, made strings when somebody asks for them. Any thread; a text that two
// threads ask for first is decoded twice.

package io.pigment;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.function.Function;

final class TextList extends AbstractList<String> implements RandomAccess {
  private final byte[] bytes;
  private final long[] offsets; // the first one is where bytes begins
  private final byte[] validity; // or null

  TextList(byte[] bytes, long[] offsets, byte[] validity) {
    this.bytes = bytes;
    this.offsets = offsets;
    this.validity = validity;
  }

  @Override
  public int size() {
    return offsets.length - 1;
  }

  @Override
  public String get(int row) {
    return isPresent(row) ? new String(bytes, begin(row), length(row), UTF_8) : null;
  }

  /** A copy, or null. */
  byte[] bytes(int row) {
    return isPresent(row) ? Arrays.copyOfRange(bytes, begin(row), begin(row) + length(row)) : null;
  }

  /** The same column as what its JSON says. */
  <T> List<T> json(Function<Object, T> as) {
    return new Decoded<>(this, as);
  }

  private boolean isPresent(int row) {
    Objects.checkIndex(row, size());
    return validity == null || (validity[row / 8] >> row % 8 & 1) != 0;
  }

  private int begin(int row) {
    return (int) (offsets[row] - offsets[0]);
  }

  private int length(int row) {
    return (int) (offsets[row + 1] - offsets[row]);
  }

  private static final class Decoded<T> extends AbstractList<T> implements RandomAccess {
    private final TextList texts;
    private final Function<Object, T> as;

    Decoded(TextList texts, Function<Object, T> as) {
      this.texts = texts;
      this.as = as;
    }

    @Override
    public int size() {
      return texts.size();
    }

    @Override
    public T get(int row) {
      return texts.isPresent(row) ? as.apply(Json.read(texts.bytes, texts.begin(row), texts.length(row))) : null;
    }
  }

  /** Metadata as an unmodifiable map. */
  static Map<String, Object> metadata(Object json) {
    return Collections.unmodifiableMap(Json.object(json));
  }
}
