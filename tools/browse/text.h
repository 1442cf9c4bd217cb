// SPDX-License-Identifier: Apache-2.0
//
// Text for a grid of cells. Whatever bytes go in, what comes out is UTF-8 that moves no cursor and
// tells a terminal nothing: no control characters of either set, none that change the direction of
// writing, none without a width of its own but what combines. Widths are the C library's, of the
// locale.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pigment_tool::browse {

// One line, cut at `columns` cells with "…" as its last.
std::string Fit(std::string_view text, size_t columns);
// The same, with blanks up to that width.
std::string Padded(std::string_view text, size_t columns);
// Lines of at most `columns` cells; text has ends of lines of its own.
std::vector<std::string> Wrap(std::string_view text, size_t columns);
// UTF-8 as wide characters, and back.
std::wstring Wide(std::string_view text);
std::string Narrow(std::wstring_view text);

}  // namespace pigment_tool::browse
