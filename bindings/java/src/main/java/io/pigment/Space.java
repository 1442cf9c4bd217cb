// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Locale;

/** How far two vectors are from each other. */
public enum Space {
  /** The square of the Euclidean distance. */
  L2,
  /** One less the cosine of the angle. */
  COSINE,
  /** One less the inner product. */
  IP;

  /** As configurations have it: "l2". */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
