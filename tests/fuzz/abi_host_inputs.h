// SPDX-License-Identifier: Apache-2.0
//
// What calls of the host interface are given: files of pages, options of segments, chains of
// pending pages, bits of deleted rows. One thread.

#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pigment/pigment_host.h"
#include "tests/fuzz/abi_calls_host_keys.h"
#include "tests/fuzz/abi_world.h"

namespace abi_fuzz {

inline pigment_status WritePage(void* context, const void* page, uint32_t* physical) {
  auto& file = *static_cast<PageFile*>(context);
  if (file.Fails()) return PIGMENT_RESOURCE_EXHAUSTED;
  auto copy = std::make_unique<char[]>(PIGMENT_PAGE_BYTES);
  std::memcpy(copy.get(), page, PIGMENT_PAGE_BYTES);
  *physical = static_cast<uint32_t>(file.pages.size());
  file.pages.push_back(std::move(copy));
  return PIGMENT_OK;
}

inline pigment_status PinPage(void* context, uint32_t physical, const void** page) {
  auto& file = *static_cast<PageFile*>(context);
  if (file.Fails()) return PIGMENT_CANCELLED;
  if (physical >= file.pages.size()) return PIGMENT_OUT_OF_RANGE;
  *page = file.pages[physical].get();
  return PIGMENT_OK;
}
inline void UnpinPage(void*, uint32_t, const void*) {}

inline pigment_page_source SourceOf(Arguments& a, PageFile* file) {
  pigment_page_source source{};
  a.Size(source);
  source.pin = PinPage;
  source.unpin = UnpinPage;
  source.context = file;
  source.name = "fuzzed";
  source.name_size = 6;
  // Of pages that nobody changes.
  if (a.input().OneIn(2))
    source.version = [](void*, uint32_t physical) { return physical + uint64_t{1}; };
  return source;
}

// What a segment is to be like; where it is written the caller says.
inline pigment_segment_options ABuild(Arguments& a) {
  Input& in = a.input();
  pigment_segment_options options{};
  a.Size(options);
  options.segment = in.OneIn(16) ? 0 : 1 + in.Byte();
  options.dimension = in.OneIn(16) ? static_cast<uint32_t>(in.Number()) : 3;
  options.metric = in.OneIn(8) ? in.Enum(7) : PIGMENT_METRIC_L2;
  if (in.OneIn(12)) options.memory_budget_bytes = in.Number();
  options.has_keys = in.OneIn(2);
  options.key_seed = in.Number();
  options.vector_seed = in.OneIn(2) ? in.Number() : 0;
  if (in.OneIn(2)) {
    options.index = in.Enum(4);
    options.index_rows_min = in.Byte() % 32;
    options.graph_rows_min = in.Byte() % 32;
    options.links_max = in.Byte() % 64;
    options.effort = static_cast<float>(in.Byte()) / 64;
    options.vectors_per_cluster = in.Byte();
    options.vectors_expected = in.Number();
    options.threads = in.Byte() % 4;
    options.bit_vectors = in.OneIn(4);
  }
  return options;
}

struct FuzzedChain {
  pigment_page_source source;
  uint32_t first;
};

// A chain of pending pages with stamp 9, perhaps damaged.
inline FuzzedChain AChain(World& w, Arguments& a) {
  Input& in = a.input();
  w.files.emplace_back();
  PageFile* file = &w.files.back();
  const size_t pages = in.Below(4);
  for (size_t i = 0; i < pages; ++i) {
    auto page = std::make_unique<char[]>(PIGMENT_PAGE_BYTES);
    pigment_pending_page_init(page.get(), 9, static_cast<uint32_t>(i));
    for (size_t n = in.Below(20); n > 0; --n) {
      const std::vector<float>& vector = a.Floats(3);
      const std::string keys = in.OneIn(2) ? FuzzedRowKeys(a) : std::string();
      if (in.OneIn(6)) {
        const std::vector<char> entry = AHashEntry(a, keys);
        pigment_pending_page_append(page.get(), entry.data(), entry.size());
        continue;
      }
      std::vector<char> entry(pigment_pending_entry_bytes_with_keys(3, true, keys.size()));
      auto encode = pigment_pending_entry_encode_with_keys;
      if (in.OneIn(2)) {
        entry.resize(pigment_pending_entry_bytes_with_halves(3, keys.size()));
        encode = pigment_pending_entry_encode_with_halves;
      } else if (in.OneIn(2)) {
        entry.resize(pigment_pending_entry_bytes_with_twelves(3, keys.size()));
        encode = pigment_pending_entry_encode_with_twelves;
      } else if (in.OneIn(3)) {
        entry.resize(pigment_pending_entry_bytes_with_bits(3, keys.size()));
        encode = pigment_pending_entry_encode_with_bits;
      }
      encode(in.Byte(), vector.data(), 3, keys.data(), keys.size(), entry.data());
      pigment_pending_page_append(page.get(), entry.data(), entry.size());
    }
    if (i + 1 < pages || in.OneIn(8))
      pigment_pending_page_set_next(page.get(), static_cast<uint32_t>(in.OneIn(12) ? 0 : i + 1));
    if (in.OneIn(12)) page[in.Below(PIGMENT_PAGE_BYTES)] = static_cast<char>(in.Byte());
    file->pages.push_back(std::move(page));
  }
  FuzzedChain chain{SourceOf(a, file), pages == 0 ? PIGMENT_NO_PAGE : 0};
  // Where vectors of hashes would be.
  chain.source.segments = w.segments.data();
  chain.source.segment_count = in.OneIn(2) ? w.segments.size() : 0;
  return chain;
}

struct FuzzedBits {
  const uint8_t* bytes;  // null: none were given
  size_t size;
};

// Of the deleted rows of a segment, mostly as many as it has.
inline FuzzedBits DeletedBits(World& w, Arguments& a, pigment_segment* segment) {
  Input& in = a.input();
  const uint64_t rows = segment != nullptr ? w.segment_rows[segment] : 0;
  std::string deleted(in.OneIn(8) ? in.Below(9) : (rows + 7) / 8, '\0');
  for (char& byte : deleted) byte = static_cast<char>(in.Byte());
  const Text kept = a.Keep(deleted);
  if (!in.OneIn(2)) return {nullptr, 0};
  return {reinterpret_cast<const uint8_t*>(kept.data), kept.size};
}

}  // namespace abi_fuzz
