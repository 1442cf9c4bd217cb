// SPDX-License-Identifier: Apache-2.0
//
// The two forms of output: tables for people, JSON for programs. Everything goes to standard
// output.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/json.h"

namespace pigment_tool {

// Rows under headings, columns aligned; numbers to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);
  void Add(const std::vector<nlohmann::json>& row);
  void Print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> is_number_;
};

std::string PrintBytes(uint64_t bytes);  // "12.3 MiB"
// One line of UTF-8 whatever `text` holds: a terminal must not be told what to do by a record.
std::string Printable(std::string_view text);
std::string Excerpt(std::string_view text, size_t letters);  // one line, cut between characters
void PrintJson(const nlohmann::json& json);

}  // namespace pigment_tool
