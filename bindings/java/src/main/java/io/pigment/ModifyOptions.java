// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Objects;

/** What changes of a collection; what is not said stays. One thread. */
public final class ModifyOptions {
  private String name;
  private String metadata;
  private String configuration;

  /** Nothing. */
  public ModifyOptions() {}

  /**
   * Another name.
   *
   * @param name that no collection of the database has
   * @return this
   */
  public ModifyOptions name(String name) {
    this.name = Objects.requireNonNull(name, "name");
    return this;
  }

  /**
   * Metadata in place of what it had.
   *
   * @param metadata strings, numbers and booleans
   * @return this
   */
  public ModifyOptions metadata(Map<String, ?> metadata) {
    return metadataJson(Json.write(metadata));
  }

  /**
   * Metadata in place of what it had, printed already.
   *
   * @param json an object
   * @return this
   */
  public ModifyOptions metadataJson(String json) {
    metadata = Objects.requireNonNull(json, "json");
    return this;
  }

  /**
   * Parameters that are merged into the configuration.
   *
   * @param configuration not space nor full_vectors
   * @return this
   */
  public ModifyOptions configuration(Map<String, ?> configuration) {
    return configurationJson(Json.write(configuration));
  }

  /**
   * Parameters that are merged into the configuration, printed already.
   *
   * @param json an object
   * @return this
   */
  public ModifyOptions configurationJson(String json) {
    configuration = Objects.requireNonNull(json, "json");
    return this;
  }

  MemorySegment struct(Call call) {
    MemorySegment options = call.struct(Structs.ModifyOptions.SIZE);
    call.text(options, Structs.ModifyOptions.NAME, Structs.ModifyOptions.NAME_SIZE, name, "name");
    call.text(options, Structs.ModifyOptions.METADATA_JSON, Structs.ModifyOptions.METADATA_JSON_SIZE, metadata, "metadata");
    call.text(options, Structs.ModifyOptions.CONFIGURATION_JSON, Structs.ModifyOptions.CONFIGURATION_JSON_SIZE, configuration,
        "configuration");
    return options;
  }
}
