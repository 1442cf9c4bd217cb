// SPDX-License-Identifier: Apache-2.0
//
// Terms of a block, front coded.

#include "engine/fulltext/text_terms.h"

#include <algorithm>
#include <limits>

namespace pigment {

void AppendTextTerm(std::string_view previous, std::string_view term, const TextList& list,
                    std::string& out) {
  const size_t most = std::min(previous.size(), term.size());
  size_t shared = 0;
  while (shared < most && previous[shared] == term[shared]) ++shared;
  ByteWriter writer(&out);
  writer.PutVarint(shared);
  writer.PutVarint(term.size() - shared);
  out += term.substr(shared);
  writer.PutVarint(list.documents);
  writer.PutVarint(list.postings_bytes);
  writer.PutVarint(list.positions_bytes);
}

bool TextTermReader::Next(std::string_view* term, TextList* list) {
  constexpr uint64_t kBytesMax = uint64_t{1} << 40;  // sums of these do not overflow
  const uint64_t shared = reader_.GetVarint();
  const std::span<const std::byte> rest = reader_.GetBytes(reader_.GetVarint());
  const uint64_t documents = reader_.GetVarint();
  list->begin = next_list_;
  list->postings_bytes = reader_.GetVarint();
  list->positions_bytes = reader_.GetVarint();
  if (!reader_.ok() || shared > term_.size() || documents == 0 ||
      documents > std::numeric_limits<uint32_t>::max() || list->postings_bytes > kBytesMax ||
      list->positions_bytes > kBytesMax)
    return false;
  term_.resize(static_cast<size_t>(shared));
  term_ += AsText(rest);
  *term = term_;
  list->documents = static_cast<uint32_t>(documents);
  next_list_ += list->postings_bytes + list->positions_bytes;
  return true;
}

}  // namespace pigment
