// SPDX-License-Identifier: Apache-2.0
//
// The host interface's filters and checks: for a host that keeps collections in tables of its own
// and wants the engine's rules for them. A filter is immutable, and any thread may use it; the
// caller frees it.

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "c_api/error.h"
#include "c_api/host_record.h"
#include "engine/query/filter.h"
#include "engine/query/filter_indexed.h"
#include "engine/record/configuration.h"
#include "engine/record/metadata.h"
#include "engine/record/schema.h"
#include "engine/record/validate.h"
#include "pigment/pigment_host.h"

using pigment::Result;
using pigment::Status;
using pigment::abi::Call;
using pigment::abi::CheckNotNull;
using pigment::abi::ReadOptionalText;
using pigment::abi::ReadText;

struct pigment_filter : pigment::abi::Handle<pigment::abi::HandleKind::kFilter> {
  std::shared_ptr<const pigment::Filter> filter;
};

namespace {

using OptionalText = std::optional<std::string_view>;

Result<std::unique_ptr<pigment_filter>> Compile(const OptionalText& where,
                                                const OptionalText& where_document) {
  auto handle = std::make_unique<pigment_filter>();
  PIGMENT_ASSIGN_OR_RETURN(handle->filter, pigment::abi::ParseHostFilter(where, where_document));
  return handle;
}

// Only what the filter needs is looked at: metadata is parsed for a filter on metadata alone.
Result<bool> Matches(const pigment::Filter& filter, const pigment_filter_record& record) {
  pigment::abi::HostRecord read;
  PIGMENT_RETURN_IF_ERROR(
      read.Read(record, {.document = true, .metadata = filter.needs().metadata}));
  return filter.Matches(read.subject());
}

// What stands beside a configuration or a schema.
struct CollectionTexts {
  pigment::Metadata metadata;
  OptionalText space;
};

Result<CollectionTexts> ReadTexts(const char* metadata_json, size_t metadata_json_size,
                                  const char* preferred_space, size_t preferred_space_size) {
  CollectionTexts texts;
  PIGMENT_ASSIGN_OR_RETURN(const OptionalText metadata_text,
                           ReadOptionalText(metadata_json, metadata_json_size, "metadata_json"));
  PIGMENT_ASSIGN_OR_RETURN(
      texts.space, ReadOptionalText(preferred_space, preferred_space_size, "preferred_space"));
  if (!metadata_text) return texts;
  bool present = false;
  PIGMENT_ASSIGN_OR_RETURN(
      texts.metadata,
      pigment::ParseMetadataJson(*metadata_text, pigment::MetadataUse::kCollection, &present));
  return texts;
}

// What a home of its own has otherwise.
Status CheckForHost(const pigment::Configuration& configuration) {
  const auto refused = [](const std::string& reason) {
    return pigment::Status(pigment::Code::kUnimplemented, reason);
  };
  if (configuration.vector_element != pigment::VectorElement::kF32) {
    return refused(
        fmt::format("full_vectors {} is for the library's own collections: those of a host keep "
                    "vectors in a column of the host's type",
                    pigment::VectorElementName(configuration.vector_element)));
  }
  if (configuration.nested_metadata) {
    return refused("nested_metadata is for the library's own collections: that of a host is flat");
  }
  return Status::Ok();
}

pigment_status CheckName(const char* name, size_t name_size, Status (*check)(std::string_view),
                         pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadText(name, name_size, "name"));
    return check(text);
  });
}

}  // namespace

pigment_status pigment_filter_compile(const char* where_json, size_t where_json_size,
                                      const char* where_document_json,
                                      size_t where_document_json_size, pigment_filter** filter,
                                      pigment_error** error) {
  const auto clear = [filter] {
    if (filter != nullptr) *filter = nullptr;
  };
  return Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckNotNull({{filter, "filter"}}));
    PIGMENT_ASSIGN_OR_RETURN(const OptionalText where,
                             ReadOptionalText(where_json, where_json_size, "where_json"));
    PIGMENT_ASSIGN_OR_RETURN(
        const OptionalText where_document,
        ReadOptionalText(where_document_json, where_document_json_size, "where_document_json"));
    PIGMENT_ASSIGN_OR_RETURN(std::unique_ptr<pigment_filter> handle,
                             Compile(where, where_document));
    *filter = handle.release();
    return Status::Ok();
  });
}

pigment_status pigment_filter_matches(const pigment_filter* filter,
                                      const pigment_filter_record* record, bool* matches,
                                      pigment_error** error) {
  const auto clear = [matches] {
    if (matches != nullptr) *matches = false;
  };
  return Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(filter, "filter"));
    PIGMENT_RETURN_IF_ERROR(CheckNotNull({{record, "record"}, {matches, "matches"}}));
    PIGMENT_ASSIGN_OR_RETURN(const pigment_filter_record read,
                             pigment::abi::ReadStruct(record, "record"));
    PIGMENT_ASSIGN_OR_RETURN(*matches, Matches(*filter->filter, read));
    return Status::Ok();
  });
}

pigment_status pigment_filter_check_schema(const pigment_filter* filter, const char* schema_json,
                                           size_t schema_json_size, pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(filter, "filter"));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view text,
                             ReadText(schema_json, schema_json_size, "schema_json"));
    PIGMENT_ASSIGN_OR_RETURN(const pigment::Schema schema,
                             pigment::ParseSchema(text, nullptr, std::nullopt));
    return pigment::CheckIndexed(filter->filter->program(), schema.rules);
  });
}

void pigment_filter_free(pigment_filter* filter) {
  if (pigment::abi::IsHandle(filter)) delete filter;
}

