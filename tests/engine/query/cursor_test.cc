// SPDX-License-Identifier: Apache-2.0
//
// Cursors: texts that are none, damaged or somebody else's are refused; and pages of a collection
// that is written to, flushed and merged between them.

#include "engine/query/cursor.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/query/search.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

TEST(Cursor, ComesBackAsItWasGiven) {
  const OrderBy order = OrderBy::Parse(R"([{"key":"a"}])").value();
  const std::string key("k\0\xFF", 3);
  const auto position = ReadCursor(CursorText({key, 77}, "docs", order), "docs", order);
  ASSERT_OK(position);
  EXPECT_EQ(position->key, key);
  EXPECT_EQ(position->ordinal, 77u);
}

TEST(Cursor, OfAnotherCollectionOrOrderIsRefused) {
  const OrderBy order = OrderBy::Parse(R"([{"key":"a"}])").value();
  const std::string text = CursorText({"k", 77}, "docs", order);
  EXPECT_CODE(ReadCursor(text, "others", order), Code::kInvalidArgument);
  for (const char* other : {"[]", R"([{"key":"b"}])", R"([{"key":"a","descending":true}])",
                            R"([{"key":"a"},{"key":"b"}])"}) {
    const auto read = ReadCursor(text, "docs", OrderBy::Parse(other).value());
    EXPECT_CODE(read, Code::kInvalidArgument);
    EXPECT_NE(read.status().message().find("another collection or another order_by"),
              std::string::npos);
  }
}

TEST(Cursor, WhatIsNoneOrDamagedIsRefused) {
  const std::string text = CursorText({"", 77}, "docs", {});
  for (const std::string& other :
       {std::string(), std::string("7"), std::string("no cursor"), std::string("00"),
        std::string("00000000"), text + "0", text + "00", text.substr(2)}) {
    EXPECT_CODE(ReadCursor(other, "docs", {}), Code::kInvalidArgument);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = damaged[i] == '7' ? '8' : '7';
    EXPECT_CODE(ReadCursor(damaged, "docs", {}), Code::kInvalidArgument);
    EXPECT_CODE(ReadCursor(text.substr(0, i), "docs", {}), Code::kInvalidArgument);
  }
}

// A collection with its model, which is written to between pages.
class Pages {
 public:
  explicit Pages(uint64_t seed) : maker_(seed, 2, 60) {
    StoreOptions options;
    options.flush_rows_max = seed % 2 == 0 ? 25 : 16384;
    options.background_threads = 0;
    store_ = Store::Open(std::nullopt, options).value();
    docs_ = store_->CreateCollection(EntryNamed("docs")).value();
    for (int batch = 0; batch < 25; ++batch) Write();
  }

  void Write() {
    const WriteBatch batch = maker_.Batch(8);
    ASSERT_OK(docs_->Write(batch));
    for (const std::string& id : batch.ids) written_.insert(id);
    model_.Apply(batch);
    if (maker_.Chance(10)) ASSERT_OK(docs_->Flush());
    if (maker_.Chance(5)) ASSERT_OK(docs_->Compact().status());
  }

  // All pages, with writes in between: what nobody wrote to comes once and in its place, and
  // nothing comes twice, but for what was written where its keys decide.
  void Walk() {
    PlainOrder order;
    if (maker_.Chance(60)) order = maker_.Order();
    GetRequest request;
    request.read = maker_.Read();
    request.order_by = OrderBy::Parse(OrderJson(order)).value();
    const std::map<std::string, Record> before = model_.records();
    std::vector<std::string> expected;
    std::vector<const Record*> rows = model_.InOrder(request.read);
    std::sort(rows.begin(), rows.end(),
              [&](auto* a, auto* b) { return ComesFirst(*a, *b, order); });
    for (const Record* row : rows) expected.push_back(row->id);
    written_.clear();
    std::vector<std::string> seen;
    std::set<std::pair<std::string, uint64_t>> places;
    for (;;) {
      request.limit = maker_.Below(7) + 1;
      const auto version = docs_->Pin().value();
      if (request.after) {  // the text is the place
        const std::string text = CursorText(*request.after, "docs", request.order_by);
        request.after = ReadCursor(text, "docs", request.order_by).value();
      }
      const auto page = Get(*version, request);
      ASSERT_OK(page);
      const uint64_t count = page->query_offsets.back();
      for (uint64_t row = 0; row < count; ++row) {
        const std::string id = TextAt(page->ids, row).value();
        seen.push_back(id);
        const bool is_first = places.emplace(id, model_.records().at(id).ordinal).second;
        ASSERT_TRUE(is_first || (!order.empty() && written_.contains(id))) << id;
      }
      ASSERT_EQ(page->last.has_value(), count == *request.limit);
      if (!page->last) break;
      request.after = page->last;
      if (maker_.Chance(60)) Write();
    }
    std::erase_if(seen, [&](const std::string& id) { return written_.contains(id); });
    std::erase_if(expected, [&](const std::string& id) { return written_.contains(id); });
    ASSERT_EQ(seen, expected);
    untouched_ += expected.size();
  }

  size_t untouched() const { return untouched_; }

 private:
  BatchMaker maker_;
  std::shared_ptr<Store> store_;
  std::shared_ptr<Collection> docs_;
  CollectionModel model_;
  std::set<std::string> written_;
  size_t untouched_ = 0;
};

TEST(Cursor, PagesStayRightUnderWrites) {
  size_t untouched = 0;
  for (uint64_t seed = 1; seed <= 12 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Pages pages(seed);
    for (int walk = 0; walk < 25 && !::testing::Test::HasFatalFailure(); ++walk) pages.Walk();
    untouched += pages.untouched();
  }
  EXPECT_GT(untouched, 1500u);
}

}  // namespace
}  // namespace pigment
