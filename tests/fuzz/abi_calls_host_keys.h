// SPDX-License-Identifier: Apache-2.0
//
// Calls of the host interface that take keys of rows, and conditions on them. One thread.

#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "pigment/pigment_host.h"
#include "tests/fuzz/abi_calls_sparse.h"
#include "tests/fuzz/abi_calls_text.h"
#include "tests/fuzz/abi_world.h"

namespace abi_fuzz {

// Keys of a row as hosts must give them, of four columns; kept by `a`.
inline std::vector<pigment_host_key> FuzzedKeys(Arguments& a) {
  Input& in = a.input();
  const auto text = [&] {
    return a.Keep(std::string(in.Below(3), static_cast<char>('a' + in.Below(4))));
  };
  std::vector<pigment_host_key> keys;
  for (uint32_t column = 0; column < 4; ++column) {
    if (in.OneIn(3)) continue;
    const Text value = text();
    keys.push_back({column, PIGMENT_KEY_VALUE, value.data, value.size});
    const Text searched = text();
    std::vector<uint32_t> room(searched.size + 1);
    const size_t grams = pigment_host_grams(searched.data, searched.size, room.data());
    const Text kept_grams = a.Keep({reinterpret_cast<const char*>(room.data()), grams});
    if (grams != 0) keys.push_back({column, PIGMENT_KEY_GRAMS, kept_grams.data, kept_grams.size});
    std::vector<std::string> elements;
    for (size_t n = in.OneIn(2) ? in.Below(4) : 0; n > 0; --n)
      elements.push_back(std::string(1, static_cast<char>('a' + in.Below(6))));
    std::sort(elements.begin(), elements.end());
    elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
    for (const std::string& element : elements) {
      const Text kept = a.Keep(element);
      keys.push_back({column, PIGMENT_KEY_ELEMENT, kept.data, kept.size});
    }
  }
  if (in.OneIn(3)) AppendTextKeys(a, keys);
  if (in.OneIn(3)) AppendSparseKeys(a, keys);
  return keys;
}

// The bytes of a row's keys, now and then damaged.
inline std::string FuzzedRowKeys(Arguments& a) {
  const std::vector<pigment_host_key> keys = FuzzedKeys(a);
  std::string bytes(pigment_host_keys_bytes(keys.data(), keys.size()), '\0');
  pigment_host_keys_encode(keys.data(), keys.size(), bytes.data());
  if (!bytes.empty() && a.input().OneIn(16))
    bytes[a.input().Below(bytes.size())] = static_cast<char>(a.input().Byte());
  return bytes;
}

// With the hash of a vector that may be nowhere.
inline std::vector<char> AHashEntry(Arguments& a, const std::string& keys) {
  const pigment_vector_hash hash{a.input().Number(), a.input().Number()};
  std::vector<char> entry(pigment_pending_entry_bytes_with_hash(keys.size()));
  pigment_pending_entry_encode_with_hash(a.input().Byte(), &hash, 3, keys.data(), keys.size(),
                                         entry.data());
  return entry;
}

// Conditions for a search; they and their keys are kept by the caller's vectors.
struct FuzzedConditions {
  explicit FuzzedConditions(Arguments& a) {
    Input& in = a.input();
    const size_t count = in.Below(4);
    keys.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      keys.emplace_back();
      for (size_t n = in.OneIn(4) ? in.Below(5) : 2; n > 0; --n) {
        const Text kept = a.Keep(std::string(in.Below(3), static_cast<char>('a' + in.Below(4))));
        keys.back().push_back({in.OneIn(6) ? nullptr : kept.data, kept.size});
      }
      pigment_host_condition condition{};
      condition.column =
          in.OneIn(16) ? static_cast<uint32_t>(in.Number()) : static_cast<uint32_t>(in.Below(5));
      condition.kind = in.OneIn(16) ? in.Enum(12) : static_cast<int32_t>(1 + in.Below(10));
      if (condition.kind == PIGMENT_CONDITION_WHERE) {
        const Text where = a.Where();
        keys.back() = {{where.data, where.size}};
      }
      condition.keys = in.OneIn(24) ? nullptr : keys.back().data();
      condition.key_count = keys.back().size();
      condition.takes_low = in.OneIn(2);
      condition.takes_high = in.OneIn(2);
      conditions.push_back(condition);
    }
  }

  std::vector<std::vector<pigment_host_bytes>> keys;
  std::vector<pigment_host_condition> conditions;
};

inline void FuzzBuilderAddRow(World& w, Arguments& a) {
  pigment_segment_builder* builder = LiveOrNull(w.builders, a.input());
  const size_t dimension = builder != nullptr ? w.builder_dimensions[builder] : 3;
  for (size_t n = 1 + a.input().Below(100); n > 0; --n) {
    const std::vector<float>& vector = a.Floats(dimension);
    const std::string keys = FuzzedRowKeys(a);
    ErrorSlot slot(w, a.input());
    if (!slot.Ok(pigment_segment_builder_add_row(
            builder, a.input().OneIn(8) ? nullptr : vector.data(), a.input().Number(),
            a.input().OneIn(32) ? nullptr : keys.data(), keys.size(), slot.out()))) {
      return;
    }
  }
}

