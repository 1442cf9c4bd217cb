// SPDX-License-Identifier: Apache-2.0
//
// The vectors in the files of hnswlib that Chroma keeps of a collection: header.bin,
// data_level0.bin, length.bin, index_metadata.pickle. Read one by one, from open files; not the
// graph. One thread.
//
// header.bin, little-endian: 0 version (u32, 1), 4 offset of level 0 (u64), 12 elements there is
// room for (u64), 20 elements (u64), 28 bytes of an element (u64), 36 offset of the label in it
// (u64), 44 offset of the vector in it (u64), then the graph's parameters.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace pigment_tool {

class HnswVectors {
 public:
  // A folder that is missing, or that nothing was written to yet, has no vectors. Throws Failure
  // (DATA_LOSS).
  HnswVectors(const std::string& folder, bool is_normalized);
  ~HnswVectors();
  HnswVectors(const HnswVectors&) = delete;
  HnswVectors& operator=(const HnswVectors&) = delete;

  size_t size() const { return slots_.size(); }
  // False when there is none of that id.
  bool Find(const std::string& id, std::vector<float>& vector) const;
  // Up to which place of the log the files go, as old versions say; -1: they do not.
  int64_t log_position() const { return log_position_; }

 private:
  void ReadHeader(const std::string& path);
  std::unordered_map<uint64_t, uint64_t> SlotsByLabel() const;
  void ReadPickle(const std::string& path);
  void ReadAt(int file, uint64_t offset, void* to, size_t size) const;

  std::string folder_;
  bool is_normalized_;
  int data_ = -1;
  int lengths_ = -1;
  uint64_t elements_ = 0;
  uint64_t element_bytes_ = 0;
  uint64_t label_offset_ = 0;
  uint64_t vector_offset_ = 0;
  int64_t log_position_ = -1;
  std::unordered_map<std::string, uint64_t> slots_;
};

}  // namespace pigment_tool
