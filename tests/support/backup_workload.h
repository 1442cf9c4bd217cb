// SPDX-License-Identifier: Apache-2.0
//
// A store whose backup is cut short in every way there is: the power goes at each operation, each
// operation fails, each byte of the source is turned. What a backup promises is checked by one
// function each, which gives the first broken promise as text, so that the same code judges the
// good build and every planted bug. Header only; one thread.

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/memory_files.h"
#include "engine/block/block.h"
#include "engine/collection/store.h"
#include "tests/support/store_model.h"

namespace pigment {

// Fills a collection from `maker` and makes one segment of it, in which each part has blocks of its
// own, as in every store that is not tiny.
inline Result<SegmentDescription> FillManyBlocks(Collection& docs, BatchMaker& maker, int batches,
                                                 CollectionModel& model) {
  for (int i = 0; i < batches; ++i) {
    const WriteBatch batch = maker.Batch(200);
    PIGMENT_RETURN_IF_ERROR(docs.Write(batch).status());
    model.Apply(batch);
  }
  PIGMENT_RETURN_IF_ERROR(docs.Compact().status());
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<SegmentDescription> segments, docs.Segments());
  if (segments.size() != 1 || segments[0].bytes / kBlockBytes <= 20)
    return Internal("not one segment of many blocks");
  return segments[0];
}

// A store in "db" of two collections with segments, deletions and tails, and what it holds.
class BackupWorld {
 public:
  explicit BackupWorld(uint64_t seed, int batches = 24) : maker_(seed, 3, 40) {
    options_.flush_rows_max = 24;
    options_.index_rows_min = 40;
    options_.cluster_rows_min = 16;
    options_.background_threads = 0;
    if (seed % 2 == 1) options_.log_file_bytes_max = 900;  // purges, shelves, several log files
    Reopen();
    for (const char* name : {"busy", "cold"}) store_->CreateCollection(EntryNamed(name)).value();
    for (int i = 0; i < batches; ++i) Write();
    // The cold one has a floor below the other's, and deletions that only its file knows.
    (void)Collection("cold")->Flush().ok();
    Write("cold");
    WriteBatch erase;
    erase.kind = WriteKind::kDelete;
    for (int i = 0; i < 40; i += 3) erase.ids.push_back("id" + std::to_string(i));
    Give("busy", erase);
    (void)Collection("busy")->Flush().ok();
    Write("cold");
    if (seed % 2 == 1) {  // tails go onto a shelf when a store closes
      (void)store_->Close().ok();
      Reopen();
    }
    Write("busy");
  }

  void Reopen() {
    store_.reset();
    store_ = Store::Open("db", options_, &files_).value();
  }
  // After a power cut: everything was acknowledged in full mode.
  void Reboot(const PowerCut& cut) {
    files_.CutPower(cut);
    Reopen();
  }

  void Write(const std::string& name = "") {
    Give(!name.empty() ? name : maker_.Chance(70) ? "busy" : "cold", maker_.Batch(8));
  }

  Result<BackupSummary> Backup(const std::string& path) {
    BackupOptions options;
    options.files = &files_;
    return store_->Backup(path, options);
  }

  // Why the store in `path` is not this one; empty: it is.
  std::string DifferenceOfCopy(const std::string& path) { return DifferenceOf(path, options_); }
  // The same, and the copy stays as it is.
  std::string DifferenceOfCopyReadOnly(const std::string& path) {
    StoreOptions options = options_;
    options.read_only = true;
    return DifferenceOf(path, options);
  }

  // Copies that were judged: a file system with hundreds of them is slow.
  void Remove(const std::string& path) {
    for (const std::string& folder : {path + "/log", path + "/segments", path}) {
      const auto names = files_.List(folder);
      if (!names.ok()) continue;
      for (const std::string& name : *names) (void)files_.Remove(folder + "/" + name).ok();
    }
  }

  bool Opens(const std::string& path) { return Store::Open(path, options_, &files_).ok(); }

  std::shared_ptr<pigment::Collection> Collection(const std::string& name) {
    return store_->GetCollection({}, name).value();
  }
  MemoryFileSystem& files() { return files_; }
  Store& store() { return *store_; }
  BatchMaker& maker() { return maker_; }
  const CollectionModel& model(const std::string& name) { return models_[name]; }

  // What of each id was ever written.
  struct Given {
    std::set<std::vector<float>> embeddings;
    std::set<std::optional<std::string>> documents{std::nullopt};
  };
  std::map<std::string, Given>& given() { return given_; }

 private:
  void Give(const std::string& name, const WriteBatch& batch) {
    Collection(name)->Write(batch).value();
    models_[name].Apply(batch);
    for (size_t row = 0; row < batch.ids.size(); ++row) {
      Given& given = given_[batch.ids[row]];
      if (!batch.embeddings.empty()) {
        const auto begin = batch.embeddings.begin() + static_cast<ptrdiff_t>(row * batch.dimension);
        given.embeddings.insert({begin, begin + batch.dimension});
      }
      if (!batch.documents.empty()) given.documents.insert(batch.documents[row]);
    }
  }

  std::string DifferenceOf(const std::string& path, const StoreOptions& options) {
    const auto copy = Store::Open(path, options, &files_);
    if (!copy.ok()) return "does not open: " + copy.status().ToString();
    if ((*copy)->position() != store_->position()) {
      return "is at position " + std::to_string((*copy)->position()) + ", not " +
             std::to_string(store_->position());
    }
    for (auto& [name, model] : models_) {
      const auto collection = (*copy)->GetCollection({}, name);
      if (!collection.ok()) return collection.status().ToString();
      if (std::string difference = DifferenceOfAll(**collection, model); !difference.empty()) {
        return name + ": " + difference;
      }
    }
    return "";
  }

