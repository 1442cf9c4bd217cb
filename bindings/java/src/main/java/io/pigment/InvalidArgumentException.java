// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/** An argument that is refused ({@link Status#INVALID_ARGUMENT}). */
public final class InvalidArgumentException extends PigmentException {
  private static final long serialVersionUID = 1;

  /**
   * An error that the caller makes, as an embedding function may.
   *
   * @param message names the object and the value
   */
  public InvalidArgumentException(String message) {
    super(Status.INVALID_ARGUMENT, message);
  }

  /** A row that the binding itself cannot pass on. */
  InvalidArgumentException(String message, long row) {
    this(new Report(Status.INVALID_ARGUMENT, 0, message, "", row, "", -1), null);
  }

  InvalidArgumentException(Report report, Throwable cause) {
    super(report, cause);
  }
}
