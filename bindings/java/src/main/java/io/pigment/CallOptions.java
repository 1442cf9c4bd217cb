// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.time.Duration;
import java.util.Objects;

/** How one call may end early, and what a read must have seen. Immutable. */
public final class CallOptions {
  /** Nothing of it. */
  public static final CallOptions NONE = new CallOptions(null, 0, null, 0);

  private final Duration timeout; // null: none, or started
  private final long deadlineNanos; // 0: none, or not started
  private final CancelToken token;
  private final long position;

  private CallOptions(Duration timeout, long deadlineNanos, CancelToken token, long position) {
    this.timeout = timeout;
    this.deadlineNanos = deadlineNanos;
    this.token = token;
    this.position = position;
  }

  /**
   * The call ends with {@link DeadlineExceededException} after that time, which begins when it is called; of an asynchronous call,
   * when it is asked for.
   *
   * @param timeout how long it may take
   * @return these options with that timeout
   */
  public CallOptions withTimeout(Duration timeout) {
    return new CallOptions(Objects.requireNonNull(timeout, "timeout"), 0, token, position);
  }

  /**
   * The call ends with {@link CancelledException} when the token is set.
   *
   * @param token not closed before the call ends
   * @return these options with that token
   */
  public CallOptions withCancelToken(CancelToken token) {
    return new CallOptions(timeout, deadlineNanos, Objects.requireNonNull(token, "token"), position);
  }

  /**
   * A read fails, with {@link Detail#STALE}, unless the store has reached that position of the log.
   *
   * @param position as {@link WriteResult#position} and {@link Client#position} give it
   * @return these options with that position
   */
  public CallOptions withMinPosition(long position) {
    return new CallOptions(timeout, deadlineNanos, token, position);
  }

  /** The same with the time from now on. */
  CallOptions started() {
    if (timeout == null) {
      return this;
    }
    long now = Functions.nowNs();
    long most = Long.MAX_VALUE - now;
    boolean beyond = timeout.compareTo(Duration.ofNanos(most)) >= 0;
    long nanos = beyond ? most : Math.max(timeout.isNegative() ? 0 : timeout.toNanos(), 0);
    return new CallOptions(null, Math.max(now + nanos, 1), token, position);
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  CancelToken token() {
    return token;
  }

  long position() {
    return position;
  }
}
