// SPDX-License-Identifier: Apache-2.0
//
// The one thing of bytes.h that must not be seen through.

#include "engine/base/bytes.h"

#include <cstring>

namespace pigment {

void CopyBytes(void* to, const void* from, size_t size) { std::memcpy(to, from, size); }

}  // namespace pigment
