// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A batch of records as columns, each aligned with the ids; a column that is not given is absent, and so is a value that is null. It is read when
 * a call is made, and must not change meanwhile. One thread at a time.
 */
public final class Records {
  private final List<String> ids;
  private Embeddings embeddings;
  private List<?> documents;
  private List<String> metadatas;
  private List<String> uris;

  private Records(List<String> ids) {
    this.ids = Objects.requireNonNull(ids, "ids");
  }

  /**
   * Records with these ids.
   *
   * @param ids each once
   * @return a batch with nothing but ids
   */
  public static Records of(String... ids) {
    return new Records(Arrays.asList(ids));
  }

  /**
   * Records with these ids.
   *
   * @param ids each once
   * @return a batch with nothing but ids
   */
  public static Records of(List<String> ids) {
    return new Records(ids);
  }

  /**
   * Their vectors.
   *
   * @param embeddings a row for each id
   * @return this
   */
  public Records embeddings(Embeddings embeddings) {
    this.embeddings = Objects.requireNonNull(embeddings, "embeddings");
    return this;
  }

  /**
   * Their vectors.
   *
   * @param rows a vector for each id
   * @return this
   */
  public Records embeddings(float[]... rows) {
    return embeddings(Embeddings.of(rows));
  }

  /**
   * Their documents; without embeddings they are embedded by the collection's function.
   *
   * @param documents a text or null for each id
   * @return this
   */
  public Records documents(String... documents) {
    return documents(Arrays.asList(documents));
  }

  /**
   * Their documents; without embeddings they are embedded by the collection's function.
   *
   * @param documents a text or null for each id
   * @return this
   */
  public Records documents(List<String> documents) {
    this.documents = Objects.requireNonNull(documents, "documents");
    return this;
  }

  /**
   * Their documents as bytes, which need not be UTF-8.
   *
   * @param documents bytes or null for each id
   * @return this
   */
  public Records documentBytes(List<byte[]> documents) {
    this.documents = Objects.requireNonNull(documents, "documents");
    return this;
  }

  /**
   * Their metadata: strings, whole numbers, floating numbers, booleans, and lists of one of these. In update and upsert a value that is null
   * deletes its key.
   *
   * @param metadatas a map or null for each id
   * @return this
   */
  @SafeVarargs
  @SuppressWarnings("varargs")
  public final Records metadatas(Map<String, ?>... metadatas) {
    return metadatas(Arrays.asList(metadatas));
  }

  /**
   * Their metadata, as above.
   *
   * @param metadatas a map or null for each id
   * @return this
   */
  public Records metadatas(List<? extends Map<String, ?>> metadatas) {
    return metadatasJson(metadatas.stream().map(one -> one == null ? null : Json.write(one)).toList());
  }

  /**
   * Their metadata as printed JSON.
   *
   * @param metadatas an object or null for each id
   * @return this
   */
  public Records metadatasJson(List<String> metadatas) {
    this.metadatas = Objects.requireNonNull(metadatas, "metadatas");
    return this;
  }

  /**
   * Their uris.
   *
   * @param uris a text or null for each id
   * @return this
   */
  public Records uris(String... uris) {
    return uris(Arrays.asList(uris));
  }

  /**
   * Their uris.
   *
   * @param uris a text or null for each id
   * @return this
   */
  public Records uris(List<String> uris) {
    this.uris = Objects.requireNonNull(uris, "uris");
    return this;
  }

  /** The pigment_records. A column that is not as long as the ids cannot be passed: the library knows one count. */
  MemorySegment struct(Call call) {
    MemorySegment records = call.struct(Structs.Records.SIZE);
    int count = Texts.put(call, records, Structs.Records.IDS, ids, "ids");
    records.set(JAVA_LONG, Structs.Records.COUNT, count);
    if (embeddings != null) {
      embeddings.put(call, records, Structs.Records.EMBEDDINGS);
    }
    put(call, records, Structs.Records.DOCUMENTS, documents, "documents", count);
    put(call, records, Structs.Records.METADATAS, metadatas, "metadatas", count);
    put(call, records, Structs.Records.URIS, uris, "uris", count);
    return records;
  }

  private static void put(Call call, MemorySegment records, long offset, List<?> column, String what, int count) {
    int rows = Texts.put(call, records, offset, column, what);
    if (column != null && rows != count) {
      throw new InvalidArgumentException(what + ": " + rows + " for " + count + " ids");
    }
  }
}