  MemoryFileSystem files_{MemoryFileSystem::Kind::kSimulated};
  StoreOptions options_;
  BatchMaker maker_;
  std::shared_ptr<Store> store_;
  std::map<std::string, CollectionModel> models_;
  std::map<std::string, Given> given_;
};

struct BackupSweep {
  uint64_t states = 0;
  std::string failure;  // the first broken promise; empty: none
};

// Cuts the power at every `step`-th changing operation of a backup.
inline BackupSweep CutBackups(uint64_t seed, uint64_t step = 1) {
  BackupSweep sweep;
  BackupWorld world(seed);
  const auto fail = [&](uint64_t at, const std::string& what) {
    sweep.failure = "power cut at operation " + std::to_string(at) + ", seed " +
                    std::to_string(seed) + ": " + what;
  };
  static constexpr PowerCut::Keep kKeeps[] = {PowerCut::Keep::kNothing, PowerCut::Keep::kEverything,
                                              PowerCut::Keep::kPrefix, PowerCut::Keep::kRandom};
  bool is_done = false;
  for (uint64_t at = 1; !is_done; at += step) {
    for (const PowerCut::Keep keep : kKeeps) {
      const std::string copy = "copy" + std::to_string(sweep.states++);
      world.files().StopAt(at);
      const bool was_told = world.Backup(copy).ok();
      is_done = is_done || !world.files().is_stopped();
      world.Reboot({.keep = keep, .seed = seed * 1000 + at});
      const bool opens = world.files().Exists(copy + "/CATALOG").value();
      if (was_told && !opens) fail(at, "a backup that was acknowledged is gone");
      if (opens) {
        if (std::string difference = world.DifferenceOfCopy(copy); !difference.empty()) {
          fail(at, "the copy " + difference);
        }
      } else {
        // Unfinished or not begun: the place can be used again.
        if (const auto again = world.Backup(copy); !again.ok()) {
          fail(at, "the next attempt fails: " + again.status().ToString());
        } else if (std::string difference = world.DifferenceOfCopy(copy); !difference.empty()) {
          fail(at, "the next attempt's copy " + difference);
        }
      }
      if (!sweep.failure.empty()) return sweep;
      world.Remove(copy);
    }
  }
  return sweep;
}

// Lets every `step`-th operation of a backup fail, once and for good.
inline BackupSweep FailBackups(uint64_t seed, uint64_t step = 1) {
  BackupSweep sweep;
  BackupWorld world(seed);
  for (const bool forever : {false, true}) {
    for (const Status& error : {Status(Code::kUnavailable, "simulated input/output error"),
                                ResourceExhausted(Detail::kDiskFull, "simulated full disk")}) {
      for (uint64_t at = 1;; at += step) {
        const std::string copy = "copy" + std::to_string(sweep.states++);
        world.files().SetFault(
            FileFault{.at = at, .forever = forever, .error = error, .is_partial = at % 2 == 0});
        const auto backup = world.Backup(copy);
        const bool was_met = world.files().faults_met() > 0;
        world.files().SetFault(std::nullopt);
        std::string what;
        if (backup.ok()) {
          what = world.DifferenceOfCopy(copy);
        } else if (world.files().Exists(copy + "/CATALOG").value()) {
          // It failed behind the last step, and could not be taken back either: then it is whole.
          what = world.DifferenceOfCopy(copy);
        } else if (world.files().Exists(copy + "/BACKUP").value() && world.Opens(copy)) {
          what = "opens as a new store";
        }
        world.Write();  // the source goes on
        if (what.empty() && !backup.ok()) {
          const std::string next = copy + "again";
          if (const auto again = world.Backup(next); !again.ok()) what = again.status().ToString();
          if (what.empty()) what = world.DifferenceOfCopy(next);
        }
        if (!what.empty()) {
          sweep.failure = "fault at operation " + std::to_string(at) + ", seed " +
                          std::to_string(seed) + ": " + what;
          return sweep;
        }
        world.Remove(copy);
        world.Remove(copy + "again");
        if (!was_met) break;
      }
    }
  }
  return sweep;
}

// A turned byte of a format's number is a format that nobody knows.
inline bool IsDamage(const Status& status) {
  return status.code() == Code::kDataLoss || status.code() == Code::kVersionMismatch;
}

// Turns every `step`-th byte of the source's segments: found, or without consequence.
inline BackupSweep DamageBackups(uint64_t seed, uint64_t step) {
  BackupSweep sweep;
  BackupWorld world(seed);
  for (const std::string& name : world.files().List("db/segments").value()) {
    const std::string path = "db/segments/" + name;
    const auto file = world.files().Open(path, OpenMode::kReadWrite).value();
    const uint64_t size = file->Size().value();
    for (uint64_t offset = seed % step; offset < size; offset += step) {
      std::byte byte[1];
      (void)file->ReadAt(offset, byte).ok();
      const std::byte turned[1] = {byte[0] ^ std::byte{0x40}};
      (void)file->WriteAt(offset, turned).ok();
      const std::string copy = "copy" + std::to_string(sweep.states++);
      const auto backup = world.Backup(copy);
      (void)file->WriteAt(offset, byte).ok();
      std::string what;
      if (backup.ok()) {
        what = world.DifferenceOfCopy(copy);
      } else if (!IsDamage(backup.status()) || backup.status().file() != path) {
        what = "refused without naming the file: " + backup.status().ToString();
      }
      world.Remove(copy);
      if (!what.empty()) {
        sweep.failure = path + " turned at " + std::to_string(offset) + ": " + what;
        return sweep;
      }
    }
  }
  return sweep;
}

}  // namespace pigment
