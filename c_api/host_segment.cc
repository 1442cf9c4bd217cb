// SPDX-License-Identifier: Apache-2.0
//
// Building and reading a segment in a host's pages. One thread at a time for each object; the host
// owns its pages.

#include "c_api/host_segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "engine/base/disk_files.h"
#include "engine/base/limits.h"
#include "engine/base/memory_budget.h"
#include "engine/record/validate.h"
#include "engine/segment/host_copy.h"
#include "engine/segment/index_part.h"
#include "engine/segment/segment_writer.h"
#include "engine/vector/distance.h"
#include "engine/vector/graph_node.h"

namespace {

using pigment::Detail;
using pigment::kDimensionMax;
using pigment::Result;
using pigment::Status;

// What this library knew before keys came.
constexpr size_t kOptionsSizeMin = offsetof(pigment_segment_options, has_keys);

constexpr uint32_t kIndexVectorsMax = 0xFFFFFF00;

pigment::SegmentIndex IndexOf(const pigment_segment_options& options) {
  pigment::SegmentIndex index;
  if (options.index == PIGMENT_INDEX_FLAT) return index;
  index.kind = options.index == PIGMENT_INDEX_CLUSTERS ? pigment::SegmentKind::kClusters
                                                       : pigment::SegmentKind::kGraph;
  index.may_be_clusters = options.index == PIGMENT_INDEX_AUTO;
  if (options.links_max != 0) {
    const uint32_t links = std::min(options.links_max, pigment::kLinksPerNodeMax);
    index.links_max = std::min(pigment::GraphNodePlaces(links), pigment::kLinksPerNodeMax);
  }
  if (options.effort > 0) index.effort = options.effort;
  if (options.vectors_per_cluster != 0) index.vectors_per_cluster = options.vectors_per_cluster;
  return index;
}

pigment::VectorElement ElementOf(const pigment_segment_options& options) {
  if (pigment::abi::IsTrue(options.bit_vectors)) return pigment::VectorElement::kBit;
  const bool is_half =
      pigment::abi::IsTrue(options.half_vectors) || pigment::abi::IsTrue(options.round_to_halves);
  return is_half ? pigment::VectorElement::kF16 : pigment::VectorElement::kF32;
}

int32_t IndexNumber(pigment::SegmentKind kind) {
  switch (kind) {
    case pigment::SegmentKind::kFlat:
      return PIGMENT_INDEX_FLAT;
    case pigment::SegmentKind::kGraph:
      return PIGMENT_INDEX_GRAPH;
    case pigment::SegmentKind::kClusters:
      return PIGMENT_INDEX_CLUSTERS;
  }
  return PIGMENT_INDEX_FLAT;
}

pigment::ScratchSource ScratchOf(const pigment_segment_options& options) {
  if (options.open_scratch == nullptr) return {};
  return [open = options.open_scratch,
          context = options.context](uint64_t bytes) -> Result<std::unique_ptr<pigment::Scratch>> {
    int descriptor = -1;
    const pigment_status code = open(context, bytes, &descriptor);
    if (code == PIGMENT_OK) return pigment::MapScratch(descriptor, bytes);
    return pigment::abi::CallbackStatus(
        code, fmt::format("the host gave code {} in place of {} bytes of scratch", code, bytes));
  };
}

// For the keys of rows that are copied.
constexpr uint64_t kKeyBytesMax = uint64_t{16} << 20;

}  // namespace

struct pigment_segment_builder : pigment::abi::Handle<pigment::abi::HandleKind::kSegmentBuilder> {
  pigment_segment_builder(const pigment_segment_options& options)
      : dimension(options.dimension),
        row_keys(pigment::abi::IsTrue(options.has_keys)),
        sink(options.write_page, options.context),
        budget("segment build", options.memory_budget_bytes) {
    pigment::SegmentOptions writer_options;
    writer_options.segment = options.segment;
    writer_options.dimension = options.dimension;
    writer_options.metric = static_cast<pigment::Metric>(options.metric);
    writer_options.budget = &budget;
    writer_options.row_keys = row_keys;
    writer_options.key_seed = options.key_seed;
    writer_options.vector_hashes = options.vector_seed != 0;
    std::memcpy(writer_options.owner.data(), &options.vector_seed, sizeof options.vector_seed);
    writer_options.rounds = pigment::abi::IsTrue(options.round_to_halves);
    writer_options.vector_element = ElementOf(options);
    writer_options.index = IndexOf(options);
    writer_options.index_vectors = kIndexVectorsMax;
    writer_options.index_vectors_min = std::max(options.index_rows_min, 1u);
    writer_options.graph_vectors_min = options.graph_rows_min;
    writer_options.index_grows = true;
    writer_options.index_expected =
        static_cast<uint32_t>(std::min<uint64_t>(options.vectors_expected, kIndexVectorsMax));
    writer_options.threads = pigment::BuildThreads(options.threads);
    if (options.pause != nullptr) {
      writer_options.pause = [pause = options.pause, context = options.context]() -> Status {
        const pigment_status code = pause(context);
        if (code == PIGMENT_OK) return Status::Ok();
        return pigment::abi::CallbackStatus(
            code, fmt::format("the host gave code {} while an index was built", code));
      };
    }
    writer_options.scratch = ScratchOf(options);
    writer.emplace(writer_options, &sink);
  }

