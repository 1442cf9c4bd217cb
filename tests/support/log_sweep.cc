// SPDX-License-Identifier: Apache-2.0
//
// DifferenceOfLog.

#include "tests/support/log_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/memory_files.h"
#include "engine/log/log.h"

namespace pigment {
namespace {

using Keep = PowerCut::Keep;

constexpr std::array<std::byte, 16> kStore = {std::byte{5}, std::byte{6}};
constexpr uint64_t kReserveBytes = 6000;

class LogLives {
 public:
  explicit LogLives(uint64_t seed) : random_(seed) {
    Ignore(files_.MakeDirectory("db"));
    Ignore(files_.SyncDirectory("."));
    options_.sync_mode = Draw(3) == 0 ? SyncMode::kOff : SyncMode::kFull;
    options_.file_bytes_max = 200 + Draw(2000);
    options_.is_erasing = Draw(2) == 0;
    has_reserve_ = Draw(2) == 0;
  }

  std::string Run() {
    for (int life = 0; life < 6 && difference_.empty(); ++life) Live();
    if (difference_.empty()) OpenAndCompare();
    return difference_;
  }

 private:
  static void Ignore(const Status& status) { static_cast<void>(status.ok()); }
  uint64_t Draw(uint64_t below) { return random_() % below; }
  void Differ(std::string text) {
    if (difference_.empty()) difference_ = std::move(text);
  }

  Status Open() {
    log_.reset();
    applied_.clear();
    open_floor_ = floor_;
    reserve_ = std::make_unique<DiskReserve>(&files_, "db", has_reserve_ ? kReserveBytes : 0);
    PIGMENT_RETURN_IF_ERROR(reserve_->Open());
    options_.reserve = reserve_.get();
    auto opened = Log::Open(&files_, "db/log", kStore, floor_, options_,
                            [this](uint64_t position, std::span<const std::byte> payload) {
                              if (position != open_floor_ + applied_.size() + 1)
                                Differ(fmt::format("position {} comes out of order", position));
                              applied_.emplace_back(AsText(payload));
                              return Status::Ok();
                            });
    PIGMENT_RETURN_IF_ERROR(opened.status());
    log_ = *std::move(opened);
    return Status::Ok();
  }

  // What must be there is there, in order, and nothing that was refused.
  void OpenAndCompare() {
    const Status status = Open();
    if (!status.ok()) return Differ("does not open: " + status.ToString());
    const size_t count = floor_ + applied_.size();
    if (count < promised_)
      return Differ(fmt::format("{} of {} promised batches are there", count, promised_));
    if (count > issued_.size())
      return Differ(fmt::format("{} batches are there, {} were issued", count, issued_.size()));
    if (!std::equal(applied_.begin(), applied_.end(),
                    issued_.begin() + static_cast<ptrdiff_t>(floor_))) {
      return Differ("a batch is there that was not issued in its place");
    }
    issued_.resize(count);
    promised_ = count;  // what was seen once stays
    acknowledged_ = count;
    is_poisoned_ = refused_insert_ = false;
  }

  void Live() {
    OpenAndCompare();
    if (!difference_.empty()) return;
    if (Draw(4) == 0) {  // recovery is all that this life does
      CutPower();
      return;
    }
    const bool is_stopping = Draw(2) == 0;
    if (is_stopping) files_.StopAt(1 + Draw(60));
    if (!is_stopping && Draw(3) == 0) {
      files_.SetFault(FileFault{.operations = static_cast<uint32_t>(
                                    Draw(2) == 0 ? FileOperation::kSync : FileOperation::kWrite),
                                .at = 1 + Draw(12),
                                .is_partial = Draw(2) == 0});
    }
    if (Draw(5) == 0) {  // a full disk that takes a part of each write, whole records among it
      files_.SetFault(FileFault{.operations = static_cast<uint32_t>(FileOperation::kWrite),
                                .at = 1 + Draw(12),
                                .forever = true,
                                .error = ResourceExhausted(Detail::kDiskFull, "simulated"),
                                .is_partial = true});
    }
    if (Draw(3) == 0) files_.SetCapacity(files_.used_bytes() + Draw(3000));
    for (uint64_t step = 0, steps = Draw(25); step < steps && difference_.empty(); ++step) Step();
    const bool is_undisturbed = Draw(2) == 0;  // the mark that proves the end is written for certain
    if (is_undisturbed) {
      files_.StopAt(0);
      files_.SetFault(std::nullopt);
      files_.SetCapacity(0);
    }
    const bool is_closed = Draw(3) == 0 && !files_.is_stopped() && log_->Close().ok();
    if (is_closed) promised_ = acknowledged_;
    if (is_closed && is_undisturbed && difference_.empty()) Damage();
    CutPower();
  }

