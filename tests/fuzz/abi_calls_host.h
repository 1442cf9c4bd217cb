// SPDX-License-Identifier: Apache-2.0
//
// One fuzzed call for every function of pigment_host.h. Pages that a function requires to be
// checked are checked first, as a host does; what the check refuses goes no further.

#pragma once

#include <cmath>

#include "tests/fuzz/abi_calls_database.h"
#include "tests/fuzz/abi_calls_host_keys.h"
#include "tests/fuzz/abi_calls_host_merge.h"
#include "tests/fuzz/abi_host_inputs.h"
#include "tests/fuzz/abi_world.h"

namespace abi_fuzz {

// ---- Pages
// -----------------------------------------------------------------------------------------------------------

struct alignas(8) Page {
  char bytes[PIGMENT_PAGE_BYTES];
};

inline void Damage(Page& page, Arguments& a) {
  if (!a.input().OneIn(4)) return;
  for (size_t n = a.input().Below(6); n > 0; --n) {
    page.bytes[a.input().Below(sizeof page.bytes)] = static_cast<char>(a.input().Byte());
  }
}

// A pending page with some entries, perhaps damaged afterwards. Stamp 1, place 2.
inline void FillPending(Page& page, Arguments& a) {
  Input& in = a.input();
  std::memset(&page, in.Byte(), sizeof page);
  if (in.OneIn(16)) return;  // no page at all
  pigment_pending_page_init(&page, 1, 2);
  for (size_t n = in.Below(12); n > 0; --n) {
    const size_t dimension = in.OneIn(8) ? in.Below(2500) : 3;
    const bool has_vector = !in.OneIn(4);
    std::vector<char> entry(pigment_pending_entry_bytes(dimension, has_vector));
    const std::vector<float> vector(dimension, 0.25f);
    pigment_pending_entry_encode(in.Number(), has_vector ? vector.data() : nullptr, dimension,
                                 entry.data());
    if (entry.size() > pigment_pending_entry_bytes_max()) {
      pigment_pending_page_append_overflow(&page, in.Number(), static_cast<uint32_t>(in.Number()),
                                           entry.size());
    } else {
      pigment_pending_page_append(&page, entry.data(), entry.size());
    }
  }
  if (in.OneIn(3)) pigment_pending_page_set_next(&page, static_cast<uint32_t>(in.Number()));
  Damage(page, a);
}

inline bool CheckedPending(World& w, Page& page, Arguments& a) {
  FillPending(page, a);
  ErrorSlot slot(w, a.input());
  return slot.Ok(pigment_pending_page_check(&page, 1, a.input().OneIn(16) ? 3 : 2, slot.out()));
}

// kUse(page, arguments).
template <auto kUse>
void FuzzPending(World& w, Arguments& a) {
  Page page;
  if (!CheckedPending(w, page, a)) return;
  kUse(page, a);
  Require(pigment_pending_page_check(&page, 1, 2, nullptr) == PIGMENT_OK,
          "a changed page is a good page");
}

inline bool CheckedDeletion(World& w, Page& page, Arguments& a) {
  std::memset(&page, 0, sizeof page);
  pigment_deletion_page_init(&page, 5, 6, static_cast<uint32_t>(a.input().Number()));
  Damage(page, a);
  ErrorSlot slot(w, a.input());
  return slot.Ok(pigment_deletion_page_check(&page, 5, a.input().OneIn(16) ? 7 : 6, slot.out()));
}

// kUse(page, arguments).
template <auto kUse>
void FuzzDeletion(World& w, Arguments& a) {
  Page page;
  if (!CheckedDeletion(w, page, a)) return;
  kUse(page, a);
  Require(pigment_deletion_page_check(&page, 5, 6, nullptr) == PIGMENT_OK,
          "a changed page is a good page");
}

inline void AddPages(std::vector<Entry>& t) {
  t.push_back({"pigment_pending_entry_bytes", [](World&, Arguments& a) {
                 pigment_pending_entry_bytes(a.input().Below(70000), a.input().OneIn(2));
               }});
  t.push_back({"pigment_pending_entry_encode", [](World&, Arguments& a) {
                 const size_t dimension = 1 + a.input().Below(64);
                 const std::vector<float>& vector = a.Floats(dimension);
                 const bool has_vector = !a.input().OneIn(4);
                 std::vector<char> out(pigment_pending_entry_bytes(dimension, has_vector));
                 pigment_pending_entry_encode(a.input().Number(),
                                              has_vector ? vector.data() : nullptr, dimension,
                                              out.data());
               }});
  t.push_back({"pigment_pending_entry_bytes_max", [](World&, Arguments&) {
                 Require(pigment_pending_entry_bytes_max() < PIGMENT_PAGE_BYTES,
                         "an entry fits a page");
               }});
  t.push_back({"pigment_pending_page_init", [](World&, Arguments& a) {
                 Page page;
                 std::memset(&page, a.input().Byte(), sizeof page);
                 const auto stamp = static_cast<uint32_t>(a.input().Number()),
                            place = static_cast<uint32_t>(a.input().Number());
                 pigment_pending_page_init(&page, stamp, place);
                 Require(pigment_pending_page_count(&page) == 0, "a new page is empty");
               }});
  t.push_back({"pigment_pending_page_append", FuzzPending<[](Page& page, Arguments& a) {
                 const std::vector<float> vector(3, 1.0f);
                 std::vector<char> entry(pigment_pending_entry_bytes(3, true));
                 pigment_pending_entry_encode(a.input().Number(), vector.data(), 3, entry.data());
                 pigment_pending_page_append(&page, entry.data(), entry.size());
               }>});
  t.push_back({"pigment_pending_page_append_overflow", FuzzPending<[](Page& page, Arguments& a) {
                 pigment_pending_page_append_overflow(&page, a.input().Number(),
                                                      static_cast<uint32_t>(a.input().Number()),
                                                      9000 + a.input().Byte());
               }>});
  t.push_back({"pigment_pending_page_next",
               FuzzPending<[](Page& page, Arguments&) { pigment_pending_page_next(&page); }>});
  t.push_back({"pigment_pending_page_set_next", FuzzPending<[](Page& page, Arguments& a) {
                 const auto next = static_cast<uint32_t>(a.input().Number());
                 pigment_pending_page_set_next(&page, next);
                 Require(pigment_pending_page_next(&page) == next, "next reads back");
               }>});
  t.push_back({"pigment_pending_page_retired",
               FuzzPending<[](Page& page, Arguments&) { pigment_pending_page_retired(&page); }>});
  t.push_back({"pigment_pending_page_set_retired", FuzzPending<[](Page& page, Arguments& a) {
                 const uint64_t transaction = a.input().Number();
                 pigment_pending_page_set_retired(&page, transaction);
                 Require(pigment_pending_page_retired(&page) == transaction, "retired reads back");
               }>});
  t.push_back({"pigment_pending_page_check", [](World& w, Arguments& a) {
                 Page page;
                 CheckedPending(w, page, a);
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_pending_page_check(a.input().OneIn(8) ? nullptr : &page, 1, 2,
                                                    slot.out()));
               }});
  t.push_back({"pigment_pending_page_count", FuzzPending<[](Page& page, Arguments&) {
                 Require(pigment_pending_page_count(&page) < PIGMENT_PAGE_BYTES,
                         "entries fit a page");
               }>});
  t.push_back({"pigment_pending_page_entry", FuzzPending<[](Page& page, Arguments& a) {
                 const uint32_t count = pigment_pending_page_count(&page);
                 uint64_t pointer = 0;
                 for (uint32_t i = 0; i < count; ++i)
                   pigment_pending_page_entry(&page, i, MaybeOut(pointer, a));
               }>});
  t.push_back({"pigment_pending_page_entry_has_vector", FuzzPending<[](Page& page, Arguments& a) {
                 const uint32_t count = pigment_pending_page_count(&page);
                 for (uint32_t i = 0; i < count; ++i)
                   pigment_pending_page_entry_has_vector(&page, i);
                 pigment_pending_page_entry_has_vector(&page,
                                                       static_cast<uint32_t>(a.input().Number()));
               }>});
  t.push_back({"pigment_pending_page_bytes",
               FuzzPending<[](Page& page, Arguments&) { pigment_pending_page_bytes(&page); }>});
  t.push_back(
      {"pigment_pending_page_has_hashes",
       FuzzPending<[](Page& page, Arguments&) { pigment_pending_page_has_hashes(&page); }>});
  t.push_back({"pigment_pending_page_unused", FuzzPending<[](Page& page, Arguments&) {
                 size_t begin = 0;
                 size_t end = 0;
                 pigment_pending_page_unused(&page, &begin, &end);
                 Require(begin <= end && end <= PIGMENT_PAGE_BYTES - PIGMENT_PAGE_TRAILER_BYTES,
                         "what is unused lies in the page");
               }>});
  t.push_back({"pigment_pending_page_kill", FuzzPending<[](Page& page, Arguments& a) {
                 const uint32_t count = pigment_pending_page_count(&page);
                 if (count == 0) return;
                 const auto index = static_cast<uint32_t>(a.input().Below(count));
                 pigment_pending_page_kill(&page, index);
                 uint64_t pointer = 0;
                 Require(!pigment_pending_page_entry(&page, index, &pointer),
                         "a killed entry is dead");
               }>});
  t.push_back({"pigment_overflow_page_init", [](World&, Arguments& a) {
                 Page page;
                 const std::string bytes = a.input().Bytes(20000);
                 const size_t offset = a.input().Below(bytes.size() + 1);
                 const size_t took = pigment_overflow_page_init(
                     &page, 1, 2, bytes.data(), bytes.size(), offset, PIGMENT_NO_PAGE);
                 Require(took <= bytes.size() - offset && took <= pigment_overflow_page_capacity(),
                         "takes what is there");
               }});
  t.push_back({"pigment_overflow_page_capacity", [](World&, Arguments&) {
                 Require(pigment_overflow_page_capacity() < PIGMENT_PAGE_BYTES, "less than a page");
               }});
  t.push_back({"pigment_deletion_page_rows", [](World&, Arguments&) {
                 Require(pigment_deletion_page_rows() <= 8 * PIGMENT_PAGE_BYTES, "bits of a page");
               }});
  t.push_back({"pigment_deletion_page_init", [](World& w, Arguments& a) {
                 Page page;
                 CheckedDeletion(w, page, a);
               }});
  t.push_back({"pigment_deletion_page_next",
               FuzzDeletion<[](Page& page, Arguments&) { pigment_deletion_page_next(&page); }>});
  t.push_back({"pigment_deletion_page_set_next", FuzzDeletion<[](Page& page, Arguments& a) {
                 const auto next = static_cast<uint32_t>(a.input().Number());
                 pigment_deletion_page_set_next(&page, next);
                 Require(pigment_deletion_page_next(&page) == next, "next reads back");
               }>});
  t.push_back({"pigment_deletion_page_check", [](World& w, Arguments& a) {
                 Page page;
                 CheckedDeletion(w, page, a);
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_deletion_page_check(a.input().OneIn(8) ? nullptr : &page, 5, 6,
                                                     slot.out()));
               }});
  t.push_back({"pigment_deletion_page_set", FuzzDeletion<[](Page& page, Arguments& a) {
                 const uint32_t per_page = pigment_deletion_page_rows();
                 std::vector<uint32_t> rows(a.input().Below(8));
                 for (uint32_t& row : rows)
                   row = 6 * per_page + static_cast<uint32_t>(a.input().Below(per_page));
                 pigment_deletion_page_set(&page, rows.data(), rows.size());
                 const uint8_t* bits = pigment_deletion_page_bits(&page);
                 for (const uint32_t row : rows) {
                   Require((bits[row % per_page / 8] >> (row % 8) & 1) != 0, "a set bit is set");
                 }
               }>});
  t.push_back({"pigment_deletion_page_bits",
               FuzzDeletion<[](Page& page, Arguments&) { pigment_deletion_page_bits(&page); }>});
  t.push_back({"pigment_meta_page_seal", [](World&, Arguments& a) {
                 Page page;
                 std::memset(&page, a.input().Byte(), sizeof page);
                 pigment_meta_page_seal(&page, 3);
                 Require(pigment_meta_page_check(&page, 3, nullptr) == PIGMENT_OK,
                         "a sealed page is good");
               }});
  t.push_back({"pigment_meta_page_check", [](World& w, Arguments& a) {
                 Page page;
                 std::memset(&page, a.input().Byte(), sizeof page);
                 if (a.input().OneIn(2)) pigment_meta_page_seal(&page, 3);
                 Damage(page, a);
                 ErrorSlot slot(w, a.input());
                 slot.Ok(
                     pigment_meta_page_check(a.input().OneIn(8) ? nullptr : &page, 3, slot.out()));
               }});
}