  const uint32_t dimension;
  const bool row_keys;
  pigment::abi::HostBlockSink sink;
  pigment::MemoryBudget budget;
  std::optional<pigment::SegmentWriter> writer;  // dies before its budget
  bool is_finished = false;
  pigment::HostRows copied = pigment::HostRows::kAll;

  Status CheckOpen() const {
    if (!is_finished) return Status::Ok();
    return pigment::FailedPrecondition(Detail::kNone,
                                       "the segment was finished before, or rows were copied to "
                                       "it in part");
  }
  // After rows of a call are there in part nothing may be added or finished.
  Status Spoil(Status status) {
    is_finished |= !status.ok();
    return status;
  }
  pigment::HostCopy copy() {
    const uint64_t limit = budget.limit_bytes();
    return {.writer = &*writer,
            .rows = copied,
            .dimension = dimension,
            .row_keys = row_keys,
            .key_bytes_max = limit == 0 ? kKeyBytesMax : std::min(limit / 8, kKeyBytesMax),
            .budget = &budget};
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
                                 pigment::abi::ReadStruct(options, "options", kOptionsSizeMin));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull(
            {{reinterpret_cast<const void*>(copy.write_page), "options.write_page"}}));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckEnum(copy.metric, PIGMENT_METRIC_L2,
                                                        PIGMENT_METRIC_JACCARD, "options.metric"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckEnum(copy.index, PIGMENT_INDEX_FLAT,
                                                        PIGMENT_INDEX_CLUSTERS, "options.index"));
        if (copy.segment == 0) return pigment::InvalidArgument("segment id 0 is reserved");
        if (pigment::abi::IsTrue(copy.bit_vectors) &&
            (pigment::abi::IsTrue(copy.half_vectors) ||
             pigment::abi::IsTrue(copy.round_to_halves))) {
          return pigment::InvalidArgument(
              "options ask for vectors as bits and in 16 bits a number");
        }
        const bool may_be_none = pigment::abi::IsTrue(copy.has_keys);
        if (copy.dimension != 0 || !may_be_none)
          PIGMENT_RETURN_IF_ERROR(pigment::CheckDimensionRange("a segment", copy.dimension));
        *builder = new pigment_segment_builder(copy);
        return Status::Ok();
      });
}

pigment_status pigment_segment_builder_add(pigment_segment_builder* builder, const float* vector,
                                           uint64_t row_pointer, pigment_error** error) {
  return pigment_segment_builder_add_row(builder, vector, row_pointer, nullptr, 0, error);
}

pigment_status pigment_segment_builder_add_row(pigment_segment_builder* builder,
                                               const float* vector, uint64_t row_pointer,
                                               const void* keys, size_t keys_size,
                                               pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(builder, "builder"));
    PIGMENT_RETURN_IF_ERROR(builder->CheckOpen());
    if (keys_size != 0) PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{keys, "keys"}}));
    std::span<const float> values;
    if (vector != nullptr) values = {vector, builder->dimension};
    if (vector != nullptr && values.empty()) {
      return pigment::InvalidArgument(Detail::kDimension,
                                      "a row has a vector, the segment has dimension 0");
    }
    size_t bad = 0;
    if (!pigment::AllFinite(values.data(), values.size(), &bad)) {
      return pigment::InvalidArgument(
          Detail::kNotFinite, fmt::format("element {} of the vector of row {:#x} is {}", bad,
                                          row_pointer, values[bad]));
    }
    return builder->writer->AddRow(values, row_pointer,
                                   {static_cast<const std::byte*>(keys), keys_size});
  });
}

