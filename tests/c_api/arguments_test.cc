// SPDX-License-Identifier: Apache-2.0
//
// Wrong usage, by tables: NULL for every pointer that must not be, structs of a wrong size, numbers
// that are no enumerator, texts that are no UTF-8. Each is an error that names the argument, and
// nulls the outputs.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/c_api/header.h"

namespace {

using abi_test::kNoOptions;
using abi_test::kNoScope;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

class Arguments : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_NE(client_, nullptr);
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &collection_).ok());
  }
  pigment_client* client() { return client_.get(); }
  pigment_collection* docs() { return collection_.get(); }

  abi_test::Client client_;
  abi_test::Collection collection_;
};

struct NullCase {
  const char* function;
  const char* argument;
  std::function<Outcome()> call;
};

std::vector<NullCase> NullCases(pigment_client* c, pigment_collection* d) {
  static const char* const kName = "name";
  static pigment_client* client_out;
  static pigment_collection* collection_out;
  static pigment_buffer* json;
  static pigment_result* result;
  static uint64_t number;
  static float values[4];
  static const abi_test::Texts texts{"a"};
  static const pigment_text_column column = texts.column();
  static const auto records = Sized<pigment_records>();
  static const auto get = Sized<pigment_get_request>();
  static const auto erase = Sized<pigment_delete_request>();
  static const auto query = Sized<pigment_query_request>();
  static const auto count_where = Sized<pigment_count_request>();
  static const auto facets = Sized<pigment_facets_request>();
  static const auto text_search = Sized<pigment_text_search_request>();
  static pigment_write_result* const no_write = nullptr;
  static pigment_client* const no_client = nullptr;
  static pigment_collection* const no_docs = nullptr;
  static pigment_buffer** const no_json = nullptr;
  static pigment_collection** const no_made = nullptr;
  static pigment_result** const no_result = nullptr;
  static uint64_t* const no_number = nullptr;
  static ArrowArrayStream stream;
  static ArrowArrayStream* const no_stream = nullptr;
  static const char* const no_text = nullptr;
  static const pigment_embedding_function* const no_function = nullptr;
  static const pigment_collection_options* const no_collection_options = nullptr;
  static uint8_t* const no_present = nullptr;
  static uint8_t present[1];
  static pigment_compaction* const no_compaction = nullptr;
  return {
      {"pigment_client_compact", "client",
       [=] { return Try(pigment_client_compact, no_client, kNoOptions, no_compaction); }},
      {"pigment_collection_compact", "collection",
       [=] { return Try(pigment_collection_compact, no_docs, kNoOptions, no_compaction); }},
      {"pigment_client_statistics", "client",
       [=] { return Try(pigment_client_statistics, no_client, &json); }},
      {"pigment_client_statistics", "json",
       [=] { return Try(pigment_client_statistics, c, no_json); }},
      {"pigment_client_backup", "client",
       [=] { return Try(pigment_client_backup, no_client, kName, size_t{4}, kNoOptions, &json); }},
      {"pigment_client_backup", "path",
       [=] { return Try(pigment_client_backup, c, no_text, size_t{4}, kNoOptions, &json); }},
      {"pigment_client_check", "client",
       [=] { return Try(pigment_client_check, no_client, false, kNoOptions, &json); }},
      {"pigment_client_check", "json",
       [=] { return Try(pigment_client_check, c, false, kNoOptions, no_json); }},
      {"pigment_check", "path",
       [=] { return Try(pigment_check, no_text, size_t{4}, false, kNoOptions, &json); }},
      {"pigment_check", "json",
       [=] { return Try(pigment_check, kName, size_t{4}, false, kNoOptions, no_json); }},
      {"pigment_repair", "from",
       [=] {
         return Try(pigment_repair, no_text, size_t{4}, kName, size_t{4}, kNoOptions, &json);
       }},
      {"pigment_repair", "to",
       [=] {
         return Try(pigment_repair, kName, size_t{4}, no_text, size_t{4}, kNoOptions, &json);
       }},
      {"pigment_repair", "json",
       [=] {
         return Try(pigment_repair, kName, size_t{4}, kName, size_t{4}, kNoOptions, no_json);
       }},
      {"pigment_collection_segments", "collection",
       [=] { return Try(pigment_collection_segments, no_docs, &json); }},
      {"pigment_collection_segments", "json",
       [=] { return Try(pigment_collection_segments, d, no_json); }},
      {"pigment_collection_contains", "collection",
       [=] {
         return Try(pigment_collection_contains, no_docs, size_t{1}, &column, kNoOptions, present);
       }},
      {"pigment_collection_contains", "ids",
       [=] {
         return Try(pigment_collection_contains, d, size_t{1},
                    static_cast<const pigment_text_column*>(nullptr), kNoOptions, present);
       }},
      {"pigment_collection_contains", "present",
       [=] {
         return Try(pigment_collection_contains, d, size_t{1}, &column, kNoOptions, no_present);
       }},
      {"pigment_cancel_new", "cancel",
       [] { return Try(pigment_cancel_new, static_cast<pigment_cancel**>(nullptr)); }},
      {"pigment_cancel_progress", "cancel",
       [] {
         auto progress = Sized<pigment_progress>();
         return Try(pigment_cancel_progress, static_cast<const pigment_cancel*>(nullptr),
                    &progress);
       }},
      {"pigment_cancel_progress", "progress",
       [] {
         pigment_cancel* token = nullptr;
         (void)Try(pigment_cancel_new, &token);
         const Outcome outcome =
             Try(pigment_cancel_progress, token, static_cast<pigment_progress*>(nullptr));
         pigment_cancel_free(token);
         return outcome;
       }},
      {"pigment_embed_lexical", "texts",
       [] {
         return Try(pigment_embed_lexical, size_t{1},
                    static_cast<const pigment_text_column*>(nullptr), size_t{4}, values);
       }},
      {"pigment_embed_lexical", "values",
       [] {
         return Try(pigment_embed_lexical, size_t{1}, &column, size_t{4},
                    static_cast<float*>(nullptr));
       }},
      {"pigment_embedding_function_lexical", "function",
       [] {
         return Try(pigment_embedding_function_lexical, size_t{4},
                    static_cast<pigment_embedding_function*>(nullptr));
       }},
      {"pigment_client_open", "client",
       [] {
         return Try(pigment_client_open, no_text, size_t{0},
                    static_cast<const pigment_open_options*>(nullptr),
                    static_cast<pigment_client**>(nullptr));
       }},
      {"pigment_client_open", "path",
       [] {
         return Try(pigment_client_open, no_text, size_t{3},
                    static_cast<const pigment_open_options*>(nullptr), &client_out);
       }},
      {"pigment_client_open_traced", "client",
       [] {
         return Try(pigment_client_open_traced, no_text, size_t{0},
                    static_cast<const pigment_open_options*>(nullptr),
                    static_cast<const pigment_tracing*>(nullptr),
                    static_cast<pigment_client**>(nullptr));
       }},
      {"pigment_client_open_traced", "path",
       [] {
         return Try(pigment_client_open_traced, no_text, size_t{3},
                    static_cast<const pigment_open_options*>(nullptr),
                    static_cast<const pigment_tracing*>(nullptr), &client_out);
       }},
      {"pigment_client_close", "client", [] { return Try(pigment_client_close, no_client); }},
      {"pigment_client_flush", "client", [] { return Try(pigment_client_flush, no_client); }},
      {"pigment_client_flush_with", "client",
       [] { return Try(pigment_client_flush_with, no_client, kNoOptions); }},
      {"pigment_client_position", "client",
       [] { return Try(pigment_client_position, no_client, &number); }},
      {"pigment_client_position", "position",
       [c] { return Try(pigment_client_position, c, no_number); }},
      {"pigment_client_refresh", "client",
       [] { return Try(pigment_client_refresh, no_client, &number); }},
      {"pigment_client_create_tenant", "client",
       [] { return Try(pigment_client_create_tenant, no_client, kName, size_t{4}); }},
      {"pigment_client_create_tenant", "name",
       [c] { return Try(pigment_client_create_tenant, c, no_text, size_t{0}); }},
      {"pigment_client_create_tenant", "name",
       [c] { return Try(pigment_client_create_tenant, c, no_text, size_t{4}); }},
      {"pigment_client_get_tenant", "client",
       [] { return Try(pigment_client_get_tenant, no_client, kName, size_t{4}, &json); }},
      {"pigment_client_get_tenant", "name",
       [c] { return Try(pigment_client_get_tenant, c, no_text, size_t{0}, &json); }},
      {"pigment_client_get_tenant", "json",
       [c] { return Try(pigment_client_get_tenant, c, kName, size_t{4}, no_json); }},
      {"pigment_client_list_tenants", "client",
       [] { return Try(pigment_client_list_tenants, no_client, &json); }},
      {"pigment_client_list_tenants", "json",
       [c] { return Try(pigment_client_list_tenants, c, no_json); }},
      {"pigment_client_delete_tenant", "client",
       [] { return Try(pigment_client_delete_tenant, no_client, kName, size_t{4}); }},
      {"pigment_client_delete_tenant", "name",
       [c] { return Try(pigment_client_delete_tenant, c, no_text, size_t{0}); }},
      {"pigment_client_create_database", "client",
       [] {
         return Try(pigment_client_create_database, no_client, no_text, size_t{0}, kName,
                    size_t{4});
       }},
      {"pigment_client_create_database", "name",
       [c] {
         return Try(pigment_client_create_database, c, no_text, size_t{0}, no_text, size_t{0});
       }},
      {"pigment_client_create_database", "tenant",
       [c] {
         return Try(pigment_client_create_database, c, no_text, size_t{4}, kName, size_t{4});
       }},
      {"pigment_client_get_database", "client",
       [] {
         return Try(pigment_client_get_database, no_client, no_text, size_t{0}, kName, size_t{4},
                    &json);
       }},
      {"pigment_client_get_database", "name",
       [c] {
         return Try(pigment_client_get_database, c, no_text, size_t{0}, no_text, size_t{0}, &json);
       }},
      {"pigment_client_get_database", "json",
       [c] {
         return Try(pigment_client_get_database, c, no_text, size_t{0}, kName, size_t{4}, no_json);
       }},
      {"pigment_client_list_databases", "client",
       [] {
         return Try(pigment_client_list_databases, no_client, no_text, size_t{0}, int64_t{-1},
                    int64_t{0}, &json);
       }},
      {"pigment_client_list_databases", "json",
       [c] {
         return Try(pigment_client_list_databases, c, no_text, size_t{0}, int64_t{-1}, int64_t{0},
                    no_json);
       }},
      {"pigment_client_delete_database", "client",
       [] {
         return Try(pigment_client_delete_database, no_client, no_text, size_t{0}, kName,
                    size_t{4});
       }},
      {"pigment_client_delete_database", "name",
       [c] {
         return Try(pigment_client_delete_database, c, no_text, size_t{0}, no_text, size_t{0});
       }},
      {"pigment_client_create_collection", "client",
       [] {
         return Try(pigment_client_create_collection, no_client, kNoScope, kName, size_t{4},
                    no_collection_options, &collection_out);
       }},
      {"pigment_client_create_collection", "name",
       [c] {
         return Try(pigment_client_create_collection, c, kNoScope, no_text, size_t{0},
                    no_collection_options, &collection_out);
       }},
      {"pigment_client_create_collection", "collection",
       [c] {
         return Try(pigment_client_create_collection, c, kNoScope, kName, size_t{4},
                    no_collection_options, no_made);
       }},
      {"pigment_client_get_collection", "client",
       [] {
         return Try(pigment_client_get_collection, no_client, kNoScope, kName, size_t{4},
                    no_function, &collection_out);
       }},
      {"pigment_client_get_collection", "name",
       [c] {
         return Try(pigment_client_get_collection, c, kNoScope, no_text, size_t{0}, no_function,
                    &collection_out);
       }},
      {"pigment_client_get_collection", "collection",
       [c] {
         return Try(pigment_client_get_collection, c, kNoScope, kName, size_t{4}, no_function,
                    no_made);
       }},
      {"pigment_client_get_collection_by_id", "client",
       [] {
         return Try(pigment_client_get_collection_by_id, no_client, kName, size_t{4}, no_function,
                    &collection_out);
       }},
      {"pigment_client_get_collection_by_id", "id",
       [c] {
         return Try(pigment_client_get_collection_by_id, c, no_text, size_t{0}, no_function,
                    &collection_out);
       }},
      {"pigment_client_get_collection_by_id", "collection",
       [c] {
         return Try(pigment_client_get_collection_by_id, c, kName, size_t{4}, no_function, no_made);
       }},
      {"pigment_client_list_collections", "client",
       [] {
         return Try(pigment_client_list_collections, no_client, kNoScope, int64_t{-1}, int64_t{0},
                    &json);
       }},
      {"pigment_client_list_collections", "json",
       [c] {
         return Try(pigment_client_list_collections, c, kNoScope, int64_t{-1}, int64_t{0}, no_json);
       }},
      {"pigment_client_count_collections", "client",
       [] { return Try(pigment_client_count_collections, no_client, kNoScope, &number); }},
      {"pigment_client_count_collections", "count",
       [c] { return Try(pigment_client_count_collections, c, kNoScope, no_number); }},
      {"pigment_client_delete_collection", "client",
       [] { return Try(pigment_client_delete_collection, no_client, kNoScope, kName, size_t{4}); }},
      {"pigment_client_delete_collection", "name",
       [c] { return Try(pigment_client_delete_collection, c, kNoScope, no_text, size_t{0}); }},
      {"pigment_collection_describe", "collection",
       [] { return Try(pigment_collection_describe, no_docs, &json); }},
      {"pigment_collection_describe", "json",
       [d] { return Try(pigment_collection_describe, d, no_json); }},
      {"pigment_collection_modify", "collection",
       [] {
         const auto o = Sized<pigment_modify_options>();
         return Try(pigment_collection_modify, no_docs, &o);
       }},
      {"pigment_collection_modify", "options",
       [d] {
         return Try(pigment_collection_modify, d,
                    static_cast<const pigment_modify_options*>(nullptr));
       }},
      {"pigment_collection_fork", "collection",
       [] { return Try(pigment_collection_fork, no_docs, kName, size_t{4}, &collection_out); }},
      {"pigment_collection_fork", "new_name",
       [d] { return Try(pigment_collection_fork, d, no_text, size_t{0}, &collection_out); }},
      {"pigment_collection_fork", "fork",
       [d] { return Try(pigment_collection_fork, d, kName, size_t{4}, no_made); }},
      {"pigment_collection_flush", "collection",
       [] { return Try(pigment_collection_flush, no_docs); }},
      {"pigment_collection_flush_with", "collection",
       [] { return Try(pigment_collection_flush_with, no_docs, kNoOptions); }},
      {"pigment_collection_add", "collection",
       [] { return Try(pigment_collection_add, no_docs, &records, kNoOptions, no_write); }},
      {"pigment_collection_add", "records",
       [d] {
         return Try(pigment_collection_add, d, static_cast<const pigment_records*>(nullptr),
                    kNoOptions, no_write);
       }},
      {"pigment_collection_update", "collection",
       [] { return Try(pigment_collection_update, no_docs, &records, kNoOptions, no_write); }},
      {"pigment_collection_update", "records",
       [d] {
         return Try(pigment_collection_update, d, static_cast<const pigment_records*>(nullptr),
                    kNoOptions, no_write);
       }},
      {"pigment_collection_upsert", "collection",
       [] { return Try(pigment_collection_upsert, no_docs, &records, kNoOptions, no_write); }},
      {"pigment_collection_upsert", "records",
       [d] {
         return Try(pigment_collection_upsert, d, static_cast<const pigment_records*>(nullptr),
                    kNoOptions, no_write);
       }},
      {"pigment_collection_delete", "collection",
       [] { return Try(pigment_collection_delete, no_docs, &erase, kNoOptions, no_write); }},
      {"pigment_collection_delete", "request",
       [d] {
         return Try(pigment_collection_delete, d,
                    static_cast<const pigment_delete_request*>(nullptr), kNoOptions, no_write);
       }},
      {"pigment_collection_get", "collection",
       [] { return Try(pigment_collection_get, no_docs, &get, kNoOptions, &result); }},
      {"pigment_collection_get", "request",
       [d] {
         return Try(pigment_collection_get, d, static_cast<const pigment_get_request*>(nullptr),
                    kNoOptions, &result);
       }},
      {"pigment_collection_get", "result",
       [d] { return Try(pigment_collection_get, d, &get, kNoOptions, no_result); }},
      {"pigment_collection_peek", "collection",
       [] { return Try(pigment_collection_peek, no_docs, int64_t{1}, kNoOptions, &result); }},
      {"pigment_collection_peek", "result",
       [d] { return Try(pigment_collection_peek, d, int64_t{1}, kNoOptions, no_result); }},
      {"pigment_collection_count", "collection",
       [] { return Try(pigment_collection_count, no_docs, kNoOptions, &number); }},
      {"pigment_collection_count", "count",
       [d] { return Try(pigment_collection_count, d, kNoOptions, no_number); }},
      {"pigment_collection_count_where", "collection",
       [] {
         return Try(pigment_collection_count_where, no_docs, &count_where, kNoOptions, &number);
       }},
      {"pigment_collection_count_where", "request",
       [d] {
         return Try(pigment_collection_count_where, d,
                    static_cast<const pigment_count_request*>(nullptr), kNoOptions, &number);
       }},
      {"pigment_collection_count_where", "count",
       [d] { return Try(pigment_collection_count_where, d, &count_where, kNoOptions, no_number); }},
      {"pigment_collection_facets", "collection",
       [] { return Try(pigment_collection_facets, no_docs, &facets, kNoOptions, &json); }},
      {"pigment_collection_facets", "request",
       [d] {
         return Try(pigment_collection_facets, d,
                    static_cast<const pigment_facets_request*>(nullptr), kNoOptions, &json);
       }},
      {"pigment_collection_facets", "request.keys",
       [d] { return Try(pigment_collection_facets, d, &facets, kNoOptions, &json); }},
      {"pigment_collection_facets", "json",
       [d] { return Try(pigment_collection_facets, d, &facets, kNoOptions, no_json); }},
      {"pigment_limits", "json", [] { return Try(pigment_limits, no_json); }},
      {"pigment_collection_query", "collection",
       [] { return Try(pigment_collection_query, no_docs, &query, kNoOptions, &result); }},
      {"pigment_collection_query", "request",
       [d] {
         return Try(pigment_collection_query, d, static_cast<const pigment_query_request*>(nullptr),
                    kNoOptions, &result);
       }},
      {"pigment_collection_query", "result",
       [d] { return Try(pigment_collection_query, d, &query, kNoOptions, no_result); }},
      {"pigment_collection_search_text", "collection",
       [] {
         return Try(pigment_collection_search_text, no_docs, &text_search, kNoOptions, &result);
       }},
      {"pigment_collection_search_text", "request",
       [d] {
         return Try(pigment_collection_search_text, d,
                    static_cast<const pigment_text_search_request*>(nullptr), kNoOptions, &result);
       }},
      {"pigment_collection_search_text", "result",
       [d] { return Try(pigment_collection_search_text, d, &text_search, kNoOptions, no_result); }},
      {"pigment_result_arrow_stream", "result",
       [] {
         return Try(pigment_result_arrow_stream, static_cast<const pigment_result*>(nullptr),
                    &stream);
       }},
      {"pigment_result_arrow_stream", "stream",
       [d] {
         const auto all = Sized<pigment_get_request>();
         abi_test::ResultHandle records_of;
         EXPECT_TRUE(abi_test::Get(d, all, &records_of).ok());
         return Try(pigment_result_arrow_stream, records_of.get(), no_stream);
       }},
      {"pigment_collection_add_arrow", "collection",
       [] {
         return Try(pigment_collection_add_arrow, no_docs, &stream, kNoOptions, no_write,
                    no_number);
       }},
      {"pigment_collection_add_arrow", "stream",
       [d] {
         return Try(pigment_collection_add_arrow, d, no_stream, kNoOptions, no_write, no_number);
       }},
      {"pigment_collection_update_arrow", "collection",
       [] {
         return Try(pigment_collection_update_arrow, no_docs, &stream, kNoOptions, no_write,
                    no_number);
       }},
      {"pigment_collection_update_arrow", "stream",
       [d] {
         return Try(pigment_collection_update_arrow, d, no_stream, kNoOptions, no_write, no_number);
       }},
      {"pigment_collection_upsert_arrow", "collection",
       [] {
         return Try(pigment_collection_upsert_arrow, no_docs, &stream, kNoOptions, no_write,
                    no_number);
       }},
      {"pigment_collection_upsert_arrow", "stream",
       [d] {
         return Try(pigment_collection_upsert_arrow, d, no_stream, kNoOptions, no_write, no_number);
       }},
  };
}

