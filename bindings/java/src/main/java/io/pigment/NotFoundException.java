// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/** A collection, database, tenant or file that is not there ({@link Status#NOT_FOUND}). */
public final class NotFoundException extends PigmentException {
  private static final long serialVersionUID = 1;

  /**
   * An error that the caller makes, as an embedding function may.
   *
   * @param message names the object and the value
   */
  public NotFoundException(String message) {
    super(Status.NOT_FOUND, message);
  }

  NotFoundException(Report report, Throwable cause) {
    super(report, cause);
  }
}
