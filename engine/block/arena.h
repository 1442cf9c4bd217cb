// SPDX-License-Identifier: Apache-2.0
//
// Arena: a reserved range of memory, in which only what is written takes space. A few hundred KiB
// come from the heap, so that a small segment costs no system call; more is mapped. One owner;
// reading and writing it from several threads is the owner's to order.

#pragma once

#include <cstddef>

#include "engine/base/large_pages.h"
#include "engine/base/status.h"

namespace pigment {

class Arena {
 public:
  // `name` appears in the error when the address space is refused (kResourceExhausted,
  // Detail::kMemory).
  static Result<Arena> Reserve(size_t bytes, const std::string& name);
  Arena(Arena&& other) noexcept { *this = std::move(other); }
  Arena& operator=(Arena&& other) noexcept;
  ~Arena();

  std::byte* data() const { return data_; }
  // Has the system give the memory of a range, which is about to be written, in one call instead of
  // a fault a page.
  void Populate(size_t offset, size_t bytes) const;
  // Memory that readers jump about in costs less in large pages. True: the arena begins at one.
  bool may_have_large_pages() const { return mapping_bytes_ != 0; }
  // Asks the system to put a range that is in memory into one. REQUIRES: may_have_large_pages(),
  // offset is a multiple of kLargePageBytes, the range lies in the arena.
  void MakeLargePage(size_t offset) const;

 private:
  Arena() = default;

  void* mapping_ = nullptr;  // or the heap's, with mapping_bytes_ 0
  size_t mapping_bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace pigment
