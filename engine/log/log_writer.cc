// SPDX-License-Identifier: Apache-2.0
//
// LogWriter.

#include "engine/log/log_writer.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"

namespace pigment {

namespace {

constexpr size_t kErasePieceBytes = size_t{1} << 16;

}  // namespace

LogWriter::LogWriter(FileSystem* files, std::string directory,
                     const std::array<std::byte, 16>& store, const LogOptions& options,
                     LogReplay replay)
    : files_(files),
      directory_(std::move(directory)),
      store_(store),
      file_bytes_max_(options.file_bytes_max),
      is_erasing_(options.is_erasing),
      appender_(RecordAppender::Space::kAhead,
                options.clock != nullptr ? options.clock : SystemClock()),
      next_number_(replay.next_number),
      last_position_(replay.last_position),
      is_closed_(replay.is_closed),
      unproven_(std::move(replay.unproven)),
      listed_(std::move(replay.files)) {}

Status LogWriter::SecureUnproven() {
  const bool is_end_durable = is_closed_ || PIGMENT_PLANTED(kLogOpenEndNotSynced);
  if (unproven_.empty() && (is_end_durable || listed_.empty())) return Status::Ok();
  if (!unproven_.empty()) {
    const Status status = BeginFile();
    if (status.detail() != Detail::kDiskFull || is_broken_) return status;
    // No room to write them again: sync them where they are, which proves less (an earlier sync may
    // have failed).
  }
  const std::string path = directory_ + "/" + LogFileName(listed_.back().number);
  PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                           files_->Open(path, OpenMode::kReadWrite));
  return file->Sync();
}

// The new file appears whole, with everything that must be in it, or not at all: its header ends
// the file before it.
Status LogWriter::BeginFile() {
  const uint64_t last_position = written_position();
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t salt, RandomSalt());
  const FramedHeader header{.kind = FramedKind::kLog,
                            .version = kLogVersion,
                            .store = store_,
                            .number = next_number_,
                            .first_position = last_position - unproven_.size() + 1,
                            .salt = salt};
  std::string contents = EncodeFramedHeader(header);
  uint64_t position = header.first_position;
  for (const std::string& payload : unproven_) {
    AppendRecord(
        &contents, header, contents.size(),
        {.position = position++, .synced = header.first_position - 1, .payload = AsBytes(payload)});
  }
  {
    std::lock_guard lock(listed_mutex_);
    listed_.reserve(listed_.size() + 1);  // before there is anything to list
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
  has_begun_ = true;
  unproven_.clear();
  ++next_number_;
  {
    std::lock_guard lock(listed_mutex_);
    listed_.push_back({.number = header.number, .first_position = header.first_position});
  }
  NoteEnd();
  return Status::Ok();
}

// The next file's header says that everything before it is durable.
Status LogWriter::EndFile() {
  PIGMENT_RETURN_IF_ERROR(appender_.RemoveLeftover());
  appender_.Trim();
  if (PIGMENT_PLANTED(kLogFileEndsUnsynced)) return Status::Ok();
  return appender_.has_unsynced() ? appender_.Sync() : Status::Ok();
}

Status LogWriter::Write(std::span<const std::span<const std::byte>> payloads, bool is_synced) {
  if (!appender_.has_file()) {
    PIGMENT_RETURN_IF_ERROR(BeginFile());
  } else if (appender_.end() >= file_bytes_max_) {
    PIGMENT_RETURN_IF_ERROR(EndFile());
    NoteEnd();
    PIGMENT_RETURN_IF_ERROR(BeginFile());
  }
  Status status = appender_.Write(payloads, is_synced);
  NoteEnd();
  return status;
}

Status LogWriter::Rotate() {
  if (appender_.has_file()) {
    if (appender_.end() == kFramedHeaderBytes) return Status::Ok();
    PIGMENT_RETURN_IF_ERROR(EndFile());
    NoteEnd();
  } else {
    std::lock_guard lock(listed_mutex_);
    if (listed_.empty()) return Status::Ok();
  }
  return BeginFile();
}

Status LogWriter::Close() {
  Status status = appender_.Close();
  if (has_begun_) NoteEnd();
  return status;
}

void LogWriter::NoteEnd() {
  std::lock_guard lock(listed_mutex_);
  listed_.back().bytes = appender_.end();
  allocated_ahead_ = appender_.allocated_end() - appender_.end();
}

LogSpace LogWriter::space() const {
  std::lock_guard lock(listed_mutex_);
  LogSpace space{.files = listed_.size(),
                 .allocated_bytes = allocated_ahead_,
                 .purged_files = purged_files_,
                 .erased_bytes = erased_bytes_};
  for (const LogFile& file : listed_) space.bytes += file.bytes;
  space.allocated_bytes += space.bytes;
  return space;
}

Status LogWriter::Purge(uint64_t floor) {
  std::lock_guard purging(purge_mutex_);
  // Oldest first, so that a failure or a crash leaves the log without a hole.
  for (;;) {
    uint64_t number = 0;
    {
      std::lock_guard lock(listed_mutex_);
      if (listed_.size() < 2) return Status::Ok();
      const uint64_t end = listed_[1].first_position;
      const uint64_t early = PIGMENT_PLANTED(kLogPurgedEarly) ? 1 : 0;
      if (end - 1 > floor + early && end != listed_[0].first_position) return Status::Ok();
      number = listed_[0].number;
    }
    PIGMENT_RETURN_IF_ERROR(RemoveFile(number));
    std::lock_guard lock(listed_mutex_);
    listed_.erase(listed_.begin());
    ++purged_files_;
  }
}

Status LogWriter::RemoveFile(uint64_t number) {
  const std::string path = directory_ + "/" + LogFileName(number);
  Status status = is_erasing_ ? EraseFile(path) : Status::Ok();
  if (status.ok()) status = files_->Remove(path);
  return status.code() == Code::kNotFound ? Status::Ok() : status;
}

// The header stays: a crash before the removal leaves a file that the next open passes over,
// because the floor is above it, and only its header is read then.
Status LogWriter::EraseFile(const std::string& path) {
  PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                           files_->Open(path, OpenMode::kReadWrite));
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  const std::vector<std::byte> zeros(kErasePieceBytes);
  for (uint64_t at = PIGMENT_PLANTED(kLogErasesHeaders) ? 0 : kFramedHeaderBytes; at < size;) {
    const uint64_t piece = std::min<uint64_t>(size - at, zeros.size());
    PIGMENT_RETURN_IF_ERROR(file->WriteAt(at, std::span(zeros).first(piece)));
    at += piece;
  }
  PIGMENT_RETURN_IF_ERROR(file->Sync());
  std::lock_guard lock(listed_mutex_);
  erased_bytes_ += size > kFramedHeaderBytes ? size - kFramedHeaderBytes : 0;
  return Status::Ok();
}

}  // namespace pigment
