// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a file in the crash harness: pages of 4 KiB that copies share until they are written,
// so that hundreds of thousands of file trees that differ in a page or two cost little. A value;
// copies may be used by different threads, one copy by one thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/checksum.h"

namespace pigment {

inline constexpr uint64_t kCrashPageBytes = 4096;
inline constexpr uint64_t kCrashSectorBytes = 512;

class CrashBytes {
 public:
  struct Page {
    std::array<std::byte, kCrashPageBytes> bytes;
    Hash128 hash;
  };
  using PageRef = std::shared_ptr<const Page>;  // null: zeros

  uint64_t size() const { return size_; }
  size_t pages() const { return pages_.size(); }
  const PageRef& page(size_t index) const { return pages_[index]; }

  void Read(uint64_t offset, std::span<std::byte> out) const;  // REQUIRES: within size()
  void Write(uint64_t offset, std::span<const std::byte> bytes);  // grows where needed
  void Resize(uint64_t size);  // what is added reads as zeros
  // Puts bytes where they belong whatever the size is: those beyond it count once Resize, or
  // another Write, covers them. Trim() ends such a series.
  void Place(uint64_t offset, std::span<const std::byte> bytes);
  void SetSize(uint64_t size) { size_ = size; }
  void Trim();

  // Equal for equal sizes and bytes.
  Hash128 Hash() const;

 private:
  uint64_t size_ = 0;
  std::vector<PageRef> pages_;
};

}  // namespace pigment
