// SPDX-License-Identifier: Apache-2.0
//
// CONTRACT 25: what a query may spend, by its width, its recall or the collection's configuration,
// is what explain shows.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/c_api/abi.h"
#include "tests/support/json.h"

namespace {

using abi_test::ResultHandle;
using abi_test::Try;
using nlohmann::json;

constexpr size_t kDimension = 16;
constexpr size_t kQueries = 20;

class ExplainAbi : public testing::Test {
 protected:
  // One segment of `rows` records, and nothing else.
  void Fill(const std::string& configuration, int rows) {
    client_ = abi_test::OpenMemory();
    auto made = abi_test::Sized<pigment_collection_options>();
    made.configuration_json = configuration.data();
    made.configuration_json_size = configuration.size();
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &docs_, &made).ok());
    for (int first = 0; first < rows; first += 1000) {
      abi_test::Batch batch;
      batch.dimension = kDimension;
      for (int i = first; i < first + 1000; ++i) {
        batch.ids.Add("id" + std::to_string(i));
        AddVector(batch.values);
      }
      ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
    }
    auto compacted = abi_test::Sized<pigment_compaction>();
    ASSERT_TRUE(Try(pigment_collection_compact, docs_.get(),
                    static_cast<const pigment_call_options*>(nullptr), &compacted)
                    .ok());
    for (size_t i = 0; i < kQueries; ++i) AddVector(asked_);
  }
  void AddVector(std::vector<float>& values) {
    for (size_t d = 0; d < kDimension; ++d) values.push_back(normal_(random_));
  }

  struct Effort {
    double recall = 0;
    int64_t width = 0;
  };
  json Explained(const Effort& effort) {
    pigment_query_request request = abi_test::QueryFor(asked_, kDimension, 5);
    request.recall = effort.recall;
    request.search_width = effort.width;
    request.explain = true;
    ResultHandle result;
    const auto outcome = abi_test::Query(docs_.get(), request, &result);
    EXPECT_TRUE(outcome.ok()) << outcome;
    EXPECT_EQ(abi_test::Ids(result.get()).size(), 5 * kQueries);
    size_t size = 0;
    const char* text = pigment_result_explain(result.get(), &size);
    return json::parse(text, text + size);
  }
  void Configure(const std::string& change) {
    auto options = abi_test::Sized<pigment_modify_options>();
    options.configuration_json = change.data();
    options.configuration_json_size = change.size();
    const auto outcome = Try(pigment_collection_modify, docs_.get(), &options);
    ASSERT_TRUE(outcome.ok()) << outcome;
  }

  std::mt19937_64 random_{20261125};
  std::normal_distribution<float> normal_;
  abi_test::Client client_;
  abi_test::Collection docs_;
  std::vector<float> asked_;
};

TEST_F(ExplainAbi, ShowsTheProbesThatWidthRecallAndConfigurationAskFor) {
  Fill(R"({"spann":{"search_nprobe":7}})", 8000);
  // So many clusters of one segment, for each query.
  const auto expect_width = [&](const json& explained, uint64_t width) {
    EXPECT_EQ(explained["strategy"], "clusters");
    EXPECT_EQ(explained["clusters"],
              json({{"probes", kQueries}, {"clusters_probed", kQueries * width}}));
    EXPECT_EQ(explained["graph"], json({{"walks", 0}, {"nodes_visited", 0}}));
  };
  expect_width(Explained({}), 7);
  expect_width(Explained({.width = 3}), 3);
  expect_width(Explained({.width = 12}), 12);
  Configure(R"({"spann":{"search_nprobe":9}})");
  expect_width(Explained({}), 9);

  const auto probed = [&](double recall) {
    const json explained = Explained({.recall = recall});
    EXPECT_EQ(explained["strategy"], "clusters") << recall;
    EXPECT_EQ(explained["clusters"]["probes"], kQueries);
    return explained["clusters"]["clusters_probed"].get<uint64_t>();
  };
  EXPECT_LE(probed(0.5), probed(0.8));
  EXPECT_LT(probed(0.8), probed(0.98));
  const json exact = Explained({.recall = 1});
  EXPECT_EQ(exact["strategy"], "exact");
  EXPECT_EQ(exact["clusters"], json({{"probes", 0}, {"clusters_probed", 0}}));
  EXPECT_EQ(exact["segments"]["rows_scored"], kQueries * 8000);

  // Chroma's default is as if nothing was given: the default recall then.
  Configure(R"({"spann":{"search_nprobe":64}})");
  EXPECT_EQ(Explained({})["clusters"]["clusters_probed"], probed(0.98));
}

TEST_F(ExplainAbi, ShowsTheVisitsOfAGraphAlike) {
  Fill(R"({"hnsw":{"ef_search":70,"max_neighbors":8}})", 9000);
  const auto expect_width = [&](const json& explained, uint64_t width) {
    EXPECT_EQ(explained["strategy"], "graph");
    EXPECT_EQ(explained["graph"], json({{"walks", kQueries}, {"nodes_visited", kQueries * width}}));
    EXPECT_EQ(explained["clusters"], json({{"probes", 0}, {"clusters_probed", 0}}));
  };
  expect_width(Explained({}), 70);
  expect_width(Explained({.width = 40}), 40);
  Configure(R"({"hnsw":{"ef_search":90}})");
  expect_width(Explained({}), 90);
  const auto visited = [&](double recall) {
    return Explained({.recall = recall})["graph"]["nodes_visited"].get<uint64_t>();
  };
  EXPECT_LT(visited(0.5), visited(0.95));
  EXPECT_EQ(Explained({.recall = 1})["strategy"], "exact");
}

}  // namespace
