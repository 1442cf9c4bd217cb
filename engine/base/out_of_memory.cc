// SPDX-License-Identifier: Apache-2.0
//
// OutOfMemory: see the header.

#include "engine/base/out_of_memory.h"

namespace pigment {
namespace {

// Never destroyed: stores may outlive the objects of static life.
const Status* const kOutOfMemory = new Status(ResourceExhausted(Detail::kMemory, "out of memory"));

}  // namespace

const Status& OutOfMemory() noexcept { return *kOutOfMemory; }

}  // namespace pigment
