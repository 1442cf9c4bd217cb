// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Collections;
import java.util.Map;

/**
 * What a collection is like. Maps hold strings, longs, doubles, booleans, lists and maps of these.
 *
 * @param id that it keeps
 * @param name within its database
 * @param tenant that the database belongs to
 * @param database that it belongs to
 * @param metadata what describes it, or null
 * @param configuration as it has effect, with every default
 * @param schema as it has effect, or null
 * @param embeddingFunction name and config of the function, or null
 * @param dimension of its vectors; null as long as there are none
 */
public record CollectionInfo(
    String id, String name, String tenant, String database, Map<String, Object> metadata, Map<String, Object> configuration,
    Map<String, Object> schema, Map<String, Object> embeddingFunction, Integer dimension) {
  static CollectionInfo of(Object json) {
    Map<String, Object> object = Json.object(json);
    return new CollectionInfo(
        Json.text(object, "id"), Json.text(object, "name"), Json.text(object, "tenant"), Json.text(object, "database"),
        map(object, "metadata"), map(object, "configuration"), map(object, "schema"), map(object, "embedding_function"),
        object.get("dimension") instanceof Number number ? Integer.valueOf(number.intValue()) : null);
  }

  private static Map<String, Object> map(Map<String, Object> object, String key) {
    return object.get(key) == null ? null : Collections.unmodifiableMap(Json.object(object.get(key)));
  }
}
