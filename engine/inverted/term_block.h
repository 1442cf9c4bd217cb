// SPDX-License-Identifier: Apache-2.0
//
// Term blocks: up to 32 ascending terms as bytes, each but the first without what it shares with
// the one before. What is read may be damaged. Plain values; one thread each.
//
//   varint  bytes of the first term, and they; then for each other:
//   varint  bytes that it shares with the term before, varint bytes of the rest, and they

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/bytes.h"

namespace pigment {

inline constexpr uint32_t kTermsPerBlock = 32;

// Appends `term`; `previous` is null for the first of a block.
void AppendBlockTerm(const std::string* previous, std::string_view term, std::string& out);

class TermBlockReader {
 public:
  explicit TermBlockReader(std::span<const std::byte> bytes) : reader_(bytes) {}

  // The next term, valid until the next call. False: damaged, or there is none.
  bool Next(std::string_view* term);

 private:
  ByteReader reader_;
  std::string term_;
  bool is_first_ = true;
};

}  // namespace pigment
