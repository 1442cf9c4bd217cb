// SPDX-License-Identifier: Apache-2.0
//
// Runs of a log: see the header.

#include "engine/log/log_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"
#include "engine/base/record_framing.h"

namespace pigment {
namespace {

constexpr uint64_t kWriteBytes = 4 << 20;

Result<FramedHeader> ReadHeader(FileSystem* files, const std::string& path, uint64_t number,
                                const std::array<std::byte, 16>& store) {
  PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, files->Open(path, OpenMode::kRead));
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  std::array<std::byte, kFramedHeaderBytes> bytes{};
  const auto present = std::span(bytes).first(std::min<uint64_t>(size, bytes.size()));
  PIGMENT_RETURN_IF_ERROR(file->ReadAt(0, present));
  PIGMENT_ASSIGN_OR_RETURN(const FramedHeader header,
                           DecodeFramedHeader(present, FramedKind::kLog, kLogVersion, path));
  if (header.store != store || header.number != number) {
    return DataLoss(Detail::kForeign, path, 0,
                    fmt::format("{} is file {} of {} store", path, header.number,
                                header.store == store ? "this" : "another"));
  }
  return header;
}

}  // namespace

Result<std::vector<uint64_t>> ListLogFiles(FileSystem* files, const std::string& directory) {
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files->List(directory));
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    uint64_t number = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (parsed.ec == std::errc() && number != 0 && LogFileName(number) == name) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Status ReadLogRange(FileSystem* files, const std::string& directory,
                    const std::array<std::byte, 16>& store, uint64_t after, uint64_t to,
                    const Log::Apply& visit) {
  if (after >= to) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, ListLogFiles(files, directory));
  std::vector<FramedHeader> headers;
  for (const uint64_t number : numbers) {
    PIGMENT_ASSIGN_OR_RETURN(
        const FramedHeader header,
        ReadHeader(files, directory + "/" + LogFileName(number), number, store));
    headers.push_back(header);
  }
  uint64_t next = after + 1;
  for (size_t i = 0; i < headers.size() && next <= to; ++i) {
    // A file counts up to the first position of the one behind it.
    uint64_t end = to + 1;
    if (i + 1 < headers.size()) end = std::min(end, headers[i + 1].first_position);
    if (end <= next || headers[i].first_position > next) continue;
    const std::string path = directory + "/" + LogFileName(headers[i].number);
    PIGMENT_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(files, path));
    PIGMENT_ASSIGN_OR_RETURN(const FramedScan scan,
                             ScanRecords(AsBytes(bytes), headers[i], path, end,
                                         [&](const FramedRecord& record) -> Status {
                                           if (record.position < next) return Status::Ok();
                                           ++next;
                                           return visit(record.position, record.payload);
                                         }));
    if (next == end) continue;
    return DataLoss(scan.is_whole ? Detail::kTruncated : Detail::kChecksum, path,
                    static_cast<int64_t>(scan.end),
                    fmt::format("{} is damaged at {}: position {} is not there, and {} was reached",
                                path, scan.end, next, to));
  }
  if (next > to) return Status::Ok();
  return DataLoss(Detail::kMissing, directory, -1,
                  fmt::format("{} has no position {}, and {} was reached", directory, next, to));
}

Result<std::unique_ptr<LogCopy>> LogCopy::Begin(FileSystem* files, const std::string& directory,
                                                const std::array<std::byte, 16>& store,
                                                uint64_t after) {
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t salt, RandomSalt());
  std::unique_ptr<LogCopy> copy(new LogCopy(files, directory));
  const FramedHeader header{.kind = FramedKind::kLog,
                            .version = kLogVersion,
                            .store = store,
                            .number = 1,
                            .first_position = after + 1,
                            .salt = salt};
  PIGMENT_ASSIGN_OR_RETURN(
      std::unique_ptr<File> file,
      files->Open(directory + "/" + LogFileName(header.number), OpenMode::kCreate));
  const std::string contents = EncodeFramedHeader(header);
  PIGMENT_RETURN_IF_ERROR(file->WriteAt(0, AsBytes(contents)));
  PIGMENT_RETURN_IF_ERROR(file->Sync());  // a log without batches is not synced again
  copy->appender_.Adopt(std::move(file), header, contents.size(), after);
  return copy;
}

Status LogCopy::WriteOut() {
  if (pending_.empty()) return Status::Ok();
  std::vector<std::span<const std::byte>> payloads;
  for (const std::string& payload : pending_) payloads.push_back(AsBytes(payload));
  PIGMENT_RETURN_IF_ERROR(appender_.Write(payloads, false));
  pending_.clear();
  pending_bytes_ = 0;
  return Status::Ok();
}

Status LogCopy::Add(std::span<const std::byte> payload) {
  pending_.emplace_back(AsText(payload));
  pending_bytes_ += payload.size();
  bytes_ += payload.size();
  return pending_bytes_ >= kWriteBytes ? WriteOut() : Status::Ok();
}

Status LogCopy::Finish() {
  PIGMENT_RETURN_IF_ERROR(WriteOut());
  PIGMENT_RETURN_IF_ERROR(appender_.Close());
  if (PIGMENT_PLANTED(kBackupForgetsLogName)) return Status::Ok();
  return files_->SyncDirectory(directory_);
}

}  // namespace pigment
