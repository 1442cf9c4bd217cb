// SPDX-License-Identifier: Apache-2.0
//
// The contents of one file of a MemoryFileSystem: its bytes now and, when asked for, its durable
// bytes and the changes between the two. Owned by names and open files together; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <shared_mutex>
#include <span>
#include <vector>

namespace pigment {

// Bytes in chunks, so that growing moves nothing; what was never written reads as zeros. Not
// thread-safe.
class MemoryBytes {
 public:
  uint64_t size() const { return size_; }
  void Read(uint64_t offset,
            std::span<std::byte> out) const;  // REQUIRES: offset + out.size() <= size()
  void Write(uint64_t offset, std::span<const std::byte> bytes);
  void Resize(uint64_t size);

 private:
  static constexpr size_t kChunkBytes = size_t{1} << 16;
  std::vector<std::vector<std::byte>>
      chunks_;  // each at most kChunkBytes; a shorter one goes on with zeros
  uint64_t size_ = 0;
};

class MemoryInode {
 public:
  explicit MemoryInode(bool remembers_durable) : remembers_durable_(remembers_durable) {}
  // A file that is durable as it is.
  explicit MemoryInode(MemoryBytes bytes)
      : remembers_durable_(true), now_(bytes), durable_(std::move(bytes)) {}

  uint64_t size() const;
  // False, with the size in `size`, when the file ends before.
  bool Read(uint64_t offset, std::span<std::byte> out, uint64_t* size) const;
  void Write(uint64_t offset, std::span<const std::byte> bytes);
  void Resize(uint64_t size);

  void Sync();          // everything becomes durable, except what was lost
  void LoseUnsynced();  // a sync failed: nothing of the unsynced changes will ever be durable

  MemoryBytes Durable() const;
  // Durable bytes and some prefix of the changes since, the last of them torn.
  MemoryBytes DurableWithPrefix(std::mt19937_64& random) const;
  // Durable bytes and any of the changes since, whole, torn at sectors, or as a size without its
  // bytes.
  MemoryBytes DurableWithSome(std::mt19937_64& random) const;

 private:
  struct Change {
    uint64_t offset = 0;
    std::vector<std::byte> bytes;
    std::optional<uint64_t> size;  // a Resize
  };
  static void Apply(const Change& change, MemoryBytes& bytes);
  static void ApplySectors(const Change& change, std::mt19937_64& random, MemoryBytes& bytes);

  const bool remembers_durable_;
  mutable std::shared_mutex mutex_;  // guards the rest
  MemoryBytes now_;
  MemoryBytes durable_;
  std::vector<Change> changes_;
};

}  // namespace pigment
