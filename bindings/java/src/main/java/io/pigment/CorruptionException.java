// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/** Stored bytes are damaged or missing; {@link #file} and {@link #offset} say where ({@link Status#DATA_LOSS}). */
public final class CorruptionException extends PigmentException {
  private static final long serialVersionUID = 1;

  /**
   * An error that the caller makes, as an embedding function may.
   *
   * @param message names the object and the value
   */
  public CorruptionException(String message) {
    super(Status.DATA_LOSS, message);
  }

  CorruptionException(Report report, Throwable cause) {
    super(report, cause);
  }
}
