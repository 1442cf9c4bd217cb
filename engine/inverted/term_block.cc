// SPDX-License-Identifier: Apache-2.0
//
// Terms of a block, front coded.

#include "engine/inverted/term_block.h"

#include <algorithm>

namespace pigment {

void AppendBlockTerm(const std::string* previous, std::string_view term, std::string& out) {
  ByteWriter writer(&out);
  size_t shared = 0;
  if (previous != nullptr) {
    const size_t most = std::min(previous->size(), term.size());
    while (shared < most && (*previous)[shared] == term[shared]) ++shared;
    writer.PutVarint(shared);
  }
  writer.PutVarint(term.size() - shared);
  out += term.substr(shared);
}

bool TermBlockReader::Next(std::string_view* term) {
  const uint64_t shared = is_first_ ? 0 : reader_.GetVarint();
  const std::span<const std::byte> rest = reader_.GetBytes(reader_.GetVarint());
  if (!reader_.ok() || shared > term_.size()) return false;
  is_first_ = false;
  term_.resize(static_cast<size_t>(shared));
  term_ += AsText(rest);
  *term = term_;
  return true;
}

}  // namespace pigment