// ---- Distances, filters, checks
// --------------------------------------------------------------------------------------

inline pigment_cursor_place ACursorPlace(Arguments& a) {
  pigment_cursor_place place{};
  a.Size(place);
  const Text collection = a.Name(), order = AnOrder(a), key = a.AnyText();
  place.collection = collection.data;
  place.collection_size = collection.size;
  place.order_by_json = order.data;
  place.order_by_json_size = order.size;
  place.key = key.data;
  place.key_size = key.size;
  place.ordinal = a.input().Number();
  return place;
}

inline void AddPure(std::vector<Entry>& t) {
  t.push_back({"pigment_host_distance", [](World&, Arguments& a) {
                 const size_t dimension = 1 + a.input().Below(70);
                 const std::vector<float>&x = a.Floats(dimension), &y = a.Floats(dimension);
                 pigment_host_distance(a.input().Enum(7), x.data(), y.data(), dimension);
               }});
  t.push_back({"pigment_host_norm", [](World&, Arguments& a) {
                 const std::vector<float>& x = a.Floats(1 + a.input().Below(70));
                 const double norm = pigment_host_norm(x.data(), x.size());
                 Require(!(norm < 0), "a norm is not negative");
               }});
  t.push_back({"pigment_host_round_to_halves", [](World&, Arguments& a) {
                 const std::vector<float>& x = a.Floats(1 + a.input().Below(70));
                 std::vector<float> rounded(x.size());
                 double rounding = 0;
                 const bool rounds = pigment_host_round_to_halves(
                     a.input().OneIn(2) ? PIGMENT_METRIC_L2 : PIGMENT_METRIC_COSINE, x.data(),
                     x.size(), rounded.data(), a.input().OneIn(4) ? nullptr : &rounding);
                 Require(!rounds || (pigment_host_round_to_halves(PIGMENT_METRIC_L1, rounded.data(),
                                                                  x.size(), nullptr, &rounding) &&
                                     rounding == 0),
                         "what is rounded can be, and stays");
               }});
  t.push_back(
      {"pigment_host_round_to_twelves", [](World&, Arguments& a) {
         const std::vector<float>& x = a.Floats(1 + a.input().Below(70));
         std::vector<float> rounded(x.size());
         double rounding = 0;
         const bool rounds = pigment_host_round_to_twelves(
             a.input().OneIn(2) ? PIGMENT_METRIC_L2 : PIGMENT_METRIC_COSINE, x.data(), x.size(),
             rounded.data(), a.input().OneIn(4) ? nullptr : &rounding);
         for (const auto again : {pigment_host_round_to_twelves, pigment_host_round_to_halves}) {
           Require(
               !rounds || (again(PIGMENT_METRIC_L1, rounded.data(), x.size(), nullptr, &rounding) &&
                           rounding == 0),
               "what is rounded can be, and stays");
         }
       }});
  t.push_back({"pigment_filter_compile", [](World& w, Arguments& a) {
                 const Text where = a.Where(), where_document = a.WhereDocument();
                 pigment_filter* filter = reinterpret_cast<pigment_filter*>(8);
                 const bool wanted = !a.input().OneIn(24);
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_filter_compile(
                     where.data, where.size, where_document.data, where_document.size,
                     wanted ? &filter : nullptr, slot.out()));
                 if (wanted) KeepMade(w.filters, filter, ok);
               }});
  t.push_back({"pigment_filter_matches", [](World& w, Arguments& a) {
                 pigment_filter_record record{};
                 a.Size(record);
                 const Text id = a.Name(), metadata = a.Metadata(), document = a.AnyText(),
                            uri = a.AnyText();
                 record.id = id.data;
                 record.id_size = id.size;
                 record.metadata_json = metadata.data;
                 record.metadata_json_size = metadata.size;
                 record.document = document.data;
                 record.document_size = document.size;
                 record.uri = uri.data;
                 record.uri_size = uri.size;
                 bool matches = true;
                 ErrorSlot slot(w, a.input());
                 bool* out = a.input().OneIn(24) ? nullptr : &matches;
                 const bool ok = slot.Ok(pigment_filter_matches(
                     LiveOrNull(w.filters, a.input()), a.input().OneIn(32) ? nullptr : &record, out,
                     slot.out()));
                 if (!ok && out != nullptr) Require(!matches, "a failure nulls its output");
               }});
  t.push_back({"pigment_filter_check_schema", [](World& w, Arguments& a) {
                 const Text schema = a.Schema();
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_filter_check_schema(LiveOrNull(w.filters, a.input()), schema.data,
                                                     schema.size, slot.out()));
               }});
  t.push_back({"pigment_filter_free",
               [](World& w, Arguments& a) { pigment_filter_free(Remove(w.filters, a.input())); }});
  t.push_back({"pigment_order_key",
               FuzzBuffer<[](World&, Arguments& a, pigment_buffer** key, pigment_error** error) {
                 const Text order = AnOrder(a), id = a.Name(), metadata = a.Metadata(),
                            uri = a.AnyText();
                 pigment_filter_record record{};
                 a.Size(record);
                 record.id = id.data;
                 record.id_size = id.size;
                 record.metadata_json = metadata.data;
                 record.metadata_json_size = metadata.size;
                 record.uri = uri.data;
                 record.uri_size = uri.size;
                 return pigment_order_key(order.data, order.size, Maybe(record, a), key, error);
               }>});
  t.push_back({"pigment_cursor_write",
               FuzzBuffer<[](World&, Arguments& a, pigment_buffer** cursor, pigment_error** error) {
                 const pigment_cursor_place place = ACursorPlace(a);
                 return pigment_cursor_write(Maybe(place, a), cursor, error);
               }>});
  t.push_back({"pigment_cursor_read",
               FuzzBuffer<[](World& w, Arguments& a, pigment_buffer** key, pigment_error** error) {
                 const pigment_cursor_place place = ACursorPlace(a);
                 Text text = a.AnyText();
                 size_t size = 0;
                 const char* data = pigment_buffer_data(Choose(w.buffers, a.input()), &size);
                 if (data != nullptr && !a.input().OneIn(3)) text = a.Keep(std::string(data, size));
                 uint64_t ordinal = 77;
                 return pigment_cursor_read(text.data, text.size, Maybe(place, a), key,
                                            MaybeOut(ordinal, a), error);
               }>});
  t.push_back({"pigment_check_collection_name", [](World& w, Arguments& a) {
                 const Text name = a.Name();
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_check_collection_name(name.data, name.size, slot.out()));
               }});
  t.push_back({"pigment_check_database_name", [](World& w, Arguments& a) {
                 const Text name = a.Name();
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_check_database_name(name.data, name.size, slot.out()));
               }});
  t.push_back({"pigment_check_tenant_name", [](World& w, Arguments& a) {
                 const Text name = a.Name();
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_check_tenant_name(name.data, name.size, slot.out()));
               }});
  t.push_back({"pigment_check_ids", [](World& w, Arguments& a) {
                 const size_t count = a.input().Below(5);
                 const pigment_text_column ids = a.Column(count);
                 const Text operation = a.Name();
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_check_ids(count, Maybe(ids, a), operation.data, operation.size,
                                           slot.out()));
               }});
  t.push_back({"pigment_check_metadata", [](World& w, Arguments& a) {
                 const Text json = a.Metadata();
                 ErrorSlot slot(w, a.input());
                 slot.Ok(
                     pigment_check_metadata(json.data, json.size, a.input().Enum(3), slot.out()));
               }});
  t.push_back({"pigment_check_configuration", [](World& w, Arguments& a) {
                 const Text json = a.Configuration(), metadata = a.Metadata(), space = a.Name();
                 const bool with_space = a.input().OneIn(4);
                 pigment_buffer* made = reinterpret_cast<pigment_buffer*>(8);
                 int32_t metric = 77;
                 const bool wanted = !a.input().OneIn(24);
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_check_configuration(
                     json.data, json.size, metadata.data, metadata.size,
                     with_space ? space.data : nullptr, with_space ? space.size : 0,
                     wanted ? &made : nullptr, MaybeOut(metric, a), slot.out()));
                 if (wanted) KeepMade(w.buffers, made, ok);
               }});
  t.push_back({"pigment_check_schema", [](World& w, Arguments& a) {
                 const Text json = a.Schema(), metadata = a.Metadata(), space = a.Name();
                 const bool with_space = a.input().OneIn(4);
                 pigment_buffer* made = reinterpret_cast<pigment_buffer*>(8);
                 pigment_buffer* configuration = reinterpret_cast<pigment_buffer*>(8);
                 int32_t metric = 77;
                 const bool wanted = !a.input().OneIn(24);
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_check_schema(
                     json.data, json.size, metadata.data, metadata.size,
                     with_space ? space.data : nullptr, with_space ? space.size : 0,
                     wanted ? &made : nullptr, &configuration, MaybeOut(metric, a), slot.out()));
                 KeepMade(w.buffers, configuration, ok);
                 if (wanted) KeepMade(w.buffers, made, ok);
               }});
  t.push_back({"pigment_check_configuration_update", [](World& w, Arguments& a) {
                 const Text current = a.Configuration(), change = a.Configuration();
                 pigment_buffer* made = reinterpret_cast<pigment_buffer*>(8);
                 const bool wanted = !a.input().OneIn(24);
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_check_configuration_update(
                     current.data, current.size, change.data, change.size, wanted ? &made : nullptr,
                     slot.out()));
                 if (wanted) KeepMade(w.buffers, made, ok);
               }});
}

