// SPDX-License-Identifier: Apache-2.0
//
// A host's record as filters and orders see it, and its filters. Any thread.

#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "c_api/error.h"
#include "engine/query/filter.h"
#include "engine/record/metadata.h"
#include "pigment/pigment_host.h"

namespace pigment::abi {

// What is to be read of a record besides id and uri.
struct RecordParts {
  bool document = false;
  bool metadata = false;
};

// Borrows from `record`, and keeps its metadata; neither copied nor moved, because the subject
// points into it.
class HostRecord {
 public:
  HostRecord() = default;
  HostRecord(const HostRecord&) = delete;
  HostRecord& operator=(const HostRecord&) = delete;

  Status Read(const pigment_filter_record& record, const RecordParts& parts);
  const FilterSubject& subject() const { return subject_; }

 private:
  FilterSubject subject_;
  Metadata metadata_;
};

// Metadata of hosts is flat: a path is refused.
Result<std::shared_ptr<const Filter>> ParseHostFilter(
    std::optional<std::string_view> where_json,
    std::optional<std::string_view> where_document_json = std::nullopt);

}  // namespace pigment::abi
