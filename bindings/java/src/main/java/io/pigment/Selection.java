// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Which records a request is about: those that are in the ids, where ids are given, and match the filters, where filters are given. A request
 * is read when a call is made, and must not change meanwhile. One thread at a time.
 *
 * @param <T> the request itself
 */
public abstract sealed class Selection<T extends Selection<T>>
    permits GetRequest, QueryRequest, TextSearchRequest, DeleteRequest, CountRequest, FacetsRequest {
  private List<String> ids;
  private Where where;
  private WhereDocument whereDocument;

  Selection() {}

  /**
   * Only these records.
   *
   * @param ids of records; those that do not exist are passed over
   * @return this
   */
  public T ids(String... ids) {
    return ids(Arrays.asList(ids));
  }

  /**
   * Only these records.
   *
   * @param ids of records; those that do not exist are passed over
   * @return this
   */
  public T ids(List<String> ids) {
    this.ids = Objects.requireNonNull(ids, "ids");
    return self();
  }

  /**
   * Only records whose fields match.
   *
   * @param where a filter
   * @return this
   */
  public T where(Where where) {
    this.where = Objects.requireNonNull(where, "where");
    return self();
  }

  /**
   * Only records whose documents match.
   *
   * @param whereDocument a filter
   * @return this
   */
  public T whereDocument(WhereDocument whereDocument) {
    this.whereDocument = Objects.requireNonNull(whereDocument, "whereDocument");
    return self();
  }

  abstract T self();

  /** The fields of a request's struct from its ids_count on, which stand in this order in each of them. */
  void put(Call call, MemorySegment struct, long idsCount) {
    if (ids != null) {
      struct.set(JAVA_LONG, idsCount, Texts.put(call, struct, idsCount + 8, ids, "ids"));
    }
    long filters = idsCount + 8 + Structs.TextColumn.SIZE;
    call.text(struct, filters, filters + 8, where == null ? null : where.toJson(), "where");
    call.text(struct, filters + 16, filters + 24, whereDocument == null ? null : whereDocument.toJson(), "where_document");
  }

  /** The bits of a choice of columns; none of them: ids alone. */
  static int bits(Include... include) {
    int bits = 0;
    for (Include one : include) {
      bits |= one.number();
    }
    return bits == 0 ? Structs.INCLUDE_NOTHING : bits;
  }
}
