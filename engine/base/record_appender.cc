// SPDX-License-Identifier: Apache-2.0
//
// RecordAppender.

#include "engine/base/record_appender.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/planted_bugs.h"

namespace pigment {

namespace {

// Measured: engine/log/README.md.
constexpr uint64_t kAheadBytesMax = 256 << 10;
constexpr uint64_t kAheadGroupBytesMax = 64 << 10;  // larger groups pay for their blocks anyway
constexpr uint64_t kAheadUnitBytes = 4096;

}  // namespace

void RecordAppender::Adopt(std::unique_ptr<File> file, const FramedHeader& header, uint64_t end,
                           uint64_t last_position) {
  file_ = std::move(file);
  header_ = header;
  end_ = end;
  allocated_end_ = end;
  is_ahead_refused_ = false;
  has_leftover_ = false;
  written_position_ = last_position;
  synced_position_ = last_position;
}

// As much again as the file has, so that a small file stays small.
uint64_t RecordAppender::BytesAhead(uint64_t end, uint64_t group_bytes) const {
  if (space_ == Space::kAsNeeded || is_ahead_refused_ || end <= allocated_end_ ||
      group_bytes > kAheadGroupBytesMax) {
    return 0;
  }
  const uint64_t wanted = end + std::min(end, kAheadBytesMax);
  return (wanted + kAheadUnitBytes - 1) / kAheadUnitBytes * kAheadUnitBytes - end;
}

Status RecordAppender::Write(std::span<const std::span<const std::byte>> payloads, bool is_synced) {
  PIGMENT_RETURN_IF_ERROR(RemoveLeftover());
  std::string bytes;
  size_t size = 0;
  for (const auto payload : payloads) size += payload.size() + kRecordFrameBytes;
  const uint64_t ahead = is_synced ? BytesAhead(end_ + size, size) : 0;
  bytes.reserve(size + ahead);
  uint64_t position = written_position_;
  for (const auto payload : payloads) {
    AppendRecord(&bytes, header_, end_ + bytes.size(),
                 {.position = ++position, .synced = synced_position_, .payload = payload});
  }
  bytes.append(ahead, '\0');
  Status status = WriteOut(bytes);
  if (ahead > 0 && status.detail() == Detail::kDiskFull && !is_broken_ && !has_leftover_) {
    is_ahead_refused_ = true;
    bytes.resize(size);
    status = WriteOut(bytes);
  }
  PIGMENT_RETURN_IF_ERROR(std::move(status));
  allocated_end_ = std::max(allocated_end_, end_ + bytes.size());
  end_ += size;
  written_position_ = position;
  return is_synced && !PIGMENT_PLANTED(kAcknowledgeBeforeSync) ? Sync() : Status::Ok();
}

Status RecordAppender::WriteOut(std::string_view bytes) {
  is_broken_ = true;
  if (Status status = file_->WriteAt(end_, AsBytes(bytes)); !status.ok()) {
    if (status.detail() != Detail::kDiskFull) return status;
    has_leftover_ = true;
    Status cut = CutBack();
    return is_broken_ ? cut : status;
  }
  is_broken_ = false;
  return Status::Ok();
}

Status RecordAppender::RemoveLeftover() { return has_leftover_ ? CutBack() : Status::Ok(); }

Status RecordAppender::CutBack() {
  if (PIGMENT_PLANTED(kLogRefusedGroupStays)) {
    has_leftover_ = is_broken_ = false;
    return Status::Ok();
  }
  is_broken_ = true;
  if (Status status = file_->Truncate(end_); !status.ok()) {
    is_broken_ = status.detail() !=
                 Detail::kDiskFull;  // a full disk may refuse even this; the next write tries again
    return status;
  }
  allocated_end_ = end_;
  // What was refused must not come back after a power cut.
  if (PIGMENT_PLANTED(kLogCutIsNotSynced)) is_broken_ = false;
  if (!PIGMENT_PLANTED(kLogCutIsNotSynced)) PIGMENT_RETURN_IF_ERROR(Sync());
  has_leftover_ = false;
  return Status::Ok();
}

Status RecordAppender::Sync() {
  if (file_ == nullptr) return Status::Ok();
  is_broken_ = true;
  const int64_t begin = clock_->MonotonicNow();
  Status status = file_->Sync();
  ++syncs_;
  sync_ns_ += clock_->MonotonicNow() - begin;
  if (!status.ok() && PIGMENT_PLANTED(kRetryFailedSync)) status = file_->Sync();
  if (!status.ok() && PIGMENT_PLANTED(kForgetPoison)) is_broken_ = false;
  PIGMENT_RETURN_IF_ERROR(std::move(status));
  is_broken_ = false;
  synced_position_ = written_position_;
  return Status::Ok();
}

// Zeros harm nobody: a failure is the file system's to keep.
void RecordAppender::Trim() {
  if (file_ == nullptr || allocated_end_ <= end_) return;
  static_cast<void>(file_->Truncate(end_).ok());
  allocated_end_ = end_;
}

Status RecordAppender::Close() {
  if (file_ == nullptr) return Status::Ok();
  if (has_unsynced() && !PIGMENT_PLANTED(kCloseWithoutSync)) PIGMENT_RETURN_IF_ERROR(Sync());
  std::string mark;
  AppendRecord(&mark, header_, end_,
               {.flags = kMarkRecord,
                .position = written_position_,
                .synced = synced_position_,
                .payload = {}});
  // Only evidence: without it, or with half of it, the next open writes the last group once more.
  if (!has_leftover_ && file_->WriteAt(end_, AsBytes(mark)).ok()) {
    end_ += mark.size();
    allocated_end_ = std::max(allocated_end_, end_);
    Trim();
  }
  file_.reset();
  return Status::Ok();
}

}  // namespace pigment
