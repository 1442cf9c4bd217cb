// SPDX-License-Identifier: Apache-2.0
//
// The whole check of a segment's graph: see Segment::Verify. One thread.

#pragma once

#include "engine/segment/root.h"
#include "engine/segment/segment.h"

namespace pigment {

// Nodes are a function of the vectors and of which links there are, and are made again; links lead
// to vectors, nowhere twice and not to their own; walks from the entries can come to every vector.
// Ok where the segment has no graph.
Status VerifyGraph(const Segment& segment, BlockSource* source, const Root& root);

}  // namespace pigment
