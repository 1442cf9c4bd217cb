// SPDX-License-Identifier: Apache-2.0
//
// Reads the public headers as text: which functions and constants they declare. For tests that fail
// on drift.

#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace abi_test {

inline std::string ReadFile(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline std::string HeaderPath(const std::string& name) {
  return std::string(PIGMENT_SOURCE_DIR) + "/c_api/include/pigment/" + name;
}

// Without comments.
inline std::string HeaderText(const std::string& name) {
  const std::string text = ReadFile(HeaderPath(name));
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "/*") == 0) {
      const size_t end = text.find("*/", at + 2);
      if (end == std::string::npos) break;
      at = end + 2;
      continue;
    }
    out += text[at++];
  }
  return out;
}

// What the groups of `pattern` (RE2's syntax) match, one after the other.
inline std::vector<std::vector<std::string>> FindAll(const std::string& text,
                                                     const std::string& pattern) {
  const re2::RE2 regex(pattern);
  const auto groups = static_cast<size_t>(regex.NumberOfCapturingGroups());
  std::vector<std::vector<std::string>> found;
  re2::StringPiece rest(text);
  while (true) {
    std::vector<std::string> parts(groups);
    std::vector<re2::RE2::Arg> arguments(groups);
    std::vector<const re2::RE2::Arg*> pointers(groups);
    for (size_t i = 0; i < groups; ++i) {
      arguments[i] = re2::RE2::Arg(&parts[i]);
      pointers[i] = &arguments[i];
    }
    if (!re2::RE2::FindAndConsumeN(&rest, regex, pointers.data(), static_cast<int>(groups)))
      return found;
    found.push_back(std::move(parts));
  }
}

// Names of the exported functions that a header declares.
inline std::set<std::string> DeclaredFunctions(const std::string& header) {
  std::set<std::string> names;
  for (const auto& parts :
       FindAll(HeaderText(header), R"(PIGMENT_API\b[^;{}()]*?\b(pigment_[a-z0-9_]+)\s*\()")) {
    names.insert(parts[0]);
  }
  return names;
}

// Enumerators and their numbers, `prefix` taken off.
inline std::map<std::string, int64_t> Constants(const std::string& header,
                                                const std::string& prefix) {
  std::map<std::string, int64_t> constants;
  for (const auto& parts :
       FindAll(HeaderText(header), "\\b" + prefix + "([A-Z0-9_]+) = ([0-9]+)")) {
    constants[parts[0]] = std::stoll(parts[1]);
  }
  return constants;
}

}  // namespace abi_test
