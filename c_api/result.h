// SPDX-License-Identifier: Apache-2.0
//
// Results: a ResultSet whose columns are shown to the caller without copying. It never changes, and
// what was exported of it shares it.

#pragma once

#include <memory>
#include <vector>

#include "c_api/error.h"
#include "engine/query/search.h"
#include "pigment/pigment.h"

namespace pigment::abi {

enum class ResultKind { kRecords, kHits };  // of a get or peek; of queries

// Throws std::bad_alloc.
pigment_result* NewResult(ResultSet set, ResultKind kind);

// Where they lie; never null, also where there is none.
const float* Floats(const std::vector<float>& values);

}  // namespace pigment::abi

struct pigment_result : pigment::abi::Handle<pigment::abi::HandleKind::kResult> {
  std::shared_ptr<const pigment::ResultSet> set;  // never null
  pigment::abi::ResultKind result_kind;
};
