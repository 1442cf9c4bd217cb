// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/** The store was written by a newer version ({@link Status#VERSION_MISMATCH}). */
public final class VersionMismatchException extends PigmentException {
  private static final long serialVersionUID = 1;

  /**
   * An error that the caller makes, as an embedding function may.
   *
   * @param message names the object and the value
   */
  public VersionMismatchException(String message) {
    super(Status.VERSION_MISMATCH, message);
  }

  VersionMismatchException(Report report, Throwable cause) {
    super(report, cause);
  }
}
