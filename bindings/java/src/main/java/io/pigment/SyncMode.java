// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h. Do not edit.

package io.pigment;

/** When a write is made durable. */
public enum SyncMode {
  /** A write returns after an fsync that covers it: {@code PIGMENT_SYNC_FULL}. */
  FULL(0),
  /** Synced at most the sync interval later: {@code PIGMENT_SYNC_INTERVAL}. */
  INTERVAL(1),
  /** Left to the operating system: {@code PIGMENT_SYNC_OFF}. */
  OFF(2);

  private final int number;

  SyncMode(int number) {
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
  public static SyncMode of(int number) {
    for (SyncMode one : values()) {
      if (one.number == number) {
        return one;
      }
    }
    throw new IllegalArgumentException("no SyncMode has the number " + number);
  }
}
