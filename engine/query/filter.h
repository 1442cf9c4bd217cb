// SPDX-License-Identifier: Apache-2.0
//
// Chroma's filter grammar (where and where_document), parsed, validated and evaluated record
// by record. The one implementation for both homes. A Filter is immutable; any thread may evaluate
// it. What it may cost is in engine/base/limits.def; nesting has no limit of its own: it is bounded
// by the text, and costs heap.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/limits.h"
#include "engine/base/status.h"
#include "engine/record/metadata.h"

namespace pigment {

// The record as a filter sees it; views are borrowed for the call.
struct FilterSubject {
  std::string_view id;
  const Metadata* metadata = nullptr;  // null: the record has none
  std::optional<std::string_view> document = std::nullopt;
  std::optional<std::string_view> uri = std::nullopt;
};

// What evaluating a filter needs, so that nothing else is fetched.
struct FilterNeeds {
  bool id = false;
  bool metadata = false;
  bool document = false;
  bool uri = false;
};

struct FilterProgram;  // filter_program.h

class Filter {
 public:
  // Either text may be absent (nullopt = not given). JSON null counts as not given; {} is refused.
  // Errors: kInvalidArgument, Detail::kFilter, naming the clause; sizes beyond a limit:
  // kResourceExhausted, Detail::kLimit. `where` is validated before `where_document`.
  static Result<std::shared_ptr<const Filter>> Parse(
      std::optional<std::string_view> where_json,
      std::optional<std::string_view> where_document_json);
  virtual ~Filter() = default;

  virtual bool Matches(const FilterSubject& subject) const = 0;
  virtual const FilterNeeds& needs() const = 0;
  virtual bool matches_everything() const = 0;  // nothing was given
  virtual const FilterProgram& program() const = 0;
};

}  // namespace pigment
