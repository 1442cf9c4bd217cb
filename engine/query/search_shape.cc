// SPDX-License-Identifier: Apache-2.0
//
// Fetching and shaping: see the header.

#include "engine/query/search_shape.h"

#include <fmt/format.h>

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

uint64_t BytesOf(const FetchedRow& row) {
  return row.id.size() + row.embedding.size_bytes() + (row.document ? row.document->size() : 0) +
         (row.uri ? row.uri->size() : 0);
}

}  // namespace

RowFetcher::RowFetcher(const Version& version, const Include& include, ReadCounters* counters,
                       SegmentReaders* readers)
    : version_(version),
      fields_{.embedding = include.embeddings,
              .document = include.documents,
              .metadata = include.metadatas,
              .uri = include.uris},
      counters_(counters),
      readers_(readers) {}

Result<FetchedRow> RowFetcher::Fetch(const RowPlace& place) {
  if (place.source == RowPlace::kTail) {
    const FetchedRow row = FetchFromTail(version_.tail.row(place.row));
    ++counters_->tail_rows_fetched;
    counters_->tail_bytes += BytesOf(row);
    return row;
  }
  PIGMENT_ASSIGN_OR_RETURN(const FetchedRow row,
                           FetchFromSegment(readers_->Of(place.source), place.row));
  ++counters_->segment_rows_fetched;
  counters_->segment_bytes += BytesOf(row);
  return row;
}

FetchedRow RowFetcher::FetchFromTail(const Record& record) {
  FetchedRow row;
  row.id = record.id;
  if (fields_.embedding) row.embedding = record.embedding;
  if (fields_.document && record.document) row.document = *record.document;
  if (fields_.uri && record.uri) row.uri = *record.uri;
  if (fields_.metadata && record.metadata) {
    metadata_json_ = MetadataToJson(*record.metadata);
    row.metadata_json = metadata_json_;
  }
  return row;
}

Result<FetchedRow> RowFetcher::FetchFromSegment(RowReader& reader, uint32_t number) {
  FetchedRow row;
  PIGMENT_ASSIGN_OR_RETURN(row.id, reader.ReadId(number));
  if (fields_.embedding) {
    PIGMENT_ASSIGN_OR_RETURN(row.embedding, reader.ReadVector(number));
  }
  if (!fields_.document && !fields_.metadata && !fields_.uri) return row;
  PIGMENT_ASSIGN_OR_RETURN(const RecordTexts texts, reader.ReadTexts(number, fields_));
  row.document = texts.document;
  row.uri = texts.uri;
  if (texts.metadata) {
    metadata_json_.clear();
    PIGMENT_RETURN_IF_ERROR(reader.AppendMetadataJson(number, *texts.metadata, metadata_json_));
    row.metadata_json = metadata_json_;
  }
  return row;
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

void Shaper::BeginScores(bool with_highlights) {
  result_.has_scores = true;
  Begin(result_.highlights, with_highlights, 0);
}

void Shaper::AppendHighlights(std::string_view json) {
  AppendText(result_.highlights, rows_, json);
}

Status Shaper::Append(const FetchedRow& row) {
  const Include& include = result_.included;
  AppendText(result_.ids, rows_, row.id);
  if (include.documents) AppendText(result_.documents, rows_, row.document);
  if (include.uris) AppendText(result_.uris, rows_, row.uri);
  if (include.metadatas) AppendText(result_.metadatas, rows_, row.metadata_json);
  if (include.embeddings) {
    if (row.embedding.size() != result_.dimension) {
      return DataLoss(Detail::kMiscounted, "", -1,
                      fmt::format("record \"{}\" has {} numbers, its collection has dimension {}",
                                  row.id, row.embedding.size(), result_.dimension));
    }
    result_.embeddings.insert(result_.embeddings.end(), row.embedding.begin(), row.embedding.end());
  }
  ++rows_;
  return Status::Ok();
}

}  // namespace pigment
