// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/** The call's time was over; nothing was changed ({@link Status#DEADLINE_EXCEEDED}). */
public final class DeadlineExceededException extends PigmentException {
  private static final long serialVersionUID = 1;

  /**
   * An error that the caller makes, as an embedding function may.
   *
   * @param message names the object and the value
   */
  public DeadlineExceededException(String message) {
    super(Status.DEADLINE_EXCEEDED, message);
  }

  DeadlineExceededException(Report report, Throwable cause) {
    super(report, cause);
  }
}
