// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.RandomAccess;

/**
 * Records as columns, each aligned with the ids. A column that was not asked for is null, and so is what a record does not have. Nothing in it
 * belongs to the library any more; texts and metadata are decoded when they are looked at, each time. Any thread.
 *
 * @param ids in the order of the result
 * @param documents their texts, in which bytes that are no UTF-8 are replaced
 * @param metadatas unmodifiable maps of strings, longs, doubles, booleans and lists of these
 * @param uris where they are from
 * @param embeddings their vectors
 * @param distances from the query, ascending
 * @param scores of a text search, descending
 * @param highlights of a text search, where the words are in the documents
 */
public record Rows(
    List<String> ids, List<String> documents, List<Map<String, Object>> metadatas, List<String> uris, float[][] embeddings,
    float[] distances, float[] scores, List<List<Highlight>> highlights) implements Iterable<Row> {
  /**
   * How many records there are.
   *
   * @return their number
   */
  public int size() {
    return ids.size();
  }

  /**
   * One record of them.
   *
   * @param row from 0 on
   * @return the record
   */
  public Row row(int row) {
    return new Row(
        ids.get(row), documents == null ? null : documents.get(row), metadatas == null ? null : metadatas.get(row),
        uris == null ? null : uris.get(row), embeddings == null ? null : embeddings[row],
        distances == null ? Float.NaN : distances[row], scores == null ? Float.NaN : scores[row],
        highlights == null ? null : highlights.get(row));
  }

  /**
   * The document of a record as the bytes that were stored.
   *
   * @param row from 0 on
   * @return a copy of the bytes, or null
   */
  public byte[] documentBytes(int row) {
    if (documents instanceof Slice<String> slice && slice.whole instanceof TextList texts) {
      return texts.bytes(slice.begin + Objects.checkIndex(row, size()));
    }
    String document = documents == null ? null : documents.get(row);
    return document == null ? null : document.getBytes(UTF_8);
  }

  /** Their rows in order. */
  @Override
  public Iterator<Row> iterator() {
    return new AbstractList<Row>() {
      @Override
      public Row get(int row) {
        return row(row);
      }

      @Override
      public int size() {
        return Rows.this.size();
      }
    }.iterator();
  }

  /** Vectors, distances and scores are compared by their numbers. */
  @Override
  public boolean equals(Object other) {
    return other instanceof Rows rows && ids.equals(rows.ids) && Objects.equals(documents, rows.documents)
        && Objects.equals(metadatas, rows.metadatas) && Objects.equals(uris, rows.uris)
        && Arrays.deepEquals(embeddings, rows.embeddings) && Arrays.equals(distances, rows.distances)
        && Arrays.equals(scores, rows.scores) && Objects.equals(highlights, rows.highlights);
  }

  @Override
  public int hashCode() {
    return Objects.hash(ids, documents, metadatas, uris, Arrays.deepHashCode(embeddings), Arrays.hashCode(distances),
        Arrays.hashCode(scores), highlights);
  }

  /** Some rows of a column. */
  static final class Slice<T> extends AbstractList<T> implements RandomAccess {
    private final List<T> whole;
    private final int begin;
    private final int size;

    Slice(List<T> whole, int begin, int end) {
      this.whole = whole;
      this.begin = begin;
      this.size = end - begin;
    }

    @Override
    public int size() {
      return size;
    }

    @Override
    public T get(int row) {
      return whole.get(begin + Objects.checkIndex(row, size));
    }
  }
}
