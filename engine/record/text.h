// SPDX-License-Identifier: Apache-2.0
//
// Small helpers on text that came from a caller: is it UTF-8, how does it look in a message, how in
// JSON. Pure functions; any thread.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pigment {

// Bytes of the well-formed UTF-8 sequence at the beginning of `text` (no overlong form, no
// surrogate, nothing beyond U+10FFFF); 0 when there is none.
size_t Utf8SequenceBytes(std::string_view text);

bool IsUtf8(std::string_view text);

// Code points of `text`. REQUIRES: IsUtf8(text).
size_t Utf8Length(std::string_view text);

// `text` for a message: at most `bytes_max` bytes of it, control characters and bytes that are not
// UTF-8 as \xNN, so that the message is always printable UTF-8 without NUL.
std::string Printable(std::string_view text, size_t bytes_max = 64);

// The same between double quotes, with quotes and backslashes inside escaped.
std::string Quoted(std::string_view text, size_t bytes_max = 64);

// Appends `text` as a JSON string with its quotes. REQUIRES: IsUtf8(text); other bytes go through
// unchanged.
void AppendJsonString(std::string_view text, std::string& out);

// Appends the shortest form of a finite `value` that reads back equal, always with a point or an
// exponent.
void AppendJsonDouble(double value, std::string& out);

}  // namespace pigment
