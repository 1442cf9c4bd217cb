// SPDX-License-Identifier: Apache-2.0
//
// Reads a chain of pending pages (host_pages.h) and what of it lies in overflow pages, and vectors
// that are in segments. What it reads may be damaged: kDataLoss then. One thread; source and
// segments are borrowed. At most two pages of the chain are pinned, and three of a segment while a
// vector is read there.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/block/block_source.h"
#include "engine/segment/host_pages.h"
#include "engine/segment/vector_hash.h"

namespace pigment {

// A row as it lies in its page, or as it was put together of overflow pages.
struct PendingRow {
  PendingEntry head;
  const std::byte* bytes;  // of the whole entry; null where only the row pointer was asked for
  uint32_t entry;          // its place in the page's directory

  // REQUIRES: bytes.
  std::span<const std::byte> keys() const {
    return {bytes + sizeof head + head.vector_bytes(), head.keys_bytes};
  }
};

struct PendingChain {
  BlockSource* source;
  uint32_t stamp;                         // of its pages
  uint32_t first;                         // kNoBlock: none
  uint32_t last = kNoBlock;               // where it ends; kNoBlock: where it goes no further
  uint32_t skipped = 0;                   // entries of the first page that are no rows of it
  const SharedVectors* shared = nullptr;  // where vectors are that entries have no numbers of
};

// A page of a source says what cannot be.
Status DamagedPage(const BlockSource& source, uint32_t physical, const std::string& what);

// Calls `visit` for each page of a chain of overflow pages, whose bytes are `bytes` in all, or as
// many as there are. Pages of a chain that leads back are not where they should be, because each
// says its place.
using OverflowVisitor = std::function<Status(uint32_t physical, std::span<const std::byte> bytes)>;
Status VisitOverflowPages(BlockSource* source, uint32_t stamp, uint32_t first,
                          std::optional<uint64_t> bytes, const OverflowVisitor& visit);

class PendingReader {
 public:
  explicit PendingReader(const PendingChain& chain) : chain_(chain) {}

  // Calls `visit` for each live row. The first complete call fixes how far the chain is read by
  // later ones, whatever was appended in between.
  using RowVisitor = std::function<Status(const PendingRow& row, uint32_t physical)>;
  Status VisitRows(bool reads_bytes, const RowVisitor& visit);

  // The last page of the chain as the last complete visit met it, by its version of just before.
  struct End {
    uint32_t physical = kNoBlock;
    uint64_t version = 0;
  };
  const End& end() const { return end_; }

  // Calls `visit` for those of these entries of a page that are alive, with their bytes. Whether
  // the page is one of the chain is not asked.
  Status VisitEntries(uint32_t physical, std::span<const uint32_t> entries,
                      const RowVisitor& visit);

  // The row's vector in 32 bits a number, however the entry has it. False: a row of a segment has
  // it, and none of these has such a row. So it is where the segment is younger than these, and the
  // row younger still. REQUIRES: row.bytes.
  Result<bool> ReadVector(const PendingRow& row, std::vector<float>* vector) const;
  // The same where the segments are all that there are: a vector that is nowhere is kDataLoss.
  Status ReadAnyVector(const PendingRow& row, uint32_t physical, std::vector<float>* vector) const;

  // Calls `visit` for every page: of the chain, and of the entries in overflow pages, dead ones
  // too.
  using PageVisitor = std::function<Status(uint32_t physical)>;
  Status VisitPages(const PageVisitor& visit);

  Status Damaged(uint32_t physical, const std::string& what) const;
  // An entry of this page has another dimension than is expected.
  Status OtherDimension(uint32_t physical, uint32_t dimension, uint32_t expected) const;

 private:
  // How far a complete visit came.
  struct Bound {
    uint64_t pages;
    uint32_t last_entries;
  };
  using ChainVisitor =
      std::function<Status(ConstBlockBytes page, uint32_t physical, uint32_t entries)>;

  Status VisitChain(const ChainVisitor& visit);
  Result<PinnedBlock> PinPage(uint32_t physical) const;
  // Unless it is dead.
  Status VisitEntry(ConstBlockBytes page, uint32_t physical, uint32_t entry, bool reads_bytes,
                    const RowVisitor& visit);
  Status VisitOverflow(const PendingOverflowEntry& entry, const OverflowVisitor& visit);
  Status ReadOverflow(const PendingOverflowEntry& entry, uint32_t physical);

  const PendingChain chain_;
  std::optional<Bound> bound_;
  End end_;
  std::vector<std::byte> overflow_;
};

}  // namespace pigment
