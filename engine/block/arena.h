// SPDX-License-Identifier: Apache-2.0
//
// Arena: a reserved range of anonymous memory, in which only what is written takes space. Aligned
// to and advised for huge pages. One owner; reading and writing it from several threads is the
// owner's to order.

#pragma once

#include <cstddef>

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

 private:
  Arena() = default;

  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace pigment
