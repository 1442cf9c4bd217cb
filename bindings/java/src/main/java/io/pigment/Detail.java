// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h. Do not edit.

package io.pigment;

/** Finer than a {@link Status}, for the cases that a program tells apart; docs/status-codes.md says what each means. */
public enum Detail {
  /** None: {@code PIGMENT_DETAIL_NONE}. */
  NONE(0),
  /** Missing: {@code PIGMENT_DETAIL_MISSING}. */
  MISSING(1),
  /** Foreign: {@code PIGMENT_DETAIL_FOREIGN}. */
  FOREIGN(2),
  /** Wrong kind: {@code PIGMENT_DETAIL_WRONG_KIND}. */
  WRONG_KIND(3),
  /** Misaligned: {@code PIGMENT_DETAIL_MISALIGNED}. */
  MISALIGNED(4),
  /** Truncated: {@code PIGMENT_DETAIL_TRUNCATED}. */
  TRUNCATED(5),
  /** Miscounted: {@code PIGMENT_DETAIL_MISCOUNTED}. */
  MISCOUNTED(6),
  /** Checksum: {@code PIGMENT_DETAIL_CHECKSUM}. */
  CHECKSUM(7),
  /** Closed: {@code PIGMENT_DETAIL_CLOSED}. */
  CLOSED(20),
  /** Locked: {@code PIGMENT_DETAIL_LOCKED}. */
  LOCKED(21),
  /** Forked: {@code PIGMENT_DETAIL_FORKED}. */
  FORKED(22),
  /** Poisoned: {@code PIGMENT_DETAIL_POISONED}. */
  POISONED(23),
  /** Read only: {@code PIGMENT_DETAIL_READ_ONLY}. */
  READ_ONLY(24),
  /** Stale: {@code PIGMENT_DETAIL_STALE}. */
  STALE(25),
  /** No embedding function: {@code PIGMENT_DETAIL_NO_EMBEDDING_FUNCTION}. */
  NO_EMBEDDING_FUNCTION(26),
  /** Dimension: {@code PIGMENT_DETAIL_DIMENSION}. */
  DIMENSION(40),
  /** Not finite: {@code PIGMENT_DETAIL_NOT_FINITE}. */
  NOT_FINITE(41),
  /** Duplicate id: {@code PIGMENT_DETAIL_DUPLICATE_ID}. */
  DUPLICATE_ID(42),
  /** Filter: {@code PIGMENT_DETAIL_FILTER}. */
  FILTER(43),
  /** Name: {@code PIGMENT_DETAIL_NAME}. */
  NAME(44),
  /** Metadata: {@code PIGMENT_DETAIL_METADATA}. */
  METADATA(45),
  /** Embedding function: {@code PIGMENT_DETAIL_EMBEDDING_FUNCTION}. */
  EMBEDDING_FUNCTION(46),
  /** Disk full: {@code PIGMENT_DETAIL_DISK_FULL}. */
  DISK_FULL(60),
  /** Memory: {@code PIGMENT_DETAIL_MEMORY}. */
  MEMORY(61),
  /** Limit: {@code PIGMENT_DETAIL_LIMIT}. */
  LIMIT(62),
  /** A number that this version of the binding does not know. */
  UNRECOGNIZED(-1);

  private final int number;

  Detail(int number) {
    this.number = number;
  }

  /** The number in the C interface.
   *
   * @return the number, which never changes
   */
  public int number() {
    return number;
  }

  /** The constant of a number. {@link #UNRECOGNIZED} for a number that this version does not know.
   *
   * @param number as {@link #number} gives it
   * @return the constant
   */
  public static Detail of(int number) {
    for (Detail one : values()) {
      if (one.number == number) {
        return one;
      }
    }
    return UNRECOGNIZED;
  }
}
