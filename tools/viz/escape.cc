// SPDX-License-Identifier: Apache-2.0
//
// Text that nobody can make anything else of.

#include "tools/json_text.h"
#include "tools/viz/page.h"

namespace pigment_tool {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// U+FFFE and U+FFFF, which XML has no place for.
bool IsNoCharacter(std::string_view rest) {
  return rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF");
}

}  // namespace

std::string Escape(std::string_view text) {
  const std::string valid = AsUtf8(text);
  std::string escaped;
  for (size_t i = 0; i < valid.size(); ++i) {
    const char letter = valid[i];
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '&') {
      escaped += "&amp;";
    } else if (letter == '<') {
      escaped += "&lt;";
    } else if (letter == '>') {
      escaped += "&gt;";
    } else if (letter == '"') {
      escaped += "&quot;";
    } else if (letter == '\'') {
      escaped += "&#39;";
    } else if ((code < 0x20 && letter != '\t' && letter != '\n') || code == 0x7F) {
      escaped += kReplacement;
    } else if (IsNoCharacter(std::string_view(valid).substr(i))) {
      escaped += kReplacement;
      i += 2;
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

}  // namespace pigment_tool
