// SPDX-License-Identifier: Apache-2.0
//
// Forks: a random tree of forks of forks, written, merged, compacted and deleted in any order, each
// against a model of its own; the disk holds exactly what some collection names.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

uint64_t SizeOf(FileSystem& files, const std::string& path) {
  return files.Open(path, OpenMode::kRead).value()->Size().value();
}

// Files below segments/ with their sizes; shelves are another test's.
std::map<std::string, uint64_t> OnDisk(FileSystem& files) {
  std::map<std::string, uint64_t> sizes;
  for (const std::string& name : files.List("db/segments").value()) {
    if (name.ends_with(".shelf")) continue;
    sizes[name] = SizeOf(files, "db/segments/" + name);
  }
  return sizes;
}

// What the entries of the catalog name.
std::set<std::string> Named(Store& store) {
  std::set<std::string> names;
  for (const CollectionEntry& entry : store.catalog().value()->AllCollections()) {
    for (const SegmentEntry& segment : entry.segments) {
      names.insert(std::to_string(segment.segment) + ".seg");
      if (segment.deletions != 0) {
        names.insert(std::to_string(segment.segment) + "." + std::to_string(segment.deletions) +
                     ".del");
      }
    }
  }
  return names;
}

std::set<std::string> NamesOf(const std::map<std::string, uint64_t>& sizes) {
  std::set<std::string> names;
  for (const auto& [name, size] : sizes) names.insert(name);
  return names;
}

uint64_t Sum(const std::map<std::string, uint64_t>& sizes) {
  uint64_t sum = 0;
  for (const auto& [name, size] : sizes) sum += size;
  return sum;
}

TEST(Fork, AnyTreeOfForksIsItsModels) {
  for (uint64_t seed = 1; seed <= 30 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MemoryFileSystem files;
    StoreOptions options;
    options.flush_rows_max = 12;
    options.background_threads = seed % 2;
    auto store = Store::Open("db", options, &files).value();
    BatchMaker maker(seed, 3, 50);
    std::map<std::string, CollectionModel> models;
    ASSERT_OK(store->CreateCollection(EntryNamed("root")));
    models["root"];
    int made = 0;
    for (int step = 0; step < 150; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      auto chosen = models.begin();
      std::advance(chosen, static_cast<ptrdiff_t>(maker.Below(models.size())));
      const std::string name = chosen->first;
      const auto collection = store->GetCollection({}, name).value();
      const size_t what = maker.Below(100);
      if (what < 60) {
        const WriteBatch batch = maker.Batch(8);
        ASSERT_OK(collection->Write(batch));
        chosen->second.Apply(batch);
      } else if (what < 72 && models.size() < 12) {
        const std::string fork = "fork" + std::to_string(++made);
        ASSERT_OK(store->ForkCollection(collection->entry().id, fork));
        models[fork] = chosen->second;
      } else if (what < 80) {
        ASSERT_OK(collection->Compact());
      } else if (what < 86) {
        ASSERT_OK(collection->Flush());
      } else if (what < 92 && models.size() > 1) {
        ASSERT_OK(store->DeleteCollection({}, name));
        models.erase(chosen);
      } else if (what < 95) {
        ASSERT_OK(store->Close());
        store = Store::Open("db", options, &files).value();
      }
      for (const auto& [each, model] : models) {
        if (!maker.Chance(20)) continue;
        ASSERT_EQ(DifferenceOfAll(*store->GetCollection({}, each).value(), model), "") << each;
      }
    }
    ASSERT_OK(store->Close());  // no merge is under way any more
    options.background_threads = 0;
    store = Store::Open("db", options, &files).value();
    for (const auto& [each, model] : models)
      ASSERT_EQ(DifferenceOfAll(*store->GetCollection({}, each).value(), model), "") << each;
    ASSERT_EQ(NamesOf(OnDisk(files)), Named(*store));
    // One after the other: each deletion frees exactly what nobody else names.
    while (!models.empty()) {
      auto chosen = models.begin();
      std::advance(chosen, static_cast<ptrdiff_t>(maker.Below(models.size())));
      ASSERT_OK(store->DeleteCollection({}, chosen->first));
      models.erase(chosen);
      ASSERT_EQ(NamesOf(OnDisk(files)), Named(*store));
      for (const auto& [each, model] : models)
        ASSERT_EQ(DifferenceOfAll(*store->GetCollection({}, each).value(), model), "") << each;
    }
    ASSERT_EQ(OnDisk(files).size(), 0u);
  }
}

TEST(Fork, SharesTheDiskUntilItIsWritten) {
  MemoryFileSystem files;
  StoreOptions options;
  options.background_threads = 0;
  const auto store = Store::Open("db", options, &files).value();
  const auto root = store->CreateCollection(EntryNamed("root")).value();
  WriteBatch batch;
  batch.dimension = 64;
  for (int i = 0; i < 2000; ++i) {
    batch.ids.push_back(std::to_string(i));
    batch.embeddings.insert(batch.embeddings.end(), 64, static_cast<float>(i));
  }
  ASSERT_OK(root->Write(batch));
  ASSERT_OK(root->Flush());
  const uint64_t alone = Sum(OnDisk(files));
  std::shared_ptr<Collection> deepest = root;
  for (int depth = 1; depth <= 20; ++depth) {
    deepest = store->ForkCollection(deepest->entry().id, "fork" + std::to_string(depth)).value();
    EXPECT_EQ(Sum(OnDisk(files)), alone);
  }
  // A merge of one makes a segment of its own and leaves the others' alone.
  WriteBatch erase;
  erase.kind = WriteKind::kDelete;
  erase.ids.assign(batch.ids.begin(), batch.ids.begin() + 1000);
  ASSERT_OK(deepest->Write(erase));
  const auto compacted = deepest->Compact();
  ASSERT_OK(compacted);
  EXPECT_EQ(Sum(OnDisk(files)), alone + compacted->bytes_after);
  EXPECT_LT(compacted->bytes_after, alone * 2 / 3);
  EXPECT_EQ(root->Pin().value()->live_rows, 2000u);
  EXPECT_EQ(deepest->Pin().value()->live_rows, 1000u);
  ASSERT_OK(store->DeleteCollection({}, "root"));
  EXPECT_EQ(Sum(OnDisk(files)), alone + compacted->bytes_after) << "19 forks name it";
  for (int depth = 1; depth <= 19; ++depth)
    ASSERT_OK(store->DeleteCollection({}, "fork" + std::to_string(depth)));
  EXPECT_EQ(Sum(OnDisk(files)), compacted->bytes_after);
  ASSERT_OK(store->DeleteCollection({}, "fork20"));
  EXPECT_EQ(Sum(OnDisk(files)), 0u);
}

}  // namespace
}  // namespace pigment
