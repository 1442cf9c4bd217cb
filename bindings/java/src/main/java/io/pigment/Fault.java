// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h. Do not edit.

package io.pigment;

/** Whose doing an error is. */
public enum Fault {
  /** None: {@code PIGMENT_FAULT_NONE}. */
  NONE(0),
  /** The arguments or the state that the caller made: {@code PIGMENT_FAULT_CALLER}. */
  CALLER(1),
  /** The machine, its disk or another process: {@code PIGMENT_FAULT_ENVIRONMENT}. */
  ENVIRONMENT(2),
  /** The library's own: {@code PIGMENT_FAULT_LIBRARY}. */
  LIBRARY(3);

  private final int number;

  Fault(int number) {
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
  public static Fault of(int number) {
    for (Fault one : values()) {
      if (one.number == number) {
        return one;
      }
    }
    throw new IllegalArgumentException("no Fault has the number " + number);
  }
}
