// SPDX-License-Identifier: Apache-2.0
//
// Metadata is parsed where it is asked for alone.

#include "c_api/host_record.h"

#include <string_view>

#include "engine/query/filter_indexed.h"

namespace pigment::abi {

Status HostRecord::Read(const pigment_filter_record& record, const RecordParts& parts) {
  PIGMENT_ASSIGN_OR_RETURN(const auto id, ReadOptionalText(record.id, record.id_size, "record.id"));
  subject_.id = id.value_or(std::string_view());
  PIGMENT_ASSIGN_OR_RETURN(subject_.uri,
                           ReadOptionalText(record.uri, record.uri_size, "record.uri"));
  if (parts.document) {
    // Any bytes, so not ReadOptionalText.
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view document,
                             ReadBytes(record.document, record.document_size, "record.document"));
    if (record.document != nullptr) subject_.document = document;
  }
  PIGMENT_ASSIGN_OR_RETURN(
      const auto json,
      ReadOptionalText(record.metadata_json, record.metadata_json_size, "record.metadata_json"));
  if (!json || !parts.metadata) return Status::Ok();
  bool present = false;
  PIGMENT_ASSIGN_OR_RETURN(metadata_, ParseMetadataJson(*json, MetadataUse::kStored, &present));
  if (present) subject_.metadata = &metadata_;
  return Status::Ok();
}

Result<std::shared_ptr<const Filter>> ParseHostFilter(
    std::optional<std::string_view> where_json,
    std::optional<std::string_view> where_document_json) {
  PIGMENT_ASSIGN_OR_RETURN(std::shared_ptr<const Filter> filter,
                           Filter::Parse(where_json, where_document_json));
  PIGMENT_RETURN_IF_ERROR(CheckFlat(filter->program()));
  return filter;
}

}  // namespace pigment::abi
