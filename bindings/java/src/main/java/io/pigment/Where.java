// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A filter of records by their fields. Immutable. What each operator matches: docs/filters.md.
 *
 * <p>{@snippet :
 * Where recent = Where.and(Where.eq("lang", "en"), Where.gt("year", 2000));
 * }
 */
public final class Where {
  private final Object tree;

  private Where(Object tree) {
    this.tree = tree;
  }

  private static Where clause(String key, String operator, Object operand) {
    return new Where(Map.of(Objects.requireNonNull(key, "key"), Map.of(operator, Objects.requireNonNull(operand, operator))));
  }

  /**
   * The key's value equals a value.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where eq(String key, String value) {
    return clause(key, "$eq", value);
  }

  /**
   * The key's value equals a value.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where eq(String key, long value) {
    return clause(key, "$eq", value);
  }

  /**
   * The key's value equals a value.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where eq(String key, double value) {
    return clause(key, "$eq", value);
  }

  /**
   * The key's value equals a value.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where eq(String key, boolean value) {
    return clause(key, "$eq", value);
  }

  /**
   * The key's value equals anything but a value, or is missing.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where ne(String key, String value) {
    return clause(key, "$ne", value);
  }

  /**
   * The key's value equals anything but a value, or is missing.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where ne(String key, long value) {
    return clause(key, "$ne", value);
  }

  /**
   * The key's value equals anything but a value, or is missing.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where ne(String key, double value) {
    return clause(key, "$ne", value);
  }

  /**
   * The key's value equals anything but a value, or is missing.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where ne(String key, boolean value) {
    return clause(key, "$ne", value);
  }

  /**
   * The key's value is above a number.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where gt(String key, long value) {
    return clause(key, "$gt", value);
  }

  /**
   * The key's value is above a number.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where gt(String key, double value) {
    return clause(key, "$gt", value);
  }

  /**
   * The key's value is a number or above it.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where gte(String key, long value) {
    return clause(key, "$gte", value);
  }

  /**
   * The key's value is a number or above it.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where gte(String key, double value) {
    return clause(key, "$gte", value);
  }

  /**
   * The key's value is below a number.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where lt(String key, long value) {
    return clause(key, "$lt", value);
  }

  /**
   * The key's value is below a number.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where lt(String key, double value) {
    return clause(key, "$lt", value);
  }

  /**
   * The key's value is a number or below it.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where lte(String key, long value) {
    return clause(key, "$lte", value);
  }

  /**
   * The key's value is a number or below it.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where lte(String key, double value) {
    return clause(key, "$lte", value);
  }

  /**
   * The key's value is a list that has an element.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where contains(String key, String value) {
    return clause(key, "$contains", value);
  }

  /**
   * The key's value is a list that has an element.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where contains(String key, long value) {
    return clause(key, "$contains", value);
  }

  /**
   * The key's value is a list that has an element.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where contains(String key, double value) {
    return clause(key, "$contains", value);
  }

  /**
   * The key's value is a list that has an element.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where contains(String key, boolean value) {
    return clause(key, "$contains", value);
  }

  /**
   * The key's value is anything but a list that has an element.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where notContains(String key, String value) {
    return clause(key, "$not_contains", value);
  }

  /**
   * The key's value is anything but a list that has an element.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where notContains(String key, long value) {
    return clause(key, "$not_contains", value);
  }

  /**
   * The key's value is anything but a list that has an element.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where notContains(String key, double value) {
    return clause(key, "$not_contains", value);
  }

  /**
   * The key's value is anything but a list that has an element.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where notContains(String key, boolean value) {
    return clause(key, "$not_contains", value);
  }

  /**
   * The key's value is a text that begins with another one.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where prefix(String key, String value) {
    return clause(key, "$prefix", value);
  }

  /**
   * The key's value is a text, whatever the case of its letters.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where ieq(String key, String value) {
    return clause(key, "$ieq", value);
  }

  /**
   * The key's value is a text that begins with another one, whatever the case of the letters.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param value compared with the record's
   * @return the filter
   */
  public static Where iprefix(String key, String value) {
    return clause(key, "$iprefix", value);
  }

