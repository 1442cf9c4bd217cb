// SPDX-License-Identifier: Apache-2.0
//
// Reads everything of a segment that may be damaged, as the corruption tests and the fuzzer do.
// Whatever the bytes are, each call must end with a status.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/fulltext/posting_cursor.h"
#include "engine/fulltext/text_lookup.h"
#include "engine/segment/cell_reader.h"
#include "engine/segment/flat_scan.h"
#include "engine/segment/host_search.h"
#include "engine/segment/inverted_reader.h"
#include "engine/segment/row_reader.h"
#include "engine/segment/segment.h"
#include "engine/segment/text_reader.h"

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
  const FoldedText folded("FILE:///id1");
  std::string low;
  AppendNumberTerm(int64_t{3}, low);
  for (const std::string_view key : {"", "number", "half", "name"}) {
    for (const FieldType type :
         {FieldType::kText, FieldType::kNumber, FieldType::kUri, FieldType::kHasDocument}) {
      RowSet rows = RowSet::Nothing(segment.info().rows);
      for (const Status& status :
           {reader->CountTerms(key, type, RowSet(segment.info().rows), control,
                               [](std::string_view, uint64_t) { return Status::Ok(); }),
            reader->RowsOfField(key, type).status(),
            reader->AddTerms(key, type, terms, control, rows),
            reader->AddRange(key, type, {.low = TermRange::Bound{low, false}}, control, rows),
            reader->AddField(key, type, rows),
            reader->AddFolded(key, type, {.text = folded, .is_prefix = true}, control, rows)}) {
        if (!status.ok()) worst = status;
      }
      EXPECT_LE(rows.count(), segment.info().rows);
    }
  }
  return worst;
}

// Texts that documents of tests have, and where these lie.
inline Status ExerciseCells(const Segment& segment) {
  const std::unique_ptr<CellReader> reader = segment.NewCellReader();
  if (reader == nullptr) return Status::Ok();
  Status worst;
  const auto note = [&](const Status& status) {
    if (!status.ok()) worst = status;
  };
  const std::unique_ptr<RowReader> rows = segment.NewReader();
  for (const std::string_view text : {"e", "do", "document", "x and y"})
    note(reader->RowsWith(text, RowSet(reader->rows()), {}).status());
  CellReader::Documents documents;
  const uint32_t words = (std::min(reader->rows(), kExercisedRows) + 63) / 64;
  for (uint32_t number = 0; number < words; ++number) {
    const Status status = reader->ReadDocuments(number, documents);
    note(status);
    if (!status.ok() || !documents.are_known()) continue;
    note(rows->ViewDocuments(documents.begin, documents.ends[documents.rows - 1]).status());
  }
  return worst;
}

// Every list of a text index, with all its places.
inline Status ExerciseText(const Segment& segment) {
  const std::unique_ptr<TextReader> reader = segment.NewTextReader();
  if (reader == nullptr) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(reader->ReadIdentity().status());
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<TextReader::Group> groups, reader->ReadGroups());
  for (const TextReader::Group& group : groups) {
    if (!group.is_indexed) continue;
    const std::unique_ptr<TextSource> source = reader->NewSource(group);
    LengthReader lengths(source.get());
    PIGMENT_RETURN_IF_ERROR(FindTerm(*source, "common").status());
    PIGMENT_RETURN_IF_ERROR(VisitPrefix(*source, "", [&](const TextList& list) -> Status {
      PIGMENT_ASSIGN_OR_RETURN(PostingCursor cursor,
                               PostingCursor::Open(source.get(), list, lengths));
      EXPECT_LE(cursor.documents(), group.rows);
      for (uint32_t block = 0; block < cursor.blocks(); ++block) {
        PIGMENT_RETURN_IF_ERROR(cursor.Load(block));
        for (const uint32_t row : cursor.rows()) EXPECT_LT(row, group.rows);
        PIGMENT_RETURN_IF_ERROR(cursor.Positions().status());
      }
      return Status::Ok();
    }));
    PIGMENT_RETURN_IF_ERROR(lengths.status());
  }
  return Status::Ok();
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
  check(ExerciseCells(segment));
  check(ExerciseText(segment));
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
