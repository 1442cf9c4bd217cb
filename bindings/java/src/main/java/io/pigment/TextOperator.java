// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h. Do not edit.

package io.pigment;

/** Which documents match a text query of several clauses. */
public enum TextOperator {
  /** A document matches with any clause of the query: {@code PIGMENT_TEXT_ANY}. */
  ANY(0),
  /** A document matches with all clauses of the query: {@code PIGMENT_TEXT_ALL}. */
  ALL(1);

  private final int number;

  TextOperator(int number) {
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
  public static TextOperator of(int number) {
    for (TextOperator one : values()) {
      if (one.number == number) {
        return one;
      }
    }
    throw new IllegalArgumentException("no TextOperator has the number " + number);
  }
}
