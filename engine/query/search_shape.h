// SPDX-License-Identifier: Apache-2.0
//
// Last stages of the read pipeline: fetch what `include` asks of each row, and shape it into
// columns. One call, one thread; the version is borrowed.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/query/search.h"
#include "engine/query/search_explain.h"
#include "engine/query/search_scan.h"

namespace pigment {

// What an answer gives of a row; absent where it was not asked for.
struct FetchedRow {
  std::string_view id;
  std::span<const float> embedding;
  std::optional<std::string_view> document;
  std::optional<std::string_view> metadata_json;
  std::optional<std::string_view> uri;
};

// Reads rows of a version with the fields that an answer needs.
class RowFetcher {
 public:
  RowFetcher(const Version& version, const Include& include, ReadCounters* counters,
             SegmentReaders* readers);

  // Valid until the next call.
  Result<FetchedRow> Fetch(const RowPlace& place);

 private:
  FetchedRow FetchFromTail(const Record& record);
  Result<FetchedRow> FetchFromSegment(RowReader& reader, uint32_t row);

  const Version& version_;
  const Segment::Fields fields_;
  ReadCounters* counters_;
  SegmentReaders* readers_;
  std::string metadata_json_;
};

// Appends rows to the columns of a result.
class Shaper {
 public:
  Shaper(const Version& version, const Include& include, uint64_t rows);

  Status Append(const FetchedRow& row);
  void AppendDistance(float distance) { result_.distances.push_back(distance); }
  // Of a text search: the row that is appended next.
  void BeginScores(bool with_highlights);
  void AppendScore(float score) { result_.scores.push_back(score); }
  void AppendHighlights(std::string_view json);
  void EndQuery() { result_.query_offsets.push_back(rows_); }
  ResultSet Finish() { return std::move(result_); }

 private:
  ResultSet result_;
  uint64_t rows_ = 0;
};

}  // namespace pigment
