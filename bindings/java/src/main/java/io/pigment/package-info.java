// SPDX-License-Identifier: Apache-2.0
/**
 * Pigment: an embedded search engine for AI applications. Records (id, embedding, document, metadata, uri) live in collections; a query gives the
 * records nearest to a vector among those that match a filter. The model and its words are Chroma's.
 *
 * <p>Begin with {@link io.pigment.Client}. What goes wrong is a {@link io.pigment.PigmentException}; what is closed throws
 * {@link IllegalStateException}. The native library is looked for in {@code -Dpigment.library.path}, in {@code java.library.path} and in the
 * jar; the process must be started with {@code --enable-native-access=io.pigment} (or {@code ALL-UNNAMED} on the class path).
 */
package io.pigment;
