// SPDX-License-Identifier: Apache-2.0
//
// Ranked search through the C interface: what the header promises of requests and results.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "tests/c_api/abi.h"
#include "tests/support/json.h"

namespace {

using abi_test::Outcome;
using abi_test::ResultHandle;
using abi_test::Texts;
using abi_test::Try;

constexpr std::string_view kConfiguration =
    R"({"text_index": {"analyzer": {"language": "english", "stop_words": ["the"]}}})";

pigment_text_search_request RequestFor(const Texts& queries) {
  pigment_text_search_request request;
  pigment_text_search_request_init(&request);
  request.queries_count = queries.size();
  request.queries = queries.column();
  return request;
}

Outcome Search(pigment_collection* collection, const pigment_text_search_request& request,
               ResultHandle* result, const pigment_call_options* options = nullptr) {
  pigment_result* raw = nullptr;
  const Outcome outcome = Try(pigment_collection_search_text, collection, &request, options, &raw);
  result->reset(raw);
  return outcome;
}

std::vector<std::string> Column(const pigment_text_column& column, uint64_t rows) {
  std::vector<std::string> texts;
  for (uint64_t row = 0; row < rows; ++row) {
    texts.emplace_back(column.bytes + column.offsets[row],
                       static_cast<size_t>(column.offsets[row + 1] - column.offsets[row]));
  }
  return texts;
}

class TextSearchAbi : public testing::Test {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_TRUE(Create("docs", kConfiguration, &docs_).ok());
    abi_test::Batch batch;
    batch.ids.Add("a").Add("b").Add("c");
    batch.values = {1, 2, 3};
    batch.dimension = 1;
    batch.documents.emplace().Add("The quick fox").Add("foxes and foxes").Add("a slow dog");
    batch.metadatas.emplace().Add(R"({"n":1})").Add(R"({"n":2})").Add(R"({"n":3})");
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
  }

  Outcome Create(std::string_view name, std::string_view configuration,
                 abi_test::Collection* collection) {
    pigment_collection_options options;
    pigment_collection_options_init(&options);
    options.configuration_json = configuration.data();
    options.configuration_json_size = configuration.size();
    return abi_test::Create(client_.get(), name, collection, &options);
  }
  std::vector<std::string> Ids(const pigment_text_search_request& request) {
    ResultHandle result;
    const Outcome outcome = Search(docs_.get(), request, &result);
    EXPECT_TRUE(outcome.ok()) << outcome;
    pigment_text_column ids{};
    if (!pigment_result_ids(result.get(), &ids)) return {};
    return Column(ids, pigment_result_row_count(result.get()));
  }

  abi_test::Client client_;
  abi_test::Collection docs_;
};

using Names = std::vector<std::string>;

TEST_F(TextSearchAbi, GivesIdsScoresAndWhatIsIncluded) {
  const Texts queries{"fox", "dog the"};
  ResultHandle result;
  ASSERT_TRUE(Search(docs_.get(), RequestFor(queries), &result).ok());
  const pigment_result* const got = result.get();
  ASSERT_EQ(pigment_result_query_count(got), 2u);
  ASSERT_EQ(pigment_result_row_count(got), 3u);
  EXPECT_EQ(pigment_result_query_offsets(got)[1], 2u);
  pigment_text_column column{};
  ASSERT_TRUE(pigment_result_ids(got, &column));
  EXPECT_EQ(Column(column, 3), Names({"b", "a", "c"}));
  ASSERT_TRUE(pigment_result_documents(got, &column));
  EXPECT_EQ(Column(column, 3), Names({"foxes and foxes", "The quick fox", "a slow dog"}));
  EXPECT_TRUE(pigment_result_metadatas(got, &column));
  EXPECT_FALSE(pigment_result_uris(got, &column));
  EXPECT_FALSE(pigment_result_highlights(got, &column)) << "they were not asked for";
  EXPECT_EQ(column.offsets, nullptr);
  EXPECT_EQ(pigment_result_distances(got), nullptr);
  const float* const scores = pigment_result_scores(got);
  ASSERT_NE(scores, nullptr);
  // Three documents of 2, 3 and 3 terms; two have the first word.
  const double idf = std::log(1 + (3 - 2 + 0.5) / (2 + 0.5));
  const auto score = [&](double f, double length) {
    return idf * 2.2 * f / (f + 1.2 * (0.25 + 0.75 * length / (8.0 / 3)));
  };
  EXPECT_NEAR(scores[0], score(2, 3), 1e-6);
  EXPECT_NEAR(scores[1], score(1, 2), 1e-6);
  EXPECT_EQ(pigment_result_included(got), PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS);
}

