// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** How a store is opened, as variables say it; the same names in every binding. Immutable; any thread. */
record Environment(Map<String, String> variables) {
  /** "" in memory. */
  String path() {
    String path = text("PIGMENT_PATH");
    return path.isEmpty() || path.equals(":memory:") ? "" : Path.of(path).toAbsolutePath().toString();
  }

  Scope scope() {
    return new Scope(named("PIGMENT_TENANT"), named("PIGMENT_DATABASE"));
  }

  OpenOptions options() {
    OpenOptions options = new OpenOptions().sync(syncMode());
    options.syncIntervalMillis = (int) number("PIGMENT_SYNC_INTERVAL_MS", 0xffffffffL);
    options.memoryBudgetBytes = number("PIGMENT_MEMORY_BUDGET_BYTES", Long.MAX_VALUE);
    options.flushRows = (int) number("PIGMENT_FLUSH_ROWS_MAX", 0xffffffffL);
    options.flushBytes = number("PIGMENT_FLUSH_BYTES_MAX", Long.MAX_VALUE);
    options.readOnly = flag("PIGMENT_READ_ONLY");
    options.mustExist = flag("PIGMENT_MUST_EXIST");
    options.reserveBytes = number("PIGMENT_RESERVE_BYTES", Long.MAX_VALUE);
    options.backgroundThreads = text("PIGMENT_BACKGROUND_THREADS").equals("-1") ? -1 : (int) number("PIGMENT_BACKGROUND_THREADS", Integer.MAX_VALUE);
    options.eraseLog = flag("PIGMENT_ERASE_LOG");
    options.mapFiles = flag("PIGMENT_MAP_FILES");
    return options;
  }

  private String text(String name) {
    return variables.getOrDefault(name, "");
  }

  private String named(String name) {
    String value = text(name);
    return value.isEmpty() ? null : value;
  }

  private SyncMode syncMode() {
    String value = text("PIGMENT_SYNC_MODE");
    return switch (value) {
      case "", "full" -> SyncMode.FULL;
      case "interval" -> SyncMode.INTERVAL;
      case "off" -> SyncMode.OFF;
      default -> throw refused("PIGMENT_SYNC_MODE", value, "full, interval or off");
    };
  }

  private long number(String name, long most) {
    String value = text(name);
    if (value.isEmpty()) {
      return 0;
    }
    try {
      long number = Long.parseUnsignedLong(value);
      if (number >= 0 && number <= most) {
        return number;
      }
    } catch (NumberFormatException notANumber) {
      // refused below
    }
    throw refused(name, value, "a whole number up to " + most);
  }

  private boolean flag(String name) {
    String value = text(name);
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "", "0", "false" -> false;
      case "1", "true" -> true;
      default -> throw refused(name, value, "true or false");
    };
  }

  private static InvalidArgumentException refused(String name, String value, String expected) {
    return new InvalidArgumentException(name + " is \"" + value + "\", expected " + expected);
  }
}
