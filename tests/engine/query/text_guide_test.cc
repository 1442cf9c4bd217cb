// SPDX-License-Identifier: Apache-2.0
//
// Runs every example of docs/text-search.md: the answer behind each arrow must be what the search
// gives.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/query/text_search.h"
#include "engine/record/configuration.h"
#include "tests/engine/query/guide_blocks.h"
#include "tests/support/json.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

using nlohmann::json;

class TextGuide : public ::testing::Test {
 protected:
  void SetUp() override {
    store_ = Store::Open(std::nullopt, {}).value();
    CollectionEntry entry = EntryNamed("guide");
    WriteBatch batch;
    batch.dimension = 1;
    for (const GuideBlock& block : blocks_) {
      if (block.kind == "json configuration")
        entry.configuration_json =
            ParseConfiguration(block.text(), nullptr, std::nullopt).value().json;
      if (block.kind != "json records") continue;
      for (const json& record : json::parse(block.text())) {
        batch.ids.push_back(record["id"]);
        batch.embeddings.push_back(0);
        batch.documents.push_back(record.contains("document")
                                      ? std::optional<std::string>(record["document"])
                                      : std::nullopt);
      }
    }
    docs_ = store_->CreateCollection(entry).value();
    ASSERT_OK(docs_->Write(batch));
    ASSERT_OK(docs_->Flush());
  }

  // Calls `visit(query, answer)` for each example of a kind; returns how many there are.
  template <typename Visit>
  int VisitExamples(const std::string& kind, const Visit& visit) {
    int examples = 0;
    for (const GuideBlock& block : blocks_) {
      if (block.kind != kind) continue;
      for (const std::string& line : block.lines) {
        ++examples;
        const size_t arrow = line.find("->");
        EXPECT_NE(arrow, line.npos) << line;
        if (arrow == line.npos) continue;
        visit(line.substr(0, line.find_last_not_of(' ', arrow - 1) + 1), line.substr(arrow + 3));
      }
    }
    return examples;
  }
  ResultSet Search(const std::string& query, std::optional<std::vector<std::string>> ids) {
    TextSearchRequest request;
    request.queries = {query};
    request.highlights = true;
    request.read.ids = std::move(ids);
    return SearchText(*docs_->Pin().value(), request).value();
  }

  const std::vector<GuideBlock> blocks_ = ReadGuide("text-search.md");
  std::shared_ptr<Store> store_;
  std::shared_ptr<Collection> docs_;
};

TEST_F(TextGuide, EveryQueryGivesTheAnswerItShows) {
  const int examples = VisitExamples("text query", [&](const auto& query, const auto& answer) {
    const std::string ids =
        fmt::format("{}", fmt::join(IdsOf(Search(query, std::nullopt).ids), " "));
    EXPECT_EQ(ids.empty() ? "nothing" : ids, answer) << query;
  });
  EXPECT_EQ(examples, 18);
}

TEST_F(TextGuide, EveryHighlightIsWhatItShows) {
  const int examples = VisitExamples("text highlights", [&](const auto& query, const auto& answer) {
    EXPECT_EQ(Search(query, std::vector<std::string>{"2"}).highlights.bytes, answer) << query;
  });
  EXPECT_EQ(examples, 3);
}

}  // namespace
}  // namespace pigment
