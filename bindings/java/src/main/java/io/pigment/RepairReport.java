// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * What a repair could read.
 *
 * @param lossless whether everything
 * @param catalog "whole", "damaged" or "lost"
 * @param position of the log that the new store has
 * @param collections what became of each
 * @param messages for people
 * @param json the whole report
 */
public record RepairReport(
    boolean lossless, String catalog, long position, List<RepairedCollection> collections, List<String> messages,
    Map<String, Object> json) {
  /**
   * What became of a collection.
   *
   * @param name of it
   * @param recovered whether it is there
   * @param rows that are there
   * @param rowsLost that are not
   */
  public record RepairedCollection(String name, boolean recovered, long rows, long rowsLost) {}

  static RepairReport of(Object json) {
    Map<String, Object> object = Json.object(json);
    return new RepairReport(
        Boolean.TRUE.equals(object.get("lossless")), Json.text(object, "catalog"), Json.number(object, "position"),
        Json.objects(object.get("collections")).stream().map(RepairReport::collection).toList(),
        ((List<?>) object.get("messages")).stream().map(String::valueOf).toList(), Collections.unmodifiableMap(object));
  }

  private static RepairedCollection collection(Map<String, Object> object) {
    return new RepairedCollection(
        Json.text(object, "name"), Boolean.TRUE.equals(object.get("recovered")), Json.number(object, "rows"), Json.number(object, "rows_lost"));
  }
}
