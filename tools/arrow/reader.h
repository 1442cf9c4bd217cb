// SPDX-License-Identifier: Apache-2.0
//
// A file or stream of Arrow as records: columns id (utf8), document (utf8 or binary), metadata
// (utf8: JSON objects), uri (utf8) and embedding (lists of float16, float32, float64, int32 or
// int64), by name, in any order; `id` must be there, others must not. Maps the file, which nobody
// may shorten meanwhile. One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/arrow/flat_buffer.h"
#include "tools/batch.h"

namespace pigment_tool {

class ArrowReader {
 public:
  explicit ArrowReader(const std::string& path);  // throws Failure, as all that follows
  ~ArrowReader();
  ArrowReader(const ArrowReader&) = delete;
  ArrowReader& operator=(const ArrowReader&) = delete;

  // False at the end.
  bool Next(Record& record);

  // Where the next record is: the message of its batch, and its row there.
  uint64_t offset() const { return batch_at_; }
  uint64_t row() const { return row_; }
  void GoTo(uint64_t offset, uint64_t row);
  uint64_t bytes() const { return data_.size(); }
  // "data.arrow, batch at byte 784, row 17": of the record that Next gave last.
  std::string where() const;

 private:
  struct Field;
  struct Column;
  struct Message;

  Message ReadMessage(uint64_t at) const;
  void ReadSchema(const FlatTable& schema);
  bool OpenBatch();  // at next_; false at the end
  template <typename Read>
  auto Guarded(const Read& read) const;

  std::string path_;
  Bytes data_;
  uint64_t first_batch_ = 0;
  uint64_t batch_at_ = 0;
  uint64_t next_ = 0;  // the message behind the batch
  uint64_t rows_ = 0;  // of the batch
  uint64_t row_ = 0;
  std::vector<Field> fields_;
  std::vector<Column> columns_;  // of the batch, as fields_
};

}  // namespace pigment_tool
