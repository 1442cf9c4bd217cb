// SPDX-License-Identifier: Apache-2.0
//
// A database of PostgreSQL as a home of collections, through the functions of the extension
// (docs/sql.md). Each call finds its collection by id, in the statement that reads or writes.

#if PIGMENT_TOOL_HAS_LIBPQ

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "tools/homes/home.h"
#include "tools/homes/postgres_connection.h"
#include "tools/homes/postgres_values.h"
#include "tools/job.h"
#include "tools/json_text.h"

namespace pigment_tool {
namespace {

constexpr size_t kPageRows = 1000;
constexpr size_t kBatchBytesMax = 16 << 20;

// The built-in embedding function, as either home calls it. In SQL it has one dimension.
constexpr std::string_view kLexical = "pigment_lexical_v1";
constexpr std::string_view kLexicalSql = "pigment.lexical_v1";
constexpr int kLexicalDimensionSql = 384;

struct Session {
  Connection connection;
  std::string vector_type;  // with its schema, quoted
  uint32_t vector_oid = 0;
  uint32_t vector_array_oid = 0;

  explicit Session(const std::string& uri) : connection(uri) {
    const Answer found = connection.Run(
        "SELECT t.oid::text, t.typarray::text, format('%I.%I', n.nspname, t.typname), e.extversion "
        "FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
        "JOIN pg_type t ON t.typnamespace = n.oid AND t.typname = 'vector' "
        "WHERE e.extname = 'pigment'");
    if (found.rows() == 0) {
      throw Failure(PIGMENT_FAILED_PRECONDITION,
                    "failed precondition: database \"" +
                        connection.identity().at("database").get<std::string>() +
                        "\" has no extension pigment\nhint: CREATE EXTENSION pigment");
    }
    vector_oid = static_cast<uint32_t>(std::stoul(std::string(*found.Text(0, 0))));
    vector_array_oid = static_cast<uint32_t>(std::stoul(std::string(*found.Text(0, 1))));
    vector_type = *found.Text(0, 2);
  }
};

nlohmann::json JsonOr(const std::optional<std::string_view>& jsonb) {
  return jsonb ? nlohmann::json::parse(ParseJsonbValue(*jsonb)) : nlohmann::json();
}

// Of the function's name in SQL what a directory would say of it.
nlohmann::json FunctionOf(const std::optional<std::string_view>& name) {
  if (!name) return nullptr;
  return {{"name", *name == kLexicalSql ? kLexical : *name}, {"config", nlohmann::json::object()}};
}

constexpr const char* kDescribe =
    "SELECT c.id::text, c.name, c.tenant, c.database, c.metadata, c.configuration, c.schema, "
    "c.embedding_function, c.dimension::text FROM ";

nlohmann::json DescribedBy(const Answer& answer) {
  const auto dimension = answer.Text(0, 8);
  return {{"id", *answer.Text(0, 0)},
          {"name", *answer.Text(0, 1)},
          {"tenant", *answer.Text(0, 2)},
          {"database", *answer.Text(0, 3)},
          {"metadata", JsonOr(answer.Text(0, 4))},
          {"configuration", JsonOr(answer.Text(0, 5))},
          {"schema", JsonOr(answer.Text(0, 6))},
          {"embedding_function", FunctionOf(answer.Text(0, 7))},
          {"dimension",
           dimension ? nlohmann::json(std::stoi(std::string(*dimension))) : nlohmann::json()}};
}

nlohmann::json DescribePlace(Session& session, const Place& place) {
  return DescribedBy(session.connection.Run(
      std::string(kDescribe) + "pigment.get_collection($1, tenant => $2, database => $3) c",
      {TextParameter(place.name), TextOrNull(place.tenant), TextOrNull(place.database)}));
}

// ---- Reading ------------------------------------------------------------------------------------

class Reader final : public CollectionReader {
 public:
  Reader(Session& session, const Place& place, const Filters& filters)
      : session_(session), described_(DescribePlace(session, place)) {
    parameters_ = {TextParameter(described_.at("id")),
                   {kTypeTextArray, std::nullopt},
                   JsonParameter(filters.where()),
                   JsonParameter(filters.where_document())};
    if (!filters.has_ids()) return;
    ArrayValue ids(kTypeText);
    for (const std::string& id : filters.ids()) ids.Add(id);
    parameters_[1].value = ids.Text();
  }

  const nlohmann::json& described() const override { return described_; }

