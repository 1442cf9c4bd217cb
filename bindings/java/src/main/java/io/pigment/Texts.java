// SPDX-License-Identifier: Apache-2.0
//
// Columns of texts as the library has them (pigment_text_column), from Java's lists and into them. One thread.

package io.pigment;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

final class Texts {
  private static final int PLAIN_MAX = 64 << 20; // there are three copies of it for a moment

  private Texts() {}

  /** Bytes that grow: the texts of a column one after another. */
  private static final class Bytes {
    private byte[] bytes;
    private int size;

    Bytes(int room) {
      bytes = new byte[room];
    }

    void add(byte[] more) {
      reserve(more.length);
      System.arraycopy(more, 0, bytes, size, more.length);
      size += more.length;
    }

    /** Where Java's String is no text, the library's would be another one: refused, with the row unless that is -1. */
    void add(String text, String what, long row) {
      reserve(3L * text.length());
      byte[] to = bytes;
      int at = size;
      for (int i = 0; i < text.length(); ++i) {
        char unit = text.charAt(i);
        if (unit < 0x80) {
          to[at++] = (byte) unit;
        } else if (unit < 0x800) {
          to[at++] = (byte) (0xc0 | unit >> 6);
          to[at++] = (byte) (0x80 | unit & 0x3f);
        } else if (!Character.isSurrogate(unit)) {
          to[at++] = (byte) (0xe0 | unit >> 12);
          to[at++] = (byte) (0x80 | unit >> 6 & 0x3f);
          to[at++] = (byte) (0x80 | unit & 0x3f);
        } else if (Character.isHighSurrogate(unit) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
          int point = Character.toCodePoint(unit, text.charAt(++i));
          to[at++] = (byte) (0xf0 | point >> 18);
          to[at++] = (byte) (0x80 | point >> 12 & 0x3f);
          to[at++] = (byte) (0x80 | point >> 6 & 0x3f);
          to[at++] = (byte) (0x80 | point & 0x3f);
        } else {
          String place = row < 0 ? what : what + ": row " + row;
          throw new InvalidArgumentException(place + ": half a surrogate pair at " + i + " is no text", row);
        }
      }
      size = at;
    }

    private void reserve(long more) {
      long needed = size + more;
      if (needed > Integer.MAX_VALUE - 16) {
        throw new ResourceExhaustedException("a column of more than 2 GiB of text does not fit a Java array; write it in smaller batches");
      }
      if (needed > bytes.length) {
        bytes = Arrays.copyOf(bytes, (int) Math.min(Math.max(needed, 2L * bytes.length), Integer.MAX_VALUE - 16));
      }
    }
  }

  /** A text in UTF-8; its byteSize is the size. */
  static MemorySegment put(Call call, String text, String what) {
    Bytes bytes = new Bytes(text.length());
    bytes.add(text, what, -1);
    MemorySegment made = call.allocateToFill(bytes.size);
    MemorySegment.copy(bytes.bytes, 0, made, JAVA_BYTE, 0, bytes.size);
    return made;
  }

  /**
   * Fills the column at `offset` of `struct` with strings, byte arrays or nulls; a list that is null leaves it absent. The result is how many there
   * are: what the library is told must be this number, not what the list says later, when another thread may have changed it.
   */
  static int put(Call call, MemorySegment struct, long offset, List<?> texts, String what) {
    if (texts == null) {
      return 0;
    }
    Object[] rows = texts.toArray();
    int count = rows.length;
    long[] offsets = new long[count + 1];
    byte[] plain = plain(rows, offsets);
    if (plain != null) {
      fill(call, struct, offset, plain, plain.length, offsets);
      return count;
    }
    Bytes bytes = new Bytes((int) Math.min(64L * count, 1 << 20));
    byte[] validity = null;
    int row = 0;
    for (Object text : rows) {
      if (text instanceof byte[] raw) {
        bytes.add(raw);
      } else if (text != null) {
        bytes.add((String) text, what, row);
      } else {
        validity = validity == null ? allPresent(count) : validity;
        validity[row / 8] &= (byte) ~(1 << row % 8);
      }
      offsets[++row] = bytes.size;
    }
    fill(call, struct, offset, bytes.bytes, bytes.size, offsets);
    if (validity != null) {
      MemorySegment bits = call.allocateToFill(validity.length);
      MemorySegment.copy(validity, 0, bits, JAVA_BYTE, 0, validity.length);
      struct.set(ADDRESS, offset + Structs.TextColumn.VALIDITY, bits);
    }
    return count;
  }

  /** The bytes of strings that have no more of them than characters, whose ends go into `offsets`; of anything else null. All at once, which the
   * runtime does a register at a time. */
  private static byte[] plain(Object[] rows, long[] offsets) {
    String[] texts = new String[rows.length];
    long size = 0;
    for (int row = 0; row < rows.length; ++row) {
      if (!(rows[row] instanceof String text)) {
        return null;
      }
      texts[row] = text;
      offsets[row + 1] = size += text.length();
    }
    if (size > PLAIN_MAX) {
      return null;
    }
    String joined = String.join("", texts);
    byte[] bytes = joined.getBytes(UTF_8);
    // Half a surrogate pair would have become a question mark.
    return bytes.length == size && new String(bytes, UTF_8).equals(joined) ? bytes : null;
  }

  private static void fill(Call call, MemorySegment struct, long offset, byte[] bytes, int size, long[] offsets) {
    MemorySegment all = call.allocateToFill(size);
    MemorySegment.copy(bytes, 0, all, JAVA_BYTE, 0, size);
    MemorySegment places = call.allocateToFill(8L * offsets.length);
    MemorySegment.copy(offsets, 0, places, JAVA_LONG, 0, offsets.length);
    struct.set(ADDRESS, offset + Structs.TextColumn.OFFSETS, places);
    struct.set(ADDRESS, offset + Structs.TextColumn.BYTES, all);
  }

  private static byte[] allPresent(int count) {
    byte[] bits = new byte[(count + 7) / 8];
    Arrays.fill(bits, (byte) 0xff);
    return bits;
  }

  /** The first `count` texts of a column of the library, copied. */
  static TextList copy(MemorySegment column, int count) {
    long[] offsets = new long[count + 1];
    MemorySegment places = column.get(ADDRESS, Structs.TextColumn.OFFSETS).reinterpret(8L * offsets.length);
    MemorySegment.copy(places, JAVA_LONG, 0, offsets, 0, offsets.length);
    long begin = offsets[0];
    long size = offsets[count] - begin;
    if (size > Integer.MAX_VALUE - 16) {
      throw new ResourceExhaustedException("a column of " + size + " bytes does not fit a Java array; ask for fewer records");
    }
    byte[] bytes = new byte[(int) size];
    if (size > 0) {
      MemorySegment source = column.get(ADDRESS, Structs.TextColumn.BYTES).reinterpret(begin + size);
      MemorySegment.copy(source, JAVA_BYTE, begin, bytes, 0, bytes.length);
    }
    MemorySegment bits = column.get(ADDRESS, Structs.TextColumn.VALIDITY);
    byte[] validity = null;
    if (bits.address() != 0) {
      validity = bits.reinterpret((count + 7) / 8).toArray(JAVA_BYTE);
    }
    return new TextList(bytes, offsets, validity);
  }
}
