// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/**
 * What the library refused or could not do. The codes that programs tell apart have subclasses; all others are of this class.
 * An embedding function may throw one to say with which code the call that needed it fails.
 */
public class PigmentException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** What kind of error. */
  private final Status code;
  /** The number of the detail. */
  private final int detail;
  /** What may help, or empty. */
  private final String hint;
  /** Of a batch, or -1. */
  private final long row;
  /** That is involved, or empty. */
  private final String file;
  /** In the file, or -1. */
  private final long offset;

  /**
   * An error that the caller makes.
   *
   * @param code what kind of error
   * @param message names the object and the value
   */
  public PigmentException(Status code, String message) {
    this(new Report(code, 0, message, "", -1, "", -1), null);
  }

  PigmentException(Report report, Throwable cause) {
    super(report.message(), cause);
    code = report.code();
    detail = report.detail();
    hint = report.hint();
    row = report.row();
    file = report.file();
    offset = report.offset();
  }

  /** All that the library says of an error; texts are empty and numbers -1 where it says nothing. */
  record Report(Status code, int detail, String message, String hint, long row, String file, long offset) {}

  /**
   * What kind of error it is.
   *
   * @return the code, never {@link Status#OK}
   */
  public Status code() {
    return code;
  }

  /**
   * What it is more exactly.
   *
   * @return the detail, {@link Detail#NONE} where there is none
   */
  public Detail detail() {
    return Detail.of(detail);
  }

  /**
   * What may help.
   *
   * @return a sentence, or an empty text
   */
  public String hint() {
    return hint;
  }

  /**
   * The offending row of a batch.
   *
   * @return its number, from 0 on, or -1
   */
  public long row() {
    return row;
  }

  /**
   * The file that is damaged or missing.
   *
   * @return its path, or an empty text
   */
  public String file() {
    return file;
  }

  /**
   * Where the file is damaged.
   *
   * @return bytes from its begin, or -1
   */
  public long offset() {
    return offset;
  }

  /**
   * Whether the same call may succeed later.
   *
   * @return whether a retry can help
   */
  public boolean isRetryable() {
    return Functions.statusRetryable(code.number());
  }

  /**
   * Whose doing it is.
   *
   * @return the caller's, the environment's or the library's
   */
  public Fault fault() {
    return Fault.of(Functions.statusFault(code.number()));
  }
}
