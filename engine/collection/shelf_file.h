// SPDX-License-Identifier: Apache-2.0
//
// A shelf file, segments/N.shelf: the tails of collections that are cold and small, one record each
// (shelved_tail.h), so that they need neither the log nor a segment of their own. Written once and
// whole, never changed; entries of the catalog say where in it their record is, and those of forks
// may share one. A file of engine/base/record_framing.h, kind 4, format 1: a header with the store
// and N, then records at positions 1, 2, 3 …, whose checksums are seeded with store, N and offset.
// One thread each; the caller owns the file system.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/files.h"
#include "engine/base/record_framing.h"
#include "engine/catalog/catalog.h"
#include "engine/segment/segment.h"

namespace pigment {

inline constexpr uint32_t kShelfVersion = 1;

class ShelfWriter {
 public:
  ShelfWriter(const OwnerId& store, uint32_t file);

  // Where the record will be.
  Result<ShelfPlace> Add(std::string_view payload);
  bool is_empty() const { return position_ == 0; }

  // Creates `path` and syncs its bytes; the name is the caller's to sync.
  Status Write(FileSystem& files, const std::string& path) const;

 private:
  FramedHeader header_;
  uint64_t position_ = 0;
  std::string bytes_;
};

// The payload of one record. Missing file, foreign or damaged bytes: kDataLoss with the detail and
// offset of what is wrong; a newer format: kVersionMismatch.
Result<std::string> ReadShelf(FileSystem& files, const std::string& path, const OwnerId& store,
                              const ShelfPlace& place);

// The whole file, verified: header, and every record up to its end. For copies and checks.
Result<std::string> ReadWholeShelf(FileSystem& files, const std::string& path, const OwnerId& store,
                                   uint32_t file);

}  // namespace pigment
