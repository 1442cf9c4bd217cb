// SPDX-License-Identifier: Apache-2.0
//
// From a pigment_result to Java's records. Everything is copied, so that a result holds no memory of the library. One thread.

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

final class Results {
  private final MemorySegment result;
  private final MemorySegment scratch; // a text column, or a size
  private final long[] offsets;
  private final int rows;

  private Results(Call call, MemorySegment result) {
    this.result = result;
    scratch = call.allocate(Structs.TextColumn.SIZE);
    int queries = Math.toIntExact(Functions.resultQueryCount(result));
    offsets = Functions.resultQueryOffsets(result).reinterpret(8L * (queries + 1)).toArray(JAVA_LONG);
    rows = Math.toIntExact(offsets[queries]);
  }

  /** Frees `result`. */
  static GetResult get(Call call, MemorySegment result) {
    try {
      Results read = new Results(call, result);
      Optional<String> cursor = read.text(Functions.resultCursor(result, read.scratch));
      return new GetResult(
          read.queries().getFirst(), read.included(), Functions.resultPosition(result), cursor, read.explain());
    } finally {
      Functions.resultFree(result);
    }
  }

  /** Frees `result`. */
  static QueryResult query(Call call, MemorySegment result) {
    try {
      Results read = new Results(call, result);
      return new QueryResult(read.queries(), read.included(), Functions.resultPosition(result), read.explain());
    } finally {
      Functions.resultFree(result);
    }
  }

  private List<Rows> queries() {
    TextList ids = column(Functions.resultIds(result, scratch));
    TextList documents = column(Functions.resultDocuments(result, scratch));
    TextList metadatas = column(Functions.resultMetadatas(result, scratch));
    TextList uris = column(Functions.resultUris(result, scratch));
    TextList highlights = column(Functions.resultHighlights(result, scratch));
    List<Map<String, Object>> maps = metadatas == null ? null : metadatas.json(TextList::metadata);
    List<List<Highlight>> places = highlights == null ? null : highlights.json(Results::highlights);
    float[] distances = floats(Functions.resultDistances(result));
    float[] scores = floats(Functions.resultScores(result));
    float[][] embeddings = embeddings();
    List<Rows> queries = new ArrayList<>(offsets.length - 1);
    for (int query = 0; query + 1 < offsets.length; ++query) {
      int begin = (int) offsets[query];
      int end = (int) offsets[query + 1];
      queries.add(new Rows(
          slice(ids, begin, end), slice(documents, begin, end), slice(maps, begin, end), slice(uris, begin, end),
          embeddings == null ? null : Arrays.copyOfRange(embeddings, begin, end), slice(distances, begin, end),
          slice(scores, begin, end), slice(places, begin, end)));
    }
    return Collections.unmodifiableList(queries);
  }

  private TextList column(boolean present) {
    return present ? Texts.copy(scratch, rows) : null;
  }

  private static <T> List<T> slice(List<T> column, int begin, int end) {
    return column == null ? null : new Rows.Slice<>(column, begin, end);
  }

  private float[] slice(float[] column, int begin, int end) {
    return column == null || offsets.length == 2 ? column : Arrays.copyOfRange(column, begin, end);
  }

  private float[] floats(MemorySegment values) {
    return values.address() == 0 ? null : values.reinterpret(4L * rows).toArray(JAVA_FLOAT);
  }

  private float[][] embeddings() {
    MemorySegment values = Functions.resultEmbeddings(result, scratch);
    if (values.address() == 0) {
      return null;
    }
    int dimension = Math.toIntExact(scratch.get(JAVA_LONG, 0));
    MemorySegment matrix = values.reinterpret(4L * rows * dimension);
    float[][] vectors = new float[rows][dimension];
    for (int row = 0; row < rows; ++row) {
      MemorySegment.copy(matrix, JAVA_FLOAT, 4L * row * dimension, vectors[row], 0, dimension);
    }
    return vectors;
  }

  private Set<Include> included() {
    int bits = Functions.resultIncluded(result);
    Set<Include> included = EnumSet.noneOf(Include.class);
    for (Include one : Include.values()) {
      if ((bits & one.number()) != 0) {
        included.add(one);
      }
    }
    return Collections.unmodifiableSet(included);
  }

  private Optional<String> explain() {
    return text(Functions.resultExplain(result, scratch));
  }

  /** Its size is in `scratch`. */
  private Optional<String> text(MemorySegment data) {
    if (data.address() == 0) {
      return Optional.empty();
    }
    return Optional.of(new String(data.reinterpret(scratch.get(JAVA_LONG, 0)).toArray(ValueLayout.JAVA_BYTE), UTF_8));
  }

  private static List<Highlight> highlights(Object json) {
    return ((List<?>) json).stream().map(one -> (List<?>) one)
        .map(pair -> new Highlight((Long) pair.get(0), (Long) pair.get(1))).toList();
  }
}
