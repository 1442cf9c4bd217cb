// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes what engine/record reads: metadata as JSON and as stored bytes, write batches,
// configurations, schemas. What is accepted must come back equal from its own printed or stored
// form.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "engine/record/configuration.h"
#include "engine/record/metadata.h"
#include "engine/record/record.h"
#include "engine/record/schema.h"
#include "engine/record/short_metadata.h"

namespace {

using namespace pigment;

void FuzzJson(std::string_view text, MetadataShape shape) {
  for (const MetadataUse use :
       {MetadataUse::kNewRecord, MetadataUse::kMergeRecord, MetadataUse::kCollection}) {
    bool present = false;
    const Result<Metadata> metadata = ParseMetadataJson(text, use, &present, shape);
    if (!metadata.ok() || !present) continue;
    const Result<Metadata> again =
        ParseMetadataJson(MetadataToJson(*metadata), use, &present, shape);
    if (!again.ok() || *again != *metadata) abort();
    std::string encoded;
    EncodeMetadata(*metadata, encoded);
    const Result<Metadata> decoded = DecodeMetadata(std::as_bytes(std::span(encoded)));
    if (!decoded.ok() || *decoded != *metadata) abort();
    Metadata merged;
    MergeMetadata(merged, *metadata);
    if (use == MetadataUse::kNewRecord && merged != *metadata) abort();
  }
}

void FuzzStored(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  if (const Result<Metadata> metadata = DecodeMetadata(bytes); metadata.ok()) {
    std::string encoded;
    EncodeMetadata(*metadata, encoded);
    if (encoded != text) abort();
    (void)MetadataToJson(*metadata);
  }
  std::string shortened, lengthened;
  if (ShortenMetadata(bytes, shortened) &&
      (!LengthenMetadata(std::as_bytes(std::span(shortened)), lengthened) || lengthened != text))
    abort();
  lengthened.clear();
  (void)LengthenMetadata(bytes, lengthened);
  if (const Result<WriteBatch> batch = DecodeWriteBatch(bytes); batch.ok()) {
    std::string encoded;
    EncodeWriteBatch(*batch, encoded);
    const Result<WriteBatch> again = DecodeWriteBatch(std::as_bytes(std::span(encoded)));
    if (!again.ok() || again->ids != batch->ids) abort();
  }
}

void FuzzConfiguration(std::string_view text) {
  const Result<Configuration> configuration = ParseConfiguration(text, nullptr, std::nullopt);
  if (!configuration.ok()) return;
  const Result<Configuration> again =
      ParseConfiguration(configuration->json, nullptr, std::nullopt);
  if (!again.ok() || again->json != configuration->json || again->metric != configuration->metric)
    abort();
  (void)UpdateConfiguration(configuration->json, text);
}

void FuzzSchema(std::string_view text) {
  const Result<Schema> schema = ParseSchema(text, nullptr, std::nullopt);
  if (!schema.ok()) return;
  const Result<std::string> printed = PrintSchema(schema->rules, schema->configuration.json);
  if (!printed.ok()) abort();
  const Result<Schema> again = ParseSchema(*printed, nullptr, std::nullopt);
  if (!again.ok() || again->rules.json != schema->rules.json ||
      again->configuration.json != schema->configuration.json)
    abort();
  if (!ReadStoredRules(schema->rules.json).ok()) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const MetadataShape shape : {MetadataShape::kFlat, MetadataShape::kNested})
    FuzzJson(text, shape);
  FuzzStored(text);
  FuzzConfiguration(text);
  FuzzSchema(text);
  return 0;
}