TEST_F(Arguments, NullIsRefusedByNameEverywhere) {
  std::set<std::string> tested;
  for (const NullCase& one : NullCases(client(), docs())) {
    SCOPED_TRACE(std::string(one.function) + ", " + one.argument);
    const Outcome outcome = one.call();
    EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT) << outcome;
    EXPECT_NE(outcome.message.find("argument " + std::string(one.argument)), std::string::npos)
        << outcome;
    EXPECT_NE(outcome.message.find("NULL"), std::string::npos) << outcome;
    tested.insert(one.function);
  }
  // Whatever takes an error is in the table.
  const std::string text = abi_test::HeaderText("pigment.h");
  size_t count = 0;
  for (const auto& parts :
       abi_test::FindAll(text, R"(PIGMENT_CHECKED\s+pigment_status\s+(pigment_[a-z0-9_]+)\s*\()")) {
    const std::string& name = parts[0];
    if (name == "pigment_embedding_sink_put") continue;  // takes no error
    EXPECT_TRUE(tested.contains(name)) << name << " has no case";
    ++count;
  }
  EXPECT_GE(count, 34u);
}

TEST_F(Arguments, NullHandlesOfAccessorsAnswerNothing) {
  pigment_text_column column{};
  column.bytes = "x";
  EXPECT_EQ(pigment_result_query_count(nullptr), 0u);
  EXPECT_EQ(pigment_result_row_count(nullptr), 0u);
  EXPECT_EQ(pigment_result_query_offsets(nullptr), nullptr);
  EXPECT_FALSE(pigment_result_ids(nullptr, &column));
  EXPECT_EQ(column.bytes, nullptr);
  EXPECT_FALSE(pigment_result_documents(nullptr, nullptr));
  EXPECT_FALSE(pigment_result_metadatas(nullptr, &column));
  EXPECT_FALSE(pigment_result_uris(nullptr, &column));
  EXPECT_EQ(pigment_result_distances(nullptr), nullptr);
  EXPECT_EQ(pigment_result_scores(nullptr), nullptr);
  EXPECT_FALSE(pigment_result_highlights(nullptr, &column));
  size_t size = 7;
  EXPECT_EQ(pigment_result_embeddings(nullptr, &size), nullptr);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(pigment_result_included(nullptr), 0);
  EXPECT_EQ(pigment_result_position(nullptr), 0u);
  size = 7;
  EXPECT_EQ(pigment_result_explain(nullptr, &size), nullptr);
  EXPECT_EQ(size, 0u);
  size = 7;
  EXPECT_EQ(pigment_result_cursor(nullptr, &size), nullptr);
  EXPECT_EQ(size, 0u);
  EXPECT_NE(pigment_embedding_sink_put(nullptr, nullptr, 0, 0), PIGMENT_OK);
  pigment_embedding_sink_fail(nullptr, nullptr, 0);
  pigment_call_options_init(nullptr);
  pigment_open_options_init(nullptr);
  pigment_collection_options_init(nullptr);
  pigment_query_request_init(nullptr);
  pigment_text_search_request_init(nullptr);
  pigment_client_free(nullptr);
  pigment_collection_free(nullptr);
  pigment_result_free(nullptr);
}

