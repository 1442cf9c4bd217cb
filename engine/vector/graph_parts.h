// SPDX-License-Identifier: Apache-2.0
//
// Parts of a table of vectors, for graphs of more than a build has memory for: each vector is in
// the parts of several centroids around it, so that what is near to it is in one of them with it,
// as DiskANN builds (Subramanya et al., NeurIPS 2019). Their graphs, put together, are walked as
// one that was built of all. Equal arguments give equal parts on every machine, however many
// threads share the work.

#pragma once

#include <cstdint>

#include "engine/vector/clusters.h"
#include "engine/vector/number_lists.h"
#include "engine/vector/vector_table.h"

namespace pigment {

// Parts that a vector is in. By two of 26 walks of 100,000 passages took a third more visits for
// the same recall than in a graph that was built of all, by three as many.
inline constexpr uint32_t kPartsOfVector = 3;

// How many parts of at most `vectors_max` there are.
uint32_t PartCount(uint32_t count, uint32_t vectors_max);

// Of each part its vectors, at most `vectors_max`, ascending. Each vector is in at least one, and
// where the nearest have room in kPartsOfVector. `clusters.clusters` counts for nothing.
// REQUIRES: vectors_max >= 8.
Result<NumberLists> MakeParts(const VectorTable& vectors, uint32_t vectors_max,
                              ClusterOptions clusters);

// Memory that MakeParts takes for `count` vectors at most, what it returns included.
uint64_t PartsBytes(uint32_t dimension, uint32_t count, uint32_t vectors_max, uint32_t threads);

}  // namespace pigment
