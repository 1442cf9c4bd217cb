// SPDX-License-Identifier: Apache-2.0
//
// kill -9 of a writing process, again and again, on the real disk: one to four threads, all sync
// modes, writes, flushes, merges and operations on the catalog. Each acknowledgement goes through a
// pipe. After each kill the store must be what some prefix of each thread's operations makes of it,
// with everything that was acknowledged. Each life goes on where the one before it was killed.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/collection/store.h"
#include "tests/process/children.h"
#include "tests/support/effort.h"
#include "tests/support/kill_soon.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

constexpr uint64_t kKills = 2000;
constexpr int kWorkers = 4;  // each with lives and directories of its own
constexpr int kLivesOfADirectory = 20;
constexpr uint32_t kDimension = 3;
constexpr std::chrono::microseconds kDelayMax(4000);

// The collections of one thread: nobody else touches them.
using World = std::map<std::string, CollectionModel>;

struct Acknowledgement {
  uint32_t thread;
  uint32_t operations;  // that this thread has finished
};

// The operations of one thread in one life: the same ones for the child, which does them, and for
// the parent, which only thinks them through (`store` null).
class Operations {
 public:
  Operations(uint64_t seed, uint32_t thread, World* world, Store* store)
      : maker_(seed, kDimension, 12),
        prefix_("t" + std::to_string(thread) + "."),
        world_(*world),
        store_(store) {}

  Status Next() {
    const size_t chance = maker_.Below(100);
    if (world_.empty() || (chance < 4 && world_.size() < 3)) return Create();
    const auto chosen =
        std::next(world_.begin(), static_cast<ptrdiff_t>(maker_.Below(world_.size())));
    if (chance < 8) return Delete(chosen->first);
    if (chance < 11) return Rename(chosen->first);
    if (chance < 13) return Fork(chosen->first);
    if (chance < 21) return With(chosen->first, [](Collection& docs) { return docs.Flush(); });
    if (chance < 23) {
      return With(chosen->first, [](Collection& docs) { return docs.Compact().status(); });
    }
    if (chance < 25) return store_ ? (*store_->catalog())->Checkpoint() : Status::Ok();
    const WriteBatch batch = maker_.Batch(5);
    chosen->second.Apply(batch);
    return With(chosen->first, [&](Collection& docs) { return docs.Write(batch).status(); });
  }

 private:
  Status With(const std::string& name, const std::function<Status(Collection&)>& work) {
    if (store_ == nullptr) return Status::Ok();
    PIGMENT_ASSIGN_OR_RETURN(const auto docs, store_->GetCollection({}, name));
    return work(*docs);
  }

  std::string NewName() {
    for (;;) {
      std::string name = prefix_ + std::to_string(maker_.Below(1000));
      if (!world_.contains(name)) return name;
    }
  }

  Status Create() {
    const std::string name = NewName();
    world_.try_emplace(name);
    return store_ ? store_->CreateCollection(EntryNamed(name)).status() : Status::Ok();
  }

  Status Delete(const std::string& name) {
    const std::string gone = name;
    world_.erase(name);
    return store_ ? store_->DeleteCollection({}, gone) : Status::Ok();
  }

  Status Rename(const std::string& name) {
    const std::string old_name = name;
    const std::string new_name = NewName();
    auto node = world_.extract(name);
    node.key() = new_name;
    world_.insert(std::move(node));
    return With(old_name, [&](Collection& docs) {
      return store_->ModifyCollection(docs.entry().id, [&](CollectionEntry& entry) {
        entry.name = new_name;
        return Status::Ok();
      });
    });
  }

  Status Fork(const std::string& name) {
    const std::string copy = NewName();
    world_[copy] = world_.at(name);
    return With(name, [&](Collection& docs) {
      return store_->ForkCollection(docs.entry().id, copy).status();
    });
  }

  BatchMaker maker_;
  const std::string prefix_;
  World& world_;
  Store* const store_;
};

// One directory and what is in it.
struct Scene {
  std::string path;
  StoreOptions options;
  std::vector<World> worlds;  // by thread
};

uint64_t SeedOf(uint64_t seed, uint64_t life, size_t thread) { return seed + life * 16 + thread; }

int WriteUntilKilled(const Scene& scene, uint64_t seed, uint64_t life, int pipe_end) {
  auto store = Store::Open(scene.path, scene.options);
  if (!store.ok()) return 3;
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < scene.worlds.size(); ++thread) {
    threads.emplace_back([&, thread] {
      World world = scene.worlds[thread];
      Operations operations(SeedOf(seed, life, thread), static_cast<uint32_t>(thread), &world,
                            store->get());
      for (uint32_t done = 1;; ++done) {
        if (const Status status = operations.Next(); !status.ok()) {
          std::fprintf(stderr, "operation %u of thread %zu: %s\n", done, thread,
                       status.ToString().c_str());
          _exit(4);
        }
        const Acknowledgement acknowledgement{static_cast<uint32_t>(thread), done};
        if (write(pipe_end, &acknowledgement, sizeof acknowledgement) != sizeof acknowledgement) {
          _exit(5);
        }
      }
    });
  }
  for (;;) pause();
}

