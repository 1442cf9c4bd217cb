// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h. Do not edit.

package io.pigment;

/** What an embedding function is asked for. */
public enum Purpose {
  /** Vectors of documents that are stored: {@code PIGMENT_EMBED_DOCUMENT}. */
  DOCUMENT(0),
  /** Vectors of texts that are searched for: {@code PIGMENT_EMBED_QUERY}. */
  QUERY(1);

  private final int number;

  Purpose(int number) {
    this.number = number;
  }

  /** The number in the C interface.
   *
   * @return the number, which never changes
   */
  public int number() {
    return number;
  }

  /** The constant of a number.
   *
   * @param number as {@link #number} gives it
   * @return the constant
   */
  public static Purpose of(int number) {
    for (Purpose one : values()) {
      if (one.number == number) {
        return one;
      }
    }
    throw new IllegalArgumentException("no Purpose has the number " + number);
  }
}
