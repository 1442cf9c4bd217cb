// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How far long work is: {@link CancelToken#progress}.
 *
 * @param phase flush, merge, index, log, segments, records or search, one after the other
 * @param unit what is counted: rows, bytes, batches, files or collections
 * @param done of this phase; never goes back within it
 * @param total of this phase; empty when nobody knows
 */
public record Progress(String phase, String unit, long done, OptionalLong total) {
  static Optional<Progress> of(MemorySegment struct) {
    MemorySegment phase = struct.get(ADDRESS, Structs.Progress.PHASE);
    if (phase.address() == 0) {
      return Optional.empty();
    }
    long total = struct.get(JAVA_LONG, Structs.Progress.TOTAL);
    return Optional.of(new Progress(
        Errors.text(phase), Errors.text(struct.get(ADDRESS, Structs.Progress.UNIT)),
        struct.get(JAVA_LONG, Structs.Progress.DONE), total == 0 ? OptionalLong.empty() : OptionalLong.of(total)));
  }
}
