// SPDX-License-Identifier: Apache-2.0
//
// A window that turns out too large is halved while it is read: what is left of it is whole.

#include "engine/segment/host_key_reader.h"

#include <algorithm>
#include <cstring>

namespace pigment {
namespace {

constexpr uint32_t kWindowRows = 16384;

struct KeyHead {
  uint32_t column;
  HostKey::Kind kind;
  uint64_t bytes;
};

}  // namespace

Result<std::span<const std::byte>> HostKeyReader::Read(uint32_t row) {
  if (row < first_ || row - first_ >= rows_.size()) PIGMENT_RETURN_IF_ERROR(ReadWindow(row));
  Encode(rows_[row - first_]);
  return std::span<const std::byte>(encoded_);
}

Status HostKeyReader::ReadWindow(uint32_t first) {
  rows_.clear();
  rows_.resize(std::min(kWindowRows, segment_->info().rows - first));
  last_heads_.assign(rows_.size(), 0);
  uint64_t bytes = rows_.size() * (sizeof(std::string) + sizeof(size_t));
  const Status status = segment_->VisitKeys(
      first, first + static_cast<uint32_t>(rows_.size()), [&](const HostKey& key, uint32_t row) {
        if (row - first >= rows_.size()) return;  // it was given up
        bytes += Append(row - first, key);
        while (bytes > bytes_max_ && rows_.size() > 1) {
          const size_t half = (rows_.size() + 1) / 2;
          for (size_t i = half; i < rows_.size(); ++i)
            bytes -= rows_[i].size() + sizeof(std::string) + sizeof(size_t);
          rows_.resize(half);
          rows_.shrink_to_fit();
        }
      });
  first_ = first;
  if (!status.ok()) rows_.clear();
  return status;
}

// Grams of one column come one by one, and go behind the head of the first.
size_t HostKeyReader::Append(size_t number, const HostKey& key) {
  std::string& keys = rows_[number];
  const size_t before = keys.size();
  KeyHead head{};
  if (!keys.empty()) std::memcpy(&head, keys.data() + last_heads_[number], sizeof head);
  if (key.kind == HostKey::Kind::kGrams && head.kind == key.kind && head.column == key.column) {
    head.bytes += key.bytes.size();
    std::memcpy(keys.data() + last_heads_[number], &head, sizeof head);
  } else {
    head = {key.column, key.kind, key.bytes.size()};
    last_heads_[number] = before;
    keys.append(reinterpret_cast<const char*>(&head), sizeof head);
  }
  keys.append(key.bytes);
  return keys.size() - before;
}

void HostKeyReader::Encode(const std::string& row) {
  keys_.clear();
  for (size_t at = 0; at < row.size();) {
    KeyHead head;
    std::memcpy(&head, row.data() + at, sizeof head);
    at += sizeof head;
    keys_.push_back({.column = head.column,
                     .kind = head.kind,
                     .bytes = std::string_view(row).substr(at, head.bytes)});
    at += head.bytes;
  }
  const HostKeyList list{keys_.size(), keys_.data(), [](const void* keys, size_t i) {
                           return static_cast<const HostKey*>(keys)[i];
                         }};
  encoded_.resize(HostKeysBytes(list));
  EncodeHostKeys(list, encoded_.data());
}

}  // namespace pigment