// Structs: too small is refused by name, larger than the library knows is read as far as it does.
struct Larger {
  template <typename T>
  static Outcome With(size_t size, const T& value, const std::function<Outcome(const T*)>& call) {
    std::vector<char> memory(sizeof(T) + 64, '\x7f');
    std::memcpy(memory.data(), &value, sizeof value);
    std::memcpy(memory.data(), &size, sizeof size);
    return call(reinterpret_cast<const T*>(memory.data()));
  }
};

template <typename T>
void ExpectSizes(const char* name, const T& value, const std::function<Outcome(const T*)>& call,
                 size_t size_min = sizeof(T)) {  // of the first version that had the struct
  SCOPED_TRACE(name);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{8}, size_min - 1}) {
    const Outcome outcome = Larger::With<T>(size, value, call);
    EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT) << outcome;
    EXPECT_NE(outcome.message.find("struct_size"), std::string::npos) << outcome;
    EXPECT_NE(outcome.message.find(name), std::string::npos) << outcome;
  }
  EXPECT_TRUE(Larger::With<T>(size_min, value, call).ok());
  EXPECT_TRUE(Larger::With<T>(sizeof(T), value, call).ok());
  EXPECT_TRUE(Larger::With<T>(sizeof(T) + 64, value, call).ok());
}

