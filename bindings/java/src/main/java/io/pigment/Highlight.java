// SPDX-License-Identifier: Apache-2.0

package io.pigment;

/**
 * A word of a text search in a document.
 *
 * @param begin the first byte of it, in the document's UTF-8
 * @param end the byte behind it
 */
public record Highlight(long begin, long end) {}
