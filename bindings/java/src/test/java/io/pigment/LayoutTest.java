// SPDX-License-Identifier: Apache-2.0
//
// What is generated from the header is what the C compiler and the library say.

package io.pigment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LayoutTest {
  @Test
  void structsLieAsTheCompilerLaysThem() throws Exception {
    Path sources = Path.of(System.getProperty("pigment.sources"));
    Process layouts = new ProcessBuilder("python3", sources.resolve("bindings/tables/layouts").toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String printed = new String(layouts.getInputStream().readAllBytes());
    assertEquals(0, layouts.waitFor());
    Map<String, Class<?>> classes = new HashMap<>();
    for (Class<?> one : Structs.class.getDeclaredClasses()) {
      classes.put(one.getSimpleName(), one);
    }
    Map<String, Object> structs = Json.object(Json.read(printed));
    assertEquals(structs.size(), classes.size());
    for (Map.Entry<String, Object> struct : structs.entrySet()) {
      Map<String, Object> expected = new HashMap<>();
      Json.object(Json.object(struct.getValue()).get("offsets")).forEach(
          (name, offset) -> expected.put(name.toUpperCase(Locale.ROOT).replaceFirst("_$", ""), offset));
      expected.put("SIZE", Json.object(struct.getValue()).get("size"));
      assertEquals(expected, constants(classes.get(camel(struct.getKey()))), struct.getKey());
    }
  }

  private static Map<String, Object> constants(Class<?> struct) throws IllegalAccessException {
    Map<String, Object> constants = new HashMap<>();
    for (Field field : struct.getDeclaredFields()) {
      constants.put(field.getName(), field.getLong(null));
    }
    return constants;
  }

  private static String camel(String name) {
    StringBuilder camel = new StringBuilder();
    for (String part : name.substring("pigment_".length()).split("_")) {
      camel.append(part.substring(0, 1).toUpperCase(Locale.ROOT)).append(part.substring(1));
    }
    return camel.toString();
  }

  /** Selection.put relies on it. */
  @Test
  void idsAndFiltersStandInOneOrderInEveryRequest() {
    long[][] requests = {
      {Structs.GetRequest.IDS_COUNT, Structs.GetRequest.IDS, Structs.GetRequest.WHERE_JSON, Structs.GetRequest.WHERE_JSON_SIZE,
        Structs.GetRequest.WHERE_DOCUMENT_JSON, Structs.GetRequest.WHERE_DOCUMENT_JSON_SIZE},
      {Structs.DeleteRequest.IDS_COUNT, Structs.DeleteRequest.IDS, Structs.DeleteRequest.WHERE_JSON,
        Structs.DeleteRequest.WHERE_JSON_SIZE, Structs.DeleteRequest.WHERE_DOCUMENT_JSON,
        Structs.DeleteRequest.WHERE_DOCUMENT_JSON_SIZE},
      {Structs.CountRequest.IDS_COUNT, Structs.CountRequest.IDS, Structs.CountRequest.WHERE_JSON,
        Structs.CountRequest.WHERE_JSON_SIZE, Structs.CountRequest.WHERE_DOCUMENT_JSON, Structs.CountRequest.WHERE_DOCUMENT_JSON_SIZE},
      {Structs.FacetsRequest.IDS_COUNT, Structs.FacetsRequest.IDS, Structs.FacetsRequest.WHERE_JSON,
        Structs.FacetsRequest.WHERE_JSON_SIZE, Structs.FacetsRequest.WHERE_DOCUMENT_JSON,
        Structs.FacetsRequest.WHERE_DOCUMENT_JSON_SIZE},
      {Structs.QueryRequest.IDS_COUNT, Structs.QueryRequest.IDS, Structs.QueryRequest.WHERE_JSON,
        Structs.QueryRequest.WHERE_JSON_SIZE, Structs.QueryRequest.WHERE_DOCUMENT_JSON, Structs.QueryRequest.WHERE_DOCUMENT_JSON_SIZE},
      {Structs.TextSearchRequest.IDS_COUNT, Structs.TextSearchRequest.IDS, Structs.TextSearchRequest.WHERE_JSON,
        Structs.TextSearchRequest.WHERE_JSON_SIZE, Structs.TextSearchRequest.WHERE_DOCUMENT_JSON,
        Structs.TextSearchRequest.WHERE_DOCUMENT_JSON_SIZE},
    };
    assertEquals(Selection.class.getPermittedSubclasses().length, requests.length);
    for (long[] offsets : requests) {
      long first = offsets[0];
      long filters = first + 8 + Structs.TextColumn.SIZE;
      assertEquals(
          Arrays.toString(new long[] {first, first + 8, filters, filters + 8, filters + 16, filters + 24}), Arrays.toString(offsets));
    }
  }

  @Test
  void everyNumberHasOneConstantAndNoneStandsForAnother() {
    Set<Integer> statuses = new HashSet<>();
    for (Status status : Status.values()) {
      assertEquals(status, Status.of(status.number()));
      statuses.add(status.number());
      assertEquals(status.name().replace('_', ' '), Pigment.words(status).toUpperCase(Locale.ROOT));
      assertEquals(5, Pigment.sqlState(status).length());
    }
    assertEquals(Status.values().length, statuses.size());
    assertEquals(Status.UNKNOWN, Status.of(99));
    for (Detail detail : Detail.values()) {
      assertEquals(detail, Detail.of(detail.number()));
    }
    assertEquals(Detail.UNRECOGNIZED, Detail.of(9999));
    assertThrows(IllegalArgumentException.class, () -> ElementType.of(99));
    assertThrows(IllegalArgumentException.class, () -> SyncMode.of(-1));
    assertThrows(IllegalArgumentException.class, () -> Purpose.of(2));
  }

  @Test
  void everyCodeMakesAnExceptionThatSaysWhatItIs() {
    for (Status status : Status.values()) {
      if (status == Status.OK) {
        continue;
      }
      RuntimeException made = Errors.taken(status.number(), java.lang.foreign.MemorySegment.NULL);
      PigmentException exception = (PigmentException) made;
      assertEquals(status, exception.code());
      assertNotEquals(Fault.NONE, exception.fault(), status.name());
      assertEquals(Functions.statusRetryable(status.number()), exception.isRetryable());
    }
  }

  @Test
  void theLibraryIsTheOneThatTheBindingWasMadeFor() {
    assertEquals(Structs.ABI_VERSION, Pigment.abiVersion());
    assertEquals(Structs.VERSION, Pigment.version());
    assertEquals(false, Pigment.buildInfo().isEmpty());
  }
}