TEST_F(Arguments, WhatASearchMayCostIsChecked) {
  struct Case {
    double recall;
    int64_t search_width;
    const char* message;  // null: it is taken
  };
  const Case cases[] = {
      {0, 0, nullptr},
      {0.5, 0, nullptr},
      {1, 0, nullptr},
      {0, 1, nullptr},
      {0, INT64_MAX, nullptr},
      {1.5, 0, "recall must be over 0 and at most 1, or 0 for the default, got 1.5"},
      {-0.1, 0, "recall must be over 0 and at most 1, or 0 for the default, got -0.1"},
      {std::nan(""), 0, "recall must be over 0 and at most 1, or 0 for the default, got nan"},
      {0, -1, "search_width must not be negative, got -1"},
      {0.9, 10, "recall and search_width cannot both be given"},
  };
  const std::vector<float> vector{1};
  for (const Case& of : cases) {
    auto request = abi_test::QueryFor(vector, 1);
    request.recall = of.recall;
    request.search_width = of.search_width;
    const pigment_query_request* const given = &request;
    pigment_result* raw = nullptr;
    const Outcome outcome = Try(pigment_collection_query, docs(), given, kNoOptions, &raw);
    pigment_result_free(raw);
    EXPECT_EQ(outcome.message, of.message != nullptr ? of.message : "");
    EXPECT_EQ(outcome.status, of.message != nullptr ? PIGMENT_INVALID_ARGUMENT : PIGMENT_OK);
  }
}