// ---- Segments and searches
// -------------------------------------------------------------------------------------------

inline void FuzzBuilderNew(World& w, Arguments& a) {
  Input& in = a.input();
  w.files.emplace_back();
  PageFile* file = &w.files.back();
  if (in.OneIn(12)) file->fail_after = 1 + in.Byte() % 4;
  pigment_segment_options options = ABuild(a);
  options.write_page = in.OneIn(24) ? nullptr : WritePage;
  options.context = file;
  pigment_segment_builder* builder = reinterpret_cast<pigment_segment_builder*>(8);
  const bool wanted = !in.OneIn(24);
  ErrorSlot slot(w, in);
  const bool ok = slot.Ok(pigment_segment_builder_new(in.OneIn(32) ? nullptr : &options,
                                                      wanted ? &builder : nullptr, slot.out()));
  if (!wanted) return;
  KeepMade(w.builders, builder, ok);
  if (builder == nullptr) return;
  w.builder_files[builder] = file;
  w.builder_ids[builder] = options.segment;
  w.builder_dimensions[builder] = options.dimension;
}

inline void FuzzBuilderAdd(World& w, Arguments& a) {
  pigment_segment_builder* builder = LiveOrNull(w.builders, a.input());
  const size_t dimension = builder != nullptr ? w.builder_dimensions[builder] : 3;
  for (size_t n = 1 + a.input().Below(40); n > 0; --n) {
    const std::vector<float>& vector = a.Floats(dimension);
    ErrorSlot slot(w, a.input());
    if (!slot.Ok(pigment_segment_builder_add(builder, a.input().OneIn(8) ? nullptr : vector.data(),
                                             a.input().Number(), slot.out()))) {
      return;
    }
  }
}

