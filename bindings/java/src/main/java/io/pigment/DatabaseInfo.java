// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Map;

/**
 * A database.
 *
 * @param id that it keeps
 * @param name within its tenant
 * @param tenant that it belongs to
 */
public record DatabaseInfo(String id, String name, String tenant) {
  static DatabaseInfo of(Object json) {
    Map<String, Object> object = Json.object(json);
    return new DatabaseInfo(Json.text(object, "id"), Json.text(object, "name"), Json.text(object, "tenant"));
  }
}
