// SPDX-License-Identifier: Apache-2.0
//
// A host's record as filters and orders see it. Any thread.

#pragma once

#include <optional>

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

}  // namespace pigment::abi
