// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * What a check found.
 *
 * @param clean whether there is no finding of severity error
 * @param position of the log that was checked
 * @param errors how many findings are errors
 * @param warnings how many are warnings
 * @param findings at most as many as the library lists
 * @param findingsLeftOut how many more there are
 * @param totals what was looked at, as numbers by name
 */
public record CheckReport(
    boolean clean, long position, long errors, long warnings, List<Finding> findings, long findingsLeftOut,
    Map<String, Object> totals) {
  /**
   * Something that is wrong.
   *
   * @param severity "error" or "warning"
   * @param code of the error
   * @param detail of the error
   * @param collection that it is in, or null
   * @param file that it is in, or null
   * @param offset of bytes in the file, or -1
   * @param message that says it
   */
  public record Finding(
      String severity, Status code, Detail detail, String collection, String file, long offset, String message) {}

  static CheckReport of(Object json) {
    Map<String, Object> object = Json.object(json);
    return new CheckReport(
        Boolean.TRUE.equals(object.get("clean")), Json.number(object, "position"), Json.number(object, "errors"),
        Json.number(object, "warnings"), Json.objects(object.get("findings")).stream().map(CheckReport::finding).toList(),
        Json.number(object, "findings_left_out"), Collections.unmodifiableMap(Json.object(object.get("totals"))));
  }

  private static Finding finding(Map<String, Object> object) {
    return new Finding(
        Json.text(object, "severity"), Errors.named(Json.text(object, "code")), Detail.of((int) Json.number(object, "detail")),
        Json.text(object, "collection"), Json.text(object, "file"),
        object.get("offset") instanceof Number number ? number.longValue() : -1, Json.text(object, "message"));
  }
}
