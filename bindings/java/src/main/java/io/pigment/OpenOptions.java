// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;

/** How a store is opened. What is not said is the library's default. Opens of one directory in a process must give equal options. One thread. */
public final class OpenOptions {
  private SyncMode sync = SyncMode.FULL;
  int syncIntervalMillis;
  long memoryBudgetBytes;
  int flushRows;
  long flushBytes;
  boolean readOnly;
  boolean mustExist;
  long reserveBytes;
  int backgroundThreads;
  boolean eraseLog;
  boolean mapFiles;

  /** The defaults. */
  public OpenOptions() {}

  /**
   * When a write is durable.
   *
   * @param mode by default, when it returns
   * @return this
   */
  public OpenOptions sync(SyncMode mode) {
    sync = Objects.requireNonNull(mode, "mode");
    return this;
  }

  /**
   * How long after a write it is synced at the latest, with {@link SyncMode#INTERVAL}.
   *
   * @param interval whole milliseconds, 1 or more
   * @return this
   */
  public OpenOptions syncInterval(Duration interval) {
    long millis = interval.toMillis();
    if (millis < 1 || millis > 0xffffffffL) {
      throw new InvalidArgumentException("sync interval: expected 1 to 4294967295 milliseconds, got " + interval);
    }
    syncIntervalMillis = (int) millis;
    return this;
  }

  /**
   * How much memory the store may use.
   *
   * @param bytes 0: no limit
   * @return this
   */
  public OpenOptions memoryBudget(long bytes) {
    memoryBudgetBytes = bytes;
    return this;
  }

  /**
   * When records that are in memory alone are written to a segment.
   *
   * @param rows at most so many; 0: 16,384
   * @param bytes at most so many; 0: 64 MiB
   * @return this
   */
  public OpenOptions flushAt(int rows, long bytes) {
    flushRows = rows;
    flushBytes = bytes;
    return this;
  }

  /**
   * Takes no lock, and writes and creates nothing.
   *
   * @return this
   */
  public OpenOptions readOnly() {
    readOnly = true;
    return this;
  }

  /**
   * Fails with {@link NotFoundException} instead of creating the directory.
   *
   * @return this
   */
  public OpenOptions mustExist() {
    mustExist = true;
    return this;
  }

  /**
   * What is kept so that deletes go through on a full disk.
   *
   * @param bytes 0: the default; -1: none
   * @return this
   */
  public OpenOptions reserve(long bytes) {
    reserveBytes = bytes;
    return this;
  }

  /**
   * Threads that merge segments.
   *
   * @param threads 0: 1; -1: none, the writer who makes a merge necessary does it
   * @return this
   */
  public OpenOptions backgroundThreads(int threads) {
    backgroundThreads = threads;
    return this;
  }

  /**
   * Overwrites what was deleted before log files go.
   *
   * @return this
   */
  public OpenOptions eraseLog() {
    eraseLog = true;
    return this;
  }

  /**
   * Maps segments instead of reading them: a failing disk is a signal then, which ends the process.
   *
   * @return this
   */
  public OpenOptions mapFiles() {
    mapFiles = true;
    return this;
  }

  MemorySegment struct(Call call) {
    MemorySegment options = call.struct(Structs.OpenOptions.SIZE);
    options.set(JAVA_INT, Structs.OpenOptions.SYNC_MODE, sync.number());
    options.set(JAVA_INT, Structs.OpenOptions.SYNC_INTERVAL_MS, syncIntervalMillis);
    options.set(JAVA_LONG, Structs.OpenOptions.MEMORY_BUDGET_BYTES, memoryBudgetBytes);
    options.set(JAVA_INT, Structs.OpenOptions.FLUSH_ROWS_MAX, flushRows);
    options.set(JAVA_LONG, Structs.OpenOptions.FLUSH_BYTES_MAX, flushBytes);
    options.set(JAVA_BOOLEAN, Structs.OpenOptions.READ_ONLY, readOnly);
    options.set(JAVA_BOOLEAN, Structs.OpenOptions.MUST_EXIST, mustExist);
    options.set(JAVA_LONG, Structs.OpenOptions.RESERVE_BYTES, reserveBytes);
    options.set(JAVA_INT, Structs.OpenOptions.BACKGROUND_THREADS, backgroundThreads);
    options.set(JAVA_BOOLEAN, Structs.OpenOptions.ERASE_LOG, eraseLog);
    options.set(JAVA_BOOLEAN, Structs.OpenOptions.MAP_FILES, mapFiles);
    return options;
  }
}