TEST_F(Arguments, StructSizesAreChecked) {
  ExpectSizes<pigment_compaction>("result", Sized<pigment_compaction>(),
                                  [&](const pigment_compaction* result) {
                                    return Try(pigment_collection_compact, docs(), kNoOptions,
                                               const_cast<pigment_compaction*>(result));
                                  });
  pigment_cancel* token = nullptr;
  ASSERT_TRUE(Try(pigment_cancel_new, &token).ok());
  const abi_test::Cancel owned(token);
  ExpectSizes<pigment_progress>(
      "progress", Sized<pigment_progress>(), [&](const pigment_progress* progress) {
        return Try(pigment_cancel_progress, token, const_cast<pigment_progress*>(progress));
      });
  int made = 0;
  const auto name = [&made] { return "made" + std::to_string(made++); };
  ExpectSizes<pigment_open_options>(
      "options", Sized<pigment_open_options>(),
      [](const pigment_open_options* options) {
        abi_test::Client client;
        return abi_test::Open("", &client, options);
      },
      offsetof(pigment_open_options, reserve_bytes));
  ExpectSizes<pigment_scope>("scope", Sized<pigment_scope>(), [&](const pigment_scope* scope) {
    uint64_t count = 0;
    return Try(pigment_client_count_collections, client(), scope, &count);
  });
  ExpectSizes<pigment_collection_options>(
      "options", Sized<pigment_collection_options>(),
      [&](const pigment_collection_options* options) {
        abi_test::Collection collection;
        return abi_test::Create(client(), name(), &collection, options);
      },
      offsetof(pigment_collection_options, schema_json));
  auto function = Sized<pigment_embedding_function>();
  function.embed = [](void*, int32_t, size_t, const pigment_text_column*,
                      pigment_embedding_sink*) -> pigment_status { return PIGMENT_OK; };
  ExpectSizes<pigment_embedding_function>(
      "function", function, [&](const pigment_embedding_function* given) {
        pigment_collection* found = nullptr;
        const Outcome outcome = Try(pigment_client_get_collection, client(), kNoScope, "docs",
                                    size_t{4}, given, &found);
        pigment_collection_free(found);
        return outcome;
      });
  ExpectSizes<pigment_modify_options>("options", Sized<pigment_modify_options>(),
                                      [&](const pigment_modify_options* options) {
                                        return Try(pigment_collection_modify, docs(), options);
                                      });
  abi_test::Batch batch;
  batch.ids.Add("a");
  batch.values = {1};
  batch.dimension = 1;
  ExpectSizes<pigment_records>("records", batch.records(), [&](const pigment_records* records) {
    return Try(pigment_collection_add, docs(), records, kNoOptions,
               static_cast<pigment_write_result*>(nullptr));
  });
  auto erase = Sized<pigment_delete_request>();
  erase.ids_count = 1;
  erase.ids = batch.records().ids;
  ExpectSizes<pigment_delete_request>("request", erase, [&](const pigment_delete_request* request) {
    return Try(pigment_collection_delete, docs(), request, kNoOptions,
               static_cast<pigment_write_result*>(nullptr));
  });
  ExpectSizes<pigment_get_request>(
      "request", Sized<pigment_get_request>(),
      [&](const pigment_get_request* request) {
        abi_test::ResultHandle result;
        pigment_result* raw = nullptr;
        const Outcome outcome = Try(pigment_collection_get, docs(), request, kNoOptions, &raw);
        result.reset(raw);
        return outcome;
      },
      offsetof(pigment_get_request, order_by_json));
  ExpectSizes<pigment_count_request>(
      "request", Sized<pigment_count_request>(), [&](const pigment_count_request* request) {
        uint64_t count = 0;
        return Try(pigment_collection_count_where, docs(), request, kNoOptions, &count);
      });
  const abi_test::Texts keys{"n"};
  auto facets = Sized<pigment_facets_request>();
  facets.keys_count = keys.size();
  facets.keys = keys.column();
  ExpectSizes<pigment_facets_request>(
      "request", facets, [&](const pigment_facets_request* request) {
        pigment_buffer* json = nullptr;
        const Outcome outcome = Try(pigment_collection_facets, docs(), request, kNoOptions, &json);
        pigment_buffer_free(json);
        return outcome;
      });
  const std::vector<float> vector{1};
  ExpectSizes<pigment_query_request>(
      "request", abi_test::QueryFor(vector, 1),
      [&](const pigment_query_request* request) {
        pigment_result* raw = nullptr;
        const Outcome outcome = Try(pigment_collection_query, docs(), request, kNoOptions, &raw);
        pigment_result_free(raw);
        return outcome;
      },
      offsetof(pigment_query_request, recall));
  ExpectSizes<pigment_call_options>("options", Sized<pigment_call_options>(),
                                    [&](const pigment_call_options* options) {
                                      uint64_t count = 0;
                                      return Try(pigment_collection_count, docs(), options, &count);
                                    });
  ExpectSizes<pigment_write_result>(
      "result", abi_test::WriteResult(), [&](const pigment_write_result* result) {
        const pigment_records records = batch.records();
        return Try(pigment_collection_add, docs(), &records, kNoOptions,
                   const_cast<pigment_write_result*>(result));
      });
}

