// SPDX-License-Identifier: Apache-2.0
//
// Workloads of the crash harness.

#include "tests/support/crash_workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "tests/support/seeded_entropy.h"

namespace pigment {
namespace {

using Op = StoreOperation;

// Segments, one of them with deletions; more in the log; and a cold collection.
const std::vector<Op> kSmallStore = {Op::kCreate, Op::kAdd,    Op::kAdd,   Op::kFlush,
                                     Op::kDelete, Op::kUpsert, Op::kFlush, Op::kDelete,
                                     Op::kUpsert, Op::kCreate, Op::kAdd};

struct Start {
  CrashTree tree;
  StoreModelRef model = std::make_shared<const StoreModel>();
};

std::string MakeSmallStore(CrashExplorer& explorer, Start* small) {
  const Start empty;
  const std::string error =
      explorer.Build({.tree = &empty.tree, .model = empty.model, .operations = kSmallStore},
                     &small->tree, &small->model);
  return error.empty() ? "" : "the small store: " + error;
}

// All sequences of `length` operations, in order; the first failure, or empty.
template <typename Function>
std::string ForEachSequence(size_t length, const Function& function) {
  std::vector<size_t> digits(length, 0);
  for (;;) {
    std::vector<Op> operations;
    for (const size_t digit : digits) operations.push_back(static_cast<Op>(digit));
    if (std::string error = function(std::move(operations)); !error.empty()) return error;
    size_t at = length;
    while (at > 0 && ++digits[at - 1] == kStoreOperations) digits[--at] = 0;
    if (at == 0) return "";
  }
}

// Chooses a part of something: the same for the same effort.
class RandomShare {
 public:
  explicit RandomShare(double effort) : effort_(effort) {}
  bool Takes() {
    return effort_ >= 1 || std::uniform_real_distribution<double>()(random_) < effort_;
  }

