// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * What a write did.
 *
 * @param inserted records that were not there before
 * @param updated records that were
 * @param skipped adds of ids that exist, updates and deletes of ids that do not
 * @param deleted records
 * @param position of the write in the log
 */
public record WriteResult(long inserted, long updated, long skipped, long deleted, long position) {
  static WriteResult of(MemorySegment struct) {
    return new WriteResult(
        struct.get(JAVA_LONG, Structs.WriteResult.INSERTED), struct.get(JAVA_LONG, Structs.WriteResult.UPDATED),
        struct.get(JAVA_LONG, Structs.WriteResult.SKIPPED), struct.get(JAVA_LONG, Structs.WriteResult.DELETED),
        struct.get(JAVA_LONG, Structs.WriteResult.POSITION));
  }
}
