// SPDX-License-Identifier: Apache-2.0
//
// The pages of a host as a block source and a block sink: calls its callbacks, turns their codes
// into Status. One thread at a time. Owns nothing of the host's; copies the callbacks and the name.

#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/block/block_source.h"
#include "pigment/pigment_host.h"

namespace pigment::abi {

class HostBlockSource final : public BlockSource {
 public:
  explicit HostBlockSource(const pigment_page_source& source)
      : source_(source),
        name_(source.name != nullptr ? std::string(source.name, source.name_size) : std::string()) {
  }

  Result<const std::byte*> Pin(uint32_t physical) override;
  void Unpin(uint32_t physical, const std::byte* bytes) override {
    source_.unpin(source_.context, physical, bytes);
  }
  bool verifies_on_load() const override { return false; }
  std::span<std::atomic<uint64_t>> checked_blocks() override { return checked_; }
  // From here on checksums of blocks are compared once. REQUIRES: all reads are of one segment, of
  // so many blocks.
  void RememberChecked(uint32_t blocks) {
    checked_ = std::vector<std::atomic<uint64_t>>((size_t{blocks} + 63) / 64);
  }
  const std::byte* Likely(uint32_t physical) const override {
    if (source_.likely == nullptr) return nullptr;
    return static_cast<const std::byte*>(source_.likely(source_.context, physical));
  }
  bool ReadAhead(uint32_t physical) override {
    return source_.read_ahead != nullptr && source_.read_ahead(source_.context, physical);
  }
  uint64_t Version(uint32_t physical) override {
    return source_.version != nullptr ? source_.version(source_.context, physical) : 0;
  }
  const std::string& name() const override { return name_; }

  uint64_t pins() const { return pins_; }

 private:
  const pigment_page_source source_;
  const std::string name_;
  std::vector<std::atomic<uint64_t>> checked_;
  uint64_t pins_ = 0;
};

class HostBlockSink final : public BlockSink {
 public:
  HostBlockSink(pigment_status (*write_page)(void*, const void*, uint32_t*), void* context)
      : write_page_(write_page), context_(context) {}

  Result<uint32_t> Write(ConstBlockBytes block) override;

 private:
  pigment_status (*write_page_)(void*, const void*, uint32_t*);
  void* context_;
};

// What a callback's code other than PIGMENT_OK becomes; a number that is no code becomes kUnknown.
Status CallbackStatus(pigment_status code, std::string message);

// A checked copy of a caller's page source.
Result<pigment_page_source> ReadPageSource(const pigment_page_source* source);

}  // namespace pigment::abi