 private:
  const double effort_;
  std::mt19937_64 random_{1};
};

}  // namespace

CrashExplorerOptions SmallStore(SyncMode mode) {
  CrashExplorerOptions options;
  options.store.sync_mode = mode;
  options.store.flush_rows_max = 12;
  options.store.index_rows_min = 16;
  options.store.cluster_rows_min = 8;
  options.store.log_file_bytes_max = 900;
  options.store.background_threads = 0;
  // The sweep over the log has a reserve: here its bytes would only be copied.
  options.store.reserve_bytes = 0;
  return options;
}

std::string ExploreShortHistories(CrashExplorer& explorer, double effort) {
  const Start empty;
  Start small;
  if (std::string error = MakeSmallStore(explorer, &small); !error.empty()) return error;
  constexpr double kShareOfLongest = 0.4;
  RandomShare share(effort), share_of_longest(effort * kShareOfLongest);
  for (const Start* start : {&empty, static_cast<const Start*>(&small)}) {
    for (size_t length = 0; length <= 3; ++length) {
      std::string error = ForEachSequence(length, [&](std::vector<Op> operations) {
        if (!(length == 3 ? share_of_longest : share).Takes()) return std::string();
        return explorer.Explore({.tree = &start->tree,
                                 .model = start->model,
                                 .operations = std::move(operations),
                                 .first_cut = length > 0 ? length - 1 : 0,
                                 .is_brief = length > 1});
      });
      if (!error.empty()) return error;
    }
  }
  return "";
}

std::string ExploreLongHistories(CrashExplorer& explorer, uint64_t count, uint64_t seed,
                                 size_t operations_max) {
  Start small;
  if (std::string error = MakeSmallStore(explorer, &small); !error.empty()) return error;
  for (uint64_t history = 0; history < count; ++history) {
    std::mt19937_64 random(seed + history);
    std::vector<Op> operations(operations_max / 3 + random() % (operations_max * 2 / 3 + 1));
    for (Op& operation : operations) {
      // Half of them writes, so that there is something to lose.
      operation = static_cast<Op>(random() % 2 == 0 ? random() % 4 : random() % kStoreOperations);
    }
    std::string error = explorer.Explore({.tree = &small.tree,
                                          .model = small.model,
                                          .operations = std::move(operations),
                                          .seed = seed + history,
                                          .is_brief = true});
    if (!error.empty()) return error;
  }
  return "";
}

namespace {

enum class Failing { kSync, kWrite };

// One history, in which each sync or write that the share takes fails once.
std::string FailEach(CrashExplorer& explorer, const Start& small, std::vector<Op> operations,
                     Failing failing, RandomShare& share, uint64_t seed = 1) {
  // What follows must be safe again.
  operations.insert(operations.end(), {Op::kUpsert, Op::kDelete, Op::kReopen, Op::kAdd});
  CrashTree tree;
  StoreModelRef model;
  CrashExplorer::Workload workload{.tree = &small.tree,
                                   .model = small.model,
                                   .operations = std::move(operations),
                                   .seed = seed,
                                   .is_brief = true};
  std::string error = explorer.Build(workload, &tree, &model);
  const uint64_t all = failing == Failing::kSync ? explorer.last_syncs() : explorer.last_writes();
  uint64_t& at = failing == Failing::kSync ? workload.fail_sync : workload.fail_write;
  for (at = 1; at <= all && error.empty(); ++at) {
    if (share.Takes()) error = explorer.Explore(workload);
  }
  return error;
}

}  // namespace

std::string ExploreRareHistories(CrashExplorer& explorer, double effort) {
  Start small;
  if (std::string error = MakeSmallStore(explorer, &small); !error.empty()) return error;
  // Collections that nobody uses while the log is purged more than once.
  std::vector<Op> unused = {Op::kAdd, Op::kCreate, Op::kAdd, Op::kKill};
  unused.insert(unused.end(), 12, Op::kUpdate);
  std::string error = explorer.Explore({.tree = &small.tree,
                                        .model = small.model,
                                        .operations = std::move(unused),
                                        .is_brief = true});
  if (!error.empty()) return error;
  // A fork is left alone on a shelf.
  const Start empty;
  error = explorer.Explore({.tree = &empty.tree,
                            .model = empty.model,
                            .operations = {Op::kCreate, Op::kAdd, Op::kReopen, Op::kFork,
                                           Op::kUpdate, Op::kFlush, Op::kReopen},
                            .is_brief = true});
  if (!error.empty()) return error;
  // A flush comes during a merge and fails to sync the folder: the name of the merge's file, made
  // before, is lost with it, though the next sync succeeds.
  RandomShare share(effort);
  error = FailEach(explorer, small, {Op::kUpdate, Op::kCompactBusy}, Failing::kSync, share);
  if (!error.empty()) return error;
  // Writes fail as well, those of segments, deletions and edits among them.
  return FailEach(explorer, small, {Op::kUpdate, Op::kFlush, Op::kDelete, Op::kCompact},
                  Failing::kWrite, share);
}

std::string ExploreUnsyncedWriters(uint64_t histories, uint64_t* states) {
  CrashExplorerOptions options = SmallStore(SyncMode::kOff);
  options.store.log_file_bytes_max = 4000;  // the end of a file is a sync
  options.nested_one_in = 10;
  options.written_one_in = 4;
  CrashExplorer explorer(options);
  Start small;
  if (std::string error = MakeSmallStore(explorer, &small); !error.empty()) return error;
  const std::vector<Op> killed = {Op::kUpsert, Op::kDelete, Op::kDelete, Op::kKill};
  // The largest collection grows full and is flushed; what the newest one was given before is not.
  std::vector<Op> flushed = {Op::kCreate, Op::kUpsert};
  flushed.insert(flushed.end(), 8, Op::kUpdate);
  std::string error;
  for (uint64_t seed = 1; seed <= histories && error.empty(); ++seed) {
    error = explorer.Explore({.tree = &small.tree,
                              .model = small.model,
                              .operations = seed % 2 == 1 ? killed : flushed,
                              .first_cut = 3,
                              .seed = seed,
                              .is_brief = true});
  }
  *states += explorer.counts().states + explorer.counts().nested;
  return error;
}

std::string ExploreFailedSyncs(CrashExplorer& explorer, double effort, uint64_t seed) {
  Start small;
  if (std::string error = MakeSmallStore(explorer, &small); !error.empty()) return error;
  RandomShare share(effort);
  for (size_t length = 0; length <= 2; ++length) {
    std::string error = ForEachSequence(length, [&](std::vector<Op> operations) {
      return FailEach(explorer, small, std::move(operations), Failing::kSync, share, seed);
    });
    if (!error.empty()) return error;
  }
  return "";
}

// ---- Damage ------------------------------------------------------------------------------------

namespace {

constexpr uint64_t kBlock = 8192;

class Damager {
 public:
  Damager(const CrashTree& tree, const CrashTree& twin, const StoreOptions& options, Hash128 answer,
          double effort, uint64_t* looks)
      : tree_(tree),
        twin_(twin),
        options_(options),
        answer_(answer),
        share_(effort),
        padding_share_(effort / 20),
        looks_(*looks) {
    options_.create = false;
  }

