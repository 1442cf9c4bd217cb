// SPDX-License-Identifier: Apache-2.0
//
// CrashBytes.

#include "tests/support/crash_bytes.h"

#include <algorithm>
#include <cstring>

namespace pigment {
namespace {

uint64_t PagesOf(uint64_t size) { return (size + kCrashPageBytes - 1) / kCrashPageBytes; }

bool IsZero(const std::array<std::byte, kCrashPageBytes>& bytes) {
  return bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

// Zeros are null everywhere, so that equal bytes are equal pages.
CrashBytes::PageRef Finished(std::shared_ptr<CrashBytes::Page> page) {
  if (IsZero(page->bytes)) return nullptr;
  page->hash = Xxh3_128(page->bytes);
  return page;
}

std::shared_ptr<CrashBytes::Page> CopyOf(const CrashBytes::PageRef& page) {
  auto copy = std::make_shared_for_overwrite<CrashBytes::Page>();
  if (page) {
    copy->bytes = page->bytes;
  } else {
    copy->bytes.fill(std::byte{0});
  }
  return copy;
}

}  // namespace

void CrashBytes::Read(uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const size_t begin = offset % kCrashPageBytes;
    const size_t piece = std::min<size_t>(out.size(), kCrashPageBytes - begin);
    const PageRef& page = pages_[offset / kCrashPageBytes];
    if (page) {
      std::memcpy(out.data(), page->bytes.data() + begin, piece);
    } else {
      std::memset(out.data(), 0, piece);
    }
    out = out.subspan(piece);
    offset += piece;
  }
}

void CrashBytes::Write(uint64_t offset, std::span<const std::byte> bytes) {
  Place(offset, bytes);
  size_ = std::max(size_, offset + bytes.size());
  pages_.resize(PagesOf(size_));
}

void CrashBytes::Place(uint64_t offset, std::span<const std::byte> bytes) {
  pages_.resize(std::max<uint64_t>(pages_.size(), PagesOf(offset + bytes.size())));
  while (!bytes.empty()) {
    const size_t begin = offset % kCrashPageBytes;
    const size_t piece = std::min<size_t>(bytes.size(), kCrashPageBytes - begin);
    PageRef& page = pages_[offset / kCrashPageBytes];
    std::shared_ptr<Page> copy = CopyOf(page);
    std::memcpy(copy->bytes.data() + begin, bytes.data(), piece);
    page = Finished(std::move(copy));
    bytes = bytes.subspan(piece);
    offset += piece;
  }
}

void CrashBytes::Resize(uint64_t size) {
  const bool shrinks = size < size_;
  size_ = size;
  if (shrinks) {
    Trim();
  } else {
    pages_.resize(PagesOf(size));
  }
}

void CrashBytes::Trim() {
  pages_.resize(PagesOf(size_));
  const size_t used = size_ % kCrashPageBytes;
  if (used == 0 || !pages_.back()) return;
  const auto& bytes = pages_.back()->bytes;
  const bool is_clean = std::all_of(bytes.begin() + static_cast<ptrdiff_t>(used), bytes.end(),
                                    [](std::byte byte) { return byte == std::byte{0}; });
  if (is_clean) return;
  std::shared_ptr<Page> copy = CopyOf(pages_.back());
  std::memset(copy->bytes.data() + used, 0, kCrashPageBytes - used);
  pages_.back() = Finished(std::move(copy));
}

Hash128 CrashBytes::Hash() const {
  std::array<uint64_t, 64> words;
  Hash128 hash{.low = size_, .high = pages_.size()};
  size_t used = 0;
  const auto fold = [&] {
    words[used++] = hash.low;
    words[used++] = hash.high;
    hash = Xxh3_128(std::as_bytes(std::span(words).first(used)));
    used = 0;
  };
  for (const PageRef& page : pages_) {
    words[used++] = page ? page->hash.low : 0;
    words[used++] = page ? page->hash.high : 0;
    if (used + 4 > words.size()) fold();
  }
  fold();
  return hash;
}

}  // namespace pigment
