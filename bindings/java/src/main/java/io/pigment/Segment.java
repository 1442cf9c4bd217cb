// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Map;

/**
 * A part of a collection that is written and does not change but for deletions.
 *
 * @param segment its number
 * @param kind of index of its vectors
 * @param rows that were written
 * @param liveRows that are not deleted
 * @param bytes of the segment
 * @param deletionsBytes of its deletions
 * @param dimension of its vectors
 * @param shared whether a fork has it too
 */
public record Segment(long segment, String kind, long rows, long liveRows, long bytes, long deletionsBytes, long dimension, boolean shared) {
  static Segment of(Map<String, Object> object) {
    return new Segment(
        Json.number(object, "segment"), Json.text(object, "kind"), Json.number(object, "rows"), Json.number(object, "live_rows"),
        Json.number(object, "bytes"), Json.number(object, "deletions_bytes"), Json.number(object, "dimension"),
        Boolean.TRUE.equals(object.get("shared")));
  }
}
