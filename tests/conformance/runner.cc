// SPDX-License-Identifier: Apache-2.0
//
// Steps of a conformance script as calls of the C interface.

#include "tests/conformance/runner.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "tests/conformance/letters.h"

namespace conformance {
namespace {

using abi_test::Outcome;
using abi_test::Texts;
using abi_test::Try;

// An argument as text that stays alive for the call: absent, a raw text (name_raw) or printed JSON.
struct OptionalText {
  std::optional<std::string> text;
  const char* data() const { return text ? text->data() : nullptr; }
  size_t size() const { return text ? text->size() : 0; }
};

OptionalText StringOf(const Json& args, const char* key) {
  if (!args.contains(key)) return {};
  return {args.at(key).get<std::string>()};
}

OptionalText JsonOf(const Json& args, const std::string& key) {
  if (args.contains(key + "_raw")) return {args.at(key + "_raw").get<std::string>()};
  if (!args.contains(key)) return {};
  return {args.at(key).dump()};
}

struct OwnedScope {
  OptionalText tenant, database;
  pigment_scope scope = abi_test::Sized<pigment_scope>();
  explicit OwnedScope(const Json& args)
      : tenant(StringOf(args, "tenant")), database(StringOf(args, "database")) {
    scope.tenant = tenant.data();
    scope.tenant_size = tenant.size();
    scope.database = database.data();
    scope.database_size = database.size();
  }
};

// Texts, absent where null; the count of `ids` rules.
struct OwnedTexts {
  std::optional<Texts> texts;
  OwnedTexts(const Json& args, const char* key) {
    if (!args.contains(key)) return;
    texts.emplace();
    for (const Json& one : args.at(key)) {
      if (one.is_null()) {
        texts->AddAbsent();
      } else {
        texts->Add(one.is_string() ? one.get<std::string>() : one.dump());
      }
    }
  }
  pigment_text_column column() const { return texts ? texts->column() : pigment_text_column{}; }
  size_t size() const { return texts ? texts->size() : 0; }
};

double Number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string name = value.get<std::string>();
  if (name == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (name == "Infinity") return std::numeric_limits<double>::infinity();
  if (name == "-Infinity") return -std::numeric_limits<double>::infinity();
  throw std::runtime_error("not a number: " + name);
}

// Rows of numbers as the element type `dtype` (f32, f64, i32, i64; f16 is tested by units).
struct OwnedVectors {
  std::vector<char> bytes;
  pigment_vectors vectors{};

  template <typename T>
  void Append(T value) {
    const char* raw = reinterpret_cast<const char*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  }

