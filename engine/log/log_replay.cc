// SPDX-License-Identifier: Apache-2.0
//
// ReplayLog. A file counts up to the first position of the next one: what lies beyond was written
// again there, or was a torn tail.

#include "engine/log/log_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"
#include "engine/base/record_framing.h"

namespace pigment {
namespace {

constexpr std::string_view kSuffix = ".log";
constexpr size_t kDigits = 10;

std::optional<uint64_t> NumberOfName(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number == 0) return std::nullopt;
  if (name.size() < kDigits || LogFileName(number) != fmt::format("{}{}", name, kSuffix))
    return std::nullopt;
  return number;
}

class Replayer {
 public:
  Replayer(FileSystem* files, const std::string& directory, const std::array<std::byte, 16>& store,
           uint64_t floor, const Log::Apply& apply)
      : files_(files), directory_(directory), store_(store), floor_(floor), apply_(apply) {}

  Result<LogReplay> Run() {
    PIGMENT_RETURN_IF_ERROR(ReadHeaders());
    PIGMENT_RETURN_IF_ERROR(CheckBeginning());
    for (size_t i = 0; i + 1 < headers_.size(); ++i)
      PIGMENT_RETURN_IF_ERROR(ReadClosedFile(headers_[i], headers_[i + 1]));
    if (!headers_.empty()) PIGMENT_RETURN_IF_ERROR(ReadLastFile(headers_.back()));
    if (floor_ != kNothingNeeded) replay_.last_position = std::max(replay_.last_position, floor_);
    return std::move(replay_);
  }

 private:
  std::string PathOf(const FramedHeader& header) const {
    return directory_ + "/" + LogFileName(header.number);
  }

  Status ReadHeaders() {
    PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->List(directory_));
    std::vector<uint64_t> numbers;
    for (const std::string& name : names) {
      if (const std::optional<uint64_t> number = NumberOfName(name)) numbers.push_back(*number);
    }
    std::sort(numbers.begin(), numbers.end());
    for (const uint64_t number : numbers) {
      const Result<uint64_t> bytes = ReadHeader(number);
      // Purged since it was listed. If it was needed, the others do not fit together.
      if (bytes.status().code() == Code::kNotFound) continue;
      PIGMENT_RETURN_IF_ERROR(bytes.status());
      const FramedHeader& header = headers_.back();
      replay_.files.push_back(
          {.number = number, .first_position = header.first_position, .bytes = *bytes});
      replay_.next_number = PIGMENT_PLANTED(kLogReusesNumber) ? number : number + 1;
      if (headers_.size() > 1 &&
          header.first_position < headers_[headers_.size() - 2].first_position) {
        return DataLoss(
            Detail::kMiscounted, PathOf(header), 0,
            fmt::format("{} begins at position {}, the file before it at {}", PathOf(header),
                        header.first_position, headers_[headers_.size() - 2].first_position));
      }
    }
    return Status::Ok();
  }

  // Gives back the file's size.
  Result<uint64_t> ReadHeader(uint64_t number) {
    const std::string path = directory_ + "/" + LogFileName(number);
    PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, files_->Open(path, OpenMode::kRead));
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    std::array<std::byte, kFramedHeaderBytes> bytes{};
    const auto present = std::span(bytes).first(std::min<uint64_t>(size, bytes.size()));
    PIGMENT_RETURN_IF_ERROR(file->ReadAt(0, present));
    PIGMENT_ASSIGN_OR_RETURN(const FramedHeader header,
                             DecodeFramedHeader(present, FramedKind::kLog, kLogVersion, path));
    const bool is_foreign = header.store != store_ && !PIGMENT_PLANTED(kLogOfAnotherStore);
    if (is_foreign || header.number != number) {
      return DataLoss(Detail::kForeign, path, 0,
                      fmt::format("{} is file {} of {} store", path, header.number,
                                  header.store == store_ ? "this" : "another"));
    }
    headers_.push_back(header);
    return size;
  }

  Status CheckBeginning() const {
    if (headers_.empty()) {
      if (floor_ == 0 || floor_ == kNothingNeeded) return Status::Ok();
      return DataLoss(Detail::kMissing, directory_, -1,
                      fmt::format("{} has no log file, but the log had reached position {}",
                                  directory_, floor_));
    }
    if (headers_.front().first_position - 1 <= floor_) return Status::Ok();
    return DataLoss(
        Detail::kMissing, directory_, -1,
        fmt::format("{} begins at position {}, those from {} on are missing",
                    PathOf(headers_.front()), headers_.front().first_position, floor_ + 1));
  }

  Status Visit(const FramedRecord& record) {
    return record.position > floor_ ? apply_(record.position, record.payload) : Status::Ok();
  }

  Status ReadClosedFile(const FramedHeader& header, const FramedHeader& next) {
    if (next.first_position - 1 <= floor_ || next.first_position == header.first_position)
      return Status::Ok();
    const std::string path = PathOf(header);
    PIGMENT_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(files_, path));
    PIGMENT_ASSIGN_OR_RETURN(
        const FramedScan scan,
        ScanRecords(AsBytes(bytes), header, path, next.first_position,
                    [this](const FramedRecord& record) { return Visit(record); }));
    if (scan.next_position == next.first_position) return Status::Ok();
    if (PIGMENT_PLANTED(kLogPassesOverAHole)) return Status::Ok();
    const bool is_file_missing = scan.is_whole && next.number != header.number + 1;
    return DataLoss(
        is_file_missing ? Detail::kMissing
        : scan.is_whole ? Detail::kTruncated
                        : Detail::kChecksum,
        path, static_cast<int64_t>(scan.end),
        fmt::format(
            "{} is damaged at {}: positions {} to {} are not there, and {} proves that they were",
            path, scan.end, scan.next_position, next.first_position - 1, LogFileName(next.number)));
  }

  Status ReadLastFile(const FramedHeader& header) {
    const std::string path = PathOf(header);
    PIGMENT_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(files_, path));
    std::vector<FramedRecord> records;
    PIGMENT_ASSIGN_OR_RETURN(
        const FramedScan scan,
        ScanRecords(AsBytes(bytes), header, path, UINT64_MAX, [&](const FramedRecord& record) {
          records.push_back(record);
          return Visit(record);
        }));
    if (!scan.is_whole) PIGMENT_RETURN_IF_ERROR(CheckTornTail(AsBytes(bytes), header, path, scan));
    const uint64_t proven = std::max(scan.synced, floor_ == kNothingNeeded ? 0 : floor_);
    for (const FramedRecord& record : records) {
      if (record.position > proven && !PIGMENT_PLANTED(kLogTrustsUnproven)) replay_.unproven.emplace_back(AsText(record.payload));
    }
    replay_.last_position = scan.next_position - 1;
    replay_.is_closed = scan.is_closed;
    return Status::Ok();
  }

  FileSystem* const files_;
  const std::string& directory_;
  const std::array<std::byte, 16>& store_;
  const uint64_t floor_;
  const Log::Apply& apply_;
  std::vector<FramedHeader> headers_;
  LogReplay replay_;
};

}  // namespace

std::string LogFileName(uint64_t number) {
  return fmt::format("{:0{}}{}", number, kDigits, kSuffix);
}

Result<LogReplay> ReplayLog(FileSystem* files, const std::string& directory,
                            const std::array<std::byte, 16>& store, uint64_t floor,
                            const Log::Apply& apply) {
  return Replayer(files, directory, store, floor, apply).Run();
}

}  // namespace pigment
