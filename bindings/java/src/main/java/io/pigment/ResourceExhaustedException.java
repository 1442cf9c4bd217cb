// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/** A limit of the library, the memory or the disk is reached ({@link Status#RESOURCE_EXHAUSTED}). */
public final class ResourceExhaustedException extends PigmentException {
  private static final long serialVersionUID = 1;

  /**
   * An error that the caller makes, as an embedding function may.
   *
   * @param message names the object and the value
   */
  public ResourceExhaustedException(String message) {
    super(Status.RESOURCE_EXHAUSTED, message);
  }

  ResourceExhaustedException(Report report, Throwable cause) {
    super(report, cause);
  }
}
