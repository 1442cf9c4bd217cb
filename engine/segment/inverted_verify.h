// SPDX-License-Identifier: Apache-2.0
//
// The whole check of a segment's inverted indexes: see Segment::Verify. One thread.

#pragma once

#include "engine/segment/root.h"

namespace pigment {

// The index of each row group is a function of its records, is made again, and must be what is
// stored. Ok where there is none.
Status VerifyInverted(BlockSource* source, const Root& root);
// The same of the index of documents.
Status VerifyCells(BlockSource* source, const Root& root);

}  // namespace pigment