// A struct that was full of other bytes, after its init function.
template <typename T>
T Initialised(void (*init)(T*)) {
  T made;
  std::memset(static_cast<void*>(&made), 0xA5, sizeof made);
  init(&made);
  init(nullptr);
  EXPECT_EQ(made.struct_size, sizeof made);
  return made;
}

TEST_F(Arguments, InitFunctionsSetSizeAndDefaults) {
  {
    const auto [size, cancel, deadline, position] = Initialised(pigment_call_options_init);
    EXPECT_FALSE(cancel || deadline || position);
  }
  {
    const auto [size, sync, interval, budget, rows, bytes, read_only, must_exist, reserve, threads,
                erase, map] = Initialised(pigment_open_options_init);
    EXPECT_FALSE(sync || interval || budget || rows || bytes || read_only || must_exist ||
                 reserve || threads || erase || map);
  }
  {
    const auto [size, metadata, metadata_size, configuration, configuration_size, function, get,
                schema, schema_size] = Initialised(pigment_collection_options_init);
    EXPECT_FALSE(metadata || metadata_size || configuration || configuration_size || function ||
                 get || schema || schema_size);
  }
  const auto is_absent = [](const pigment_text_column& column) {
    return !column.offsets && !column.bytes && !column.validity;
  };
  {
    const auto [size, vectors, texts_count, texts, n_results, ids_count, ids, where, where_size,
                document, document_size, include, explain, recall, width, has_distance, distance,
                threads] = Initialised(pigment_query_request_init);
    EXPECT_EQ(n_results, 10);
    EXPECT_FALSE(vectors.data || vectors.rows || vectors.dimension || vectors.row_stride_bytes ||
                 vectors.dtype || texts_count || ids_count || where || where_size || document ||
                 document_size || include || explain || width || has_distance || threads);
    EXPECT_TRUE(is_absent(texts) && is_absent(ids) && recall == 0 && distance == 0);
  }
  {
    const auto [size, queries_count, queries, n_results, ids_count, ids, where, where_size,
                document, document_size, clauses, include, highlights, explain] =
        Initialised(pigment_text_search_request_init);
    EXPECT_EQ(n_results, 10);
    EXPECT_FALSE(queries_count || ids_count || where || where_size || document || document_size ||
                 clauses || include || highlights || explain);
    EXPECT_TRUE(is_absent(queries) && is_absent(ids));
  }
  const std::string text = abi_test::HeaderText("pigment.h");
  EXPECT_EQ(abi_test::FindAll(text, R"(void pigment_([a-z_]+)_init\()").size(), 5u);
}

