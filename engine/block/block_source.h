// SPDX-License-Identifier: Apache-2.0
//
// The block-source seam: where the blocks of a segment are read from. Three implementations: a file
// of the store (file_block_source.h), memory (memory_block_source.h) and the pages of a host
// (c_api/host_block_source.h). Reading code cannot tell them apart. Thread safety: as the
// implementation says; file and memory sources from any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/base/status.h"
#include "engine/block/block.h"

namespace pigment {

class BlockSource {
 public:
  virtual ~BlockSource() = default;

  // Returns the kBlockBytes bytes of physical block `physical`, verified by nobody yet, valid until
  // the matching Unpin. A block may be pinned several times. May fail with any code; a host's
  // interrupt arrives as kCancelled.
  virtual Result<const std::byte*> Pin(uint32_t physical) = 0;
  // `bytes` is what Pin gave. Never fails.
  virtual void Unpin(uint32_t physical, const std::byte* bytes) = 0;

  // How many blocks there are, where the source knows: a root that claims more is refused when its
  // segment is opened.
  virtual std::optional<uint32_t> blocks() const { return std::nullopt; }

  // True when blocks were already checked against their trailers when they were loaded into this
  // source (a file source's arena), so that a reader need not do it again at each pin.
  virtual bool verifies_on_load() const = 0;

  // A bit for each logical block of the segment (bit n % 64 of word n / 64) that readers set once
  // they checked it as far as they had to. Of a source that verifies on load its blocks never
  // change once they are loaded, and it need not be looked at again; of another its checksum need
  // not, but its place is compared at each pin. Empty: every pin checks all.
  virtual std::span<std::atomic<uint64_t>> checked_blocks() { return {}; }

  // Where the block lies if it is in memory for good; null otherwise, and in sources that give
  // blocks up.
  virtual const std::byte* Resident(uint32_t physical) const {
    (void)physical;
    return nullptr;
  }

  // Where the block probably lies: to be asked for ahead of a pin, never to be read. Null: nobody
  // knows.
  virtual const std::byte* Likely(uint32_t physical) const { return Resident(physical); }

  // It will be pinned soon: a source that would have to wait for a disk then has it on its way from
  // now on, keeps nothing and charges nothing. True: it would have to, as far as it knows.
  virtual bool ReadAhead(uint32_t physical) {
    (void)physical;
    return false;
  }

  // A number that the block has had at no time when its bytes were others; 0: nobody knows. For
  // blocks that change, which those of segments never do. A failure is for the next pin to tell.
  virtual uint64_t Version(uint32_t physical) {
    (void)physical;
    return 0;
  }

  // For a walk over many blocks that has one pinned at a time: a source that would rather not keep
  // what is looked at for the first time gives another for the walk, which it must outlive. Null:
  // the walk pins here.
  virtual Result<std::unique_ptr<BlockSource>> NewPass() { return std::unique_ptr<BlockSource>(); }

  // The same blocks for whoever cannot be refused any more: the log has a batch that must be
  // applied. Lives as long as the source. One that charges a budget takes what this has not, and
  // gives it back when others need it.
  virtual BlockSource* Urgent() { return this; }

  // For messages: the path of the file, or what the host calls the relation.
  virtual const std::string& name() const = 0;
};

// RAII pin.
class PinnedBlock {
 public:
  PinnedBlock() = default;
  PinnedBlock(BlockSource* source, uint32_t physical, const std::byte* bytes)
      : source_(source), physical_(physical), bytes_(bytes) {}
  PinnedBlock(PinnedBlock&& other) noexcept { *this = std::move(other); }
  PinnedBlock& operator=(PinnedBlock&& other) noexcept {
    std::swap(source_, other.source_);
    std::swap(physical_, other.physical_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PinnedBlock() {
    if (source_) source_->Unpin(physical_, bytes_);
  }

  ConstBlockBytes block() const { return ConstBlockBytes(bytes_, kBlockBytes); }
  const std::byte* payload() const { return bytes_ + kBlockHeaderBytes; }
  explicit operator bool() const { return source_ != nullptr; }

 private:
  BlockSource* source_ = nullptr;
  uint32_t physical_ = 0;
  const std::byte* bytes_ = nullptr;
};

// Where a segment's blocks are written, in ascending logical order, the root last.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  // Takes a sealed block and returns the physical number it got.
  virtual Result<uint32_t> Write(ConstBlockBytes block) = 0;
};

}  // namespace pigment
