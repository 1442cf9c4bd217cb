// SPDX-License-Identifier: Apache-2.0
//
// Metadata in fewer bytes than its stored form (metadata.h), for segments, which keep it for long:
// counts, lengths and integers are varints, these with the sign in the lowest bit; all else is as
// it is there, in the same order. Any thread.

#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace pigment {

// Appends the short form of what EncodeMetadata wrote, which LengthenMetadata gives back byte for
// byte. False: the bytes are no metadata of a record; `out` may have something of it then.
bool ShortenMetadata(std::span<const std::byte> stored, std::string& out);
// The reverse; false: it is not what ShortenMetadata wrote. Memory is only taken for what the bytes
// bear out.
bool LengthenMetadata(std::span<const std::byte> shortened, std::string& out);

}  // namespace pigment