// Ends a visit after so many rows.
inline pigment_status CountFingerprint(void* context, uint64_t, uint64_t) {
  auto& calls = *static_cast<uint64_t*>(context);
  return calls-- > 0 ? PIGMENT_OK : PIGMENT_CANCELLED;
}

inline void AddKeyCalls(std::vector<Entry>& t) {
  t.push_back({"pigment_host_keys_bytes", [](World&, Arguments& a) {
                 const auto keys = FuzzedKeys(a);
                 const size_t bytes = pigment_host_keys_bytes(keys.data(), keys.size());
                 Require((bytes == 0) == keys.empty(), "keys have bytes");
               }});
  t.push_back({"pigment_host_grams", [](World&, Arguments& a) {
                 const std::string text(a.input().Below(40), static_cast<char>(a.input().Byte()));
                 std::vector<uint32_t> room(text.size() + 1);
                 const size_t bytes = pigment_host_grams(text.data(), text.size(), room.data());
                 Require(bytes <= text.size() * 3 && bytes % 3 == 0, "pieces of three bytes");
               }});
  t.push_back({"pigment_host_keys_encode", [](World&, Arguments& a) { FuzzedRowKeys(a); }});
  t.push_back({"pigment_host_keys_fingerprint", [](World&, Arguments& a) {
                 const auto keys = FuzzedKeys(a);
                 const auto again = keys;
                 Require(pigment_host_keys_fingerprint(keys.data(), keys.size()) ==
                             pigment_host_keys_fingerprint(again.data(), again.size()),
                         "equal keys have one fingerprint");
               }});
  t.push_back({"pigment_host_metadata_elements", [](World& w, Arguments& a) {
                 const Text metadata = a.Metadata();
                 pigment_buffer* elements = nullptr;
                 const bool wanted = !a.input().OneIn(24);
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_host_metadata_elements(
                     metadata.data, metadata.size, wanted ? &elements : nullptr, slot.out()));
                 Require(ok == (elements != nullptr), "elements come with success");
                 pigment_buffer_free(elements);
               }});
  t.push_back({"pigment_host_where_holds", [](World& w, Arguments& a) {
                 const Text where = a.Where(), metadata = a.Metadata();
                 bool holds = true;
                 bool* out = a.input().OneIn(24) ? nullptr : &holds;
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_host_where_holds(
                     where.data, where.size, metadata.data, metadata.size, out, slot.out()));
                 if (!ok && out != nullptr) Require(!holds, "a failure nulls its output");
               }});
  t.push_back({"pigment_segment_builder_add_row", FuzzBuilderAddRow});
  t.push_back({"pigment_pending_entry_bytes_with_keys", [](World&, Arguments& a) {
                 const size_t dimension = a.input().Below(20), keys = a.input().Below(100);
                 Require(pigment_pending_entry_bytes_with_keys(dimension, true, keys) ==
                             pigment_pending_entry_bytes(dimension, true) + keys,
                         "keys follow the vector");
               }});
  t.push_back({"pigment_pending_entry_encode_with_keys", [](World&, Arguments& a) {
                 const std::vector<float>& vector = a.Floats(3);
                 const std::string keys = FuzzedRowKeys(a);
                 const bool has_vector = !a.input().OneIn(4);
                 std::vector<char> entry(
                     pigment_pending_entry_bytes_with_keys(3, has_vector, keys.size()));
                 pigment_pending_entry_encode_with_keys(a.input().Number(),
                                                        has_vector ? vector.data() : nullptr, 3,
                                                        keys.data(), keys.size(), entry.data());
               }});
  t.push_back({"pigment_pending_entry_bytes_with_halves", [](World&, Arguments& a) {
                 const size_t dimension = a.input().Below(20), keys = a.input().Below(100);
                 Require(pigment_pending_entry_bytes_with_halves(dimension, keys) + 2 * dimension ==
                             pigment_pending_entry_bytes_with_keys(dimension, true, keys),
                         "halves take half of the bytes");
               }});
  t.push_back({"pigment_pending_entry_encode_with_halves", [](World&, Arguments& a) {
                 const std::vector<float>& vector = a.Floats(3);
                 const std::string keys = FuzzedRowKeys(a);
                 std::vector<char> entry(pigment_pending_entry_bytes_with_halves(3, keys.size()));
                 pigment_pending_entry_encode_with_halves(a.input().Number(), vector.data(), 3,
                                                          keys.data(), keys.size(), entry.data());
                 std::vector<char> page(PIGMENT_PAGE_BYTES);
                 pigment_pending_page_init(page.data(), 9, 0);
                 Require(pigment_pending_page_append(page.data(), entry.data(), entry.size()),
                         "an entry is as long as it says");
               }});
  t.push_back({"pigment_pending_entry_bytes_with_twelves", [](World&, Arguments& a) {
                 const size_t dimension = 1 + a.input().Below(20), keys = a.input().Below(100);
                 Require(pigment_pending_entry_bytes_with_twelves(dimension, keys) ==
                             pigment_pending_entry_bytes_with_keys(dimension, false, keys) + 1 +
                                 dimension + (dimension + 1) / 2,
                         "a byte and a half each, and one more");
               }});
  t.push_back({"pigment_pending_entry_encode_with_twelves", [](World&, Arguments& a) {
                 const std::vector<float>& vector = a.Floats(3);
                 const std::string keys = FuzzedRowKeys(a);
                 std::vector<char> entry(pigment_pending_entry_bytes_with_twelves(3, keys.size()));
                 pigment_pending_entry_encode_with_twelves(a.input().Number(), vector.data(), 3,
                                                           keys.data(), keys.size(), entry.data());
                 std::vector<char> page(PIGMENT_PAGE_BYTES);
                 pigment_pending_page_init(page.data(), 9, 0);
                 Require(pigment_pending_page_append(page.data(), entry.data(), entry.size()),
                         "an entry is as long as it says");
               }});
  t.push_back({"pigment_pending_entry_bytes_with_bits", [](World&, Arguments& a) {
                 const size_t dimension = a.input().Below(20), keys = a.input().Below(100);
                 Require(pigment_pending_entry_bytes_with_bits(dimension, keys) ==
                             pigment_pending_entry_bytes_with_keys(dimension, false, keys) +
                                 (dimension + 7) / 8,
                         "eight bits are a byte");
               }});
  t.push_back({"pigment_pending_entry_encode_with_bits", [](World&, Arguments& a) {
                 const std::vector<float>& vector = a.Floats(3);
                 const std::string keys = FuzzedRowKeys(a);
                 std::vector<char> entry(pigment_pending_entry_bytes_with_bits(3, keys.size()));
                 pigment_pending_entry_encode_with_bits(a.input().Number(), vector.data(), 3,
                                                        keys.data(), keys.size(), entry.data());
                 std::vector<char> page(PIGMENT_PAGE_BYTES);
                 pigment_pending_page_init(page.data(), 9, 0);
                 Require(pigment_pending_page_append(page.data(), entry.data(), entry.size()),
                         "an entry is as long as it says");
               }});
  t.push_back({"pigment_pending_entry_bytes_with_hash", [](World&, Arguments& a) {
                 const size_t keys = a.input().Below(100);
                 Require(pigment_pending_entry_bytes_with_hash(keys) ==
                             pigment_pending_entry_bytes_with_keys(4, true, keys),
                         "a hash is as long as four numbers");
               }});
  t.push_back({"pigment_pending_entry_encode_with_hash", [](World&, Arguments& a) {
                 const std::vector<char> entry = AHashEntry(a, FuzzedRowKeys(a));
                 std::vector<char> page(PIGMENT_PAGE_BYTES);
                 pigment_pending_page_init(page.data(), 9, 0);
                 Require(pigment_pending_page_append(page.data(), entry.data(), entry.size()),
                         "an entry is as long as it says");
                 Require(pigment_pending_page_has_hashes(page.data()), "it has a hash");
               }});
  t.push_back({"pigment_pending_page_append_overflow_row", [](World&, Arguments& a) {
                 std::vector<char> page(PIGMENT_PAGE_BYTES);
                 pigment_pending_page_init(page.data(), 9, 0);
                 const bool has_vector = a.input().OneIn(2);
                 Require(pigment_pending_page_append_overflow_row(
                             page.data(), a.input().Number(), 7, a.input().Number(), has_vector),
                         "an empty page has room");
                 Require(pigment_pending_page_entry_has_vector(page.data(), 0) == has_vector,
                         "the page says whether there is a vector");
               }});
  t.push_back({"pigment_host_search_visit_keys", [](World& w, Arguments& a) {
                 uint64_t left = a.input().OneIn(4) ? a.input().Below(20) : 100000;
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_host_search_visit_keys(
                     LiveOrNull(w.searches, a.input()),
                     a.input().OneIn(24) ? nullptr : CountFingerprint, &left, slot.out()));
               }});
  t.push_back({"pigment_host_search_visit_column", [](World& w, Arguments& a) {
                 uint64_t left = a.input().OneIn(4) ? a.input().Below(20) : 100000;
                 const int32_t column = static_cast<int32_t>(a.input().Byte() % 8) - 2;
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_host_search_visit_column(
                     LiveOrNull(w.searches, a.input()), column,
                     a.input().OneIn(24) ? nullptr : CountFingerprint, &left, slot.out()));
               }});
  t.push_back({"pigment_host_vector_fingerprint", [](World&, Arguments& a) {
                 const float vector[] = {1, 2, static_cast<float>(a.input().Byte())};
                 const size_t dimension = a.input().Byte() % 4;
                 Require(
                     (pigment_host_vector_fingerprint(vector, dimension) == 0) == (dimension == 0),
                     "what is a vector has a number");
                 Require(pigment_host_vector_fingerprint(nullptr, dimension) == 0, "NULL has 0");
               }});
}

}  // namespace abi_fuzz