// The first difference between a thread's collections and what they must be; empty: none.
std::string DifferenceOf(Store& store, uint32_t thread, const World& world) {
  const std::string prefix = "t" + std::to_string(thread) + ".";
  auto entries = (*store.catalog())
                     ->ListCollections(std::string(kDefaultTenant), std::string(kDefaultDatabase));
  if (!entries.ok()) return entries.status().ToString();
  size_t count = 0;
  for (const CollectionEntry& entry : *entries) {
    if (!entry.name.starts_with(prefix)) continue;
    ++count;
    if (!world.contains(entry.name)) return "there is a collection \"" + entry.name + "\"";
  }
  if (count != world.size()) {
    return std::to_string(count) + " collections, not " + std::to_string(world.size());
  }
  for (const auto& [name, model] : world) {
    auto docs = store.GetCollection({}, name);
    if (!docs.ok()) return docs.status().ToString();
    if (std::string found = DifferenceOfAll(**docs, model); !found.empty()) {
      return name + ": " + found;
    }
    if (model.dimension() == 0) continue;
    auto version = (*docs)->Pin();
    if (!version.ok()) return version.status().ToString();
    const std::vector<float> vector = {0.5, -1, 1};
    QueryRequest request;
    request.embeddings = vector;
    request.queries = 1;
    request.dimension = kDimension;
    request.read.include.distances = true;
    if (std::string found = DifferenceOfQuery(**version, model, request); !found.empty()) {
      return name + ": " + found;
    }
  }
  return "";
}

// Brings the model of each thread to what the killed life made of it.
void FollowLife(Scene& scene, uint64_t seed, uint64_t life,
                const std::vector<uint32_t>& acknowledged) {
  StoreOptions options = scene.options;
  options.read_only = life % 3 == 1;  // the readers' way of recovering, too
  const auto store = Store::Open(scene.path, options);
  if (options.read_only && store.status().code() == Code::kNotFound) {
    ASSERT_EQ(acknowledged, std::vector<uint32_t>(acknowledged.size(), 0));
    return;
  }
  ASSERT_OK(store);
  for (size_t thread = 0; thread < scene.worlds.size(); ++thread) {
    World& world = scene.worlds[thread];
    Operations operations(SeedOf(seed, life, thread), static_cast<uint32_t>(thread), &world,
                          nullptr);
    for (uint32_t done = 0; done < acknowledged[thread]; ++done) ASSERT_OK(operations.Next());
    const auto number = static_cast<uint32_t>(thread);
    const std::string before = DifferenceOf(**store, number, world);
    if (before.empty()) continue;
    // The operation under way at the kill may be there, whole.
    ASSERT_OK(operations.Next());
    ASSERT_EQ(DifferenceOf(**store, number, world), "")
        << "thread " << thread << " after " << acknowledged[thread] << " operations: " << before;
  }
  ASSERT_OK((*store)->Close());
}

Scene NewScene(const std::string& path, std::mt19937_64& random) {
  Scene scene;
  scene.path = path;
  scene.options.sync_mode = random() % 2 == 0   ? SyncMode::kFull
                            : random() % 2 == 0 ? SyncMode::kInterval
                                                : SyncMode::kOff;
  scene.options.sync_interval_ms = 1;
  scene.options.flush_rows_max = 12;
  scene.options.index_rows_min = 30;
  scene.options.cluster_rows_min = 8;
  scene.options.background_threads = random() % 2;
  scene.worlds.resize(1 + random() % 4);
  return scene;
}

// Of all workers together.
struct Counts {
  std::atomic<uint64_t> begun, kills, kills_with_work, operations;
};

// One life and its end. Gives back what was acknowledged by each thread.
std::vector<uint32_t> LiveAndDie(const Scene& scene, uint64_t seed, uint64_t life,
                                 std::mt19937_64& random) {
  std::vector<uint32_t> acknowledged(scene.worlds.size(), 0);
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  Child child([&] { return WriteUntilKilled(scene, seed, life, ends[1]); });
  close(ends[1]);
  KillSoon(child.pid(), ends[0], life, kDelayMax, random);
  const int status = child.Wait();
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself with " << WEXITSTATUS(status);
  Acknowledgement read_back;
  while (read(ends[0], &read_back, sizeof read_back) == sizeof read_back) {
    acknowledged[read_back.thread] = read_back.operations;
  }
  close(ends[0]);
  return acknowledged;
}

void KillAndFollow(uint64_t seed, uint64_t kills, Counts& counts) {
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::unique_ptr<TemporaryDirectory> directory;
  Scene scene;
  for (uint64_t life = 0; counts.begun.fetch_add(1) < kills; ++life) {
    SCOPED_TRACE("life " + std::to_string(life));
    if (life % kLivesOfADirectory == 0) {
      directory = std::make_unique<TemporaryDirectory>();
      scene = NewScene(*directory / "db", random);
    }
    const std::vector<uint32_t> acknowledged = LiveAndDie(scene, seed, life, random);
    uint64_t operations = 0;
    for (const uint32_t count : acknowledged) operations += count;
    ++counts.kills;
    counts.kills_with_work += operations > 0;
    counts.operations += operations;
    FollowLife(scene, seed, life, acknowledged);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Kill, EveryLifeEndsInAPrefixOfEachThreadThatHasAllItAcknowledged) {
  const auto seed =
      static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const Stopwatch watch;
  Shared<Counts> counts;
  InParallel(kWorkers, [&](int worker) {
    KillAndFollow(seed + static_cast<uint64_t>(worker) * 1'000'003, AtEffort(kKills), *counts);
  });
  ExpectFloor("kills", counts->kills, kKills);
  ExpectFloor("kills of a process that had acknowledged something", counts->kills_with_work,
              kKills / 2 - kWorkers);
  std::printf("kills: %.1f ms each, %llu operations acknowledged\n",
              watch.milliseconds() / static_cast<double>(counts->kills),
              static_cast<unsigned long long>(counts->operations));
}

}  // namespace
}  // namespace pigment
