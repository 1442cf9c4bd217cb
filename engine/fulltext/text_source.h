// SPDX-License-Identifier: Apache-2.0
//
// The seam from which the index of one row group is read: the parts of a segment, or memory. What
// it gives may be damaged; who reads checks it and says so by Damaged. One thread.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/fulltext/text_group.h"

namespace pigment {

// Bytes by their place, valid until the next call on the same object; `copy` may hold them. Beyond
// the end: kDataLoss.
class TextBytes {
 public:
  virtual ~TextBytes() = default;
  virtual Result<std::string_view> View(uint64_t begin, uint64_t size, std::string& copy) = 0;
};

class TextSource {
 public:
  virtual ~TextSource() = default;

  uint32_t rows() const { return rows_; }
  uint32_t documents() const { return documents_; }  // rows with a term
  uint64_t words() const { return words_; }
  uint32_t blocks() const { return blocks_; }  // of terms

  virtual Result<TextTermBlock> ReadBlock(uint32_t block) = 0;  // REQUIRES: block < blocks()
  virtual TextBytes& terms() = 0;
  // A reader of its own for each list, so that each stays where it is.
  virtual std::unique_ptr<TextBytes> NewPostings() = 0;
  // Lengths of rows that follow each other and have `row` among them: u32 each, until kLengthsKept
  // more calls. REQUIRES: row < rows().
  static constexpr size_t kLengthsKept = 4;
  struct Lengths {
    uint32_t first = 0;
    uint32_t count = 0;
    const std::byte* values = nullptr;

    bool Has(uint32_t row) const { return row - first < count; }
    uint32_t Of(uint32_t row) const {  // REQUIRES: Has(row)
      return LoadLittle<uint32_t>(values + size_t{row - first} * sizeof(uint32_t));
    }
  };
  virtual Result<Lengths> ReadLengths(uint32_t row) = 0;

  virtual Status Damaged(const std::string& message) const = 0;

 protected:
  TextSource(uint32_t rows, uint32_t documents, uint64_t words, uint32_t blocks)
      : rows_(rows), documents_(documents), words_(words), blocks_(blocks) {}

 private:
  const uint32_t rows_;
  const uint32_t documents_;
  const uint64_t words_;
  const uint32_t blocks_;
};

// A group in memory, which is shared.
std::unique_ptr<TextSource> MakeMemoryTextSource(std::shared_ptr<const TextGroup> group);

// Lengths of documents by row. An error makes every length 0 and is kept.
class LengthReader {
 public:
  explicit LengthReader(TextSource* source) : source_(source) {}

  // REQUIRES: row < source->rows().
  uint32_t Of(uint32_t row) {
    if (!run_.Has(row)) [[unlikely]]
      Move(row);
    return run_.count != 0 ? run_.Of(row) : 0;
  }
  // Of rows that ascend, with room for as many.
  void Of(std::span<const uint32_t> rows, uint32_t* lengths) {
    for (size_t i = 0; i < rows.size();) {
      lengths[i] = Of(rows[i]);
      const TextSource::Lengths run = run_;
      size_t end = ++i;
      if (run.Has(rows.back())) {
        end = rows.size();
      } else {
        while (end < rows.size() && run.Has(rows[end])) ++end;
      }
      for (; i < end; ++i) lengths[i] = run.Of(rows[i]);
    }
  }
  const Status& status() const { return status_; }

 private:
  void Move(uint32_t row);

  TextSource* const source_;
  TextSource::Lengths run_;
  // The last that were read: lists are walked one after the other through the same rows, and those
  // may lie in several.
  std::array<TextSource::Lengths, TextSource::kLengthsKept> runs_;
  size_t oldest_ = 0;
  Status status_;
};

}  // namespace pigment
