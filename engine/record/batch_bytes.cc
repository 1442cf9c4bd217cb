// SPDX-License-Identifier: Apache-2.0
//
// The sums of what record.cc and metadata.cc append.

#include "engine/record/batch_bytes.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/limits.h"

namespace pigment {
namespace {

constexpr uint64_t kHeadBytes = 16;  // all before the ids

uint64_t BytesOf(const Erased&) { return 0; }
uint64_t BytesOf(const std::string& value) { return sizeof(uint32_t) + value.size(); }
uint64_t BytesOf(int64_t) { return sizeof(int64_t); }
uint64_t BytesOf(double) { return sizeof(double); }
uint64_t BytesOf(bool) { return 1; }
template <typename T>
uint64_t BytesOf(const std::vector<T>& values) {
  uint64_t bytes = sizeof(uint32_t);
  for (size_t i = 0; i < values.size(); ++i) bytes += BytesOf(static_cast<const T&>(values[i]));
  return bytes;
}

// With its length before it.
uint64_t BytesOfText(uint64_t size) { return sizeof(uint64_t) + size; }

}  // namespace

uint64_t EncodedBytes(const Metadata& metadata) {
  uint64_t bytes = sizeof(uint32_t);
  for (const auto& [key, value] : metadata) {
    bytes += BytesOf(key) + 1;
    bytes += std::visit([](const auto& held) { return BytesOf(held); }, value);
  }
  return bytes;
}

uint64_t EncodedBytes(const WriteBatch& batch) {
  uint64_t bytes = kHeadBytes + batch.embeddings.size() * sizeof(float);
  for (const std::string& id : batch.ids) bytes += BytesOfText(id.size());
  for (const auto* texts : {&batch.documents, &batch.uris})
    for (const std::optional<std::string>& text : *texts)
      bytes += 1 + (text ? BytesOfText(text->size()) : 0);
  for (const std::optional<Metadata>& metadata : batch.metadatas)
    bytes += 1 + (metadata ? BytesOfText(EncodedBytes(*metadata)) : 0);
  return bytes;
}

Status CheckBatchBytes(uint64_t bytes) {
  if (bytes <= kRecordPayloadBytesMax) return Status::Ok();
  return BeyondLimit(limit::kRecordPayloadBytesMax,
                     fmt::format("a batch of {} bytes is too large for the log", bytes));
}

}  // namespace pigment
