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
      written_position_(replay.last_position),
      synced_position_(replay.last_position - replay.unproven.size()),
      unproven_(std::move(replay.unproven)),
      listed_(std::move(replay.files)) {}

// Broken until the outcome is known to be harmless: also when there is no memory left to say what
// went wrong.
template <typename Operation>
Status LogWriter::Risk(const Operation& operation) {
  is_broken_ = true;
  Status status = operation();
  is_broken_ = !status.ok();
  return status;
}

Status LogWriter::SecureUnproven() {
  if (unproven_.empty()) return Status::Ok();
  const Status status = BeginFile();
  if (status.detail() != Detail::kDiskFull) return status;
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
  const FramedHeader header{.kind = FramedKind::kLog,
                            .version = kLogVersion,
                            .store = store_,
                            .number = next_number_,
                            .first_position = written_position_ - unproven_.size() + 1};
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
  file_ = std::move(file);
  header_ = header;
  end_ = contents.size();
  has_leftover_ = false;
  synced_position_ = written_position_;
  unproven_.clear();
  ++next_number_;
  std::lock_guard lock(listed_mutex_);
  listed_.push_back({.number = header.number, .first_position = header.first_position});
  return Status::Ok();
}

Status LogWriter::CutBack() {
  is_broken_ = true;
  if (Status status = file_->Truncate(end_); !status.ok()) {
    is_broken_ = status.detail() !=
                 Detail::kDiskFull;  // a full disk may even refuse this; the next write tries again
    return status;
  }
  // A batch that was refused must not come back after a power cut.
  PIGMENT_RETURN_IF_ERROR(Sync());
  has_leftover_ = false;
  return Status::Ok();
}

Status LogWriter::PrepareFile() {
  if (file_ && has_leftover_) PIGMENT_RETURN_IF_ERROR(CutBack());
  if (file_ && end_ < file_bytes_max_) return Status::Ok();
  // The next file's header says that everything before it is durable.
  if (file_ && has_unsynced()) PIGMENT_RETURN_IF_ERROR(Sync());
  return BeginFile();
}

Status LogWriter::Write(std::span<const std::span<const std::byte>> payloads, bool is_synced) {
  PIGMENT_RETURN_IF_ERROR(PrepareFile());
  std::string bytes;
  size_t size = 0;
  for (const auto payload : payloads) size += payload.size() + kRecordFrameBytes;
  bytes.reserve(size);
  uint64_t position = written_position_;
  for (const auto payload : payloads) {
    AppendRecord(&bytes, header_, end_ + bytes.size(),
                 {.position = ++position, .synced = synced_position_, .payload = payload});
  }
  is_broken_ = true;
  if (Status status = file_->WriteAt(end_, AsBytes(bytes)); !status.ok()) {
    if (status.detail() != Detail::kDiskFull) return status;
    has_leftover_ = true;
    Status cut = CutBack();
    return is_broken_ ? cut : status;
  }
  is_broken_ = false;
  end_ += bytes.size();
  written_position_ = position;
  return is_synced ? Sync() : Status::Ok();
}

Status LogWriter::Sync() {
  if (file_ == nullptr) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(Risk([this] { return file_->Sync(); }));
  synced_position_ = written_position_;
  return Status::Ok();
}

Status LogWriter::Close() {
  if (file_ == nullptr) return Status::Ok();
  if (has_unsynced()) PIGMENT_RETURN_IF_ERROR(Sync());
  std::string mark;
  AppendRecord(&mark, header_, end_,
               {.flags = kMarkRecord,
                .position = written_position_,
                .synced = synced_position_,
                .payload = {}});
  // Only evidence: without it, or with half of it, the next open writes the last group once more.
  if (!has_leftover_) static_cast<void>(file_->WriteAt(end_, AsBytes(mark)).ok());
  file_.reset();
  return Status::Ok();
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
