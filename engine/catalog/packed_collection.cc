// SPDX-License-Identifier: Apache-2.0
//
// Packed entries: see the header.

#include "engine/catalog/packed_collection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pigment {
namespace {

constexpr size_t kFloorAt = 0;
constexpr size_t kFixedBytes = 8 + 8 + 4 + 1 + 1;
constexpr size_t kSegmentBytes = 4 + 4 + 8 + 4 + 8 + 4;
constexpr uint8_t kHasMetadata = 1;
constexpr uint8_t kHasShelf = 2;
constexpr uint8_t kHasHalves = 4;

bool IsMetric(int32_t number) { return !MetricName(static_cast<Metric>(number)).empty(); }

void WriteSegments(const std::vector<SegmentEntry>& segments, ByteWriter& writer) {
  writer.Put(static_cast<uint32_t>(segments.size()));
  for (const SegmentEntry& segment : segments) {
    writer.Put(segment.segment);
    writer.Put(segment.root);
    writer.Put(segment.file_bytes);
    writer.Put(segment.rows);
    writer.Put(segment.deletions);
    writer.Put(segment.deleted_rows);
  }
}

void ReadSegments(ByteReader& reader, std::vector<SegmentEntry>* segments) {
  const uint32_t count = reader.GetCount(kSegmentBytes);
  segments->reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    SegmentEntry segment;
    segment.segment = reader.Get<uint32_t>();
    segment.root = reader.Get<uint32_t>();
    segment.file_bytes = reader.Get<uint64_t>();
    segment.rows = reader.Get<uint32_t>();
    segment.deletions = reader.Get<uint64_t>();
    segment.deleted_rows = reader.Get<uint32_t>();
    segments->push_back(segment);
  }
}

}  // namespace

std::string PackSettings(const CollectionEntry& entry) {
  std::string settings;
  ByteWriter writer(&settings);
  writer.PutText(entry.configuration_json);
  writer.PutText(entry.schema_json);
  writer.PutText(entry.embedding_function_name);
  writer.PutText(entry.embedding_function_config_json);
  return settings;
}

std::string PackBody(const CollectionEntry& entry) {
  std::string metadata;
  if (entry.metadata) EncodeMetadata(*entry.metadata, metadata);
  std::string body;
  body.reserve(kFixedBytes + 4 + entry.name.size() + 4 + metadata.size() + 16 + 4 +
               entry.segments.size() * kSegmentBytes);
  ByteWriter writer(&body);
  writer.Put(entry.floor);
  writer.Put(entry.next_ordinal);
  writer.Put(entry.dimension);
  writer.Put(static_cast<uint8_t>(entry.metric));
  writer.Put(static_cast<uint8_t>((entry.metadata ? kHasMetadata : 0) |
                                  (entry.shelf.file != 0 ? kHasShelf : 0) |
                                  (entry.vector_element == VectorElement::kF16 ? kHasHalves : 0)));
  writer.PutText(entry.name);
  if (entry.metadata) writer.PutText(metadata);
  if (entry.shelf.file != 0) {
    writer.Put(entry.shelf.file);
    writer.Put(entry.shelf.offset);
    writer.Put(entry.shelf.length);
  }
  WriteSegments(entry.segments, writer);
  return body;
}

Status UnpackSettings(std::string_view settings, CollectionEntry* entry) {
  ByteReader reader(AsBytes(settings));
  entry->configuration_json = reader.GetText();
  entry->schema_json = reader.GetText();
  entry->embedding_function_name = reader.GetText();
  entry->embedding_function_config_json = reader.GetText();
  if (!reader.ok() || !reader.at_end())
    return Contradiction("a collection's settings have another size");
  return Status::Ok();
}

Status UnpackBody(std::string_view body, CollectionEntry* entry) {
  ByteReader reader(AsBytes(body));
  entry->floor = reader.Get<uint64_t>();
  entry->next_ordinal = reader.Get<uint64_t>();
  entry->dimension = reader.Get<uint32_t>();
  const auto metric = reader.Get<uint8_t>();
  const auto flags = reader.Get<uint8_t>();
  entry->name = reader.GetText();
  entry->metadata.reset();
  if ((flags & kHasMetadata) != 0) {
    const std::string_view metadata = reader.GetText();
    if (reader.ok()) {
      PIGMENT_ASSIGN_OR_RETURN(entry->metadata, DecodeMetadata(AsBytes(metadata)));
    }
  }
  entry->shelf = {};
  if ((flags & kHasShelf) != 0) {
    entry->shelf.file = reader.Get<uint32_t>();
    entry->shelf.offset = reader.Get<uint64_t>();
    entry->shelf.length = reader.Get<uint32_t>();
    if (entry->shelf.file == 0) reader.Fail();
  }
  entry->segments.clear();
  ReadSegments(reader, &entry->segments);
  if (!reader.ok() || !reader.at_end())
    return Contradiction("a collection's edit has another size");
  if (!IsMetric(metric) || (flags & ~(kHasMetadata | kHasShelf | kHasHalves)) != 0) {
    return Contradiction(
        fmt::format("a collection's edit has metric {} and flags {}", metric, flags));
  }
  entry->metric = static_cast<Metric>(metric);
  entry->vector_element = (flags & kHasHalves) != 0 ? VectorElement::kF16 : VectorElement::kF32;
  return Status::Ok();
}

std::string_view NameOfBody(std::string_view body) {
  ByteReader reader(AsBytes(body.substr(kFixedBytes)));
  return reader.GetText();
}

uint64_t FloorOfBody(std::string_view body) {
  return LoadLittle<uint64_t>(AsBytes(body).data() + kFloorAt);
}

Result<CollectionEntry> ReadCollectionVersion1(ByteReader& reader) {
  CollectionEntry entry;
  const std::span<const std::byte> id = reader.GetBytes(entry.id.bytes.size());
  std::copy(id.begin(), id.end(), entry.id.bytes.begin());
  entry.name = reader.GetText();
  entry.tenant = reader.GetText();
  entry.database = reader.GetText();
  const auto has_metadata = reader.Get<uint8_t>();
  const std::string_view metadata = reader.GetText();
  entry.configuration_json = reader.GetText();
  entry.schema_json = reader.GetText();
  entry.embedding_function_name = reader.GetText();
  entry.embedding_function_config_json = reader.GetText();
  const auto metric = reader.Get<int32_t>();
  entry.dimension = reader.Get<uint32_t>();
  entry.floor = reader.Get<uint64_t>();
  entry.next_ordinal = reader.Get<uint64_t>();
  ReadSegments(reader, &entry.segments);
  if (!reader.ok()) return Contradiction("a collection's edit ends too early");
  if (has_metadata > 1 || !IsMetric(metric)) {
    return Contradiction(fmt::format("a collection's edit has metric {} and metadata flag {}",
                                     metric, has_metadata));
  }
  entry.metric = static_cast<Metric>(metric);
  if (has_metadata == 1) {
    PIGMENT_ASSIGN_OR_RETURN(entry.metadata, DecodeMetadata(AsBytes(metadata)));
  }
  return entry;
}

}  // namespace pigment
