// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/** The store or the collection is not in a state for this: locked, read only, without a function ({@link Status#FAILED_PRECONDITION}). */
public final class FailedPreconditionException extends PigmentException {
  private static final long serialVersionUID = 1;

  /**
   * An error that the caller makes, as an embedding function may.
   *
   * @param message names the object and the value
   */
  public FailedPreconditionException(String message) {
    super(Status.FAILED_PRECONDITION, message);
  }

  FailedPreconditionException(Report report, Throwable cause) {
    super(report, cause);
  }
}