TEST_F(Arguments, AWriteResultKeepsItsSizeAndIsZeroedOnFailure) {
  pigment_write_result result = abi_test::WriteResult();
  result.inserted = 5;
  result.position = 6;
  abi_test::Batch batch;
  batch.ids.Add("a");
  EXPECT_EQ(abi_test::Write(pigment_collection_add, docs(), batch, &result).status,
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(result.struct_size, sizeof result);
  EXPECT_EQ(result.inserted, 0u);
  EXPECT_EQ(result.position, 0u);
}

TEST_F(Arguments, NumbersThatAreNoEnumeratorAreRefused) {
  for (const int32_t value : {-1, 3, 1000, INT32_MAX}) {
    auto options = Sized<pigment_open_options>();
    options.sync_mode = value;
    abi_test::Client client;
    const Outcome outcome = abi_test::Open("", &client, &options);
    EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
    EXPECT_NE(outcome.message.find("sync_mode is " + std::to_string(value)), std::string::npos)
        << outcome;
    EXPECT_EQ(client, nullptr);
  }
  for (const int32_t value : {-1, 5, INT32_MIN}) {
    abi_test::Batch batch;
    batch.ids.Add("a");
    batch.values = {1};
    batch.dimension = 1;
    pigment_records records = batch.records();
    records.embeddings.dtype = value;
    const Outcome outcome = Try(pigment_collection_add, docs(), &records, kNoOptions,
                                static_cast<pigment_write_result*>(nullptr));
    EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
    EXPECT_NE(outcome.message.find("dtype is " + std::to_string(value)), std::string::npos)
        << outcome;
  }
  for (const int32_t value : {-1, 64, 33, 48, 16, INT32_MIN}) {
    auto request = Sized<pigment_get_request>();
    request.include = value;
    abi_test::ResultHandle result;
    const Outcome outcome = abi_test::Get(docs(), request, &result);
    EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT) << value;
    EXPECT_NE(outcome.message.find("include is " + std::to_string(value)), std::string::npos)
        << outcome;
  }
  auto options = Sized<pigment_call_options>();
  options.deadline_ns = -1;
  uint64_t count = 0;
  EXPECT_EQ(Try(pigment_collection_count, docs(), &options, &count).status,
            PIGMENT_INVALID_ARGUMENT);
}

