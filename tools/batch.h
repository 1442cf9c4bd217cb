// SPDX-License-Identifier: Apache-2.0
//
// Records on their way into a collection, as the columns that the library takes. Owns its bytes; a
// column is valid until the next change. One thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "pigment/pigment.h"

namespace pigment_tool {

// A column of texts, some of which may be absent.
class Texts {
 public:
  void Add(std::string_view text) { Append(text, true); }
  void AddAbsent() { Append({}, false); }
  void AddOptional(const std::optional<std::string>& text) { text ? Add(*text) : AddAbsent(); }
  void Clear();

  size_t size() const { return offsets_.size() - 1; }
  size_t bytes() const { return bytes_.size(); }
  bool has_text() const { return absent_ < size(); }
  pigment_text_column column() const {
    return {offsets_.data(), bytes_.data(), absent_ > 0 ? validity_.data() : nullptr};
  }

 private:
  void Append(std::string_view text, bool is_present);

  std::vector<int64_t> offsets_{0};
  std::string bytes_;
  std::vector<uint8_t> validity_;
  size_t absent_ = 0;
};

struct Record {
  std::string id;
  std::optional<std::vector<float>> embedding;
  std::optional<std::string> document;
  std::optional<std::string> metadata;  // JSON
  std::optional<std::string> uri;
};

// Of what it holds.
size_t BytesOf(const Record& record);

enum class WriteMode { kAdd, kUpdate, kUpsert };

struct WriteCounts {
  uint64_t inserted = 0;
  uint64_t updated = 0;
  uint64_t skipped = 0;
};

class Batch {
 public:
  static constexpr size_t kRowsMax = 2000;
  static constexpr size_t kBytesMax = 16 << 20;

  // False, and nothing is added, when the record does not go with those before it: its id is among
  // them, or it has another dimension or alone a vector. Write them first.
  bool Add(const Record& record);
  bool is_empty() const { return ids_.size() == 0; }
  bool is_full() const { return ids_.size() >= kRowsMax || bytes() >= kBytesMax; }
  size_t rows() const { return ids_.size(); }

  // Writes everything and is empty afterwards; nothing happens when it is.
  void WriteTo(pigment_collection* collection, WriteMode mode, WriteCounts& counts);

 private:
  size_t bytes() const;
  void Clear();

  Texts ids_;
  Texts documents_;
  Texts metadatas_;
  Texts uris_;
  std::vector<float> values_;
  size_t dimension_ = 0;
  std::unordered_set<std::string> known_;
};

}  // namespace pigment_tool
