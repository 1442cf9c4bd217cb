// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** Which records are deleted; ids or a filter must be given. */
public final class DeleteRequest extends Selection<DeleteRequest> {
  private Long limit;

  /** Of nothing yet. */
  public DeleteRequest() {}

  /**
   * At most so many records; only with a filter.
   *
   * @param limit 0 or more
   * @return this
   */
  public DeleteRequest limit(long limit) {
    this.limit = limit;
    return this;
  }

  MemorySegment struct(Call call) {
    MemorySegment request = call.struct(Structs.DeleteRequest.SIZE);
    put(call, request, Structs.DeleteRequest.IDS_COUNT);
    if (limit != null) {
      request.set(JAVA_BOOLEAN, Structs.DeleteRequest.HAS_LIMIT, true);
      request.set(JAVA_LONG, Structs.DeleteRequest.LIMIT, limit);
    }
    return request;
  }

  @Override
  DeleteRequest self() {
    return this;
  }
}
