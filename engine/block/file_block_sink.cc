// SPDX-License-Identifier: Apache-2.0
//
// The buffer in front of a segment file.

#include "engine/block/file_block_sink.h"

#include <fmt/format.h>

#include "engine/base/planted_bugs.h"

namespace pigment {

Result<uint32_t> FileBlockSink::Write(ConstBlockBytes block) {
  const uint64_t physical = (written_bytes_ + buffer_.size()) / kBlockBytes;
  if (physical >= kNoBlock) {
    return ResourceExhausted(Detail::kLimit,
                             fmt::format("segment file \"{}\" has {} blocks, the most there can be",
                                         file_->path(), physical));
  }
  buffer_.insert(buffer_.end(), block.begin(), block.end());
  if (buffer_.size() >= kBufferBytes) PIGMENT_RETURN_IF_ERROR(Finish());
  return static_cast<uint32_t>(physical);
}

Status FileBlockSink::Finish() {
  const Status status = file_->WriteAt(written_bytes_, buffer_);
  if (!PIGMENT_PLANTED(kSinkTrustsAFailedWrite)) PIGMENT_RETURN_IF_ERROR(status);
  written_bytes_ += buffer_.size();
  buffer_.clear();
  return Status::Ok();
}

}  // namespace pigment