  uint64_t Count() override {
    return std::stoull(session_.connection.RunForText(
        "SELECT pigment.count(c.name, c.tenant, c.database, $3, $4, $2)::text "
        "FROM pigment.get_collection_by_id($1::uuid) c",
        parameters_));
  }

  void GoTo(const std::string& cursor) override { cursor_ = cursor; }

  // The page and the cursor behind it are of one moment.
  bool Next(std::vector<Record>& page) override {
    page.clear();
    if (is_over_) return false;
    Connection& connection = session_.connection;
    connection.Run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    std::vector<Parameter> parameters = parameters_;
    parameters.push_back(TextOrNull(cursor_));
    const Answer rows = connection.Run(
        "SELECT r.id, r.document, r.metadata, r.uri, r.embedding "
        "FROM pigment.get_collection_by_id($1::uuid) c, LATERAL pigment.get(c.name, $2, $3, $4, "
        "limit_rows => " +
            std::to_string(kPageRows) +
            ", include => '{documents,metadatas,uris,embeddings}', tenant => c.tenant, "
            "database => c.database, cursor => $5) r",
        parameters);
    for (size_t row = 0; row < rows.rows(); ++row) page.push_back(RecordAt(rows, row));
    cursor_.clear();
    is_over_ = rows.rows() < kPageRows;
    if (!is_over_) {
      cursor_ = connection.RunForText(
          "SELECT pigment.cursor_behind(c.name, $2, tenant => c.tenant, database => c.database) "
          "FROM pigment.get_collection_by_id($1::uuid) c",
          {parameters_[0], TextParameter(page.back().id)});
    }
    connection.Run("COMMIT");
    return true;
  }

  const std::string& cursor() const override { return cursor_; }

 private:
  static Parameter JsonParameter(const std::optional<std::string>& json) {
    if (!json) return {kTypeJsonb, std::nullopt};
    return {kTypeJsonb, JsonbValue(*json)};
  }

  static Record RecordAt(const Answer& rows, size_t row) {
    Record record;
    record.id = *rows.Text(row, 0);
    record.document = rows.Text(row, 1);
    if (const auto metadata = rows.Text(row, 2)) record.metadata = ParseJsonbValue(*metadata);
    record.uri = rows.Text(row, 3);
    record.embedding = ParseVectorValue(*rows.Text(row, 4));
    return record;
  }

  Session& session_;
  nlohmann::json described_;
  std::vector<Parameter> parameters_;  // id of the collection, ids, where, where_document
  std::string cursor_;
  bool is_over_ = false;
};

// ---- Writing ------------------------------------------------------------------------------------

// Records as the arrays that functions take; a column that no record has is NULL.
class Columns {
 public:
  explicit Columns(uint32_t vector_oid) : embeddings_(vector_oid) {}

  void Add(const Record& record) {
    CheckTexts(record);
    ids_.Add(record.id);
    AddTo(embeddings_, has_embeddings_,
          record.embedding ? std::optional(VectorValue(*record.embedding)) : std::nullopt);
    AddTo(documents_, has_documents_, record.document);
    AddTo(metadatas_, has_metadatas_,
          record.metadata ? std::optional(JsonbValue(*record.metadata)) : std::nullopt);
    AddTo(uris_, has_uris_, record.uri);
  }

  std::vector<Parameter> Parameters(const std::string& collection, uint32_t vector_array) const {
    const auto column = [](uint32_t type, const ArrayValue& values, bool is_there) -> Parameter {
      return {type, is_there ? std::optional(values.Text()) : std::nullopt};
    };
    return {TextParameter(collection),
            column(kTypeTextArray, ids_, true),
            column(vector_array, embeddings_, has_embeddings_),
            column(kTypeTextArray, documents_, has_documents_),
            column(kTypeJsonbArray, metadatas_, has_metadatas_),
            column(kTypeTextArray, uris_, has_uris_)};
  }

 private:
  static void AddTo(ArrayValue& values, bool& has_some, const std::optional<std::string>& value) {
    value ? values.Add(*value) : values.AddNull();
    has_some = has_some || value.has_value();
  }

