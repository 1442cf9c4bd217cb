// SPDX-License-Identifier: Apache-2.0
//
// MemoryBytes and MemoryInode.

#include "engine/base/memory_inode.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace pigment {

void MemoryBytes::Read(uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const size_t begin = offset % kChunkBytes;
    const size_t piece = std::min(out.size(), kChunkBytes - begin);
    const std::vector<std::byte>& chunk = chunks_[offset / kChunkBytes];
    const size_t present = begin < chunk.size() ? std::min(piece, chunk.size() - begin) : 0;
    if (present > 0) std::memcpy(out.data(), chunk.data() + begin, present);
    std::memset(out.data() + present, 0, piece - present);
    out = out.subspan(piece);
    offset += piece;
  }
}

void MemoryBytes::Write(uint64_t offset, std::span<const std::byte> bytes) {
  if (offset + bytes.size() > size_) Resize(offset + bytes.size());
  while (!bytes.empty()) {
    const size_t begin = offset % kChunkBytes;
    const size_t piece = std::min(bytes.size(), kChunkBytes - begin);
    std::vector<std::byte>& chunk = chunks_[offset / kChunkBytes];
    if (chunk.size() < begin + piece) chunk.resize(begin + piece);
    std::memcpy(chunk.data() + begin, bytes.data(), piece);
    bytes = bytes.subspan(piece);
    offset += piece;
  }
}

void MemoryBytes::Resize(uint64_t size) {
  chunks_.resize((size + kChunkBytes - 1) / kChunkBytes);
  // What is cut off must read as zeros when the file grows again.
  if (size < size_ && size % kChunkBytes != 0 && chunks_.back().size() > size % kChunkBytes) {
    chunks_.back().resize(size % kChunkBytes);
  }
  size_ = size;
}

uint64_t MemoryInode::size() const {
  std::shared_lock lock(mutex_);
  return now_.size();
}

bool MemoryInode::Read(uint64_t offset, std::span<std::byte> out, uint64_t* size) const {
  std::shared_lock lock(mutex_);
  *size = now_.size();
  if (offset > now_.size() || out.size() > now_.size() - offset) return false;
  now_.Read(offset, out);
  return true;
}

void MemoryInode::Write(uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::unique_lock lock(mutex_);
  now_.Write(offset, bytes);
  if (remembers_durable_)
    changes_.push_back({.offset = offset, .bytes = {bytes.begin(), bytes.end()}, .size = {}});
}

void MemoryInode::Resize(uint64_t size) {
  std::unique_lock lock(mutex_);
  now_.Resize(size);
  if (remembers_durable_) changes_.push_back({.offset = 0, .bytes = {}, .size = size});
}

void MemoryInode::Sync() {
  std::unique_lock lock(mutex_);
  for (const Change& change : changes_) Apply(change, durable_);
  changes_.clear();
}

void MemoryInode::LoseUnsynced() {
  std::unique_lock lock(mutex_);
  changes_.clear();
}

void MemoryInode::Apply(const Change& change, MemoryBytes& bytes) {
  if (change.size) {
    bytes.Resize(*change.size);
  } else {
    bytes.Write(change.offset, change.bytes);
  }
}

// Sectors of a disk are written or not, in any order; the size may be there before any of them.
void MemoryInode::ApplySectors(const Change& change, std::mt19937_64& random, MemoryBytes& bytes) {
  constexpr uint64_t kSectorBytes = 512;
  const uint64_t end = change.offset + change.bytes.size();
  if (end > bytes.size()) bytes.Resize(end);
  for (uint64_t at = change.offset; at < end;) {
    const uint64_t sector_end = std::min(end, (at / kSectorBytes + 1) * kSectorBytes);
    if (random() % 2 == 0) {
      bytes.Write(at, std::span(change.bytes).subspan(at - change.offset, sector_end - at));
    }
    at = sector_end;
  }
}

MemoryBytes MemoryInode::Durable() const {
  std::shared_lock lock(mutex_);
  return durable_;
}

MemoryBytes MemoryInode::DurableWithPrefix(std::mt19937_64& random) const {
  std::shared_lock lock(mutex_);
  MemoryBytes bytes = durable_;
  const size_t kept = random() % (changes_.size() + 1);
  for (size_t i = 0; i < kept; ++i) Apply(changes_[i], bytes);
  if (kept < changes_.size() && !changes_[kept].size) {
    const Change& torn = changes_[kept];
    const size_t prefix = random() % (torn.bytes.size() + 1);
    if (prefix > 0) bytes.Write(torn.offset, std::span(torn.bytes).first(prefix));
  }
  return bytes;
}

MemoryBytes MemoryInode::DurableWithSome(std::mt19937_64& random) const {
  std::shared_lock lock(mutex_);
  MemoryBytes bytes = durable_;
  for (const Change& change : changes_) {
    switch (random() % 4) {
      case 0:
        Apply(change, bytes);
        break;
      case 1:
        break;
      case 2:
        if (!change.size) ApplySectors(change, random, bytes);
        break;
      case 3:  // the size without the bytes
        if (!change.size) bytes.Resize(std::max(bytes.size(), change.offset + change.bytes.size()));
        break;
    }
  }
  return bytes;
}

}  // namespace pigment
