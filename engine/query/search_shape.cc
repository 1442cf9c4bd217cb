// SPDX-License-Identifier: Apache-2.0
//
// Fetching and shaping: see the header.

#include "engine/query/search_shape.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

namespace pigment {

namespace {

void SetBit(std::vector<uint8_t>& bits, uint64_t row) {
  bits[row / 8] |= static_cast<uint8_t>(1 << (row % 8));
}

void AppendText(TextColumn& column, uint64_t row, std::optional<std::string_view> text) {
  // Validity begins with the first row that has nothing; all before it were present.
  if (!text && column.validity.empty()) {
    column.validity.assign(row / 8 + 1, 0);
    for (uint64_t earlier = 0; earlier < row; ++earlier) SetBit(column.validity, earlier);
  }
  if (!column.validity.empty()) {
    column.validity.resize(row / 8 + 1, 0);
    if (text) SetBit(column.validity, row);
  }
  if (text) column.bytes += *text;
  column.offsets.push_back(static_cast<int64_t>(column.bytes.size()));
}

void Begin(TextColumn& column, bool is_wanted, uint64_t rows) {
  if (!is_wanted) return;
  column.offsets.reserve(rows + 1);
  column.offsets.push_back(0);
}

}  // namespace

RowFetcher::RowFetcher(const Version& version, const Include& include, ReadCounters* counters)
    : version_(version),
      fields_{.embedding = include.embeddings,
              .document = include.documents,
              .metadata = include.metadatas,
              .uri = include.uris},
      counters_(counters) {}

Result<const Record*> RowFetcher::Fetch(const RowPlace& place) {
  if (place.source == RowPlace::kTail) {
    const Record& record = version_.tail.row(place.row);
    ++counters_->tail_rows_fetched;
    counters_->tail_bytes += BytesRead(record, fields_, true);
    return &record;
  }
  readers_.resize(version_.segments.size());
  std::unique_ptr<RowReader>& reader = readers_[place.source];
  if (!reader) reader = version_.segments[place.source].segment->NewReader();
  if (fields_.embedding || fields_.document || fields_.metadata || fields_.uri) {
    PIGMENT_RETURN_IF_ERROR(reader->ReadFields(place.row, fields_, &record_));
  }
  PIGMENT_ASSIGN_OR_RETURN(record_.id, reader->ReadId(place.row));
  ++counters_->segment_rows_fetched;
  counters_->segment_bytes += BytesRead(record_, fields_, true);
  return &record_;
}

Shaper::Shaper(const Version& version, const Include& include, uint64_t rows) {
  result_.included = include;
  result_.position = version.position;
  result_.dimension = version.dimension;
  result_.query_offsets.push_back(0);
  Begin(result_.ids, true, rows);
  Begin(result_.documents, include.documents, rows);
  Begin(result_.metadatas, include.metadatas, rows);
  Begin(result_.uris, include.uris, rows);
  if (include.embeddings) result_.embeddings.reserve(rows * version.dimension);
  if (include.distances) result_.distances.reserve(rows);
}

Status Shaper::Append(const Record& record) {
  const Include& include = result_.included;
  AppendText(result_.ids, rows_, record.id);
  if (include.documents) AppendText(result_.documents, rows_, record.document);
  if (include.uris) AppendText(result_.uris, rows_, record.uri);
  if (include.metadatas) {
    if (record.metadata) {
      AppendText(result_.metadatas, rows_, MetadataToJson(*record.metadata));
    } else {
      AppendText(result_.metadatas, rows_, std::nullopt);
    }
  }
  if (include.embeddings) {
    if (record.embedding.size() != result_.dimension) {
      return DataLoss(Detail::kMiscounted, "", -1,
                      fmt::format("record \"{}\" has {} numbers, its collection has dimension {}",
                                  record.id, record.embedding.size(), result_.dimension));
    }
    result_.embeddings.insert(result_.embeddings.end(), record.embedding.begin(),
                              record.embedding.end());
  }
  ++rows_;
  return Status::Ok();
}

}  // namespace pigment
