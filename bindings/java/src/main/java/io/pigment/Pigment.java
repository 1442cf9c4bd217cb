// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** What needs no open store. Any thread. */
public final class Pigment {
  private Pigment() {}

  /**
   * The version of the library that is loaded.
   *
   * @return as "0.2.0"
   */
  public static String version() {
    return Errors.text(Functions.version());
  }

  /**
   * The version of the C interface that the library has; this binding loads no other one.
   *
   * @return its number
   */
  public static int abiVersion() {
    return Functions.abiVersion();
  }

  /**
   * Compiler, source revision and SIMD path in use, for bug reports.
   *
   * @return one line
   */
  public static String buildInfo() {
    return Errors.text(Functions.buildInfo());
  }

  /**
   * What a code is called in messages.
   *
   * @param status any
   * @return words, as "invalid argument"
   */
  public static String words(Status status) {
    return Errors.text(Functions.statusName(status.number()));
  }

  /**
   * What PostgreSQL has for a code.
   *
   * @param status any
   * @return five characters
   */
  public static String sqlState(Status status) {
    return Errors.text(Functions.statusSqlstate(status.number()));
  }

  /**
   * What the library refuses to go beyond.
   *
   * @return the table of docs/limits.md
   */
  public static List<Limit> limits() {
    try (Call call = new Call()) {
      MemorySegment slot = call.slot();
      call.check(Functions.limits(slot, call.error()));
      return call.json(slot, json -> Json.objects(json).stream().map(Limit::of).toList());
    }
  }

  /**
   * Checks the store in a directory, which another process or nobody has open, as {@link Client#check(boolean)} does.
   *
   * @param directory of the store
   * @param full every row is searched for by its own vector, else a sample
   * @return what it found
   */
  public static CheckReport check(Path directory, boolean full) {
    return check(directory, full, CallOptions.NONE);
  }

  /**
   * Checks the store in a directory, which another process or nobody has open.
   *
   * @param directory of the store
   * @param full every row is searched for by its own vector, else a sample
   * @param options how the call may end early
   * @return what it found
   */
  public static CheckReport check(Path directory, boolean full, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment path = call.utf8(directory.toAbsolutePath().toString(), "directory");
      MemorySegment slot = call.slot();
      call.check(Functions.check(path, path.byteSize(), full, call.options(options), slot, call.error()));
      return call.json(slot, CheckReport::of);
    }
  }

  /**
   * Writes a new store with everything of another one that can be read, which is not changed, and to which nobody may write meanwhile.
   *
   * @param from directory of the damaged store
   * @param to directory that is missing, empty, or left by a repair that did not finish
   * @return what could be read
   */
  public static RepairReport repair(Path from, Path to) {
    return repair(from, to, CallOptions.NONE);
  }

  /**
   * Writes a new store with everything of another one that can be read.
   *
   * @param from directory of the damaged store
   * @param to directory that is missing, empty, or left by a repair that did not finish
   * @param options how the call may end early
   * @return what could be read
   */
  public static RepairReport repair(Path from, Path to, CallOptions options) {
    try (Call call = new Call()) {
      MemorySegment source = call.utf8(from.toAbsolutePath().toString(), "from");
      MemorySegment target = call.utf8(to.toAbsolutePath().toString(), "to");
      MemorySegment slot = call.slot();
      call.check(Functions.repair(
          source, source.byteSize(), target, target.byteSize(), call.options(options), slot, call.error()));
      return call.json(slot, RepairReport::of);
    }
  }
}
