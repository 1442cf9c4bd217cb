// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h. Do not edit.

package io.pigment;

/** A column that a result may have beside its ids. */
public enum Include {
  /** Documents: {@code PIGMENT_INCLUDE_DOCUMENTS}. */
  DOCUMENTS(1),
  /** Metadatas: {@code PIGMENT_INCLUDE_METADATAS}. */
  METADATAS(2),
  /** Embeddings: {@code PIGMENT_INCLUDE_EMBEDDINGS}. */
  EMBEDDINGS(4),
  /** Uris: {@code PIGMENT_INCLUDE_URIS}. */
  URIS(8),
  /** Of a query alone: {@code PIGMENT_INCLUDE_DISTANCES}. */
  DISTANCES(16);

  private final int number;

  Include(int number) {
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
  public static Include of(int number) {
    for (Include one : values()) {
      if (one.number == number) {
        return one;
      }
    }
    throw new IllegalArgumentException("no Include has the number " + number);
  }
}
