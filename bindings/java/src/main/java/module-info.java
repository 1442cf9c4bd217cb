// SPDX-License-Identifier: Apache-2.0

/** Pigment, an embedded search engine for AI applications, by the foreign function interface of Java 22 and later. */
module io.pigment {
  requires com.fasterxml.jackson.core;

  exports io.pigment;
}