TEST_F(TextSearchAbi, HighlightsAreBytesOfTheDocument) {
  const Texts queries{"fox"};
  auto request = RequestFor(queries);
  request.highlights = true;
  request.include = PIGMENT_INCLUDE_NOTHING;
  ResultHandle result;
  ASSERT_TRUE(Search(docs_.get(), request, &result).ok());
  pigment_text_column column{};
  ASSERT_TRUE(pigment_result_highlights(result.get(), &column));
  EXPECT_EQ(Column(column, 2), Names({"[[0,5],[10,15]]", "[[10,13]]"}));
  EXPECT_FALSE(pigment_result_documents(result.get(), &column));
}

TEST_F(TextSearchAbi, FiltersIdsAndLimitsAreObeyed) {
  const Texts queries{"fox dog"};
  auto request = RequestFor(queries);
  EXPECT_EQ(Ids(request), Names({"c", "b", "a"}));
  request.n_results = 1;
  EXPECT_EQ(Ids(request), Names({"c"}));
  request.n_results = std::numeric_limits<int64_t>::max();
  const std::string where = R"({"n":{"$lt":3}})", where_document = R"({"$contains":"quick"})";
  request.where_json = where.data();
  request.where_json_size = where.size();
  EXPECT_EQ(Ids(request), Names({"b", "a"}));
  request.where_document_json = where_document.data();
  request.where_document_json_size = where_document.size();
  EXPECT_EQ(Ids(request), Names({"a"}));
  auto listed = RequestFor(queries);
  const Texts ids{"c", "a", "nobody", "a"};
  listed.ids = ids.column();
  listed.ids_count = ids.size();
  EXPECT_EQ(Ids(listed), Names({"c", "a"}));
}

TEST_F(TextSearchAbi, TheOperatorSaysWhetherAllClausesAreRequired) {
  const Texts queries{"quick fox"};
  auto request = RequestFor(queries);
  EXPECT_EQ(Ids(request), Names({"a", "b"}));
  request.operator_ = PIGMENT_TEXT_ALL;
  EXPECT_EQ(Ids(request), Names({"a"}));
  request.operator_ = 2;
  ResultHandle result;
  const Outcome outcome = Search(docs_.get(), request, &result);
  EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(outcome.message, "argument operator_ is 2, expected 0 (any) or 1 (all)");
}

TEST_F(TextSearchAbi, ExplainSaysWhatWasRead) {
  const Texts queries{"fox"};
  auto request = RequestFor(queries);
  request.explain = true;
  ResultHandle result;
  ASSERT_TRUE(Search(docs_.get(), request, &result).ok());
  const std::string explained = pigment_result_explain(result.get(), nullptr);
  EXPECT_NE(explained.find(R"("strategy":"text")"), std::string::npos) << explained;
  EXPECT_NE(explained.find(R"("text":{"queries":1,)"), std::string::npos) << explained;
}

TEST_F(TextSearchAbi, BadRequestsAreRefusedByName) {
  const Texts queries{"fox"}, absent = Texts().AddAbsent(), none;
  struct Case {
    std::function<void(pigment_text_search_request&)> change;
    std::string message;
  };
  const Case cases[] = {
      {[](auto& request) { request.n_results = 0; },
       "number of requested results must be positive, got 0"},
      {[](auto& request) { request.include = PIGMENT_INCLUDE_DISTANCES; },
       "argument include is 16: only a query has distances"},
      {[](auto& request) { request.queries_count = 0; },
       "expected queries to be a non-empty list, got 0 texts"},
      {[&](auto& request) { request.queries = absent.column(); }, "queries"},
  };
  for (const Case& one : cases) {
    auto request = RequestFor(queries);
    one.change(request);
    ResultHandle result;
    const Outcome outcome = Search(docs_.get(), request, &result);
    EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT) << one.message;
    EXPECT_NE(outcome.message.find(one.message), std::string::npos) << outcome;
    EXPECT_EQ(result, nullptr);
  }
}

