// SPDX-License-Identifier: Apache-2.0
//
// What a host needs to merge and to give pages up: which segments, and where their pages lie. One
// thread at a time for each object.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "c_api/error.h"
#include "c_api/host_segment.h"
#include "engine/collection/merge_plan.h"
#include "engine/segment/pending_graft.h"
#include "engine/segment/pending_reader.h"
#include "engine/vector/half.h"
#include "pigment/pigment_host.h"

using pigment::Status;

namespace {

using PageVisitor = pigment_status (*)(void* context, uint32_t physical);

Status Visit(PageVisitor visit, void* context, uint32_t physical) {
  const pigment_status code = visit(context, physical);
  if (code == PIGMENT_OK) return Status::Ok();
  return pigment::abi::CallbackStatus(code, "the host wants no more pages");
}

uint32_t RowsOf(uint64_t rows) {
  return static_cast<uint32_t>(std::min<uint64_t>(rows, std::numeric_limits<uint32_t>::max()));
}

}  // namespace

pigment_status pigment_segment_visit_pages(const pigment_segment* segment, PageVisitor visit,
                                           void* context, pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(segment, "segment"));
    PIGMENT_RETURN_IF_ERROR(
        pigment::abi::CheckNotNull({{reinterpret_cast<const void*>(visit), "visit"}}));
    Status status;
    segment->segment->VisitPlaces([&](uint32_t physical) {
      if (status.ok()) status = Visit(visit, context, physical);
    });
    return status;
  });
}

pigment_status pigment_pending_visit_pages(const pigment_page_source* source, uint32_t stamp,
                                           uint32_t first, uint32_t last, PageVisitor visit,
                                           void* context, pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_ASSIGN_OR_RETURN(const pigment_page_source copy, pigment::abi::ReadPageSource(source));
    PIGMENT_RETURN_IF_ERROR(
        pigment::abi::CheckNotNull({{reinterpret_cast<const void*>(visit), "visit"}}));
    pigment::abi::HostPending pending(copy, stamp, first, last);
    return pending.reader().VisitPages(
        [&](uint32_t physical) { return Visit(visit, context, physical); });
  });
}

pigment_status pigment_pending_graft_visit_pages(const pigment_page_source* source, uint32_t stamp,
                                                 uint32_t first, PageVisitor visit, void* context,
                                                 uint32_t* segment, pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (segment != nullptr) *segment = 0;
      },
      [&]() -> Status {
        PIGMENT_ASSIGN_OR_RETURN(const pigment_page_source copy,
                                 pigment::abi::ReadPageSource(source));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull(
            {{reinterpret_cast<const void*>(visit), "visit"}, {segment, "segment"}}));
        if (first == pigment::kNoBlock) return pigment::InvalidArgument("first is no page");
        pigment::abi::HostBlockSource pages(copy);
        PIGMENT_ASSIGN_OR_RETURN(
            const std::vector<pigment::PendingGraftPart> parts,
            pigment::ReadPendingGrafts(&pages, stamp, first, [&](uint32_t physical) {
              return Visit(visit, context, physical);
            }));
        *segment = parts.back().graph;
        return Status::Ok();
      });
}

pigment_status pigment_pending_rounds_to_halves(const pigment_page_source* source, uint32_t stamp,
                                                uint32_t first, uint32_t last, bool* rounds,
                                                pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (rounds != nullptr) *rounds = false;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{rounds, "rounds"}}));
        PIGMENT_ASSIGN_OR_RETURN(const pigment_page_source copy,
                                 pigment::abi::ReadPageSource(source));
        pigment::abi::HostPending chain(copy, stamp, first, last);
        pigment::PendingReader& pending = chain.reader();
        bool all = true;
        std::vector<float> vector;
        PIGMENT_RETURN_IF_ERROR(pending.VisitRows(
            true, [&](const pigment::PendingRow& row, uint32_t physical) -> Status {
              if (row.head.dimension() == 0) return Status::Ok();
              PIGMENT_RETURN_IF_ERROR(pending.ReadAnyVector(row, physical, &vector));
              all = all && pigment::RoundVector(vector, {}).has_value();
              return Status::Ok();
            }));
        *rounds = all;
        return Status::Ok();
      });
}

pigment_status pigment_plan_merge(const pigment_merge_shape* segments, size_t count,
                                  uint64_t flush_rows_max, size_t* first, size_t* run_count,
                                  pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (first != nullptr) *first = 0;
        if (run_count != nullptr) *run_count = 0;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(
            pigment::abi::CheckNotNull({{first, "first"}, {run_count, "run_count"}}));
        if (count != 0)
          PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{segments, "segments"}}));
        if (flush_rows_max == 0) return pigment::InvalidArgument("flush_rows_max is 0");
        std::vector<pigment::SegmentShape> shapes;
        for (size_t i = 0; i < count; ++i) {
          const uint32_t rows = RowsOf(segments[i].rows);
          shapes.push_back({.rows = rows,
                            .dead_rows = std::min(RowsOf(segments[i].deleted_rows), rows),
                            .is_busy = pigment::abi::IsTrue(segments[i].is_busy)});
        }
        const auto run = pigment::PlanMerge(shapes, RowsOf(flush_rows_max));
        if (!run) return Status::Ok();
        *first = run->first;
        *run_count = run->count;
        return Status::Ok();
      });
}
