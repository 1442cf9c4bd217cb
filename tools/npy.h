// SPDX-License-Identifier: Apache-2.0
//
// NumPy's files of one matrix (.npy, formats 1 to 3): read from f2, f4, f8, i4 and i8,
// little-endian and row by row; written as f4. A reader maps the file, which nobody may shorten
// meanwhile. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pigment_tool {

class NpyReader {
 public:
  explicit NpyReader(const std::string& path);  // throws Failure
  ~NpyReader();
  NpyReader(const NpyReader&) = delete;
  NpyReader& operator=(const NpyReader&) = delete;

  uint64_t rows() const { return rows_; }
  size_t dimension() const { return dimension_; }
  // What f32 cannot hold becomes infinite, which the library refuses.
  void Read(uint64_t row, std::vector<float>& vector) const;

 private:
  void ParseHeader(const std::string& path);

  const unsigned char* data_ = nullptr;
  size_t size_ = 0;
  size_t begin_ = 0;  // of the first row
  uint64_t rows_ = 0;
  size_t dimension_ = 0;
  char kind_ = 0;  // 'f' or 'i'
  size_t width_ = 0;
};

// The head says how many rows there are only after Finish(): a file that was not finished reads as
// one of none.
class NpyWriter {
 public:
  // Goes on behind `rows` rows of a file that is there, or makes one when there are none.
  NpyWriter(const std::string& path, uint64_t rows, size_t dimension);
  ~NpyWriter();
  NpyWriter(const NpyWriter&) = delete;
  NpyWriter& operator=(const NpyWriter&) = delete;

  void Add(std::span<const float> vector);
  void Sync();  // rows that were added are durable
  void Finish();

  size_t dimension() const { return dimension_; }

 private:
  void WriteHead(uint64_t rows);
  void Fail() const;

  std::string path_;
  int file_;
  std::vector<float> pending_;
  uint64_t rows_;
  size_t dimension_;  // 0 until the first row
};

}  // namespace pigment_tool