TEST_F(TextSearchAbi, AnyBytesAreAQuery) {
  const Texts queries{std::string("\xFF\0 fox \xC3", 8), "\"", "+", "*", "+\"", "", "\"\""};
  ResultHandle result;
  ASSERT_TRUE(Search(docs_.get(), RequestFor(queries), &result).ok());
  EXPECT_EQ(pigment_result_query_count(result.get()), 7u);
  EXPECT_EQ(pigment_result_row_count(result.get()), 2u);
}

TEST_F(TextSearchAbi, ACollectionWithoutAnIndexRefusesWithAHint) {
  abi_test::Collection plain;
  ASSERT_TRUE(Create("plain", "{}", &plain).ok());
  const Texts queries{"fox"};
  ResultHandle result;
  const Outcome outcome = Search(plain.get(), RequestFor(queries), &result);
  EXPECT_EQ(outcome.status, PIGMENT_FAILED_PRECONDITION);
  EXPECT_EQ(outcome.message, "the collection has no text index");
}

TEST_F(TextSearchAbi, ASchemaAsksForTheIndexToo) {
  const std::string schema =
      R"({"keys":{"#document":{"string":{"fts_index":{"enabled":true,"config":{"text_index":)"
      R"({"analyzer":{"language":"english","stop_words":["the"]},"k1":1.5,"b":0.75}}}}}}})";
  pigment_collection_options options;
  pigment_collection_options_init(&options);
  options.schema_json = schema.data();
  options.schema_json_size = schema.size();
  ASSERT_TRUE(abi_test::Create(client_.get(), "by-schema", &docs_, &options).ok());
  abi_test::Batch batch;
  batch.ids.Add("a").Add("b");
  batch.values = {1, 2};
  batch.dimension = 1;
  batch.documents.emplace().Add("the dog").Add("foxes run");
  ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
  EXPECT_EQ(Ids(RequestFor(Texts{"fox"})), Names({"b"}));
  EXPECT_EQ(Ids(RequestFor(Texts{"the"})), Names());
  const auto described = [&] {
    pigment_buffer* raw = nullptr;
    EXPECT_TRUE(Try(pigment_collection_describe, docs_.get(), &raw).ok());
    const abi_test::Buffer buffer(raw);
    return nlohmann::json::parse(abi_test::Text(raw));
  };
  const auto read_back = [&] {
    return described()["schema"]["keys"]["#document"]["string"]["fts_index"]["config"]
                      ["text_index"];
  };
  const auto given = nlohmann::json::parse(schema);
  EXPECT_EQ(read_back(), given["keys"]["#document"]["string"]["fts_index"]["config"]["text_index"]);
  EXPECT_EQ(described()["configuration"]["text_index"], read_back());
  auto change = abi_test::Sized<pigment_modify_options>();
  const std::string configuration = R"({"text_index":{"k1":0.5}})";
  change.configuration_json = configuration.data();
  change.configuration_json_size = configuration.size();
  const pigment_modify_options* const changed = &change;
  ASSERT_TRUE(Try(pigment_collection_modify, docs_.get(), changed).ok());
  EXPECT_EQ(read_back()["k1"], 0.5);
}

TEST_F(TextSearchAbi, ReadersAndWritersGoSideBySide) {
  const Texts queries{"fox word*"};
  std::vector<std::thread> threads;
  for (int reader = 0; reader < 3; ++reader) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) EXPECT_GE(Ids(RequestFor(queries)).size(), 2u);
    });
  }
  for (int i = 0; i < 400; ++i) {
    abi_test::Batch batch;
    batch.ids.Add("id" + std::to_string(i));
    batch.values = {0};
    batch.dimension = 1;
    batch.documents.emplace().Add("word" + std::to_string(i % 7));
    EXPECT_TRUE(abi_test::Write(pigment_collection_upsert, docs_.get(), batch).ok());
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
