// SPDX-License-Identifier: Apache-2.0
//
// Many threads, and many processes, at the same collections: made once, renamed whole, deleted under
// use, loaded once, shelved while others write.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "engine/query/search.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

WriteBatch Records(const std::vector<std::string>& ids) {
  WriteBatch batch;
  batch.kind = WriteKind::kAdd;
  batch.ids = ids;
  batch.dimension = 2;
  batch.embeddings.assign(2 * ids.size(), 0.5f);
  return batch;
}

template <typename Body>
void InThreads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back([&body, t] { body(t); });
  for (std::thread& thread : threads) thread.join();
}

// What get_or_create is made of.
Result<std::shared_ptr<Collection>> GetOrCreate(Store& store, const std::string& name,
                                                std::atomic<int>* created) {
  for (;;) {
    auto found = store.GetCollection({}, name);
    if (found.ok() || found.status().code() != Code::kNotFound) return found;
    auto made = store.CreateCollection(EntryNamed(name));
    if (made.ok()) ++*created;
    if (made.ok() || made.status().code() != Code::kAlreadyExists) return made;
  }
}

TEST(CollectionRaces, ManyThreadsGetOneCollectionThatIsMadeOnce) {
  MemoryFileSystem files;
  const auto store = Store::Open("db", {}, &files).value();
  for (int round = 0; round < 50; ++round) {
    const std::string name = "c" + std::to_string(round);
    std::atomic<int> created{0};
    InThreads(8, [&](int t) {
      const auto collection = GetOrCreate(*store, name, &created);
      ASSERT_OK(collection);
      ASSERT_OK((*collection)->Write(Records({"from-" + std::to_string(t)})));
    });
    ASSERT_EQ(created, 1);
    ASSERT_EQ(store->GetCollection({}, name).value()->Pin().value()->live_rows, 8u);
  }
}

TEST(CollectionRaces, ManyProcessesGetOneCollectionThatIsMadeOnce) {
  TemporaryDirectory directory;
  const std::string path = directory / "store";
  constexpr int kProcesses = 6;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) {
        const auto store = Store::Open(path, {.background_threads = 0});
        if (store.status().detail() == Detail::kLocked) {
          usleep(500);
          continue;
        }
        std::atomic<int> created{0};
        if (!store.ok()) _exit(100);
        const auto collection = GetOrCreate(**store, "one", &created);
        if (!collection.ok()) _exit(101);
        if (!(*collection)->Write(Records({std::to_string(p)})).ok()) _exit(102);
        if (!(*store)->Close().ok()) _exit(103);
        _exit(created);
      }
    }
    children.push_back(child);
  }
  int created = 0;
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 1) << status;
    created += WEXITSTATUS(status);
  }
  EXPECT_EQ(created, 1);
  const auto store = Store::Open(path, {}).value();
  EXPECT_EQ(store->GetCollection({}, "one").value()->Pin().value()->live_rows, kProcesses);
}

TEST(CollectionRaces, ARenameIsSeenWholeOrNotAtAll) {
  MemoryFileSystem files;
  const auto store = Store::Open("db", {}, &files).value();
  const Uuid id = store->CreateCollection(EntryNamed("left")).value()->entry().id;
  std::atomic<bool> is_done{false};
  std::thread renamer([&] {
    for (int i = 0; i < 400; ++i) {
      ASSERT_OK(store->ModifyCollection(id, [&](CollectionEntry& entry) {
        entry.name = i % 2 == 0 ? "right" : "left";
        return Status::Ok();
      }));
    }
    is_done = true;
  });
  InThreads(2, [&](int) {
    while (!is_done) {
      const auto entries = (*store->catalog())->ListCollections(std::string(kDefaultTenant),
                                                               std::string(kDefaultDatabase));
      ASSERT_OK(entries);
      ASSERT_EQ(entries->size(), 1u);
      ASSERT_TRUE(entries->front().name == "left" || entries->front().name == "right");
      const auto left = store->GetCollection({}, "left");
      if (!left.ok()) continue;
      ASSERT_EQ((*left)->entry().id, id);
    }
  });
  is_done = true;
  renamer.join();
}

