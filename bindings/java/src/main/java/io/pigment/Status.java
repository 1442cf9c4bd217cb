// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h. Do not edit.

package io.pigment;

/** What became of a call. The numbers are Chroma's, which are gRPC's; docs/status-codes.md says what each means. */
public enum Status {
  /** Ok: {@code PIGMENT_OK}. */
  OK(0),
  /** Cancelled: {@code PIGMENT_CANCELLED}. */
  CANCELLED(1),
  /** Unknown: {@code PIGMENT_UNKNOWN}. */
  UNKNOWN(2),
  /** Invalid argument: {@code PIGMENT_INVALID_ARGUMENT}. */
  INVALID_ARGUMENT(3),
  /** Deadline exceeded: {@code PIGMENT_DEADLINE_EXCEEDED}. */
  DEADLINE_EXCEEDED(4),
  /** Not found: {@code PIGMENT_NOT_FOUND}. */
  NOT_FOUND(5),
  /** Already exists: {@code PIGMENT_ALREADY_EXISTS}. */
  ALREADY_EXISTS(6),
  /** Permission denied: {@code PIGMENT_PERMISSION_DENIED}. */
  PERMISSION_DENIED(7),
  /** Resource exhausted: {@code PIGMENT_RESOURCE_EXHAUSTED}. */
  RESOURCE_EXHAUSTED(8),
  /** Failed precondition: {@code PIGMENT_FAILED_PRECONDITION}. */
  FAILED_PRECONDITION(9),
  /** Aborted: {@code PIGMENT_ABORTED}. */
  ABORTED(10),
  /** Out of range: {@code PIGMENT_OUT_OF_RANGE}. */
  OUT_OF_RANGE(11),
  /** Unimplemented: {@code PIGMENT_UNIMPLEMENTED}. */
  UNIMPLEMENTED(12),
  /** Internal: {@code PIGMENT_INTERNAL}. */
  INTERNAL(13),
  /** Unavailable: {@code PIGMENT_UNAVAILABLE}. */
  UNAVAILABLE(14),
  /** Data loss: {@code PIGMENT_DATA_LOSS}. */
  DATA_LOSS(15),
  /** Unauthenticated: {@code PIGMENT_UNAUTHENTICATED}. */
  UNAUTHENTICATED(16),
  /** Version mismatch: {@code PIGMENT_VERSION_MISMATCH}. */
  VERSION_MISMATCH(17),
  /** Unprocessable entity: {@code PIGMENT_UNPROCESSABLE_ENTITY}. */
  UNPROCESSABLE_ENTITY(18);

  private final int number;

  Status(int number) {
    this.number = number;
  }

  /** The number in the C interface.
   *
   * @return the number, which never changes
   */
  public int number() {
    return number;
  }

  /** The constant of a number. {@link #UNKNOWN} for a number that this version does not know.
   *
   * @param number as {@link #number} gives it
   * @return the constant
   */
  public static Status of(int number) {
    for (Status one : values()) {
      if (one.number == number) {
        return one;
      }
    }
    return UNKNOWN;
  }
}
