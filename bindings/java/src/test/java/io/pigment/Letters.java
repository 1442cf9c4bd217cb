// SPDX-License-Identifier: Apache-2.0
//
// The embedding function of conformance scripts: component i counts the letter 'a' + i of the text. It can be told to fail in each way
// that the library must notice.

package io.pigment;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

record Letters(String name, int dimension, Map<String, ?> config, Optional<Space> space, String fault)
    implements EmbeddingFunction {
  static Letters of(Map<String, Object> args) {
    if (!args.containsKey("function")) {
      return null;
    }
    Map<String, Object> wanted = Json.object(args.get("function"));
    Object config = wanted.getOrDefault("config", Map.of());
    return new Letters(
        (String) wanted.getOrDefault("name", "letters"), ((Long) wanted.getOrDefault("dimension", 3L)).intValue(),
        Json.object(config), Optional.ofNullable((String) wanted.get("space")).map(s -> Space.valueOf(s.toUpperCase(Locale.ROOT))),
        (String) wanted.getOrDefault("fault", ""));
  }

  @Override
  public float[][] embed(List<String> texts, Purpose purpose) {
    if (fault.equals("fail")) {
      throw new PigmentException(Status.UNAVAILABLE, "the model is asleep");
    }
    int rows = texts.size() + (fault.equals("short") ? -1 : fault.equals("extra") ? 1 : 0);
    float[][] vectors = new float[rows][dimension];
    for (int row = 0; row < Math.min(rows, texts.size()); ++row) {
      for (char letter : texts.get(row).toCharArray()) {
        if (letter >= 'a' && letter - 'a' < dimension) {
          vectors[row][letter - 'a'] += 1;
        }
      }
    }
    if (fault.equals("nan")) {
      vectors[rows - 1][dimension - 1] = Float.NaN;
    }
    return vectors;
  }
}
