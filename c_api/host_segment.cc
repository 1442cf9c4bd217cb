// SPDX-License-Identifier: Apache-2.0
//
// Building and reading a segment in a host's pages. One thread at a time for each object; the host
// owns its pages.

#include "c_api/host_segment.h"

#include <fmt/format.h>

#include <optional>
#include <span>

#include "engine/base/memory_budget.h"
#include "engine/segment/segment_writer.h"
#include "engine/vector/distance.h"

namespace {

using pigment::Detail;
using pigment::Result;
using pigment::Status;

constexpr uint32_t kDimensionMax = 65535;

}  // namespace

struct pigment_segment_builder : pigment::abi::Handle<pigment::abi::HandleKind::kSegmentBuilder> {
  pigment_segment_builder(const pigment_segment_options& options)
      : dimension(options.dimension),
        sink(options.write_page, options.context),
        budget("segment build", options.memory_budget_bytes) {
    pigment::SegmentOptions writer_options;
    writer_options.segment = options.segment;
    writer_options.dimension = options.dimension;
    writer_options.metric = static_cast<pigment::Metric>(options.metric);
    writer_options.budget = &budget;
    writer.emplace(writer_options, &sink);
  }

  const uint32_t dimension;
  pigment::abi::HostBlockSink sink;
  pigment::MemoryBudget budget;
  std::optional<pigment::SegmentWriter> writer;  // dies before its budget
  bool is_finished = false;

  Status CheckOpen() const {
    if (!is_finished) return Status::Ok();
    return pigment::FailedPrecondition(Detail::kNone, "the segment was finished before");
  }
};

pigment_status pigment_segment_builder_new(const pigment_segment_options* options,
                                           pigment_segment_builder** builder,
                                           pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (builder != nullptr) *builder = nullptr;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{builder, "builder"}}));
        PIGMENT_ASSIGN_OR_RETURN(const pigment_segment_options copy,
                                 pigment::abi::ReadStruct(options, "options"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull(
            {{reinterpret_cast<const void*>(copy.write_page), "options.write_page"}}));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckEnum(
            copy.metric, PIGMENT_METRIC_L2, PIGMENT_METRIC_COSINE_NAN, "options.metric"));
        if (copy.segment == 0) return pigment::InvalidArgument("segment id 0 is reserved");
        if (copy.dimension == 0 || copy.dimension > kDimensionMax) {
          return pigment::InvalidArgument(
              Detail::kDimension,
              fmt::format("dimension {}, expected 1 to {}", copy.dimension, kDimensionMax));
        }
        *builder = new pigment_segment_builder(copy);
        return Status::Ok();
      });
}

pigment_status pigment_segment_builder_add(pigment_segment_builder* builder, const float* vector,
                                           uint64_t row_pointer, pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(builder, "builder"));
    PIGMENT_RETURN_IF_ERROR(builder->CheckOpen());
    std::span<const float> values;
    if (vector != nullptr) values = {vector, builder->dimension};
    size_t bad = 0;
    if (!pigment::AllFinite(values.data(), values.size(), &bad)) {
      return pigment::InvalidArgument(
          Detail::kNotFinite, fmt::format("element {} of the vector of row {:#x} is {}", bad,
                                          row_pointer, values[bad]));
    }
    return builder->writer->AddRow(values, row_pointer);
  });
}

pigment_status pigment_segment_builder_finish(pigment_segment_builder* builder, uint32_t* root,
                                              uint32_t* pages, uint64_t* rows,
                                              pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (root != nullptr) *root = 0;
        if (pages != nullptr) *pages = 0;
        if (rows != nullptr) *rows = 0;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(builder, "builder"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{root, "root"}}));
        PIGMENT_RETURN_IF_ERROR(builder->CheckOpen());
        builder->is_finished = true;  // also when it fails: what was written has a hole
        PIGMENT_ASSIGN_OR_RETURN(const pigment::SegmentSummary summary, builder->writer->Finish());
        *root = summary.root;
        if (pages != nullptr) *pages = summary.blocks;
        if (rows != nullptr) *rows = summary.rows;
        return Status::Ok();
      });
}

void pigment_segment_builder_free(pigment_segment_builder* builder) {
  if (pigment::abi::IsHandle(builder)) delete builder;
}

pigment_status pigment_segment_open(const pigment_page_source* source, uint32_t segment,
                                    uint32_t root, pigment_segment** opened,
                                    pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (opened != nullptr) *opened = nullptr;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{opened, "opened"}}));
        PIGMENT_ASSIGN_OR_RETURN(const pigment_page_source copy,
                                 pigment::abi::ReadPageSource(source));
        auto handle = std::make_unique<pigment_segment>(copy);
        PIGMENT_ASSIGN_OR_RETURN(handle->segment,
                                 pigment::Segment::Open(&handle->source, root, segment));
        *opened = handle.release();
        return Status::Ok();
      });
}

void pigment_segment_get_info(const pigment_segment* segment, pigment_segment_info* info) {
  if (info == nullptr) return;
  pigment_segment_info out{};
  if (pigment::abi::IsHandle(segment)) {
    const pigment::SegmentInfo& from = segment->segment->info();
    out.dimension = from.dimension;
    out.metric = static_cast<int32_t>(from.metric);
    out.rows = from.rows;
    out.vectors = from.vectors;
    out.pages = from.blocks;
  }
  pigment::abi::WriteStruct(out, info);
}

pigment_status pigment_segment_row_pointers(const pigment_segment* segment, uint64_t first,
                                            size_t count, uint64_t* row_pointers,
                                            pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(segment, "segment"));
    if (count == 0) return Status::Ok();
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{row_pointers, "row_pointers"}}));
    const uint64_t rows = segment->segment->info().rows;
    if (first > rows || count > rows - first) {
      return Status(
          pigment::Code::kOutOfRange,
          fmt::format("{} rows from {} are asked for, the segment has {}", count, first, rows));
    }
    return segment->segment->ReadRowPointers(static_cast<uint32_t>(first), {row_pointers, count});
  });
}

pigment_status pigment_segment_verify(const pigment_segment* segment, pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(segment, "segment"));
    return segment->segment->Verify();
  });
}

void pigment_segment_free(pigment_segment* segment) {
  if (pigment::abi::IsHandle(segment)) delete segment;
}
