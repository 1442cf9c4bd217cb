// SPDX-License-Identifier: Apache-2.0
//
// Every script of tests/conformance, in memory and in a directory. Left out is only what Java's types cannot express: a step for a reason
// in LEFT_OUT, which says how often that is, in both homes together.

package io.pigment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

class ConformanceTest {
  private static final Path SCRIPTS = Path.of(System.getProperty("pigment.sources"), "tests/conformance");
  private static final Map<String, Integer> LEFT_OUT = Map.of("a function's space is an enum: there is no other one to name", 2);
  private static final Map<String, Integer> LEFT = new HashMap<>();
  private static final int SCRIPTS_FLOOR = 90; // so that a folder that moved is noticed

  @TempDir static Path folder;

  @AfterAll
  static void onlyWhatIsListedWasLeftOut() {
    assertEquals(LEFT_OUT, LEFT);
  }

  @TestFactory
  List<DynamicTest> scriptGivesWhatItExpects() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    for (Script script : scripts()) {
      if (!script.home().equals("directory")) {
        tests.add(dynamicTest(title(script, "memory"), () -> run(script, null)));
      }
      if (!script.home().equals("memory")) {
        Path store = folder.resolve("store" + tests.size());
        tests.add(dynamicTest(title(script, "directory"), () -> run(script, store)));
      }
    }
    return tests;
  }

  @Test
  void theCorpusIsThere() throws IOException {
    int count = scripts().size();
    assertFalse(count < SCRIPTS_FLOOR, count + " scripts, there were " + SCRIPTS_FLOOR + " and more");
  }

  private static List<Script> scripts() throws IOException {
    List<Script> scripts = new ArrayList<>();
    try (Stream<Path> files = Files.list(SCRIPTS)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".jsonl")).sorted().toList()) {
        scripts.addAll(Script.read(file));
      }
    }
    return scripts;
  }

  private static String title(Script script, String home) {
    return script.file().getFileName().toString().replace(".jsonl", "") + ": " + script.name() + " (" + home + ")";
  }

  private static void run(Script script, Path directory) {
    assertFalse(script.steps().isEmpty());
    try (Runner runner = new Runner(directory)) {
      for (Script.Step step : script.steps()) {
        String place = script.file() + ":" + step.line() + ": ";
        String reason = inexpressible(step.args());
        if (reason != null) {
          LEFT.merge(reason, 1, Integer::sum);
          continue;
        }
        if (step.json().containsKey("error")) {
          RuntimeException thrown = failure(runner, step, place);
          String why = Script.mismatch(Json.object(step.json().get("error")), thrown);
          assertNull(why, () -> place + why + ": " + thrown);
          continue;
        }
        Object answer;
        try {
          answer = runner.execute(step);
        } catch (PigmentException | IllegalStateException refused) {
          throw new AssertionError(place + refused, refused);
        }
        String why = Script.mismatch(step.json().get("expect"), answer);
        assertNull(why, () -> place + why);
      }
    }
  }

  private static String inexpressible(Map<String, Object> args) {
    Object space = args.get("function") instanceof Map<?, ?> function ? function.get("space") : null;
    boolean known = space == null || Arrays.stream(Space.values()).anyMatch(one -> one.word().equals(space));
    return known ? null : LEFT_OUT.keySet().iterator().next();
  }

  private static RuntimeException failure(Runner runner, Script.Step step, String place) {
    try {
      Object answer = runner.execute(step);
      return fail(place + "expected an error, got " + answer);
    } catch (PigmentException | IllegalStateException expected) {
      return expected;
    }
  }

  @Test
  void comparisonTellsMetadataNumbersApartAndToleratesRoundingElsewhere() {
    assertNull(compare("{\"distances\":[0.1]}", "{\"distances\":[0.100000001]}"));
    assertNotNull(compare("{\"distances\":[0.1]}", "{\"distances\":[0.2]}"));
    assertNotNull(compare("{\"metadatas\":[{\"a\":1}]}", "{\"metadatas\":[{\"a\":1.0}]}"));
    assertNotNull(compare("{\"metadatas\":[{\"a\":1}]}", "{\"metadatas\":[{\"a\":1,\"b\":2}]}"));
    assertNotNull(compare("{\"uris\":{\"$absent\":true}}", "{\"uris\":null}"));
    assertNotNull(compare("[\"a\"]", "[\"a\",\"b\"]"));
    assertNotNull(compare("{\"a\":1}", "{}"));
    assertNull(compare("{\"a\":{\"$any\":true}}", "{\"a\":[1]}"));
    PigmentException error = new NotFoundException("collection \"x\"");
    assertNull(Script.mismatch(Map.of("code", "NOT_FOUND", "message", List.of("\"x\"")), error));
    assertEquals("no \"y\" in it", Script.mismatch(Map.of("code", "NOT_FOUND", "message", List.of("\"y\"")), error));
    assertNotNull(Script.mismatch(Map.of("code", "INTERNAL"), error));
    assertNotNull(Script.mismatch(Map.of("code", "NOT_FOUND", "row", 1L), error));
  }

  private static String compare(String expected, String actual) {
    return Script.mismatch(Json.read(expected), Json.read(actual));
  }
}