TEST(CollectionRaces, ACollectionGoesUnderReadersWritersAndFlushes) {
  MemoryFileSystem files;
  const auto store = Store::Open("db", {.flush_rows_max = 50}, &files).value();
  for (int round = 0; round < 20; ++round) {
    const std::string name = "c" + std::to_string(round);
    const auto collection = store->CreateCollection(EntryNamed(name)).value();
    std::atomic<bool> is_gone{false};
    std::atomic<int> unexpected{0};
    const auto check = [&](const Status& status) {
      if (!status.ok() && status.code() != Code::kNotFound) ++unexpected;
      if (status.ok() && is_gone) ++unexpected;  // only what began before may succeed
      return status.ok();
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0;; ++i) {
          const bool was_gone = is_gone;
          const std::string id = std::to_string(t) + "-" + std::to_string(i);
          const Status status =
              t == 0   ? collection->Write(Records({id, id + "x"})).status()
              : t == 1 ? collection->Flush()
                       : collection->Pin().status();
          if (was_gone) {
            check(status);
            return;
          }
          if (!status.ok() && status.code() != Code::kNotFound) ++unexpected;
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_OK(store->DeleteCollection({}, name));
    is_gone = true;
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(unexpected, 0);
  }
  // A merge that was under way lets go of its inputs when it notices.
  for (int i = 0; i < 5000 && !files.List("db/segments")->empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(files.List("db/segments")->empty());
  ASSERT_OK(store->Close());
}

TEST(CollectionRaces, TheFirstUseByManyThreadsLoadsOnce) {
  MemoryFileSystem files;
  constexpr int kCollections = 80;
  {
    const auto store = Store::Open("db", {}, &files).value();
    for (int i = 0; i < kCollections; ++i)
      ASSERT_OK(store->CreateCollection(EntryNamed(std::to_string(i))).value()->Write(
          Records({"first"})));
    ASSERT_OK(store->Flush());  // to a shelf
    for (int i = 0; i < kCollections; ++i)
      ASSERT_OK(store->GetCollection({}, std::to_string(i)).value()->Write(Records({"second"})));
    ASSERT_OK(store->Close());
  }
  const auto store = Store::Open("db", {}, &files).value();
  EXPECT_EQ(store->loading()->loaded_collections, 0u);
  InThreads(6, [&](int t) {
    for (int i = 0; i < kCollections; ++i) {
      const auto collection = store->GetCollection({}, std::to_string(i)).value();
      ASSERT_OK(collection->Write(Records({"thread-" + std::to_string(t)})));
      ASSERT_GE(collection->Pin().value()->live_rows, 3u);
    }
  });
  for (int i = 0; i < kCollections; ++i)
    ASSERT_EQ(store->GetCollection({}, std::to_string(i)).value()->Pin().value()->live_rows, 8u);
}

TEST(CollectionRaces, ShelvingMeetsWritersReadersForksAndDeletions) {
  MemoryFileSystem files;
  constexpr int kCollections = 120;
  constexpr int kThreads = 3;
  const auto store = Store::Open("db", {}, &files).value();
  for (int i = 0; i < kCollections; ++i)
    ASSERT_OK(store->CreateCollection(EntryNamed(std::to_string(i))));
  std::atomic<bool> is_done{false};
  std::thread shelver([&] {
    while (!is_done) ASSERT_OK(store->Flush());
  });
  InThreads(kThreads, [&](int t) {
    std::mt19937 random(static_cast<unsigned>(t));
    for (int round = 0; round < 8; ++round) {
      for (int i = 0; i < kCollections; ++i) {
        const auto collection = store->GetCollection({}, std::to_string(i)).value();
        const std::string id = std::to_string(t) + "-" + std::to_string(round);
        ASSERT_OK(collection->Write(Records({id})));
        const auto ids = SelectIds(*collection->Pin().value(), {}).value();
        ASSERT_NE(std::find(ids.begin(), ids.end(), id), ids.end());
        if (random() % 40 == 0) {
          const std::string fork = "fork-" + id + "-" + std::to_string(i);
          ASSERT_OK(store->ForkCollection(collection->entry().id, fork));
          ASSERT_GE(store->GetCollection({}, fork).value()->Pin().value()->live_rows, 1u);
          ASSERT_OK(store->DeleteCollection({}, fork));
        }
      }
    }
  });
  is_done = true;
  shelver.join();
  const auto check = [&](Store& checked) {
    for (int i = 0; i < kCollections; ++i)
      ASSERT_EQ(checked.GetCollection({}, std::to_string(i)).value()->Pin().value()->live_rows,
                8u * kThreads)
          << i;
  };
  check(*store);
  ASSERT_OK(store->Close());
  check(*Store::Open("db", {}, &files).value());
}

}  // namespace
}  // namespace pigment
