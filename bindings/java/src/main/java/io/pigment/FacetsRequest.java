// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** Which values are counted, of which records. */
public final class FacetsRequest extends Selection<FacetsRequest> {
  private final List<String> keys;
  private Long limit;

  /**
   * The values of these keys.
   *
   * @param keys of metadata, or {@code chroma:uri}; each once
   */
  public FacetsRequest(String... keys) {
    this(Arrays.asList(keys));
  }

  /**
   * The values of these keys.
   *
   * @param keys of metadata, or {@code chroma:uri}; each once
   */
  public FacetsRequest(List<String> keys) {
    this.keys = Objects.requireNonNull(keys, "keys");
  }

  /**
   * At most so many values of each key, the most frequent ones.
   *
   * @param limit 0 or more
   * @return this
   */
  public FacetsRequest limit(long limit) {
    this.limit = limit;
    return this;
  }

  MemorySegment struct(Call call) {
    MemorySegment request = call.struct(Structs.FacetsRequest.SIZE);
    request.set(JAVA_LONG, Structs.FacetsRequest.KEYS_COUNT, Texts.put(call, request, Structs.FacetsRequest.KEYS, keys, "keys"));
    put(call, request, Structs.FacetsRequest.IDS_COUNT);
    if (limit != null) {
      request.set(JAVA_BOOLEAN, Structs.FacetsRequest.HAS_LIMIT, true);
      request.set(JAVA_LONG, Structs.FacetsRequest.LIMIT, limit);
    }
    return request;
  }

  @Override
  FacetsRequest self() {
    return this;
  }
}