  std::string Run() {
    std::string error;
    for (const auto& [path, bytes] : tree_.names) {
      if (!bytes || bytes->size() == 0) continue;
      if (error = Flips(path, *bytes); !error.empty()) return error;
      if (error = Blocks(path, *bytes); !error.empty()) return error;
      if (error = Files(path); !error.empty()) return error;
    }
    return "";
  }

 private:
  std::string Flips(const std::string& path, const CrashBytes& bytes) {
    std::vector<std::byte> all(bytes.size());
    bytes.Read(0, all);
    for (uint64_t at = 0; at < all.size(); ++at) {
      // Most bytes of a block are padding: they are looked at, but not often.
      const bool is_padding = all[at] == std::byte{0} && at % 97 != 0;
      if (is_padding ? !padding_share_.Takes() : !share_.Takes()) continue;
      CrashBytes damaged = bytes;
      const std::byte byte = all[at] ^ static_cast<std::byte>(1 << at % 8);
      damaged.Write(at, {&byte, 1});
      if (std::string error = Look(path, damaged, "a flipped bit at " + std::to_string(at));
          !error.empty()) {
        return error;
      }
    }
    return "";
  }

  std::string Blocks(const std::string& path, const CrashBytes& bytes) {
    if (bytes.size() < 2 * kBlock) return "";
    for (const auto& [other_path, other] : tree_.names) {
      if (!other || other->size() < 2 * kBlock) continue;
      for (uint64_t to = 0; to + kBlock <= bytes.size(); to += kBlock) {
        for (uint64_t from = 0; from + kBlock <= other->size(); from += kBlock) {
          if (bytes.size() > kManyBlocks * kBlock && !block_share_.Takes()) continue;
          CrashBytes damaged = bytes;
          std::vector<std::byte> block(kBlock);
          other->Read(from, block);
          damaged.Write(to, block);
          if (std::string error = Look(path, damaged,
                                       "block " + std::to_string(from / kBlock) + " of " +
                                           other_path + " at block " + std::to_string(to / kBlock));
              !error.empty()) {
            return error;
          }
        }
      }
    }
    return "";
  }