  /**
   * The key's value is there, or is not.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param exists whether it is there
   * @return the filter
   */
  public static Where exists(String key, boolean exists) {
    return clause(key, "$exists", exists);
  }

  /**
   * The key's value is neither below the first nor above the last.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param first the lower end
   * @param last the upper end
   * @return the filter
   */
  public static Where between(String key, long first, long last) {
    return clause(key, "$between", List.of(first, last));
  }

  /**
   * The key's value is neither below the first nor above the last.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param first the lower end
   * @param last the upper end
   * @return the filter
   */
  public static Where between(String key, double first, double last) {
    return clause(key, "$between", List.of(first, last));
  }

  /**
   * The key's value is neither below the first nor above the last.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param first the lower end
   * @param last the upper end
   * @return the filter
   */
  public static Where between(String key, String first, String last) {
    return clause(key, "$between", List.of(first, last));
  }

  /**
   * The key's value is one of some values.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param values of one type: strings, whole numbers, floating numbers or booleans
   * @return the filter
   */
  public static Where in(String key, Object... values) {
    return clause(key, "$in", Arrays.asList(values));
  }

  /**
   * The key's value is one of some values.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param values of one type: strings, whole numbers, floating numbers or booleans
   * @return the filter
   */
  public static Where in(String key, Iterable<?> values) {
    return clause(key, "$in", values);
  }

  /**
   * The key's value is none of some values, or missing.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param values of one type: strings, whole numbers, floating numbers or booleans
   * @return the filter
   */
  public static Where nin(String key, Object... values) {
    return clause(key, "$nin", Arrays.asList(values));
  }

  /**
   * The key's value is none of some values, or missing.
   *
   * @param key of metadata, {@code #id} or {@code chroma:uri}
   * @param values of one type: strings, whole numbers, floating numbers or booleans
   * @return the filter
   */
  public static Where nin(String key, Iterable<?> values) {
    return clause(key, "$nin", values);
  }

  /**
   * The record's document matches, so that documents and fields can be joined by or.
   *
   * @param document one condition, not joined ones
   * @return the filter
   */
  public static Where document(WhereDocument document) {
    return new Where(Map.of("#document", document.tree()));
  }

  /**
   * All of these match.
   *
   * @param clauses one or more
   * @return the filter
   */
  public static Where and(Where... clauses) {
    return new Where(Map.of("$and", List.of(clauses).stream().map(Where::tree).toList()));
  }

  /**
   * All of these match.
   *
   * @param clauses one or more
   * @return the filter
   */
  public static Where and(List<Where> clauses) {
    return new Where(Map.of("$and", clauses.stream().map(Where::tree).toList()));
  }

  /**
   * One of these matches.
   *
   * @param clauses one or more
   * @return the filter
   */
  public static Where or(Where... clauses) {
    return new Where(Map.of("$or", List.of(clauses).stream().map(Where::tree).toList()));
  }

  /**
   * One of these matches.
   *
   * @param clauses one or more
   * @return the filter
   */
  public static Where or(List<Where> clauses) {
    return new Where(Map.of("$or", clauses.stream().map(Where::tree).toList()));
  }

  /**
   * The exact opposite of a clause.
   *
   * @param clause that does not match
   * @return the filter
   */
  public static Where not(Where clause) {
    return new Where(Map.of("$not", clause.tree()));
  }

  /**
   * A filter that is printed already. What is wrong with it the call says that it is given to.
   *
   * @param json as {@link #toJson} prints it
   * @return the filter
   */
  public static Where ofJson(String json) {
    return new Where(new Json.Raw(Objects.requireNonNull(json, "json")));
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