pigment_status pigment_check_collection_name(const char* name, size_t name_size,
                                             pigment_error** error) {
  return CheckName(name, name_size, pigment::CheckCollectionName, error);
}

pigment_status pigment_check_database_name(const char* name, size_t name_size,
                                           pigment_error** error) {
  return CheckName(name, name_size, pigment::CheckDatabaseName, error);
}

pigment_status pigment_check_tenant_name(const char* name, size_t name_size,
                                         pigment_error** error) {
  return CheckName(name, name_size, pigment::CheckTenantName, error);
}

pigment_status pigment_check_metadata(const char* json, size_t json_size, int32_t use,
                                      pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckEnum(use, PIGMENT_METADATA_NEW_RECORD,
                                                    PIGMENT_METADATA_COLLECTION_CHANGE, "use"));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadText(json, json_size, "json"));
    bool present = false;
    return pigment::ParseMetadataJson(text, static_cast<pigment::MetadataUse>(use), &present)
        .status();
  });
}

static_assert(static_cast<int>(pigment::MetadataUse::kNewRecord) == PIGMENT_METADATA_NEW_RECORD);
static_assert(static_cast<int>(pigment::MetadataUse::kMergeRecord) ==
              PIGMENT_METADATA_MERGE_RECORD);
static_assert(static_cast<int>(pigment::MetadataUse::kCollection) == PIGMENT_METADATA_COLLECTION);
static_assert(static_cast<int>(pigment::MetadataUse::kCollectionChange) ==
              PIGMENT_METADATA_COLLECTION_CHANGE);

pigment_status pigment_check_configuration(const char* configuration_json,
                                           size_t configuration_json_size,
                                           const char* metadata_json, size_t metadata_json_size,
                                           const char* preferred_space, size_t preferred_space_size,
                                           pigment_buffer** normalized, int32_t* metric,
                                           pigment_error** error) {
  const auto clear = [normalized, metric] {
    if (normalized != nullptr) *normalized = nullptr;
    if (metric != nullptr) *metric = 0;
  };
  return Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckNotNull({{normalized, "normalized"}, {metric, "metric"}}));
    PIGMENT_ASSIGN_OR_RETURN(
        const OptionalText json,
        ReadOptionalText(configuration_json, configuration_json_size, "configuration_json"));
    PIGMENT_ASSIGN_OR_RETURN(
        const CollectionTexts texts,
        ReadTexts(metadata_json, metadata_json_size, preferred_space, preferred_space_size));
    PIGMENT_ASSIGN_OR_RETURN(pigment::Configuration configuration,
                             pigment::ParseConfiguration(json, &texts.metadata, texts.space));
    PIGMENT_RETURN_IF_ERROR(CheckForHost(configuration));
    *normalized = pigment::abi::NewBuffer(std::move(configuration.json));
    *metric = static_cast<int32_t>(configuration.metric);
    return Status::Ok();
  });
}

pigment_status pigment_check_schema(const char* schema_json, size_t schema_json_size,
                                    const char* metadata_json, size_t metadata_json_size,
                                    const char* preferred_space, size_t preferred_space_size,
                                    pigment_buffer** normalized, pigment_buffer** configuration,
                                    int32_t* metric, pigment_error** error) {
  const auto clear = [&] {
    if (normalized != nullptr) *normalized = nullptr;
    if (configuration != nullptr) *configuration = nullptr;
    if (metric != nullptr) *metric = 0;
  };
  return Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckNotNull(
        {{normalized, "normalized"}, {configuration, "configuration"}, {metric, "metric"}}));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view json,
                             ReadText(schema_json, schema_json_size, "schema_json"));
    PIGMENT_ASSIGN_OR_RETURN(
        const CollectionTexts texts,
        ReadTexts(metadata_json, metadata_json_size, preferred_space, preferred_space_size));
    PIGMENT_ASSIGN_OR_RETURN(pigment::Schema schema,
                             pigment::ParseSchema(json, &texts.metadata, texts.space));
    PIGMENT_RETURN_IF_ERROR(CheckForHost(schema.configuration));
    PIGMENT_ASSIGN_OR_RETURN(std::string printed,
                             pigment::PrintSchema(schema.rules, schema.configuration.json));
    std::unique_ptr<pigment_buffer, void (*)(pigment_buffer*)> made(
        pigment::abi::NewBuffer(std::move(printed)), pigment_buffer_free);
    *configuration = pigment::abi::NewBuffer(std::move(schema.configuration.json));
    *normalized = made.release();
    *metric = static_cast<int32_t>(schema.configuration.metric);
    return Status::Ok();
  });
}

static_assert(static_cast<int>(pigment::Metric::kL2) == PIGMENT_METRIC_L2);
static_assert(static_cast<int>(pigment::Metric::kCosine) == PIGMENT_METRIC_COSINE);
static_assert(static_cast<int>(pigment::Metric::kIp) == PIGMENT_METRIC_IP);

pigment_status pigment_check_configuration_update(const char* current_json,
                                                  size_t current_json_size, const char* change_json,
                                                  size_t change_json_size,
                                                  pigment_buffer** normalized,
                                                  pigment_error** error) {
  const auto clear = [normalized] { pigment::abi::ClearBuffer(normalized); };
  return Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckNotNull({{normalized, "normalized"}}));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view current,
                             ReadText(current_json, current_json_size, "current_json"));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view change,
                             ReadText(change_json, change_json_size, "change_json"));
    PIGMENT_ASSIGN_OR_RETURN(pigment::Configuration updated,
                             pigment::UpdateConfiguration(current, change));
    *normalized = pigment::abi::NewBuffer(std::move(updated.json));
    return Status::Ok();
  });
}