TEST_F(Arguments, TextThatIsNoUtf8IsRefusedByName) {
  const std::vector<std::string> wrong = {"\xff",         "a\x80",        "\xc0\xaf",
                                          "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80",
                                          "abc\xe2\x82"};
  for (const std::string& text : wrong) {
    SCOPED_TRACE(::testing::PrintToString(text));
    const Outcome tenant = Try(pigment_client_create_tenant, client(), text.data(), text.size());
    EXPECT_EQ(tenant.status, PIGMENT_INVALID_ARGUMENT);
    EXPECT_NE(tenant.message.find("UTF-8"), std::string::npos) << tenant;
    abi_test::Batch ids;
    ids.ids.Add("good").Add(text);
    ids.values = {1, 2};
    ids.dimension = 1;
    const Outcome id = abi_test::Write(pigment_collection_add, docs(), ids);
    EXPECT_EQ(id.status, PIGMENT_INVALID_ARGUMENT);
    EXPECT_EQ(id.row, 1);
    EXPECT_NE(id.message.find("ids"), std::string::npos) << id;
    abi_test::Batch metadata;
    metadata.ids.Add("a").Add("b");
    metadata.values = {1, 2};
    metadata.dimension = 1;
    metadata.metadatas.emplace().AddAbsent().Add("{\"k\":\"" + text + "\"}");
    const Outcome refused = abi_test::Write(pigment_collection_add, docs(), metadata);
    EXPECT_EQ(refused.status, PIGMENT_INVALID_ARGUMENT);
    EXPECT_EQ(refused.row, 1);
    // A document is bytes of any kind.
    abi_test::Batch document;
    document.ids.Add("doc");
    document.values = {1};
    document.dimension = 1;
    document.documents.emplace().Add(text);
    EXPECT_TRUE(abi_test::Write(pigment_collection_upsert, docs(), document).ok());
    abi_test::ResultHandle result;
    ASSERT_TRUE(abi_test::Get(docs(), Sized<pigment_get_request>(), &result).ok());
    pigment_text_column column{};
    ASSERT_TRUE(pigment_result_documents(result.get(), &column));
    EXPECT_EQ(abi_test::Text(column, 0), text);
  }
}

TEST_F(Arguments, AStoreInMemoryCannotBeReadOnlyOrHaveToExist) {
  for (const bool read_only : {true, false}) {
    auto options = Sized<pigment_open_options>();
    options.read_only = read_only;
    options.must_exist = !read_only;
    abi_test::Client client;
    EXPECT_EQ(abi_test::Open("", &client, &options).status, PIGMENT_INVALID_ARGUMENT);
  }
}

TEST_F(Arguments, APathWithNulIsRefused) {
  abi_test::Client client;
  const Outcome outcome = abi_test::Open(std::string("a\0b", 3), &client);
  EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(outcome.message.find("NUL"), std::string::npos) << outcome;
}

}  // namespace
