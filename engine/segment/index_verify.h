// SPDX-License-Identifier: Apache-2.0
//
// The whole check of a segment's graph or clusters: see Segment::Verify. One thread.

#pragma once

#include "engine/segment/root.h"
#include "engine/segment/segment.h"

namespace pigment {

// Nodes and row codes are a function of the vectors, of centroids and of which links there are, and are made
// again. Links of a graph lead to vectors, nowhere twice and not to their own, and walks from the
// entries can come to every vector; clusters have each vector once, and the entries each cluster.
// Ok where the segment is flat.
Status VerifyIndex(const Segment& segment, BlockSource* source, const Root& root);

}  // namespace pigment
