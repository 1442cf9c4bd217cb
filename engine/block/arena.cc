// SPDX-License-Identifier: Apache-2.0
//
// The memory under an arena. Nothing here touches a page but MakeLargePage.

#include "engine/block/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>

namespace pigment {
namespace {

// Below this the heap is faster than a system call, and what is not touched is not worth giving up.
constexpr size_t kHeapBytesMax = size_t{512} << 10;
constexpr std::align_val_t kPage{4096};

Status Refused(size_t bytes, const std::string& name) {
  return ResourceExhausted(
      Detail::kMemory,
      fmt::format("cannot reserve {} bytes of address space for \"{}\"", bytes, name));
}

}  // namespace

Result<Arena> Arena::Reserve(size_t bytes, const std::string& name) {
  Arena arena;
  if (bytes <= kHeapBytesMax) {
    arena.mapping_ = ::operator new(bytes, kPage, std::nothrow);
    if (arena.mapping_ == nullptr) return Refused(bytes, name);
    arena.data_ = static_cast<std::byte*>(arena.mapping_);
    return arena;
  }
  arena.mapping_bytes_ = bytes + kLargePageBytes;
  void* mapping = mmap(nullptr, arena.mapping_bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return Refused(arena.mapping_bytes_, name);
  arena.mapping_ = mapping;
  const auto begin = reinterpret_cast<uintptr_t>(mapping);
  const size_t skipped = (kLargePageBytes - begin % kLargePageBytes) % kLargePageBytes;
  arena.data_ = static_cast<std::byte*>(mapping) + skipped;
  return arena;
}

void Arena::Populate(size_t offset, size_t bytes) const {
#ifdef MADV_POPULATE_WRITE
  // Whole pages; an older kernel refuses, and faults page by page.
  if (mapping_bytes_ != 0) (void)madvise(data_ + offset, bytes, MADV_POPULATE_WRITE);
#else
  (void)offset, (void)bytes;
#endif
}

void Arena::MakeLargePage(size_t offset) const {
  // Since Linux 6.1, at once and whatever is in the range, readers included; an older kernel, or
  // one without such pages, refuses. Headers may not know it yet.
  constexpr int kMadviseCollapse = 25;
  (void)madvise(data_ + offset, kLargePageBytes, kMadviseCollapse);
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
