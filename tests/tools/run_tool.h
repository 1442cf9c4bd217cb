// SPDX-License-Identifier: Apache-2.0
//
// Runs the command line as a shell does. Header only; one thread.

#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace tool_test {

struct Ran {
  int status = -1;
  std::string output;  // both streams
  nlohmann::json json() const { return nlohmann::json::parse(output); }
};

inline Ran RunShell(const std::string& command) {
  Ran ran;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> piece;
  for (size_t size; (size = fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    ran.output.append(piece.data(), size);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) ran.status = WEXITSTATUS(status);
  return ran;
}
inline Ran RunTool(const std::string& arguments) {
  return RunShell(std::string(PIGMENT_TOOL) + " " + arguments);
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}
inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace tool_test
