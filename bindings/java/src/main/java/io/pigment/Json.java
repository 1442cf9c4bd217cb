// SPDX-License-Identifier: Apache-2.0
//
// JSON as Java's own values, by Jackson's events: null, Boolean, Long, Double (BigInteger beyond long), String, List, Map in the
// order of the text. Depth is bounded by memory, not by the stack. Any thread.

package io.pigment;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.core.io.SerializedString;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.Array;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

final class Json {
  /** A text that is JSON already. */
  record Raw(String text) {}

  private static final JsonFactory FACTORY = JsonFactory.builder()
      .streamReadConstraints(StreamReadConstraints.builder()
          .maxNestingDepth(Integer.MAX_VALUE).maxStringLength(Integer.MAX_VALUE)
          .maxNameLength(Integer.MAX_VALUE).maxNumberLength(Integer.MAX_VALUE).build())
      .streamWriteConstraints(StreamWriteConstraints.builder().maxNestingDepth(Integer.MAX_VALUE).build())
      .build();
  private static final Object NO_VALUE = new Object();

  private Json() {}

  static Object read(String text) {
    try (JsonParser parser = FACTORY.createParser(text)) {
      return read(parser);
    } catch (IOException wrong) {
      throw new IllegalArgumentException("not JSON: " + wrong.getMessage(), wrong);
    }
  }

  static Object read(byte[] text, int begin, int size) {
    try (JsonParser parser = FACTORY.createParser(text, begin, size)) {
      return read(parser);
    } catch (IOException wrong) {
      throw new IllegalArgumentException("not JSON: " + wrong.getMessage(), wrong);
    }
  }

  /** Of a text that the library wrote. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object value) {
    return (Map<String, Object>) value;
  }

  /** Of a text that the library wrote. */
  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> objects(Object value) {
    return (List<Map<String, Object>>) value;
  }

  static long number(Map<String, Object> object, String key) {
    return object.get(key) instanceof Number number ? number.longValue() : 0;
  }

  static String text(Map<String, Object> object, String key) {
    return object.get(key) instanceof String text ? text : null;
  }

  private static Object read(JsonParser parser) throws IOException {
    ArrayDeque<Object> open = new ArrayDeque<>(); // lists, maps, and of each map its current key
    Object whole = NO_VALUE;
    while (parser.nextToken() != null) {
      JsonToken token = parser.currentToken();
      Object value = switch (token) {
        case FIELD_NAME -> {
          open.push(parser.currentName());
          yield NO_VALUE;
        }
        case START_OBJECT -> {
          open.push(new LinkedHashMap<String, Object>());
          yield NO_VALUE;
        }
        case START_ARRAY -> {
          open.push(new ArrayList<Object>());
          yield NO_VALUE;
        }
        case END_OBJECT, END_ARRAY -> open.pop();
        default -> scalar(parser, token);
      };
      if (value == NO_VALUE) {
        continue;
      }
      if (open.isEmpty()) {
        if (whole != NO_VALUE) {
          throw new IllegalArgumentException("not JSON: more than one value");
        }
        whole = value;
      } else if (open.peek() instanceof String) {
        String key = (String) open.pop();
        object(open.peek()).put(key, value);
      } else {
        listOf(open.peek()).add(value);
      }
    }
    if (whole == NO_VALUE) {
      throw new IllegalArgumentException("not JSON: no value");
    }
    return whole;
  }

  @SuppressWarnings("unchecked")
  private static List<Object> listOf(Object value) {
    return (List<Object>) value;
  }

  private static Object scalar(JsonParser parser, JsonToken token) throws IOException {
    return switch (token) {
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT -> switch (parser.getNumberType()) {
        case INT, LONG -> (Object) parser.getLongValue();
        default -> parser.getBigIntegerValue();
      };
      case VALUE_NUMBER_FLOAT -> (Object) parser.getDoubleValue();
      case VALUE_TRUE -> (Object) true;
      case VALUE_FALSE -> (Object) false;
      default -> null;
    };
  }

  /** Throws IllegalArgumentException for what JSON cannot say. Maps, iterables and arrays nest as deep as they like. */
  static String write(Object value) {
    StringWriter text = new StringWriter();
    try (JsonGenerator out = FACTORY.createGenerator(text)) {
      ArrayDeque<Iterator<?>> open = new ArrayDeque<>();
      ArrayDeque<Boolean> objects = new ArrayDeque<>();
      begin(out, value, open, objects);
      while (!open.isEmpty()) {
        if (!open.peek().hasNext()) {
          open.pop();
          if (objects.pop()) {
            out.writeEndObject();
          } else {
            out.writeEndArray();
          }
          continue;
        }
        Object next = open.peek().next();
        if (objects.peek()) {
          Map.Entry<?, ?> entry = (Map.Entry<?, ?>) next;
          if (!(entry.getKey() instanceof String key)) {
            throw new IllegalArgumentException("a key of JSON is a string, got " + entry.getKey());
          }
          out.writeFieldName(key);
          next = entry.getValue();
        }
        begin(out, next, open, objects);
      }
    } catch (IOException impossible) {
      throw new IllegalArgumentException(impossible.getMessage(), impossible);
    }
    return text.toString();
  }

  private static void begin(JsonGenerator out, Object value, ArrayDeque<Iterator<?>> open, ArrayDeque<Boolean> objects)
      throws IOException {
    switch (value) {
      case null -> out.writeNull();
      case String text -> out.writeString(text);
      case Boolean bool -> out.writeBoolean(bool);
      case Long number -> out.writeNumber(number);
      case Integer number -> out.writeNumber(number);
      case Short number -> out.writeNumber(number);
      case Byte number -> out.writeNumber(number.intValue());
      case BigInteger number -> out.writeNumber(number);
      case Double number -> writeFloating(out, number, number.toString());
      case Float number -> writeFloating(out, number, number.toString());
      case Raw raw -> out.writeRawValue(new SerializedString(raw.text()));
      case Map<?, ?> map -> {
        out.writeStartObject();
        open.push(map.entrySet().iterator());
        objects.push(true);
      }
      case Iterable<?> list -> {
        out.writeStartArray();
        open.push(list.iterator());
        objects.push(false);
      }
      case Object[] array -> begin(out, Arrays.asList(array), open, objects);
      case Object array when array.getClass().isArray() ->
          begin(out, IntStream.range(0, Array.getLength(array)).mapToObj(i -> Array.get(array, i)).toList(), open, objects);
      default -> throw new IllegalArgumentException("JSON has no value for a " + value.getClass().getName() + ": " + value);
    }
  }

  /** Jackson would put quotes around NaN. */
  private static void writeFloating(JsonGenerator out, double number, String text) throws IOException {
    if (!Double.isFinite(number)) {
      throw new IllegalArgumentException("JSON has no number " + text);
    }
    out.writeNumber(text);
  }
}
