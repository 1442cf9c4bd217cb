// SPDX-License-Identifier: Apache-2.0
//
// Calls into the host.

#include "c_api/host_block_source.h"

#include <fmt/format.h>

#include <cstddef>

#include "c_api/error.h"
#include "c_api/host_segment.h"

namespace pigment::abi {

Status CallbackStatus(pigment_status code, std::string message) {
  const bool is_code = code != PIGMENT_OK && FindCodeInfo(code) != nullptr;
  return Status(is_code ? static_cast<Code>(code) : Code::kUnknown, std::move(message));
}

Result<const std::byte*> HostBlockSource::Pin(uint32_t physical) {
  const void* page = nullptr;
  ++pins_;
  const pigment_status code = source_.pin(source_.context, physical, &page);
  if (code != PIGMENT_OK) {
    return CallbackStatus(
        code, fmt::format("the host gave code {} for page {} of \"{}\"", code, physical, name_));
  }
  if (page == nullptr)
    return Internal(fmt::format("the host gave no bytes for page {} of \"{}\"", physical, name_));
  return static_cast<const std::byte*>(page);
}

Result<uint32_t> HostBlockSink::Write(ConstBlockBytes block) {
  uint32_t physical = kNoBlock;
  const pigment_status code = write_page_(context_, block.data(), &physical);
  if (code != PIGMENT_OK)
    return CallbackStatus(code, fmt::format("the host gave code {} for a page to write", code));
  if (physical == kNoBlock) return Internal("the host said no place for a page that it wrote");
  return physical;
}

Result<pigment_page_source> ReadPageSource(const pigment_page_source* source) {
  constexpr size_t kSizeMin = offsetof(pigment_page_source, likely);
  PIGMENT_ASSIGN_OR_RETURN(const pigment_page_source copy, ReadStruct(source, "source", kSizeMin));
  PIGMENT_RETURN_IF_ERROR(
      CheckNotNull({{reinterpret_cast<const void*>(copy.pin), "source.pin"},
                    {reinterpret_cast<const void*>(copy.unpin), "source.unpin"}}));
  PIGMENT_RETURN_IF_ERROR(
      ReadBytes(copy.name == nullptr ? "" : copy.name, copy.name_size, "source.name").status());
  if (copy.segment_count != 0)
    PIGMENT_RETURN_IF_ERROR(CheckNotNull({{copy.segments, "source.segments"}}));
  for (size_t i = 0; i < copy.segment_count; ++i)
    PIGMENT_RETURN_IF_ERROR(CheckHandle(copy.segments[i], "source.segments[]"));
  return copy;
}

}  // namespace pigment::abi
