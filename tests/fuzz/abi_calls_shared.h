// SPDX-License-Identifier: Apache-2.0
//
// Arguments and outputs that calls of pigment.h have in common. One thread.

#pragma once

#include "pigment/pigment.h"
#include "tests/fuzz/abi_world.h"

namespace abi_fuzz {

inline pigment_client* AClient(World& w, Arguments& a) { return Choose(w.clients, a.input()); }
inline pigment_collection* ACollection(World& w, Arguments& a) {
  return Choose(w.collections, a.input());
}
inline const pigment_error* AnError(World& w, Arguments& a) {
  return w.errors.empty() || a.input().OneIn(8) ? nullptr
                                                : w.errors[a.input().Below(w.errors.size())];
}

struct CallOptions {
  CallOptions(World& w, Arguments& a) {
    Input& in = a.input();
    present_ = in.OneIn(4);
    a.Size(options_);
    options_.cancel = in.OneIn(4) ? Choose(w.cancels, in) : nullptr;
    if (in.OneIn(6)) options_.deadline_ns = static_cast<int64_t>(in.Number());
    if (in.OneIn(8)) options_.min_position = in.Number();
  }
  const pigment_call_options* get() const { return present_ ? &options_ : nullptr; }

 private:
  bool present_;
  pigment_call_options options_{};
};

struct FuzzedScope {
  explicit FuzzedScope(Arguments& a) {
    present_ = a.input().OneIn(4);
    a.Size(scope_);
    const Text tenant = a.Name(), database = a.Name();
    scope_.tenant = tenant.data;
    scope_.tenant_size = tenant.size;
    scope_.database = database.data;
    scope_.database_size = database.size;
  }
  const pigment_scope* get() const { return present_ ? &scope_ : nullptr; }

 private:
  bool present_;
  pigment_scope scope_{};
};

inline pigment_records Records(Arguments& a) {
  pigment_records records{};
  a.Size(records);
  records.count = a.input().Below(6);
  records.ids = a.Column(records.count);
  records.embeddings = a.Vectors(records.count);
  if (a.input().OneIn(2)) records.documents = a.Column(records.count);
  if (a.input().OneIn(2)) records.metadatas = a.Column(records.count);
  if (a.input().OneIn(3)) records.uris = a.Column(records.count);
  return records;
}

template <typename Request>
void FillSelection(Arguments& a, Request& request) {
  a.Size(request);
  Input& in = a.input();
  if (in.OneIn(3)) {
    request.ids_count = in.Below(5);
    request.ids = a.Column(request.ids_count);
  }
  if (in.OneIn(2)) {
    const Text where = a.Where();
    request.where_json = where.data;
    request.where_json_size = where.size;
  }
  if (in.OneIn(3)) {
    const Text where = a.WhereDocument();
    request.where_document_json = where.data;
    request.where_document_json_size = where.size;
  }
}

// Mostly an order that can be.
inline Text AnOrder(Arguments& a) {
  static constexpr const char* kOrders[] = {
      "[]",
      "null",
      R"([{"key":"a"}])",
      R"([{"key":"#id","descending":true}])",
      R"([{"key":"b","descending":true},{"key":"chroma:uri"}])",
      R"([{"key":"#document"}])",
      "[{}]"};
  if (a.input().OneIn(8)) return a.AnyText();
  return a.Keep(kOrders[a.input().Below(std::size(kOrders))]);
}

using WriteCall = pigment_status (*)(pigment_collection*, const pigment_records*,
                                     const pigment_call_options*, pigment_write_result*,
                                     pigment_error**);
template <WriteCall kCall>
void FuzzWrite(World& w, Arguments& a) {
  const pigment_records records = Records(a);
  pigment_write_result result{};
  a.Size(result);
  result.inserted = 77;
  const CallOptions options(w, a);
  ErrorSlot slot(w, a.input());
  pigment_write_result* out = MaybeOut(result, a);
  const bool ok = slot.Ok(
      kCall(Choose(w.collections, a.input()), Maybe(records, a), options.get(), out, slot.out()));
  if (!ok && out != nullptr && result.struct_size >= sizeof result) {
    Require(result.inserted == 0 && result.position == 0, "a failure nulls its output");
  }
}

// Reads every byte that a text column shows: the address sanitizer watches.
inline void ReadColumn(const pigment_text_column& column, uint64_t rows) {
  uint64_t sum = 0;
  for (uint64_t row = 0; row < rows; ++row) {
    if (column.validity != nullptr) sum += column.validity[row / 8] >> (row % 8) & 1;
    for (int64_t at = column.offsets[row]; at < column.offsets[row + 1]; ++at)
      sum += static_cast<uint8_t>(column.bytes[at]);
  }
  Require(sum != 1 || rows != 0, "bytes of no row");
}

template <bool (*kShow)(const pigment_result*, pigment_text_column*)>
void FuzzColumn(World& w, Arguments& a) {
  const pigment_result* result = Choose(w.results, a.input());
  pigment_text_column column{};
  if (kShow(result, MaybeOut(column, a))) ReadColumn(column, pigment_result_row_count(result));
}

// kCall(world, arguments, json, error).
template <auto kCall>
void FuzzBuffer(World& w, Arguments& a) {
  pigment_buffer* json = reinterpret_cast<pigment_buffer*>(8);
  const bool wanted = !a.input().OneIn(24);
  ErrorSlot slot(w, a.input());
  const bool ok = slot.Ok(kCall(w, a, wanted ? &json : nullptr, slot.out()));
  if (wanted) KeepMade(w.buffers, json, ok);
}

// kCall(world, arguments, made, error).
template <auto kCall>
void FuzzMake(World& w, Arguments& a) {
  pigment_collection* made = reinterpret_cast<pigment_collection*>(8);
  const bool wanted = !a.input().OneIn(24);
  ErrorSlot slot(w, a.input());
  const bool ok = slot.Ok(kCall(w, a, wanted ? &made : nullptr, slot.out()));
  if (wanted) KeepMade(w.collections, made, ok);
}

// kCall(world, arguments, options, json, error).
template <auto kCall>
void FuzzReport(World& w, Arguments& a) {
  const CallOptions options(w, a);
  pigment_buffer* json = reinterpret_cast<pigment_buffer*>(8);
  const bool wanted = !a.input().OneIn(24);
  ErrorSlot slot(w, a.input());
  const bool ok = slot.Ok(kCall(w, a, options.get(), wanted ? &json : nullptr, slot.out()));
  if (wanted) KeepMade(w.buffers, json, ok);
}

}  // namespace abi_fuzz