inline void FuzzBuilderFinish(World& w, Arguments& a) {
  pigment_segment_builder* builder = LiveOrNull(w.builders, a.input());
  uint32_t root = 77, pages = 77;
  uint64_t rows = 77;
  ErrorSlot slot(w, a.input());
  const bool ok = slot.Ok(pigment_segment_builder_finish(
      builder, MaybeOut(root, a), MaybeOut(pages, a), MaybeOut(rows, a), slot.out()));
  if (ok && root != 77) w.built.push_back({w.builder_files[builder], root, w.builder_ids[builder]});
}

inline void FuzzSegmentOpen(World& w, Arguments& a) {
  Input& in = a.input();
  w.files.emplace_back();
  PageFile* file = &w.files.back();
  uint32_t root = static_cast<uint32_t>(in.Number()), id = 1;
  if (!w.built.empty() && !in.OneIn(8)) {
    const BuiltSegment& built = w.built[in.Below(w.built.size())];
    for (const auto& page : built.file->pages) {  // a copy of its own, so that damage stays here
      auto copy = std::make_unique<char[]>(PIGMENT_PAGE_BYTES);
      std::memcpy(copy.get(), page.get(), PIGMENT_PAGE_BYTES);
      file->pages.push_back(std::move(copy));
    }
    root = built.root;
    id = built.id;
    if (in.OneIn(4)) {
      for (size_t n = in.Below(6); n > 0 && !file->pages.empty(); --n) {
        file->pages[in.Below(file->pages.size())][in.Below(PIGMENT_PAGE_BYTES)] =
            static_cast<char>(in.Byte());
      }
    }
  }
  if (in.OneIn(12)) file->fail_after = 1 + in.Byte() % 6;
  const pigment_page_source source = SourceOf(a, file);
  pigment_segment* segment = reinterpret_cast<pigment_segment*>(8);
  const bool wanted = !in.OneIn(24);
  ErrorSlot slot(w, in);
  const bool ok =
      slot.Ok(pigment_segment_open(in.OneIn(32) ? nullptr : &source, in.OneIn(16) ? 0 : id, root,
                                   wanted ? &segment : nullptr, slot.out()));
  if (!wanted) return;
  KeepMade(w.segments, segment, ok);
  if (segment == nullptr) return;
  pigment_segment_info info{};
  info.struct_size = sizeof info;
  pigment_segment_get_info(segment, &info);
  w.segment_rows[segment] = info.rows;
}

