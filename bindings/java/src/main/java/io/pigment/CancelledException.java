// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/** The call was cancelled by its token; nothing was changed ({@link Status#CANCELLED}). */
public final class CancelledException extends PigmentException {
  private static final long serialVersionUID = 1;

  /**
   * An error that the caller makes, as an embedding function may.
   *
   * @param message names the object and the value
   */
  public CancelledException(String message) {
    super(Status.CANCELLED, message);
  }

  CancelledException(Report report, Throwable cause) {
    super(report, cause);
  }
}
