// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** What is searched for in documents by words, in a collection with a text index; by default ten results with documents and metadata. */
public final class TextSearchRequest extends Selection<TextSearchRequest> {
  private final List<String> queries;
  private long results = 10;
  private TextOperator operator = TextOperator.ANY;
  private int include;
  private boolean highlights;
  private boolean explain;

  /**
   * The records that fit each of these texts best.
   *
   * @param queries words, "phrases", prefix*, +required
   */
  public TextSearchRequest(String... queries) {
    this(Arrays.asList(queries));
  }

  /**
   * The records that fit each of these texts best.
   *
   * @param queries words, "phrases", prefix*, +required
   */
  public TextSearchRequest(List<String> queries) {
    this.queries = Objects.requireNonNull(queries, "queries");
  }

  /**
   * How many records are found for each query.
   *
   * @param results 1 or more
   * @return this
   */
  public TextSearchRequest results(long results) {
    this.results = results;
    return this;
  }

  /**
   * How many clauses of a query a document must have.
   *
   * @param operator any of them or all
   * @return this
   */
  public TextSearchRequest operator(TextOperator operator) {
    this.operator = Objects.requireNonNull(operator, "operator");
    return this;
  }

  /**
   * The columns of the result beside ids and scores; none: these alone.
   *
   * @param columns all but distances
   * @return this
   */
  public TextSearchRequest include(Include... columns) {
    include = bits(columns);
    return this;
  }

  /**
   * With the places in the documents where the words are.
   *
   * @return this
   */
  public TextSearchRequest highlights() {
    highlights = true;
    return this;
  }

  /**
   * With an account of how the answer was found.
   *
   * @return this
   */
  public TextSearchRequest explain() {
    explain = true;
    return this;
  }

  MemorySegment struct(Call call) {
    MemorySegment request = call.struct(Structs.TextSearchRequest.SIZE);
    request.set(
        JAVA_LONG, Structs.TextSearchRequest.QUERIES_COUNT, Texts.put(call, request, Structs.TextSearchRequest.QUERIES, queries, "queries"));
    request.set(JAVA_LONG, Structs.TextSearchRequest.N_RESULTS, results);
    put(call, request, Structs.TextSearchRequest.IDS_COUNT);
    request.set(JAVA_INT, Structs.TextSearchRequest.OPERATOR, operator.number());
    request.set(JAVA_INT, Structs.TextSearchRequest.INCLUDE, include);
    request.set(JAVA_BOOLEAN, Structs.TextSearchRequest.HIGHLIGHTS, highlights);
    request.set(JAVA_BOOLEAN, Structs.TextSearchRequest.EXPLAIN, explain);
    return request;
  }

  @Override
  TextSearchRequest self() {
    return this;
  }
}
