// SPDX-License-Identifier: Apache-2.0
//
// Steps of a conformance script as calls of the binding. Owns the client and the collections of one script.

package io.pigment;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

final class Runner implements AutoCloseable {
  private final Path directory; // null: in memory
  private final Map<String, Collection> collections = new HashMap<>();
  private Client client;
  private String cursor;

  Runner(Path directory) {
    this.directory = directory;
    open();
  }

  private void open() {
    client = directory == null ? Client.inMemory() : Client.open(directory);
  }

  @Override
  public void close() {
    collections.values().forEach(Collection::close);
    client.close();
  }

  /** The answer as JSON has it; what the library refuses is thrown. */
  Object execute(Script.Step step) {
    Map<String, Object> args = step.args();
    return switch (step.op()) {
      case "reopen" -> {
        close();
        collections.clear();
        open();
        yield null;
      }
      case "close" -> {
        client.close();
        yield null;
      }
      case "create_tenant" -> done(() -> client.createTenant(text(args, "name")));
      case "get_tenant" -> Map.of("name", client.getTenant(text(args, "name")));
      case "list_tenants" -> client.listTenants();
      case "delete_tenant" -> done(() -> client.deleteTenant(text(args, "name")));
      case "create_database" -> done(() -> client.createDatabase(text(args, "tenant"), text(args, "name")));
      case "get_database" -> json(client.getDatabase(text(args, "tenant"), text(args, "name")));
      case "list_databases" -> client.listDatabases(text(args, "tenant"), number(args, "limit", -1), number(args, "offset", 0))
          .stream().map(Runner::json).toList();
      case "delete_database" -> done(() -> client.deleteDatabase(text(args, "tenant"), text(args, "name")));
      case "create_collection" -> keep(create(args), args);
      case "get_collection" -> keep(scope(args).getCollection(text(args, "name"), Letters.of(args)), args);
      case "get_collection_by_id" -> keep(client.getCollectionById(
          args.containsKey("of") ? collections.get(args.get("of")).describe().id() : text(args, "id"), Letters.of(args)), args);
      case "list_collections" -> list(args);
      case "count_collections" -> scope(args).countCollections();
      case "delete_collection" -> done(() -> scope(args).deleteCollection(text(args, "name")));
      case "describe" -> json(handle(args).describe());
      case "modify" -> done(() -> handle(args).modify(modification(args)));
      case "fork" -> keep(handle(args).fork(text(args, "new_name")), args);
      case "flush" -> done(() -> {
        if (args.containsKey("collection")) {
          handle(args).flush();
        } else {
          client.flush();
        }
      });
      case "add" -> json(handle(args).add(records(args)));
      case "update" -> json(handle(args).update(records(args)));
      case "upsert" -> json(handle(args).upsert(records(args)));
      case "delete" -> Map.of("deleted", handle(args).delete(deletion(args)).deleted());
      case "get" -> get(args);
      case "peek" -> columns(List.of(handle(args).peek(number(args, "limit", 10)).rows()), false);
      case "count" -> handle(args).count(select(new CountRequest(), args));
      case "facets" -> facets(args);
      case "query" -> columns(handle(args).query(query(args)).queries(), true);
      default -> throw new IllegalStateException("unknown op " + step.op());
    };
  }

  private static Object done(Runnable call) {
    call.run();
    return null;
  }

  private static String text(Map<String, Object> args, String key) {
    return (String) args.get(key);
  }

  private static long number(Map<String, Object> args, String key, long otherwise) {
    return (Long) args.getOrDefault(key, otherwise);
  }

  /** Printed JSON, or the raw text; nothing when neither is there. */
  private static void json(Map<String, Object> args, String key, Consumer<String> take) {
    if (args.containsKey(key + "_raw")) {
      take.accept(text(args, key + "_raw"));
    } else if (args.containsKey(key)) {
      take.accept(Json.write(args.get(key)));
    }
  }

  private static void list(Map<String, Object> args, String key, Consumer<List<String>> take) {
    if (args.containsKey(key)) {
      take.accept(((List<?>) args.get(key)).stream()
          .map(one -> one == null ? null : one instanceof String text ? text : Json.write(one))
          .collect(ArrayList::new, ArrayList::add, ArrayList::addAll));
    }
  }

