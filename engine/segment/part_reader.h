// SPDX-License-Identifier: Apache-2.0
//
// Reading the parts of a segment block by block: pins that are checked, elements by number, streams
// by offset. A PartCursor keeps its last block pinned, so that reading in order costs one pin a
// block. One thread each.

#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/block/block_source.h"
#include "engine/segment/root.h"

namespace pigment {

inline Result<PinnedBlock> PinUnchecked(BlockSource* source, uint32_t physical) {
  PIGMENT_ASSIGN_OR_RETURN(const std::byte* bytes, source->Pin(physical));
  return PinnedBlock(source, physical, bytes);
}
// Pins and checks kind and place, and the checksum too unless the source did when it loaded the
// block.
Result<PinnedBlock> PinChecked(BlockSource* source, uint32_t physical,
                               const BlockExpectation& expected);

class PartCursor {
 public:
  // `part` null reads as a part without bytes. All are borrowed.
  PartCursor(BlockSource* source, const Root* root, BlockKind kind)
      : source_(source),
        root_(root),
        part_(root->Find(kind)),
        kind_(kind),
        elements_per_block_(element_bytes() != 0 ? ElementsPerBlock(element_bytes()) : 0),
        verifies_on_load_(source->verifies_on_load()),
        checked_(source->checked_blocks()) {}

  bool exists() const { return part_ != nullptr; }
  uint64_t bytes() const { return part_ != nullptr ? part_->bytes : 0; }
  uint32_t element_bytes() const { return part_ != nullptr ? part_->element_bytes : 0; }

  // Where the bytes of the part's block number `index` begin, valid until the next call; a packed
  // part has number 0. Beyond the part: kDataLoss.
  Result<const std::byte*> Block(uint32_t index);
  // Lets go of the pin.
  void Release() {
    pinned_ = PinnedBlock();
    bytes_ = nullptr;
  }

  // Elements first .. first + out.size() - 1 of a part of elements of sizeof(T) bytes. Beyond the
  // part: kDataLoss.
  template <typename T>
  Status ReadElements(uint64_t first, std::span<T> out);
  template <typename T>
  Result<T> ReadElement(uint64_t index) {
    constexpr uint32_t kPerBlock = ElementsPerBlock(sizeof(T));
    if (index >= bytes() / sizeof(T)) return BeyondTheEnd();
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload,
                             Block(static_cast<uint32_t>(index / kPerBlock)));
    T value;
    std::memcpy(&value, payload + index % kPerBlock * sizeof(T), sizeof(T));
    return value;
  }

  // Appends bytes offset .. offset + size - 1 of a stream. Beyond the part: kDataLoss; nothing is
  // sized before that is checked.
  Status ReadStream(uint64_t offset, uint64_t size, std::string& out);

  // The same bytes where they lie, until the next call, if one block holds them; else in `copy`.
  Result<std::string_view> ViewStream(uint64_t offset, uint64_t size, std::string& copy);

  // Where elements of `bytes` lie from one on, be the part one of elements or a stream of them: so
  // many within one block. None: the first goes on in the next block.
  struct ElementRun {
    uint32_t block;
    size_t within;
    uint32_t count;
  };
  ElementRun RunFrom(uint64_t index, uint64_t bytes) const;
  // One element where it lies, until the next call, or, of a stream, in `copy`. REQUIRES: the part
  // is a stream, or a block holds an element.
  Result<std::span<const std::byte>> ViewElement(uint64_t index, uint64_t bytes, std::string& copy);
  // What Block would probably give: to be asked for ahead, never to be read. Null: nobody knows.
  const std::byte* LikelyBlock(uint32_t index) const;
  // It is likely to be read soon: asks for it, of memory or of a disk. Beyond the part: nothing.
  // True: it comes from a disk.
  bool ExpectElement(uint64_t index, uint64_t bytes) { return ExpectElement(index, bytes, bytes); }
  // The same for its first `some` bytes, and for the rest once these were asked for.
  bool ExpectElement(uint64_t index, uint64_t bytes, uint64_t some);
  bool ExpectRestOfElement(uint64_t index, uint64_t bytes, uint64_t some);
  // The same for bytes of a stream.
  bool ExpectStream(uint64_t offset, uint64_t size);

  // Copies bytes offset .. offset + out.size() - 1 of a stream. Beyond the part: kDataLoss.
  Status CopyStream(uint64_t offset, std::span<std::byte> out);

  // Damage found by a reader in what this part says.
  Status Damaged(Detail detail, const std::string& message) const;

 private:
  // The same for bytes from there on in a block, and in the next one; and as far as they lie in it.
  // Of a block that was asked for no disk is asked again.
  bool ExpectFrom(uint32_t block, size_t within, uint64_t size, bool was_asked_for = false);
  bool Expect(uint32_t block, size_t within, uint64_t size, bool was_asked_for = false);
  Status BeyondTheEnd() const {
    return Damaged(Detail::kMiscounted, "an element beyond its end is asked for");
  }

  BlockSource* source_;
  const Root* root_;
  const PartEntry* part_;
  BlockKind kind_;
  uint32_t elements_per_block_;  // 0: of a stream, and where one takes several blocks
  bool verifies_on_load_;
  std::span<std::atomic<uint64_t>> checked_;
  uint32_t index_ = kNoBlock;         // of the block that the last call of Block gave
  const std::byte* bytes_ = nullptr;  // what it gave
  PinnedBlock pinned_;                // empty where the block stays in memory for good
};

template <typename T>
Status PartCursor::ReadElements(uint64_t first, std::span<T> out) {
  constexpr uint32_t kPerBlock = ElementsPerBlock(sizeof(T));
  static_assert(kPerBlock > 0);
  if (first + out.size() > bytes() / sizeof(T)) {
    return BeyondTheEnd();
  }
  for (size_t done = 0; done < out.size();) {
    const uint64_t index = first + done;
    PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload,
                             Block(static_cast<uint32_t>(index / kPerBlock)));
    const size_t within = static_cast<size_t>(index % kPerBlock);
    const size_t some = std::min(out.size() - done, size_t{kPerBlock} - within);
    CopyBytes(out.data() + done, payload + within * sizeof(T), some * sizeof(T));
    done += some;
  }
  return Status::Ok();
}

}  // namespace pigment
