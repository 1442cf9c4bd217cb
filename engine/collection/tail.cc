// SPDX-License-Identifier: Apache-2.0
//
// Tail: see the header.

#include "engine/collection/tail.h"

#include <algorithm>
#include <utility>

namespace pigment {

namespace {

// What a map node, a variant and the allocator cost beside the bytes of a key and a value; an
// estimate.
constexpr uint64_t kMetadataEntryBytes = 96;
constexpr uint64_t kRecordOverheadBytes = sizeof(Record) + 96;

uint64_t ValueBytes(const MetadataValue& value) {
  return std::visit(
      [](const auto& held) -> uint64_t {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return held.size();
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          uint64_t bytes = 0;
          for (const std::string& element : held) bytes += sizeof(std::string) + element.size();
          return bytes;
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
          return held.size() / 8 + 8;
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>> ||
                             std::is_same_v<T, std::vector<double>>) {
          return held.size() * 8;
        } else {
          return 0;
        }
      },
      value);
}

}  // namespace

uint64_t RecordBytes(const Record& record) {
  uint64_t bytes =
      kRecordOverheadBytes + record.id.size() + record.embedding.size() * sizeof(float);
  if (record.document) bytes += record.document->size();
  if (record.uri) bytes += record.uri->size();
  if (record.metadata) {
    for (const auto& [key, value] : *record.metadata)
      bytes += kMetadataEntryBytes + key.size() + ValueBytes(value);
  }
  return bytes;
}

void Tail::Append(std::shared_ptr<const Record> record) {
  if (rows_ % TailChunk::kRows == 0) {
    auto chunk = std::make_shared<TailChunk>();
    chunk->rows.reserve(TailChunk::kRows);
    chunks_.push_back(std::move(chunk));
  }
  live_.insert_or_assign(std::string_view(record->id), rows_);
  bytes_ += RecordBytes(*record);
  chunks_.back()->rows.push_back(std::move(record));
  ++rows_;
}

std::optional<uint32_t> Tail::Find(std::string_view id) const {
  const auto found = live_.find(id);
  if (found == live_.end()) return std::nullopt;
  return found->second;
}

void Tail::Erase(std::span<const uint32_t> rows) {
  if (rows.empty()) return;
  for (const uint32_t index : rows) {
    const auto found = live_.find(row(index).id);
    // An update appends the successor before its predecessor is erased: the name then belongs to
    // the successor.
    if (found != live_.end() && found->second == index) live_.erase(found);
  }
  const uint32_t last = *std::max_element(rows.begin(), rows.end());
  RowBitmap bitmap = deleted_ ? *deleted_ : RowBitmap(0);
  if (last >= bitmap.rows()) {
    bitmap = bitmap.Grown((last / RowBitmap::kPageRows + 1) * RowBitmap::kPageRows);
  }
  deleted_ = std::make_shared<const RowBitmap>(bitmap.With(rows));
}

TailView Tail::View() const { return TailView{{chunks_.begin(), chunks_.end()}, rows_, deleted_}; }

Tail Tail::After(uint32_t first) const {
  Tail rest;
  for (uint32_t index = first; index < rows_; ++index) {
    if (deleted_ && index < deleted_->rows() && deleted_->Test(index)) continue;
    rest.Append(chunks_[index / TailChunk::kRows]->rows[index % TailChunk::kRows]);
  }
  return rest;
}

}  // namespace pigment