  private Collection handle(Map<String, Object> args) {
    return collections.get(text(args, "collection"));
  }

  private Database scope(Map<String, Object> args) {
    return client.database(text(args, "tenant"), text(args, "database"));
  }

  private Collection create(Map<String, Object> args) {
    CollectionOptions options = new CollectionOptions();
    json(args, "metadata", options::metadataJson);
    json(args, "configuration", options::configurationJson);
    json(args, "schema", options::schemaJson);
    if (Letters.of(args) != null) {
      options.embeddingFunction(Letters.of(args));
    }
    return args.getOrDefault("get_or_create", false).equals(true)
        ? scope(args).getOrCreateCollection(text(args, "name"), options)
        : scope(args).createCollection(text(args, "name"), options);
  }

  private Object keep(Collection made, Map<String, Object> args) {
    Object name = args.getOrDefault("as", args.getOrDefault("name", args.getOrDefault("new_name", "id")));
    Collection before = collections.put((String) name, made);
    if (before != null) {
      before.close();
    }
    return json(made.describe());
  }

  private Object list(Map<String, Object> args) {
    List<CollectionInfo> found = new ArrayList<>(scope(args).listCollections(number(args, "limit", -1), number(args, "offset", 0)));
    if (args.getOrDefault("sorted_by_name", false).equals(true)) {
      found.sort(Comparator.comparing(CollectionInfo::name));
    }
    return found.stream().map(Runner::json).toList();
  }

  private static ModifyOptions modification(Map<String, Object> args) {
    ModifyOptions options = new ModifyOptions();
    if (args.containsKey("name")) {
      options.name(text(args, "name"));
    }
    json(args, "metadata", options::metadataJson);
    json(args, "configuration", options::configurationJson);
    return options;
  }

  private static Records records(Map<String, Object> args) {
    Records[] records = {Records.of(List.of())};
    list(args, "ids", ids -> records[0] = Records.of(ids));
    list(args, "documents", records[0]::documents);
    list(args, "metadatas", records[0]::metadatasJson);
    list(args, "uris", records[0]::uris);
    if (args.containsKey("embeddings")) {
      records[0].embeddings(embeddings(args));
    }
    return records[0];
  }

  private static Embeddings embeddings(Map<String, Object> args) {
    List<?> rows = (List<?>) args.get("embeddings");
    ElementType type = ElementType.valueOf(((String) args.getOrDefault("dtype", "f32")).toUpperCase(Locale.ROOT));
    int dimension = rows.isEmpty() ? 0 : ((List<?>) rows.getLast()).size();
    if (type == ElementType.F32) {
      return Embeddings.of(rows.stream().map(row -> floats((List<?>) row)).toArray(float[][]::new));
    }
    int bytes = type == ElementType.I32 ? 4 : 8;
    MemorySegment values = MemorySegment.ofArray(new byte[rows.size() * dimension * bytes]);
    for (int row = 0; row < rows.size(); ++row) {
      for (int column = 0; column < dimension; ++column) {
        Object value = ((List<?>) rows.get(row)).get(column);
        long at = ((long) row * dimension + column) * bytes;
        switch (type) {
          case F64 -> values.set(JAVA_DOUBLE_UNALIGNED, at, real(value));
          case I32 -> values.set(JAVA_INT_UNALIGNED, at, ((Long) value).intValue());
          case I64 -> values.set(JAVA_LONG_UNALIGNED, at, (Long) value);
          default -> throw new IllegalStateException("no dtype of the scripts: " + type);
        }
      }
    }
    return Embeddings.of(values, rows.size(), dimension, 0, type);
  }

  private static float[] floats(List<?> row) {
    float[] values = new float[row.size()];
    for (int i = 0; i < values.length; ++i) {
      values[i] = (float) real(row.get(i));
    }
    return values;
  }

  private static double real(Object value) {
    return value instanceof Number number ? number.doubleValue() : Double.parseDouble((String) value);
  }

  private static <T extends Selection<T>> T select(T request, Map<String, Object> args) {
    list(args, "ids", request::ids);
    json(args, "where", text -> request.where(Where.ofJson(text)));
    json(args, "where_document", text -> request.whereDocument(WhereDocument.ofJson(text)));
    return request;
  }

