// SPDX-License-Identifier: Apache-2.0
//
// Reads everything of a segment that may be damaged, as the corruption tests and the fuzzer do.
// Whatever the bytes are, each call must end with a status.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/segment/flat_scan.h"
#include "engine/segment/host_search.h"
#include "engine/segment/inverted_reader.h"
#include "engine/segment/segment.h"

namespace pigment {

// Rows looked at one by one; a root may claim any number.
inline constexpr uint32_t kExercisedRows = 200;

inline Status ExerciseRow(const Segment& segment, uint32_t row) {
  Status worst;
  const auto note = [&](const Status& status) {
    if (!status.ok()) worst = status;
  };
  const auto id = segment.ReadId(row);
  note(id.status());
  if (id.ok()) note(segment.FindRow(*id).status());
  note(segment.ReadRecord(row, {true, true, true, true}).status());
  note(segment.ReadRowVector(row).status());
  uint64_t pointer = 0;
  note(segment.ReadRowPointers(row, {&pointer, 1}));
  return worst;
}

// Terms and ranges of the keys that records of tests have.
inline Status ExerciseInverted(const Segment& segment) {
  const std::unique_ptr<InvertedReader> reader = segment.NewInvertedReader();
  if (reader == nullptr) return Status::Ok();
  Status worst = reader->UnindexedRows().status();
  const CallControl control;
  const std::string_view terms[] = {"", "a", "file:///id"};
  std::string low;
  AppendNumberTerm(int64_t{3}, low);
  for (const std::string_view key : {"", "number", "half", "name"}) {
    for (const FieldType type : {FieldType::kText, FieldType::kNumber, FieldType::kUri}) {
      RowSet rows = RowSet::Nothing(segment.info().rows);
      for (const Status& status :
           {reader->AddTerms(key, type, terms, control, rows),
            reader->AddRange(key, type, {.low = TermRange::Bound{low, false}}, rows)}) {
        if (!status.ok()) worst = status;
      }
      EXPECT_LE(rows.count(), segment.info().rows);
    }
  }
  return worst;
}

// The status of the whole check of a segment that opens, else why it does not open. Every error is
// damage or another version.
inline Status ExerciseSegment(BlockSource* source, uint32_t root) {
  const auto check = [](const Status& status) {
    EXPECT_TRUE(status.ok() || status.code() == Code::kDataLoss ||
                status.code() == Code::kVersionMismatch)
        << status.ToString();
  };
  auto opened = Segment::Open(source, root, std::nullopt);
  check(opened.status());
  if (!opened.ok()) return opened.status();
  const Segment& segment = **opened;
  const uint32_t dimension = segment.info().dimension;
  for (uint32_t row = 0; row < std::min(segment.info().rows, kExercisedRows); ++row) {
    (void)ExerciseRow(
        segment,
        row);  // a segment of a host has no ids, one of a store no row pointers: errors are right
  }
  check(segment.FindRow("no such id").status());
  check(ExerciseInverted(segment));
  const std::vector<float> query(dimension, 1.0f);
  FlatScan scan;
  scan.queries = query.data();
  scan.query_count = 1;
  scan.k = 10;
  check(ScanFlat(segment, dimension, scan).status());
  HostSearchOptions options;
  options.dimension = dimension;
  options.query = query;
  options.batch_bytes_max = 1600;
  HostSearch search(std::move(options));
  check(search.AddSegment(&segment, {}));
  std::vector<HostHit> hits(100);
  for (int calls = 0; calls < 20; ++calls) {
    const auto found = search.Next(hits);
    check(found.status());
    if (!found.ok() || *found == 0) break;
  }
  const Status verified = segment.Verify();
  check(verified);
  return verified;
}

}  // namespace pigment