inline void FreeSearches(World& w) {
  for (auto* search : w.searches) pigment_host_search_free(search);
  w.searches.clear();
}

inline void AddSegments(std::vector<Entry>& t) {
  t.push_back({"pigment_segment_builder_new", FuzzBuilderNew});
  t.push_back({"pigment_segment_builder_add", FuzzBuilderAdd});
  t.push_back({"pigment_segment_builder_finish", FuzzBuilderFinish});
  t.push_back({"pigment_segment_builder_zero_vectors", [](World& w, Arguments& a) {
                 const uint64_t zeros =
                     pigment_segment_builder_zero_vectors(LiveOrNull(w.builders, a.input()));
                 Require(zeros < 1000000, "no more vectors than were added");
               }});
  t.push_back({"pigment_segment_builder_rounding", [](World& w, Arguments& a) {
                 Require(pigment_segment_builder_rounding(LiveOrNull(w.builders, a.input())) >= 0,
                         "a distance is not negative");
               }});
  t.push_back({"pigment_segment_builder_has_given_up_index", [](World& w, Arguments& a) {
                 pigment_segment_builder_has_given_up_index(LiveOrNull(w.builders, a.input()));
               }});
  t.push_back({"pigment_segment_builder_free", [](World& w, Arguments& a) {
                 pigment_segment_builder_free(Remove(w.builders, a.input()));
               }});
  t.push_back({"pigment_segment_open", FuzzSegmentOpen});
  t.push_back({"pigment_segment_get_info", [](World& w, Arguments& a) {
                 pigment_segment_info info{};
                 a.Size(info);
                 pigment_segment_get_info(LiveOrNull(w.segments, a.input()),
                                          a.input().OneIn(16) ? nullptr : &info);
               }});
  t.push_back({"pigment_segment_row_pointers", [](World& w, Arguments& a) {
                 std::vector<uint64_t> pointers(a.input().Below(70));
                 const uint64_t first = a.input().OneIn(3) ? a.input().Number() : 0;
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_segment_row_pointers(
                     LiveOrNull(w.segments, a.input()), first, pointers.size(),
                     a.input().OneIn(16) ? nullptr : pointers.data(), slot.out()));
               }});
  t.push_back({"pigment_segment_find_vector", [](World& w, Arguments& a) {
                 const std::vector<float>& vector = a.Floats(3);
                 uint32_t rows[5];
                 size_t count = 0;
                 pigment_vector_hash hash{};
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_segment_find_vector(
                     LiveOrNull(w.segments, a.input()),
                     a.input().OneIn(16) ? nullptr : vector.data(), a.input().OneIn(8) ? 2 : 3,
                     rows, a.input().Below(6), &count, &hash, slot.out()));
                 Require(count <= 5, "no more rows than there is room for");
               }});
  t.push_back({"pigment_segment_verify", [](World& w, Arguments& a) {
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_segment_verify(LiveOrNull(w.segments, a.input()), slot.out()));
               }});
  t.push_back({"pigment_segment_free", [](World& w, Arguments& a) {
                 FreeSearches(w);  // they borrow segments
                 pigment_segment_free(Remove(w.segments, a.input()));
               }});
}

