// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/** A name that is taken ({@link Status#ALREADY_EXISTS}). */
public final class AlreadyExistsException extends PigmentException {
  private static final long serialVersionUID = 1;

  /**
   * An error that the caller makes, as an embedding function may.
   *
   * @param message names the object and the value
   */
  public AlreadyExistsException(String message) {
    super(Status.ALREADY_EXISTS, message);
  }

  AlreadyExistsException(Report report, Throwable cause) {
    super(report, cause);
  }
}
