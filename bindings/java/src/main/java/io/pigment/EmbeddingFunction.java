// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * From texts to vectors, so that a collection takes documents and queries as they are. It is called from the thread of the call that
 * needs it, perhaps from several at once, and must not call the collection that it serves. What it returns is checked: count, one
 * dimension, finite numbers.
 *
 * <p>What it throws does not cross the library: the call fails and the exception that was thrown is the cause. A
 * {@link PigmentException} also says with which code it fails; anything else is {@link Status#UNKNOWN}.
 */
public interface EmbeddingFunction {
  /**
   * The vectors of some texts.
   *
   * @param texts one or more; valid after the call too
   * @param purpose whether they are stored or searched for
   * @return a vector for each text, in their order
   * @throws Exception when there are none; the call that needed them fails
   */
  float[][] embed(List<String> texts, Purpose purpose) throws Exception;

  /**
   * What the catalog stores as the function's name. Nothing is ever loaded by it.
   *
   * @return the name; of another one's collection it must be the same
   */
  String name();

  /**
   * What the catalog stores as the function's configuration.
   *
   * @return values that JSON has, perhaps none
   */
  default Map<String, ?> config() {
    return Map.of();
  }

  /**
   * The distance that fits its vectors, for collections that name none.
   *
   * @return the space, if it has a preference
   */
  default Optional<Space> space() {
    return Optional.empty();
  }

  /**
   * The built-in lexical function {@code pigment_lexical_v1}: hashed words and pieces of words, 384 dimensions, unit length. A baseline, not a
   * semantic model.
   *
   * @return the function
   */
  static EmbeddingFunction lexical() {
    return lexical(384);
  }

  /**
   * The built-in lexical function with another number of dimensions.
   *
   * @param dimension of its vectors
   * @return the function
   */
  static EmbeddingFunction lexical(int dimension) {
    return new Lexical(dimension);
  }
}
