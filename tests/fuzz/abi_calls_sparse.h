// SPDX-License-Identifier: Apache-2.0
//
// Calls of the host interface that take sparse vectors, and keys of rows that have some. One
// thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pigment/pigment_host.h"
#include "tests/fuzz/abi_calls_text.h"
#include "tests/fuzz/abi_world.h"

namespace abi_fuzz {

inline constexpr uint32_t kSparseColumn = kTextColumn + 1;

// Sound, as a rule; kept by `a`.
inline pigment_sparse_vector ASparseVector(Arguments& a) {
  Input& in = a.input();
  std::string places, values;
  uint32_t count = 0;
  int32_t place = -1;
  for (size_t n = in.Below(6); n > 0; --n, ++count) {
    // A number that is beyond all others may have come before.
    place = static_cast<int32_t>(in.OneIn(32) ? static_cast<uint32_t>(in.Number())
                                              : static_cast<uint32_t>(place) + 1 +
                                                    static_cast<uint32_t>(in.Below(4)));
    const float value = in.OneIn(4) ? in.Float() : 1 + static_cast<float>(in.Byte()) / 16;
    places.append(reinterpret_cast<const char*>(&place), sizeof place);
    values.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  const uint32_t dimension = in.OneIn(16) ? static_cast<uint32_t>(in.Number()) : 30;
  if (in.OneIn(32)) return {dimension, static_cast<uint32_t>(in.Number()), nullptr, nullptr};
  return {dimension, count, reinterpret_cast<const int32_t*>(a.Keep(places).data),
          reinterpret_cast<const float*>(a.Keep(values).data)};
}

// What a row has of a sparse vector, behind its other keys; kept by `a`.
inline void AppendSparseKeys(Arguments& a, std::vector<pigment_host_key>& keys) {
  const pigment_sparse_vector vector = ASparseVector(a);
  pigment_buffer* elements = nullptr;
  if (pigment_host_sparse_elements(PIGMENT_METRIC_L2, &vector, &elements, nullptr) != PIGMENT_OK)
    return;
  AppendElements(a, elements, kSparseColumn, keys);
}

inline void AddSparse(std::vector<Entry>& t) {
  t.push_back({"pigment_host_sparse_elements", [](World& w, Arguments& a) {
                 Input& in = a.input();
                 const pigment_sparse_vector vector = ASparseVector(a);
                 const int32_t metric = in.Enum(8);
                 pigment_buffer* elements = nullptr;
                 const bool wanted = !in.OneIn(24);
                 ErrorSlot slot(w, in);
                 const bool ok = slot.Ok(
                     pigment_host_sparse_elements(metric, in.OneIn(24) ? nullptr : &vector,
                                                  wanted ? &elements : nullptr, slot.out()));
                 Require(ok == (elements != nullptr), "elements come with success");
                 pigment_buffer_free(elements);
               }});
}

}  // namespace abi_fuzz