inline void FuzzAddPending(World& w, Arguments& a) {
  Input& in = a.input();
  const FuzzedChain chain = AChain(w, a);
  ErrorSlot slot(w, in);
  slot.Ok(pigment_host_search_add_pending(LiveOrNull(w.searches, in),
                                          in.OneIn(32) ? nullptr : &chain.source,
                                          in.OneIn(16) ? 8 : 9, chain.first, slot.out()));
}

inline void FuzzPendingCacheNew(World& w, Arguments& a) {
  Input& in = a.input();
  const FuzzedChain chain = AChain(w, a);
  pigment_pending_cache_options options{};
  a.Size(options);
  options.stamp = in.OneIn(16) ? 8 : 9;
  options.first = chain.first;
  options.dimension = in.OneIn(8) ? static_cast<uint32_t>(in.Number()) : 3;
  options.bytes_max = in.OneIn(2) ? in.Number() : in.Byte() * uint64_t{16};
  pigment_pending_cache* cache = reinterpret_cast<pigment_pending_cache*>(8);
  const bool wanted = !in.OneIn(24);
  ErrorSlot slot(w, in);
  const bool ok = slot.Ok(pigment_pending_cache_new(in.OneIn(32) ? nullptr : &options,
                                                    wanted ? &cache : nullptr, slot.out()));
  if (!wanted) return;
  KeepMade(w.pending_caches, cache, ok);
  if (cache != nullptr) w.pending_files[cache] = &w.files.back();
}

