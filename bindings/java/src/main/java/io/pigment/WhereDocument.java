// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A filter of records by their documents. Immutable. What each operator matches: docs/filters.md. */
public final class WhereDocument {
  private final Object tree;

  private WhereDocument(Object tree) {
    this.tree = tree;
  }

  /**
   * The document has this text in it.
   *
   * @param text not empty
   * @return the filter
   */
  public static WhereDocument contains(String text) {
    return new WhereDocument(Map.of("$contains", Objects.requireNonNull(text, "text")));
  }

  /**
   * The document has not this text in it, or there is none.
   *
   * @param text not empty
   * @return the filter
   */
  public static WhereDocument notContains(String text) {
    return new WhereDocument(Map.of("$not_contains", Objects.requireNonNull(text, "text")));
  }

  /**
   * The document has this text in it, whatever the case of the letters.
   *
   * @param text not empty
   * @return the filter
   */
  public static WhereDocument icontains(String text) {
    return new WhereDocument(Map.of("$icontains", Objects.requireNonNull(text, "text")));
  }

  /**
   * The document has a match of this pattern of RE2.
   *
   * @param pattern not empty
   * @return the filter
   */
  public static WhereDocument regex(String pattern) {
    return new WhereDocument(Map.of("$regex", Objects.requireNonNull(pattern, "pattern")));
  }

  /**
   * The document has no match of this pattern of RE2, or there is none.
   *
   * @param pattern not empty
   * @return the filter
   */
  public static WhereDocument notRegex(String pattern) {
    return new WhereDocument(Map.of("$not_regex", Objects.requireNonNull(pattern, "pattern")));
  }

  /**
   * There is a document, or there is none.
   *
   * @param exists whether there is one
   * @return the filter
   */
  public static WhereDocument exists(boolean exists) {
    return new WhereDocument(Map.of("$exists", exists));
  }

  /**
   * All of these match.
   *
   * @param clauses one or more
   * @return the filter
   */
  public static WhereDocument and(WhereDocument... clauses) {
    return new WhereDocument(Map.of("$and", List.of(clauses).stream().map(WhereDocument::tree).toList()));
  }

  /**
   * All of these match.
   *
   * @param clauses one or more
   * @return the filter
   */
  public static WhereDocument and(List<WhereDocument> clauses) {
    return new WhereDocument(Map.of("$and", clauses.stream().map(WhereDocument::tree).toList()));
  }

  /**
   * One of these matches.
   *
   * @param clauses one or more
   * @return the filter
   */
  public static WhereDocument or(WhereDocument... clauses) {
    return new WhereDocument(Map.of("$or", List.of(clauses).stream().map(WhereDocument::tree).toList()));
  }

  /**
   * One of these matches.
   *
   * @param clauses one or more
   * @return the filter
   */
  public static WhereDocument or(List<WhereDocument> clauses) {
    return new WhereDocument(Map.of("$or", clauses.stream().map(WhereDocument::tree).toList()));
  }

  /**
   * The exact opposite of a clause.
   *
   * @param clause that does not match
   * @return the filter
   */
  public static WhereDocument not(WhereDocument clause) {
    return new WhereDocument(Map.of("$not", clause.tree()));
  }

  /**
   * A filter that is printed already. What is wrong with it the call says that it is given to.
   *
   * @param json as {@link #toJson} prints it
   * @return the filter
   */
  public static WhereDocument ofJson(String json) {
    return new WhereDocument(new Json.Raw(Objects.requireNonNull(json, "json")));
  }

  /**
   * The filter as the library takes it.
   *
   * @return printed JSON
   */
  public String toJson() {
    return tree instanceof Json.Raw raw ? raw.text() : Json.write(tree);
  }

  /** As printed JSON. */
  @Override
  public String toString() {
    return toJson();
  }

  Object tree() {
    return tree;
  }
}