  // Another file in its place: of another number, or of the same name in another store; or none.
  std::string Files(const std::string& path) {
    const auto kind = [](const std::string& name) { return name.substr(name.rfind('.') + 1); };
    for (const auto& [other_path, other] : tree_.names) {
      if (!other || other_path == path || kind(other_path) != kind(path)) continue;
      if (std::string error = Look(path, *other, other_path + " in its place"); !error.empty())
        return error;
    }
    const auto twin = twin_.names.find(path);
    if (twin != twin_.names.end() && twin->second) {
      if (std::string error = Look(path, *twin->second, "that of another store in its place");
          !error.empty()) {
        return error;
      }
    }
    // What the last file of a log held cannot be told from what was never written.
    const bool is_last_log = path.ends_with(".log") && LastLog() == path;
    if (is_last_log) return "";
    CrashTree without = tree_;
    without.names.erase(path);
    return LookAt(without, path + " is missing");
  }

  std::string LastLog() const {
    std::string last;
    for (const auto& [path, bytes] : tree_.names) {
      if (path.ends_with(".log")) last = path;
    }
    return last;
  }

  std::string Look(const std::string& path, const CrashBytes& damaged, const std::string& what) {
    CrashTree tree = tree_;
    tree.names[path] = std::make_shared<const CrashBytes>(damaged);
    return LookAt(tree, path + ": " + what);
  }

  std::string LookAt(const CrashTree& tree, const std::string& what) {
    ++looks_;
    CrashFileSystem files(tree);
    const auto store = Store::Open("db", options_, &files);
    if (!store.ok()) return "";
    const Result<Hash128> answer = DigestOfStore(**store, false);
    if (!answer.ok() || *answer == answer_) return "";
    return what + ": nobody notices, and the answers are others";
  }

