// SPDX-License-Identifier: Apache-2.0
//
// A collection that tells by its records how far its writer came: for readers and copies that look
// while it is written. Batch n adds the records n.a and n.b, and then batch n - kJournalLength is
// deleted. So what is there is one run of whole batches, whatever the moment. Header only.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/collection/store.h"
#include "engine/query/search.h"
#include "tests/support/store_model.h"

namespace pigment {

inline constexpr uint64_t kJournalLength = 30;

inline Status WriteJournal(Collection& journal, uint64_t number) {
  WriteBatch batch;
  batch.ids = {std::to_string(number) + ".a", std::to_string(number) + ".b"};
  batch.dimension = 2;
  batch.embeddings = {static_cast<float>(number), 0, static_cast<float>(number), 1};
  batch.documents = {std::string("first of ") + std::to_string(number), std::nullopt};
  PIGMENT_RETURN_IF_ERROR(journal.Write(batch).status());
  if (number < kJournalLength) return Status::Ok();
  WriteBatch erase;
  erase.kind = WriteKind::kDelete;
  const std::string old = std::to_string(number - kJournalLength);
  erase.ids = {old + ".a", old + ".b"};
  return journal.Write(erase).status();
}

// What is there: the number of the next batch, 0 when nothing was written. Anything but a run of
// whole batches with their own vectors: kInternal.
inline Result<uint64_t> ReadJournal(const Version& version) {
  GetRequest request;
  request.read.include.embeddings = true;
  PIGMENT_ASSIGN_OR_RETURN(const ResultSet rows, Get(version, request));
  std::vector<uint64_t> first, second;
  for (size_t row = 0; row < rows.query_offsets.back(); ++row) {
    const std::string id = TextAt(rows.ids, row).value_or("?");
    const uint64_t number = std::strtoull(id.c_str(), nullptr, 10);
    const bool is_first = id.ends_with(".a");
    (is_first ? first : second).push_back(number);
    if (rows.embeddings[row * 2] != static_cast<float>(number) ||
        rows.embeddings[row * 2 + 1] != (is_first ? 0.f : 1.f)) {
      return Internal("record " + id + " has another's vector");
    }
  }
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  if (first != second) return Internal("half of a batch");
  for (size_t i = 1; i < first.size(); ++i) {
    if (first[i] != first[i - 1] + 1) {
      return Internal("batch " + std::to_string(first[i - 1] + 1) + " is not there, the next is");
    }
  }
  if (first.empty()) return uint64_t{0};
  // The deletion of the batch that is due may be missing, and no other.
  const uint64_t next = first.back() + 1;
  const uint64_t due = next > kJournalLength ? next - kJournalLength : 0;
  if (first.front() != due && first.front() + 1 != due) {
    return Internal("batches " + std::to_string(first.front()) + " to " +
                    std::to_string(first.back()) + " are there");
  }
  return next;
}

inline Result<uint64_t> ReadJournal(Store& store) {
  PIGMENT_ASSIGN_OR_RETURN(const auto journal, store.GetCollection({}, "journal"));
  PIGMENT_ASSIGN_OR_RETURN(const auto version, journal->Pin());
  return ReadJournal(*version);
}

}  // namespace pigment
