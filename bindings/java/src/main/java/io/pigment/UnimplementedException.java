// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/** Something that this version does not do ({@link Status#UNIMPLEMENTED}). */
public final class UnimplementedException extends PigmentException {
  private static final long serialVersionUID = 1;

  /**
   * An error that the caller makes, as an embedding function may.
   *
   * @param message names the object and the value
   */
  public UnimplementedException(String message) {
    super(Status.UNIMPLEMENTED, message);
  }

  UnimplementedException(Report report, Throwable cause) {
    super(report, cause);
  }
}