// Mostly with the chain that the cache is of; or with one that has nothing to do with it.
inline void FuzzAddPendingCache(World& w, Arguments& a) {
  Input& in = a.input();
  pigment_pending_cache* cache = LiveOrNull(w.pending_caches, in);
  PageFile* file = w.pending_files[cache];
  const pigment_page_source source =
      file == nullptr || in.OneIn(8) ? AChain(w, a).source : SourceOf(a, file);
  ErrorSlot slot(w, in);
  slot.Ok(pigment_host_search_add_pending_cache(
      LiveOrNull(w.searches, in), in.OneIn(32) ? nullptr : &source, cache, slot.out()));
}

inline void FuzzPendingCacheHang(World& w, Arguments& a) {
  Input& in = a.input();
  pigment_pending_cache* cache = LiveOrNull(w.pending_caches, in);
  PageFile* file = w.pending_files[cache];
  pigment_page_source source =
      file == nullptr || in.OneIn(8) ? AChain(w, a).source : SourceOf(a, file);
  const pigment_segment* segment = LiveOrNull(w.segments, in);
  if (segment != nullptr) {
    source.segments = &segment;
    source.segment_count = 1;
  }
  pigment_buffer* part = reinterpret_cast<pigment_buffer*>(8);
  const bool wanted = !in.OneIn(24);
  ErrorSlot slot(w, in);
  const bool ok = slot.Ok(pigment_pending_cache_hang(cache, in.OneIn(32) ? nullptr : &source,
                                                     wanted ? &part : nullptr, slot.out()));
  if (!wanted) return;
  Require(ok || part == nullptr, "no part after an error");
  pigment_buffer_free(part);
}