  private static DeleteRequest deletion(Map<String, Object> args) {
    DeleteRequest request = select(new DeleteRequest(), args);
    return args.containsKey("limit") ? request.limit(number(args, "limit", 0)) : request;
  }

  private static Include[] include(Map<String, Object> args) {
    return ((List<?>) args.get("include")).stream()
        .map(name -> Include.valueOf(((String) name).toUpperCase(Locale.ROOT))).toArray(Include[]::new);
  }

  private Object get(Map<String, Object> args) {
    GetRequest request = select(new GetRequest(), args).offset(number(args, "offset", 0));
    if (args.containsKey("limit")) {
      request.limit(number(args, "limit", 0));
    }
    if (args.containsKey("include")) {
      request.include(include(args));
    }
    json(args, "order_by", request::orderByJson);
    String last = cursor;
    cursor = null;
    if (args.getOrDefault("goes_on", false).equals(true)) {
      request.cursor(last);
    } else if (args.containsKey("cursor")) {
      request.cursor(text(args, "cursor"));
    }
    GetResult result = handle(args).get(request);
    cursor = result.cursor().orElse(null);
    Map<String, Object> answer = columns(List.of(result.rows()), false);
    answer.put("may_go_on", cursor != null);
    return answer;
  }

  private static QueryRequest query(Map<String, Object> args) {
    QueryRequest request = select(new QueryRequest(), args).results(number(args, "n_results", 10));
    if (args.containsKey("embeddings")) {
      request.embeddings(embeddings(args));
    }
    list(args, "texts", request::texts);
    if (args.containsKey("include")) {
      request.include(include(args));
    }
    if (args.containsKey("max_distance")) {
      request.maxDistance(real(args.get("max_distance")));
    }
    return request;
  }

  private Object facets(Map<String, Object> args) {
    FacetsRequest[] request = {new FacetsRequest(List.of())};
    list(args, "keys", keys -> request[0] = new FacetsRequest(keys));
    select(request[0], args);
    if (args.containsKey("limit")) {
      request[0].limit(number(args, "limit", 0));
    }
    Map<String, Object> answer = new LinkedHashMap<>();
    handle(args).facets(request[0]).forEach((key, values) -> answer.put(key, values.stream().map(one -> {
      Map<String, Object> value = new LinkedHashMap<>();
      value.put("value", one.value());
      value.put("count", one.count());
      return value;
    }).toList()));
    return answer;
  }

  private static Object json(DatabaseInfo info) {
    return Map.of("id", info.id(), "name", info.name(), "tenant", info.tenant());
  }

  private static Object json(WriteResult result) {
    return Map.of("inserted", result.inserted(), "updated", result.updated(), "skipped", result.skipped(), "deleted", result.deleted());
  }

  private static Object json(CollectionInfo info) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", info.id());
    json.put("name", info.name());
    json.put("tenant", info.tenant());
    json.put("database", info.database());
    json.put("metadata", info.metadata());
    json.put("configuration", info.configuration());
    json.put("schema", info.schema());
    json.put("embedding_function", info.embeddingFunction());
    json.put("dimension", info.dimension());
    return json;
  }

  /** The columns that the result has, of each query or of the only one. */
  private static Map<String, Object> columns(List<Rows> queries, boolean isQuery) {
    Map<String, Object> columns = new LinkedHashMap<>();
    BiConsumer<String, Function<Rows, Object>> put = (name, column) -> {
      List<Object> each = new ArrayList<>();
      queries.forEach(rows -> each.add(column.apply(rows)));
      if (each.stream().anyMatch(Objects::nonNull)) {
        columns.put(name, isQuery ? each : each.getFirst());
      }
    };
    put.accept("ids", Rows::ids);
    put.accept("documents", Rows::documents);
    put.accept("metadatas", Rows::metadatas);
    put.accept("uris", Rows::uris);
    put.accept("distances", rows -> rows.distances() == null ? null : numbers(rows.distances()));
    put.accept("embeddings", rows -> rows.embeddings() == null ? null
        : Arrays.stream(rows.embeddings()).map(Runner::numbers).toList());
    return columns;
  }

  private static List<Float> numbers(float[] values) {
    List<Float> list = new ArrayList<>();
    for (float value : values) {
      list.add(value);
    }
    return list;
  }
}