  ArrayValue ids_{kTypeText};
  ArrayValue embeddings_;
  ArrayValue documents_{kTypeText};
  ArrayValue metadatas_{kTypeJsonb};
  ArrayValue uris_{kTypeText};
  bool has_embeddings_ = false;
  bool has_documents_ = false;
  bool has_metadatas_ = false;
  bool has_uris_ = false;
};

// Calls the function that writes, of the parameters of Columns; gives how many records were
// inserted, updated and skipped.
std::string StatementOf(WriteMode mode) {
  const auto call = [](const std::string& function, const std::string& counts) {
    return "SELECT " + counts + " FROM pigment.get_collection_by_id($1::uuid) c, LATERAL pigment." +
           function + "(c.name, $2, $3, $4, $5, $6, c.tenant, c.database) w";
  };
  switch (mode) {
    case WriteMode::kAdd:
      return call("add", "w.inserted::text, '0', w.skipped::text");
    case WriteMode::kUpdate:
      return call("update", "'0', w.updated::text, w.skipped::text");
    case WriteMode::kUpsert:
      break;
  }
  return call("upsert", "w.inserted::text, w.updated::text, '0'");
}

class Writer final : public CollectionWriter {
 public:
  Writer(Session& session, Place place) : session_(session), place_(std::move(place)) {}

  std::string Find() override {
    try {
      id_ = DescribePlace(session_, place_).at("id");
    } catch (const Failure& failure) {
      if (failure.status != PIGMENT_NOT_FOUND) throw;
      id_.clear();
    }
    return id_;
  }

  void MakeParents() override {
    if (!place_.tenant.empty()) {
      MakeOne("SELECT pigment.get_tenant($1)", "SELECT pigment.create_tenant($1)",
              {TextParameter(place_.tenant)});
    }
    if (!place_.database.empty()) {
      MakeOne("SELECT FROM pigment.get_database($1, $2)",
              "SELECT FROM pigment.create_database($1, $2)",
              {TextParameter(place_.database), TextOrNull(place_.tenant)});
    }
  }

  std::string Make(const nlohmann::json& described, bool may_take) override {
    try {
      Create(described);
    } catch (const Failure& failure) {
      if (failure.status != PIGMENT_ALREADY_EXISTS || !may_take) throw;
      Find();
      if (Count() != 0) throw;
    }
    return id_;
  }

  void Write(WriteMode mode, const std::vector<Record>& records, WriteCounts& counts) override {
    for (size_t begin = 0; begin < records.size();) {
      Columns columns(session_.vector_oid);
      size_t end = begin;
      const auto goes_along = [&](const Record& record) {
        return record.embedding.has_value() == records[begin].embedding.has_value();
      };
      for (size_t bytes = 0;
           end < records.size() && bytes < kBatchBytesMax && goes_along(records[end]); ++end) {
        columns.Add(records[end]);
        bytes += BytesOf(records[end]);
      }
      const Answer written = session_.connection.Run(
          StatementOf(mode), columns.Parameters(id_, session_.vector_array_oid));
      counts.inserted += NumberAt(written, 0);
      counts.updated += NumberAt(written, 1);
      counts.skipped += NumberAt(written, 2);
      begin = end;
    }
  }

  bool Contains(const std::string& id) override {
    return NumberAt(
               session_.connection.Run(
                   "SELECT pigment.count(c.name, c.tenant, c.database, ids => ARRAY[$2])::text "
                   "FROM pigment.get_collection_by_id($1::uuid) c",
                   {TextParameter(id_), TextParameter(id)}),
               0) != 0;
  }

  void Delete(const std::string& id) override {
    session_.connection.Run(
        "SELECT pigment.delete(c.name, ARRAY[$2], tenant => c.tenant, database => "
        "c.database)::text "
        "FROM pigment.get_collection_by_id($1::uuid) c",
        {TextParameter(id_), TextParameter(id)});
  }

  uint64_t Count() override {
    return NumberAt(
        session_.connection.Run("SELECT pigment.count(c.name, c.tenant, c.database)::text FROM "
                                "pigment.get_collection_by_id($1::uuid) c",
                                {TextParameter(id_)}),
        0);
  }

 private:
  static uint64_t NumberAt(const Answer& answer, int column) {
    return std::stoull(std::string(*answer.Text(0, column)));
  }

  // Looks first: to make one takes rights that who uses one may lack.
  void MakeOne(const std::string& get, const std::string& create,
               const std::vector<Parameter>& parameters) {
    try {
      session_.connection.Run(get, parameters);
      return;
    } catch (const Failure& failure) {
      if (failure.status != PIGMENT_NOT_FOUND) throw;
    }
    try {
      session_.connection.Run(create, parameters);
    } catch (const Failure& failure) {
      if (failure.status != PIGMENT_ALREADY_EXISTS) throw;
    }
  }

