// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.lang.foreign.MemorySegment;

/** Which records are counted; nothing given: all. */
public final class CountRequest extends Selection<CountRequest> {
  /** Of all records. */
  public CountRequest() {}

  MemorySegment struct(Call call) {
    MemorySegment request = call.struct(Structs.CountRequest.SIZE);
    put(call, request, Structs.CountRequest.IDS_COUNT);
    return request;
  }

  @Override
  CountRequest self() {
    return this;
  }
}
