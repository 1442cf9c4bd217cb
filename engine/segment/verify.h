// SPDX-License-Identifier: Apache-2.0
//
// The whole check of a segment: every block and every cross-reference. One thread; memory: a bit
// per row.

#pragma once

#include "engine/segment/root.h"
#include "engine/segment/segment.h"

namespace pigment {

Status VerifySegment(const Segment& segment, BlockSource* source, const Root& root);

}  // namespace pigment
