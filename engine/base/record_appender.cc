// SPDX-License-Identifier: Apache-2.0
//
// RecordAppender.

#include "engine/base/record_appender.h"

#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"

namespace pigment {

void RecordAppender::Adopt(std::unique_ptr<File> file, const FramedHeader& header, uint64_t end,
                           uint64_t last_position) {
  file_ = std::move(file);
  header_ = header;
  end_ = end;
  has_leftover_ = false;
  written_position_ = last_position;
  synced_position_ = last_position;
}

Status RecordAppender::Write(std::span<const std::span<const std::byte>> payloads, bool is_synced) {
  PIGMENT_RETURN_IF_ERROR(RemoveLeftover());
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
  return is_synced && !PIGMENT_PLANTED(kAcknowledgeBeforeSync) ? Sync() : Status::Ok();
}

Status RecordAppender::RemoveLeftover() { return has_leftover_ ? CutBack() : Status::Ok(); }

Status RecordAppender::CutBack() {
  is_broken_ = true;
  if (Status status = file_->Truncate(end_); !status.ok()) {
    is_broken_ = status.detail() !=
                 Detail::kDiskFull;  // a full disk may refuse even this; the next write tries again
    return status;
  }
  // What was refused must not come back after a power cut.
  PIGMENT_RETURN_IF_ERROR(Sync());
  has_leftover_ = false;
  return Status::Ok();
}

Status RecordAppender::Sync() {
  if (file_ == nullptr) return Status::Ok();
  is_broken_ = true;
  Status status = file_->Sync();
  if (!status.ok() && PIGMENT_PLANTED(kRetryFailedSync)) status = file_->Sync();
  PIGMENT_RETURN_IF_ERROR(std::move(status));
  is_broken_ = false;
  synced_position_ = written_position_;
  return Status::Ok();
}

Status RecordAppender::Close() {
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

}  // namespace pigment
