// SPDX-License-Identifier: Apache-2.0
//
// The whole check of a segment's text index. Any thread.

#pragma once

#include "engine/segment/root.h"

namespace pigment {

// Makes the index of each group again from its documents and compares the bytes. Where this library
// has another analyzer than the one that wrote it, terms are what they were: then every list is
// read and counted instead. A segment without the parts: ok.
Status VerifyText(BlockSource* source, const Root& root);

}  // namespace pigment