uint64_t pigment_segment_index_rows_max(const pigment_segment_options* options) {
  const auto copy = pigment::abi::ReadStruct(options, "options", kOptionsSizeMin);
  constexpr uint64_t kNoLimit = ~uint64_t{0};
  if (!copy.ok() || copy->memory_budget_bytes == 0) return kNoLimit;
  const pigment::SegmentIndex index = IndexOf(*copy);
  const auto metric = static_cast<pigment::Metric>(copy->metric);
  if (index.kind == pigment::SegmentKind::kFlat || copy->dimension == 0 ||
      copy->dimension > kDimensionMax)
    return kNoLimit;
  return pigment::IndexWriter::VectorsWithin({.index = index,
                                              .metric = metric,
                                              .dimension = copy->dimension,
                                              .vector_element = ElementOf(*copy),
                                              .vectors = kIndexVectorsMax,
                                              .threads = pigment::BuildThreads(copy->threads),
                                              .scratch = ScratchOf(*copy)},
                                             copy->memory_budget_bytes);
}

bool pigment_segment_builder_has_room(pigment_segment_builder* builder) {
  if (!pigment::abi::IsHandle(builder) || builder->is_finished) return false;
  bool has_room = false;
  const pigment_status status = pigment::abi::Call(nullptr, [&]() -> Status {
    has_room = builder->writer->HasRoom();
    return Status::Ok();
  });
  return status == PIGMENT_OK && has_room;
}

bool pigment_segment_builder_has_given_up_index(const pigment_segment_builder* builder) {
  return pigment::abi::IsHandle(builder) && builder->writer->has_given_up_index();
}

pigment_status pigment_segment_builder_choose_rows(pigment_segment_builder* builder, int32_t rows,
                                                   pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(builder, "builder"));
    PIGMENT_RETURN_IF_ERROR(builder->CheckOpen());
    PIGMENT_RETURN_IF_ERROR(
        pigment::abi::CheckEnum(rows, PIGMENT_ROWS_ALL, PIGMENT_ROWS_WITHOUT_VECTOR, "rows"));
    if (rows == PIGMENT_ROWS_WITHOUT_VECTOR)
      PIGMENT_RETURN_IF_ERROR(builder->Spoil(builder->writer->EndVectors()));
    builder->copied = static_cast<pigment::HostRows>(rows);
    return Status::Ok();
  });
}

pigment_status pigment_segment_builder_add_pending(pigment_segment_builder* builder,
                                                   const pigment_page_source* source,
                                                   uint32_t stamp, uint32_t first, uint32_t last,
                                                   pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(builder, "builder"));
    PIGMENT_RETURN_IF_ERROR(builder->CheckOpen());
    PIGMENT_ASSIGN_OR_RETURN(const pigment_page_source copy, pigment::abi::ReadPageSource(source));
    if (last == pigment::kNoBlock)
      return pigment::InvalidArgument("last is no page: rows are appended to the end of a chain");
    pigment::abi::HostPending pending(copy, stamp, first, last);
    return builder->Spoil(pigment::CopyPending(pending.reader(), builder->copy()));
  });
}

pigment_status pigment_segment_builder_add_segment(pigment_segment_builder* builder,
                                                   const pigment_segment* segment,
                                                   const uint8_t* deleted, size_t deleted_bytes,
                                                   pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(builder, "builder"));
    PIGMENT_RETURN_IF_ERROR(builder->CheckOpen());
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(segment, "segment"));
    if (deleted == nullptr) deleted_bytes = 0;
    return builder->Spoil(
        pigment::CopySegment(*segment->segment, {deleted, deleted_bytes}, builder->copy()));
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

double pigment_segment_builder_rounding(const pigment_segment_builder* builder) {
  return pigment::abi::IsHandle(builder) ? builder->writer->rounding() : 0;
}

uint64_t pigment_segment_builder_zero_vectors(const pigment_segment_builder* builder) {
  return pigment::abi::IsHandle(builder) ? builder->writer->zero_vectors() : 0;
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
        handle->source.RememberChecked(handle->segment->info().blocks);
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
    out.index = IndexNumber(from.kind);
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

pigment_status pigment_segment_find_vector(const pigment_segment* segment, const float* vector,
                                           size_t dimension, uint32_t* rows, size_t capacity,
                                           size_t* count, pigment_vector_hash* hash,
                                           pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (count != nullptr) *count = 0;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(segment, "segment"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull(
            {{vector, "vector"}, {rows, "rows"}, {count, "count"}, {hash, "hash"}}));
        const pigment::SegmentInfo& info = segment->segment->info();
        const std::span<const float> wanted(vector, dimension);
        const pigment::Hash128 found = pigment::HashVector(info.owner, wanted);
        *hash = {found.low, found.high};
        if (info.dimension != dimension || capacity == 0) return Status::Ok();
        return segment->segment->VisitVector(
            found, [&](uint32_t row, std::span<const float> numbers) {
              if (std::memcmp(numbers.data(), vector, wanted.size_bytes()) == 0)
                rows[(*count)++] = row;
              return *count < capacity;
            });
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
