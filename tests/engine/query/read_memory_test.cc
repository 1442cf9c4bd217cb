// SPDX-License-Identifier: Apache-2.0
//
// What a read takes beside its answer is within the store's budget: rows that are sorted, values
// that are counted. What does not fit is refused by the budget's name, and takes nothing with it.

#include "engine/query/read_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/query/facets.h"
#include "engine/query/search.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

constexpr uint64_t kBudgetBytes = 6 << 20;
constexpr uint32_t kRecords = 12000;
constexpr uint32_t kBatchRows = 500;
constexpr size_t kTextBytes = 1000;

// Texts whose order is that of the rows backwards.
std::string TextOf(uint32_t row) {
  return std::to_string(2000000 - row) + std::string(kTextBytes, 'x');
}

// A store whose sort keys and values together are twice the budget, flushed and merged.
class ReadMemoryTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    StoreOptions options{.memory_budget_bytes = GetParam(), .background_threads = 0};
    options.flush_bytes_max = 1 << 20;
    store_ = Store::Open(std::nullopt, options).value();
    docs_ = store_->CreateCollection(EntryNamed("docs")).value();
    for (uint32_t first = 0; first < kRecords; first += kBatchRows) {
      WriteBatch batch;
      batch.dimension = 1;
      for (uint32_t row = first; row < first + kBatchRows; ++row) {
        batch.ids.push_back("row-" + std::to_string(row));
        batch.embeddings.push_back(static_cast<float>(row));
        batch.metadatas.push_back(Metadata{{"kind", int64_t{row % 3}}, {"text", TextOf(row)}});
      }
      ASSERT_OK(docs_->Write(batch));
    }
    version_ = docs_->Pin().value();
  }

  bool is_limited() const { return GetParam() != 0; }

  Result<ResultSet> Sorted(std::optional<uint64_t> limit, uint64_t offset = 0) const {
    GetRequest request{.read = {}, .limit = limit, .offset = offset};
    request.order_by = OrderBy::Parse(R"([{"key":"text"}])").value();
    return Get(*version_, request);
  }
  Result<std::vector<std::vector<FacetValue>>> Faceted(const std::string& key) const {
    return CountFacets(*version_, {.read = {}, .keys = {key}, .limit = 5});
  }
  void ExpectBudget(const Status& status) const {
    if (!is_limited()) {
      EXPECT_OK(status);
      return;
    }
    EXPECT_CODE(status, Code::kResourceExhausted);
    EXPECT_EQ(status.detail(), Detail::kMemory);
    EXPECT_TRUE(status.message().starts_with("memory budget \"store\" of 6291456 bytes"))
        << status.message();
  }

  std::shared_ptr<Store> store_;
  std::shared_ptr<Collection> docs_;
  std::shared_ptr<const Version> version_;
};

TEST_P(ReadMemoryTest, RowsThatAreSortedAreWithinTheBudget) {
  // More than once: a read gives back what it took, however it ends.
  for (int times = 0; times < 3; ++times) {
    ExpectBudget(Sorted(std::nullopt).status());
    ExpectBudget(Sorted(1, kRecords - 1).status());
    const auto few = Sorted(2, 1);
    ASSERT_OK(few);
    EXPECT_EQ(TextAt(few->ids, 0), "row-" + std::to_string(kRecords - 2));
    EXPECT_EQ(TextAt(few->ids, 1), "row-" + std::to_string(kRecords - 3));
  }
}

TEST_P(ReadMemoryTest, APageBehindACursorTakesNoMoreThanAnotherOne) {
  std::optional<RowPosition> after;
  for (uint32_t row = kRecords; row > kRecords - 1000;) {
    GetRequest request{.read = {}, .limit = 100, .after = after};
    request.order_by = OrderBy::Parse(R"([{"key":"text"}])").value();
    const auto page = Get(*version_, request);
    ASSERT_OK(page);
    ASSERT_EQ(page->rows(), 100u);
    EXPECT_EQ(TextAt(page->ids, 0), "row-" + std::to_string(--row));
    row -= 99;
    after = page->last;
  }
}

TEST_P(ReadMemoryTest, ValuesThatAreCountedAreWithinTheBudget) {
  for (int times = 0; times < 3; ++times) {
    ExpectBudget(Faceted("text").status());
    const auto kinds = Faceted("kind");
    ASSERT_OK(kinds);
    ASSERT_EQ(kinds->at(0).size(), 3u);
    EXPECT_EQ(kinds->at(0)[0].count, kRecords / 3);
  }
}

TEST_P(ReadMemoryTest, AnAnswerIsTheCallers) {
  GetRequest request;
  request.read.include.metadatas = true;
  const auto all = Get(*version_, request);
  ASSERT_OK(all);
  EXPECT_EQ(all->rows(), kRecords);
  EXPECT_GT(all->metadatas.bytes.size(), kBudgetBytes * 3 / 2);
}

INSTANTIATE_TEST_SUITE_P(Budgets, ReadMemoryTest, ::testing::Values(uint64_t{0}, kBudgetBytes),
                         [](const auto& info) {
                           return info.param == 0 ? "None" : "SixMegabytes";
                         });

}  // namespace
}  // namespace pigment
