// SPDX-License-Identifier: Apache-2.0
//
// The part of a check that looks at a collection as its readers do: ids, ordinals, counts, and the
// search. One thread; the version is pinned by the caller.

#pragma once

#include "engine/collection/check_report.h"
#include "engine/collection/version.h"
#include "engine/vector/distance.h"

namespace pigment {

struct CheckedCollection {
  std::string name;
  Metric metric = Metric::kL2;
  bool full = false;  // search for every row
  CallControl control;
};

Status CheckVersion(const CheckedCollection& collection, const Version& version, CheckNotes& notes);

}  // namespace pigment
