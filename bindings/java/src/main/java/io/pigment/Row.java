// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One record of a result. What was not asked for, or what the record does not have, is null; a distance or score is NaN then.
 *
 * @param id of the record
 * @param document its text
 * @param metadata strings, longs, doubles, booleans and lists of these; unmodifiable
 * @param uri where it is from
 * @param embedding its vector
 * @param distance from the query
 * @param score in a text search, the higher the better
 * @param highlights where the words of a text search are in the document
 */
public record Row(
    String id, String document, Map<String, Object> metadata, String uri, float[] embedding, float distance, float score,
    List<Highlight> highlights) {
  /** Vectors are compared by their numbers. */
  @Override
  public boolean equals(Object other) {
    return other instanceof Row row && id.equals(row.id) && Objects.equals(document, row.document)
        && Objects.equals(metadata, row.metadata) && Objects.equals(uri, row.uri) && Arrays.equals(embedding, row.embedding)
        && Float.compare(distance, row.distance) == 0 && Float.compare(score, row.score) == 0
        && Objects.equals(highlights, row.highlights);
  }

  @Override
  public int hashCode() {
    return Objects.hash(id, document, metadata, uri, Arrays.hashCode(embedding), distance, score, highlights);
  }
}
