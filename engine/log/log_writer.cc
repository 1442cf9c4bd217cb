// SPDX-License-Identifier: Apache-2.0
//
// LogWriter.

#include "engine/log/log_writer.h"

#include <utility>

#include "engine/base/bytes.h"

namespace pigment {

LogWriter::LogWriter(FileSystem* files, std::string directory,
                     const std::array<std::byte, 16>& store, uint64_t file_bytes_max,
                     LogReplay replay)
    : files_(files),
      directory_(std::move(directory)),
      store_(store),
      file_bytes_max_(file_bytes_max),
      next_number_(replay.next_number),
      last_position_(replay.last_position),
      unproven_(std::move(replay.unproven)),
      listed_(std::move(replay.files)) {}

Status LogWriter::SecureUnproven() {
  if (unproven_.empty()) return Status::Ok();
  const Status status = BeginFile();
  if (status.detail() != Detail::kDiskFull || is_broken_) return status;
  // No room to write them again: sync them where they are, which proves less (an earlier sync may
  // have failed).
  const std::string path = directory_ + "/" + LogFileName(listed_.back().number);
  PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                           files_->Open(path, OpenMode::kReadWrite));
  return file->Sync();
}

// The new file appears whole, with everything that must be in it, or not at all: its header ends
// the file before it.
Status LogWriter::BeginFile() {
  const uint64_t last_position = written_position();
  const FramedHeader header{.kind = FramedKind::kLog,
                            .version = kLogVersion,
                            .store = store_,
                            .number = next_number_,
                            .first_position = last_position - unproven_.size() + 1};
  std::string contents = EncodeFramedHeader(header);
  uint64_t position = header.first_position;
  for (const std::string& payload : unproven_) {
    AppendRecord(
        &contents, header, contents.size(),
        {.position = position++, .synced = header.first_position - 1, .payload = AsBytes(payload)});
  }
  std::unique_ptr<File> file;
  bool is_published = false;
  is_broken_ = true;
  Status status =
      PublishFile(files_, directory_, LogFileName(header.number), contents, &file, &is_published);
  // Once it has its name, the next open may take it for the end of the file before it.
  is_broken_ = is_published && !status.ok();
  PIGMENT_RETURN_IF_ERROR(std::move(status));
  appender_.Adopt(std::move(file), header, contents.size(), last_position);
  unproven_.clear();
  ++next_number_;
  std::lock_guard lock(listed_mutex_);
  listed_.push_back({.number = header.number, .first_position = header.first_position});
  return Status::Ok();
}

Status LogWriter::Write(std::span<const std::span<const std::byte>> payloads, bool is_synced) {
  if (!appender_.has_file()) {
    PIGMENT_RETURN_IF_ERROR(BeginFile());
  } else if (appender_.end() >= file_bytes_max_) {
    // The next file's header says that everything before it is durable.
    PIGMENT_RETURN_IF_ERROR(appender_.RemoveLeftover());
    if (appender_.has_unsynced()) PIGMENT_RETURN_IF_ERROR(appender_.Sync());
    PIGMENT_RETURN_IF_ERROR(BeginFile());
  }
  return appender_.Write(payloads, is_synced);
}

Status LogWriter::Purge(uint64_t floor) {
  std::lock_guard lock(listed_mutex_);
  // Oldest first, so that a failure or a crash leaves the log without a hole.
  while (listed_.size() > 1) {
    const uint64_t end = listed_[1].first_position;
    if (end - 1 > floor && end != listed_[0].first_position) break;
    const Status status = files_->Remove(directory_ + "/" + LogFileName(listed_[0].number));
    if (!status.ok() && status.code() != Code::kNotFound) return status;
    listed_.erase(listed_.begin());
  }
  return Status::Ok();
}

}  // namespace pigment
