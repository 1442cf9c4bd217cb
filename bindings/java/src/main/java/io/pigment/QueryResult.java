// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The answer to a query or a text search.
 *
 * @param queries the records found for each query, the best first
 * @param included the columns that they have
 * @param position of the log, which the answer saw
 * @param explain how the answer was found, as JSON, where that was asked for
 */
public record QueryResult(List<Rows> queries, Set<Include> included, long position, Optional<String> explain) {
  /**
   * The records found for one query.
   *
   * @param query from 0 on
   * @return the best first
   */
  public Rows rows(int query) {
    return queries.get(query);
  }
}