  explicit OwnedVectors(const Json& args) {
    if (!args.contains("embeddings")) return;
    const std::string dtype = args.value("dtype", "f32");
    const std::map<std::string, int32_t> types = {
        {"f32", PIGMENT_F32}, {"f64", PIGMENT_F64}, {"i32", PIGMENT_I32}, {"i64", PIGMENT_I64}};
    vectors.dtype = types.at(dtype);
    for (const Json& row : args.at("embeddings")) {
      vectors.dimension = row.size();
      ++vectors.rows;
      for (const Json& value : row) {
        if (dtype == "f32") Append(static_cast<float>(Number(value)));
        if (dtype == "f64") Append(Number(value));
        if (dtype == "i32") Append(value.get<int32_t>());
        if (dtype == "i64") Append(value.get<int64_t>());
      }
    }
    bytes.reserve(1);
    vectors.data = bytes.data();
  }
};

int32_t IncludeOf(const Json& args) {
  if (!args.contains("include")) return PIGMENT_INCLUDE_DEFAULT;
  const std::map<std::string, int32_t> bits = {{"documents", PIGMENT_INCLUDE_DOCUMENTS},
                                               {"metadatas", PIGMENT_INCLUDE_METADATAS},
                                               {"embeddings", PIGMENT_INCLUDE_EMBEDDINGS},
                                               {"uris", PIGMENT_INCLUDE_URIS},
                                               {"distances", PIGMENT_INCLUDE_DISTANCES}};
  int32_t include = 0;
  for (const Json& name : args.at("include")) include |= bits.at(name.get<std::string>());
  return include != 0 ? include : PIGMENT_INCLUDE_NOTHING;
}

Answer Failed(const Outcome& outcome) { return {nullptr, outcome}; }

Answer TextAnswer(const Outcome& outcome, pigment_buffer* raw) {
  const abi_test::Buffer buffer(raw);
  if (!outcome.ok()) return Failed(outcome);
  return {Json::parse(abi_test::Text(buffer.get())), outcome};
}

Answer NullAnswer(const Outcome& outcome) { return {nullptr, outcome}; }

Json ColumnRange(const pigment_text_column& column, uint64_t begin, uint64_t end, bool is_json) {
  Json out = Json::array();
  for (uint64_t row = begin; row < end; ++row) {
    if (!abi_test::Has(column, row)) {
      out.push_back(nullptr);
    } else if (is_json) {
      out.push_back(Json::parse(abi_test::Text(column, row)));
    } else {
      out.push_back(abi_test::Text(column, row));
    }
  }
  return out;
}

Json EmbeddingRange(const float* values, size_t dimension, uint64_t begin, uint64_t end) {
  Json out = Json::array();
  for (uint64_t row = begin; row < end; ++row) {
    out.push_back(std::vector<float>(values + row * dimension, values + (row + 1) * dimension));
  }
  return out;
}

// The columns of rows begin .. end under their names.
void Collect(const pigment_result* result, uint64_t begin, uint64_t end,
             std::map<std::string, Json>* columns) {
  pigment_text_column column{};
  if (pigment_result_ids(result, &column))
    (*columns)["ids"].push_back(ColumnRange(column, begin, end, false));
  if (pigment_result_documents(result, &column)) {
    (*columns)["documents"].push_back(ColumnRange(column, begin, end, false));
  }
  if (pigment_result_metadatas(result, &column)) {
    (*columns)["metadatas"].push_back(ColumnRange(column, begin, end, true));
  }
  if (pigment_result_uris(result, &column))
    (*columns)["uris"].push_back(ColumnRange(column, begin, end, false));
  if (const float* distances = pigment_result_distances(result); distances != nullptr) {
    (*columns)["distances"].push_back(std::vector<float>(distances + begin, distances + end));
  }
  size_t dimension = 0;
  if (const float* values = pigment_result_embeddings(result, &dimension); values != nullptr) {
    (*columns)["embeddings"].push_back(EmbeddingRange(values, dimension, begin, end));
  }
}

Json ResultJson(const pigment_result* result, bool is_query) {
  std::map<std::string, Json> columns;
  const uint64_t* offsets = pigment_result_query_offsets(result);
  for (uint64_t query = 0; query < pigment_result_query_count(result); ++query) {
    Collect(result, offsets[query], offsets[query + 1], &columns);
  }
  Json out = Json::object();
  for (auto& [name, queries] : columns) out[name] = is_query ? queries : queries.at(0);
  return out;
}

}  // namespace

Runner::Runner(std::string directory) : directory_(std::move(directory)) {
  const Outcome outcome = abi_test::Open(directory_, &client_);
  if (!outcome.ok()) throw std::runtime_error("open: " + outcome.message);
}

Runner::~Runner() = default;

const std::map<std::string, Runner::Op>& Runner::Ops() {
  static const std::map<std::string, Op> ops = {
      {"reopen", &Runner::Reopen},
      {"close", &Runner::Close},
      {"create_tenant", &Runner::CreateTenant},
      {"get_tenant", &Runner::GetTenant},
      {"list_tenants", &Runner::ListTenants},
      {"delete_tenant", &Runner::DeleteTenant},
      {"create_database", &Runner::CreateDatabase},
      {"get_database", &Runner::GetDatabase},
      {"list_databases", &Runner::ListDatabases},
      {"delete_database", &Runner::DeleteDatabase},
      {"create_collection", &Runner::CreateCollection},
      {"get_collection", &Runner::GetCollection},
      {"get_collection_by_id", &Runner::GetCollectionById},
      {"list_collections", &Runner::ListCollections},
      {"count_collections", &Runner::CountCollections},
      {"delete_collection", &Runner::DeleteCollection},
      {"describe", &Runner::Describe},
      {"modify", &Runner::Modify},
      {"fork", &Runner::Fork},
      {"flush", &Runner::Flush},
      {"add", &Runner::Add},
      {"update", &Runner::Update},
      {"upsert", &Runner::Upsert},
      {"delete", &Runner::Delete},
      {"get", &Runner::Get},
      {"peek", &Runner::Peek},
      {"count", &Runner::Count},
      {"facets", &Runner::Facets},
      {"query", &Runner::Query},
  };
  return ops;
}

Answer Runner::Execute(const Json& step) {
  const auto op = Ops().find(step.at("op").get<std::string>());
  if (op == Ops().end()) throw std::runtime_error("unknown op " + step.at("op").dump());
  return (this->*op->second)(step.contains("args") ? step.at("args") : Json::object());
}

pigment_collection* Runner::Handle(const Json& args) const {
  return collections_.at(args.at("collection").get<std::string>()).get();
}

Answer Runner::Close(const Json&) { return NullAnswer(Try(pigment_client_close, client_.get())); }

Answer Runner::Reopen(const Json&) {
  const Outcome closed = Try(pigment_client_close, client_.get());
  if (!closed.ok()) return Failed(closed);
  collections_.clear();
  return NullAnswer(abi_test::Open(directory_, &client_));
}

Answer Runner::CreateTenant(const Json& args) {
  const auto name = StringOf(args, "name");
  return NullAnswer(Try(pigment_client_create_tenant, client_.get(), name.data(), name.size()));
}
Answer Runner::GetTenant(const Json& args) {
  const auto name = StringOf(args, "name");
  pigment_buffer* json = nullptr;
  const Outcome outcome =
      Try(pigment_client_get_tenant, client_.get(), name.data(), name.size(), &json);
  return TextAnswer(outcome, json);
}
Answer Runner::ListTenants(const Json&) {
  pigment_buffer* json = nullptr;
  const Outcome outcome = Try(pigment_client_list_tenants, client_.get(), &json);
  return TextAnswer(outcome, json);
}
Answer Runner::DeleteTenant(const Json& args) {
  const auto name = StringOf(args, "name");
  return NullAnswer(Try(pigment_client_delete_tenant, client_.get(), name.data(), name.size()));
}

Answer Runner::CreateDatabase(const Json& args) {
  const auto tenant = StringOf(args, "tenant"), name = StringOf(args, "name");
  return NullAnswer(Try(pigment_client_create_database, client_.get(), tenant.data(), tenant.size(),
                        name.data(), name.size()));
}
Answer Runner::GetDatabase(const Json& args) {
  const auto tenant = StringOf(args, "tenant"), name = StringOf(args, "name");
  pigment_buffer* json = nullptr;
  const Outcome outcome = Try(pigment_client_get_database, client_.get(), tenant.data(),
                              tenant.size(), name.data(), name.size(), &json);
  return TextAnswer(outcome, json);
}
Answer Runner::ListDatabases(const Json& args) {
  const auto tenant = StringOf(args, "tenant");
  pigment_buffer* json = nullptr;
  const Outcome outcome =
      Try(pigment_client_list_databases, client_.get(), tenant.data(), tenant.size(),
          args.value("limit", int64_t{-1}), args.value("offset", int64_t{0}), &json);
  return TextAnswer(outcome, json);
}
Answer Runner::DeleteDatabase(const Json& args) {
  const auto tenant = StringOf(args, "tenant"), name = StringOf(args, "name");
  return NullAnswer(Try(pigment_client_delete_database, client_.get(), tenant.data(), tenant.size(),
                        name.data(), name.size()));
}

// Keeps the handle under args.as, else args.name (or args.new_name), and answers with its
// description.
Answer Runner::Keep(const Outcome& outcome, pigment_collection* made, const Json& args) {
  abi_test::Collection handle(made);
  if (!outcome.ok()) return Failed(outcome);
  pigment_buffer* json = nullptr;
  const Outcome described = Try(pigment_collection_describe, handle.get(), &json);
  const std::string by_default = args.value("name", args.value("new_name", "id"));
  collections_[args.value("as", by_default)] = std::move(handle);
  return TextAnswer(described, json);
}

Answer Runner::CreateCollection(const Json& args) {
  const auto name = StringOf(args, "name");
  const auto metadata = JsonOf(args, "metadata"), configuration = JsonOf(args, "configuration");
  const auto schema = JsonOf(args, "schema");
  const OwnedScope scope(args);
  Letters letters(args);
  auto options = abi_test::Sized<pigment_collection_options>();
  options.schema_json = schema.data();
  options.schema_json_size = schema.size();
  options.metadata_json = metadata.data();
  options.metadata_json_size = metadata.size();
  options.configuration_json = configuration.data();
  options.configuration_json_size = configuration.size();
  options.embedding_function = letters.function();
  options.get_or_create = args.value("get_or_create", false);
  pigment_collection* made = nullptr;
  const Outcome outcome = Try(pigment_client_create_collection, client_.get(), &scope.scope,
                              name.data(), name.size(), &options, &made);
  if (outcome.ok()) letters.GiveAway();
  return Keep(outcome, made, args);
}
Answer Runner::GetCollection(const Json& args) {
  const auto name = StringOf(args, "name");
  const OwnedScope scope(args);
  Letters letters(args);
  pigment_collection* found = nullptr;
  const Outcome outcome = Try(pigment_client_get_collection, client_.get(), &scope.scope,
                              name.data(), name.size(), letters.function(), &found);
  if (outcome.ok()) letters.GiveAway();
  return Keep(outcome, found, args);
}
Answer Runner::GetCollectionById(const Json& args) {
  std::string id = args.value("id", std::string());
  if (args.contains("of")) {
    pigment_buffer* json = nullptr;
    const Outcome outcome =
        Try(pigment_collection_describe, collections_.at(args.at("of")).get(), &json);
    const Answer described = TextAnswer(outcome, json);
    if (!outcome.ok()) return described;
    id = described.value.at("id");
  }
  Letters letters(args);
  pigment_collection* found = nullptr;
  const Outcome outcome = Try(pigment_client_get_collection_by_id, client_.get(), id.data(),
                              id.size(), letters.function(), &found);
  if (outcome.ok()) letters.GiveAway();
  return Keep(outcome, found, args);
}
Answer Runner::ListCollections(const Json& args) {
  const OwnedScope scope(args);
  pigment_buffer* json = nullptr;
  const Outcome outcome =
      Try(pigment_client_list_collections, client_.get(), &scope.scope,
          args.value("limit", int64_t{-1}), args.value("offset", int64_t{0}), &json);
  Answer answer = TextAnswer(outcome, json);
  if (outcome.ok() && args.value("sorted_by_name", false)) {
    std::sort(answer.value.begin(), answer.value.end(),
              [](const Json& a, const Json& b) { return a.at("name") < b.at("name"); });
  }
  return answer;
}
Answer Runner::CountCollections(const Json& args) {
  const OwnedScope scope(args);
  uint64_t count = 0;
  const Outcome outcome =
      Try(pigment_client_count_collections, client_.get(), &scope.scope, &count);
  return {count, outcome};
}
Answer Runner::DeleteCollection(const Json& args) {
  const auto name = StringOf(args, "name");
  const OwnedScope scope(args);
  return NullAnswer(
      Try(pigment_client_delete_collection, client_.get(), &scope.scope, name.data(), name.size()));
}

Answer Runner::Describe(const Json& args) {
  pigment_buffer* json = nullptr;
  const Outcome outcome = Try(pigment_collection_describe, Handle(args), &json);
  return TextAnswer(outcome, json);
}
Answer Runner::Modify(const Json& args) {
  const auto name = StringOf(args, "name");
  const auto metadata = JsonOf(args, "metadata"), configuration = JsonOf(args, "configuration");
  auto options = abi_test::Sized<pigment_modify_options>();
  options.name = name.data();
  options.name_size = name.size();
  options.metadata_json = metadata.data();
  options.metadata_json_size = metadata.size();
  options.configuration_json = configuration.data();
  options.configuration_json_size = configuration.size();
  return NullAnswer(Try(pigment_collection_modify, Handle(args), &options));
}
Answer Runner::Fork(const Json& args) {
  const auto name = StringOf(args, "new_name");
  pigment_collection* made = nullptr;
  const Outcome outcome =
      Try(pigment_collection_fork, Handle(args), name.data(), name.size(), &made);
  return Keep(outcome, made, args);
}
Answer Runner::Flush(const Json& args) {
  if (!args.contains("collection")) return NullAnswer(Try(pigment_client_flush, client_.get()));
  return NullAnswer(Try(pigment_collection_flush, Handle(args)));
}

Answer Runner::Write(abi_test::WriteFunction function, const Json& args) {
  const OwnedTexts ids(args, "ids"), documents(args, "documents"), metadatas(args, "metadatas"),
      uris(args, "uris");
  const OwnedVectors embeddings(args);
  auto records = abi_test::Sized<pigment_records>();
  records.count = ids.size();
  records.ids = ids.column();
  records.documents = documents.column();
  records.metadatas = metadatas.column();
  records.uris = uris.column();
  records.embeddings = embeddings.vectors;
  pigment_write_result result = abi_test::WriteResult();
  const Outcome outcome = Try(function, Handle(args), &records,
                              static_cast<const pigment_call_options*>(nullptr), &result);
  return {{{"inserted", result.inserted},
           {"updated", result.updated},
           {"skipped", result.skipped},
           {"deleted", result.deleted}},
          outcome};
}
Answer Runner::Add(const Json& args) { return Write(pigment_collection_add, args); }
Answer Runner::Update(const Json& args) { return Write(pigment_collection_update, args); }
Answer Runner::Upsert(const Json& args) { return Write(pigment_collection_upsert, args); }

Answer Runner::Delete(const Json& args) {
  const OwnedTexts ids(args, "ids");
  const auto where = JsonOf(args, "where"), where_document = JsonOf(args, "where_document");
  auto request = abi_test::Sized<pigment_delete_request>();
  request.ids_count = ids.size();
  request.ids = ids.column();
  request.where_json = where.data();
  request.where_json_size = where.size();
  request.where_document_json = where_document.data();
  request.where_document_json_size = where_document.size();
  request.has_limit = args.contains("limit");
  request.limit = args.value("limit", int64_t{0});
  pigment_write_result result = abi_test::WriteResult();
  const Outcome outcome = Try(pigment_collection_delete, Handle(args), &request,
                              static_cast<const pigment_call_options*>(nullptr), &result);
  return {{{"deleted", result.deleted}}, outcome};
}

Answer Runner::Get(const Json& args) {
  const OwnedTexts ids(args, "ids");
  const auto where = JsonOf(args, "where"), where_document = JsonOf(args, "where_document");
  auto request = abi_test::Sized<pigment_get_request>();
  request.ids_count = ids.size();
  request.ids = ids.column();
  request.where_json = where.data();
  request.where_json_size = where.size();
  request.where_document_json = where_document.data();
  request.where_document_json_size = where_document.size();
  request.has_limit = args.contains("limit");
  request.limit = args.value("limit", int64_t{0});
  request.offset = args.value("offset", int64_t{0});
  request.include = IncludeOf(args);
  const auto order_by = JsonOf(args, "order_by"), cursor = StringOf(args, "cursor");
  request.order_by_json = order_by.data();
  request.order_by_json_size = order_by.size();
  const std::string last = std::exchange(cursor_, "");
  if (args.value("goes_on", false)) {
    request.cursor = last.data();
    request.cursor_size = last.size();
  } else {
    request.cursor = cursor.data();
    request.cursor_size = cursor.size();
  }
  abi_test::ResultHandle result;
  const Outcome outcome = abi_test::Get(Handle(args), request, &result);
  if (!outcome.ok()) return Failed(outcome);
  size_t size = 0;
  const char* const next = pigment_result_cursor(result.get(), &size);
  if (next != nullptr) cursor_.assign(next, size);
  Json answer = ResultJson(result.get(), false);
  answer["may_go_on"] = next != nullptr;
  return {answer, outcome};
}

Answer Runner::Peek(const Json& args) {
  pigment_result* raw = nullptr;
  const Outcome outcome =
      Try(pigment_collection_peek, Handle(args), args.value("limit", int64_t{10}),
          static_cast<const pigment_call_options*>(nullptr), &raw);
  const abi_test::ResultHandle result(raw);
  if (!outcome.ok()) return Failed(outcome);
  return {ResultJson(result.get(), false), outcome};
}

Answer Runner::Count(const Json& args) {
  uint64_t count = 0;
  if (!args.contains("ids") && !args.contains("where") && !args.contains("where_document")) {
    const Outcome outcome = abi_test::Count(Handle(args), &count);
    return {count, outcome};
  }
  const OwnedTexts ids(args, "ids");
  const auto where = JsonOf(args, "where"), where_document = JsonOf(args, "where_document");
  auto request = abi_test::Sized<pigment_count_request>();
  request.ids_count = ids.size();
  request.ids = ids.column();
  request.where_json = where.data();
  request.where_json_size = where.size();
  request.where_document_json = where_document.data();
  request.where_document_json_size = where_document.size();
  const Outcome outcome = Try(pigment_collection_count_where, Handle(args), &request,
                              static_cast<const pigment_call_options*>(nullptr), &count);
  return {count, outcome};
}

Answer Runner::Facets(const Json& args) {
  const OwnedTexts ids(args, "ids"), keys(args, "keys");
  const auto where = JsonOf(args, "where"), where_document = JsonOf(args, "where_document");
  auto request = abi_test::Sized<pigment_facets_request>();
  request.keys_count = keys.size();
  request.keys = keys.column();
  request.ids_count = ids.size();
  request.ids = ids.column();
  request.where_json = where.data();
  request.where_json_size = where.size();
  request.where_document_json = where_document.data();
  request.where_document_json_size = where_document.size();
  request.has_limit = args.contains("limit");
  request.limit = args.value("limit", int64_t{0});
  pigment_buffer* json = nullptr;
  const Outcome outcome = Try(pigment_collection_facets, Handle(args), &request,
                              static_cast<const pigment_call_options*>(nullptr), &json);
  return TextAnswer(outcome, json);
}

Answer Runner::Query(const Json& args) {
  const OwnedTexts ids(args, "ids"), texts(args, "texts");
  const auto where = JsonOf(args, "where"), where_document = JsonOf(args, "where_document");
  const OwnedVectors embeddings(args);
  pigment_query_request request;
  pigment_query_request_init(&request);
  request.embeddings = embeddings.vectors;
  request.texts_count = texts.size();
  request.texts = texts.column();
  request.n_results = args.value("n_results", int64_t{10});
  request.ids_count = ids.size();
  request.ids = ids.column();
  request.where_json = where.data();
  request.where_json_size = where.size();
  request.where_document_json = where_document.data();
  request.where_document_json_size = where_document.size();
  request.include = IncludeOf(args);
  request.has_max_distance = args.contains("max_distance");
  if (request.has_max_distance) request.max_distance = Number(args.at("max_distance"));
  abi_test::ResultHandle result;
  const Outcome outcome = abi_test::Query(Handle(args), request, &result);
  if (!outcome.ok()) return Failed(outcome);
  return {ResultJson(result.get(), true), outcome};
}

}  // namespace conformance
