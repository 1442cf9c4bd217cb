// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The answer to a get or a peek.
 *
 * @param rows the records, in the order asked for
 * @param included the columns that they have
 * @param position of the log, which the answer saw
 * @param cursor where a limit ended the get, for the next one
 * @param explain how the answer was found, as JSON, where that was asked for
 */
public record GetResult(Rows rows, Set<Include> included, long position, Optional<String> cursor, Optional<String> explain)
    implements Iterable<Row> {
  /**
   * The ids of the records.
   *
   * @return as in {@link Rows}
   */
  public List<String> ids() {
    return rows.ids();
  }

  /**
   * The documents of the records.
   *
   * @return as in {@link Rows}
   */
  public List<String> documents() {
    return rows.documents();
  }

  /**
   * The metadata of the records.
   *
   * @return as in {@link Rows}
   */
  public List<Map<String, Object>> metadatas() {
    return rows.metadatas();
  }

  /** The records in order. */
  @Override
  public Iterator<Row> iterator() {
    return rows.iterator();
  }
}
