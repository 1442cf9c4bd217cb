// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * What a compaction did.
 *
 * @param records live ones
 * @param segmentsIn that there were
 * @param segmentsOut that there are
 * @param bytesBefore of segments and their deletions
 * @param bytesAfter of the same
 */
public record Compaction(long records, long segmentsIn, long segmentsOut, long bytesBefore, long bytesAfter) {
  static Compaction of(MemorySegment struct) {
    return new Compaction(
        struct.get(JAVA_LONG, Structs.Compaction.RECORDS), struct.get(JAVA_LONG, Structs.Compaction.SEGMENTS_IN),
        struct.get(JAVA_LONG, Structs.Compaction.SEGMENTS_OUT), struct.get(JAVA_LONG, Structs.Compaction.BYTES_BEFORE),
        struct.get(JAVA_LONG, Structs.Compaction.BYTES_AFTER));
  }
}