  void Create(const nlohmann::json& described) {
    const auto json = [&](const char* member, bool is_wanted) -> Parameter {
      const auto& value = described.at(member);
      if (!is_wanted || value.is_null()) return {kTypeJsonb, std::nullopt};
      return {kTypeJsonb, JsonbValue(value.dump())};
    };
    const bool has_schema = !described.at("schema").is_null();  // it says the configuration too
    id_ = session_.connection.RunForText(
        "SELECT c.id::text FROM pigment.create_collection($1, $2, $3, $4::text::regproc, "
        "tenant => $5, database => $6, collection_schema => $7) c",
        {TextParameter(place_.name), json("metadata", true), json("configuration", !has_schema),
         FunctionParameter(described), TextOrNull(place_.tenant), TextOrNull(place_.database),
         json("schema", true)});
  }

  // The database's function of that name. What it cannot have is refused, for it would be lost.
  Parameter FunctionParameter(const nlohmann::json& described) {
    const auto& function = described.at("embedding_function");
    if (function.is_null()) return {kTypeText, std::nullopt};
    const std::string name = function.at("name");
    const nlohmann::json config = function.value("config", nlohmann::json());
    if (name == kLexical) {
      nlohmann::json dimension = described.at("dimension");
      if (dimension.is_null() && config.is_object() && config.contains("dimension"))
        dimension = config.at("dimension");
      if (dimension.is_null() || dimension == kLexicalDimensionSql) {
        return TextParameter(std::string(kLexicalSql));
      }
      RefuseFunction(described, "is of " + std::to_string(kLexicalDimensionSql) +
                                    " dimensions in SQL, and the collection of " +
                                    dimension.dump());
    }
    if (!config.empty())
      RefuseFunction(described, "has a configuration, which SQL has no place for");
    const std::string found = session_.connection.RunForText(
        "SELECT p.oid::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE "
        "p.oid = to_regproc($1) AND p.proargtypes::text = format('%s %s', 'text[]'::regtype::oid, "
        "'text'::regtype::oid)",
        {TextParameter(name)});
    if (found.empty()) RefuseFunction(described, "is no function (text[], text) of the database");
    return TextParameter(name);
  }

  [[noreturn]] static void RefuseFunction(const nlohmann::json& described, const std::string& why) {
    throw Failure(PIGMENT_FAILED_PRECONDITION,
                  "failed precondition: embedding function \"" +
                      described.at("embedding_function").at("name").get<std::string>() +
                      "\" of collection \"" + described.at("name").get<std::string>() + "\" " +
                      why + "\nhint: --no-function leaves it out");
  }

  Session& session_;
  Place place_;
  std::string id_;
};

// ---- The home -----------------------------------------------------------------------------------

class PostgresHome final : public Home {
 public:
  explicit PostgresHome(const std::string& uri) : session_(uri) {}

  std::unique_ptr<CollectionReader> Read(const Place& place, const Filters& filters) override {
    return std::make_unique<Reader>(session_, place, filters);
  }
  std::unique_ptr<CollectionWriter> Write(const Place& place) override {
    return std::make_unique<Writer>(session_, place);
  }
  void Finish() override {}  // each batch was committed

  // A server has no place for files of its clients: among the states of the user's programs.
  std::string PathOfJob(const std::string& kind, const nlohmann::json& identity) const override {
    const char* const state = std::getenv("XDG_STATE_HOME");
    const char* const home = std::getenv("HOME");
    const bool has_state = state != nullptr && state[0] == '/';
    if (!has_state && (home == nullptr || home[0] != '/')) {
      throw Failure(PIGMENT_FAILED_PRECONDITION,
                    "neither XDG_STATE_HOME nor HOME says where to keep how far the copy is");
    }
    const std::filesystem::path folder =
        (has_state ? std::filesystem::path(state) : std::filesystem::path(home) / ".local/state") /
        "pigment";
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) {
      throw Failure(PIGMENT_UNAVAILABLE,
                    "cannot make \"" + folder.string() + "\": " + failure.message());
    }
    return JobPath(folder / "postgres", kind, identity);
  }

  nlohmann::json identity() const override { return session_.connection.identity(); }

 private:
  Session session_;
};

}  // namespace

std::shared_ptr<Home> OpenPostgres(const std::string& uri) {
  return std::make_shared<PostgresHome>(uri);
}

}  // namespace pigment_tool

#endif
