// SPDX-License-Identifier: Apache-2.0
//
// The host's resumable search. One thread at a time for each object; freeing it touches memory
// only.

#include "engine/segment/host_search.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "c_api/error.h"
#include "c_api/host_block_source.h"
#include "c_api/host_segment.h"

namespace {

using pigment::HostHit;
using pigment::Status;

constexpr size_t kFirstBatchRows = 64;
constexpr uint64_t kBatchBytes = uint64_t{4} << 20;
// Hits are copied through a small array, so that the host's struct and the engine's may differ.
constexpr size_t kHitsPerCopy = 256;

pigment_host_hit ToHostHit(const HostHit& hit) {
  int32_t kind = 0;
  if (hit.key == HostHit::kNan) kind = 1;
  if (hit.key == HostHit::kNoVectorKey) kind = 2;
  return {hit.row_pointer, hit.distance(), kind};
}

}  // namespace

struct pigment_host_search : pigment::abi::Handle<pigment::abi::HandleKind::kHostSearch> {
  explicit pigment_host_search(pigment::HostSearchOptions options) : search(std::move(options)) {}

  uint64_t pins() const {
    uint64_t sum = 0;
    for (const auto* source : segment_sources) sum += source->pins();
    for (const auto& source : pending_sources) sum += source->pins();
    return sum;
  }

  std::vector<const pigment::abi::HostBlockSource*> segment_sources;
  std::vector<std::unique_ptr<pigment::abi::HostBlockSource>> pending_sources;
  pigment::HostSearch search;  // dies before what it reads from
  uint64_t pages_read = 0;
};

pigment_status pigment_host_search_new(const pigment_host_search_options* options,
                                       pigment_host_search** search, pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (search != nullptr) *search = nullptr;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{search, "search"}}));
        PIGMENT_ASSIGN_OR_RETURN(const pigment_host_search_options copy,
                                 pigment::abi::ReadStruct(options, "options"));
        pigment::HostSearchOptions out;
        if (copy.query != nullptr) {
          PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckEnum(
              copy.metric, PIGMENT_METRIC_L2, PIGMENT_METRIC_COSINE_NAN, "options.metric"));
          if (copy.dimension == 0 || copy.dimension > 65535) {
            return pigment::InvalidArgument(
                pigment::Detail::kDimension,
                fmt::format("dimension {}, expected 1 to 65535", copy.dimension));
          }
          out.query.emplace(copy.query, copy.query + copy.dimension);
        }
        out.metric = static_cast<pigment::Metric>(copy.metric);
        out.dimension = copy.dimension;
        out.batch_rows_first = copy.batch_rows_first != 0 ? copy.batch_rows_first : kFirstBatchRows;
        out.batch_bytes_max = copy.batch_bytes_max != 0 ? copy.batch_bytes_max : kBatchBytes;
        *search = new pigment_host_search(std::move(out));
        return Status::Ok();
      });
}

pigment_status pigment_host_search_add_segment(pigment_host_search* search,
                                               const pigment_segment* segment,
                                               const uint8_t* deleted, size_t deleted_bytes,
                                               pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(search, "search"));
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(segment, "segment"));
    if (deleted == nullptr) deleted_bytes = 0;
    search->segment_sources.push_back(&segment->source);
    Status status = search->search.AddSegment(segment->segment.get(), {deleted, deleted_bytes});
    if (!status.ok()) search->segment_sources.pop_back();
    return status;
  });
}

pigment_status pigment_host_search_add_pending(pigment_host_search* search,
                                               const pigment_page_source* source, uint32_t stamp,
                                               uint32_t first, pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(search, "search"));
    PIGMENT_ASSIGN_OR_RETURN(const pigment_page_source copy, pigment::abi::ReadPageSource(source));
    search->pending_sources.push_back(std::make_unique<pigment::abi::HostBlockSource>(copy));
    search->search.AddPending(search->pending_sources.back().get(), stamp, first);
    return Status::Ok();
  });
}

pigment_status pigment_host_search_next(pigment_host_search* search, pigment_host_hit* hits,
                                        size_t capacity, size_t* count, pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (count != nullptr) *count = 0;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(search, "search"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{hits, "hits"}, {count, "count"}}));
        if (capacity == 0) return pigment::InvalidArgument("capacity is 0, at least 1 is needed");
        HostHit some[kHitsPerCopy];
        const uint64_t pins = search->pins();
        auto found = search->search.Next({some, capacity < kHitsPerCopy ? capacity : kHitsPerCopy});
        search->pages_read += search->pins() - pins;
        PIGMENT_RETURN_IF_ERROR(found.status());
        for (size_t i = 0; i < *found; ++i) hits[i] = ToHostHit(some[i]);
        *count = *found;
        return Status::Ok();
      });
}

void pigment_host_search_get_counters(const pigment_host_search* search,
                                      pigment_host_search_counters* counters) {
  if (counters == nullptr) return;
  pigment_host_search_counters out{};
  if (pigment::abi::IsHandle(search)) {
    out.passes = search->search.passes();
    out.rows_scored = search->search.rows_scored();
    out.pages_read = search->pages_read;
  }
  pigment::abi::WriteStruct(out, counters);
}

void pigment_host_search_free(pigment_host_search* search) {
  if (pigment::abi::IsHandle(search)) delete search;
}
