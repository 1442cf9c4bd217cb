// SPDX-License-Identifier: Apache-2.0
//
// The log: every record of every file, also of those that no collection needs any more.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/record_framing.h"
#include "engine/collection/check_files.h"
#include "engine/collection/frozen_store.h"
#include "engine/log/log_range.h"
#include "engine/record/record.h"

namespace pigment {
namespace {

struct LogFileBytes {
  std::string path;
  std::string bytes;
  FramedHeader header;
};

// The file with its header, or nothing when that is damaged.
std::optional<LogFileBytes> ReadLogFile(const CheckedStore& store, uint64_t number,
                                        CheckNotes& notes) {
  LogFileBytes file;
  file.path = store.directory + "/log/" + LogFileName(number);
  Result<std::string> bytes = ReadWholeFile(store.files, file.path);
  if (!bytes.ok()) {
    notes.AddStatus(bytes.status(), "", file.path);
    return std::nullopt;
  }
  file.bytes = *std::move(bytes);
  ++notes.totals().files;
  notes.totals().bytes += file.bytes.size();
  const auto header =
      DecodeFramedHeader(AsBytes(file.bytes), FramedKind::kLog, kLogVersion, file.path);
  if (!header.ok()) {
    notes.AddStatus(header.status(), "", file.path);
    return std::nullopt;
  }
  if (header->number != number || (!store.store.is_nil() && header->store != store.store.bytes)) {
    notes.AddError(Detail::kForeign, "", file.path, 0,
                   fmt::format("{} is file {} of {} store", file.path, header->number,
                               header->store == store.store.bytes ? "this" : "another"));
    return std::nullopt;
  }
  file.header = *header;
  return file;
}

Status CheckBatch(const FramedRecord& record, const std::string& path) {
  constexpr size_t kUuidBytes = 16;
  const auto at = [&](std::string message) {
    return DataLoss(Detail::kMiscounted, path, static_cast<int64_t>(record.end - record.payload.size()),
                    fmt::format("position {}: {}", record.position, message));
  };
  if (record.payload.size() < kUuidBytes) return at("a batch names no collection");
  const auto batch = DecodeWriteBatch(record.payload.subspan(kUuidBytes));
  return batch.ok() ? Status::Ok() : at(batch.status().message());
}

}  // namespace

Status CheckLogFiles(const CheckedStore& store, CheckNotes& notes) {
  const std::string folder = store.directory + "/log";
  const Result<std::vector<uint64_t>> numbers = ListLogFiles(store.files, folder);
  if (!numbers.ok()) {
    notes.AddStatus(numbers.status(), "", folder);
    return Status::Ok();
  }
  uint64_t floor = store.collections != nullptr ? LowestFloor(*store.collections, UINT64_MAX) : 0;
  const bool needs_log = floor != UINT64_MAX && floor != 0;
  uint64_t next = 0;  // the position that must come; 0: any
  store.control.BeginPhase("log", "files", numbers->size());
  for (size_t i = 0; i < numbers->size(); ++i) {
    PIGMENT_RETURN_IF_ERROR(store.control.Check());
    store.control.Advance(1);
    const std::optional<LogFileBytes> file = ReadLogFile(store, (*numbers)[i], notes);
    if (!file) {
      next = 0;
      continue;
    }
    if (next == 0 && i == 0 && store.collections != nullptr && floor != UINT64_MAX &&
        file->header.first_position > floor + 1) {
      notes.AddError(Detail::kMissing, "", folder, -1,
                     fmt::format("{} begins at position {}, those from {} on are missing",
                                 file->path, file->header.first_position, floor + 1));
    }
    if (next != 0 && file->header.first_position > next) {
      notes.AddError(Detail::kMissing, "", folder, -1,
                     fmt::format("positions {} to {} are in no file", next,
                                 file->header.first_position - 1));
    }
    uint64_t limit = store.position ? *store.position + 1 : UINT64_MAX;
    const bool is_last = i + 1 == numbers->size();
    const auto scan = ScanRecords(AsBytes(file->bytes), file->header, file->path, limit,
                                  [&](const FramedRecord& record) {
                                    ++notes.totals().log_batches;
                                    notes.AddStatus(CheckBatch(record, file->path), "");
                                    return Status::Ok();
                                  });
    if (!scan.ok()) {
      notes.AddStatus(scan.status(), "", file->path);
      next = 0;
      continue;
    }
    next = scan->next_position;
    if (!scan->is_whole && scan->next_position < limit && is_last) {
      notes.AddStatus(CheckTornTail(AsBytes(file->bytes), file->header, file->path, *scan), "");
    }
  }
  const uint64_t reached = next != 0 ? next - 1 : 0;
  notes.report().position = store.position.value_or(reached);
  if (numbers->empty() && needs_log) {
    notes.AddError(Detail::kMissing, "", folder, -1,
                   fmt::format("{} has no log file, but the log had reached position {}", folder,
                               floor));
  }
  if (store.position && next != 0 && reached < *store.position) {
    notes.AddError(Detail::kTruncated, "", folder, -1,
                   fmt::format("the log ends at position {}, and {} was acknowledged", reached,
                               *store.position));
  }
  return Status::Ok();
}

}  // namespace pigment
