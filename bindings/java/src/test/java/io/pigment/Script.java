// SPDX-License-Identifier: Apache-2.0
//
// Reading scripts of tests/conformance and comparing answers with what they expect; its README says what matches what.

package io.pigment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

record Script(Path file, String name, String home, List<Step> steps) {
  record Step(int line, Map<String, Object> json) {
    String op() {
      return (String) json.get("op");
    }

    Map<String, Object> args() {
      return json.containsKey("args") ? Json.object(json.get("args")) : Map.of();
    }
  }

  static List<Script> read(Path file) throws IOException {
    List<Script> scripts = new ArrayList<>();
    int line = 0;
    for (String text : Files.readAllLines(file)) {
      ++line;
      if (text.isEmpty()) {
        continue;
      }
      Map<String, Object> json = Json.object(Json.read(text));
      if (json.containsKey("script")) {
        Object home = json.getOrDefault("home", "both");
        scripts.add(new Script(file, (String) json.get("script"), (String) home, new ArrayList<>()));
      } else if (scripts.isEmpty() || !json.containsKey("op") || json.containsKey("expect") == json.containsKey("error")) {
        throw new IllegalStateException(file + ":" + line + ": not what the format says: " + text);
      } else {
        scripts.getLast().steps().add(new Step(line, json));
      }
    }
    return scripts;
  }

  /** Why `actual` is not what `expected` asks for; null when it is. */
  static String mismatch(Object expected, Object actual) {
    return mismatch(expected, actual, "$", false);
  }

  private static String mismatch(Object expected, Object actual, String path, boolean exact) {
    String differ = path + ": expected " + Json.write(expected) + ", got " + shown(actual);
    if (isSpecial(expected, "$any")) {
      return null;
    }
    if (expected instanceof Number a && actual instanceof Number b) {
      return sameNumber(a, b, exact) ? null : differ;
    }
    if (expected instanceof List<?> wanted) {
      if (!(actual instanceof List<?> got) || got.size() != wanted.size()) {
        return differ;
      }
      for (int i = 0; i < wanted.size(); ++i) {
        String why = mismatch(wanted.get(i), got.get(i), path + "[" + i + "]", exact);
        if (why != null) {
          return why;
        }
      }
      return null;
    }
    if (!(expected instanceof Map<?, ?> wanted)) {
      return Objects.equals(expected, actual) ? null : differ;
    }
    if (!(actual instanceof Map<?, ?> got)) {
      return differ;
    }
    for (Map.Entry<?, ?> entry : wanted.entrySet()) {
      String inner = path + "." + entry.getKey();
      if (isSpecial(entry.getValue(), "$absent")) {
        if (got.containsKey(entry.getKey())) {
          return inner + ": expected to be absent, got " + shown(got.get(entry.getKey()));
        }
        continue;
      }
      if (!got.containsKey(entry.getKey())) {
        return inner + ": is missing in " + shown(got);
      }
      boolean metadata = entry.getKey().equals("metadatas") || entry.getKey().equals("metadata");
      String why = mismatch(entry.getValue(), got.get(entry.getKey()), inner, exact || metadata);
      if (why != null) {
        return why;
      }
    }
    return exact && wanted.size() < got.size() ? differ : null;
  }

  private static String shown(Object value) {
    return String.valueOf(value);
  }

  private static boolean isSpecial(Object expected, String word) {
    return expected instanceof Map<?, ?> map && map.size() == 1 && map.containsKey(word);
  }

  /** Within metadata 1 and 1.0 are different values; elsewhere numbers are f32 that went through text. */
  private static boolean sameNumber(Number a, Number b, boolean exact) {
    if (exact) {
      return a.equals(b);
    }
    double x = a.doubleValue();
    double y = b.doubleValue();
    return x == y || Math.abs(x - y) <= 1e-5 * Math.max(Math.abs(x), Math.abs(y)) + 1e-7;
  }

  /** Why a failure is not the one expected; null when it is. What is closed here is the library's FAILED_PRECONDITION, CLOSED. */
  static String mismatch(Map<String, Object> expected, RuntimeException thrown) {
    PigmentException error = thrown instanceof PigmentException known ? known : (PigmentException) thrown.getCause();
    if (error == null) {
      return "no error of the library";
    }
    if (error.code() != Status.valueOf((String) expected.get("code"))) {
      return "another code: " + error.code();
    }
    if (expected.containsKey("detail") && error.detail() != Detail.valueOf((String) expected.get("detail"))) {
      return "another detail: " + error.detail();
    }
    if (expected.containsKey("row") && error.row() != (Long) expected.get("row")) {
      return "another row: " + error.row();
    }
    for (Object part : (List<?>) expected.getOrDefault("message", List.of())) {
      if (!error.getMessage().contains((String) part)) {
        return "no " + part + " in it";
      }
    }
    return null;
  }
}
