// SPDX-License-Identifier: Apache-2.0
//
// Calls of the host interface that put rows of segments and of pending pages into new segments, and
// say where pages lie. One thread.

#pragma once

#include <vector>

#include "pigment/pigment_host.h"
#include "tests/fuzz/abi_host_inputs.h"
#include "tests/fuzz/abi_world.h"

namespace abi_fuzz {

// Counts, and fails now and then.
inline pigment_status VisitPage(void* context, uint32_t) {
  auto* file = static_cast<PageFile*>(context);
  return file->Fails() ? PIGMENT_ABORTED : PIGMENT_OK;
}

inline void FuzzBuilderAddSegment(World& w, Arguments& a) {
  Input& in = a.input();
  pigment_segment* segment = LiveOrNull(w.segments, in);
  const FuzzedBits deleted = DeletedBits(w, a, segment);
  ErrorSlot slot(w, in);
  slot.Ok(pigment_segment_builder_add_segment(LiveOrNull(w.builders, in), segment, deleted.bytes,
                                              deleted.size, slot.out()));
}

inline void FuzzBuilderAddPending(World& w, Arguments& a) {
  Input& in = a.input();
  const FuzzedChain chain = AChain(w, a);
  ErrorSlot slot(w, in);
  slot.Ok(pigment_segment_builder_add_pending(
      LiveOrNull(w.builders, in), in.OneIn(32) ? nullptr : &chain.source, in.OneIn(16) ? 8 : 9,
      chain.first, in.OneIn(8) ? PIGMENT_NO_PAGE : static_cast<uint32_t>(in.Below(4)), slot.out()));
}

inline void FuzzPendingVisitPages(World& w, Arguments& a) {
  Input& in = a.input();
  const FuzzedChain chain = AChain(w, a);
  PageFile counted;
  if (in.OneIn(4)) counted.fail_after = 1 + in.Byte() % 4;
  ErrorSlot slot(w, in);
  slot.Ok(pigment_pending_visit_pages(
      in.OneIn(32) ? nullptr : &chain.source, in.OneIn(16) ? 8 : 9, chain.first,
      in.OneIn(2) ? PIGMENT_NO_PAGE : static_cast<uint32_t>(in.Below(4)),
      in.OneIn(32) ? nullptr : VisitPage, &counted, slot.out()));
}

// A page that begins as what rows hang on does, and goes on as it pleases.
inline FuzzedChain APart(World& w, Arguments& a) {
  Input& in = a.input();
  w.files.emplace_back();
  PageFile* file = &w.files.back();
  std::vector<uint32_t> words = {0x47474950, 1, 7, in.Byte(), PIGMENT_NO_PAGE, 1, 40, 2, 0};
  if (in.OneIn(2)) words[in.Below(words.size())] = static_cast<uint32_t>(in.Number());
  words.back() = static_cast<uint32_t>(in.Below(4));
  for (size_t n = in.Below(16); n > 0; --n) words.push_back(static_cast<uint32_t>(in.Number()));
  auto page = std::make_unique<char[]>(PIGMENT_PAGE_BYTES);
  pigment_overflow_page_init(page.get(), 9, 0, words.data(), words.size() * sizeof words[0], 0,
                             in.OneIn(8) ? 0 : PIGMENT_NO_PAGE);
  file->pages.push_back(std::move(page));
  return {SourceOf(a, file), 0};
}

inline void FuzzGraftVisitPages(World& w, Arguments& a) {
  Input& in = a.input();
  const FuzzedChain part = in.OneIn(4) ? AChain(w, a) : APart(w, a);
  PageFile counted;
  if (in.OneIn(4)) counted.fail_after = 1 + in.Byte() % 4;
  uint32_t segment = 1;
  ErrorSlot slot(w, in);
  slot.Ok(pigment_pending_graft_visit_pages(
      in.OneIn(32) ? nullptr : &part.source, in.OneIn(16) ? 8 : 9, part.first,
      in.OneIn(32) ? nullptr : VisitPage, &counted, in.OneIn(32) ? nullptr : &segment, slot.out()));
}

inline void FuzzPendingRoundsToHalves(World& w, Arguments& a) {
  Input& in = a.input();
  const FuzzedChain chain = AChain(w, a);
  bool rounds = true;
  ErrorSlot slot(w, in);
  slot.Ok(pigment_pending_rounds_to_halves(
      in.OneIn(32) ? nullptr : &chain.source, in.OneIn(16) ? 8 : 9, chain.first,
      in.OneIn(2) ? PIGMENT_NO_PAGE : static_cast<uint32_t>(in.Below(4)),
      in.OneIn(32) ? nullptr : &rounds, slot.out()));
}

inline void FuzzPlanMerge(World& w, Arguments& a) {
  Input& in = a.input();
  std::vector<pigment_merge_shape> shapes(in.Below(20));
  for (pigment_merge_shape& shape : shapes) {
    shape.rows = in.OneIn(8) ? in.Number() : in.Byte();
    shape.deleted_rows = in.OneIn(8) ? in.Number() : in.Below(shape.rows % 256 + 1);
    shape.is_busy = in.OneIn(8);
  }
  size_t first = 0;
  size_t count = 0;
  ErrorSlot slot(w, in);
  const bool ok = slot.Ok(pigment_plan_merge(in.OneIn(24) ? nullptr : shapes.data(), shapes.size(),
                                             in.OneIn(8) ? in.Number() : 1 + in.Byte(), &first,
                                             &count, slot.out()));
  if (ok) Require(count <= shapes.size() && first <= shapes.size() - count, "a run of them");
}

inline void AddMerges(std::vector<Entry>& t) {
  t.push_back({"pigment_segment_builder_add_segment", FuzzBuilderAddSegment});
  t.push_back({"pigment_segment_builder_add_pending", FuzzBuilderAddPending});
  t.push_back({"pigment_segment_builder_choose_rows", [](World& w, Arguments& a) {
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_segment_builder_choose_rows(LiveOrNull(w.builders, a.input()),
                                                             a.input().Enum(4), slot.out()));
               }});
  t.push_back({"pigment_pending_visit_pages", FuzzPendingVisitPages});
  t.push_back({"pigment_pending_graft_visit_pages", FuzzGraftVisitPages});
  t.push_back({"pigment_pending_rounds_to_halves", FuzzPendingRoundsToHalves});
  t.push_back({"pigment_plan_merge", FuzzPlanMerge});
  t.push_back({"pigment_segment_visit_pages", [](World& w, Arguments& a) {
                 PageFile counted;
                 if (a.input().OneIn(4)) counted.fail_after = 1 + a.input().Byte() % 4;
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_segment_visit_pages(LiveOrNull(w.segments, a.input()),
                                                     a.input().OneIn(32) ? nullptr : VisitPage,
                                                     &counted, slot.out()));
               }});
  t.push_back({"pigment_segment_builder_has_room", [](World& w, Arguments& a) {
                 pigment_segment_builder_has_room(LiveOrNull(w.builders, a.input()));
               }});
  t.push_back({"pigment_segment_index_rows_max", [](World&, Arguments& a) {
                 const pigment_segment_options options = ABuild(a);
                 pigment_segment_index_rows_max(a.input().OneIn(32) ? nullptr : &options);
               }});
}

}  // namespace abi_fuzz