  const CrashTree& tree_;
  const CrashTree& twin_;
  StoreOptions options_;
  const Hash128 answer_;
  static constexpr uint64_t kManyBlocks = 4;
  RandomShare share_, padding_share_, block_share_{0.25};
  uint64_t& looks_;
};

}  // namespace

namespace {

// Two segments in which each part has a block of its own.
std::string MakeLargerStore(const CrashExplorerOptions& options, uint64_t seed, Start* larger,
                            Hash128* answer) {
  constexpr int kRows = 1200;
  const SeededEntropy entropy(seed);
  CrashFileSystem files{CrashTree()};
  const auto write = [&]() -> Status {
    PIGMENT_ASSIGN_OR_RETURN(const auto store, Store::Open("db", options.store, &files));
    PIGMENT_ASSIGN_OR_RETURN(const auto docs, store->CreateCollection(EntryNamed("docs")));
    BatchMaker maker(seed, 2, 1000);
    for (int segment = 0; segment < 2; ++segment) {
      WriteBatch batch;
      batch.kind = WriteKind::kAdd;
      batch.dimension = 2;
      for (int row = 0; row < kRows; ++row) {
        batch.ids.push_back(std::to_string(segment * kRows + row));
        for (const float number : maker.Vector()) batch.embeddings.push_back(number);
        batch.documents.emplace_back(std::to_string(maker.Below(1000000000)));
        batch.metadatas.emplace_back(Metadata{{"a", static_cast<int64_t>(maker.Below(4))}});
      }
      PIGMENT_RETURN_IF_ERROR(docs->Write(std::move(batch)).status());
      PIGMENT_RETURN_IF_ERROR(docs->Flush());
    }
    PIGMENT_ASSIGN_OR_RETURN(*answer, DigestOfStore(*store));
    return store->Close();
  };
  const Status status = write();
  larger->tree = files.Now();
  return status.ok() ? "" : "the larger store: " + status.ToString();
}

}  // namespace

std::string ExploreFailedWrites() {
  // More than the buffer in front of a segment file (1 MiB) holds: of vectors, which nothing but
  // their bytes is made of.
  constexpr uint32_t kRows = 300;
  constexpr uint32_t kDimension = 2000;
  CrashExplorerOptions options = SmallStore(SyncMode::kFull);
  options.store.log_file_bytes_max = StoreOptions().log_file_bytes_max;
  options.store.flush_rows_max = 1000;
  options.store.index_rows_min = options.store.cluster_rows_min = kRows + 1;
  std::mt19937_64 random(1);
  WriteBatch batch;
  batch.kind = WriteKind::kAdd;
  batch.dimension = kDimension;
  for (uint32_t row = 0; row < kRows; ++row) batch.ids.push_back(std::to_string(row));
  for (uint32_t i = 0; i < kRows * kDimension; ++i)
    batch.embeddings.push_back(static_cast<float>(random() % 65536));
  for (uint64_t at = 1;; ++at) {
    const SeededEntropy entropy(at);
    CrashFileSystem files{CrashTree()};
    bool is_promised = false;
    const auto write = [&]() -> Status {
      PIGMENT_ASSIGN_OR_RETURN(const auto store, Store::Open("db", options.store, &files));
      PIGMENT_ASSIGN_OR_RETURN(const auto docs, store->CreateCollection(EntryNamed("docs")));
      files.FailWrite(at);
      PIGMENT_RETURN_IF_ERROR(docs->Write(batch).status());
      is_promised = true;
      PIGMENT_RETURN_IF_ERROR(docs->Flush());
      return store->Close();
    };
    const Status status = write();
    files.FailWrite(0);
    const std::string what = fmt::format("write {} of a large segment fails: ", at);
    const auto store = Store::Open("db", options.store, &files);
    if (!store.ok()) return what + store.status().ToString();
    if (is_promised) {
      const auto docs = (*store)->GetCollection({}, "docs");
      if (!docs.ok()) return what + docs.status().ToString();
      const auto version = (*docs)->Pin();
      if (!version.ok()) return what + version.status().ToString();
      GetRequest request;
      request.read.include.embeddings = true;
      const auto all = Get(**version, request);
      if (!all.ok()) return what + all.status().ToString();
      if (IdsOf(all->ids) != batch.ids) return what + "records are lost";
      if (all->embeddings != batch.embeddings) return what + "a vector is another";
    }
    if (status.ok()) return at > 3 ? "" : "no write failed";
    if (at == 100) return what + status.ToString();  // another reason than that write
  }
}

std::string ExploreDamage(double effort, uint64_t* looks) {
  const CrashExplorerOptions with_segments = SmallStore(SyncMode::kFull);
  CrashExplorerOptions in_its_log = with_segments;
  in_its_log.store.flush_rows_max = 1000;
  in_its_log.store.log_file_bytes_max = StoreOptions().log_file_bytes_max;
  // Each open begins a file of the log.
  const std::vector<Op> log_files = {Op::kCreate, Op::kAdd,    Op::kReopen, Op::kUpsert,
                                     Op::kReopen, Op::kDelete, Op::kReopen, Op::kAdd};
  const Start empty;
  const auto explore = [&](const CrashExplorerOptions& options, const std::vector<Op>& operations) {
    CrashExplorer explorer(options);
    Start store, twin;
    CrashExplorer::Workload workload{
        .tree = &empty.tree, .model = empty.model, .operations = operations};
    std::string error = explorer.Build(workload, &store.tree, &store.model);
    if (!error.empty()) return error;
    workload.seed = 2;
    error = explorer.Build(workload, &twin.tree, &twin.model);
    if (!error.empty()) return error;
    return Damager(store.tree, twin.tree, options.store, store.model->digest(),
                   std::max(effort, 0.02), looks)
        .Run();
  };
  std::string error = explore(with_segments, kSmallStore);
  if (error.empty()) error = explore(in_its_log, log_files);
  if (!error.empty()) return error;
  Start larger, twin;
  Hash128 answer, other_answer;
  error = MakeLargerStore(in_its_log, 1, &larger, &answer);
  if (error.empty()) error = MakeLargerStore(in_its_log, 2, &twin, &other_answer);
  if (!error.empty()) return error;
  return Damager(larger.tree, twin.tree, in_its_log.store, answer, std::max(effort, 0.02) / 20,
                 looks)
      .Run();
}

}  // namespace pigment
