// SPDX-License-Identifier: Apache-2.0
//
// Term blocks of a text index: up to 32 ascending terms (memcmp, shorter first), each with where
// its posting list lies. What is read may be damaged. Plain values; one thread each.
//
// A block, term by term:
//   varint  bytes that it shares with the term before; 0 for the first
//   varint  bytes of the rest, and they
//   varint  documents that have the term; bytes of its postings; bytes of its positions
// Lists lie in the order of the terms, the positions of each behind its postings (posting_list.h).

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/bytes.h"

namespace pigment {

inline constexpr uint32_t kTextTermsPerBlock = 32;

// A block as it is found; bytes count from the begin of the group (of the segment, once stored).
struct TextTermBlock {
  uint64_t terms_begin;
  uint64_t postings_begin;
  uint32_t terms_bytes;
  uint32_t terms;  // in it
};
static_assert(sizeof(TextTermBlock) == 24);

// A term's posting list.
struct TextList {
  uint64_t begin = 0;
  uint64_t postings_bytes = 0;
  uint64_t positions_bytes = 0;
  uint32_t documents = 0;
};

// `previous` is empty for the first of a block.
void AppendTextTerm(std::string_view previous, std::string_view term, const TextList& list,
                    std::string& out);

class TextTermReader {
 public:
  // `bytes` are those of the block.
  TextTermReader(std::span<const std::byte> bytes, uint64_t postings_begin)
      : reader_(bytes), next_list_(postings_begin) {}

  // The next term, valid until the next call, and its list. False: damaged, or there is none.
  bool Next(std::string_view* term, TextList* list);

 private:
  ByteReader reader_;
  uint64_t next_list_;
  std::string term_;
};

}  // namespace pigment
