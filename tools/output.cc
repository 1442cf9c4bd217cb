// SPDX-License-Identifier: Apache-2.0
//
// Tables and JSON.

#include "tools/output.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "tools/json_text.h"

namespace pigment_tool {

Table::Table(std::vector<std::string> headings) : is_number_(headings.size(), false) {
  rows_.push_back(std::move(headings));
}

void Table::Add(const std::vector<nlohmann::json>& row) {
  std::vector<std::string> texts;
  for (size_t column = 0; column < row.size(); ++column) {
    if (row[column].is_number()) is_number_[column] = true;
    texts.push_back(row[column].is_string() ? Printable(row[column].get<std::string>())
                                            : row[column].dump());
  }
  rows_.push_back(std::move(texts));
}

void Table::Print() const {
  std::vector<size_t> widths(is_number_.size());
  for (const auto& row : rows_) {
    for (size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  for (const auto& row : rows_) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      const std::string padding(widths[column] - row[column].size(), ' ');
      if (column > 0) line += "  ";
      line += is_number_[column] ? padding + row[column] : row[column] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::puts(line.c_str());
  }
}

std::string PrintBytes(uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text.data();
}

std::string Printable(std::string_view text) {
  std::string line = AsUtf8(text);
  for (size_t at = 0; at < line.size(); ++at) {
    const auto letter = static_cast<unsigned char>(line[at]);
    if (letter < 0x20 || letter == 0x7F) line[at] = ' ';
    // U+0080 to U+009F are control characters too: U+009B begins what ESC [ begins.
    if (letter == 0xC2 && static_cast<unsigned char>(line[at + 1]) < 0xA0) {
      line.erase(at, 1);
      line[at] = ' ';
    }
  }
  return line;
}

std::string Excerpt(std::string_view text, size_t letters) {
  const std::string line = Printable(text);
  size_t shown = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(line[at]) & 0xC0) != 0x80;
    if (begins && ++shown > letters) return line.substr(0, at) + "…";
  }
  return line;
}

void PrintJson(const nlohmann::json& json) {
  std::puts(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

}  // namespace pigment_tool
