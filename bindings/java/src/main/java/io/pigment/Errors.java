// SPDX-License-Identifier: Apache-2.0
//
// From a status and an error of the library to an exception.

package io.pigment;

import java.lang.foreign.MemorySegment;

final class Errors {
  private Errors() {}

  /** The exception for a failed call; frees `error`, which may be NULL. */
  static RuntimeException taken(int status, MemorySegment error) {
    PigmentException.Report report;
    try {
      report = new PigmentException.Report(
          Status.of(status), Functions.errorDetail(error), text(Functions.errorMessage(error)), text(Functions.errorHint(error)),
          Functions.errorRow(error), text(Functions.errorFile(error)), Functions.errorOffset(error));
    } finally {
      Functions.errorFree(error);
    }
    PigmentException exception = exception(report, Callbacks.takeFailure());
    if (report.detail() == Detail.CLOSED.number()) {
      return new IllegalStateException(exception.getMessage(), exception); // as of a handle that is closed here
    }
    return exception;
  }

  /** No default: a new code must be given its class. */
  private static PigmentException exception(PigmentException.Report report, Throwable cause) {
    return switch (report.code()) {
      case CANCELLED -> new CancelledException(report, cause);
      case INVALID_ARGUMENT -> new InvalidArgumentException(report, cause);
      case DEADLINE_EXCEEDED -> new DeadlineExceededException(report, cause);
      case NOT_FOUND -> new NotFoundException(report, cause);
      case ALREADY_EXISTS -> new AlreadyExistsException(report, cause);
      case RESOURCE_EXHAUSTED -> new ResourceExhaustedException(report, cause);
      case FAILED_PRECONDITION -> new FailedPreconditionException(report, cause);
      case UNIMPLEMENTED -> new UnimplementedException(report, cause);
      case DATA_LOSS -> new CorruptionException(report, cause);
      case VERSION_MISMATCH -> new VersionMismatchException(report, cause);
      case OK, UNKNOWN, PERMISSION_DENIED, ABORTED, OUT_OF_RANGE, INTERNAL, UNAVAILABLE, UNAUTHENTICATED, UNPROCESSABLE_ENTITY ->
          new PigmentException(report, cause);
    };
  }

  /** The code whose name a report of the library has. */
  static Status named(String name) {
    for (Status status : Status.values()) {
      if (status.name().equals(name)) {
        return status;
      }
    }
    return Status.UNKNOWN;
  }

  /** A NUL-terminated text of the library. */
  static String text(MemorySegment address) {
    return address.address() == 0 ? "" : address.reinterpret(Long.MAX_VALUE).getString(0);
  }
}
