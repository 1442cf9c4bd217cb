// SPDX-License-Identifier: Apache-2.0
//
// The memory under an arena. Nothing here touches a page.

#include "engine/block/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>

namespace pigment {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;
// Below this the heap is faster than a system call, and what is not touched is not worth giving up.
constexpr size_t kHeapBytesMax = size_t{512} << 10;
// Below this a huge page would cost more to clear than it saves.
constexpr size_t kHugeBytesMin = size_t{8} << 20;
constexpr std::align_val_t kPage{4096};

Status Refused(size_t bytes, const std::string& name) {
  return ResourceExhausted(
      Detail::kMemory,
      fmt::format("cannot reserve {} bytes of address space for \"{}\"", bytes, name));
}

}  // namespace

Result<Arena> Arena::Reserve(size_t bytes, const std::string& name, bool may_be_huge) {
  Arena arena;
  if (bytes <= kHeapBytesMax) {
    arena.mapping_ = ::operator new(bytes, kPage, std::nothrow);
    if (arena.mapping_ == nullptr) return Refused(bytes, name);
    arena.data_ = static_cast<std::byte*>(arena.mapping_);
    return arena;
  }
  const bool is_huge = may_be_huge && bytes >= kHugeBytesMin;
  arena.mapping_bytes_ = bytes + (is_huge ? kHugePageBytes : 0);
  void* mapping = mmap(nullptr, arena.mapping_bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return Refused(arena.mapping_bytes_, name);
  arena.mapping_ = mapping;
  arena.data_ = static_cast<std::byte*>(mapping);
  if (!is_huge) return arena;
  const auto address = reinterpret_cast<uintptr_t>(mapping);
  const uintptr_t aligned = (address + kHugePageBytes - 1) & ~(uintptr_t{kHugePageBytes} - 1);
  arena.data_ = reinterpret_cast<std::byte*>(aligned);
  // Advice only: a kernel without huge pages gives small ones.
  (void)madvise(arena.data_, bytes, MADV_HUGEPAGE);
  return arena;
}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(data_, other.data_);
  return *this;
}

Arena::~Arena() {
  if (mapping_bytes_ != 0) {
    munmap(mapping_, mapping_bytes_);
  } else if (mapping_ != nullptr) {
    ::operator delete(mapping_, kPage);
  }
}

}  // namespace pigment
