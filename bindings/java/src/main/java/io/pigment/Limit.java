// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Map;

/**
 * What the library refuses to go beyond; docs/limits.md has the same table.
 *
 * @param name as messages have it
 * @param most that is taken
 * @param status of what is beyond
 * @param of what is counted
 */
public record Limit(String name, long most, Status status, String of) {
  static Limit of(Map<String, Object> object) {
    return new Limit(
        Json.text(object, "name"), Json.number(object, "most"), Errors.named(Json.text(object, "status")),
        Json.text(object, "of"));
  }
}
