// SPDX-License-Identifier: Apache-2.0
//
// Readers that pin versions, writers, forks and compactions, all while merges replace segments:
// every version that a reader sees is whole, and stays readable for as long as it is held. Worth
// its time under the thread sanitizer (preset tsan).

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

constexpr uint32_t kKeys = 40;
constexpr uint32_t kTwins = 3;

// A batch upserts all twins of some keys with one number, or deletes all twins of some keys.
WriteBatch RandomBatch(std::mt19937_64& random, uint32_t writer) {
  WriteBatch batch;
  batch.kind = random() % 4 == 0 ? WriteKind::kDelete : WriteKind::kUpsert;
  batch.dimension = batch.kind == WriteKind::kDelete ? 0 : 2;
  for (uint32_t key = random() % 4; key < kKeys; key += 1 + random() % 9) {
    const auto number = static_cast<float>(random() % 1000);
    for (uint32_t twin = 0; twin < kTwins; ++twin) {
      batch.ids.push_back(std::to_string(writer) + "/" + std::to_string(key) + "/" +
                          std::to_string(twin));
      if (batch.kind == WriteKind::kDelete) continue;
      batch.embeddings.insert(batch.embeddings.end(), {number, 1});
      batch.documents.push_back(std::to_string(static_cast<int>(number)));
    }
  }
  return batch;
}

// Empty when every key has all its twins, alike in vector and document, or none.
std::string Torn(const Version& version) {
  GetRequest request;
  request.read.include = {.documents = true, .embeddings = true};
  const auto result = Get(version, request);
  if (!result.ok()) return result.status().ToString();
  std::map<std::string, std::vector<std::string>> seen;
  const uint64_t rows = result->query_offsets.back();
  if (result->embeddings.size() != rows * 2 && rows > 0) return "embeddings are missing";
  if (rows != version.live_rows) return "live rows are miscounted";
  for (uint64_t row = 0; row < rows; ++row) {
    const std::string id = *TextAt(result->ids, row);
    seen[id.substr(0, id.rfind('/'))].push_back(
        *TextAt(result->documents, row) + " " +
        std::to_string(static_cast<int>(result->embeddings[row * 2])));
  }
  for (const auto& [key, twins] : seen) {
    if (twins.size() != kTwins) return key + " has " + std::to_string(twins.size());
    const std::string number = twins[0].substr(0, twins[0].find(' '));
    for (const std::string& twin : twins) {
      if (twin != number + " " + number) return key + " is " + twin;
    }
  }
  return "";
}

void RunThreads(std::shared_ptr<Store> store, uint64_t seed, uint64_t operations) {
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  std::atomic<uint64_t> left{operations};
  std::atomic<uint64_t> versions{0}, forks{0};
  std::atomic<bool> is_writing{true};
  const auto take = [&left] {
    uint64_t now = left.load();
    while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
    }
    return now > 0;
  };
  std::vector<std::thread> writers, others;
  for (uint32_t writer = 0; writer < 2; ++writer) {
    writers.emplace_back([&, writer] {
      std::mt19937_64 random(seed * 10 + writer);
      while (take()) EXPECT_OK(docs->Write(RandomBatch(random, writer)));
    });
  }
  for (uint32_t reader = 0; reader < 2; ++reader) {
    others.emplace_back([&] {
      std::shared_ptr<const Version> held = docs->Pin().value();
      for (uint64_t round = 0; is_writing; ++round) {
        const auto now = docs->Pin().value();
        EXPECT_EQ(Torn(*now), "");
        EXPECT_EQ(Torn(*held), "") << "a version that was held";
        if (round % 4 == 0) held = now;
        ++versions;
      }
    });
  }
  others.emplace_back([&] {
    for (uint32_t round = 0; is_writing; ++round) {
      const std::string name = "fork" + std::to_string(round);
      const auto fork = store->ForkCollection(docs->entry().id, name);
      ASSERT_OK(fork);
      EXPECT_EQ(Torn(**(*fork)->Pin()), "");
      std::mt19937_64 random(seed + round);
      EXPECT_OK((*fork)->Write(RandomBatch(random, 0)));
      EXPECT_OK((*fork)->Compact());
      EXPECT_EQ(Torn(**(*fork)->Pin()), "");
      EXPECT_OK(store->DeleteCollection({}, name));
      ++forks;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  others.emplace_back([&] {
    while (is_writing) {
      EXPECT_OK(docs->Compact());
      EXPECT_OK(docs->Segments());
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      (void)store->maintenance().value().merges;
    }
  });
  for (std::thread& thread : writers) thread.join();
  is_writing = false;
  for (std::thread& thread : others) thread.join();
  EXPECT_GT(versions, 0u);
  EXPECT_GT(forks, 0u);
  EXPECT_GT(store->maintenance().value().merges, 0u);
  const auto last = docs->Pin().value();
  EXPECT_OK(store->Close());
  EXPECT_EQ(Torn(*last), "") << "a version outlives its store";
}

class MergeThreads : public ::testing::TestWithParam<uint32_t> {};

TEST_P(MergeThreads, ReadersSeeWholeVersionsWhileMergesReplaceSegments) {
  StoreOptions options;
  options.flush_rows_max = 50;
  options.background_threads = GetParam();
  const uint64_t operations = kIsSanitized ? 200 : 600;
  {
    MemoryFileSystem files;
    RunThreads(Store::Open("db", options, &files).value(), 1 + GetParam(), operations);
  }
  TemporaryDirectory directory;
  const std::string path = directory / "db";
  RunThreads(Store::Open(path, options).value(), 11 + GetParam(), operations / 3);
  const auto again = Store::Open(path, options).value();
  EXPECT_EQ(Torn(**again->GetCollection({}, "docs").value()->Pin()), "");
}

// The nice values of the threads of this process with this name.
std::vector<int> NiceOfThreads(const std::string& name) {
  std::vector<int> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string its_name;
    std::getline(std::ifstream(task.path() / "comm"), its_name);
    const auto thread = static_cast<id_t>(std::stoul(task.path().filename().string()));
    if (its_name == name) found.push_back(getpriority(PRIO_PROCESS, thread));
  }
  return found;
}

TEST(MergeThreadsOfAStore, GiveWayToTheOthers) {
  StoreOptions options;
  options.flush_rows_max = 50;
  options.background_threads = 2;
  MemoryFileSystem files;
  const auto store = Store::Open("db", options, &files).value();
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  std::mt19937_64 random(1);
  while (store->maintenance().value().merges == 0) ASSERT_OK(docs->Write(RandomBatch(random, 0)));
  const std::vector<int> expected(2, std::min(getpriority(PRIO_PROCESS, 0) + 10, 19));
  std::vector<int> nice;
  for (int tries = 0; tries < 1000 && nice != expected; ++tries) {  // the second may just begin
    nice = NiceOfThreads("pigment-merge");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(nice, expected);
}

INSTANTIATE_TEST_SUITE_P(Threads, MergeThreads, ::testing::Values(0u, 1u, 3u));

}  // namespace
}  // namespace pigment