inline void AddSearches(std::vector<Entry>& t) {
  t.push_back(
      {"pigment_host_search_new", [](World& w, Arguments& a) {
         Input& in = a.input();
         pigment_host_search_options options{};
         a.Size(options);
         options.metric = in.OneIn(8) ? in.Enum(7) : PIGMENT_METRIC_L2;
         options.dimension = 3;
         options.query = in.OneIn(8) ? nullptr : a.Floats(3).data();
         if (in.OneIn(4))
           options.batch_rows_first = in.OneIn(4) ? static_cast<size_t>(in.Number()) : in.Below(5);
         if (in.OneIn(4)) options.batch_bytes_max = in.Number();
         if (in.OneIn(2)) options.recall = static_cast<double>(in.Byte()) / 250;
         if (in.OneIn(4)) options.width = in.Byte();
         options.has_max_distance = in.OneIn(3);
         options.max_distance = static_cast<float>(static_cast<int8_t>(in.Byte()));
         if (in.OneIn(4)) options.nan = in.Enum(3);
         options.no_zero_vectors = in.OneIn(4);
         if (in.OneIn(4))
           options.rows_wanted = in.OneIn(4) ? static_cast<size_t>(in.Number()) : in.Below(5);
         if (in.OneIn(4))
           options.rows_spare = in.OneIn(4) ? static_cast<size_t>(in.Number()) : in.Below(5);
         const FuzzedConditions conditions(a);
         if (in.OneIn(2)) {
           options.condition_count = conditions.conditions.size();
           options.conditions = in.OneIn(24) ? nullptr : conditions.conditions.data();
         }
         if (in.OneIn(4)) {
           options.text = LiveOrNull(w.text_queries, in);
           options.text_column = in.OneIn(8) ? static_cast<uint32_t>(in.Number()) : kTextColumn;
           if (!in.OneIn(8)) options.query = nullptr;
         }
         const pigment_sparse_vector sparse = ASparseVector(a);
         if (in.OneIn(4)) {
           options.sparse = &sparse;
           options.sparse_column = in.OneIn(8) ? static_cast<uint32_t>(in.Number()) : kSparseColumn;
           if (!in.OneIn(8)) options.query = nullptr;
           if (!in.OneIn(8)) options.text = nullptr;
         }
         pigment_host_search* search = reinterpret_cast<pigment_host_search*>(8);
         const bool wanted = !in.OneIn(24);
         ErrorSlot slot(w, in);
         const bool ok = slot.Ok(pigment_host_search_new(in.OneIn(32) ? nullptr : &options,
                                                         wanted ? &search : nullptr, slot.out()));
         if (wanted) KeepMade(w.searches, search, ok);
       }});
  t.push_back({"pigment_host_search_add_segment", [](World& w, Arguments& a) {
                 Input& in = a.input();
                 pigment_segment* segment = LiveOrNull(w.segments, in);
                 const FuzzedBits deleted = DeletedBits(w, a, segment);
                 ErrorSlot slot(w, in);
                 slot.Ok(pigment_host_search_add_segment(LiveOrNull(w.searches, in), segment,
                                                         deleted.bytes, deleted.size, slot.out()));
               }});
  t.push_back({"pigment_host_search_add_pending", FuzzAddPending});
  t.push_back({"pigment_pending_cache_new", FuzzPendingCacheNew});
  t.push_back({"pigment_host_search_add_pending_cache", FuzzAddPendingCache});
  t.push_back({"pigment_pending_cache_hang", FuzzPendingCacheHang});
  t.push_back({"pigment_pending_cache_set_graft", [](World& w, Arguments& a) {
                 pigment_pending_cache_set_graft(LiveOrNull(w.pending_caches, a.input()),
                                                 a.input().OneIn(4)
                                                     ? static_cast<uint32_t>(a.input().Below(4))
                                                     : PIGMENT_NO_PAGE);
               }});
  t.push_back({"pigment_pending_cache_may_hang", [](World& w, Arguments& a) {
                 pigment_pending_cache_may_hang(LiveOrNull(w.pending_caches, a.input()),
                                                LiveOrNull(w.segments, a.input()));
               }});
  t.push_back({"pigment_pending_cache_free", [](World& w, Arguments& a) {
                 pigment_pending_cache_free(Remove(w.pending_caches, a.input()));
               }});
  t.push_back({"pigment_host_search_next", [](World& w, Arguments& a) {
                 std::vector<pigment_host_hit> hits(a.input().Below(50));
                 size_t count = 77;
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_host_search_next(
                     LiveOrNull(w.searches, a.input()), a.input().OneIn(16) ? nullptr : hits.data(),
                     hits.size(), MaybeOut(count, a), slot.out()));
                 if (ok && count != 77) Require(count <= hits.size(), "hits fit");
               }});
  t.push_back({"pigment_host_search_mark_dead", [](World& w, Arguments& a) {
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_host_search_mark_dead(LiveOrNull(w.searches, a.input()),
                                                       a.input().Byte(), slot.out()));
               }});
  t.push_back({"pigment_host_search_sample_within", [](World& w, Arguments& a) {
                 uint64_t rows = 7;
                 uint64_t within = 7;
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_host_search_sample_within(
                     LiveOrNull(w.searches, a.input()), a.input().Below(100), MaybeOut(rows, a),
                     MaybeOut(within, a), slot.out()));
                 if (ok) Require(within <= rows, "what is within is among what was looked at");
               }});
  t.push_back({"pigment_host_search_get_counters", [](World& w, Arguments& a) {
                 pigment_host_search_counters counters{};
                 a.Size(counters);
                 pigment_host_search_get_counters(LiveOrNull(w.searches, a.input()),
                                                  a.input().OneIn(16) ? nullptr : &counters);
               }});
  t.push_back({"pigment_host_search_free", [](World& w, Arguments& a) {
                 pigment_host_search_free(Remove(w.searches, a.input()));
               }});
}

inline void AddHostCalls(std::vector<Entry>& table) {
  AddPages(table);
  AddPure(table);
  AddSegments(table);
  AddSearches(table);
  AddKeyCalls(table);
  AddTexts(table);
  AddSparse(table);
  AddMerges(table);
}

}  // namespace abi_fuzz
