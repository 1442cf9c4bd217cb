// SPDX-License-Identifier: Apache-2.0
//
// Scratch: what long work keeps beside its memory budget, in a file without a name that is mapped.
// The system keeps of it in memory what there is room for, and nothing of it is left when the
// process ends, however it does. Its place on the disk is taken before it is used, so a full disk
// is an error and no signal.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "engine/base/status.h"

namespace pigment {

// Zeros at first; unmapped, and its file gone, when this dies.
class Scratch {
 public:
  virtual ~Scratch() = default;
  virtual std::span<std::byte> bytes() const = 0;
};

// Takes so many bytes of it. No space: kResourceExhausted with Detail::kDiskFull.
using ScratchSource = std::function<Result<std::unique_ptr<Scratch>>(uint64_t bytes)>;

}  // namespace pigment
