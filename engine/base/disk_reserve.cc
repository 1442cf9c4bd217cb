// SPDX-License-Identifier: Apache-2.0
//
// DiskReserve. The file needs no atomic creation: one that is too short is made longer.

#include "engine/base/disk_reserve.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "engine/base/planted_bugs.h"

namespace pigment {

DiskReserve::DiskReserve(FileSystem* files, const std::string& directory, uint64_t bytes)
    : files_(files), path_(directory + "/" + kReserveName), bytes_(bytes) {}

Status DiskReserve::Open() {
  std::lock_guard lock(mutex_);
  if (bytes_ > 0) {
    Status status = Make();
    return status.detail() == Detail::kDiskFull ? Status::Ok() : status;
  }
  PIGMENT_ASSIGN_OR_RETURN(const bool exists, files_->Exists(path_));
  return exists ? files_->Remove(path_) : Status::Ok();
}

Status DiskReserve::Make() {
  const auto make = [&]() -> Status {
    Result<std::unique_ptr<File>> opened = files_->Open(path_, OpenMode::kReadWrite);
    if (opened.status().code() == Code::kNotFound)
      opened = files_->Open(path_, OpenMode::kCreate);
    PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, std::move(opened));
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
    // Also when it is large enough: a copy may have made holes of its zeros.
    PIGMENT_RETURN_IF_ERROR(file->Allocate(bytes_));
    return size < bytes_ ? file->Sync() : Status::Ok();
  };
  Status status = make();
  if (status.ok()) {
    is_held_.store(true, std::memory_order_release);
  } else if (status.detail() == Detail::kDiskFull) {
    // A part of it helps nobody here, and those who free space everywhere else.
    static_cast<void>(files_->Remove(path_).ok());
  }
  return status;
}

Status DiskReserve::Require() {
  if (is_held() || PIGMENT_PLANTED(kReserveSpentByInserts)) return Status::Ok();
  std::lock_guard lock(mutex_);
  if (is_held()) return Status::Ok();
  Status status = Make();
  if (status.detail() != Detail::kDiskFull) return status;
  return std::move(status).WithHint(
      "free space on the disk, or delete records or collections: that and reading go on");
}

bool DiskReserve::Release() {
  std::lock_guard lock(mutex_);
  if (bytes_ == 0 || !is_held()) return false;
  is_held_.store(false, std::memory_order_release);
  return files_->Remove(path_).ok();
}

}  // namespace pigment
