// SPDX-License-Identifier: Apache-2.0
//
// Columns of records.

#include "tools/batch.h"

#include "tools/session.h"

namespace pigment_tool {

void Texts::Clear() {
  offsets_.assign(1, 0);
  bytes_.clear();
  validity_.clear();
  absent_ = 0;
}

void Texts::Append(std::string_view text, bool is_present) {
  const size_t row = size();
  if (row % 8 == 0) validity_.push_back(0);
  if (is_present) validity_.back() |= static_cast<uint8_t>(1u << (row % 8));
  absent_ += is_present ? 0 : 1;
  bytes_ += text;
  offsets_.push_back(static_cast<int64_t>(bytes_.size()));
}

size_t BytesOf(const Record& record) {
  const auto size = [](const auto& text) { return text ? text->size() : 0; };
  return record.id.size() + size(record.document) + size(record.metadata) + size(record.uri) +
         size(record.embedding) * sizeof(float);
}

bool Batch::Add(const Record& record) {
  const size_t dimension = record.embedding ? record.embedding->size() : 0;
  if (!is_empty() && dimension != dimension_) return false;
  if (!known_.insert(record.id).second) return false;
  dimension_ = dimension;
  ids_.Add(record.id);
  documents_.AddOptional(record.document);
  metadatas_.AddOptional(record.metadata);
  uris_.AddOptional(record.uri);
  if (record.embedding) {
    values_.insert(values_.end(), record.embedding->begin(), record.embedding->end());
  }
  return true;
}

size_t Batch::bytes() const {
  return ids_.bytes() + documents_.bytes() + metadatas_.bytes() + uris_.bytes() +
         values_.size() * sizeof(float);
}

void Batch::WriteTo(pigment_collection* collection, WriteMode mode, WriteCounts& counts) {
  if (is_empty()) return;
  pigment_records records{};
  records.struct_size = sizeof records;
  records.count = rows();
  records.ids = ids_.column();
  if (dimension_ > 0) {
    records.embeddings = {values_.data(), rows(), dimension_, 0, PIGMENT_F32};
  }
  if (documents_.has_text()) records.documents = documents_.column();
  if (metadatas_.has_text()) records.metadatas = metadatas_.column();
  if (uris_.has_text()) records.uris = uris_.column();
  pigment_write_result written{};
  written.struct_size = sizeof written;
  pigment_error* error = nullptr;
  const pigment_call_options options = CallOptions();
  const auto write = mode == WriteMode::kAdd      ? pigment_collection_add
                     : mode == WriteMode::kUpdate ? pigment_collection_update
                                                  : pigment_collection_upsert;
  Check(write(collection, &records, &options, &written, &error), error);
  counts.inserted += written.inserted;
  counts.updated += written.updated;
  counts.skipped += written.skipped;
  Clear();
}

void Batch::Clear() {
  ids_.Clear();
  documents_.Clear();
  metadatas_.Clear();
  uris_.Clear();
  values_.clear();
  known_.clear();
  dimension_ = 0;
}

}  // namespace pigment_tool
