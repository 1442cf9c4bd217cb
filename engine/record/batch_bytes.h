// SPDX-License-Identifier: Apache-2.0
//
// How many bytes a batch takes in the log, known before they are made. Pure functions; any thread.

#pragma once

#include <cstdint>

#include "engine/base/status.h"
#include "engine/record/record.h"

namespace pigment {

uint64_t EncodedBytes(const WriteBatch& batch);   // that EncodeWriteBatch appends
uint64_t EncodedBytes(const Metadata& metadata);  // that EncodeMetadata appends

// More than the log takes of one batch: kResourceExhausted, Detail::kLimit.
Status CheckBatchBytes(uint64_t bytes);

}  // namespace pigment