  void CutPower() {
    constexpr Keep kKeeps[] = {Keep::kNothing, Keep::kEverything, Keep::kPrefix, Keep::kRandom};
    const Keep keep = kKeeps[Draw(4)];
    if (keep == Keep::kEverything) promised_ = acknowledged_;  // a process died, no machine
    files_.CutPower({.keep = keep, .seed = random_()});
    files_.SetCapacity(0);
  }

  void Step() {
    switch (Draw(12)) {
      case 0:
        if (log_->Rotate().ok()) promised_ = acknowledged_;
        break;
      case 1:
        if (log_->Sync().ok()) promised_ = acknowledged_;
        break;
      case 2:
        // Whoever asks for a purge has made its floor durable, and what it covers.
        floor_ += Draw(std::max<uint64_t>(promised_, floor_) - floor_ + 1);
        Ignore(log_->Purge(floor_));
        break;
      case 3:
        if (Draw(4) == 0) files_.SetCapacity(0);  // space returns
        break;
      default:
        Write();
    }
  }

  void Write() {
    const bool may_use_reserve = Draw(3) == 0;
    const std::string payload =
        fmt::format("{} {}", may_use_reserve ? "delete" : "insert", ++serial_) +
        std::string(may_use_reserve ? 0 : Draw(200), '-');
    const bool was_held = reserve_->is_held();
    const bool was_refused = refused_insert_;
    const uint64_t faults = files_.faults_met();
    const Result<uint64_t> position = log_->Append({.payload = AsBytes(payload),
                                                    .check = {},
                                                    .refused = {},
                                                    .may_use_reserve = may_use_reserve});
    const bool is_disturbed = files_.is_stopped() || files_.faults_met() != faults || is_poisoned_;
    if (position.ok()) {
      if (is_poisoned_) Differ("a poisoned log took a batch");
      if (*position != acknowledged_ + 1)
        Differ(fmt::format("a batch was given position {} after {}", *position, acknowledged_));
      issued_.resize(acknowledged_);
      issued_.push_back(payload);
      ++acknowledged_;
      if (options_.sync_mode == SyncMode::kFull) promised_ = acknowledged_;
      if (!may_use_reserve && !reserve_->is_held())
        Differ("an insert used up what deletes were given");
    } else if (!log_->statistics().poison.ok()) {
      // It may be there; nothing after it may.
      if (!is_poisoned_) issued_.push_back(payload);
      is_poisoned_ = true;
    } else if (position.status().detail() == Detail::kDiskFull && may_use_reserve && has_reserve_ && was_held && was_refused && !is_disturbed) {
      Differ("the reserve did not let a delete through");
    }
    refused_insert_ = !position.ok() && !may_use_reserve;
  }

  // A byte of what a closed log holds is changed: an error, or all that was promised.
  void Damage() {
    log_.reset();
    const auto names = files_.List("db/log");
    if (!names.ok() || names->empty()) return;
    const std::string path = "db/log/" + (*names)[Draw(names->size())];
    const auto file = files_.Open(path, OpenMode::kReadWrite);
    if (!file.ok()) return;
    const Result<uint64_t> size = (*file)->Size();
    if (!size.ok() || *size <= 64) return;
    const uint64_t at = 64 + Draw(*size - 64);
    std::array<std::byte, 1> byte;
    if (!(*file)->ReadAt(at, byte).ok()) return;
    const std::array<std::byte, 1> changed = {byte[0] ^ std::byte{16}};
    if (!(*file)->WriteAt(at, changed).ok()) return;
    LogOptions reading = options_;
    reading.read_only = true;
    uint64_t last = floor_;
    const auto reader =
        Log::Open(&files_, "db/log", kStore, floor_, reading, [&](uint64_t position, auto) {
          last = position;
          return Status::Ok();
        });
    if (reader.ok() && last < promised_)
      Differ(fmt::format("damage of {} at {} cut off what was proven", path, at));
    Ignore((*file)->WriteAt(at, byte));
    Ignore((*file)->Sync());
  }

  std::mt19937_64 random_;
  MemoryFileSystem files_{MemoryFileSystem::Kind::kSimulated};
  LogOptions options_;
  bool has_reserve_ = false;
  std::vector<std::string> issued_;  // position p is issued_[p - 1]; the last may be unknown
  uint64_t acknowledged_ = 0;
  uint64_t promised_ = 0;
  uint64_t floor_ = 0;
  uint64_t open_floor_ = 0;
  uint64_t serial_ = 0;
  bool is_poisoned_ = false;
  bool refused_insert_ = false;
  std::vector<std::string> applied_;
  std::string difference_;
  std::unique_ptr<DiskReserve> reserve_;
  std::unique_ptr<Log> log_;
};

}  // namespace

std::string DifferenceOfLog(uint64_t seed) { return LogLives(seed).Run(); }

}  // namespace pigment
