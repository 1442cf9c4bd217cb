// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Objects;

/** What a new collection is like. Maps are printed as JSON at once. One thread. */
public final class CollectionOptions {
  private String metadata;
  private String configuration;
  private String schema;
  private EmbeddingFunction function;

  /** The defaults: no metadata, distance l2, no function. */
  public CollectionOptions() {}

  /**
   * What describes the collection.
   *
   * @param metadata strings, numbers and booleans
   * @return this
   */
  public CollectionOptions metadata(Map<String, ?> metadata) {
    return metadataJson(Json.write(metadata));
  }

  /**
   * What describes the collection, printed already.
   *
   * @param json an object
   * @return this
   */
  public CollectionOptions metadataJson(String json) {
    metadata = Objects.requireNonNull(json, "json");
    return this;
  }

  /**
   * How it is searched: Chroma's configuration, with full_vectors, text_index and nested_metadata.
   *
   * @param configuration as docs/operations.md has it
   * @return this
   */
  public CollectionOptions configuration(Map<String, ?> configuration) {
    return configurationJson(Json.write(configuration));
  }

  /**
   * How it is searched, printed already.
   *
   * @param json an object
   * @return this
   */
  public CollectionOptions configurationJson(String json) {
    configuration = Objects.requireNonNull(json, "json");
    return this;
  }

  /**
   * The distance, in place of a configuration that says nothing else.
   *
   * @param space how far two vectors are from each other
   * @return this
   */
  public CollectionOptions space(Space space) {
    return configuration(Map.of("hnsw", Map.of("space", space.word())));
  }

  /**
   * Which values can be filtered by; in place of a configuration.
   *
   * @param schema as docs/schema.md has it
   * @return this
   */
  public CollectionOptions schema(Map<String, ?> schema) {
    return schemaJson(Json.write(schema));
  }

  /**
   * Which values can be filtered by, printed already.
   *
   * @param json an object
   * @return this
   */
  public CollectionOptions schemaJson(String json) {
    schema = Objects.requireNonNull(json, "json");
    return this;
  }

  /**
   * What makes vectors of texts.
   *
   * @param function kept as long as the library has a use for it
   * @return this
   */
  public CollectionOptions embeddingFunction(EmbeddingFunction function) {
    this.function = Objects.requireNonNull(function, "function");
    return this;
  }

  EmbeddingFunction function() {
    return function;
  }

  /** Without the function, which is an argument of the call. */
  MemorySegment struct(Call call, boolean getOrCreate) {
    MemorySegment options = call.struct(Structs.CollectionOptions.SIZE);
    call.text(options, Structs.CollectionOptions.METADATA_JSON, Structs.CollectionOptions.METADATA_JSON_SIZE, metadata, "metadata");
    call.text(options, Structs.CollectionOptions.CONFIGURATION_JSON, Structs.CollectionOptions.CONFIGURATION_JSON_SIZE,
        configuration, "configuration");
    call.text(options, Structs.CollectionOptions.SCHEMA_JSON, Structs.CollectionOptions.SCHEMA_JSON_SIZE, schema, "schema");
    options.set(JAVA_BOOLEAN, Structs.CollectionOptions.GET_OR_CREATE, getOrCreate);
    return options;
  }
}
