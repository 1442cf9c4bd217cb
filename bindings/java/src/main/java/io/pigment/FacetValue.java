// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A value of a key, and how many records have it.
 *
 * @param value string, long, double or boolean
 * @param count of records
 */
public record FacetValue(Object value, long count) {
  static Map<String, List<FacetValue>> of(Object json) {
    Map<String, List<FacetValue>> facets = new LinkedHashMap<>();
    Json.object(json).forEach((key, values) -> facets.put(
        key, Json.objects(values).stream().map(one -> new FacetValue(one.get("value"), Json.number(one, "count"))).toList()));
    return Collections.unmodifiableMap(facets);
  }
}
