// SPDX-License-Identifier: Apache-2.0
//
// The mapping under an arena. Nothing here touches a page.

#include "engine/block/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <utility>

namespace pigment {
namespace {
constexpr size_t kHugePageBytes = size_t{2} << 20;
}  // namespace

Result<Arena> Arena::Reserve(size_t bytes, const std::string& name) {
  Arena arena;
  arena.mapping_bytes_ = bytes + kHugePageBytes;
  void* mapping = mmap(nullptr, arena.mapping_bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return ResourceExhausted(Detail::kMemory,
                             fmt::format("cannot reserve {} bytes of address space for \"{}\"",
                                         arena.mapping_bytes_, name));
  }
  arena.mapping_ = mapping;
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
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

}  // namespace pigment
