// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** What is searched for, among which records, with which columns; by default ten results with documents, metadata and distances. */
public final class QueryRequest extends Selection<QueryRequest> {
  private Embeddings embeddings;
  private List<String> texts;
  private long results = 10;
  private int include;
  private boolean explain;
  private double recall;
  private long searchWidth;
  private Double maxDistance;
  private int threads;

  /** Of nothing yet: embeddings or texts must be given. */
  public QueryRequest() {}

  /**
   * The records nearest to each of these vectors. They win over texts.
   *
   * @param embeddings a row for each query
   * @return this
   */
  public QueryRequest embeddings(Embeddings embeddings) {
    this.embeddings = Objects.requireNonNull(embeddings, "embeddings");
    return this;
  }

  /**
   * The records nearest to each of these vectors.
   *
   * @param rows a vector for each query
   * @return this
   */
  public QueryRequest embeddings(float[]... rows) {
    return embeddings(Embeddings.of(rows));
  }

  /**
   * The records nearest to each of these texts, by the collection's embedding function.
   *
   * @param texts a text for each query
   * @return this
   */
  public QueryRequest texts(String... texts) {
    return texts(Arrays.asList(texts));
  }

  /**
   * The records nearest to each of these texts, by the collection's embedding function.
   *
   * @param texts a text for each query
   * @return this
   */
  public QueryRequest texts(List<String> texts) {
    this.texts = Objects.requireNonNull(texts, "texts");
    return this;
  }

  /**
   * How many records are found for each query.
   *
   * @param results 1 or more
   * @return this
   */
  public QueryRequest results(long results) {
    this.results = results;
    return this;
  }

  /**
   * The columns of the result; none: ids alone.
   *
   * @param columns any
   * @return this
   */
  public QueryRequest include(Include... columns) {
    include = bits(columns);
    return this;
  }

  /**
   * Which part of the nearest records is to be found on average.
   *
   * @param recall over 0, to 1 for all of them
   * @return this
   */
  public QueryRequest recall(double recall) {
    this.recall = recall;
    return this;
  }

  /**
   * How many nodes of a graph are visited, or clusters probed, in place of a recall.
   *
   * @param searchWidth 1 or more; 0: as the configuration says
   * @return this
   */
  public QueryRequest searchWidth(long searchWidth) {
    this.searchWidth = searchWidth;
    return this;
  }

  /**
   * Only records at this distance or nearer.
   *
   * @param maxDistance not NaN
   * @return this
   */
  public QueryRequest maxDistance(double maxDistance) {
    this.maxDistance = maxDistance;
    return this;
  }

  /**
   * How many threads of the library may share many queries.
   *
   * @param threads 1 or more; 0: as many as there are cores
   * @return this
   */
  public QueryRequest threads(int threads) {
    this.threads = threads;
    return this;
  }

  /**
   * With an account of how the answer was found.
   *
   * @return this
   */
  public QueryRequest explain() {
    explain = true;
    return this;
  }

  MemorySegment struct(Call call) {
    MemorySegment request = call.struct(Structs.QueryRequest.SIZE);
    if (embeddings != null) {
      embeddings.put(call, request, Structs.QueryRequest.EMBEDDINGS);
    }
    if (texts != null) {
      request.set(JAVA_LONG, Structs.QueryRequest.TEXTS_COUNT, Texts.put(call, request, Structs.QueryRequest.TEXTS, texts, "texts"));
    }
    request.set(JAVA_LONG, Structs.QueryRequest.N_RESULTS, results);
    put(call, request, Structs.QueryRequest.IDS_COUNT);
    request.set(JAVA_INT, Structs.QueryRequest.INCLUDE, include);
    request.set(JAVA_BOOLEAN, Structs.QueryRequest.EXPLAIN, explain);
    request.set(JAVA_DOUBLE, Structs.QueryRequest.RECALL, recall);
    request.set(JAVA_LONG, Structs.QueryRequest.SEARCH_WIDTH, searchWidth);
    if (maxDistance != null) {
      request.set(JAVA_BOOLEAN, Structs.QueryRequest.HAS_MAX_DISTANCE, true);
      request.set(JAVA_DOUBLE, Structs.QueryRequest.MAX_DISTANCE, maxDistance);
    }
    request.set(JAVA_INT, Structs.QueryRequest.THREADS, threads);
    return request;
  }

  @Override
  QueryRequest self() {
    return this;
  }
}
