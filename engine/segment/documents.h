// SPDX-License-Identifier: Apache-2.0
//
// Documents of a segment: one stream of bytes, document after document. Short ones are stored as
// they are, long ones in chunks of equal size that are compressed apart (zstd), so that reading one
// document inflates one chunk, or two where it lies on a border; a chunk that hardly shrinks is
// stored as it is. The first documents tell how long they are. One thread each; everything is
// borrowed.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/memory_budget.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/part_writer.h"

struct ZSTD_CCtx_s;

namespace pigment {

class DocumentWriter {
 public:
  DocumentWriter(BlockPacker* packer, Reservation* reservation);
  ~DocumentWriter();

  // Where the next document begins, in bytes before compression.
  uint64_t bytes() const { return bytes_; }
  Status Add(std::string_view document);
  // Writes what remains. Without any bytes there are no parts.
  Status Finish();
  // What the root says of the chunks, after Finish; 0 where there are none.
  uint32_t chunk_bytes() const { return chunk_bytes_; }

 private:
  // Ends the sample: decides about chunks, and writes what was kept until then.
  Status Decide();
  Status Put(std::string_view bytes);
  Status PutChunk();
  Result<std::string_view> Compress();

  BlockPacker* const packer_;
  Reservation* const reservation_;
  ZSTD_CCtx_s* context_ = nullptr;
  uint64_t bytes_ = 0;
  bool is_decided_ = false;
  uint32_t chunk_bytes_ = 0;  // 0: there are none
  uint32_t sampled_ = 0;      // documents in the sample that are not empty
  std::string sample_;
  std::string chunk_;
  std::string compressed_;
};

class DocumentReader {
 public:
  DocumentReader(BlockSource* source, const Root* root);

  // Bytes offset .. offset + size - 1; a view that the next call ends. Beyond the documents, or a
  // chunk that does not inflate to what it must: kDataLoss. Never takes memory for more than it
  // inflated and one chunk.
  Result<std::string_view> Read(uint64_t offset, uint32_t size);
  // They are likely to be read soon: asks memory for the first of them. Never fails.
  void Expect(uint64_t offset, uint32_t size);

 private:
  Status Load(uint64_t chunk);
  Status Inflate(uint64_t chunk, std::string_view compressed, size_t bytes);

  const Root* const root_;
  PartCursor chunks_;
  PartCursor stream_;
  uint64_t loaded_ = ~uint64_t{0};  // number of the chunk in chunk_
  std::string chunk_;
  std::string compressed_;
  std::string joined_;  // a document that lies in several chunks
};

}  // namespace pigment
