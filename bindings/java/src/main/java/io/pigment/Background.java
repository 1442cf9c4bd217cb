// SPDX-License-Identifier: Apache-2.0
//
// Calls as futures. Any thread. The shared threads are made when the first future is asked for, end when idle, and do not keep
// the process alive.

package io.pigment;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

final class Background {
  private static final class Shared {
    private static final AtomicLong MADE = new AtomicLong();
    private static final ThreadPoolExecutor THREADS = make();

    private static ThreadPoolExecutor make() {
      int most = Math.max(4, Runtime.getRuntime().availableProcessors());
      var threads = new ThreadPoolExecutor(most, most, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
        Thread thread = new Thread(task, "pigment-" + MADE.incrementAndGet());
        thread.setDaemon(true);
        return thread;
      });
      threads.allowCoreThreadTimeOut(true);
      return threads;
    }
  }

  private Background() {}

  static Executor shared() {
    return Shared.THREADS;
  }

  /** The time of the options begins now. Whoever completes the future before the call does ends the call. */
  static <T> CompletableFuture<T> start(Executor executor, CallOptions options, Function<CallOptions, T> call) {
    CallOptions started = options.started();
    CancelToken asked = options.token();
    CancelToken token = new CancelToken();
    if (asked != null) {
      asked.follow(token);
    }
    CompletableFuture<T> future = new CompletableFuture<>();
    future.whenComplete((_, _) -> {
      token.cancel();
      token.close(); // frees it when the call has ended
      if (asked != null) {
        asked.unfollow(token);
      }
    });
    CallOptions own = started.withCancelToken(token);
    try {
      executor.execute(() -> run(future, own, call));
    } catch (RuntimeException refused) {
      future.completeExceptionally(refused);
    }
    return future;
  }

  private static <T> void run(CompletableFuture<T> future, CallOptions options, Function<CallOptions, T> call) {
    if (future.isDone()) {
      return;
    }
    try {
      future.complete(call.apply(options));
    } catch (Throwable thrown) {
      future.completeExceptionally(thrown);
    }
  }
}
