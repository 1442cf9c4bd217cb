// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Which records are read, in which order, with which columns; nothing given: all, with documents and metadata. */
public final class GetRequest extends Selection<GetRequest> {
  private Long limit;
  private long offset;
  private int include;
  private boolean explain;
  private String orderJson;
  private final List<Object> order = new ArrayList<>();
  private String cursor;

  /** Of all records. */
  public GetRequest() {}

  /**
   * At most so many records.
   *
   * @param limit 0 or more
   * @return this
   */
  public GetRequest limit(long limit) {
    this.limit = limit;
    return this;
  }

  /**
   * Without the first ones.
   *
   * @param offset how many are passed over
   * @return this
   */
  public GetRequest offset(long offset) {
    this.offset = offset;
    return this;
  }

  /**
   * The columns of the result; none: ids alone.
   *
   * @param columns all but distances
   * @return this
   */
  public GetRequest include(Include... columns) {
    include = bits(columns);
    return this;
  }

  /**
   * Ordered by a key, after those that were named before.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param descending the largest first
   * @return this
   */
  public GetRequest orderBy(String key, boolean descending) {
    Map<String, Object> one = new LinkedHashMap<>();
    one.put("key", key);
    one.put("descending", descending);
    order.add(one);
    orderJson = Json.write(order);
    return this;
  }

  /**
   * The order as printed JSON, in place of what was named before.
   *
   * @param json a list of {"key", "descending"}
   * @return this
   */
  public GetRequest orderByJson(String json) {
    orderJson = Objects.requireNonNull(json, "json");
    return this;
  }

  /**
   * Only records behind a cursor.
   *
   * @param cursor of the result of a get with the same order
   * @return this
   */
  public GetRequest cursor(String cursor) {
    this.cursor = Objects.requireNonNull(cursor, "cursor");
    return this;
  }

  /**
   * With an account of how the answer was found.
   *
   * @return this
   */
  public GetRequest explain() {
    explain = true;
    return this;
  }

  MemorySegment struct(Call call) {
    MemorySegment request = call.struct(Structs.GetRequest.SIZE);
    put(call, request, Structs.GetRequest.IDS_COUNT);
    if (limit != null) {
      request.set(JAVA_BOOLEAN, Structs.GetRequest.HAS_LIMIT, true);
      request.set(JAVA_LONG, Structs.GetRequest.LIMIT, limit);
    }
    request.set(JAVA_LONG, Structs.GetRequest.OFFSET, offset);
    request.set(JAVA_INT, Structs.GetRequest.INCLUDE, include);
    request.set(JAVA_BOOLEAN, Structs.GetRequest.EXPLAIN, explain);
    call.text(request, Structs.GetRequest.ORDER_BY_JSON, Structs.GetRequest.ORDER_BY_JSON_SIZE, orderJson, "order_by");
    call.text(request, Structs.GetRequest.CURSOR, Structs.GetRequest.CURSOR_SIZE, cursor, "cursor");
    return request;
  }

  @Override
  GetRequest self() {
    return this;
  }
}
