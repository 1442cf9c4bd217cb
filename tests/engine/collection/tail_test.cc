// SPDX-License-Identifier: Apache-2.0

#include "engine/collection/tail.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace pigment {
namespace {

std::shared_ptr<const Record> RecordOf(const std::string& id, uint64_t ordinal = 0) {
  auto record = std::make_shared<Record>();
  record->id = id;
  record->ordinal = ordinal;
  return record;
}

TEST(Tail, ViewSeesAFixedPrefixAndFixedDeletions) {
  Tail tail;
  for (int i = 0; i < 600; ++i) tail.Append(RecordOf("r" + std::to_string(i)));
  const TailView before = tail.View();
  tail.Append(RecordOf("late"));
  tail.Erase(std::vector<uint32_t>{0, 599});
  EXPECT_EQ(before.rows, 600u);
  EXPECT_TRUE(before.IsLive(0));
  EXPECT_EQ(before.row(599).id, "r599");
  const TailView after = tail.View();
  EXPECT_EQ(after.rows, 601u);
  EXPECT_FALSE(after.IsLive(0));
  EXPECT_FALSE(after.IsLive(599));
  EXPECT_TRUE(after.IsLive(600));
}

TEST(Tail, FindsTheNewestRowOfAnIdAndNoDeadOne) {
  Tail tail;
  tail.Append(RecordOf("a", 1));
  tail.Append(RecordOf("b", 2));
  tail.Append(RecordOf("a", 1));  // an update: appended first, then the old row is erased
  tail.Erase(std::vector<uint32_t>{0});
  EXPECT_EQ(tail.Find("a"), 2u);
  tail.Erase(std::vector<uint32_t>{1});
  EXPECT_EQ(tail.Find("b"), std::nullopt);
  EXPECT_EQ(tail.Find("c"), std::nullopt);
}

TEST(Tail, AViewFindsTheRowsThatItSees) {
  Tail tail;
  for (int i = 0; i < 1000; ++i) tail.Append(RecordOf("r" + std::to_string(i)));
  const TailView before = tail.View();
  // Every other id is replaced, so chains grow and old rows die.
  std::vector<uint32_t> dead;
  for (uint32_t i = 0; i < 1000; i += 2) {
    tail.Append(RecordOf("r" + std::to_string(i)));
    dead.push_back(i);
  }
  tail.Erase(dead);
  const TailView after = tail.View();
  for (uint32_t i = 0; i < 1000; ++i) {
    const std::string id = "r" + std::to_string(i);
    EXPECT_EQ(before.Find(id), i);
    EXPECT_EQ(after.Find(id), i % 2 == 0 ? 1000 + i / 2 : i);
  }
  EXPECT_EQ(after.Find("r1000"), std::nullopt);
  EXPECT_EQ(TailView().Find("r0"), std::nullopt);
}

TEST(Tail, AnIdReplacedOverAndOverIsFoundOnce) {
  Tail tail;
  for (uint32_t i = 0; i < 700; ++i) {
    tail.Append(RecordOf("same"));
    if (i > 0) tail.Erase(std::vector<uint32_t>{i - 1});
    ASSERT_EQ(tail.Find("same"), i);
  }
}

TEST(Tail, ReadersFindRowsWhileTheWriterAppends) {
  Tail tail;
  for (int i = 0; i < 100; ++i) tail.Append(RecordOf("r" + std::to_string(i)));
  const TailView view = tail.View();
  std::atomic<bool> is_done{false};
  std::thread reader([&] {
    while (!is_done.load()) {
      for (uint32_t i = 0; i < 200; ++i) {
        const auto found = view.Find("r" + std::to_string(i));
        EXPECT_EQ(found, i < 100 ? std::optional<uint32_t>(i) : std::nullopt);
      }
    }
  });
  for (int i = 100; i < 5000; ++i) tail.Append(RecordOf("r" + std::to_string(i)));
  is_done = true;
  reader.join();
}

TEST(Tail, RestAfterAFlushHoldsTheLaterLiveRows) {
  Tail tail;
  for (int i = 0; i < 300; ++i) tail.Append(RecordOf("r" + std::to_string(i)));
  tail.Erase(std::vector<uint32_t>{5, 290});
  const Tail rest = tail.After(280);
  EXPECT_EQ(rest.rows(), 19u);
  EXPECT_EQ(rest.Find("r279"), std::nullopt);
  EXPECT_EQ(rest.Find("r290"), std::nullopt);
  EXPECT_EQ(rest.row(*rest.Find("r299")).id, "r299");
  EXPECT_LT(rest.bytes(), tail.bytes());
}

TEST(Tail, CountsTheBytesOfARecord) {
  Record record;
  const uint64_t empty = RecordBytes(record);
  record.id = "four";
  record.embedding.resize(100);
  record.document = std::string(1000, 'x');
  record.metadata = Metadata{{"key", std::vector<std::string>{"value"}}};
  EXPECT_GE(RecordBytes(record), empty + 4 + 400 + 1000 + 8);
}

}  // namespace
}  // namespace pigment
