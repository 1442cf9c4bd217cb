// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class WhereTest {
  @Test
  void theBuilderPrintsWhatTheGuideSays() {
    assertEquals("{\"lang\":{\"$eq\":\"en\"}}", Where.eq("lang", "en").toJson());
    assertEquals("{\"n\":{\"$ne\":1}}", Where.ne("n", 1).toJson());
    assertEquals("{\"n\":{\"$gt\":2000.5}}", Where.gt("n", 2000.5).toJson());
    assertEquals("{\"n\":{\"$gte\":1.0}}", Where.gte("n", 1.0).toJson());
    assertEquals("{\"n\":{\"$lt\":9223372036854775807}}", Where.lt("n", Long.MAX_VALUE).toJson());
    assertEquals("{\"n\":{\"$lte\":-1}}", Where.lte("n", -1).toJson());
    assertEquals("{\"b\":{\"$eq\":true}}", Where.eq("b", true).toJson());
    assertEquals("{\"lang\":{\"$in\":[\"de\",\"fr\"]}}", Where.in("lang", "de", "fr").toJson());
    assertEquals("{\"n\":{\"$nin\":[1,2]}}", Where.nin("n", List.of(1, 2)).toJson());
    assertEquals("{\"tags\":{\"$contains\":\"a\"}}", Where.contains("tags", "a").toJson());
    assertEquals("{\"tags\":{\"$not_contains\":1.0}}", Where.notContains("tags", 1.0).toJson());
    assertEquals("{\"y\":{\"$between\":[1999,2020]}}", Where.between("y", 1999, 2020).toJson());
    assertEquals("{\"y\":{\"$between\":[\"d\",\"dz\"]}}", Where.between("y", "d", "dz").toJson());
    assertEquals("{\"l\":{\"$prefix\":\"e\"}}", Where.prefix("l", "e").toJson());
    assertEquals("{\"l\":{\"$ieq\":\"\\\"\\\\\\n\"}}", Where.ieq("l", "\"\\\n").toJson());
    assertEquals("{\"l\":{\"$iprefix\":\"é\"}}", Where.iprefix("l", "é").toJson());
    assertEquals("{\"l\":{\"$exists\":false}}", Where.exists("l", false).toJson());
    assertEquals("{\"$and\":[{\"a\":{\"$eq\":1}},{\"$not\":{\"b\":{\"$eq\":2}}}]}",
        Where.and(Where.eq("a", 1), Where.not(Where.eq("b", 2))).toJson());
    assertEquals("{\"$or\":[{\"a\":1},{\"#document\":{\"$regex\":\"F.chs\"}}]}",
        Where.or(List.of(Where.ofJson("{\"a\":1}"), Where.document(WhereDocument.regex("F.chs")))).toString());
    assertEquals("{\"$and\":[{\"$contains\":\"br\"},{\"$not_contains\":\"fox\"}]}",
        WhereDocument.and(WhereDocument.contains("br"), WhereDocument.notContains("fox")).toJson());
    assertEquals("{\"$or\":[{\"$icontains\":\"A\"},{\"$not\":{\"$not_regex\":\"[0-9]\"}},{\"$exists\":true}]}",
        WhereDocument.or(List.of(WhereDocument.icontains("A"), WhereDocument.not(WhereDocument.notRegex("[0-9]")),
            WhereDocument.exists(true))).toJson());
  }

  /** An operator that the guide has and the builder has not is noticed. */
  @Test
  void theBuilderHasEveryOperatorOfTheGuide() throws Exception {
    Path sources = Path.of(System.getProperty("pigment.sources"));
    String builder = Files.readString(sources.resolve("bindings/java/src/main/java/io/pigment/Where.java"))
        + Files.readString(sources.resolve("bindings/java/src/main/java/io/pigment/WhereDocument.java"));
    String guide = Files.readString(sources.resolve("docs/filters.md"));
    guide = guide.substring(0, guide.indexOf("## What is refused"));
    Set<String> operators = new HashSet<>();
    Matcher matcher = Pattern.compile("\"(\\$[a-z_]+)\"").matcher(guide);
    while (matcher.find()) {
      operators.add(matcher.group(1));
    }
    assertTrue(operators.size() > 20, operators.toString());
    for (String operator : operators) {
      assertTrue(builder.contains("\"" + operator + "\""), "no " + operator);
    }
  }

  @Test
  void theLibraryFindsWhatTheBuilderSays() {
    try (Client client = Client.inMemory(); Collection docs = client.createCollection("docs")) {
      docs.add(Records.of("r1", "r2", "r3").embeddings(new float[1], new float[1], new float[1])
          .documents("The quick brown fox", "Der schnelle braune Fuchs", "cotton")
          .metadatas(Map.of("lang", "en", "year", 2024), Map.of("lang", "de", "year", 2020), null));
      assertEquals(List.of("r1"), ids(docs, Where.and(Where.eq("lang", "en"), Where.gt("year", 2000.5))));
      assertEquals(List.of("r2", "r3"), ids(docs, Where.or(Where.document(WhereDocument.regex("F.chs")), Where.exists("year", false))));
      assertEquals(List.of("r1", "r2"), docs.get(new GetRequest()
          .whereDocument(WhereDocument.or(WhereDocument.contains("fox"), WhereDocument.icontains("FUCHS")))).ids());
      assertEquals(2, docs.count(new CountRequest().where(Where.in("#id", "r1", "r3", "r9"))));
      assertEquals(1, docs.count(new CountRequest().ids("r1", "r2").where(Where.not(Where.eq("year", 2024)))));
    }
  }

  private static List<String> ids(Collection docs, Where where) {
    return docs.get(new GetRequest().where(where)).ids();
  }

  @Test
  void depthIsNotBoundedByTheStack() {
    Where where = Where.eq("k", 1);
    for (int depth = 0; depth < 200_000; ++depth) {
      where = Where.not(where);
    }
    assertEquals(9L * 200_000 + "{\"k\":{\"$eq\":1}}".length(), where.toJson().length());
    try (Client client = Client.inMemory(); Collection docs = client.createCollection("docs")) {
      docs.add(Records.of("a", "b").embeddings(new float[1], new float[1]).metadatas(Map.of("k", 1), Map.of("k", 2)));
      assertEquals(List.of("a"), ids(docs, where));
    }
  }

  @Test
  void jsonIsReadAndWrittenAsItIs() {
    for (String text : List.of("null", "true", "-1", "9223372036854775807", "9223372036854775808", "1.5", "1.0E300", "\"a\\\"\\u0000é\"",
        "[]", "{}", "[1,[2,{\"a\":null}],\"x\"]", "{\"a\":{\"b\":[{}]},\"c\":[[]]}")) {
      assertEquals(text, Json.write(Json.read(text)));
    }
    assertEquals(List.of(1L, 1.0), Json.read("[1, 1.0]"));
    assertEquals("[1,2.5,[true],[\"a\"],0.1]", Json.write(List.of(new int[] {1}[0], 2.5f, new boolean[] {true}, new String[] {"a"}, 0.1f)));
    for (String text : List.of("", "[1", "1 2", "{\"a\"}", "{a:1}", "[1,]", "nul")) {
      assertThrows(IllegalArgumentException.class, () -> Json.read(text), text);
    }
    assertThrows(IllegalArgumentException.class, () -> Json.write(Map.of(1, 2)));
    assertThrows(IllegalArgumentException.class, () -> Json.write(List.of(Float.POSITIVE_INFINITY)));
    List<Object> deep = new ArrayList<>();
    for (int depth = 0; depth < 100_000; ++depth) {
      deep = new ArrayList<>(List.of(deep));
    }
    String text = Json.write(deep);
    assertEquals(text, Json.write(Json.read(text)));
  }
}
