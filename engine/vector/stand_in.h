// SPDX-License-Identifier: Apache-2.0
//
// How far neighbours by one metric lie among those by another that stands in for it (SearchedBy,
// metric.h): a search by the latter for so many times as many finds them. One thread; equal
// arguments give equal numbers on every machine.

#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/status.h"
#include "engine/record/metric.h"
#include "engine/vector/build_pause.h"
#include "engine/vector/vector_table.h"

namespace pigment {

// The least widening that has nearly all neighbours of some of the vectors, or none where even the
// greatest that is tried has not: what is wanted takes a scan then. REQUIRES: vectors.count() > 0.
Result<std::optional<float>> FindWidening(const VectorTable& vectors, Metric metric,
                                          const BuildPause& pause);

}  // namespace pigment
