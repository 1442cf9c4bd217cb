// SPDX-License-Identifier: Apache-2.0
//
// Tail: see the header.

#include "engine/collection/tail.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"

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

constexpr uint32_t kFirstChunkRows = 4;

// Of the rows of `chunks` below `rows`, from the newest back.
template <typename Chunks, typename IsLive>
std::optional<uint32_t> FindInChunks(const Chunks& chunks, uint32_t rows, std::string_view id,
                                     const IsLive& is_live) {
  const uint64_t hash = HashOfId(id);
  for (size_t chunk = chunks.size(); chunk-- > 0;) {
    const auto first = static_cast<uint32_t>(chunk * TailChunk::kRows);
    const auto found = chunks[chunk]->Find(id, hash, rows - first,
                                           [&](uint32_t row) { return is_live(first + row); });
    if (found) return first + *found;
  }
  return std::nullopt;
}

}  // namespace

uint64_t HashOfId(std::string_view id) { return Xxh3_64(AsBytes(id)); }

void TailChunk::Append(std::shared_ptr<const Record> record, uint64_t hash) {
  rows.push_back(std::move(record));
  size_t slot = hash % slots_.size();
  while (slots_[slot].load(std::memory_order_relaxed) != 0) slot = (slot + 1) % slots_.size();
  const auto row_and_one = static_cast<uint32_t>(rows.size());
  slots_[slot].store(TagOf(hash) * (kRows * 2) + row_and_one, std::memory_order_release);
}

uint64_t RecordBytes(const Record& record) {
  const auto dimension = static_cast<uint32_t>(record.embedding.size() + 15) / 16 * 16;
  const uint64_t code_bytes = GraphNodeBytes(ClusterCodeBits(dimension) * dimension, 8) / 8;
  uint64_t bytes = kRecordOverheadBytes + record.id.size() +
                   record.embedding.size() * sizeof(float) + code_bytes;
  if (record.document) bytes += record.document->size();
  if (record.uri) bytes += record.uri->size();
  if (record.metadata) {
    for (const auto& [key, value] : *record.metadata)
      bytes += kMetadataEntryBytes + key.size() + ValueBytes(value);
  }
  return bytes;
}

// Room for one row more in the last chunk.
void Tail::MakeRoom() {
  if (rows_ % TailChunk::kRows == 0) {
    chunks_.push_back(
        std::make_shared<TailChunk>(chunks_.empty() ? kFirstChunkRows : TailChunk::kRows));
  }
  const TailChunk& last = *chunks_.back();
  if (last.rows.size() < last.capacity()) return;
  auto larger = std::make_shared<TailChunk>(std::min(4 * last.capacity(), TailChunk::kRows));
  for (const auto& record : last.rows) larger->Append(record, HashOfId(record->id));
  chunks_.back() = std::move(larger);  // views keep the one that they know
}

void Tail::Append(std::shared_ptr<const Record> record) {
  MakeRoom();
  bytes_ += RecordBytes(*record);
  const uint64_t hash = HashOfId(record->id);
  chunks_.back()->Append(std::move(record), hash);
  ++rows_;
}

std::optional<uint32_t> Tail::Find(std::string_view id) const {
  return FindInChunks(chunks_, rows_, id, [this](uint32_t row) { return IsLive(row); });
}

std::optional<uint32_t> TailView::Find(std::string_view id) const {
  return FindInChunks(chunks, rows, id, [this](uint32_t row) { return IsLive(row); });
}

void Tail::Erase(std::span<const uint32_t> rows) {
  if (rows.empty()) return;
  const uint32_t last = *std::max_element(rows.begin(), rows.end());
  RowBitmap bitmap = deleted_ ? *deleted_ : RowBitmap(0);
  if (last >= bitmap.rows()) {
    bitmap = bitmap.Grown((last / RowBitmap::kPageRows + 1) * RowBitmap::kPageRows);
  }
  deleted_ = std::make_shared<const RowBitmap>(bitmap.With(rows));
}

void Tail::SetHung(const TailView& view, std::shared_ptr<const TailGraft> hung) {
  if (chunks_.empty() || chunks_.front() != view.chunks.front()) return;
  hung_ = std::move(hung);
}

TailView Tail::View() const {
  return TailView{{chunks_.begin(), chunks_.end()}, rows_, deleted_, hung_};
}

Tail Tail::After(uint32_t first) const {
  Tail rest;
  for (uint32_t index = first; index < rows_; ++index) {
    if (deleted_ && index < deleted_->rows() && deleted_->Test(index)) continue;
    rest.Append(chunks_[index / TailChunk::kRows]->rows[index % TailChunk::kRows]);
  }
  return rest;
}

}  // namespace pigment
