// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h. Do not edit.

package io.pigment;

/** The type of the numbers of a matrix of vectors. */
public enum ElementType {
  /** F32: {@code PIGMENT_F32}. */
  F32(0),
  /** IEEE half, two bytes: {@code PIGMENT_F16}. */
  F16(1),
  /** F64: {@code PIGMENT_F64}. */
  F64(2),
  /** I32: {@code PIGMENT_I32}. */
  I32(3),
  /** I64: {@code PIGMENT_I64}. */
  I64(4);

  private final int number;

  ElementType(int number) {
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
  public static ElementType of(int number) {
    for (ElementType one : values()) {
      if (one.number == number) {
        return one;
      }
    }
    throw new IllegalArgumentException("no ElementType has the number " + number);
  }
}
